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
    Arrows, HillClimb, Learned, Learner, Observations, Score, Tables,
};
use mercer::probability::network::{Evidence, Network};
use mercer_io::{Profile, Source};
use serde_json::json;
use std::io::{Write, stdout};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Rows read at a time.
const STEP: usize = 8192;

/// Learn a Bayesian network from a table of categories and save it as BIF.
///
/// Gaps are fine: the tables are then learned by expectation-maximization; arrows are searched for in
/// the rows without gaps.
#[derive(Args)]
#[command(after_help = "\
Examples:
  mercer bayes learn weather.csv --out weather.bif
  mercer bayes learn mammals.csv --structure tan --target class --out mammals.bif
  mercer bayes learn survey.csv --structure search --score bdeu --max-parents 3 --out survey.bif")]
pub struct Learn {
    /// The table; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub data: String,
    /// Where the arrows come from
    #[arg(long, value_enum, default_value_t = Structure::ChowLiu)]
    pub structure: Structure,
    /// The class: parent of all others in tan and naive, top of the tree in chow-liu; in a search it is
    /// made a parent of all others
    #[arg(long, value_name = "COLUMN")]
    pub target: Option<String>,
    /// What a search makes large
    #[arg(long, value_enum, default_value_t = By::Bic)]
    pub score: By,
    /// With --score bdeu: how many rows the prior is worth
    #[arg(long, default_value_t = 10.0, value_name = "N")]
    pub sample_size: f64,
    /// In a search, no variable gets more parents
    #[arg(long, default_value_t = 4, value_name = "N")]
    pub max_parents: usize,
    /// In a search, how many of the last steps may not be undone; 0 stops at the first top
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub tabu: usize,
    /// Added to every count: 1 is Laplace's rule, 0 none
    #[arg(long, default_value_t = 1.0, value_name = "NUMBER")]
    pub alpha: f64,
    /// Leave a column out (may repeat)
    #[arg(long, value_name = "COLUMN")]
    pub ignore: Vec<String>,
    /// Where to save the network [default: the table's name with .bif]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Draw it too: a .svg, or a .dot for other programs
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub draw: Option<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
}

/// Where the arrows come from.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum Structure {
    /// The tree of largest likelihood
    ChowLiu,
    /// From the class to all others, with the best tree over them
    Tan,
    /// From the class to all others, and nothing else
    Naive,
    /// By the largest score
    Search,
}

/// What a search makes large.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum By {
    /// The Bayesian information criterion
    Bic,
    /// The probability of the rows under even Dirichlet priors
    Bdeu,
}

pub fn run(args: Learn, session: &Session) -> Result<()> {
    let source = input::open(&args.data, &args.reading, None, session)?;
    let profile = input::profile(&source, session)?;
    let data = observations(&source, &profile, &args.ignore, session)?;
    let learner = Learner {
        arrows: arrows(&args, &data)?,
        tables: Tables { alpha: args.alpha, ..Tables::default() },
    };
    let bar = session.bar("learning");
    let monitor = session.monitor(&bar);
    let learned = learner.learn(&data, &monitor);
    bar.finish_and_clear();
    session.check_interrupt()?;
    let learned = learned?;
    let network = &learned.fitted.model;
    let out = args.out.clone().unwrap_or_else(|| default_out(&args.data));
    mercer::file::save(&out, to_bif(network).as_bytes())?;
    if let Some(path) = &args.draw {
        draw(network, &Evidence::none(), path, &monitor)?;
    }
    tell(&args, session, &learned, &out)
}

/// The table's name with another ending.
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
            "{error}; leave it out with `--ignore {column}`, or cut numbers into bins first"
        )),
        other => other.into(),
    })
}

fn arrows(args: &Learn, data: &Observations) -> Result<Arrows> {
    let place = |name: &String| {
        let known = || data.variables().iter().map(|v| v.name.as_str()).collect::<Vec<_>>();
        let found = data.variables().iter().position(|v| v.name == *name);
        found.ok_or_else(|| {
            Failure::Usage(format!("there is no column `{name}`; there are {}", known().join(", ")))
        })
    };
    let target = args.target.as_ref().map(place).transpose()?;
    let class = || {
        let words = "name the class with --target for this structure";
        target.ok_or_else(|| Failure::Usage(words.into()))
    };
    Ok(match args.structure {
        Structure::ChowLiu => Arrows::ChowLiu { root: target.unwrap_or(0) },
        Structure::Tan => Arrows::TreeAugmented { class: class()? },
        Structure::Naive => Arrows::Naive { class: class()? },
        Structure::Search => Arrows::Search(HillClimb {
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
    let mut words = stdout().lock();
    for v in 0..network.len() {
        let parents: Vec<String> = network.parents(v).iter().map(name).collect();
        let given = if parents.is_empty() { String::new() } else { " | ".to_owned() };
        writeln!(words, "P({}{given}{})", name(&v), parents.join(", "))?;
    }
    writeln!(words, "{} free parameters", network.n_free_parameters())?;
    if let Some(search) = &learned.search {
        writeln!(words, "arrows: {search}")?;
    }
    writeln!(words, "tables: {}", learned.fitted.certificate)?;
    writeln!(words, "saved {}", out.display())?;
    if let Some(path) = &args.draw {
        writeln!(words, "saved {}", path.display())?;
    }
    Ok(())
}
