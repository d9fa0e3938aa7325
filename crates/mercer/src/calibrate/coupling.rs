//! Class probabilities from several calibrated binary classifiers.
//!
//! One-vs-one probabilities are combined by pairwise coupling (Wu, Lin & Weng 2004, second approach); one-vs-rest
//! probabilities are normalized to sum to one.

use super::map::CalibrationMap;
use mercer_num::Matrix;
use mercer_num::parallel::prelude::*;
use mercer_num::special::log_normalize;

/// The class for which a decision value is positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum DecisionLayout {
    /// One column: the second of two classes.
    Binary,
    /// One column per pair of classes: the first of the pair.
    OneVsOne,
    /// One column per class: this class.
    OneVsRest,
}

/// The pairs of `n` classes in lexicographic order.
pub(crate) fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |a| (a + 1..n).map(move |b| (a, b)))
}

/// The index of a pair of `n` classes in that order.
pub(crate) fn pair_index(n: usize, a: usize, b: usize) -> usize {
    a * n - a * (a + 1) / 2 + b - a - 1
}

/// `log P(class | row)` of every class from decision values and their maps. A class that was not observed in training
/// has probability zero.
pub(crate) fn log_class_probabilities(
    decisions: &Matrix,
    maps: &[CalibrationMap],
    layout: DecisionLayout,
    observed: &[bool],
) -> Matrix {
    let n = observed.len();
    let classes: Vec<usize> = (0..n).filter(|c| observed[*c]).collect();
    let mut out = Matrix::from_elem((decisions.nrows(), n), f64::NEG_INFINITY);
    let rows = out.as_slice_mut().expect("a fresh matrix is contiguous").par_chunks_mut(n);
    rows.enumerate().with_min_len(64).for_each(|(i, out)| {
        let log_probabilities = |k: usize| maps[k].log_probabilities(decisions[[i, k]]);
        match layout {
            DecisionLayout::Binary => (out[1], out[0]) = log_probabilities(0),
            DecisionLayout::OneVsOne => {
                let pairwise: Vec<f64> = pairs(classes.len())
                    .map(|(a, b)| log_probabilities(pair_index(n, classes[a], classes[b])).0.exp())
                    .collect();
                let p = couple_pairwise(&pairwise, classes.len());
                classes.iter().zip(p).for_each(|(c, p)| out[*c] = p.ln());
            }
            DecisionLayout::OneVsRest => {
                classes.iter().for_each(|c| out[*c] = log_probabilities(*c).0);
            }
        }
        log_normalize(out);
    });
    out
}

/// The distribution `p` over `n` classes that minimizes `Σ (rⱼᵢ pᵢ − rᵢⱼ pⱼ)²`, where `rᵢⱼ` is the probability of class
/// `i` given that the class is `i` or `j`; `pairwise` has `rᵢⱼ` for every pair in order.
fn couple_pairwise(pairwise: &[f64], n: usize) -> Vec<f64> {
    let r = |i: usize, j: usize| -> f64 {
        let p =
            if i < j { pairwise[pair_index(n, i, j)] } else { 1.0 - pairwise[pair_index(n, j, i)] };
        p.clamp(1e-7, 1.0 - 1e-7)
    };
    let q = Matrix::from_shape_fn((n, n), |(i, j)| {
        if i == j {
            (0..n).filter(|k| *k != i).map(|k| r(k, i) * r(k, i)).sum()
        } else {
            -r(j, i) * r(i, j)
        }
    });
    let mut p = vec![1.0 / n as f64; n];
    for _ in 0..1000 {
        let mut change = 0.0f64;
        for t in 0..n {
            let along: f64 = (0..n).filter(|j| *j != t).map(|j| q[[t, j]] * p[j]).sum();
            let total: f64 =
                (0..n).map(|i| p[i] * (0..n).map(|j| q[[i, j]] * p[j]).sum::<f64>()).sum();
            // The optimality condition of this class with the others fixed, then normalization.
            let next = ((total - along) / q[[t, t]]).max(0.0);
            change = change.max((next - p[t]).abs());
            p[t] = next;
            let sum: f64 = p.iter().sum();
            p.iter_mut().for_each(|v| *v /= sum);
        }
        if change < 1e-12 {
            break;
        }
    }
    p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consistent_pairwise_probabilities_give_their_distribution() {
        let truth = [0.5, 0.3, 0.15, 0.05];
        let pairwise: Vec<f64> = pairs(4).map(|(i, j)| truth[i] / (truth[i] + truth[j])).collect();

        let found = couple_pairwise(&pairwise, 4);

        found.iter().zip(truth).for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{a}, {b}"));
    }
}
