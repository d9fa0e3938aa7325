//! `mercer bayes learn`: a Bayesian network from a table.

use super::network::draw;
use crate::args::Reading;
use crate::failure::{Failure, Result};
use crate::input;
use crate::session::Session;
use clap::{Args, ValueEnum, ValueHint};
use mercer::data::Schema;
use mercer::data::{Stream, Table};
use mercer::probability::network::bif::to_bif;
use mercer::probability::network::learn::{
    HillClimb, Learned, Learner, Observations, ParameterLearning, Score, StructureLearning,
};
use mercer::probability::network::{Evidence, Network};
use mercer_io::{Profile, Source};
use serde_json::json;
use std::io::{Write, stdout};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Rows that are read together.
const STEP: usize = 8192;

/// Learn a Bayesian network from a table of categories and save it as BIF.
///
/// With missing values, the conditional probability tables are estimated by expectation maximization; the structure
/// is learned from the complete rows.
#[derive(Args)]
#[command(after_help = "\
Examples:
  mercer bayes learn weather.csv --out weather.bif
  mercer bayes learn mammals.csv --structure tan --target class --out mammals.bif
  mercer bayes learn survey.csv --structure search --score bdeu --max-parents 3 --out survey.bif")]
pub struct Learn {
    /// Table; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub data: String,
    /// Structure learning algorithm
    #[arg(long, value_enum, default_value_t = Structure::ChowLiu)]
    pub structure: Structure,
    /// Class variable: parent of all others in tan, naive and search, root of the tree in chow-liu
    #[arg(long, value_name = "COLUMN")]
    pub target: Option<String>,
    /// Score that the search maximizes
    #[arg(long, value_enum, default_value_t = By::Bic)]
    pub score: By,
    /// With --score bdeu: equivalent sample size of the prior
    #[arg(long, default_value_t = 10.0, value_name = "N")]
    pub sample_size: f64,
    /// Maximum number of parents of a variable in the search
    #[arg(long, default_value_t = 4, value_name = "N")]
    pub max_parents: usize,
    /// Length of the tabu list of the search; 0 stops at the first local maximum
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub tabu: usize,
    /// Additive smoothing of the counts: 1 is Laplace smoothing, 0 is maximum likelihood
    #[arg(long, default_value_t = 1.0, value_name = "NUMBER")]
    pub alpha: f64,
    /// Drop a column (may repeat)
    #[arg(long, value_name = "COLUMN")]
    pub ignore: Vec<String>,
    /// Network file to write [default: the name of the table with .bif]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Also draw the network, as .svg or Graphviz .dot
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub draw: Option<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
}

/// The structure learning algorithm.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum Structure {
    /// Chow-Liu tree: the tree of maximum likelihood
    ChowLiu,
    /// Tree-augmented naive Bayes: naive Bayes with a maximum-likelihood tree over the features
    Tan,
    /// Naive Bayes: edges from the class to all features
    Naive,
    /// Hill climbing by a score
    Search,
}

/// The score that the search maximizes.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum By {
    /// The Bayesian information criterion
    Bic,
    /// Bayesian Dirichlet score with uniform priors (BDeu)
    Bdeu,
}

pub fn run(args: Learn, session: &Session) -> Result<()> {
    let out = args.out.clone().unwrap_or_else(|| default_out(&args.data));
    for path in [Some(&out), args.draw.as_ref()].into_iter().flatten() {
        session.check_output(path)?;
    }
    let source = input::open(&args.data, &args.reading, None, session)?;
    let profile = input::profile(&source, session)?;
    let data = observations(&source, &profile, &args.ignore, session)?;
    let learner = Learner {
        structure: structure_learning(&args, &data)?,
        parameters: ParameterLearning { alpha: args.alpha, ..ParameterLearning::default() },
    };
    let bar = session.bar("learning");
    let monitor = session.monitor(&bar);
    let learned = learner.learn(&data, &monitor);
    bar.finish_and_clear();
    session.check_interrupt()?;
    let learned = learned?;
    let network = &learned.fitted.model;
    mercer::file::save(&out, to_bif(network).as_bytes())?;
    if let Some(path) = &args.draw {
        draw(network, &Evidence::none(), path, &monitor)?;
    }
    tell(&args, session, &learned, &out)
}

