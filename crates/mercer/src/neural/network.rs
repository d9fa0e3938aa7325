//! The layers of a network, and what they make of rows.
//!
//! `a₀ = x`, `aₗ = s(aₗ₋₁Wₗ + bₗ)` up to the last layer, which is not bent.

use super::activation::Activation;
use super::architecture::Architecture;
use mercer_num::linalg::add_matrix_product;
use mercer_num::simd::add_table_rows;
use mercer_num::{Matrix, Rows};
use rayon::prelude::*;
use std::ops::Range;

/// Rows that go through the layers together.
pub(super) const PANEL: usize = 128;

/// The weights of a layer: a row for each number that comes in, a column for each that goes out.
#[derive(Clone, Copy)]
pub(super) struct Layer<'a> {
    pub weights: &'a [f64],
    pub constants: &'a [f64],
}

impl Layer<'_> {
    pub fn n_out(&self) -> usize {
        self.constants.len()
    }

    pub fn n_in(&self) -> usize {
        self.weights.len() / self.constants.len()
    }
}

/// The layers of a model.
pub(super) struct Network<'a> {
    pub activation: Activation,
    pub layers: Vec<Layer<'a>>,
}

impl<'a> Network<'a> {
    pub fn new(
        activation: Activation,
        coefs: &'a [Matrix],
        intercepts: &'a [Vec<f64>],
    ) -> Network<'a> {
        let layer = |(coefs, constants): (&'a Matrix, &'a Vec<f64>)| Layer {
            weights: coefs.as_slice().expect("weights are kept by rows"),
            constants,
        };
        Network { activation, layers: coefs.iter().zip(intercepts).map(layer).collect() }
    }

    pub fn of_numbers(plan: &Architecture, mut numbers: &'a [f64]) -> Network<'a> {
        let mut layers = Vec::with_capacity(plan.n_layers());
        for pair in plan.sizes.windows(2) {
            let (weights, rest) = numbers.split_at(pair[0] * pair[1]);
            let (constants, rest) = rest.split_at(pair[1]);
            layers.push(Layer { weights, constants });
            numbers = rest;
        }
        Network { activation: plan.activation, layers }
    }

    /// What the last layer says of every row.
    pub fn outputs(&self, x: &Rows<'_>) -> Matrix {
        let m = self.layers.last().map_or(0, Layer::n_out);
        let mut out = Matrix::zeros((x.n_rows(), m));
        let cells = out.as_slice_mut().expect("a fresh matrix is contiguous");
        cells.par_chunks_mut(PANEL * m).enumerate().for_each(|(k, out)| {
            let first = k * PANEL;
            let mut bent = vec![Vec::new(); self.layers.len()];
            self.forward(x, first..first + out.len() / m, &mut bent);
            out.copy_from_slice(bent.last().expect("a network has a layer"));
        });
        out
    }

    /// Sends some rows through; every layer's numbers stay, the last one's not bent.
    pub fn forward(&self, x: &Rows<'_>, rows: Range<usize>, bent: &mut [Vec<f64>]) {
        for (l, layer) in self.layers.iter().enumerate() {
            let (before, from) = bent.split_at_mut(l);
            let sums = &mut from[0];
            sums.clear();
            rows.clone().for_each(|_| sums.extend_from_slice(layer.constants));
            match (before.last(), x) {
                (Some(before), _) => {
                    add_matrix_product(before, layer.n_in(), layer.weights, layer.n_out(), sums);
                }
                (None, Rows::Sparse(x)) => {
                    for (i, sums) in rows.clone().zip(sums.chunks_exact_mut(layer.n_out())) {
                        let (columns, values) = x.row(i);
                        add_table_rows(columns, values, layer.weights, sums);
                    }
                }
                (None, x) => {
                    let block = x.block(rows.clone()).unwrap_or_default();
                    add_matrix_product(&block, layer.n_in(), layer.weights, layer.n_out(), sums);
                }
            }
            if l + 1 < self.layers.len() {
                self.activation.bend(sums);
            }
        }
    }
}
