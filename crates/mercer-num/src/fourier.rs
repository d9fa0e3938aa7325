//! Circular convolution by the fast Fourier transform (Cooley & Tukey 1965).

use std::f64::consts::PI;

/// A plan for circular convolutions of one length.
#[derive(Clone, Debug)]
pub struct CircularConvolution {
    length: usize,
    /// A power of two with space for the linear convolution.
    size: usize,
    /// The twiddle factors `e^(−2πik/size)` for half a period.
    twiddles: Vec<(f64, f64)>,
}

impl CircularConvolution {
    /// The plan for a length.
    pub fn new(length: usize) -> CircularConvolution {
        let size = (2 * length).next_power_of_two();
        let angle = |k: usize| -2.0 * PI * k as f64 / size as f64;
        let twiddles = (0..size / 2).map(|k| (angle(k).cos(), angle(k).sin())).collect();
        CircularConvolution { length, size, twiddles }
    }

    /// `out[k] = Σ a[i] b[j]` over `i + j ≡ k` modulo the length; the result replaces `a`.
    ///
    /// # Panics
    /// If the lengths differ from that of the plan.
    pub fn convolve(&self, a: &mut [f64], b: &[f64], buffer: &mut Vec<(f64, f64)>) {
        assert_eq!((a.len(), b.len()), (self.length, self.length), "inputs of the planned length");
        let n = self.size;
        buffer.clear();
        buffer.extend(a.iter().zip(b).map(|(a, b)| (*a, *b)));
        buffer.resize(n, (0.0, 0.0));
        self.transform(buffer);
        // Both inputs were transformed at once as real and imaginary part: A B = (Z² − Z̄²) / 4i, where Z̄ is the
        // conjugate at the opposite frequency.
        for k in 0..=n / 2 {
            let opposite = (n - k) % n;
            let (z, w) = (buffer[k], (buffer[opposite].0, -buffer[opposite].1));
            let difference = (z.0 + w.0, z.1 + w.1);
            let sum = (z.0 - w.0, z.1 - w.1);
            let product = (
                difference.0 * sum.0 - difference.1 * sum.1,
                difference.0 * sum.1 + difference.1 * sum.0,
            );
            let value = (0.25 * product.1, -0.25 * product.0);
            // The inverse is the transform of the conjugate, up to length and conjugation.
            buffer[k] = (value.0, -value.1);
            buffer[opposite] = value;
        }
        buffer[0].1 = -buffer[0].1;
        buffer[n / 2].1 = -buffer[n / 2].1;
        self.transform(buffer);
        for (k, a) in a.iter_mut().enumerate() {
            *a = (buffer[k].0 + buffer[k + self.length].0) / n as f64;
        }
    }

    fn transform(&self, z: &mut [(f64, f64)]) {
        let n = self.size;
        let shift = usize::BITS - n.trailing_zeros();
        for k in 0..n {
            let transposed = k.reverse_bits() >> shift;
            if k < transposed {
                z.swap(k, transposed);
            }
        }
        let mut half = 1;
        while half < n {
            let stride = n / (2 * half);
            for pair in z.chunks_exact_mut(2 * half) {
                let (low, high) = pair.split_at_mut(half);
                for (k, (a, b)) in low.iter_mut().zip(high).enumerate() {
                    let (c, s) = self.twiddles[k * stride];
                    let t = (b.0 * c - b.1 * s, b.0 * s + b.1 * c);
                    *b = (a.0 - t.0, a.1 - t.1);
                    *a = (a.0 + t.0, a.1 + t.1);
                }
            }
            half *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn convolutions_of_any_length_match_the_definition() {
        for length in [1, 2, 3, 7, 8, 100, 129] {
            let a: Vec<f64> = (0..length).map(|i| ((i * 37 + 11) % 17) as f64 - 8.0).collect();
            let b: Vec<f64> = (0..length).map(|i| ((i * 53 + 5) % 13) as f64 - 6.0).collect();
            let mut found = a.clone();

            CircularConvolution::new(length).convolve(&mut found, &b, &mut Vec::new());

            for (k, found) in found.iter().enumerate() {
                let sum: f64 = (0..length).map(|i| a[i] * b[(k + length - i) % length]).sum();
                assert!((found - sum).abs() < 1e-10, "{length}: {found} and {sum}");
            }
        }
    }
}
