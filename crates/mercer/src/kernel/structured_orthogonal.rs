//! Structured orthogonal random features (Yu et al. 2016, section 4).
//!
//! `H D₃ H D₂ H D₁`, with the Hadamard matrix `H` and diagonal matrices `D` of random signs, approximates a random rotation.
//! Its product with a row costs `d log d` operations instead of `d²`.

use mercer_num::random::Random;
use mercer_num::simd::hadamard::MIN_LENGTH;
use mercer_num::{Float, Matrix};
use serde::{Deserialize, Serialize};
use std::ops::Mul;

/// The random signs, and the lengths of the directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HadamardRotation {
    /// The length of a transform: the number of columns, padded to a power of two.
    pub size: usize,
    /// The diagonals of `D₁`, `D₂` and `D₃`, for one block of features after the other.
    pub signs: Vec<f64>,
    /// The length of every direction, divided by the growth of the three unnormalized transforms.
    pub lengths: Vec<f64>,
}

/// The length that `d` columns are padded to: long enough that the transform spreads them evenly.
fn padded_length(d: usize) -> usize {
    d.next_power_of_two().max(MIN_LENGTH)
}

impl HadamardRotation {
    pub(super) fn sample(d: usize, m: usize, gamma: f64, random: &mut Random) -> HadamardRotation {
        let size = padded_length(d);
        let n_blocks = m.div_ceil(size);
        let signs = (0..3 * n_blocks * size)
            .map(|_| if random.uniform() < 0.5 { -1.0 } else { 1.0 })
            .collect();
        // Lengths are distributed as those of Gaussian directions; each unnormalized `H` grows by `√size`.
        let lengths = (0..m)
            .map(|_| {
                let square: f64 = (0..size).map(|_| random.normal().powi(2)).sum();
                (2.0 * gamma * square).sqrt() / (size as f64).powf(1.5)
            })
            .collect();
        HadamardRotation { size, signs, lengths }
    }

    /// Whether the rotation maps `d` columns to `m` features.
    pub(super) fn fits(&self, (d, m): (usize, usize)) -> bool {
        self.size == padded_length(d)
            && self.lengths.len() == m
            && self.signs.len() == 3 * m.div_ceil(self.size) * self.size
            && self.signs.iter().all(|s| s.abs() == 1.0)
            && self.lengths.iter().all(|l| l.is_finite() && *l >= 0.0)
    }

    /// The directions as a matrix: the transforms of the unit vectors.
    pub(super) fn directions(&self, d: usize) -> Matrix {
        let mut out = Matrix::zeros((d, self.lengths.len()));
        let cells = out.as_slice_mut().expect("a fresh matrix is contiguous");
        let (m, rotation) = (self.lengths.len(), self.prepare());
        let mut scratch = Vec::new();
        for (k, out) in cells.chunks_exact_mut(m).enumerate() {
            let mut unit = vec![0.0; d];
            unit[k] = 1.0;
            rotation.apply(&unit, &mut scratch, out);
        }
        out
    }

    /// The rotation in the precision `T`.
    pub(super) fn prepare<T: Float>(&self) -> PreparedRotation<T> {
        let narrow = |numbers: &[f64]| numbers.iter().map(|v| T::narrow(*v)).collect();
        PreparedRotation {
            size: self.size,
            signs: narrow(&self.signs),
            lengths: narrow(&self.lengths),
        }
    }
}

/// A [`HadamardRotation`] in one precision.
#[derive(Debug)]
pub(super) struct PreparedRotation<T> {
    size: usize,
    signs: Vec<T>,
    lengths: Vec<T>,
}

impl<T: Float + Mul<Output = T>> PreparedRotation<T> {
    /// The inner products of a row with all directions.
    pub fn apply(&self, row: &[T], scratch: &mut Vec<T>, out: &mut [T]) {
        scratch.resize(self.size, T::default());
        let blocks = out.chunks_mut(self.size).zip(self.lengths.chunks(self.size));
        for ((out, lengths), signs) in blocks.zip(self.signs.chunks_exact(3 * self.size)) {
            T::hadamard_rotate(row, signs, scratch);
            for ((out, x), length) in out.iter_mut().zip(&*scratch).zip(lengths) {
                *out = *x * *length;
            }
        }
    }
}
