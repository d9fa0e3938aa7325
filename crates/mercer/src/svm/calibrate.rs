//! Probabilities from the one fit.
//!
//! What a machine says of a row it learned from is too good to be true. What it would say had the row been
//! left out follows, nearly, from the span of the support vectors (Vapnik & Chapelle 2000):
//! `yᵢ f⁻ⁱ(xᵢ) = yᵢ f(xᵢ) − αᵢ Sᵢ²`, with `Sᵢ` the distance of `φ(xᵢ)` from the affine span of the free
//! support vectors. A sigmoid maps these scores to probabilities (Platt 2000, by the Newton iteration of
//! Lin, Lin & Weng 2007), and many pairs are coupled to one distribution (Wu, Lin & Weng 2004, their second
//! way). Nothing is drawn at random and nothing is fitted twice.

use crate::kernel::KernelRows;
use crate::solver::BoxQp;
use mercer_num::Matrix;
use mercer_num::linalg::Cholesky;

/// More free support vectors than this are not asked: the span of some gives scores a little too low.
const MOST_FREE: usize = 2000;

/// What the machine would say of each row, had it been left out; `outputs` is `Kβ`.
pub(super) fn leave_one_out(
    rows: &KernelRows<f64>,
    problem: &BoxQp<'_>,
    beta: &[f64],
    level: f64,
    outputs: &[f64],
) -> Vec<f64> {
    let mut scores: Vec<f64> = outputs.iter().map(|f| f + level).collect();
    let carriers: Vec<u32> = (0..beta.len() as u32).filter(|i| beta[*i as usize] != 0.0).collect();
    let inside = |i: &u32| {
        let k = *i as usize;
        beta[k] > problem.low[k] && beta[k] < problem.high[k]
    };
    let free: Vec<u32> = carriers.iter().copied().filter(inside).take(MOST_FREE).collect();
    let spans = squared_spans(rows, &carriers, &free);
    for (i, span) in carriers.iter().zip(spans) {
        // β has the sign of y, so this moves the score towards the other side.
        scores[*i as usize] -= beta[*i as usize] * span.max(0.0);
    }
    scores
}

/// `Sᵢ²` of every carrier: with `A` the inverse of the kernel among the free ones and `u = A1`,
/// `1 / (Aᵢᵢ − uᵢ² / 1ᵀu)` for the free, and `Kᵢᵢ − kᵀAk + (kᵀu − 1)² / 1ᵀu` for the others.
fn squared_spans(rows: &KernelRows<f64>, carriers: &[u32], free: &[u32]) -> Vec<f64> {
    let own = rows.select(carriers).diagonal();
    let n = free.len();
    if n == 0 {
        return own;
    }
    let among = rows.select(free);
    let mut k = Matrix::from_shape_vec((n, n), among.gram()).expect("a square of the free");
    // Enough that rows which are the same can be told from noise.
    let lift = 1e-8 * k.diag().iter().copied().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    k.diag_mut().iter_mut().for_each(|v| *v += lift);
    let Some(factor) = Cholesky::of(k.view()) else { return own };
    let inverse = factor.inverse();
    let u: Vec<f64> = inverse.rows().into_iter().map(|row| row.sum()).collect();
    let total: f64 = u.iter().sum();
    let place: std::collections::HashMap<u32, usize> = free.iter().copied().zip(0..).collect();
    let others: Vec<u32> = carriers.iter().copied().filter(|i| !place.contains_key(i)).collect();
    let mut columns = vec![vec![0.0; n]; others.len()];
    let mut out: Vec<&mut [f64]> = columns.iter_mut().map(Vec::as_mut_slice).collect();
    rows.columns(&others, &among, &mut out);
    let mut columns = columns.iter();
    carriers
        .iter()
        .zip(own)
        .map(|(i, own)| match place.get(i) {
            Some(k) => {
                let inverse = inverse[[*k, *k]] - u[*k] * u[*k] / total;
                if inverse > 0.0 { 1.0 / inverse } else { own }
            }
            None => {
                let Some(k) = columns.next() else { return own };
                let k = ndarray::ArrayView1::from(k);
                let across: f64 = k.iter().zip(&u).map(|(k, u)| k * u).sum::<f64>() - 1.0;
                (own - k.dot(&inverse.dot(&k)) + across * across / total).clamp(0.0, 2.0 * own)
            }
        })
        .collect()
}

