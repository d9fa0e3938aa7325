//! `mercer bayes estimate`: a parameter by maximum likelihood, MAP and posterior.

use super::number::number;
use crate::failure::{Failure, Result};
use crate::report::plot;
use crate::report::plot::parameter_density::{Panel, Parameter, densities};
use crate::report::terminal::{align_right, table};
use crate::session::Session;
use clap::{Args, Subcommand, ValueHint};
use mercer::decision::RegressionLoss;
use mercer::explain::short;
use mercer::probability::conjugate::{
    Beta, Dirichlet, Estimate as Row, Gamma, Interval, NormalInverseGamma, NormalMean,
};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;

/// Estimate a parameter: maximum likelihood, and the Bayes estimates of a posterior with an interval.
///
/// The Bayes estimate minimizes the expected loss under the posterior: the posterior mean for squared loss, the median
/// for absolute loss, the mode (MAP) for 0-1 loss.
#[derive(Args)]
#[command(after_help = "\
Examples:
  mercer bayes estimate beta --successes 7 --failures 3 --plot posterior.svg
  mercer bayes estimate dirichlet --counts 3,4,5 --prior 1
  mercer bayes estimate normal --values 125,100,70,120
  mercer bayes estimate gamma --counts 3,1,4,1
  mercer bayes estimate discrete --values 0,1,10 --posterior 0.3,0.4,0.3")]
pub struct Estimate {
    #[command(subcommand)]
    of: Of,
    /// Posterior probability of the credible interval
    #[arg(long, default_value = "95%", value_parser = number, value_name = "P", global = true)]
    level: f64,
    /// Plot the prior and posterior densities with the credible interval, as .svg, .png or .html
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, global = true)]
    plot: Option<PathBuf>,
}

/// The posterior probability within the range of a plot.
const PLOTTED: f64 = 0.999;

#[derive(Subcommand)]
enum Of {
    /// Probability of success (Bernoulli), with a beta prior
    #[command(
        after_help = "Example:\n  mercer bayes estimate beta --successes 7 --failures 3 --prior 1,1"
    )]
    Beta {
        /// Number of successes
        #[arg(long, value_parser = number, value_name = "N")]
        successes: f64,
        /// Number of failures
        #[arg(long, value_parser = number, value_name = "N")]
        failures: f64,
        /// Parameters alpha and beta of the prior; 1,1 is uniform
        #[arg(long, default_value = "1,1", value_delimiter = ',', value_parser = number, value_name = "A,B")]
        prior: Vec<f64>,
    },
    /// Probabilities of several outcomes (categorical), with a Dirichlet prior
    #[command(after_help = "Example:\n  mercer bayes estimate dirichlet --counts 3,4,5 --prior 1")]
    Dirichlet {
        /// Count of each outcome
        #[arg(long, value_delimiter = ',', value_parser = number, value_name = "N,N,…")]
        counts: Vec<f64>,
        /// Parameter alpha of each outcome, or one for all; 1 is Laplace smoothing
        #[arg(long, default_value = "1", value_delimiter = ',', value_parser = number, value_name = "A[,A,…]")]
        prior: Vec<f64>,
    },
    /// Mean of a normal distribution, and its variance unless --noise gives it
    #[command(after_help = "\
