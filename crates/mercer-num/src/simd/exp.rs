//! Vectorized exponentials and kernel values.
//!
//! `eˣ = 2ⁿ eʳ` with the integer `n` nearest to `x / ln 2`, and a polynomial for `eʳ`, `|r| ≤ ½ ln 2`. As in
//! [`simd`](super), no operations are fused, so every instruction set gives the same bits; the scalar functions are the
//! specification of the loops.

use multiversion::multiversion;

/// The rows whose distances from another row are summed side by side.
pub const DISTANCE_LANES: usize = 32;

/// `eˣ` in single precision, within two units in the last place; zero below `-87.3`.
///
/// The polynomial is that of the Cephes library (Moshier 1989).
#[inline(always)]
pub fn exp_single(x: f32) -> f32 {
    /// Adding this number rounds to an integer in the last bits.
    const ROUNDING_SHIFT: f32 = 12_582_912.0;
    /// A leading part of ln 2 with so few bits that its multiples are exact, and the rest.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    let top = if x > 88.3 { 88.3 } else { x };
    let t = top * std::f32::consts::LOG2_E + ROUNDING_SHIFT;
    let n = t - ROUNDING_SHIFT;
    let r = (top - n * LN_2[0]) - n * LN_2[1];
    let p = 1.987_569_1e-4 * r + 1.398_199_9e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_5e-1;
    let p = p * r + 0.5;
    let power = f32::from_bits(t.to_bits().wrapping_add(127) << 23);
    let value = ((p * r) * r + r + 1.0) * power;
    if x < -87.3 { 0.0 } else { value }
}

/// `eˣ` in double precision, within two units in the last place; zero below `-708`.
#[inline(always)]
pub fn exp_double(x: f64) -> f64 {
    const ROUNDING_SHIFT: f64 = 6_755_399_441_055_744.0;
    const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
    let top = if x > 709.0 { 709.0 } else { x };
    let t = top * std::f64::consts::LOG2_E + ROUNDING_SHIFT;
    let n = t - ROUNDING_SHIFT;
    let r = (top - n * LN_2[0]) - n * LN_2[1];
    // 1/k! down to k = 2: the terms beyond r¹³ are below half a unit. Evaluated in pairs (Estrin 1960), because the
    // steps of Horner's method depend on each other.
    let (s, q) = (r * r, (r * r) * (r * r));
    let [p12, p10, p8, p6, p4, p2] = [
        1.605_904_383_682_161_3e-10 * r + 2.087_675_698_786_81e-9,
        2.505_210_838_544_172e-8 * r + 2.755_731_922_398_589_3e-7,
        2.755_731_922_398_589e-6 * r + 2.480_158_730_158_73e-5,
        1.984_126_984_126_984e-4 * r + 1.388_888_888_888_889e-3,
        8.333_333_333_333_333e-3 * r + 4.166_666_666_666_666_4e-2,
        1.666_666_666_666_666_6e-1 * r + 0.5,
    ];
    let p = ((p12 * s + p10) * q + (p8 * s + p6)) * q + (p4 * s + p2);
    let power = f64::from_bits(t.to_bits().wrapping_add(1023) << 52);
    let value = (p * s + r + 1.0) * power;
    if x < -708.0 { 0.0 } else { value }
}

macro_rules! kernel_loops {
    ($T:ty, $exp:ident, $each:ident, $gaussian:ident, $polynomial:ident, $sigmoid:ident, $l1:ident, $chi_squared:ident) => {
        /// `x ← exp(x)`.
        #[multiversion(targets(
            "x86_64+avx512f+avx512vl+avx512dq",
            "x86_64+avx+avx2",
            "aarch64+neon"
        ))]
        pub fn $each(x: &mut [$T]) {
            for x in x {
                *x = $exp(*x);
            }
        }

        /// `out[j] = exp(−gamma · max(0, own + others[j] − 2 dots[j]))`: the Gaussian kernel of one row with many, from
        /// inner products and squared norms.
        #[multiversion(targets(
            "x86_64+avx512f+avx512vl+avx512dq",
            "x86_64+avx+avx2",
            "aarch64+neon"
        ))]
        pub fn $gaussian(dots: &[$T], own: $T, others: &[$T], gamma: $T, out: &mut [$T]) {
            for ((out, dot), other) in out.iter_mut().zip(dots).zip(others) {
                let square = (own + other) - 2.0 * dot;
                let square = if square > 0.0 { square } else { 0.0 };
                *out = $exp(-gamma * square);
            }
        }

        /// `out[j] = (gamma · dots[j] + coef0)ᵈᵉᵍʳᵉᵉ`, by repeated squaring.
        #[multiversion(targets(
            "x86_64+avx512f+avx512vl+avx512dq",
            "x86_64+avx+avx2",
            "aarch64+neon"
        ))]
        pub fn $polynomial(dots: &[$T], gamma: $T, coef0: $T, degree: u32, out: &mut [$T]) {
            for (out, dot) in out.iter_mut().zip(dots) {
                let (mut base, mut left, mut value) = (gamma * dot + coef0, degree, 1.0);
                while left > 0 {
                    if left & 1 == 1 {
                        value *= base;
                    }
                    base *= base;
                    left >>= 1;
                }
                *out = value;
            }
        }

        /// `out[j] = tanh(gamma · dots[j] + coef0)`.
        #[multiversion(targets(
            "x86_64+avx512f+avx512vl+avx512dq",
            "x86_64+avx+avx2",
            "aarch64+neon"
        ))]
        pub fn $sigmoid(dots: &[$T], gamma: $T, coef0: $T, out: &mut [$T]) {
            for (out, dot) in out.iter_mut().zip(dots) {
                let x = gamma * dot + coef0;
                let small = $exp(-2.0 * x.abs());
                let value = (1.0 - small) / (1.0 + small);
                *out = if x < 0.0 { -value } else { value };
            }
        }

        /// `outₖ = Σⱼ |aⱼ − bⱼₖ|` of a row with up to [`DISTANCE_LANES`] others, whose cells are stored by columns.
        #[multiversion(targets(
            "x86_64+avx512f+avx512vl+avx512dq",
            "x86_64+avx+avx2",
            "aarch64+neon"
        ))]
        pub fn $l1(a: &[$T], others: &[[$T; DISTANCE_LANES]], out: &mut [$T]) {
            let mut sums = [0.0; DISTANCE_LANES];
            for (a, column) in a.iter().zip(others) {
                for k in 0..DISTANCE_LANES {
                    sums[k] += (a - column[k]).abs();
                }
            }
            out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum);
        }

        /// `outₖ = Σⱼ (aⱼ − bⱼₖ)² / (aⱼ + bⱼₖ)` of nonnegative values, stored as above; 0/0 counts as zero.
        #[multiversion(targets(
            "x86_64+avx512f+avx512vl+avx512dq",
            "x86_64+avx+avx2",
            "aarch64+neon"
        ))]
        pub fn $chi_squared(a: &[$T], others: &[[$T; DISTANCE_LANES]], out: &mut [$T]) {
            let mut sums = [0.0; DISTANCE_LANES];
            for (a, column) in a.iter().zip(others) {
                for k in 0..DISTANCE_LANES {
                    let (d, s) = (a - column[k], a + column[k]);
                    sums[k] += if s > 0.0 { d * d / s } else { 0.0 };
                }
            }
            out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum);
        }
    };
}

