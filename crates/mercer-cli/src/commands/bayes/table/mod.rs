//! `mercer bayes table`: joint, marginal and conditional distributions of the columns of a table.

mod columns;
mod independence;
mod moments;
mod print;
mod risk;

use super::number::number;
use crate::args::Reading;
use crate::failure::{Failure, Result};
use crate::session::Session;
use clap::{Args, ValueHint};
use mercer::probability::joint::{Chain, Total};
use mercer::probability::{Event, Fraction, JointTable};
use serde::Serialize;
use std::path::PathBuf;

/// Joint distribution of the columns of a table: marginals, conditionals, events, moments, independence, entropy,
/// Bayes risk.
///
/// Uses the categorical and boolean columns and the columns that an option names. If the file has one row per
/// combination and one column of integers, or of probabilities that sum to one, that column holds the counts or the
/// probabilities.
///
/// An event is COLUMN=VALUE, COLUMN=VALUE|VALUE for one of several values, or a comparison of numeric columns and their
/// sums (die1+die2<=4), combined by and, or, not and parentheses. Quote names and values that contain these.
#[derive(Args)]
#[command(after_help = "\
Examples:
  mercer bayes table examples/data/weather.csv --given temp=hot
  mercer bayes table examples/data/weather.csv --event weather=rainy --event temp=hot
  mercer bayes table examples/data/weather.csv --event weather=rainy --by temp
  mercer bayes table examples/data/weather.csv --event 'temp=hot or not weather=sunny'
  mercer bayes table examples/data/dice.csv --event 'die1+die2=2'
  mercer bayes table examples/data/dice.csv --moments die1,die2 --given 'die1+die2>=11'
  mercer bayes table examples/data/dice.csv --moments die1 --given 'die1+die2<=4' --by die2
  mercer bayes table examples/data/house.csv --counts p --independent john,mary,alarm
  mercer bayes table examples/data/weather.csv --risk weather
  mercer bayes table examples/data/mammals.csv --columns can_fly,have_legs,class --independent can_fly,have_legs,class")]
pub struct Table {
    /// Table: CSV, TSV, Parquet, Arrow or JSON lines; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    data: String,
    /// Columns of the joint table, separated by commas [default: the categorical and boolean columns]
    #[arg(long = "columns", value_delimiter = ',', value_name = "NAMES")]
    names: Vec<String>,
    /// Column with the count of each row, or its probability
    #[arg(long, value_name = "COLUMN")]
    counts: Option<String>,
    /// Condition on an event (may repeat: all of them)
    #[arg(long, value_parser = event, value_name = "EVENT")]
    given: Vec<Event>,
    /// Event whose probability is computed, with or without --given (may repeat: all of them)
    #[arg(long, value_parser = event, value_name = "EVENT")]
    event: Vec<Event>,
    /// Show the law of total probability for the event, or of total expectation for --moments, by the values of a
    /// column
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
    /// Expectation and variance of numeric columns, and their covariance and correlation
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    moments: Vec<String>,
    /// Test the independence of the first two columns given the others: A,B or A,B,C
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    independent: Vec<String>,
    /// Number of observations behind a table of probabilities, for the test of independence
    #[arg(long, value_parser = number, value_name = "N", requires = "independent")]
    sample_size: Option<f64>,
    /// Bayes risk and optimal rule for predicting a column from the others
    #[arg(long, value_name = "COLUMN")]
    risk: Option<String>,
    /// Cost matrix of --risk: one row per true class; the first column names the class, the others, named by class,
    /// hold the cost of predicting that class [default: every error costs 1]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "risk")]
    cost: Option<PathBuf>,
    /// Cost of a rejection, for --risk
    #[arg(long, value_parser = number, value_name = "COST", requires = "risk")]
    reject: Option<f64>,
    #[command(flatten)]
    reading: Reading,
}

fn event(word: &str) -> std::result::Result<Event, String> {
    Event::parse(word).map_err(|e| e.to_string())
}

