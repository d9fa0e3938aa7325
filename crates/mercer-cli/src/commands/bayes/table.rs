//! `mercer bayes table`: joint, marginal and conditional distributions of the columns of a table.

use crate::args::Reading;
use crate::failure::{Failure, Result};
use crate::input;
use crate::report::terminal::{align_right, table};
use crate::session::Session;
use clap::{Args, ValueHint};
use mercer::data::{Kind, Values};
use mercer::explain::short;
use mercer::probability::joint::{Chain, Independence};
use mercer::probability::{Event, Fraction, JointTable};
use mercer_io::Profile;
use serde::Serialize;
use std::collections::HashSet;
use std::io::{self, Write};

/// Cells of a joint table that is printed; more do not fit on a screen.
const MOST_CELLS: usize = 60;
/// Columns of the joint table unless the user selects them.
const MOST_COLUMNS: usize = 4;

/// Joint distribution of the columns of a table: marginals, conditionals, independence, entropy.
///
/// Uses the categorical and boolean columns. If the file has one row per combination and one integer column, that
/// column holds the counts.
#[derive(Args)]
#[command(after_help = "\
Examples:
  mercer bayes table examples/data/weather.csv --given temp=hot
  mercer bayes table examples/data/weather.csv --event weather=rainy --event temp=hot
  mercer bayes table examples/data/mammals.csv --columns can_fly,have_legs,class --independent can_fly,have_legs,class")]
pub struct Table {
    /// Table: CSV, TSV, Parquet, Arrow or JSON lines; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    data: String,
    /// Columns of the joint table, separated by commas [default: the categorical and boolean columns]
    #[arg(long = "columns", value_delimiter = ',', value_name = "NAMES")]
    names: Vec<String>,
    /// Column with the count of each row
    #[arg(long, value_name = "COLUMN")]
    counts: Option<String>,
    /// Condition on a column having this value, or one of several: roll=1|3|5 (may repeat)
    #[arg(long, value_parser = event, value_name = "COLUMN=VALUE")]
    given: Vec<Event>,
    /// Event whose probability is computed, with or without --given (may repeat)
    #[arg(long, value_parser = event, value_name = "COLUMN=VALUE")]
    event: Vec<Event>,
    /// Test the independence of the first two columns given the others: A,B or A,B,C
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    independent: Vec<String>,
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
    independence: Option<Tested>,
    parameters: mercer::probability::joint::FreeParameters,
}

#[derive(Serialize)]
struct Answer {
    question: String,
    probability: Fraction,
    chain: Chain,
}

#[derive(Serialize)]
struct Tested {
    question: String,
    mutual_information_bits: f64,
    #[serde(flatten)]
    test: Independence,
}

pub fn run(args: Table, session: &Session) -> Result<()> {
    let (joint, rows_left_out) = read(&args, session)?;
    if rows_left_out > 0 {
        session.message(&format!("{rows_left_out} rows with missing values were dropped"));
    }
    let report = ask(&args, joint, rows_left_out)?;
    if session.json {
        return session.print_json(&report);
    }
    print(&report)
}

fn read(args: &Table, session: &Session) -> Result<(JointTable, usize)> {
    let source = input::open(&args.data, &args.reading, None, session)?;
    let profile = input::profile(&source, session)?;
    let data = source.read(&profile.schema())?;
    let named: Vec<&str> = match args.names.is_empty() {
        false => args.names.iter().map(String::as_str).collect(),
        true => default_columns(&profile)?,
    };
    let counts = match &args.counts {
        Some(name) => Some(name.clone()),
        None => counts_column(&data, &named),
    };
    let named: Vec<&str> = named.into_iter().filter(|n| Some(*n) != counts.as_deref()).collect();
    if let (Some(counts), None) = (&counts, &args.counts) {
        session.message(&format!("`{counts}` is used as the count of each row (see --counts)"));
    }
    Ok(JointTable::from_table(&data, &named, counts.as_deref())?)
}

