//! Vectorized cosines.
//!
//! `cos x = (−1)ⁿ sin r` with the integer `n` nearest to `x/π + ½` and `r = x − (n − ½)π`, and a polynomial for `sin
//! r`, `|r| ≤ π/2`: near a zero of the cosine, `r` is small and accurate. As in [`exp`](super::exp), no operations are
//! fused, so every instruction set gives the same bits; the scalar functions are the specification of the loops.

use multiversion::multiversion;

/// Arguments up to this magnitude are reduced by multiples of π in three parts, two of which are exact.
const MAX_ARGUMENT_SINGLE: f32 = 1e4;
const MAX_ARGUMENT_DOUBLE: f64 = 1e7;
/// Values per block: one large argument sends its block to the standard library.
const VALUES_PER_BLOCK: usize = 512;

/// `cos x` in single precision, within 1.5e-7.
#[inline(always)]
pub fn cos_single(x: f32) -> f32 {
    if x.abs() <= MAX_ARGUMENT_SINGLE { near_single(x) } else { cos_double(f64::from(x)) as f32 }
}

/// `cos x` in double precision, within 4e-16.
#[inline(always)]
pub fn cos_double(x: f64) -> f64 {
    if x.abs() <= MAX_ARGUMENT_DOUBLE { near_double(x) } else { libm::cos(x) }
}

#[inline(always)]
fn near_single(x: f32) -> f32 {
    const ROUNDING_SHIFT: f32 = 12_582_912.0;
    const PI: [f32; 3] = [3.140_625, 9.675_026e-4, 1.509_958e-7];
    let t = (x * std::f32::consts::FRAC_1_PI + 0.5) + ROUNDING_SHIFT;
    let m = (t - ROUNDING_SHIFT) - 0.5;
    let r = ((x - m * PI[0]) - m * PI[1]) - m * PI[2];
    let z = r * r;
    // ±1/k! for k = 13 down to 3: the next term is below 7e-10.
    let p = 1.605_904_4e-10 * z - 2.505_210_8e-8;
    let p = p * z + 2.755_731_9e-6;
    let p = p * z - 1.984_127e-4;
    let p = p * z + 8.333_333e-3;
    let p = p * z - 1.666_666_7e-1;
    let value = r + (p * z) * r;
    f32::from_bits(value.to_bits() ^ (t.to_bits() << 31))
}

#[inline(always)]
fn near_double(x: f64) -> f64 {
    const ROUNDING_SHIFT: f64 = 6_755_399_441_055_744.0;
    const PI: [f64; 3] =
        [3.141_592_651_605_606, 1.984_187_158_327_044_3e-9, 1.034_036_596_358_821e-18];
    let t = (x * std::f64::consts::FRAC_1_PI + 0.5) + ROUNDING_SHIFT;
    let m = (t - ROUNDING_SHIFT) - 0.5;
    let r = ((x - m * PI[0]) - m * PI[1]) - m * PI[2];
    let z = r * r;
    // ±1/k! for k = 21 down to 3: the next term is below 2e-18.
    let p = 1.957_294_106_339_126_3e-20 * z - 8.220_635_246_624_33e-18;
    let p = p * z + 2.811_457_254_345_520_6e-15;
    let p = p * z - 7.647_163_731_819_816e-13;
    let p = p * z + 1.605_904_383_682_161_3e-10;
    let p = p * z - 2.505_210_838_544_172e-8;
    let p = p * z + 2.755_731_922_398_589_3e-6;
    let p = p * z - 1.984_126_984_126_984e-4;
    let p = p * z + 8.333_333_333_333_333e-3;
    let p = p * z - 1.666_666_666_666_666_6e-1;
    let value = r + (p * z) * r;
    f64::from_bits(value.to_bits() ^ (t.to_bits() << 63))
}

macro_rules! cosine_loops {
    ($T:ty, $cosines:ident, $near:ident, $cos:ident, $limit:expr) => {
        /// `x[j] ← scale · cos(x[j] + phases[j])`.
        #[multiversion(targets(
            "x86_64+avx512f+avx512vl+avx512dq",
            "x86_64+avx+avx2",
            "aarch64+neon"
        ))]
        pub fn $cosines(x: &mut [$T], phases: &[$T], scale: $T) {
            for (x, phases) in x.chunks_mut(VALUES_PER_BLOCK).zip(phases.chunks(VALUES_PER_BLOCK)) {
                let mut near = true;
                for (x, phase) in x.iter_mut().zip(phases) {
                    *x += phase;
                    // False for NaN.
                    near &= x.abs() <= $limit;
                }
                if near {
                    x.iter_mut().for_each(|x| *x = scale * $near(*x));
                } else {
                    x.iter_mut().for_each(|x| *x = scale * $cos(*x));
                }
            }
        }
    };
}

cosine_loops!(f32, scaled_cosines_single, near_single, cos_single, MAX_ARGUMENT_SINGLE);
cosine_loops!(f64, scaled_cosines_double, near_double, cos_double, MAX_ARGUMENT_DOUBLE);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosines_are_accurate_to_a_few_units_of_one() {
        for i in -200_000..=200_000 {
            let x = f64::from(i) * 0.017 + 1e-7 * f64::from(i % 977);
            assert!((cos_double(x) - libm::cos(x)).abs() <= 4e-16, "cos {x}");
            let x = x as f32;
            let found = f64::from(cos_single(x));
            assert!((found - libm::cos(f64::from(x))).abs() <= 1.5e-7, "cos {x}: {found}");
        }
        assert_eq!(cos_double(0.0), 1.0);
        for x in [9.9e6, 1e7, 1.1e7, -1e12, 1e300] {
            assert!((cos_double(x) - libm::cos(x)).abs() <= 4e-16, "cos {x}");
        }
        assert!(cos_double(f64::INFINITY).is_nan() && cos_single(f32::NAN).is_nan());
    }

    #[test]
    fn cosines_near_a_zero_are_accurate() {
        for k in [0, 1, 7, 1000] {
            let x = (f64::from(k) + 0.5) * std::f64::consts::PI;
            let expected = libm::cos(x);

            assert!((cos_double(x) / expected - 1.0).abs() < 1e-6, "{x}: {expected}");
        }
    }

    #[test]
    fn the_loops_equal_the_scalar_functions_to_the_bit() {
        let mut x: Vec<f64> = (0..1500).map(|i| 0.37 * f64::from(i) - 99.0).collect();
        x[700] = 3e9;
        let phases: Vec<f64> = (0..1500).map(|i| 0.004 * f64::from(i)).collect();
        let single: Vec<f32> = x.iter().map(|x| *x as f32).collect();
        let low: Vec<f32> = phases.iter().map(|x| *x as f32).collect();
        let (mut double_waves, mut single_waves) = (x.clone(), single.clone());

        scaled_cosines_double(&mut double_waves, &phases, 0.25);
        scaled_cosines_single(&mut single_waves, &low, 0.25);

        for i in 0..x.len() {
            assert_eq!(double_waves[i], 0.25 * cos_double(x[i] + phases[i]));
            assert_eq!(single_waves[i], 0.25 * cos_single(single[i] + low[i]));
        }
    }
}
