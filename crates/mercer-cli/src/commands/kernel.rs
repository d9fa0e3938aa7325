//! `mercer kernel check`: positive semi-definiteness and conditioning of a kernel matrix.

use crate::args::Reading;
use crate::failure::{Failure, Result};
use crate::input;
use crate::session::Session;
use clap::{Args as Group, Subcommand, ValueHint};
use mercer::data::{Dataset, Stream};
use mercer::explain::short;
use mercer::kernel::{Function, Gamma, Kernel as Family, KernelReport, check_kernel};
use mercer::preprocess::{Encoded, Features, Recipe};
use mercer_io::Source;
use std::io::{self, Write};
use std::ops::ControlFlow;

/// Check a kernel before a fit.
#[derive(Group)]
#[command(after_help = "Example:\n  mercer kernel check iris.csv --ignore species")]
pub struct Kernel {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Check(Check),
}

/// Check that the kernel matrix of a table is positive semi-definite and well scaled.
///
/// Computes the kernel (Gram) matrix of the rows and its eigenvalues. A kernel function has no negative eigenvalue;
/// if there is one, its eigenvector is printed as a witness. Also reports the effective rank, duplicate rows, the
/// bandwidth of the median heuristic, and columns of very different scales.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer kernel check iris.csv --ignore species
  mercer kernel check iris.csv --ignore species --kernel sigmoid --coef0=-1 --prepare scale=standard
  mercer kernel check iris.csv --ignore species --kernel 'rbf(gamma=0.1)+2*linear'
  mercer kernel check penguins.csv --ignore species --prepare impute=mean --prepare categories=one-hot")]
struct Check {
    /// Table; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    data: String,
    /// Kernel: linear, poly, rbf, sigmoid, laplacian, chi2, sums and products of these as in
    /// `rbf(gamma=0.1)+2*linear`, or precomputed where the table holds kernel values
    #[arg(long, default_value = "rbf", value_name = "NAME|FORMULA")]
    kernel: String,
    /// Kernel coefficient gamma: a number, scale or auto
    #[arg(long, default_value = "scale", value_name = "GAMMA")]
    gamma: String,
    /// Independent term of poly and sigmoid
    #[arg(long, default_value_t = 0.0, value_name = "NUMBER", allow_hyphen_values = true)]
    coef0: f64,
    /// Degree of poly
    #[arg(long, default_value_t = 3, value_name = "N")]
    degree: usize,
    /// Maximum number of rows, from the first; the time grows with their cube
    #[arg(long, default_value_t = 1000, value_name = "N")]
    rows: usize,
    /// Drop a column (may repeat)
    #[arg(long, value_name = "COLUMN")]
    ignore: Vec<String>,
    /// Preprocessing step, as in `mercer train` (may repeat)
    #[arg(long, value_name = "STEP")]
    prepare: Vec<String>,
    #[command(flatten)]
    reading: Reading,
}

pub fn run(args: Kernel, session: &Session) -> Result<()> {
    let What::Check(args) = args.what;
    let (kernel, gamma) = (family(&args.kernel)?, gamma_of(&args.gamma)?);
    let source = input::open(&args.data, &args.reading, None, session)?;
    let (features, rows) = read(&args, &source, session)?;
    let data = Dataset::unlabeled(rows.rows());
    let function = kernel.with(Some(gamma), args.coef0, args.degree, &data);
    let report = check_kernel(function, &rows.rows())
        .map_err(|e| input::located(e.into(), &source, || features.encoded_names()))?;
    if session.json {
        return session.print_json(&report);
    }
    show(&report)
}

fn family(word: &str) -> Result<Family> {
    word.parse().map_err(|why: String| {
        let names = Family::VALUES.join(", ");
        Failure::Usage(format!(
            "--kernel {word}: {why}; expected one of {names}, or a formula like `rbf(gamma=0.1)+2*linear`"
        ))
    })
}

