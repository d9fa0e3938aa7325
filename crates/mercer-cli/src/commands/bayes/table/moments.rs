//! Expectation, variance, covariance and correlation of numeric columns, and E[X | Y = y].

use super::print::plain;
use crate::failure::Result;
use crate::report::terminal::{align_right, table};
use mercer::explain::short;
use mercer::probability::joint::TotalExpectation;
use mercer::probability::{Fraction, JointTable};
use serde::Serialize;
use std::io::Write;

/// The moments of the columns of `--moments`.
#[derive(Serialize)]
pub struct Moments {
    columns: Vec<Moment>,
    pairs: Vec<Pair>,
    /// The law of total expectation by the column of `--by`.
    total: Vec<TotalExpectation>,
}

#[derive(Serialize)]
struct Moment {
    column: String,
    expectation: Fraction,
    variance: Fraction,
}

#[derive(Serialize)]
struct Pair {
    columns: [String; 2],
    covariance: Fraction,
    /// `None` if a variance is zero.
    correlation: Option<f64>,
}

pub fn ask(joint: &JointTable, names: &[String], by: Option<&str>) -> Result<Moments> {
    let mut moments = Moments { columns: Vec::new(), pairs: Vec::new(), total: Vec::new() };
    for (i, name) in names.iter().enumerate() {
        moments.columns.push(Moment {
            column: name.clone(),
            expectation: joint.expectation(name)?,
            variance: joint.variance(name)?,
        });
        for other in &names[..i] {
            moments.pairs.push(Pair {
                columns: [other.clone(), name.clone()],
                covariance: joint.covariance(other, name)?,
                correlation: joint.correlation(other, name)?,
            });
        }
        if let Some(by) = by {
            moments.total.push(joint.total_expectation(name, by)?);
        }
    }
    Ok(moments)
}

pub fn print(
    out: &mut impl Write,
    moments: &Moments,
    given: Option<&str>,
    by: Option<&str>,
) -> Result<()> {
    let bar = given.map_or(String::new(), |given| format!(" | {given}"));
    writeln!(out)?;
    for moment in &moments.columns {
        let (name, mean, variance) = (&moment.column, &moment.expectation, &moment.variance);
        writeln!(out, "E[{name}{bar}] = {mean}")?;
        let deviation = short(variance.value().sqrt());
        writeln!(out, "Var[{name}{bar}] = {variance}, standard deviation {deviation}")?;
    }
    for pair in &moments.pairs {
        let [a, b] = &pair.columns;
        writeln!(out, "Cov[{a}, {b}{bar}] = {}", pair.covariance)?;
        match pair.correlation {
            Some(correlation) => {
                writeln!(out, "correlation of {a} and {b}{bar}: {}", short(correlation))?;
            }
            None => writeln!(out, "{a} and {b} have no correlation: a variance is zero")?,
        }
    }
    let Some(by) = by else { return Ok(()) };
    for (moment, total) in moments.columns.iter().zip(&moments.total) {
        let name = &moment.column;
        let and = given.map_or(String::new(), |given| format!(", {given}"));
        let headings = [
            by.to_owned(),
            format!("E[{name} | {by}{and}]"),
            format!("P({by}{bar})"),
            "product".into(),
        ];
        let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
        let mut rows = table(&headings);
        align_right(&mut rows, &[1, 2, 3]);
        for term in &total.terms {
            let product = term.conditional.value() * term.weight.value();
            rows.add_row([
                term.value.clone(),
                term.conditional.to_string(),
                plain(term.weight),
                short(product),
            ]);
        }
        writeln!(out, "\nBy the law of total expectation:\n{rows}")?;
        writeln!(out, "sum = E[{name}{bar}] = {}", total.expectation)?;
    }
    Ok(())
}
