//! A prediction of a kernel expansion as a sum over support vectors.
//!
//! `f(x) = Σᵢ βᵢ K(xᵢ, x) + b`, over the support vectors `xᵢ`.

use super::ranked_by;
use crate::data::Label;
use crate::error::Result;
use crate::model::Classifier;
use mercer_num::Rows;
use serde::Serialize;

/// The value of a kernel expansion at one row, as a sum over support vectors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SupportExplanation {
    /// The kernel, as a formula.
    pub kernel: String,
    /// For a classifier, the predicted class and the runner-up: positive terms favor the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<[Label; 2]>,
    /// For a classifier, what the predicted class was chosen by. The sum below is one of the binary decision values and
    /// need not favor the predicted class if votes or calibrated probabilities decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// `b`.
    pub intercept: f64,
    /// One entry per support vector with a nonzero coefficient, in the order of the model.
    pub support_vectors: Vec<SupportVectorTerm>,
    /// `f(x)`; exactly zero if it is zero to the rounding of the model's kernel values.
    pub sum: f64,
}

/// What a classifier chose its class by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Decision {
    /// The criterion.
    pub by: DecidedBy,
    /// Its values for the predicted class and for the runner-up.
    pub values: [f64; 2],
}

/// The criterion of a decision between classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum DecidedBy {
    /// The most probable class by calibrated probabilities.
    #[serde(rename = "calibrated probabilities")]
    Probabilities,
    /// The class with most one-vs-one votes, ties by class order or by the sum of the decision values.
    #[serde(rename = "votes")]
    Votes,
    /// The class with the highest decision value.
    #[serde(rename = "decision values")]
    DecisionValues,
}

/// The term of one support vector.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SupportVectorTerm {
    /// Its index among the training rows, counted from zero.
    pub row: u32,
    /// `βᵢ`.
    pub coefficient: f64,
    /// `K(xᵢ, x)`.
    pub kernel: f64,
    /// `βᵢ K(xᵢ, x)`.
    pub term: f64,
}

impl SupportExplanation {
    /// The terms by magnitude, the largest first.
    pub fn ranked_contributions(&self) -> Vec<&SupportVectorTerm> {
        ranked_by(self.support_vectors.iter().collect(), |s| s.term)
    }

    /// The same explanation, for one class against another.
    pub(crate) fn between(self, model: &dyn Classifier, (first, second): (usize, usize)) -> Self {
        let label = |c: usize| model.classes().label(c as u32).clone();
        SupportExplanation { between: Some([label(first), label(second)]), ..self }
    }

    /// The same explanation, with the criterion of the decision.
    pub(crate) fn decided_by(self, by: DecidedBy, values: [f64; 2]) -> Self {
        SupportExplanation { decision: Some(Decision { by, values }), ..self }
    }
}

/// The predicted class of a row and the class with the next highest score.
pub(crate) fn first_two(model: &dyn Classifier, x: &Rows<'_>) -> Result<(usize, usize)> {
    let first = model.predict(x)?.first().map_or(0, |c| *c as usize);
    let scores = model.scores(x)?;
    let others = (0..scores.ncols()).filter(|c| *c != first);
    // Ties go to the class with the lower code.
    let second = others.max_by(|a, b| scores[[0, *a]].total_cmp(&scores[[0, *b]]).then(b.cmp(a)));
    Ok((first, second.unwrap_or(first)))
}
