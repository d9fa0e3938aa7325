//! Unscaled columns: distances and penalties are dominated by the columns of the largest spread.

use super::{Check, Finding, Remedy};
use crate::catalog::Capability;
use crate::preprocess::Step;
use crate::train::Trained;

/// Spreads that differ by more than this factor.
const MAX_RATIO: f64 = 10.0;

pub(super) fn check(trained: &Trained) -> Option<Finding> {
    if !trained.estimator.card().can(Capability::ScaleDependent) || trained.features.map.is_some() {
        return None;
    }
    let reference = trained.reference.as_ref()?;
    let columns = trained.features.schema.fields.iter().zip(&trained.features.steps);
    let mut spreads: Vec<(&str, f64)> = columns
        .filter_map(|(field, step)| match step {
            Step::Numeric(step) if step.scale.is_none() && step.cuts.is_none() => {
                Some((field.name.as_str(), reference.spread(&field.name)?))
            }
            _ => None,
        })
        .filter(|(_, spread)| *spread > 0.0)
        .collect();
    spreads.sort_by(|a, b| a.1.total_cmp(&b.1));
    let ((narrow, low), (wide, high)) = (spreads.first()?, spreads.last()?);
    if high / low <= MAX_RATIO {
        return None;
    }
    let figure = format!(
        "the spread of `{wide}` is {:.0} times that of `{narrow}`, and {} depends on it",
        high / low,
        trained.estimator.id()
    );
    let remedy = Remedy::new("standardize the columns")
        .option("--model", trained.estimator.id())
        .option("--prepare", "scale=standard");
    Some(
        Finding::new(Check::UnscaledColumns, figure, remedy)
            .columns(vec![(*wide).into(), (*narrow).into()]),
    )
}
