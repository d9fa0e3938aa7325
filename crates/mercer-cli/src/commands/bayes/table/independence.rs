//! Independence of two columns, given others: a verdict in words, and a test if the sample size is known.

use crate::failure::{Failure, Result};
use mercer::explain::short;
use mercer::probability::JointTable;
use mercer::probability::joint::{Cells, Independence, PairParameters};
use serde::Serialize;
use std::io::Write;

/// The significance level of the verdict of a test.
const SIGNIFICANCE: f64 = 0.05;

/// The dependence of two columns.
#[derive(Serialize)]
pub struct Tested {
    question: String,
    verdict: String,
    /// Whether the table is a product, up to rounding.
    independent: bool,
    /// The largest `|p(a, b | c) - p(a | c) p(b | c)|`.
    largest_difference: f64,
    mutual_information_bits: f64,
    parameters: PairParameters,
    /// `None` for probabilities without a sample size.
    #[serde(flatten)]
    test: Option<Independence>,
}

/// Compares the table of two columns, given the others, with the product of its margins.
pub fn ask(joint: &JointTable, names: &[String], sample_size: Option<f64>) -> Result<Tested> {
    let [a, b, rest @ ..] = names else {
        return Err(Failure::Usage("--independent needs two columns: A,B".into()));
    };
    let given: Vec<&str> = rest.iter().map(String::as_str).collect();
    let condition =
        if given.is_empty() { String::new() } else { format!(" given {}", given.join(", ")) };
    let test = match (joint.kind(), sample_size) {
        (Cells::Counts, Some(_)) => {
            let why = "--sample-size is for a table of probabilities; this one has counts";
            return Err(Failure::Usage(why.into()));
        }
        (Cells::Counts, None) => Some(joint.test_independence(a, b, &given)?),
        (Cells::Probabilities, Some(n)) => {
            Some(joint.with_sample_size(n)?.test_independence(a, b, &given)?)
        }
        (Cells::Probabilities, None) => None,
    };
    let independent = joint.independent(a, b, &given)?;
    let verdict = match &test {
        _ if independent => format!("{a} and {b} are independent{condition}"),
        None => format!("{a} and {b} are dependent{condition}"),
        Some(test) if test.p_value_g < SIGNIFICANCE => {
            format!("{a} and {b} are dependent{condition}: p is below {SIGNIFICANCE}")
        }
        Some(_) => format!(
            "independence of {a} and {b}{condition} is not rejected: p is not below {SIGNIFICANCE}"
        ),
    };
    Ok(Tested {
        question: format!("{a} and {b} independent{condition}"),
        verdict,
        independent,
        largest_difference: joint.dependence(a, b, &given)?,
        mutual_information_bits: joint.mutual_information(a, b, &given)?,
        parameters: joint.pair_parameters(a, b, &given)?,
        test,
    })
}

pub fn print(out: &mut impl Write, tested: &Tested) -> Result<()> {
    writeln!(out, "\nAre {}?", tested.question)?;
    writeln!(out, "  {}", tested.verdict)?;
    let difference = short(tested.largest_difference);
    writeln!(out, "  largest difference of a cell from the product of its margins {difference}")?;
    writeln!(out, "  mutual information {} bits", short(tested.mutual_information_bits))?;
    let PairParameters { joint, independent } = tested.parameters;
    writeln!(out, "  {joint} free parameters; {independent} under independence")?;
    let Some(test) = &tested.test else {
        writeln!(out, "  no test: the table has probabilities; --sample-size N gives the size")?;
        return Ok(());
    };
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
    Ok(())
}
