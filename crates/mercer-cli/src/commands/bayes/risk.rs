//! `mercer bayes risk`: the Bayes error of two Gaussian classes.

use super::number::number;
use crate::failure::{Failure, Result};
use crate::session::Session;
use clap::Args;
use mercer::decision::risk::TwoGaussians;
use mercer::explain::short;
use serde_json::json;
use std::io::{self, Write};

/// Bayes error of two Gaussian classes, with the optimal rule.
///
/// The classes have known priors and univariate normal densities. `mercer bayes table FILE --risk COLUMN` computes the
/// Bayes risk of a joint table.
#[derive(Args)]
#[command(after_help = "\
Examples:
  mercer bayes risk --means 0,2 --variances 1,1
  mercer bayes risk --means 0,1 --variances 1,4 --prior 0.3")]
pub struct Risk {
    /// Means of the two classes
    #[arg(long, value_delimiter = ',', value_parser = number, value_name = "M,M", required = true, allow_hyphen_values = true)]
    means: Vec<f64>,
    /// Variances of the two classes, or one for both
    #[arg(long, value_delimiter = ',', value_parser = number, value_name = "V,V", required = true)]
    variances: Vec<f64>,
    /// Prior probability of the first class
    #[arg(long, value_parser = number, value_name = "P", default_value = "1/2")]
    prior: f64,
}

pub fn run(args: Risk, session: &Session) -> Result<()> {
    let [m, n] = args.means[..] else {
        let why = format!("--means takes two numbers, found {}", args.means.len());
        return Err(Failure::Usage(why));
    };
    let variances = match args.variances[..] {
        [v] => [v, v],
        [v, w] => [v, w],
        _ => {
            let why =
                format!("--variances takes one or two numbers, found {}", args.variances.len());
            return Err(Failure::Usage(why));
        }
    };
    let classes = TwoGaussians::new(args.prior, [m, n], variances)?;
    let (regions, error) = (classes.regions(), classes.bayes_error());
    if session.json {
        let finite = |x: f64| x.is_finite().then_some(x);
        let rule: Vec<_> = (regions.iter())
            .map(|([low, high], class)| {
                json!({ "from": finite(*low), "to": finite(*high), "class": class + 1 })
            })
            .collect();
        return session.print_json(&json!({
            "bayes_error": error, "boundaries": classes.boundaries(), "rule": rule,
        }));
    }
    let mut out = io::stdout().lock();
    let normal = |k: usize| format!("N({}, {})", short([m, n][k]), short(variances[k]));
    writeln!(out, "class 1: P = {}, x ~ {}", short(args.prior), normal(0))?;
    writeln!(out, "class 2: P = {}, x ~ {}\n", short(1.0 - args.prior), normal(1))?;
    writeln!(out, "The optimal rule:")?;
    for ([low, high], class) in &regions {
        let place = match (low.is_finite(), high.is_finite()) {
            (false, false) => "for every x".to_owned(),
            (false, true) => format!("for x < {}", short(*high)),
            (true, false) => format!("for x > {}", short(*low)),
            (true, true) => format!("for {} < x < {}", short(*low), short(*high)),
        };
        writeln!(out, "  class {} {place}", class + 1)?;
    }
    writeln!(out, "\nBayes error = {}", short(error))?;
    Ok(())
}
