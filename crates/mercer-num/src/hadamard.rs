//! Walsh and Hadamard's transform: sums and differences of numbers, of sums of them, and so on.

use multiversion::multiversion;

/// Rows that are transformed side by side, so that every step is one of whole registers.
pub const SIDE: usize = 8;

macro_rules! hadamard {
    ($name:ident, $T:ty) => {
        /// `x ← Hx` for several columns side by side, `H` being the matrix of signs with `HHᵀ = nI`.
        ///
        /// # Panics
        /// If their length is no power of two.
        #[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx+avx2", "aarch64+neon"))]
        pub fn $name(x: &mut [[$T; SIDE]]) {
            assert!(x.len().is_power_of_two(), "a power of two");
            let mut half = 1;
            while half < x.len() {
                for pair in x.chunks_exact_mut(2 * half) {
                    let (a, b) = pair.split_at_mut(half);
                    for (a, b) in a.iter_mut().zip(b) {
                        for k in 0..SIDE {
                            (a[k], b[k]) = (a[k] + b[k], a[k] - b[k]);
                        }
                    }
                }
                half *= 2;
            }
        }
    };
}

hadamard!(hadamard_single, f32);
hadamard!(hadamard_double, f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_is_the_length_times_what_it_was() {
        let start: Vec<[f64; SIDE]> =
            (0..16).map(|i| std::array::from_fn(|k| f64::from(i * 3 + k as i32 % 5))).collect();
        let mut x = start.clone();

        hadamard_double(&mut x);

        // The first is the sum, the second alternates.
        for k in 0..SIDE {
            assert_eq!(x[0][k], start.iter().map(|row| row[k]).sum::<f64>());
            let signs = start.iter().enumerate().map(|(i, row)| [1.0, -1.0][i % 2] * row[k]);
            assert_eq!(x[1][k], signs.sum::<f64>());
        }
        hadamard_double(&mut x);
        for (x, start) in x.iter().zip(&start) {
            (0..SIDE).for_each(|k| assert_eq!(x[k], 16.0 * start[k]));
        }
    }
}
