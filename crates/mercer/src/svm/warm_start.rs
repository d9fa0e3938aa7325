//! Initial points of the dual variables from a previous model.

use super::multiclass::{ClassProblem, Decomposition, Multiclass, binary_sign, observed_pairs};
use super::subproblem::Subproblem;
use super::svc_model::SvcModel;
use crate::error::Result;
use crate::model::Classifier;
use mercer_num::Rows;
use std::collections::HashMap;

/// A previous solution is used if its coefficients sum to zero within this relative tolerance.
pub(super) const MAX_SUM_ERROR: f64 = 1e-9;

impl SvcModel {
    /// Sets the initial points of the subproblems from this model, if its form allows it.
    pub(super) fn warm_start(
        &self,
        x: &Rows<'_>,
        rows: &ClassProblem<'_, '_>,
        decomposition: &Decomposition<'_>,
        subproblems: &mut [Subproblem],
    ) -> Result<()> {
        let indices = &rows.problem.indices;
        if self.approximate && self.n_columns() == x.n_columns() {
            return self.start_from_decisions(
                x,
                indices,
                &decomposition.class_pairs(),
                subproblems,
            );
        }
        if let Decomposition::OneVsOne(ranges) = decomposition
            && self.multiclass == Multiclass::OneVsOne
        {
            self.start_from_coefficients(indices, ranges, subproblems);
        }
        Ok(())
    }

    /// Starts at the dual variables that the slacks of an approximate model suggest. `class_pairs` has the classes of
    /// every subproblem.
    fn start_from_decisions(
        &self,
        x: &Rows<'_>,
        indices: &[u32],
        class_pairs: &[(usize, Option<usize>)],
        subproblems: &mut [Subproblem],
    ) -> Result<()> {
        let decisions = self.raw_decisions(x)?;
        for (sub, (a, b)) in subproblems.iter_mut().zip(class_pairs) {
            let decision = |i: usize| match b {
                _ if self.classes.len() == 2 => -decisions[[i, 0]],
                Some(b) => 0.5 * (decisions[[i, *a]] - decisions[[i, *b]]),
                None => decisions[[i, *a]],
            };
            let labeled = sub.rows.iter().zip(&sub.linear);
            let mut start: Vec<f64> = labeled
                .zip(sub.lower.iter().zip(&sub.upper))
                .map(|((k, y), (lower, upper))| {
                    let i = indices[*k as usize] as usize;
                    let slack = (1.0 - y * decision(i)).clamp(0.0, 1.0);
                    let bound = if *y > 0.0 { *upper } else { *lower };
                    // The derivative of the squared hinge loss is twice the slack.
                    (2.0 * slack).min(1.0) * if bound.is_finite() { bound } else { 0.0 }
                })
                .collect();
            balance(&mut start);
            sub.start = start;
        }
        Ok(())
    }

    /// Starts at the dual variables of this model, scaled by the step that maximizes the dual objective within the bounds.
    ///
    /// Along `s β` the dual objective is `s Σ|βᵢ| − ½ s² ‖w‖²`, whose maximum is at `s = Σ|βᵢ| / ‖w‖²`. After a smaller
    /// `C` with most variables at their bound, `s` is close to the ratio of the two `C`; after one with few of them, it
    /// is close to one.
    fn start_from_coefficients(
        &self,
        indices: &[u32],
        ranges: &[std::ops::Range<usize>],
        subproblems: &mut [Subproblem],
    ) {
        let sign = binary_sign(ranges.len());
        let vector_of: HashMap<u32, usize> =
            self.expansion.support.iter().copied().zip(0..).collect();
        for (k, ((a, b), sub)) in observed_pairs(ranges).zip(subproblems).enumerate() {
            let mut start = Vec::with_capacity(sub.rows.len());
            for k in &sub.rows {
                let first = ranges[a].contains(&(*k as usize));
                let row = if first { b - 1 } else { a };
                let value = vector_of
                    .get(&indices[*k as usize])
                    .map_or(0.0, |at| sign * self.expansion.coefficients[[row, *at]]);
                start.push(value);
            }
            let bounds = sub.lower.iter().zip(&sub.upper);
            let scale: f64 = start.iter().map(|b| b.abs()).sum();
            let margin = self.margins.get(k).copied().filter(|margin| margin.is_finite());
            let best = margin.map_or(1.0, |margin| (scale * margin * margin).max(1.0));
            let step = start.iter().zip(bounds).fold(best, |step, (b, (lower, upper))| {
                let bound = if *b > 0.0 { *upper } else { -*lower };
                if *b == 0.0 { step } else { step.min((bound / b.abs()).max(0.0)) }
            });
            // If the rows have changed, the coefficients need not sum to zero: start at zero.
            if start.iter().sum::<f64>().abs() > MAX_SUM_ERROR * scale || step == 0.0 {
                continue;
            }
            sub.start = start
                .iter()
                .zip(sub.lower.iter().zip(&sub.upper))
                .map(|(b, (lower, upper))| (step * b).clamp(*lower, *upper))
                .collect();
        }
    }
}

/// Scales the positive or the negative variables down so that all sum to zero.
fn balance(start: &mut [f64]) {
    let positive: f64 = start.iter().filter(|b| **b > 0.0).sum();
    let negative: f64 = -start.iter().filter(|b| **b < 0.0).sum::<f64>();
    let least = positive.min(negative);
    for b in start {
        *b *= if *b > 0.0 { least / positive } else { least / negative.max(f64::MIN_POSITIVE) };
    }
}
