//! The fast Walsh-Hadamard transform.
//!
//! The scalar loops are the specification. Steps within a SIMD register are shuffles, which compilers do not generate
//! by themselves; they add the same values in the same order.

/// The minimum length of a transform: enough for eight registers.
pub const MIN_LENGTH: usize = 64;

macro_rules! hadamard_transform {
    ($rotate:ident, $scalar:ident, $hadamard:ident, $wide:path, $T:ty) => {
        /// `out ← H D₃ H D₂ H D₁ x` with diagonal matrices `D` of signs and the Hadamard matrix `H`, `HHᵀ = nI`; `x` is
        /// padded with zeros. One row at a time: a row of two thousand values stays in the first-level cache for all
        /// steps.
        ///
        /// # Panics
        /// Unless the length of `out` is a power of two of at least [`MIN_LENGTH`] and there are three times as many
        /// signs.
        pub fn $rotate(x: &[$T], signs: &[$T], out: &mut [$T]) {
            let n = out.len();
            assert!(
                n.is_power_of_two() && n >= MIN_LENGTH,
                "a power of two of at least MIN_LENGTH"
            );
            assert_eq!(signs.len(), 3 * n, "three signs per element");
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the instructions were detected.
                return unsafe { $wide(x, signs, out) };
            }
            $scalar(x, signs, out);
        }

        fn $scalar(x: &[$T], signs: &[$T], out: &mut [$T]) {
            let (front, rest) = out.split_at_mut(x.len());
            for ((out, x), sign) in front.iter_mut().zip(x).zip(signs) {
                *out = x * sign;
            }
            rest.fill(0.0);
            $hadamard(out);
            for signs in signs[out.len()..].chunks_exact(out.len()) {
                for (out, sign) in out.iter_mut().zip(signs) {
                    *out *= sign;
                }
                $hadamard(out);
            }
        }

        /// `x ← Hx`, the largest stride first.
        fn $hadamard(x: &mut [$T]) {
            let mut half = x.len() / 2;
            while half > 0 {
                for pair in x.chunks_exact_mut(2 * half) {
                    let (a, b) = pair.split_at_mut(half);
                    for (a, b) in a.iter_mut().zip(b) {
                        (*a, *b) = (*a + *b, *a - *b);
                    }
                }
                half /= 2;
            }
        }
    };
}

