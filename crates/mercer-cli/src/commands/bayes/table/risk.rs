//! The Bayes risk of a known joint distribution p(x, y), and the optimal rule.

use crate::commands::decision_options::read_costs;
use crate::failure::{Failure, Result};
use crate::report::terminal::{align_right, table};
use crate::session::Session;
use mercer::decision::risk::optimal_rule;
use mercer::decision::{Action, Costs};
use mercer::explain::short;
use mercer::probability::{Event, JointTable};
use mercer_num::Matrix;
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// Rows of the rule that are printed.
const MOST_ROWS: usize = 60;

/// The optimal rule for a target.
#[derive(Serialize)]
pub struct BayesRisk {
    target: String,
    /// Whether every error costs one, so that the risk is the Bayes error.
    zero_one: bool,
    rule: Vec<Case>,
    risk: f64,
    /// The risk of the best constant decision, which ignores x.
    prior_risk: f64,
}

#[derive(Serialize)]
struct Case {
    /// The values of the other columns; empty if there are none.
    given: String,
    probability: f64,
    posterior: Vec<f64>,
    /// `None` for a rejection.
    decision: Option<String>,
    risk: f64,
}

pub fn ask(
    joint: &JointTable,
    target: &str,
    cost: Option<&Path>,
    reject: Option<f64>,
    session: &Session,
) -> Result<BayesRisk> {
    let classes = joint.variable(target)?.values.clone();
    let others: Vec<&str> =
        joint.variables().iter().map(|v| v.name.as_str()).filter(|name| *name != target).collect();
    let mut costs = match cost {
        Some(path) => read_costs(path, &classes, session)?,
        None => Costs::zero_one(classes.len()),
    };
    if let Some(reject) = reject {
        costs = costs.with_reject(reject)?;
    }
    let ordered = joint.marginal(&[&others[..], &[target]].concat())?;
    let cells: Vec<f64> = ordered.cells().iter().map(|v| v / ordered.total()).collect();
    let k = classes.len();
    let matrix = Matrix::from_shape_vec((cells.len() / k, k), cells)
        .map_err(|e| Failure::Usage(e.to_string()))?;
    let rule = optimal_rule(&matrix, &costs)?;
    let prior = matrix.sum_axis(ndarray::Axis(0)).insert_axis(ndarray::Axis(0));
    let names = if others.is_empty() { None } else { Some(joint.marginal(&others)?) };
    let cases = rule.decisions.iter().zip(matrix.outer_iter()).enumerate();
    let cases = cases.filter(|(_, (_, row))| row.sum() > 0.0).map(|(i, (decision, row))| Case {
        given: names.as_ref().map_or(String::new(), |names| names.cell_name(i)),
        probability: row.sum(),
        posterior: row.iter().map(|p| p / row.sum()).collect(),
        decision: match decision.action {
            Action::Class(c) => Some(classes[c].clone()),
            Action::Reject => None,
        },
        risk: decision.risk,
    });
    Ok(BayesRisk {
        target: target.to_owned(),
        zero_one: cost.is_none() && reject.is_none(),
        rule: cases.collect(),
        risk: rule.risk,
        prior_risk: optimal_rule(&prior, &costs)?.risk,
    })
}

pub fn print(out: &mut impl Write, risk: &BayesRisk, joint: &JointTable) -> Result<()> {
    let classes = &joint.variable(&risk.target)?.values;
    let mut headings = vec!["x".to_owned(), "P(x)".into()];
    headings.extend(classes.iter().map(|c| format!("P({c} | x)")));
    headings.extend(["decision".into(), "risk".into()]);
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let mut rows = table(&headings);
    let mut numbers: Vec<usize> = (1..classes.len() + 2).collect();
    numbers.push(classes.len() + 3);
    align_right(&mut rows, &numbers);
    for case in risk.rule.iter().take(MOST_ROWS) {
        let mut cells = vec![case.given.clone(), short(case.probability)];
        cells.extend(case.posterior.iter().map(|p| short(*p)));
        cells.push(case.decision.clone().unwrap_or_else(|| "(reject)".into()));
        cells.push(short(case.risk));
        rows.add_row(cells);
    }
    if risk.rule.len() > MOST_ROWS {
        rows.add_row([format!("… {} more (see --json)", risk.rule.len() - MOST_ROWS)]);
    }
    writeln!(out, "\nThe optimal rule for {}:\n{rows}", risk.target)?;
    let name = if risk.zero_one { "Bayes error (0-1 loss)" } else { "Bayes risk" };
    writeln!(
        out,
        "{name} = {}; without x it would be {}",
        short(risk.risk),
        short(risk.prior_risk)
    )?;
    Ok(())
}

/// The table on which a rule is optimal: the whole one, or given an event.
pub fn table_given(joint: &JointTable, given: &Event) -> Result<JointTable> {
    Ok(if given.is_certain() { joint.clone() } else { joint.given(given)? })
}
