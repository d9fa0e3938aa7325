//! Where to cut a column into bins.

use crate::stats::ValueCounts;
use mercer_num::Matrix;
use ndarray::Axis;

/// A rule for cut points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cut {
    /// Bins of one width.
    EqualWidth(usize),
    /// Bins of one weight, as far as ties allow.
    EqualFrequency(usize),
    /// Wherever it tells enough about the class to pay for itself (Fayyad & Irani, 1993).
    SoftmaxLoss,
    /// Once, where it tells most about the class.
    Split,
    /// Between nothing and something.
    Presence,
}

impl Cut {
    /// The cut points, rising; a number equal to one belongs to the bin above it.
    pub(crate) fn points(self, tally: &ValueCounts, counts: &Matrix) -> Vec<f64> {
        let values = tally.values();
        let (Some(low), Some(high)) = (values.first(), values.last()) else { return Vec::new() };
        let totals = counts.sum_axis(Axis(0)).to_vec();
        let mut places = match self {
            Cut::EqualWidth(n) => {
                let width = high / n as f64 - low / n as f64;
                let mut cuts: Vec<f64> = (1..n).map(|k| low + width * k as f64).collect();
                cuts.dedup();
                cuts.retain(|cut| cut > low && cut <= high);
                return cuts;
            }
            Cut::Presence => return vec![f64::MIN_POSITIVE],
            Cut::EqualFrequency(n) => quantiles(&totals, n),
            Cut::SoftmaxLoss => {
                let mut places = Vec::new();
                divide(counts, 0, totals.len(), &mut places);
                places
            }
            Cut::Split => best(counts, 0, totals.len()).map(|(at, _)| at).into_iter().collect(),
        };
        places.sort_unstable();
        places.dedup();
        places.into_iter().map(|at| between(tally, &values, at)).collect()
    }
}

/// The border below a cell: halfway to its neighbor where cells are single numbers.
fn between(tally: &ValueCounts, values: &[f64], at: usize) -> f64 {
    if !tally.is_exact() {
        return tally.cells()[at];
    }
    let middle = 0.5 * values[at - 1] + 0.5 * values[at];
    // Two neighbors with nothing between them.
    if middle > values[at - 1] { middle } else { values[at] }
}

/// The cells at which another `1/n` of the weight begins.
fn quantiles(totals: &[f64], n: usize) -> Vec<usize> {
    let step = totals.iter().sum::<f64>() / n as f64;
    let mut places = Vec::new();
    let (mut below, mut next) = (0.0, step);
    for (at, weight) in totals.iter().enumerate() {
        // A cell goes to the side of the border on which most of it lies.
        if at > 0 && below + 0.5 * weight >= next {
            places.push(at);
            while next <= below + 0.5 * weight {
                next += step;
            }
        }
        below += weight;
    }
    places
}

/// Cuts cells `from..to` again and again, as long as it pays.
fn divide(counts: &Matrix, from: usize, to: usize, places: &mut Vec<usize>) {
    if let Some((at, true)) = best(counts, from, to) {
        places.push(at);
        divide(counts, from, at, places);
        divide(counts, at, to, places);
    }
}

/// The cell below which to cut for the least entropy of the class, and whether the description with
/// the cut is shorter than without. Nothing if no cut tells anything.
fn best(counts: &Matrix, from: usize, to: usize) -> Option<(usize, bool)> {
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
        let bits = bits_of(&left) + bits_of(&right);
        if found.as_ref().is_none_or(|(_, least, _)| bits < *least) {
            found = Some((at, bits, left.clone()));
        }
    }
    let (at, bits, left) = found?;
    let right: Vec<f64> = whole.iter().zip(&left).map(|(w, l)| w - l).collect();
    let n: f64 = whole.iter().sum();
    let gain = (bits_of(&whole) - bits) / n;
    if gain <= 0.0 {
        return None;
    }
    let present = |v: &[f64]| v.iter().filter(|n| **n > 0.0).count() as f64;
    let (k, k1, k2) = (present(&whole), present(&left), present(&right));
    let entropy = |v: &[f64]| bits_of(v) / v.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let delta = (3f64.powf(k) - 2.0).log2()
        - (k * entropy(&whole) - k1 * entropy(&left) - k2 * entropy(&right));
    Some((at, gain > ((n - 1.0).max(1.0).log2() + delta) / n))
}

/// The bits it takes to tell the classes of all rows: the weight times the entropy.
fn bits_of(weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    weights.iter().filter(|w| **w > 0.0).map(|w| w * (total / w).log2()).sum()
}
