//! One distribution over the classes from what machines say about two sides each.
//!
//! Machines for pairs of classes are coupled (Wu, Lin & Weng 2004, their second way); the shares of machines for every
//! class against the rest are scaled to add up to one.

use super::map::CalibrationMap;
use mercer_num::Matrix;
use mercer_num::special::log_normalize;
use rayon::prelude::*;

/// What a column of decisions is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum About {
    /// The second of two classes.
    Second,
    /// The first of a pair of classes.
    Pairs,
    /// A class, against the rest.
    Each,
}

/// The pairs of `n` classes in order.
pub(crate) fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |a| (a + 1..n).map(move |b| (a, b)))
}

/// The place of a pair of `n` classes in that order.
pub(crate) fn pair_at(n: usize, a: usize, b: usize) -> usize {
    a * n - a * (a + 1) / 2 + b - a - 1
}

/// `log P(class | row)` of `n` classes from decisions and their maps; classes that were not shown have none.
pub(crate) fn log_distribution(
    decisions: &Matrix,
    maps: &[CalibrationMap],
    about: About,
    shown: &[bool],
) -> Matrix {
    let n = shown.len();
    let places: Vec<usize> = (0..n).filter(|c| shown[*c]).collect();
    let mut out = Matrix::from_elem((decisions.nrows(), n), f64::NEG_INFINITY);
    let rows = out.as_slice_mut().expect("a fresh matrix is contiguous").par_chunks_mut(n);
    rows.enumerate().with_min_len(64).for_each(|(i, out)| {
        let chances = |k: usize| maps[k].log_chances(decisions[[i, k]]);
        match about {
            About::Second => (out[1], out[0]) = chances(0),
            About::Pairs => {
                let of_pairs: Vec<f64> = pairs(places.len())
                    .map(|(a, b)| chances(pair_at(n, places[a], places[b])).0.exp())
                    .collect();
                let p = couple(&of_pairs, places.len());
                places.iter().zip(p).for_each(|(c, p)| out[*c] = p.ln());
            }
            About::Each => places.iter().for_each(|c| out[*c] = chances(*c).0),
        }
        log_normalize(out);
    });
    out
}

/// The distribution over `n` classes nearest to what pairs say: `pairs[k]` is the chance of the first of
/// the `k`th pair, given one of the two. Minimizes `Σ (rⱼᵢ pᵢ − rᵢⱼ pⱼ)²` over distributions.
fn couple(pairs: &[f64], n: usize) -> Vec<f64> {
    let r = |i: usize, j: usize| -> f64 {
        let p = if i < j { pairs[pair_at(n, i, j)] } else { 1.0 - pairs[pair_at(n, j, i)] };
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
            // The condition of the optimum for this class, solved with the others held, then scaled.
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
    fn consistent_pairs_are_their_distribution() {
        let truth = [0.5, 0.3, 0.15, 0.05];
        let pairs: Vec<f64> = pairs(4).map(|(i, j)| truth[i] / (truth[i] + truth[j])).collect();

        let found = couple(&pairs, 4);

        found.iter().zip(truth).for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{a}, {b}"));
    }
}