hadamard_transform!(
    hadamard_rotate_single,
    scalar_single,
    hadamard_single,
    wide::hadamard_rotate_single,
    f32
);
hadamard_transform!(
    hadamard_rotate_double,
    scalar_double,
    hadamard_double,
    wide::hadamard_rotate_double,
    f64
);

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::*;

    macro_rules! hadamard_transform {
        (
            $rotate:ident, $hadamard:ident, $between_distant:ident, $between_adjacent:ident, $between:ident, $T:ty, $V:ty, $LANES:literal,
            $zero:ident, $load:ident, $store:ident, $add:ident, $sub:ident, $mul:ident, $within:ident
        ) => {
            #[target_feature(enable = "avx2")]
            pub fn $rotate(x: &[$T], signs: &[$T], out: &mut [$T]) {
                let (front, rest) = out.split_at_mut(x.len());
                for ((out, x), sign) in front.iter_mut().zip(x).zip(signs) {
                    *out = x * sign;
                }
                rest.fill(0.0);
                let (out, _) = out.as_chunks_mut::<$LANES>();
                let (signs, _) = signs.as_chunks::<$LANES>();
                let (second, third) = signs[out.len()..].split_at(out.len());
                $hadamard(out, Some(second));
                $hadamard(out, Some(third));
                $hadamard(out, None);
            }

            /// `x ← DHx`, three steps at a time, so that values are loaded and stored a third as often.
            #[target_feature(enable = "avx2")]
            fn $hadamard(x: &mut [[$T; $LANES]], signs: Option<&[[$T; $LANES]]>) {
                let mut part = x.len();
                while part > 8 {
                    for x in x.chunks_exact_mut(part) {
                        $between_distant(x, part / 8);
                    }
                    part /= 8;
                }
                match part {
                    8 => $between_adjacent::<8>(x, signs),
                    4 => $between_adjacent::<4>(x, signs),
                    2 => $between_adjacent::<2>(x, signs),
                    _ => $between_adjacent::<1>(x, signs),
                }
            }

            #[inline]
            #[target_feature(enable = "avx2")]
            fn $between_distant(x: &mut [[$T; $LANES]], stride: usize) {
                for i in 0..stride {
                    let mut eight = [$zero(); 8];
                    for k in 0..8 {
                        // SAFETY: the array has as many values as a register.
                        eight[k] = unsafe { $load(x[i + k * stride].as_ptr()) };
                    }
                    $between(&mut eight);
                    for k in 0..8 {
                        // SAFETY: as above.
                        unsafe { $store(x[i + k * stride].as_mut_ptr(), eight[k]) };
                    }
                }
            }

            /// The steps between and within adjacent registers, and the signs that follow.
            #[inline]
            #[target_feature(enable = "avx2")]
            fn $between_adjacent<const N: usize>(
                x: &mut [[$T; $LANES]],
                signs: Option<&[[$T; $LANES]]>,
            ) {
                for (at, x) in x.as_chunks_mut::<N>().0.iter_mut().enumerate() {
                    let mut some = [$zero(); N];
                    for k in 0..N {
                        // SAFETY: the array has as many values as a register.
                        some[k] = unsafe { $load(x[k].as_ptr()) };
                    }
                    $between(&mut some);
                    for k in 0..N {
                        let mut value = $within(some[k]);
                        if let Some(signs) = signs {
                            // SAFETY: the array has as many values as a register.
                            value = $mul(value, unsafe { $load(signs[at * N + k].as_ptr()) });
                        }
                        // SAFETY: as above.
                        unsafe { $store(x[k].as_mut_ptr(), value) };
                    }
                }
            }

            #[inline]
            #[target_feature(enable = "avx2")]
            fn $between<const N: usize>(x: &mut [$V; N]) {
                let mut half = N / 2;
                while half > 0 {
                    for k in 0..N {
                        if k & half == 0 {
                            let (a, b) = (x[k], x[k + half]);
                            (x[k], x[k + half]) = ($add(a, b), $sub(a, b));
                        }
                    }
                    half /= 2;
                }
            }
        };
    }

    hadamard_transform!(
        hadamard_rotate_single,
        hadamard_single,
        far_single,
        near_single,
        between_single,
        f32,
        __m256,
        8,
        _mm256_setzero_ps,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_add_ps,
        _mm256_sub_ps,
        _mm256_mul_ps,
        within_single
    );
    hadamard_transform!(
        hadamard_rotate_double,
        hadamard_double,
        far_double,
        near_double,
        between_double,
        f64,
        __m256d,
        4,
        _mm256_setzero_pd,
        _mm256_loadu_pd,
        _mm256_storeu_pd,
        _mm256_add_pd,
        _mm256_sub_pd,
        _mm256_mul_pd,
        within_double
    );

    /// Steps within a register: the sum and the difference of every value and its partner.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn within_single(x: __m256) -> __m256 {
        let (p, m) = (0.0, -0.0);
        let far = _mm256_xor_ps(x, _mm256_setr_ps(p, p, p, p, m, m, m, m));
        let x = _mm256_add_ps(_mm256_permute2f128_ps::<1>(x, x), far);
        let next = _mm256_xor_ps(x, _mm256_setr_ps(p, p, m, m, p, p, m, m));
        let x = _mm256_add_ps(_mm256_permute_ps::<0x4e>(x), next);
        let near = _mm256_xor_ps(x, _mm256_setr_ps(p, m, p, m, p, m, p, m));
        _mm256_add_ps(_mm256_permute_ps::<0xb1>(x), near)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn within_double(x: __m256d) -> __m256d {
        let (p, m) = (0.0, -0.0);
        let far = _mm256_xor_pd(x, _mm256_setr_pd(p, p, m, m));
        let x = _mm256_add_pd(_mm256_permute2f128_pd::<1>(x, x), far);
        let near = _mm256_xor_pd(x, _mm256_setr_pd(p, m, p, m));
        _mm256_add_pd(_mm256_permute_pd::<5>(x), near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_equal_products_with_the_hadamard_matrix() {
        for n in [64, 128, 256, 512, 1024, 2048] {
            let (mut random, d) = (crate::random::Random::new(n as u64), n - 5);
            let x: Vec<f64> = (0..d).map(|i| (i * 3 % 17) as f64 - 8.0).collect();
            let signs: Vec<f64> =
                (0..3 * n).map(|_| if random.uniform() < 0.5 { -1.0 } else { 1.0 }).collect();
            let mut found = vec![9.0; n];

            hadamard_rotate_double(&x, &signs, &mut found);

            // A cell of the Hadamard matrix is negative if its row and column index have an odd number of common bits.
            let cell = |i: usize, j: usize| if (i & j).count_ones() % 2 == 1 { -1.0 } else { 1.0 };
            let mut expected = x.clone();
            expected.resize(n, 0.0);
            for signs in signs.chunks_exact(n) {
                let signed: Vec<f64> = expected.iter().zip(signs).map(|(x, s)| x * s).collect();
                expected = (0..n).map(|i| (0..n).map(|j| cell(i, j) * signed[j]).sum()).collect();
            }
            // Integers of this size are exact.
            assert_eq!(found, expected);
            let uneven: Vec<f64> = x.iter().map(|v| v / 7.0).collect();
            let mut plain = vec![9.0; n];
            scalar_double(&uneven, &signs, &mut plain);
            hadamard_rotate_double(&uneven, &signs, &mut found);
            assert_eq!(found, plain, "the specification");
            let low = |x: &[f64]| -> Vec<f32> { x.iter().map(|v| *v as f32).collect() };
            let mut single = vec![9.0; n];
            hadamard_rotate_single(&low(&x), &low(&signs), &mut single);
            assert!(n > 128 || single == low(&expected));
            let mut plain = vec![9.0; n];
            scalar_single(&low(&uneven), &low(&signs), &mut plain);
            hadamard_rotate_single(&low(&uneven), &low(&signs), &mut single);
            assert_eq!(single, plain, "the specification");
        }
    }
}