/// The report of the command.
#[derive(Serialize)]
struct Report {
    table: JointTable,
    rows_left_out: usize,
    given: Option<String>,
    /// The conditional table given the condition.
    conditional: Option<JointTable>,
    answer: Option<Answer>,
    /// Entropies in bits, of each column and of all jointly.
    entropy: Vec<f64>,
    joint_entropy: f64,
    moments: Option<moments::Moments>,
    /// The column of `--by`.
    by: Option<String>,
    independence: Option<independence::Tested>,
    risk: Option<risk::BayesRisk>,
    parameters: mercer::probability::joint::FreeParameters,
}

#[derive(Serialize)]
struct Answer {
    question: String,
    #[serde(skip)]
    event: String,
    /// ` | given`, or empty.
    #[serde(skip)]
    bar: String,
    probability: Fraction,
    chain: Chain,
    by: Option<String>,
    /// The law of total probability by the column of `--by`.
    total: Option<Total>,
}

pub fn run(args: Table, session: &Session) -> Result<()> {
    if args.by.is_some() && args.event.is_empty() && args.moments.is_empty() {
        return Err(Failure::Usage("--by needs an --event or --moments".into()));
    }
    let (joint, rows_left_out) = columns::read(&args, session)?;
    if rows_left_out > 0 {
        session.message(&format!("{rows_left_out} rows with missing values were dropped"));
    }
    let report = ask(&args, joint, rows_left_out, session)?;
    if session.json {
        return session.print_json(&report);
    }
    print::print(&report)
}

fn ask(args: &Table, joint: JointTable, rows_left_out: usize, session: &Session) -> Result<Report> {
    let all = |events: &[Event]| events.iter().fold(Event::certain(), |all, e| all.and(e));
    let (given, event) = (all(&args.given), all(&args.event));
    let by = args.by.as_deref();
    let conditional = match given.is_certain() {
        true => None,
        // If there is an event, the condition may cover every column.
        false => match joint.given(&given) {
            Err(mercer::Error::Parameter { .. }) if !event.is_certain() => None,
            other => Some(other?),
        },
    };
    let restricted = joint.restricted(&given)?;
    let answer = match event.is_certain() {
        true => None,
        false => Some(answer(&joint, &restricted, &event, &given, by)?),
    };
    let moments = match args.moments.is_empty() {
        true => None,
        false => Some(moments::ask(&restricted, &args.moments, by)?),
    };
    let independence = match args.independent.is_empty() {
        true => None,
        false => Some(independence::ask(&joint, &args.independent, args.sample_size)?),
    };
    let risk = match &args.risk {
        Some(target) => {
            let joint = risk::table_given(&joint, &given)?;
            Some(risk::ask(&joint, target, args.cost.as_deref(), args.reject, session)?)
        }
        None => None,
    };
    let names: Vec<&str> = joint.variables().iter().map(|v| v.name.as_str()).collect();
    Ok(Report {
        entropy: names.iter().map(|n| joint.entropy(&[n])).collect::<mercer::Result<_>>()?,
        joint_entropy: joint.entropy(&names)?,
        parameters: joint.free_parameters(),
        given: (!given.is_certain()).then(|| given.to_string()),
        table: joint,
        rows_left_out,
        conditional,
        answer,
        moments,
        by: args.by.clone(),
        independence,
        risk,
    })
}

/// `P(event | given)`, by the chain rule and by the law of total probability.
fn answer(
    joint: &JointTable,
    restricted: &JointTable,
    event: &Event,
    given: &Event,
    by: Option<&str>,
) -> Result<Answer> {
    let bar = if given.is_certain() { String::new() } else { format!(" | {given}") };
    Ok(Answer {
        question: format!("P({event}{bar})"),
        event: event.to_string(),
        bar,
        probability: joint.conditional(event, given)?,
        chain: joint.chain_rule(&given.clone().and(event))?,
        by: by.map(str::to_owned),
        total: by.map(|by| restricted.total_probability(event, by)).transpose()?,
    })
}