Examples:
  mercer bayes estimate normal --values 125,100,70,120 --prior 100,1,1,500
  mercer bayes estimate normal --values 12,14 --noise 2 --prior 10,4")]
    Normal {
        /// Observed values
        #[arg(long, value_delimiter = ',', value_parser = number, value_name = "X,X,…", allow_hyphen_values = true)]
        values: Vec<f64>,
        /// Known variance of a single observation
        #[arg(long, value_parser = number, value_name = "V")]
        noise: Option<f64>,
        /// Prior. With --noise: mean and variance of the mean (normal). Without: mean, kappa, alpha and beta
        /// (normal-inverse-gamma)
        #[arg(long, value_delimiter = ',', value_parser = number, value_name = "M,…", allow_hyphen_values = true)]
        prior: Vec<f64>,
    },
    /// Rate of events (Poisson), with a gamma prior
    #[command(after_help = "Example:\n  mercer bayes estimate gamma --counts 3,1,4,1 --prior 2,1")]
    Gamma {
        /// Number of events in each unit of time
        #[arg(long, value_delimiter = ',', value_parser = number, value_name = "N,N,…")]
        counts: Vec<f64>,
        /// Parameters shape and rate of the prior
        #[arg(long, default_value = "1,0.001", value_delimiter = ',', value_parser = number, value_name = "SHAPE,RATE")]
        prior: Vec<f64>,
    },
    /// A parameter with finitely many values and known posterior probabilities
    #[command(
        after_help = "Example:\n  mercer bayes estimate discrete --values 0,1,10 --posterior 0.3,0.4,0.3"
    )]
    Discrete {
        /// Values of the parameter
        #[arg(long, value_delimiter = ',', value_parser = number, value_name = "X,X,…", allow_hyphen_values = true, required = true)]
        values: Vec<f64>,
        /// Posterior probability of each value, or a weight proportional to it
        #[arg(long, value_delimiter = ',', value_parser = number, value_name = "P,P,…", required = true)]
        posterior: Vec<f64>,
    },
}

/// The result of an estimation.
struct PosteriorSummary {
    rows: Vec<Row>,
    prior: String,
    posterior: String,
    /// The prediction interval of the next value, if values are numeric.
    next: Option<Interval>,
    /// The densities, drawn by `--plot`.
    panels: Vec<Panel<'static>>,
}

pub fn run(args: Estimate, session: &Session) -> Result<()> {
    let level = args.level;
    let summary = match args.of {
        Of::Beta { successes, failures, prior } => beta(successes, failures, &prior, level)?,
        Of::Dirichlet { counts, prior } => dirichlet(&counts, prior, level)?,
        Of::Normal { values, noise: Some(noise), prior } => {
            known_noise(&values, noise, &prior, level)?
        }
        Of::Normal { values, noise: None, prior } => normal(&values, &prior, level)?,
        Of::Gamma { counts, prior } => gamma(&counts, &prior, level)?,
        Of::Discrete { .. } if args.plot.is_some() => {
            return Err(Failure::Usage(
                "--plot draws densities; a discrete posterior has none, remove --plot".into(),
            ));
        }
        Of::Discrete { values, posterior } => return discrete(&values, &posterior, session),
    };
    if let Some(path) = &args.plot {
        plot::save(path, densities(&summary.panels))?;
        session.message(&format!("saved {}", path.display()));
    }
    if session.json {
        let next = summary.next.map_or(Value::Null, |i| json!(i));
        return session.print_json(&json!({
            "prior": summary.prior, "posterior": summary.posterior, "estimates": summary.rows,
            "next_value": next,
        }));
    }
    let mut out = io::stdout().lock();
    writeln!(out, "prior      {}\nposterior  {}\n", summary.prior, summary.posterior)?;
    let percent = format!("{}% interval", short(100.0 * level));
    let mut rows = table(&[
        "",
        "maximum likelihood",
        "MAP (0-1 loss)",
        "mean (squared loss)",
        "median (absolute loss)",
        &percent,
    ]);
    align_right(&mut rows, &[1, 2, 3, 4, 5]);
    let some = |x: Option<f64>| x.map_or_else(|| "none".to_owned(), short);
    for row in &summary.rows {
        rows.add_row([
            row.parameter.clone(),
            some(row.maximum_likelihood),
            some(row.map),
            some(row.mean),
            short(row.median),
            format!("{} to {}", short(row.interval.low), short(row.interval.high)),
        ]);
    }
    writeln!(out, "{rows}")?;
    if let Some(next) = summary.next {
        let (low, high) = (short(next.low), short(next.high));
        writeln!(out, "\nThe next value lies in {low} to {high} with P = {}", short(level))?;
    }
    Ok(())
}

/// The Bayes estimates of a discrete posterior, each with its expected loss.
pub struct BayesEstimates {
    pub mean: f64,
    pub median: f64,
    pub mode: f64,
    /// The expected losses: squared, absolute, 0-1.
    risks: [f64; 3],
}

