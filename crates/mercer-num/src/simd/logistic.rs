//! The softplus `log(1 + eᶻ)` and the sigmoid `1 / (1 + e⁻ᶻ)` of many values.
//!
//! `log(1 + eᶻ) = max(z, 0) + log(1 + e)` with `e = exp(−|z|)`, and `log(1 + e) = 2 (s + s³/3 + s⁵/5 + …)` with `s = e
//! / (2 + e) ≤ ⅓`, for which sixteen terms are enough. As in [`exp`](super::exp), no operations are fused, and the
//! scalar functions are the specification of the loops.

use super::exp::exp_double;
use multiversion::multiversion;

/// `log(1 + e)` for `e` from 0 to 1, within a few units in the last place.
#[inline(always)]
fn ln_1p_unit(e: f64) -> f64 {
    /// `2 / (2k + 1)`.
    const SERIES: [f64; 16] = {
        let mut series = [0.0; 16];
        let mut k = 0;
        while k < 16 {
            series[k] = 2.0 / (2 * k + 1) as f64;
            k += 1;
        }
        series
    };
    let s = e / (2.0 + e);
    let t = s * s;
    let (t2, t4, t8) = (t * t, (t * t) * (t * t), ((t * t) * (t * t)) * ((t * t) * (t * t)));
    let pair = |k: usize| SERIES[2 * k] + SERIES[2 * k + 1] * t;
    let four = |k: usize| pair(2 * k) + pair(2 * k + 1) * t2;
    let eight = |k: usize| four(2 * k) + four(2 * k + 1) * t4;
    s * (eight(0) + eight(1) * t8)
}

/// `log(1 + eᶻ)` and the probability `1 / (1 + e⁻ᶻ)`.
#[inline(always)]
pub fn softplus_and_sigmoid(z: f64) -> (f64, f64) {
    let e = exp_double(-z.abs());
    let loss = (if z > 0.0 { z } else { 0.0 }) + ln_1p_unit(e);
    (loss, (if z >= 0.0 { 1.0 } else { e }) / (1.0 + e))
}

/// The losses `log(1 + eᶻ)` and the probabilities of many log-odds.
///
/// # Panics
/// If the lengths differ.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn softplus_and_sigmoid_each(z: &[f64], losses: &mut [f64], proba: &mut [f64]) {
    assert_eq!((z.len(), z.len()), (losses.len(), proba.len()), "slices of equal length");
    for ((z, loss), p) in z.iter().zip(losses).zip(proba) {
        (*loss, *p) = softplus_and_sigmoid(*z);
    }
}

/// `z ← log(1 + eᶻ)`.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn softplus_each(z: &mut [f64]) {
    for z in z {
        *z = softplus_and_sigmoid(*z).0;
    }
}

/// `z ← 1 / (1 + e⁻ᶻ)`.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn sigmoid_each(z: &mut [f64]) {
    for z in z {
        *z = softplus_and_sigmoid(*z).1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_and_probabilities_are_accurate_to_a_few_units_in_the_last_place() {
        for i in -70_000..=70_000 {
            let z = f64::from(i) * 0.01;
            let small = (-z.abs()).exp();

            let (loss, p) = softplus_and_sigmoid(z);

            let expected = z.max(0.0) + small.ln_1p();
            assert!((loss - expected).abs() <= 1e-15 * expected, "loss of {z}: {loss}");
            let expected = if z >= 0.0 { 1.0 / (1.0 + small) } else { small / (1.0 + small) };
            assert!((p - expected).abs() <= 1e-15 * expected, "probability of {z}: {p}");
        }
        assert_eq!(softplus_and_sigmoid(f64::INFINITY), (f64::INFINITY, 1.0));
        assert_eq!(softplus_and_sigmoid(f64::NEG_INFINITY), (0.0, 0.0));
        assert!(softplus_and_sigmoid(f64::NAN).0.is_nan());
    }

    #[test]
    fn the_loops_equal_the_scalar_functions_to_the_bit() {
        let z: Vec<f64> = (0..1000).map(|i| 0.03 * f64::from(i) - 15.0).collect();
        let [mut losses, mut proba] = [vec![0.0; 1000], vec![0.0; 1000]];
        let [mut plus, mut alone] = [z.clone(), z.clone()];

        softplus_and_sigmoid_each(&z, &mut losses, &mut proba);
        softplus_each(&mut plus);
        sigmoid_each(&mut alone);

        for (i, z) in z.iter().enumerate() {
            assert_eq!((losses[i], proba[i]), softplus_and_sigmoid(*z));
            assert_eq!((plus[i], alone[i]), softplus_and_sigmoid(*z));
        }
    }
}
