//! Discretization: the boundaries of bins.

use crate::stats::ValueCounts;
use mercer_num::Matrix;
use ndarray::Axis;

/// A discretization rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cut {
    /// Bins of equal width.
    EqualWidth(usize),
    /// Bins of equal weight, up to ties.
    EqualFrequency(usize),
    /// Recursive splits that minimize the class entropy, as long as the minimum description length decreases (Fayyad &
    /// Irani, 1993).
    Entropy,
    /// The one split of least class entropy.
    Split,
    /// Between zero and positive values.
    Presence,
}

impl Cut {
    /// The boundaries, ascending; a value equal to a boundary belongs to the bin above it.
    pub(crate) fn points(self, histogram: &ValueCounts, counts: &Matrix) -> Vec<f64> {
        let values = histogram.values();
        let (Some(low), Some(high)) = (values.first(), values.last()) else { return Vec::new() };
        let totals = counts.sum_axis(Axis(0)).to_vec();
        let mut splits = match self {
            Cut::EqualWidth(n) => {
                let width = high / n as f64 - low / n as f64;
                let mut cuts: Vec<f64> = (1..n).map(|k| low + width * k as f64).collect();
                cuts.dedup();
                cuts.retain(|cut| cut > low && cut <= high);
                return cuts;
            }
            Cut::Presence => return vec![f64::MIN_POSITIVE],
            Cut::EqualFrequency(n) => quantiles(&totals, n),
            Cut::Entropy => {
                let mut splits = Vec::new();
                split(counts, 0, totals.len(), &mut splits);
                splits
            }
            Cut::Split => {
                best_split(counts, 0, totals.len()).map(|(at, _)| at).into_iter().collect()
            }
        };
        splits.sort_unstable();
        splits.dedup();
        splits.into_iter().map(|at| between(histogram, &values, at)).collect()
    }
}

/// The boundary below a cell: the midpoint to its neighbor if cells are single values.
fn between(histogram: &ValueCounts, values: &[f64], at: usize) -> f64 {
    if !histogram.is_exact() {
        return histogram.bins()[at];
    }
    let middle = 0.5 * values[at - 1] + 0.5 * values[at];
    // The midpoint of adjacent floats may round to the lower one.
    if middle > values[at - 1] { middle } else { values[at] }
}

/// The cells at which the next `1/n` of the weight begins.
fn quantiles(totals: &[f64], n: usize) -> Vec<usize> {
    let step = totals.iter().sum::<f64>() / n as f64;
    let mut splits = Vec::new();
    if !(step > 0.0 && step.is_finite()) {
        return splits;
    }
    let (mut below, mut next) = (0.0, step);
    for (at, weight) in totals.iter().enumerate() {
        // A cell belongs to the bin that contains most of its weight.
        if at > 0 && below + 0.5 * weight >= next {
            splits.push(at);
            while next <= below + 0.5 * weight {
                next += step;
            }
        }
        below += weight;
    }
    splits
}

/// Splits cells `from..to` recursively, as long as the criterion accepts.
fn split(counts: &Matrix, from: usize, to: usize, splits: &mut Vec<usize>) {
    if let Some((at, true)) = best_split(counts, from, to) {
        splits.push(at);
        split(counts, from, at, splits);
        split(counts, at, to, splits);
    }
}

/// The cell before which a split minimizes the class entropy, and whether the split decreases the description length;
/// `None` if no split gains information.
fn best_split(counts: &Matrix, from: usize, to: usize) -> Option<(usize, bool)> {
    let n_classes = counts.nrows();
    let mut right: Vec<f64> =
        counts.outer_iter().map(|row| row.iter().skip(from).take(to - from).sum()).collect();
    let whole = right.clone();
    let mut left = vec![0.0; n_classes];
    let mut found: Option<(usize, f64, Vec<f64>)> = None;
    for at in from + 1..to {
        for c in 0..n_classes {
            left[c] += counts[[c, at - 1]];
            right[c] -= counts[[c, at - 1]];
        }
        let bits = total_entropy(&left) + total_entropy(&right);
        if found.as_ref().is_none_or(|(_, least, _)| bits < *least) {
            found = Some((at, bits, left.clone()));
        }
    }
    let (at, bits, left) = found?;
    let right: Vec<f64> = whole.iter().zip(&left).map(|(w, l)| w - l).collect();
    let n: f64 = whole.iter().sum();
    let gain = (total_entropy(&whole) - bits) / n;
    if gain <= 0.0 {
        return None;
    }
    let present = |v: &[f64]| v.iter().filter(|n| **n > 0.0).count() as f64;
    let (k, k1, k2) = (present(&whole), present(&left), present(&right));
    let entropy = |v: &[f64]| total_entropy(v) / v.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let delta = (3f64.powf(k) - 2.0).log2()
        - (k * entropy(&whole) - k1 * entropy(&left) - k2 * entropy(&right));
    Some((at, gain > ((n - 1.0).max(1.0).log2() + delta) / n))
}

/// The weight times the class entropy, in bits.
fn total_entropy(weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    weights.iter().filter(|w| **w > 0.0).map(|w| w * (total / w).log2()).sum()
}
