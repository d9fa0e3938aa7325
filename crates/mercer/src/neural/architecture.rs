//! The shape of a network: how wide its layers are, where its weights begin, and how they lie in one vector.
//!
//! Weights begin evenly within `±√(6/(in + out))`, a third of that square for `logistic` (Glorot & Bengio 2010).

use super::activation::Activation;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::model::{Monitor, ParamValue, Rule};
use mercer_num::random::Random;
use mercer_num::{Matrix, Rows};
use serde::{Deserialize, Serialize};

/// Vectors as long as the weights that a search holds.
const VECTORS: u64 = 40;
/// What weights may take where nobody set a budget.
const USUAL_BYTES: u64 = 16 << 30;

/// How wide layers are: one, or several in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Sizes {
    /// One layer.
    One(usize),
    /// Layers in order.
    Each(Vec<usize>),
}

impl Sizes {
    /// The widths in order.
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

/// The shape of a network, and what its loss is made of beside the rows.
pub(super) struct Architecture {
    /// Columns, the widths of the layers between, outputs.
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
        let needed = weights.saturating_mul(8 * VECTORS);
        monitor.reserve_within("the weights of the layers", needed, USUAL_BYTES)?;
        if let Rows::Sparse(x) = data.rows() {
            let n_cells: usize = x.iter().map(|(columns, _)| columns.len()).sum();
            let deltas = 8 * (data.n_rows() as u64).saturating_mul(sizes[1] as u64);
            let needed = (12 * n_cells as u64).saturating_add(2 * deltas);
            monitor.reserve("keeping sparse rows by columns", needed)?;
        }
        Ok(Architecture { sizes, activation, alpha })
    }

    pub fn n_layers(&self) -> usize {
        self.sizes.len() - 1
    }

    pub fn n_outputs(&self) -> usize {
        self.sizes[self.sizes.len() - 1]
    }

    pub fn n_numbers(&self) -> usize {
        self.sizes.windows(2).map(|pair| (pair[0] + 1) * pair[1]).sum()
    }

    /// Weights and constants to begin at.
    pub fn drawn(&self, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let spread = if self.activation == Activation::Logistic { 2.0 } else { 6.0 };
        let mut out = Vec::with_capacity(self.n_numbers());
        for pair in self.sizes.windows(2) {
            let bound = (spread / (pair[0] + pair[1]) as f64).sqrt();
            out.extend(
                (0..(pair[0] + 1) * pair[1]).map(|_| bound * (2.0 * random.uniform() - 1.0)),
            );
        }
        out
    }

    /// The same numbers as a model keeps them.
    pub fn split(&self, mut numbers: &[f64]) -> (Vec<Matrix>, Vec<Vec<f64>>) {
        let (mut coefs, mut intercepts) = (Vec::new(), Vec::new());
        for pair in self.sizes.windows(2) {
            let (weights, rest) = numbers.split_at(pair[0] * pair[1]);
            let (constants, rest) = rest.split_at(pair[1]);
            coefs.push(
                Matrix::from_shape_vec((pair[0], pair[1]), weights.to_vec())
                    .expect("as many weights as the layer has"),
            );
            intercepts.push(constants.to_vec());
            numbers = rest;
        }
        (coefs, intercepts)
    }

    /// The numbers of a model of this shape; `None` for one of another.
    pub fn joined(&self, coefs: &[Matrix], intercepts: &[Vec<f64>]) -> Option<Vec<f64>> {
        if coefs.len() != self.n_layers() {
            return None;
        }
        let mut out = Vec::with_capacity(self.n_numbers());
        for ((coefs, constants), pair) in coefs.iter().zip(intercepts).zip(self.sizes.windows(2)) {
            if coefs.dim() != (pair[0], pair[1]) {
                return None;
            }
            out.extend(coefs);
            // Of a class that nobody had shown, nothing is known.
            out.extend(constants.iter().map(|b| if b.is_finite() { *b } else { 0.0 }));
        }
        Some(out)
    }
}

/// Refuses layers that do not fit each other.
pub(super) fn check_layers(
    coefs: &[Matrix],
    intercepts: &[Vec<f64>],
    n_outputs: usize,
) -> Result<()> {
    let chained = coefs.windows(2).all(|pair| pair[0].ncols() == pair[1].nrows());
    let filled = coefs.iter().zip(intercepts).all(|(weights, constants)| {
        !weights.is_empty()
            && weights.ncols() == constants.len()
            && weights.is_standard_layout()
            && weights.iter().all(|v| v.is_finite())
            && constants.iter().all(|v| *v < f64::INFINITY)
            && constants.iter().any(|v| v.is_finite())
    });
    let fits = coefs.len() == intercepts.len()
        && coefs.last().is_some_and(|last| last.ncols() == n_outputs)
        && chained
        && filled;
    if fits { Ok(()) } else { Err(Error::File("layers that no fit could give".into())) }
}
