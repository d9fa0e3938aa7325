//! How the sums of a layer are bent: `s`, and its derivative from what it gave.

use crate::choice;
use mercer_num::Float;
use mercer_num::simd::exp::exp_double;

choice! {
    /// How the sums of a layer are bent.
    pub enum Activation {
        /// Not at all.
        Identity = "identity",
        /// `1 / (1 + exp(−x))`.
        Logistic = "logistic",
        /// The hyperbolic tangent.
        Tanh = "tanh",
        /// Zero below zero.
        Relu = "relu",
    }
}

impl Activation {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Activation::Identity => "identity",
            Activation::Logistic => "logistic",
            Activation::Tanh => "tanh",
            Activation::Relu => "relu",
        }
    }

    pub(super) fn bend(self, z: &mut [f64]) {
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

    /// `δ ⊙ s'`, from what `s` gave.
    pub(super) fn unbend(self, bent: &[f64], delta: &mut [f64]) {
        let both = delta.iter_mut().zip(bent);
        match self {
            Activation::Identity => {}
            Activation::Logistic => both.for_each(|(delta, a)| *delta *= a * (1.0 - a)),
            Activation::Tanh => both.for_each(|(delta, a)| *delta *= 1.0 - a * a),
            Activation::Relu => {
                both.filter(|(_, a)| **a <= 0.0).for_each(|(delta, _)| *delta = 0.0)
            }
        }
    }
}

pub(super) fn sigmoid(z: f64) -> f64 {
    let small = exp_double(-z.abs());
    if z < 0.0 { small / (1.0 + small) } else { 1.0 / (1.0 + small) }
}