fn default_columns(profile: &Profile) -> Result<Vec<&str>> {
    let fit = |kind: Kind| matches!(kind, Kind::Categorical | Kind::Boolean);
    let names: Vec<&str> =
        profile.columns.iter().filter(|c| fit(c.kind)).map(|c| c.name.as_str()).collect();
    match names.len() {
        0 => Err(Failure::Usage(
            "found no categorical or boolean column; select columns with --columns".into(),
        )),
        n if n > MOST_COLUMNS => Err(Failure::Usage(format!(
            "{n} columns make a large joint table; select some with --columns among {}",
            names.join(", ")
        ))),
        _ => Ok(names),
    }
}

/// The only integer column, if every combination of the others occurs once: such a file is a contingency table.
fn counts_column(data: &mercer::data::Table, named: &[&str]) -> Option<String> {
    let whole = |values: &Values| matches!(values, Values::Numeric(v) if v.iter().all(|x| *x >= 0.0 && x.fract() == 0.0));
    let mut numeric = data
        .columns()
        .iter()
        .filter(|c| c.values.kind() == Kind::Numeric)
        .filter(|c| !named.contains(&c.name.as_str()));
    let (only, None) = (numeric.next()?, numeric.next()) else { return None };
    if !whole(&only.values) || data.columns().len() != named.len() + 1 {
        return None;
    }
    let mut seen = HashSet::new();
    let distinct = (0..data.n_rows()).all(|i| {
        let row: Vec<Option<String>> =
            named.iter().filter_map(|n| data.column(n)).map(|c| c.values.cell(i)).collect();
        seen.insert(row)
    });
    distinct.then(|| only.name.clone())
}

fn ask(args: &Table, joint: JointTable, rows_left_out: usize) -> Result<Report> {
    let all = |events: &[Event]| events.iter().fold(Event::certain(), |all, e| all.and(e));
    let (given, event) = (all(&args.given), all(&args.event));
    let conditional = match given.is_certain() {
        true => None,
        // If there is an event, the condition may cover every column.
        false => match joint.given(&given) {
            Err(mercer::Error::Parameter { .. }) if !event.is_certain() => None,
            other => Some(other?),
        },
    };
    let answer = match event.is_certain() {
        true => None,
        false => Some(Answer {
            question: match given.is_certain() {
                true => format!("P({event})"),
                false => format!("P({event} | {given})"),
            },
            probability: joint.conditional(&event, &given)?,
            chain: joint.chain_rule(&given.clone().and(&event))?,
        }),
    };
    let independence = match &args.independent[..] {
        [] => None,
        [_] => return Err(Failure::Usage("--independent needs two columns: A,B".into())),
        [a, b, rest @ ..] => {
            let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
            let mut question = format!("{a} and {b} independent");
            if !rest.is_empty() {
                question += &format!(" given {}", rest.join(", "));
            }
            Some(Tested {
                question,
                mutual_information_bits: joint.mutual_information(a, b, &rest)?,
                test: joint.test_independence(a, b, &rest)?,
            })
        }
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
        independence,
    })
}