impl BayesEstimates {
    pub fn of(values: &[f64], posterior: &[f64]) -> Result<BayesEstimates> {
        let losses = [RegressionLoss::Squared, RegressionLoss::Absolute, RegressionLoss::ZeroOne];
        let mut best = [0.0; 3];
        let mut risks = [0.0; 3];
        for (k, loss) in losses.iter().enumerate() {
            best[k] = loss.best(values, posterior)?;
            risks[k] = loss.risk(values, posterior, best[k])?;
        }
        Ok(BayesEstimates { mean: best[0], median: best[1], mode: best[2], risks })
    }

    pub fn json(&self) -> Value {
        json!({
            "mean": self.mean, "median": self.median, "mode": self.mode,
            "expected_squared_loss": self.risks[0], "expected_absolute_loss": self.risks[1],
            "expected_zero_one_loss": self.risks[2],
        })
    }

    pub fn print(&self, out: &mut impl Write) -> Result<()> {
        let mut rows = table(&["loss", "Bayes estimate", "", "expected loss"]);
        align_right(&mut rows, &[2, 3]);
        let lines = [
            ("squared", "mean", self.mean),
            ("absolute", "median", self.median),
            ("0-1", "mode", self.mode),
        ];
        for ((loss, name, value), risk) in lines.into_iter().zip(self.risks) {
            rows.add_row([loss.to_owned(), name.into(), short(value), short(risk)]);
        }
        writeln!(out, "{rows}")?;
        Ok(())
    }
}

fn discrete(values: &[f64], posterior: &[f64], session: &Session) -> Result<()> {
    let estimates = BayesEstimates::of(values, posterior)?;
    match session.json {
        true => session.print_json(&estimates.json()),
        false => estimates.print(&mut io::stdout().lock()),
    }
}

fn beta(successes: f64, failures: f64, prior: &[f64], level: f64) -> Result<PosteriorSummary> {
    let [a, b] = parts(prior, "A,B")?;
    let prior = Beta::new(a, b)?;
    let posterior = prior.updated(successes, failures)?;
    let name = |d: &Beta| format!("Beta({}, {})", short(d.alpha()), short(d.beta()));
    let axis = "probability of a success".to_owned();
    let parameters = vec![proportion(String::new(), prior, posterior, level)?];
    Ok(PosteriorSummary {
        rows: vec![prior.estimate(successes, failures, level)?],
        prior: name(&prior),
        posterior: name(&posterior),
        next: None,
        panels: vec![Panel { axis, range: (0.0, 1.0), parameters }],
    })
}

