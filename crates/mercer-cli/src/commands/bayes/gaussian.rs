//! `mercer bayes gaussian`: the multivariate normal distribution.

use super::number::{named, number};
use crate::args::Reading;
use crate::failure::{Failure, Result};
use crate::input;
use crate::report::terminal::{align_right, table};
use crate::session::Session;
use clap::{Args, ValueHint};
use mercer::data::{Kind, Values};
use mercer::explain::short;
use mercer::probability::MultivariateNormal;
use mercer_num::random::Random;
use mercer_num::{Matrix, Rows};
use serde_json::json;
use std::io::{self, Write};

/// Fit or specify a multivariate normal distribution: density, Mahalanobis distance, conditioning, samples.
#[derive(Args)]
#[command(after_help = "\
Examples:
  mercer bayes gaussian examples/data/iris.csv --columns petal_length,petal_width --given petal_length=5
  mercer bayes gaussian --mean 0,0 --covariance '1,0.5;0.5,1' --at 1,1 --sample 3")]
pub struct Gaussian {
    /// Table to fit to; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath, required_unless_present = "mean")]
    data: Option<String>,
    /// Columns, separated by commas [default: all numeric columns]
    #[arg(long = "columns", value_delimiter = ',', value_name = "NAMES")]
    names: Vec<String>,
    /// Estimate the covariance without bias (divide by n - 1 instead of n)
    #[arg(long)]
    unbiased: bool,
    /// Mean vector, instead of a table
    #[arg(long, value_delimiter = ',', value_parser = number, value_name = "M,M,…", conflicts_with = "data", requires = "covariance", allow_hyphen_values = true)]
    mean: Option<Vec<f64>>,
    /// Covariance matrix, with rows separated by semicolons
    #[arg(long, value_parser = matrix, value_name = "V,V;V,V", requires = "mean", allow_hyphen_values = true)]
    covariance: Option<Matrix>,
    /// Condition on the value of a coordinate (may repeat)
    #[arg(long, value_parser = named, value_name = "NAME=X")]
    given: Vec<(String, f64)>,
    /// Point at which the density and the Mahalanobis distance are computed
    #[arg(long, value_delimiter = ',', value_parser = number, value_name = "X,X,…", allow_hyphen_values = true)]
    at: Option<Vec<f64>>,
    /// Number of rows to sample
    #[arg(long, default_value_t = 0, value_name = "N")]
    sample: usize,
    /// Random seed
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    #[command(flatten)]
    reading: Reading,
}

fn matrix(word: &str) -> std::result::Result<Matrix, String> {
    let rows: Vec<Vec<f64>> = word
        .split(';')
        .map(|row| row.split(',').map(number).collect())
        .collect::<std::result::Result<_, _>>()?;
    let width = rows[0].len();
    Matrix::from_shape_vec((rows.len(), width), rows.concat())
        .map_err(|_| "the rows differ in length".to_owned())
}