fn gamma_of(word: &str) -> Result<Gamma> {
    let value = serde_json::from_str(word).unwrap_or_else(|_| word.into());
    match serde_json::from_value(value) {
        Ok(Gamma::Number(gamma)) if gamma < 0.0 => {
            Err(Failure::Usage(format!("--gamma {word}: expected a number of at least 0")))
        }
        Ok(gamma) => Ok(gamma),
        Err(_) => Err(Failure::Usage(format!("--gamma {word}: expected a number, scale or auto"))),
    }
}

/// The first rows of the table, encoded, and their features.
fn read(args: &Check, source: &Source, session: &Session) -> Result<(Features, Encoded)> {
    let profile = input::profile(source, session)?;
    let mut schema = profile.schema();
    for name in &args.ignore {
        if schema.field(name).is_none() {
            return Err(Failure::Usage(format!("--ignore {name}: the table has no such column")));
        }
        schema = schema.without(name);
    }
    let recipe =
        args.prepare.iter().try_fold(Recipe::default(), |recipe, step| recipe.with(step))?;
    let (features, _) = Features::plan(&schema, None, recipe.categories)?;
    let bar = session.bar("reading");
    let features = features.fit(&recipe, source, &session.monitor(&bar))?;
    bar.finish_and_clear();
    let (mut parts, mut seen) = (Vec::new(), 0);
    source
        .stream(&features.input_schema(None), args.rows.max(1), &mut |tables| {
            for mut table in tables {
                let room = args.rows - seen;
                let table = if table.n_rows() > room { table.take_front(room) } else { table };
                seen += table.n_rows();
                parts.push(features.encode(&table, None)?);
                if seen >= args.rows {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        })
        .map_err(|e| input::located(e, source, || features.encoded_names()))?;
    let rows = Encoded::join(parts).ok_or(mercer::Error::NoRows)?;
    Ok((features, rows))
}

fn show(report: &KernelReport) -> Result<()> {
    let mut out = io::stdout().lock();
    match &report.function {
        Function { kernel: Family::Composed(formula), .. } => {
            writeln!(out, "{} rows, {formula}", report.n_rows)?;
        }
        Function { gamma, .. } => writeln!(out, "{} rows, gamma {}", report.n_rows, short(*gamma))?,
    }
    writeln!(
        out,
        "eigenvalues    {:.6e} to {:.6e}: {}",
        report.smallest,
        report.largest,
        if report.positive { "positive semi-definite" } else { "NOT POSITIVE SEMI-DEFINITE" }
    )?;
    if let Some(witness) = &report.witness {
        let mut indices: Vec<usize> = (0..witness.len()).collect();
        indices.sort_by(|a, b| witness[*b].abs().total_cmp(&witness[*a].abs()));
        let entries: Vec<String> =
            indices.iter().take(5).map(|i| format!("row {} x {:.4}", i + 1, witness[*i])).collect();
        writeln!(
            out,
            "witness        {} ...: an eigenvector with a negative eigenvalue",
            entries.join(", ")
        )?;
    }
    writeln!(out, "effective rank {:.1} of {}", report.effective_rank, report.n_rows)?;
    let (low, high) = report.range;
    writeln!(out, "values         {low:.4} to {high:.4} between different rows")?;
    if report.duplicates > 0 {
        writeln!(out, "duplicates     {} pairs of rows are equal", report.duplicates)?;
    }
    if report.indistinguishable > 0 {
        writeln!(
            out,
            "saturation     {} pairs of different rows have the kernel values of equal rows",
            report.indistinguishable
        )?;
    }
    if report.median_distance > 0.0 {
        writeln!(
            out,
            "bandwidth      gamma {} by the median distance {}",
            short(report.median_gamma),
            short(report.median_distance)
        )?;
    }
    if report.scale_ratio > 10.0 {
        writeln!(
            out,
            "scales         the standard deviations of the columns differ by a factor of {:.0}: `--prepare scale=standard` standardizes them",
            report.scale_ratio
        )?;
    }
    Ok(())
}