fn dirichlet(counts: &[f64], prior: Vec<f64>, level: f64) -> Result<PosteriorSummary> {
    let alpha = match prior[..] {
        [one] => vec![one; counts.len()],
        _ => prior,
    };
    let prior = Dirichlet::new(alpha)?;
    let posterior = prior.updated(counts)?;
    let name = |d: &Dirichlet| {
        let alpha: Vec<String> = d.alpha().iter().map(|a| short(*a)).collect();
        format!("Dirichlet({})", alpha.join(", "))
    };
    let parameters = (0..counts.len())
        .map(|k| {
            let name = format!("outcome {}", k + 1);
            proportion(name, prior.marginal(k)?, posterior.marginal(k)?, level)
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(PosteriorSummary {
        rows: prior.estimate(counts, level)?,
        prior: name(&prior),
        posterior: name(&posterior),
        next: None,
        panels: vec![Panel { axis: "probability".into(), range: (0.0, 1.0), parameters }],
    })
}

fn known_noise(values: &[f64], noise: f64, prior: &[f64], level: f64) -> Result<PosteriorSummary> {
    // A prior so wide that the data decide.
    let [mean, variance] =
        if prior.is_empty() { [0.0, 1e12 * noise] } else { parts(prior, "MEAN,VARIANCE")? };
    let prior = NormalMean::new(mean, variance, noise)?;
    let posterior = prior.updated(values)?;
    let name =
        |d: &NormalMean| format!("N(mean {}, variance {})", short(d.mean()), short(d.variance()));
    let panel = panel(
        "mean",
        posterior.interval(PLOTTED)?,
        Box::new(move |x| prior.ln_density(x).exp()),
        Box::new(move |x| posterior.ln_density(x).exp()),
        posterior.interval(level)?,
    );
    Ok(PosteriorSummary {
        rows: vec![prior.estimate(values, level)?],
        prior: name(&prior),
        posterior: name(&posterior),
        next: Some(posterior.predictive_interval(level)?),
        panels: vec![panel],
    })
}

fn normal(values: &[f64], prior: &[f64], level: f64) -> Result<PosteriorSummary> {
    // A nearly uninformative prior.
    let [mean, kappa, alpha, beta] = if prior.is_empty() {
        [0.0, 1e-9, 1e-9, 1e-9]
    } else {
        parts(prior, "MEAN,KAPPA,ALPHA,BETA")?
    };
    let prior = NormalInverseGamma::new(mean, kappa, alpha, beta)?;
    let posterior = prior.updated(values)?;
    let name = |d: &NormalInverseGamma| {
        let [m, k, a, b] = d.parameters().map(short);
        format!("mean ~ N({m}, variance/{k}), variance ~ InverseGamma({a}, {b})")
    };
    let mean = panel(
        "mean",
        posterior.mean_interval(PLOTTED)?,
        Box::new(move |x| prior.mean_ln_density(x).exp()),
        Box::new(move |x| posterior.mean_ln_density(x).exp()),
        posterior.mean_interval(level)?,
    );
    let variance = panel(
        "variance",
        // The tail of an inverse gamma is so long that a wider range would show nothing else.
        posterior.variance_interval(0.97)?,
        Box::new(move |x| prior.variance_ln_density(x).exp()),
        Box::new(move |x| posterior.variance_ln_density(x).exp()),
        posterior.variance_interval(level)?,
    );
    Ok(PosteriorSummary {
        rows: prior.estimate(values, level)?.to_vec(),
        prior: name(&prior),
        posterior: name(&posterior),
        next: Some(posterior.predictive_interval(level)?),
        panels: vec![mean, variance],
    })
}

fn gamma(counts: &[f64], prior: &[f64], level: f64) -> Result<PosteriorSummary> {
    let [shape, rate] = parts(prior, "SHAPE,RATE")?;
    if let Some(count) = counts.iter().find(|n| **n < 0.0) {
        return Err(Failure::Usage(format!("--counts: {count} is not a count")));
    }
    let (events, time) = (counts.iter().sum(), counts.len() as f64);
    let prior = Gamma::new(shape, rate)?;
    let posterior = prior.updated(events, time)?;
    let name = |d: &Gamma| format!("Gamma(shape {}, rate {})", short(d.shape()), short(d.rate()));
    let panel = panel(
        "rate",
        posterior.interval(PLOTTED)?,
        Box::new(move |x| prior.ln_density(x).exp()),
        Box::new(move |x| posterior.ln_density(x).exp()),
        posterior.interval(level)?,
    );
    Ok(PosteriorSummary {
        rows: vec![prior.estimate(events, time, level)?],
        prior: name(&prior),
        posterior: name(&posterior),
        next: None,
        panels: vec![panel],
    })
}

/// The densities of a probability with a beta prior.
fn proportion(
    name: String,
    prior: Beta,
    posterior: Beta,
    level: f64,
) -> Result<Parameter<'static>> {
    Ok(Parameter {
        name,
        prior: Box::new(move |p| prior.ln_density(p).exp()),
        posterior: Box::new(move |p| posterior.ln_density(p).exp()),
        interval: posterior.interval(level)?,
    })
}

/// The panel of a single parameter.
fn panel(
    axis: &str,
    shown: Interval,
    prior: Box<dyn Fn(f64) -> f64>,
    posterior: Box<dyn Fn(f64) -> f64>,
    interval: Interval,
) -> Panel<'static> {
    let parameter = Parameter { name: String::new(), prior, posterior, interval };
    Panel { axis: axis.into(), range: (shown.low, shown.high), parameters: vec![parameter] }
}

/// The parameters of a prior.
fn parts<const N: usize>(prior: &[f64], form: &str) -> Result<[f64; N]> {
    prior.try_into().map_err(|_| {
        Failure::Usage(format!("--prior takes {N} numbers, {form}; found {}", prior.len()))
    })
}
