//! Directions at right angles by signs, sums and differences: `H D₃ H D₂ H D₁`, `D` being drawn signs and `H`
//! Hadamard's matrix, turns a row nearly as evenly as directions that are drawn (Yu et al. 2016), in
//! `d log d` operations instead of `d²`.

use mercer_num::random::Random;
use mercer_num::simd::hadamard::MIN_LENGTH;
use mercer_num::{Float, Matrix};
use serde::{Deserialize, Serialize};
use std::ops::Mul;

/// The signs, and how long the directions are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HadamardRotation {
    /// How many numbers are turned at a time: the columns, and zeros up to a power of two.
    pub size: usize,
    /// The signs, `D₁`, `D₂` and `D₃` of one block of waves after the other.
    pub signs: Vec<f64>,
    /// How long every direction is, for numbers that `H` has lengthened.
    pub lengths: Vec<f64>,
}

/// How many numbers so many columns are turned among: enough that signs and sums spread them evenly.
fn turned(d: usize) -> usize {
    d.next_power_of_two().max(MIN_LENGTH)
}

impl HadamardRotation {
    pub(super) fn drawn(d: usize, m: usize, gamma: f64, random: &mut Random) -> HadamardRotation {
        let size = turned(d);
        let n_blocks = m.div_ceil(size);
        let signs = (0..3 * n_blocks * size)
            .map(|_| if random.uniform() < 0.5 { -1.0 } else { 1.0 })
            .collect();
        // As long as a direction drawn for itself; `H` lengthens by the root of the size, three times.
        let lengths = (0..m)
            .map(|_| {
                let square: f64 = (0..size).map(|_| random.normal().powi(2)).sum();
                (2.0 * gamma * square).sqrt() / (size as f64).powf(1.5)
            })
            .collect();
        HadamardRotation { size, signs, lengths }
    }

    /// Whether they are of maps of so many columns to so many waves.
    pub(super) fn fits(&self, (d, m): (usize, usize)) -> bool {
        self.size == turned(d)
            && self.lengths.len() == m
            && self.signs.len() == 3 * m.div_ceil(self.size) * self.size
            && self.signs.iter().all(|s| s.abs() == 1.0)
            && self.lengths.iter().all(|l| l.is_finite() && *l >= 0.0)
    }

    /// The directions written out: what the columns by themselves turn into.
    pub(super) fn directions(&self, d: usize) -> Matrix {
        let mut out = Matrix::zeros((d, self.lengths.len()));
        let cells = out.as_slice_mut().expect("a fresh matrix is contiguous");
        let (m, turner) = (self.lengths.len(), self.ready());
        let mut room = Vec::new();
        for (k, out) in cells.chunks_exact_mut(m).enumerate() {
            let mut unit = vec![0.0; d];
            unit[k] = 1.0;
            turner.turn(&unit, &mut room, out);
        }
        out
    }

    /// The same numbers in some precision.
    pub(super) fn ready<T: Float>(&self) -> PreparedRotation<T> {
        let narrow = |numbers: &[f64]| numbers.iter().map(|v| T::narrow(*v)).collect();
        PreparedRotation {
            size: self.size,
            signs: narrow(&self.signs),
            lengths: narrow(&self.lengths),
        }
    }
}

/// HadamardRotation ready to be used.
#[derive(Debug)]
pub(super) struct PreparedRotation<T> {
    size: usize,
    signs: Vec<T>,
    lengths: Vec<T>,
}

impl<T: Float + Mul<Output = T>> PreparedRotation<T> {
    /// The inner products of a row with all directions.
    pub fn turn(&self, row: &[T], room: &mut Vec<T>, out: &mut [T]) {
        room.resize(self.size, T::default());
        let blocks = out.chunks_mut(self.size).zip(self.lengths.chunks(self.size));
        for ((out, lengths), signs) in blocks.zip(self.signs.chunks_exact(3 * self.size)) {
            T::hadamard_rotate(row, signs, room);
            for ((out, x), length) in out.iter_mut().zip(&*room).zip(lengths) {
                *out = *x * *length;
            }
        }
    }
}
