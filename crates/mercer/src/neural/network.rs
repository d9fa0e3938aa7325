//! The forward pass: `a₀ = x`, `aₗ = s(aₗ₋₁Wₗ + bₗ)` for the hidden layers; the output layer has no activation function.

use super::activation::Activation;
use super::architecture::Architecture;
use mercer_num::linalg::add_matrix_product;
use mercer_num::parallel::prelude::*;
use mercer_num::simd::add_table_rows;
use mercer_num::{Matrix, Rows};
use std::ops::Range;

/// Rows that pass through the layers together.
pub(super) const ROWS_PER_PANEL: usize = 128;

/// The weights of a layer, one row per input and one column per output, and its intercepts.
#[derive(Clone, Copy)]
pub(super) struct Layer<'a> {
    pub weights: &'a [f64],
    pub intercepts: &'a [f64],
}

impl Layer<'_> {
    pub fn n_out(&self) -> usize {
        self.intercepts.len()
    }

    pub fn n_in(&self) -> usize {
        self.weights.len() / self.intercepts.len()
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
        let layer = |(coefs, intercepts): (&'a Matrix, &'a Vec<f64>)| Layer {
            weights: coefs.as_slice().expect("weights are stored by rows"),
            intercepts,
        };
        Network { activation, layers: coefs.iter().zip(intercepts).map(layer).collect() }
    }

    pub fn from_parameters(architecture: &Architecture, mut parameters: &'a [f64]) -> Network<'a> {
        let mut layers = Vec::with_capacity(architecture.n_layers());
        for pair in architecture.sizes.windows(2) {
            let (weights, rest) = parameters.split_at(pair[0] * pair[1]);
            let (intercepts, rest) = rest.split_at(pair[1]);
            layers.push(Layer { weights, intercepts });
            parameters = rest;
        }
        Network { activation: architecture.activation, layers }
    }

    /// The outputs of the last layer for every row.
    pub fn predict(&self, x: &Rows<'_>) -> Matrix {
        let m = self.layers.last().map_or(0, Layer::n_out);
        let mut out = Matrix::zeros((x.n_rows(), m));
        let cells = out.as_slice_mut().expect("a fresh matrix is contiguous");
        cells.par_chunks_mut(ROWS_PER_PANEL * m).enumerate().for_each(|(k, out)| {
            let first = k * ROWS_PER_PANEL;
            let mut activations = vec![Vec::new(); self.layers.len()];
            self.forward(x, first..first + out.len() / m, &mut activations);
            out.copy_from_slice(activations.last().expect("a network has a layer"));
        });
        out
    }

    /// Computes the activations of every layer for some rows; those of the output layer are its weighted outputs.
    pub fn forward(&self, x: &Rows<'_>, rows: Range<usize>, activations: &mut [Vec<f64>]) {
        for (l, layer) in self.layers.iter().enumerate() {
            let (before, from) = activations.split_at_mut(l);
            let outputs = &mut from[0];
            outputs.clear();
            rows.clone().for_each(|_| outputs.extend_from_slice(layer.intercepts));
            match (before.last(), x) {
                (Some(before), _) => {
                    add_matrix_product(before, layer.n_in(), layer.weights, layer.n_out(), outputs);
                }
                (None, Rows::Sparse(x)) => {
                    for (i, outputs) in rows.clone().zip(outputs.chunks_exact_mut(layer.n_out())) {
                        let (columns, values) = x.row(i);
                        add_table_rows(columns, values, layer.weights, outputs);
                    }
                }
                (None, x) => {
                    let block = x.block(rows.clone()).unwrap_or_default();
                    add_matrix_product(&block, layer.n_in(), layer.weights, layer.n_out(), outputs);
                }
            }
            if l + 1 < self.layers.len() {
                self.activation.apply(outputs);
            }
        }
    }
}
