//! The architecture of a network: layer sizes, weight initialization, and the layout of all weights in one vector.
//!
//! Initial weights are uniform in `±√(6/(in + out))`, or `±√(2/(in + out))` for `logistic` (Glorot & Bengio 2010).

use super::activation::Activation;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::model::{Monitor, ParamValue, Rule};
use mercer_num::random::Random;
use mercer_num::{Matrix, Rows};
use serde::{Deserialize, Serialize};

/// Vectors of the length of the weights that L-BFGS stores.
const WORKING_VECTORS: u64 = 40;
/// The memory limit of the weights without a memory budget.
const DEFAULT_WEIGHT_BYTES: u64 = 16 << 30;

/// Hidden layer sizes: one layer, or several in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Sizes {
    /// One layer.
    One(usize),
    /// Layers in order.
    Each(Vec<usize>),
}

impl Sizes {
    /// The sizes in order.
    pub fn all(&self) -> &[usize] {
        match self {
            Sizes::One(size) => std::slice::from_ref(size),
            Sizes::Each(sizes) => sizes,
        }
    }
}

impl From<usize> for Sizes {
    fn from(size: usize) -> Sizes {
        Sizes::One(size)
    }
}

impl<const N: usize> From<[usize; N]> for Sizes {
    fn from(sizes: [usize; N]) -> Sizes {
        Sizes::Each(sizes.to_vec())
    }
}

impl ParamValue for Sizes {
    const TYPE: &'static str = "int or list of int";

    fn obeys(&self, rule: Rule) -> bool {
        self.all().iter().all(|size| size.obeys(rule))
    }
}

/// The architecture of a network, and its regularization strength.
pub(super) struct Architecture {
    /// The number of columns, the hidden layer sizes, the number of outputs.
    pub sizes: Vec<usize>,
    pub activation: Activation,
    pub alpha: f64,
}

impl Architecture {
    /// # Errors
    /// If the weights would take more memory than allowed.
    pub fn new(
        data: &Dataset<'_>,
        hidden: &Sizes,
        n_outputs: usize,
        activation: Activation,
        alpha: f64,
        monitor: &Monitor<'_>,
    ) -> Result<Architecture> {
        let mut sizes = vec![data.n_columns()];
        sizes.extend(hidden.all());
        sizes.push(n_outputs);
        let weights = sizes.windows(2).fold(0u64, |sum, pair| {
            let some = (pair[0] as u64 + 1).saturating_mul(pair[1] as u64);
            sum.saturating_add(some)
        });
        let needed = weights.saturating_mul(8 * WORKING_VECTORS);
        monitor.reserve_within("the weights of the layers", needed, DEFAULT_WEIGHT_BYTES)?;
        if let Rows::Sparse(x) = data.rows() {
            let n_cells: usize = x.iter().map(|(columns, _)| columns.len()).sum();
            let deltas = 8 * (data.n_rows() as u64).saturating_mul(sizes[1] as u64);
            let needed = (12 * n_cells as u64).saturating_add(2 * deltas);
            monitor.reserve("storing sparse columns", needed)?;
        }
        Ok(Architecture { sizes, activation, alpha })
    }

    pub fn n_layers(&self) -> usize {
        self.sizes.len() - 1
    }

    pub fn n_outputs(&self) -> usize {
        self.sizes[self.sizes.len() - 1]
    }

    pub fn n_parameters(&self) -> usize {
        self.sizes.windows(2).map(|pair| (pair[0] + 1) * pair[1]).sum()
    }

    /// Random initial weights and intercepts.
    pub fn initial_weights(&self, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let spread = if self.activation == Activation::Logistic { 2.0 } else { 6.0 };
        let mut out = Vec::with_capacity(self.n_parameters());
        for pair in self.sizes.windows(2) {
            let bound = (spread / (pair[0] + pair[1]) as f64).sqrt();
            out.extend(
                (0..(pair[0] + 1) * pair[1]).map(|_| bound * (2.0 * random.uniform() - 1.0)),
            );
        }
        out
    }

    /// Splits the parameter vector into the weights and intercepts of each layer.
    pub fn split(&self, mut parameters: &[f64]) -> (Vec<Matrix>, Vec<Vec<f64>>) {
        let (mut coefs, mut intercepts) = (Vec::new(), Vec::new());
        for pair in self.sizes.windows(2) {
            let (weights, rest) = parameters.split_at(pair[0] * pair[1]);
            let (layer_intercepts, rest) = rest.split_at(pair[1]);
            coefs.push(
                Matrix::from_shape_vec((pair[0], pair[1]), weights.to_vec())
                    .expect("as many weights as the layer has"),
            );
            intercepts.push(layer_intercepts.to_vec());
            parameters = rest;
        }
        (coefs, intercepts)
    }

    /// The parameter vector of a model of this architecture; `None` if its architecture differs.
    pub fn flatten(&self, coefs: &[Matrix], intercepts: &[Vec<f64>]) -> Option<Vec<f64>> {
        if coefs.len() != self.n_layers() {
            return None;
        }
        let mut out = Vec::with_capacity(self.n_parameters());
        for ((coefs, intercepts), pair) in coefs.iter().zip(intercepts).zip(self.sizes.windows(2)) {
            if coefs.dim() != (pair[0], pair[1]) {
                return None;
            }
            out.extend(coefs);
            // A class without training rows has the intercept −∞ in the model.
            out.extend(intercepts.iter().map(|b| if b.is_finite() { *b } else { 0.0 }));
        }
        Some(out)
    }
}

/// Refuses layers of inconsistent shapes or with non-finite weights.
pub(super) fn check_layers(
    coefs: &[Matrix],
    intercepts: &[Vec<f64>],
    n_outputs: usize,
) -> Result<()> {
    let shapes_match = coefs.windows(2).all(|pair| pair[0].ncols() == pair[1].nrows());
    let valid = coefs.iter().zip(intercepts).all(|(weights, intercepts)| {
        !weights.is_empty()
            && weights.ncols() == intercepts.len()
            && weights.is_standard_layout()
            && weights.iter().all(|v| v.is_finite())
            && intercepts.iter().all(|v| *v < f64::INFINITY)
            && intercepts.iter().any(|v| v.is_finite())
    });
    let fits = coefs.len() == intercepts.len()
        && coefs.last().is_some_and(|last| last.ncols() == n_outputs)
        && shapes_match
        && valid;
    if fits {
        Ok(())
    } else {
        Err(Error::File("network layers with inconsistent shapes or non-finite weights".into()))
    }
}
