//! `mercer bayes network`: exact inference in a Bayesian network.

use crate::failure::{Failure, Result};
use crate::report::terminal::table;
use crate::session::Session;
use clap::{Args, ValueHint};
use mercer::explain::short;
use mercer::model::Monitor;
use mercer::probability::network::bif::from_bif;
use mercer::probability::network::inference::{
    JunctionTree, Posterior, most_probable_explanation, query,
};
use mercer::probability::network::{
    Block, Evidence, Network as Net, Separation, d_separation, to_dot, to_svg,
};
use serde_json::{Map, Value, json};
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

/// Exact inference in a Bayesian network.
///
/// Without a query it prints the posterior marginal of every variable given the evidence.
#[derive(Args)]
#[command(after_help = "\
Examples:
  mercer bayes network alarm.bif --query Burglary --evidence JohnCalls=true --evidence MaryCalls=true
  mercer bayes network alarm.bif --query Burglary,Earthquake --joint --evidence Alarm=true
  mercer bayes network alarm.bif --mpe --evidence JohnCalls=true
  mercer bayes network alarm.bif --separated JohnCalls MaryCalls --given Alarm
  mercer bayes network alarm.bif --draw alarm.svg")]
pub struct Network {
    /// Network in BIF format; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: String,
    /// Query variables, separated by commas [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub query: Vec<String>,
    /// Evidence: an observed variable (may repeat)
    #[arg(long, value_parser = seen, value_name = "NAME=STATE")]
    pub evidence: Vec<(String, String)>,
    /// Joint distribution of the query variables instead of their marginals
    #[arg(long, requires = "query")]
    pub joint: bool,
    /// Most probable explanation: the most probable state of all variables given the evidence
    #[arg(long)]
    pub mpe: bool,
    /// Test d-separation of two variables and show the paths
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    pub separated: Vec<String>,
    /// With --separated: conditioning variables, separated by commas (may repeat)
    #[arg(long, value_delimiter = ',', requires = "separated", value_name = "NAMES")]
    pub given: Vec<String>,
    /// Draw the network with its probabilities, as .svg or Graphviz .dot
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub draw: Option<PathBuf>,
}

fn seen(word: &str) -> std::result::Result<(String, String), String> {
    match word.split_once('=') {
        Some((name, state)) if !name.is_empty() => Ok((name.to_owned(), state.to_owned())),
        _ => Err("expected NAME=STATE".into()),
    }
}

pub fn run(args: Network, session: &Session) -> Result<()> {
    let network = load(&args.file)?;
    let bar = session.bar("asking");
    let monitor = session.monitor(&bar);
    let seen = args.evidence.iter().map(|(name, state)| (name.as_str(), state.as_str()));
    let evidence = network.evidence(seen)?;
    session.message(&format!(
        "{}: {} variables, {} edges, {} free parameters",
        args.file,
        network.len(),
        network.n_edges(),
        network.n_free_parameters()
    ));
    let mut answers = Map::new();
    if args.separated.len() == 2 {
        separation(&network, &args, session, &mut answers)?;
    }
    if args.mpe {
        explanation(&network, &evidence, &monitor, session, &mut answers)?;
    }
    if args.joint {
        joint(&network, &args.query, &evidence, &monitor, session, &mut answers)?;
    } else if !args.query.is_empty() || (!args.mpe && args.separated.is_empty()) {
        marginals(&network, &args.query, &evidence, &monitor, session, &mut answers)?;
    }
    if let Some(path) = &args.draw {
        draw(&network, &evidence, path, &monitor)?;
        session.message(&format!("drew {}", path.display()));
    }
    if session.json { session.print_json(&answers) } else { Ok(()) }
}

/// Reads a network.
pub fn load(path: &str) -> Result<Net> {
    let refuse = |e: std::io::Error| Failure::Data(format!("{path}: {e}"));
    let text = match path {
        "-" => std::io::read_to_string(std::io::stdin()).map_err(refuse)?,
        path => std::fs::read_to_string(path).map_err(refuse)?,
    };
    from_bif(&text).map_err(|e| Failure::Data(format!("{path}: {e}")))
}