kernel_loops!(
    f32,
    exp_single,
    exp_each_single,
    gaussian_kernel_single,
    polynomial_kernel_single,
    sigmoid_kernel_single,
    l1_distances_single,
    chi_squared_distances_single
);
kernel_loops!(
    f64,
    exp_double,
    exp_each_double,
    gaussian_kernel_double,
    polynomial_kernel_double,
    sigmoid_kernel_double,
    l1_distances_double,
    chi_squared_distances_double
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_accurate_to_two_units_in_the_last_place() {
        for i in -70_000..=70_000 {
            let x = f64::from(i) * 0.01;
            let (found, expected) = (exp_double(x), x.exp());
            assert!((found - expected).abs() <= 4.5e-16 * expected, "exp {x}: {found}");
            let x = (x * 0.1) as f32;
            let (found, expected) = (exp_single(x), f64::from(x).exp());
            assert!((f64::from(found) - expected).abs() <= 2.4e-7 * expected, "exp {x}: {found}");
        }
        assert_eq!((exp_single(0.0), exp_double(0.0)), (1.0, 1.0));
        assert_eq!((exp_single(-1e6), exp_double(-1e6)), (0.0, 0.0));
        assert_eq!((exp_single(f32::NEG_INFINITY), exp_double(f64::NEG_INFINITY)), (0.0, 0.0));
    }

    #[test]
    fn the_loops_equal_the_scalar_functions_to_the_bit() {
        let x: Vec<f32> = (0..1000).map(|i| -0.01 * i as f32).collect();
        let wide: Vec<f64> = x.iter().map(|v| f64::from(*v)).collect();
        let (mut single, mut double) = (x.clone(), wide.clone());

        exp_each_single(&mut single);
        exp_each_double(&mut double);

        for i in 0..x.len() {
            assert_eq!(single[i].to_bits(), exp_single(x[i]).to_bits());
            assert_eq!(double[i].to_bits(), exp_double(wide[i]).to_bits());
        }
    }

    #[test]
    fn kernel_values_by_hand() {
        // Rows (1, 2) and (3, 0): inner product 3, squared norms 5 and 9, squared distance 8.
        let mut out = [0.0];
        gaussian_kernel_double(&[3.0], 5.0, &[9.0], 0.25, &mut out);
        assert!((out[0] - (-2.0f64).exp()).abs() < 1e-15);
        polynomial_kernel_double(&[3.0], 0.5, 1.0, 3, &mut out);
        assert!((out[0] - 15.625).abs() < 1e-14);
        sigmoid_kernel_double(&[3.0], -0.5, 1.0, &mut out);
        assert!((out[0] - (-0.5f64).tanh()).abs() < 1e-15);
        let others = [[3.0; DISTANCE_LANES], [0.0; DISTANCE_LANES]];
        l1_distances_double(&[1.0, 2.0], &others, &mut out);
        assert_eq!(out, [4.0]);
        // (1 − 3)² / 4 + (2 − 0)² / 2.
        chi_squared_distances_double(&[1.0, 2.0], &others, &mut out);
        assert_eq!(out, [3.0]);
        let mut out = [1.0];
        chi_squared_distances_single(&[0.0], &[[0.0; DISTANCE_LANES]], &mut out);
        assert_eq!(out, [0.0]);
    }
}