fn print(report: &Report) -> Result<()> {
    let mut out = io::stdout().lock();
    let joint = &report.table;
    let names: Vec<&str> = joint.variables().iter().map(|v| v.name.as_str()).collect();
    writeln!(out, "P({}), {} counted\n", names.join(", "), short(joint.total()))?;
    print_table(&mut out, joint)?;
    if let (Some(given), Some(table)) = (&report.given, &report.conditional) {
        let free: Vec<&str> = table.variables().iter().map(|v| v.name.as_str()).collect();
        let share = Fraction::new(table.total(), joint.total());
        writeln!(out, "\nP({given}) = {share}")?;
        writeln!(out, "\nP({} | {given})\n", free.join(", "))?;
        print_table(&mut out, table)?;
    }
    if let Some(answer) = &report.answer {
        writeln!(out, "\n{} = {}", answer.question, answer.probability)?;
        writeln!(out, "\nBy the chain rule:")?;
        for step in &answer.chain.steps {
            writeln!(out, "  {} = {}", step.formula, step.probability)?;
        }
        writeln!(out, "  product = {}", answer.chain.probability)?;
    }
    writeln!(out)?;
    for (name, bits) in names.iter().zip(&report.entropy) {
        writeln!(out, "entropy of {name}: {} bits", short(*bits))?;
    }
    writeln!(out, "joint entropy: {} bits", short(report.joint_entropy))?;
    if let Some(tested) = &report.independence {
        let test = &tested.test;
        writeln!(out, "\nAre {}?", tested.question)?;
        let bits = short(tested.mutual_information_bits);
        writeln!(out, "  mutual information {bits} bits")?;
        let d = test.degrees;
        writeln!(out, "  G = {}, {d} degrees: p = {}", short(test.g), short(test.p_value_g))?;
        let (x, p) = (short(test.chi_squared), short(test.p_value_chi_squared));
        writeln!(out, "  chi-squared = {x}, {d} degrees: p = {p}")?;
        if test.least_expected < 5.0 {
            let least = short(test.least_expected);
            writeln!(
                out,
                "  the smallest expected count is {least}: below 5 the p-values are approximate"
            )?;
        }
    }
    let free = report.parameters;
    writeln!(
        out,
        "\n{} cells, {} free parameters; {} if all were independent",
        free.cells, free.joint, free.independent
    )?;
    Ok(())
}

fn print_table(out: &mut impl Write, joint: &JointTable) -> Result<()> {
    match joint.variables() {
        [a, b] => {
            let mut headings = vec![format!("{} \\ {}", a.name, b.name)];
            headings.extend(b.values.iter().cloned());
            headings.push("sum".into());
            let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
            let mut rows = table(&headings);
            align_right(&mut rows, &(1..headings.len()).collect::<Vec<_>>());
            let sides = [joint.marginal(&[a.name.as_str()])?, joint.marginal(&[b.name.as_str()])?];
            for (i, value) in a.values.iter().enumerate() {
                let mut cells = vec![value.clone()];
                cells.extend(
                    (0..b.values.len())
                        .map(|j| plain(joint.probability_of_cell(i * b.values.len() + j))),
                );
                cells.push(plain(sides[0].probability_of_cell(i)));
                rows.add_row(cells);
            }
            let mut cells = vec!["sum".to_owned()];
            cells.extend((0..b.values.len()).map(|j| plain(sides[1].probability_of_cell(j))));
            cells.push("1".into());
            rows.add_row(cells);
            writeln!(out, "{rows}")?;
        }
        _ => {
            let names: Vec<&str> = joint.variables().iter().map(|v| v.name.as_str()).collect();
            let mut rows = table(&[&names[..], &["fraction", "P"]].concat());
            align_right(&mut rows, &[names.len(), names.len() + 1]);
            for k in 0..joint.cells().len().min(MOST_CELLS) {
                let words = joint.variables().iter().zip(joint.codes(k));
                let mut cells: Vec<String> = words.map(|(v, c)| v.values[c].clone()).collect();
                cells.push(
                    joint
                        .probability_of_cell(k)
                        .counts()
                        .map_or(String::new(), |(a, b)| format!("{a}/{b}")),
                );
                cells.push(short(joint.probability_of_cell(k).value()));
                rows.add_row(cells);
            }
            let rest = joint.cells().len().saturating_sub(MOST_CELLS);
            if rest > 0 {
                rows.add_row([format!("… {rest} more (see --json)")]);
            }
            writeln!(out, "{rows}")?;
        }
    }
    Ok(())
}

/// A probability as a fraction if possible, for the cells of a grid.
fn plain(share: Fraction) -> String {
    share.counts().map_or_else(|| short(share.value()), |(a, b)| format!("{a}/{b}"))
}
