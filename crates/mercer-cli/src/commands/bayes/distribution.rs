//! `mercer bayes binomial` and `mercer bayes multinomial`: probabilities of counts.

use super::number::number;
use crate::failure::{Failure, Result};
use crate::report::terminal::{align_right, table};
use crate::session::Session;
use clap::Args;
use mercer::explain::short;
use mercer::probability::density;
use serde_json::json;
use std::io::{self, Write};

/// Numbers of successes that are listed unless the user asks for some.
const MOST_LISTED: f64 = 60.0;

/// Binomial distribution: the number of successes in n trials.
///
/// Factorials are gamma functions, so that the numbers of trials and successes may be real numbers.
#[derive(Args)]
#[command(after_help = "\
Examples:
  mercer bayes binomial --trials 4 --probability 1/2
  mercer bayes binomial --trials 10 --probability 30% --successes 3,4
  mercer bayes binomial --trials 7.5 --probability 0.3 --successes 2.25")]
pub struct Binomial {
    /// Number of trials
    #[arg(long, short = 'n', value_parser = number, value_name = "N")]
    trials: f64,
    /// Probability of a success
    #[arg(long, short = 'p', value_parser = number, value_name = "P")]
    probability: f64,
    /// Numbers of successes [default: 0 to N]
    #[arg(long, short = 'k', value_delimiter = ',', value_parser = number, value_name = "K,K,…")]
    successes: Vec<f64>,
}

/// Multinomial distribution: the counts of several outcomes in n trials.
///
/// Factorials are gamma functions, so that counts may be real numbers, such as tf-idf weights.
#[derive(Args)]
#[command(after_help = "\
Examples:
  mercer bayes multinomial --probabilities 1/6,1/6,1/6,1/6,1/6,1/6 --counts 1,1,1,1,1,1
  mercer bayes multinomial --probabilities 0.5,0.3,0.2 --counts 2,2,1
  mercer bayes multinomial --probabilities 0.3,0.7 --counts 2.25,5.25")]
pub struct Multinomial {
    /// Probability of each outcome
    #[arg(long, short = 'p', value_delimiter = ',', value_parser = number, value_name = "P,P,…", required = true)]
    probabilities: Vec<f64>,
    /// Count of each outcome; their sum is the number of trials
    #[arg(long, short = 'c', value_delimiter = ',', value_parser = number, value_name = "X,X,…", required = true)]
    counts: Vec<f64>,
}

pub fn binomial(args: Binomial, session: &Session) -> Result<()> {
    let distribution = density::Binomial::new(args.trials, args.probability)?;
    let successes = match args.successes.is_empty() {
        false => args.successes,
        true if args.trials <= MOST_LISTED => {
            (0..=args.trials.floor() as u32).map(f64::from).collect()
        }
        true => {
            let why = format!("name the numbers of successes of {} trials with -k", args.trials);
            return Err(Failure::Usage(why));
        }
    };
    if let Some(k) = successes.iter().find(|k| **k < 0.0 || **k > args.trials) {
        let why = format!("--successes: {k} is not between 0 and the {} trials", args.trials);
        return Err(Failure::Usage(why));
    }
    let (mean, variance) = (distribution.mean(), distribution.variance());
    // The distribution function of real numbers of trials is a sum over integers only.
    let whole = args.trials.fract() == 0.0 && successes.iter().all(|k| k.fract() == 0.0);
    if session.json {
        let lines: Vec<_> = (successes.iter())
            .map(|k| {
                json!({
                    "successes": k, "probability": distribution.pmf(*k),
                    "log_probability": distribution.ln_pmf(*k),
                    "at_most": whole.then(|| distribution.cdf(*k)),
                })
            })
            .collect();
        return session.print_json(&json!({
            "trials": args.trials, "probability": args.probability, "mean": mean,
            "variance": variance, "successes": lines,
        }));
    }
    let mut out = io::stdout().lock();
    writeln!(out, "B(n = {}, p = {})", short(args.trials), short(args.probability))?;
    let deviation = short(variance.sqrt());
    writeln!(
        out,
        "mean {}, variance {}, standard deviation {deviation}\n",
        short(mean),
        short(variance)
    )?;
    let headings: &[&str] =
        if whole { &["k", "P(k)", "P(at most k)"] } else { &["k", "P(k) by the gamma function"] };
    let mut rows = table(headings);
    align_right(&mut rows, &(0..headings.len()).collect::<Vec<_>>());
    for k in &successes {
        let mut cells = vec![short(*k), short(distribution.pmf(*k))];
        cells.extend(whole.then(|| short(distribution.cdf(*k))));
        rows.add_row(cells);
    }
    writeln!(out, "{rows}")?;
    Ok(())
}

pub fn multinomial(args: Multinomial, session: &Session) -> Result<()> {
    let distribution = density::Multinomial::new(args.probabilities)?;
    let log = distribution.ln_pmf(&args.counts)?;
    let n: f64 = args.counts.iter().sum();
    let (mean, covariance) = (distribution.mean(n), distribution.covariance(n));
    if session.json {
        let covariance: Vec<Vec<f64>> = covariance.outer_iter().map(|row| row.to_vec()).collect();
        return session.print_json(&json!({
            "trials": n, "probabilities": distribution.probabilities(), "counts": args.counts,
            "probability": log.exp(), "log_probability": log, "mean": mean, "covariance": covariance,
        }));
    }
    let mut out = io::stdout().lock();
    writeln!(out, "P(counts) = {}, log {}, {} trials\n", short(log.exp()), short(log), short(n))?;
    let mut headings = vec!["outcome", "p", "count", "mean", "covariance"];
    headings.extend(std::iter::repeat_n("", mean.len() - 1));
    let mut rows = table(&headings);
    align_right(&mut rows, &(0..headings.len()).collect::<Vec<_>>());
    for (j, row) in covariance.outer_iter().enumerate() {
        let p = distribution.probabilities()[j];
        let mut cells = vec![(j + 1).to_string(), short(p), short(args.counts[j]), short(mean[j])];
        cells.extend(row.iter().map(|v| short(*v)));
        rows.add_row(cells);
    }
    writeln!(out, "{rows}")?;
    Ok(())
}
