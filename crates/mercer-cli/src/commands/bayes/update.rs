//! `mercer bayes update`: sequential belief updating.

use super::estimate::BayesEstimates;
use super::number::{named, named_list, number};
use crate::failure::{Failure, Result};
use crate::report::plot;
use crate::report::terminal::{align_right, table};
use crate::session::Session;
use clap::{Args, ValueHint};
use mercer::explain::short;
use mercer::probability::Belief;
use mercer::probability::belief::Update as Line;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The maximum number of observations that `NAME*N` may stand for.
const MOST: usize = 1_000_000;

/// Update the belief in hypotheses, one line per observation.
///
/// Every line shows the posterior after the observation and the predictive distribution of the next one. A file
/// holds the same as the options: {"hypotheses": {"h1": "1/10", …}, "outcomes": {"lime": {"h1": 0, …}},
/// "observations": ["lime", …]}.
#[derive(Args)]
#[command(after_help = "\
Examples:
  mercer bayes update --prior h1=.1 --prior h2=.2 --prior h3=.4 --prior h4=.2 --prior h5=.1 \\
    --outcome lime=0,1/4,1/2,3/4,1 --observe lime*10 --plot bags.svg
  mercer bayes update --prior h1=.1 --prior h2=.2 --prior h3=.4 --prior h4=.2 --prior h5=.1 \\
    --outcome lime=0,1/4,1/2,3/4,1 --observe lime*3 --values 0,1/4,1/2,3/4,1
  mercer bayes update --file bags.json --observe lime,cherry")]
pub struct Update {
    /// Hypothesis and its prior probability (may repeat)
    #[arg(long, value_parser = named, value_name = "NAME=P", conflicts_with = "file")]
    prior: Vec<(String, f64)>,
    /// Outcome with its likelihood under each hypothesis, in their order (may repeat)
    #[arg(long, value_parser = named_list, value_name = "NAME=P,P,…", conflicts_with = "file")]
    outcome: Vec<(String, Vec<f64>)>,
    /// Observations in order, separated by commas; lime*10 is ten times lime
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    observe: Vec<String>,
    /// Numeric value of each hypothesis, in their order: prints the Bayes estimates under the final posterior (mean for
    /// squared loss, median for absolute loss, mode for 0-1 loss) [default: the names, if they are numbers]
    #[arg(long, value_delimiter = ',', value_parser = number, value_name = "X,X,…", allow_hyphen_values = true)]
    values: Vec<f64>,
    /// Read hypotheses, outcomes and observations from a JSON file; `-` is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: Option<PathBuf>,
    /// Plot the posterior and the predictive probabilities over time, as .svg or .png
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    plot: Option<PathBuf>,
}

/// The contents of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    hypotheses: BTreeMap<String, Value>,
    outcomes: BTreeMap<String, BTreeMap<String, Value>>,
    #[serde(default)]
    observations: Vec<String>,
}