/// Draws a network in the format of the file extension.
pub fn draw(network: &Net, evidence: &Evidence, path: &Path, monitor: &Monitor<'_>) -> Result<()> {
    let text = match path.extension().and_then(|e| e.to_str()) {
        Some("svg") => {
            let tree = JunctionTree::new(network, monitor)?;
            to_svg(network, &tree.calibrate(evidence)?.marginals(), evidence)
        }
        Some("dot" | "gv") => to_dot(network),
        _ => {
            let path = path.display();
            return Err(Failure::Usage(format!("{path}: expected a file name with .svg or .dot")));
        }
    };
    Ok(mercer::file::save(path, text.as_bytes())?)
}

fn separation(
    network: &Net,
    args: &Network,
    session: &Session,
    answers: &mut Map<String, Value>,
) -> Result<()> {
    let place = |name: &String| network.variable(name);
    let (a, b) = (place(&args.separated[0])?, place(&args.separated[1])?);
    let given = args.given.iter().map(place).collect::<mercer::Result<Vec<_>>>()?;
    let separation = d_separation(network, a, b, &given)?;
    let name = |v: &usize| network.variables()[*v].name.clone();
    if session.json {
        let answer = match &separation {
            Separation::Separated { blocked } => json!({
                "separated": true,
                "blocked": blocked.iter().map(|path| json!({
                    "path": path.path.iter().map(name).collect::<Vec<_>>(),
                    "at": name(&path.at),
                    "seen": path.why == Block::Seen,
                })).collect::<Vec<_>>(),
            }),
            Separation::Connected { path } => {
                json!({"separated": false, "path": path.iter().map(name).collect::<Vec<_>>()})
            }
        };
        answers.insert("separation".into(), answer);
        return Ok(());
    }
    let mut out = stdout().lock();
    let known = match args.given.is_empty() {
        true => String::new(),
        false => format!(" given {}", args.given.join(", ")),
    };
    let (a, b) = (&args.separated[0], &args.separated[1]);
    match &separation {
        Separation::Separated { blocked } => {
            writeln!(out, "{a} and {b} are independent{known}")?;
            for path in blocked {
                let why = match path.why {
                    Block::Seen => "which is observed",
                    Block::Collider => "an unobserved collider",
                };
                let at = name(&path.at);
                writeln!(out, "  {} is blocked at {at}, {why}", shown(network, &path.path))?;
            }
        }
        Separation::Connected { path } => {
            writeln!(out, "{a} and {b} are d-connected{known}")?;
            writeln!(out, "  {} is active", shown(network, path))?;
        }
    }
    Ok(())
}

/// A path with its edges: `A -> B <- C`.
fn shown(network: &Net, path: &[usize]) -> String {
    let mut out = path.first().map_or(String::new(), |v| network.variables()[*v].name.clone());
    for pair in path.windows(2) {
        let arrow = if network.parents(pair[1]).contains(&pair[0]) { "->" } else { "<-" };
        out += &format!(" {arrow} {}", network.variables()[pair[1]].name);
    }
    out
}

fn explanation(
    network: &Net,
    evidence: &Evidence,
    monitor: &Monitor<'_>,
    session: &Session,
    answers: &mut Map<String, Value>,
) -> Result<()> {
    let best = most_probable_explanation(network, evidence, monitor)?;
    let evidence_log = query(network, &[], evidence, monitor)?.log_evidence;
    let posterior = (best.log_probability - evidence_log).exp();
    let state = |v: usize| network.variables()[v].states[best.states[v]].clone();
    if session.json {
        let states: Map<String, Value> = (0..network.len())
            .map(|v| (network.variables()[v].name.clone(), state(v).into()))
            .collect();
        let answer = json!({
            "states": states,
            "log_probability": best.log_probability,
            "posterior": posterior,
        });
        answers.insert("mpe".into(), answer);
        return Ok(());
    }
    let mut rows = table(&["variable", "most probable"]);
    for (v, variable) in network.variables().iter().enumerate() {
        let mark = if evidence.state(v).is_some() { " (seen)" } else { "" };
        rows.add_row([variable.name.clone(), state(v) + mark]);
    }
    let mut out = stdout().lock();
    writeln!(out, "{rows}")?;
    writeln!(out, "P(this | evidence) = {}", short(posterior))?;
    Ok(())
}

