//! The part of `mercer inspect` about support vector machines: support vectors, margins, slacks.

use crate::failure::Result;
use crate::report::terminal::{align_right, table};
use mercer::catalog::AnyModel;
use mercer::data::Classes;
use mercer::explain::short;
use mercer::svm::SvcModel;
use mercer::train::Trained;
use serde_json::{Value, json};
use std::io::Write;

/// Pairs of classes whose margins are printed.
const MAX_MARGINS: usize = 45;
/// A slack below the default tolerance of the solver is none.
const MIN_SLACK: f64 = 1e-3;

/// Support vectors per class, margins and slacks as JSON; null for other models.
pub fn description(model: &Trained) -> Value {
    let Some((classes, n_support)) = support_counts(model) else { return Value::Null };
    let by_class: Vec<Value> = classes
        .labels()
        .iter()
        .zip(n_support)
        .map(|(class, n)| json!({"class": class, "support_vectors": n}))
        .collect();
    let AnyModel::Svc(svc) = &model.fitted.model else { return json!({"classes": by_class}) };
    let margins: Vec<Value> = svc
        .class_margins()
        .iter()
        .map(|m| json!({"classes": [m.first, m.second], "margin": m.margin}))
        .collect();
    let (inside, misclassified) = slack_counts(svc);
    json!({
        "classes": by_class, "margins": margins,
        "slacks": {"inside_margin": inside, "misclassified": misclassified},
    })
}

/// Prints support vectors per class, the margin of every subproblem, and the number of slacks.
pub fn print(out: &mut impl Write, model: &Trained) -> Result<()> {
    let Some((classes, n_support)) = support_counts(model) else { return Ok(()) };
    let counts: Vec<String> =
        classes.labels().iter().zip(n_support).map(|(class, n)| format!("{class} {n}")).collect();
    let total: u32 = n_support.iter().sum();
    writeln!(out, "\n{total} support vectors: {}", counts.join(", "))?;
    let AnyModel::Svc(svc) = &model.fitted.model else { return Ok(()) };
    let margins = svc.class_margins();
    if !margins.is_empty() {
        let mut rows = table(&["decision function", "margin 1/norm(w)"]);
        align_right(&mut rows, &[1]);
        for m in margins.iter().take(MAX_MARGINS) {
            let second = m.second.as_ref().map_or("rest".to_owned(), ToString::to_string);
            let margin = m.margin.map_or("none, w = 0".to_owned(), short);
            rows.add_row([format!("{} against {second}", m.first), margin]);
        }
        writeln!(out, "{rows}")?;
    }
    if !svc.slacks.is_empty() {
        let (inside, misclassified) = slack_counts(svc);
        writeln!(
            out,
            "slacks: {inside} rows inside the margin (slack above 0), {misclassified} of them misclassified \
             (slack above 1)"
        )?;
    }
    Ok(())
}

/// The classes and the number of support vectors of each.
fn support_counts(model: &Trained) -> Option<(&Classes, &[u32])> {
    match &model.fitted.model {
        AnyModel::Svc(svc) => Some((&svc.classes, &svc.n_support)),
        AnyModel::NuSvc(svc) => Some((&svc.classes, &svc.n_support)),
        _ => None,
    }
}

/// The number of slacks, and of those above one, over all decision functions.
fn slack_counts(svc: &SvcModel) -> (usize, usize) {
    let count = |least: f64| svc.slacks.iter().filter(|slack| **slack > least).count();
    (count(MIN_SLACK), count(1.0))
}
