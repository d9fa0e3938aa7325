//! Activation functions `s` of the hidden layers, and their derivatives as functions of the activation.

use crate::choice;
use mercer_num::Float;
use mercer_num::simd::exp::exp_double;

choice! {
    /// The activation function of the hidden layers.
    pub enum Activation {
        /// `x`.
        Identity = "identity",
        /// The logistic sigmoid `1 / (1 + exp(−x))`.
        Logistic = "logistic",
        /// The hyperbolic tangent.
        Tanh = "tanh",
        /// The rectified linear unit `max(0, x)`.
        Relu = "relu",
    }
}

impl Activation {
    /// The value of the `activation` parameter.
    pub fn word(self) -> &'static str {
        match self {
            Activation::Identity => "identity",
            Activation::Logistic => "logistic",
            Activation::Tanh => "tanh",
            Activation::Relu => "relu",
        }
    }

    /// Applies `s` to the pre-activations.
    pub(super) fn apply(self, z: &mut [f64]) {
        match self {
            Activation::Identity => {}
            Activation::Logistic => z.iter_mut().for_each(|z| *z = sigmoid(*z)),
            Activation::Tanh => {
                f64::scratch(z.len(), |sums| {
                    sums.copy_from_slice(z);
                    f64::sigmoid_kernel(sums, 1.0, 0.0, z);
                });
            }
            Activation::Relu => z.iter_mut().for_each(|z| *z = if *z > 0.0 { *z } else { 0.0 }),
        }
    }

    /// `δ ← δ ⊙ s'`, with `s'` from the activations.
    pub(super) fn multiply_by_derivative(self, activations: &[f64], delta: &mut [f64]) {
        let pairs = delta.iter_mut().zip(activations);
        match self {
            Activation::Identity => {}
            Activation::Logistic => pairs.for_each(|(delta, a)| *delta *= a * (1.0 - a)),
            Activation::Tanh => pairs.for_each(|(delta, a)| *delta *= 1.0 - a * a),
            Activation::Relu => {
                pairs.filter(|(_, a)| **a <= 0.0).for_each(|(delta, _)| *delta = 0.0)
            }
        }
    }
}

pub(super) fn sigmoid(z: f64) -> f64 {
    let small = exp_double(-z.abs());
    if z < 0.0 { small / (1.0 + small) } else { 1.0 / (1.0 + small) }
}