/// The name of the table with another extension.
fn default_out(data: &str) -> PathBuf {
    let stem = PathBuf::from(data).file_name().map(PathBuf::from).unwrap_or_default();
    let stem = if data == "-" { PathBuf::from("network") } else { stem };
    stem.with_extension("bif")
}

/// All rows of a table.
fn observations(
    source: &Source,
    profile: &Profile,
    ignore: &[String],
    session: &Session,
) -> Result<Observations> {
    if let Some(name) = ignore.iter().find(|name| profile.column(name).is_none()) {
        return Err(Failure::Usage(format!("{} has no column `{name}`", source.name())));
    }
    let mut schema: Schema = profile.schema();
    schema.fields.retain(|field| !ignore.contains(&field.name));
    let mut whole = Table::new(Vec::new())?;
    source.stream(&schema, STEP, &mut |tables| {
        for table in tables {
            whole.append(table)?;
        }
        Ok(if session.interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    session.check_interrupt()?;
    Observations::of_table(&whole).map_err(|error| match error {
        mercer::Error::Kind { ref column, .. } => Failure::Data(format!(
            "{error}; drop it with `--ignore {column}`, or discretize numeric columns first"
        )),
        other => other.into(),
    })
}

fn structure_learning(args: &Learn, data: &Observations) -> Result<StructureLearning> {
    let place = |name: &String| {
        let known = || data.variables().iter().map(|v| v.name.as_str()).collect::<Vec<_>>();
        let found = data.variables().iter().position(|v| v.name == *name);
        found.ok_or_else(|| {
            Failure::Usage(format!("no column `{name}`; the columns are {}", known().join(", ")))
        })
    };
    let target = args.target.as_ref().map(place).transpose()?;
    let class = || {
        let missing = || "name the class with --target for this structure".into();
        target.ok_or_else(|| Failure::Usage(missing()))
    };
    Ok(match args.structure {
        Structure::ChowLiu => StructureLearning::ChowLiu { root: target.unwrap_or(0) },
        Structure::Tan => StructureLearning::TreeAugmented { class: class()? },
        Structure::Naive => StructureLearning::Naive { class: class()? },
        Structure::Search => StructureLearning::Search(HillClimb {
            score: match args.score {
                By::Bic => Score::Bic,
                By::Bdeu => Score::Bdeu { sample_size: args.sample_size },
            },
            max_parents: args.max_parents,
            tabu: args.tabu,
            class: target,
            ..HillClimb::default()
        }),
    })
}

fn tell(args: &Learn, session: &Session, learned: &Learned, out: &std::path::Path) -> Result<()> {
    let network: &Network = &learned.fitted.model;
    let name = |v: &usize| network.variables()[*v].name.clone();
    if session.json {
        let parents: serde_json::Map<String, serde_json::Value> = (0..network.len())
            .map(|v| (name(&v), json!(network.parents(v).iter().map(name).collect::<Vec<_>>())))
            .collect();
        return session.print_json(&json!({
            "parents": parents,
            "free_parameters": network.n_free_parameters(),
            "certificate": learned.fitted.certificate,
            "search": learned.search,
            "trace": learned.trace,
            "saved": out,
        }));
    }
    let mut stdout = stdout().lock();
    for v in 0..network.len() {
        let parents: Vec<String> = network.parents(v).iter().map(name).collect();
        let given = if parents.is_empty() { String::new() } else { " | ".to_owned() };
        writeln!(stdout, "P({}{given}{})", name(&v), parents.join(", "))?;
    }
    writeln!(stdout, "{} free parameters", network.n_free_parameters())?;
    if let Some(search) = &learned.search {
        writeln!(stdout, "structure: {search}")?;
    }
    writeln!(stdout, "tables: {}", learned.fitted.certificate)?;
    writeln!(stdout, "saved {}", out.display())?;
    if let Some(path) = &args.draw {
        writeln!(stdout, "saved {}", path.display())?;
    }
    Ok(())
}