fn joint(
    network: &Net,
    names: &[String],
    evidence: &Evidence,
    monitor: &Monitor<'_>,
    session: &Session,
    answers: &mut Map<String, Value>,
) -> Result<()> {
    let of = places(network, names)?;
    let posterior = query(network, &of, evidence, monitor)?;
    let rows = configurations(network, &posterior);
    if session.json {
        let rows: Vec<Value> =
            rows.iter().map(|(states, p)| json!({"states": states, "p": p})).collect();
        let answer = json!({
            "variables": names,
            "rows": rows,
            "log_evidence": posterior.log_evidence,
        });
        answers.insert("joint".into(), answer);
        return Ok(());
    }
    let headings: Vec<&str> = names.iter().map(String::as_str).chain(["probability"]).collect();
    let mut shown = table(&headings);
    for (states, p) in rows {
        shown.add_row(states.into_iter().chain([short(p)]).collect::<Vec<_>>());
    }
    let mut out = stdout().lock();
    writeln!(out, "{shown}")?;
    writeln!(out, "P(evidence) = {}", short(posterior.log_evidence.exp()))?;
    Ok(())
}

fn configurations(network: &Net, posterior: &Posterior) -> Vec<(Vec<String>, f64)> {
    let states = |mut at: usize| {
        let mut states: Vec<String> = Vec::new();
        for (v, size) in posterior.variables.iter().zip(&posterior.sizes).rev() {
            states.push(network.variables()[*v].states[at % size].clone());
            at /= size;
        }
        states.reverse();
        states
    };
    posterior.probabilities.iter().enumerate().map(|(at, p)| (states(at), *p)).collect()
}

fn places(network: &Net, names: &[String]) -> Result<Vec<usize>> {
    Ok(names.iter().map(|name| network.variable(name)).collect::<mercer::Result<_>>()?)
}

fn marginals(
    network: &Net,
    names: &[String],
    evidence: &Evidence,
    monitor: &Monitor<'_>,
    session: &Session,
    answers: &mut Map<String, Value>,
) -> Result<()> {
    let of = if names.is_empty() { (0..network.len()).collect() } else { places(network, names)? };
    // A single query is answered by variable elimination; several share a junction tree.
    let (marginals, log_evidence) = if let [v] = of[..] {
        let posterior = query(network, &[v], evidence, monitor)?;
        (vec![posterior.probabilities], posterior.log_evidence)
    } else {
        let tree = JunctionTree::new(network, monitor)?;
        let calibrated = tree.calibrate(evidence)?;
        let marginals = of.iter().map(|v| calibrated.marginal(*v));
        (marginals.collect::<mercer::Result<Vec<_>>>()?, calibrated.log_evidence())
    };
    if session.json {
        let all: Map<String, Value> = of
            .iter()
            .zip(&marginals)
            .map(|(v, marginal)| {
                let variable = &network.variables()[*v];
                let states: Map<String, Value> = variable
                    .states
                    .iter()
                    .zip(marginal)
                    .map(|(state, p)| (state.clone(), json!(p)))
                    .collect();
                (variable.name.clone(), Value::Object(states))
            })
            .collect();
        answers.insert("marginals".into(), Value::Object(all));
        answers.insert("log_evidence".into(), json!(log_evidence));
        return Ok(());
    }
    let mut rows = table(&["variable", "state", "probability"]);
    for (v, marginal) in of.iter().zip(&marginals) {
        let variable = &network.variables()[*v];
        for (s, p) in marginal.iter().enumerate() {
            let name = if s == 0 { variable.name.clone() } else { String::new() };
            rows.add_row([name, variable.states[s].clone(), short(*p)]);
        }
    }
    let mut out = stdout().lock();
    writeln!(out, "{rows}")?;
    writeln!(out, "P(evidence) = {}", short(log_evidence.exp()))?;
    Ok(())
}