pub fn run(args: Update, session: &Session) -> Result<()> {
    let (mut belief, mut seen) = start(&args)?;
    for word in &args.observe {
        seen.extend(repeated(word)?);
    }
    let mut lines = vec![Line {
        observation: String::new(),
        evidence: 1.0,
        posterior: belief.posterior(),
        predictive: belief.predictive(),
    }];
    for word in &seen {
        lines.push(belief.observe(word)?);
    }
    if let Some(path) = &args.plot {
        save(path, &belief, &lines)?;
        session.message(&format!("saved {}", path.display()));
    }
    let estimates = estimates(&args.values, &belief)?;
    if session.json {
        return session.print_json(&json!({
            "hypotheses": belief.hypotheses(), "outcomes": belief.outcomes(), "lines": lines,
            "log_evidence": belief.log_evidence(),
            "estimates": estimates.map(|estimates| estimates.json()),
        }));
    }
    let mut headings = vec!["n".to_owned(), "observation".into()];
    headings.extend(belief.hypotheses().iter().map(|h| format!("P({h})")));
    headings.extend(belief.outcomes().iter().map(|o| format!("next {o}")));
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let mut rows = table(&headings);
    let numbers: Vec<usize> = (0..headings.len()).filter(|k| *k != 1).collect();
    align_right(&mut rows, &numbers);
    for (n, line) in lines.iter().enumerate() {
        let seen = if n == 0 { "(prior)".to_owned() } else { line.observation.clone() };
        let mut cells = vec![n.to_string(), seen];
        cells.extend(line.posterior.iter().chain(&line.predictive).map(|p| short(*p)));
        rows.add_row(cells);
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{rows}")?;
    if let Some(estimates) = estimates {
        writeln!(out)?;
        estimates.print(&mut out)?;
    }
    Ok(())
}

/// The Bayes estimates of the hypotheses' values; `None` if the hypotheses have none.
fn estimates(values: &[f64], belief: &Belief) -> Result<Option<BayesEstimates>> {
    let names = belief.hypotheses();
    let values: Vec<f64> = match values.is_empty() {
        false if values.len() != names.len() => {
            let (found, expected) = (values.len(), names.len());
            let why =
                format!("--values has {found} numbers, expected {expected}, one per hypothesis");
            return Err(Failure::Usage(why));
        }
        false => values.to_vec(),
        true => match names.iter().map(|name| number(name)).collect() {
            Ok(values) => values,
            Err(_) => return Ok(None),
        },
    };
    BayesEstimates::of(&values, &belief.posterior()).map(Some)
}

fn start(args: &Update) -> Result<(Belief, Vec<String>)> {
    let (priors, outcomes, seen) = match &args.file {
        Some(path) => read(path)?,
        None => (args.prior.clone(), args.outcome.clone(), Vec::new()),
    };
    if priors.is_empty() {
        return Err(Failure::Usage("pass hypotheses with --prior NAME=P, or --file".into()));
    }
    let (names, priors): (Vec<String>, Vec<f64>) = priors.into_iter().unzip();
    let mut belief = Belief::new(&names, &priors)?;
    for (name, likelihoods) in &outcomes {
        belief = belief.outcome(name, likelihoods)?;
    }
    Ok((belief, seen))
}

/// Hypotheses with priors, outcomes with likelihoods, observations.
type Parts = (Vec<(String, f64)>, Vec<(String, Vec<f64>)>, Vec<String>);

fn read(path: &Path) -> Result<Parts> {
    let name = path.display().to_string();
    let refuse = |why: String| Failure::Data(format!("{name}: {why}"));
    let text =
        if name == "-" { io::read_to_string(io::stdin()) } else { std::fs::read_to_string(path) };
    let text = text.map_err(|e| refuse(e.to_string()))?;
    let file: File = serde_json::from_str(&text).map_err(|e| refuse(e.to_string()))?;
    let value = |what: &str, value: &Value| {
        let number = match value {
            Value::String(word) => number(word).ok(),
            other => other.as_f64(),
        };
        number.ok_or_else(|| refuse(format!("{what}: {value} is not a number")))
    };
    let priors = (file.hypotheses.iter())
        .map(|(h, p)| Ok((h.clone(), value(&format!("hypothesis `{h}`"), p)?)))
        .collect::<Result<Vec<_>>>()?;
    let mut outcomes = Vec::new();
    for (outcome, by) in &file.outcomes {
        if let Some(unknown) = by.keys().find(|h| !file.hypotheses.contains_key(*h)) {
            let why = format!("outcome `{outcome}`: no hypothesis is named `{unknown}`");
            return Err(refuse(why));
        }
        let likelihoods = (file.hypotheses.keys())
            .map(|h| match by.get(h) {
                Some(p) => value(&format!("outcome `{outcome}` under `{h}`"), p),
                None => Err(refuse(format!("outcome `{outcome}` has no likelihood for `{h}`"))),
            })
            .collect::<Result<Vec<_>>>()?;
        outcomes.push((outcome.clone(), likelihoods));
    }
    let mut seen = Vec::new();
    for word in &file.observations {
        seen.extend(repeated(word)?);
    }
    Ok((priors, outcomes, seen))
}

/// `lime`, or `lime*10`.
fn repeated(word: &str) -> Result<Vec<String>> {
    let Some((name, times)) = word.rsplit_once('*') else { return Ok(vec![word.trim().into()]) };
    match times.trim().parse::<usize>() {
        Ok(n) if n <= MOST => Ok(vec![name.trim().to_owned(); n]),
        _ => Err(Failure::Usage(format!(
            "--observe {word}: expected NAME*N with an integer N of at most {MOST}"
        ))),
    }
}

fn save(path: &Path, belief: &Belief, lines: &[Line]) -> Result<()> {
    let curves = |names: &[String], of: &dyn Fn(&Line) -> &Vec<f64>| -> Vec<plot::Curve> {
        (names.iter().enumerate())
            .map(|(k, name)| {
                let points = lines.iter().enumerate().map(|(n, line)| (n as f64, of(line)[k]));
                plot::Curve { name: name.clone(), points: points.collect() }
            })
            .collect()
    };
    let names: Vec<String> = belief.hypotheses().iter().map(|h| format!("P({h})")).collect();
    let next: Vec<String> = belief.outcomes().iter().map(|o| format!("P(next is {o})")).collect();
    let posteriors = curves(&names, &|line| &line.posterior);
    plot::save_belief(path, posteriors, curves(&next, &|line| &line.predictive))
}