pub fn run(args: Gaussian, session: &Session) -> Result<()> {
    let whole = match (&args.data, &args.mean, &args.covariance) {
        (Some(data), ..) => fit(data, &args, session)?,
        (None, Some(mean), Some(covariance)) => {
            let names = match args.names.is_empty() {
                true => (1..=mean.len()).map(|k| format!("x{k}")).collect(),
                false => args.names.clone(),
            };
            MultivariateNormal::new(names, mean.clone(), covariance.clone())?
        }
        _ => return Err(Failure::Usage("pass a table, or --mean and --covariance".into())),
    };
    let known: Vec<(&str, f64)> = args.given.iter().map(|(n, x)| (n.as_str(), *x)).collect();
    let normal = whole.given(&known)?;
    let at = args.at.as_deref().map(|x| -> Result<_> {
        let density = normal.ln_density(x)?;
        Ok((density, normal.mahalanobis(x)?, normal.tail(x)?))
    });
    let at = at.transpose()?;
    let drawn = normal.sample(args.sample, &mut Random::new(args.seed));
    if session.json {
        let rows: Vec<Vec<f64>> = drawn.outer_iter().map(|row| row.to_vec()).collect();
        let covariance: Vec<Vec<f64>> =
            normal.covariance().outer_iter().map(|row| row.to_vec()).collect();
        return session.print_json(&json!({
            "names": normal.names(), "mean": normal.mean(), "covariance": covariance,
            "at": at.map(|(density, distance, tail)| json!({
                "log_density": density, "mahalanobis": distance, "tail": tail,
            })),
            "sample": rows,
        }));
    }
    let mut out = io::stdout().lock();
    let given: Vec<String> = args.given.iter().map(|(n, x)| format!("{n}={}", short(*x))).collect();
    match given.is_empty() {
        true => writeln!(out, "({})\n", normal.names().join(", "))?,
        false => writeln!(out, "({} | {})\n", normal.names().join(", "), given.join(", "))?,
    }
    let mut headings = vec!["", "mean", "deviation", "covariance"];
    headings.extend(std::iter::repeat_n("", normal.names().len() - 1));
    let mut rows = table(&headings);
    align_right(&mut rows, &(1..headings.len()).collect::<Vec<_>>());
    for (k, name) in normal.names().iter().enumerate() {
        let row = normal.covariance().row(k);
        let mut cells = vec![name.clone(), short(normal.mean()[k]), short(row[k].sqrt())];
        cells.extend(row.iter().map(|v| short(*v)));
        rows.add_row(cells);
    }
    writeln!(out, "{rows}")?;
    if let Some((density, distance, tail)) = at {
        writeln!(out, "\nlog p(x) = {}, p(x) = {}", short(density), short(density.exp()))?;
        writeln!(out, "Mahalanobis distance {}", short(distance))?;
        writeln!(out, "P(a sample has at least this distance) = {}", short(tail))?;
    }
    if args.sample > 0 {
        writeln!(out, "\n{}", normal.names().join(","))?;
        for row in drawn.outer_iter() {
            let cells: Vec<String> = row.iter().map(f64::to_string).collect();
            writeln!(out, "{}", cells.join(","))?;
        }
    }
    Ok(())
}

fn fit(data: &str, args: &Gaussian, session: &Session) -> Result<MultivariateNormal> {
    let source = input::open(data, &args.reading, None, session)?;
    let profile = input::profile(&source, session)?;
    let names: Vec<String> = match args.names.is_empty() {
        false => args.names.clone(),
        true => {
            let numeric = profile.columns.iter().filter(|c| c.kind == Kind::Numeric);
            numeric.map(|c| c.name.clone()).collect()
        }
    };
    if names.is_empty() {
        return Err(Failure::Data(format!("{}: found no numeric column", source.name())));
    }
    let read = source.read(&profile.schema())?;
    let mut columns = Vec::new();
    for name in &names {
        let missing = || mercer::Error::MissingColumn { name: name.clone() };
        match &read.column(name).ok_or_else(missing)?.values {
            Values::Numeric(numbers) => columns.push(numbers),
            other => {
                return Err(mercer::Error::Kind {
                    column: name.clone(),
                    found: other.kind().to_string(),
                    expected: Kind::Numeric.to_string(),
                }
                .into());
            }
        }
    }
    let whole: Vec<usize> =
        (0..read.n_rows()).filter(|i| columns.iter().all(|c| !c[*i].is_nan())).collect();
    if whole.len() < read.n_rows() {
        let n = read.n_rows() - whole.len();
        session.message(&format!("{n} rows with missing values were dropped"));
    }
    let x = Matrix::from_shape_fn((whole.len(), names.len()), |(i, j)| columns[j][whole[i]]);
    let fit =
        if args.unbiased { MultivariateNormal::fit_unbiased } else { MultivariateNormal::fit };
    Ok(fit(names, &Rows::from(&x))?)
}