/// The sigmoid `P(positive | s) = 1 / (1 + exp(a s + b))` of scores and their sides, as `(a, b)`.
pub(super) fn sigmoid(scores: &[f64], positive: &[bool], weights: &[f64]) -> (f64, f64) {
    let weight = |side: bool| -> f64 {
        positive.iter().zip(weights).filter(|(p, _)| **p == side).map(|(_, w)| w).sum()
    };
    let (with, without) = (weight(true), weight(false));
    // Targets a little inside of one and zero: the posterior means of a uniform prior.
    let (high, low) = ((with + 1.0) / (with + 2.0), 1.0 / (without + 2.0));
    let target = |p: &bool| if *p { high } else { low };
    let loss = |a: f64, b: f64| -> f64 {
        scores
            .iter()
            .zip(positive)
            .zip(weights)
            .map(|((s, p), w)| {
                let z = a * s + b;
                // log(1 + eᶻ) without overflow.
                let log = z.max(0.0) + (-z.abs()).exp().ln_1p();
                w * (log - (1.0 - target(p)) * z)
            })
            .sum()
    };
    let (mut a, mut b) = (0.0, ((without + 1.0) / (with + 1.0)).ln());
    let mut at = loss(a, b);
    for _ in 0..200 {
        let (mut g, mut h) = ([0.0; 2], [1e-12, 0.0, 1e-12]);
        for ((s, p), w) in scores.iter().zip(positive).zip(weights) {
            let z = a * s + b;
            let q = 1.0 / (1.0 + (-z).exp());
            let (rest, bend) = (w * (q - (1.0 - target(p))), w * q * (1.0 - q));
            g[0] += rest * s;
            g[1] += rest;
            h[0] += bend * s * s;
            h[1] += bend * s;
            h[2] += bend;
        }
        if g[0].abs() < 1e-9 && g[1].abs() < 1e-9 {
            break;
        }
        let determinant = h[0] * h[2] - h[1] * h[1];
        let step = [
            -(h[2] * g[0] - h[1] * g[1]) / determinant,
            -(h[0] * g[1] - h[1] * g[0]) / determinant,
        ];
        let slope = g[0] * step[0] + g[1] * step[1];
        let mut t = 1.0;
        loop {
            let next = loss(a + t * step[0], b + t * step[1]);
            if next < at + 1e-4 * t * slope {
                (a, b, at) = (a + t * step[0], b + t * step[1], next);
                break;
            }
            t *= 0.5;
            if t < 1e-12 {
                return (a, b);
            }
        }
    }
    (a, b)
}

/// The distribution over `n` classes nearest to what pairs say: `pairs[k]` is the chance of the first of
/// the `k`th pair, given one of the two. Minimizes `Σ (rⱼᵢ pᵢ − rᵢⱼ pⱼ)²` over distributions.
pub(super) fn couple(pairs: &[f64], n: usize) -> Vec<f64> {
    let r = |i: usize, j: usize| -> f64 {
        let p = if i < j {
            pairs[super::pairwise::pair_at(n, i, j)]
        } else {
            1.0 - pairs[super::pairwise::pair_at(n, j, i)]
        };
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
        let pairs: Vec<f64> = super::super::pairwise::pairs(4)
            .map(|(i, j)| truth[i] / (truth[i] + truth[j]))
            .collect();

        let found = couple(&pairs, 4);

        found.iter().zip(truth).for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{a}, {b}"));
    }

    #[test]
    fn a_sigmoid_is_found_again() {
        // Many rows at each score, with the shares of a sigmoid of slope 2 and middle ½.
        let scores: Vec<f64> = (-20..=20).map(|i| 0.1 * f64::from(i)).collect();
        let share = |s: f64| 1.0 / (1.0 + (-2.0 * (s - 0.5)).exp());
        let both: Vec<f64> = scores.iter().chain(&scores).copied().collect();
        let positive: Vec<bool> = (0..both.len()).map(|k| k < scores.len()).collect();
        let weights: Vec<f64> = scores
            .iter()
            .map(|s| 1e6 * share(*s))
            .chain(scores.iter().map(|s| 1e6 * (1.0 - share(*s))))
            .collect();

        let (a, b) = sigmoid(&both, &positive, &weights);

        assert!((a + 2.0).abs() < 1e-4 && (b - 1.0).abs() < 1e-4, "{a}, {b}");
    }
}
