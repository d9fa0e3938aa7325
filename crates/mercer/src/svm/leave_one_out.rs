//! What a machine would say of a row had it been left out, from the one fit.
//!
//! What a machine says of a row it learned from is too good to be true. What it would say without it follows, nearly,
//! from the span of the support vectors (Vapnik & Chapelle 2000): `yᵢ f⁻ⁱ(xᵢ) = yᵢ f(xᵢ) − αᵢ Sᵢ²`, with `Sᵢ` the
//! distance of `φ(xᵢ)` from the affine span of the free support vectors. Where slack costs more than its length, no
//! coefficient has a bound and a row's own coefficient gives way: with `dᵢ` the curvature of its price, the kernel has
//! `dᵢ` more on its diagonal and the row takes `dᵢ` of `Sᵢ²` along.

use crate::kernel::KernelRows;
use mercer_num::Matrix;
use mercer_num::linalg::Cholesky;

/// More free support vectors than this are not asked: the span of some gives scores a little too low.
const MOST_FREE: usize = 2000;

/// A solved problem.
pub(super) struct Solution<'a> {
    pub beta: &'a [f64],
    /// The constant, where the function has one: its coefficients then add up to nothing.
    pub level: Option<f64>,
    /// `Kβ`.
    pub outputs: &'a [f64],
}

/// What the machine would say of each row, had it been left out. `free` says which coefficients are inside of
/// their bounds, `lifts` how much the price of each curves.
pub(super) fn leave_one_out(
    rows: &KernelRows<f64>,
    of: &Solution<'_>,
    free: impl Fn(usize) -> bool,
    lifts: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let Solution { beta, level, outputs } = of;
    let mut scores: Vec<f64> = outputs.iter().map(|f| f + level.unwrap_or(0.0)).collect();
    let carriers: Vec<u32> = (0..beta.len() as u32).filter(|i| beta[*i as usize] != 0.0).collect();
    let free: Vec<u32> = carriers.iter().copied().filter(|i| free(*i as usize)).collect();
    // Some of every class, as rows are sorted by it.
    let stride = free.len().div_ceil(MOST_FREE).max(1);
    let free: Vec<u32> = free.into_iter().step_by(stride).collect();
    let spans = squared_spans(rows, &carriers, &free, level.is_some(), lifts);
    for (i, span) in carriers.iter().zip(spans) {
        // β has the sign of y, so this moves the score towards the other side.
        scores[*i as usize] -= beta[*i as usize] * span.max(0.0);
    }
    scores
}

/// `Sᵢ²` of every carrier: with `A` the inverse of the lifted kernel among the free ones and `u = A1`,
/// `1 / (Aᵢᵢ − uᵢ² / 1ᵀu) − dᵢ` for the free, and `Kᵢᵢ − kᵀAk + (kᵀu − 1)² / 1ᵀu` for the others. Without a constant
/// the span is not `affine`, and the terms with `u` are not there.
fn squared_spans(
    rows: &KernelRows<f64>,
    carriers: &[u32],
    free: &[u32],
    affine: bool,
    lifts: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let own = rows.select(carriers).diagonal();
    let n = free.len();
    if n == 0 {
        return own;
    }
    let among = rows.select(free);
    let mut k = Matrix::from_shape_vec((n, n), among.gram()).expect("a square of the free");
    // Enough that rows which are the same can be told from noise.
    let lift = 1e-8 * k.diag().iter().copied().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let lifts: Vec<f64> = free.iter().map(|i| lifts(*i as usize)).collect();
    k.diag_mut().iter_mut().zip(&lifts).for_each(|(v, own)| *v += lift + own);
    let Some(factor) = Cholesky::of(k.view()) else { return own };
    let inverse = factor.inverse();
    let u: Vec<f64> = inverse.rows().into_iter().map(|row| row.sum()).collect();
    let total: f64 = if affine { u.iter().sum() } else { f64::INFINITY };
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
                if inverse > 0.0 { 1.0 / inverse - lifts[*k] } else { own }
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
