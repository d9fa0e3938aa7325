//! `mercer bayes rule`: Bayes' theorem with its steps.

use super::number::{named_list, number};
use crate::failure::{Failure, Result};
use crate::report::terminal::{align_right, table};
use crate::session::Session;
use clap::Args;
use mercer::explain::short;
use mercer::probability::BayesRule;
use serde_json::json;
use std::io::{self, Write};

/// Apply Bayes' theorem: from prior and likelihood to posterior, with the steps.
///
/// One hypothesis against its negation takes --prior, --likelihood and either --evidence or
/// --against; several take --hypothesis for each.
#[derive(Args)]
#[command(after_help = "\
Examples:
  mercer bayes rule --prior 1/50000 --likelihood 0.5 --evidence 1/20
  mercer bayes rule --prior 1% --likelihood 90% --against 5%
  mercer bayes rule --hypothesis red=1/3,0.9 --hypothesis blue=2/3,0.2")]
pub struct Rule {
    /// P(hypothesis), before the evidence
    #[arg(long, value_parser = number, value_name = "P")]
    prior: Option<f64>,
    /// P(evidence | hypothesis)
    #[arg(long, value_parser = number, value_name = "P", requires = "prior")]
    likelihood: Option<f64>,
    /// P(evidence), over all cases
    #[arg(long, value_parser = number, value_name = "P", requires = "likelihood")]
    evidence: Option<f64>,
    /// P(evidence | not hypothesis), such as the false positive rate of a test
    #[arg(long, value_parser = number, value_name = "P", requires = "likelihood", conflicts_with = "evidence")]
    against: Option<f64>,
    /// A hypothesis with its prior and its likelihood (may repeat)
    #[arg(long, value_parser = named_list, value_name = "NAME=PRIOR,LIKELIHOOD", conflicts_with = "prior")]
    hypothesis: Vec<(String, Vec<f64>)>,
}

pub fn run(args: Rule, session: &Session) -> Result<()> {
    let rule = ask(&args)?;
    let odds = (rule.hypotheses.len() == 2).then(|| rule.odds(0, 1));
    if session.json {
        return session.print_json(&json!({
            "hypotheses": rule.hypotheses, "evidence": rule.evidence, "odds": odds,
        }));
    }
    let mut out = io::stdout().lock();
    let first = &rule.hypotheses[0];
    let name = &first.name;
    writeln!(out, "P({name} | e) = P(e | {name}) P({name}) / P(e)")?;
    let margin = " ".repeat(name.chars().count() + 8);
    let (likelihood, prior) = (short(first.likelihood), short(first.prior));
    writeln!(out, "{margin}= {likelihood} x {prior} / {}", short(rule.evidence))?;
    writeln!(out, "{margin}= {}\n", short(first.posterior))?;
    let mut rows = table(&["hypothesis", "P(h)", "P(e | h)", "P(e, h)", "P(h | e)"]);
    align_right(&mut rows, &[1, 2, 3, 4]);
    for h in &rule.hypotheses {
        let numbers = [h.prior, h.likelihood, h.joint, h.posterior].map(short);
        rows.add_row([vec![h.name.clone()], numbers.to_vec()].concat());
    }
    rows.add_row(["P(e)".into(), String::new(), String::new(), short(rule.evidence)]);
    writeln!(out, "{rows}")?;
    if let Some(odds) = odds {
        writeln!(
            out,
            "\nOdds, {name} against {}: prior {} x Bayes factor {} = posterior {}",
            rule.hypotheses[1].name,
            short(odds.prior),
            short(odds.bayes_factor),
            short(odds.posterior)
        )?;
    }
    Ok(())
}

fn ask(args: &Rule) -> Result<BayesRule> {
    match (args.prior, args.likelihood, args.evidence, args.against) {
        (Some(prior), Some(likelihood), Some(evidence), _) => {
            Ok(BayesRule::from_evidence(prior, likelihood, evidence)?)
        }
        (Some(prior), Some(likelihood), None, Some(against)) => {
            let names = ["hypothesis".to_owned(), "opposite".to_owned()];
            Ok(BayesRule::of(&names, &[prior, 1.0 - prior], &[likelihood, against])?)
        }
        _ if args.hypothesis.len() >= 2 => several(&args.hypothesis),
        _ => Err(Failure::Usage(
            "give --prior, --likelihood and --evidence (or --against), or --hypothesis for each \
             of at least two"
                .into(),
        )),
    }
}

fn several(hypotheses: &[(String, Vec<f64>)]) -> Result<BayesRule> {
    let names: Vec<String> = hypotheses.iter().map(|(name, _)| name.clone()).collect();
    let (mut priors, mut likelihoods) = (Vec::new(), Vec::new());
    for (name, numbers) in hypotheses {
        let [prior, likelihood] = numbers[..] else {
            return Err(Failure::Usage(format!(
                "--hypothesis {name}: expected {name}=PRIOR,LIKELIHOOD"
            )));
        };
        priors.push(prior);
        likelihoods.push(likelihood);
    }
    Ok(BayesRule::of(&names, &priors, &likelihoods)?)
}
