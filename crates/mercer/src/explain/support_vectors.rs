//! An answer told row by row: what each row that a kernel machine keeps adds to it.
//!
//! `f(x) = Σᵢ βᵢ K(xᵢ, x) + b`, over the support vectors `xᵢ`.

use crate::data::Label;
use crate::error::Result;
use crate::model::Classifier;
use mercer_num::Rows;
use serde::Serialize;

/// Why a row got its answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SupportExplanation {
    /// The kernel, as a formula.
    pub kernel: String,
    /// The class that wins and the one that comes second, where there are classes: what is above zero speaks
    /// for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<[Label; 2]>,
    /// `b`.
    pub intercept: f64,
    /// One entry for every row with a part in the sum, in the order they are kept.
    pub supports: Vec<Support>,
    /// `f(x)`.
    pub sum: f64,
}

/// What one of the rows learned from adds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Support {
    /// Its place among the rows learned from, the first being zero.
    pub row: u32,
    /// `β`.
    pub coefficient: f64,
    /// `K(xᵢ, x)`: how near it is.
    pub kernel: f64,
    /// Their product.
    pub term: f64,
}

impl SupportExplanation {
    /// What the rows add, the strongest first.
    pub fn ladder(&self) -> Vec<&Support> {
        let mut rungs: Vec<&Support> = self.supports.iter().collect();
        rungs.sort_by(|a, b| b.term.abs().total_cmp(&a.term.abs()));
        rungs
    }

    /// The same, said of two classes.
    pub(crate) fn between(self, model: &dyn Classifier, (first, second): (usize, usize)) -> Self {
        let label = |c: usize| model.classes().label(c as u32).clone();
        SupportExplanation { between: Some([label(first), label(second)]), ..self }
    }
}

/// The class that a row gets, and the next by its scores.
pub(crate) fn first_two(model: &dyn Classifier, x: &Rows<'_>) -> Result<(usize, usize)> {
    let first = model.predict(x)?.first().map_or(0, |c| *c as usize);
    let scores = model.scores(x)?;
    let others = (0..scores.ncols()).filter(|c| *c != first);
    // Ties go to the class that comes first.
    let second = others.max_by(|a, b| scores[[0, *a]].total_cmp(&scores[[0, *b]]).then(b.cmp(a)));
    Ok((first, second.unwrap_or(first)))
}
