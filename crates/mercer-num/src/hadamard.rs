//! Walsh and Hadamard's transform: sums and differences of numbers, of sums of them, and so on.

use multiversion::multiversion;

/// Rows that are transformed side by side, so that every step is one of whole registers.
pub const SIDE: usize = 8;

/// Rows of a part that stays in the nearest cache from its first step to its last.
const NEAR: usize = 256;

macro_rules! hadamard {
    ($name:ident, $steps:ident, $four:ident, $two:ident, $T:ty) => {
        /// `x ← Hx` for several columns side by side, `H` being the matrix of signs with `HHᵀ = nI`.
        ///
        /// # Panics
        /// If their length is no power of two.
        #[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx+avx2", "aarch64+neon"))]
        pub fn $name(x: &mut [[$T; SIDE]]) {
            assert!(x.len().is_power_of_two(), "a power of two");
            let part = x.len().min(NEAR);
            // Steps of any width may come in any order: those that reach far first, and then part by part.
            $steps(x, part, x.len());
            x.chunks_exact_mut(part).for_each(|x| $steps(x, 1, part));
        }

        /// The steps from pairs that are `half` apart to those that are half of `end` apart, two at a time.
        #[inline(always)]
        fn $steps(x: &mut [[$T; SIDE]], mut half: usize, end: usize) {
            while 4 * half <= end {
                x.chunks_exact_mut(4 * half).for_each(|four| $four(four, half));
                half *= 4;
            }
            if half < end {
                x.chunks_exact_mut(2 * half).for_each(|two| $two(two, half));
            }
        }

        #[inline(always)]
        fn $four(x: &mut [[$T; SIDE]], half: usize) {
            let (low, high) = x.split_at_mut(2 * half);
            let ((a, b), (c, d)) = (low.split_at_mut(half), high.split_at_mut(half));
            for ((a, b), (c, d)) in a.iter_mut().zip(b).zip(c.iter_mut().zip(d)) {
                for k in 0..SIDE {
                    let (sum, apart) = (a[k] + b[k], a[k] - b[k]);
                    let (later, far) = (c[k] + d[k], c[k] - d[k]);
                    (a[k], b[k]) = (sum + later, apart + far);
                    (c[k], d[k]) = (sum - later, apart - far);
                }
            }
        }

        #[inline(always)]
        fn $two(x: &mut [[$T; SIDE]], half: usize) {
            let (a, b) = x.split_at_mut(half);
            for (a, b) in a.iter_mut().zip(b) {
                for k in 0..SIDE {
                    (a[k], b[k]) = (a[k] + b[k], a[k] - b[k]);
                }
            }
        }
    };
}

hadamard!(hadamard_single, steps_single, four_single, two_single, f32);
hadamard!(hadamard_double, steps_double, four_double, two_double, f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_is_the_length_times_what_it_was() {
        for n in [1, 2, 4, 8, 16, 512, 1024, 2048] {
            let start: Vec<[f64; SIDE]> =
                (0..n).map(|i| std::array::from_fn(|k| f64::from(i * 3 + k as i32 % 5))).collect();
            let mut x = start.clone();

            hadamard_double(&mut x);

            // The first is the sum, the second alternates, the last changes its sign with every bit of the place.
            for k in 0..SIDE {
                let sum = |sign: fn(i32) -> bool| -> f64 {
                    let signed = |i: i32| if sign(i) { -1.0 } else { 1.0 };
                    (0..n).map(|i| signed(i) * start[i as usize][k]).sum()
                };
                assert_eq!(x[0][k], sum(|_| false));
                assert_eq!(
                    x[1 % n as usize][k],
                    if n == 1 { start[0][k] } else { sum(|i| i % 2 == 1) }
                );
                assert_eq!(x[n as usize - 1][k], sum(|i| i.count_ones() % 2 == 1));
            }
            hadamard_double(&mut x);
            for (x, start) in x.iter().zip(&start) {
                (0..SIDE).for_each(|k| assert_eq!(x[k], f64::from(n) * start[k]));
            }
        }
    }
}
