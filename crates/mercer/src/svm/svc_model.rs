//! The model of C-support vector classification.

use super::kernel_classifier::{KernelClassifier, invalid_classifier};
use super::multiclass::{DecisionShape, Multiclass, pairs};
use crate::calibrate::map::CalibrationMap;
use crate::explain::SupportExplanation;
use crate::kernel::KernelExpansion;
use crate::prelude::*;

/// A support vector classifier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SvcModel {
    /// The classes.
    pub classes: Classes,
    /// Support vectors, dual coefficients and intercepts.
    pub expansion: KernelExpansion,
    /// The number of support vectors of each class.
    pub n_support: Vec<u32>,
    /// The solver's iterations, per binary subproblem.
    pub n_iter: Vec<u64>,
    /// Whether every subproblem reached its tolerance.
    pub converged: bool,
    /// The weight of each class in the loss.
    pub class_weights: Vec<f64>,
    /// The reduction of more than two classes.
    pub multiclass: Multiclass,
    /// The shape of the decision function of more than two classes.
    pub shape: DecisionShape,
    /// Whether ties between votes are broken by the sum of the decision values.
    pub break_ties: bool,
    /// The calibration map of every decision function, if probabilities were requested.
    pub calibration: Option<Vec<CalibrationMap>>,
    /// The margin `1 / ‖w‖` of each subproblem: the distance between the hyperplane and the edge of the margin.
    #[serde(default)]
    pub margins: Vec<f64>,
    /// The slack `ξ` of each support vector, in the layout of the coefficients. Above one the row is misclassified; rows
    /// that are no support vectors have no slack.
    #[serde(default)]
    pub slacks: Matrix,
    /// Whether the kernel was approximated; the support vectors are then the landmark rows.
    #[serde(default)]
    pub approximate: bool,
}

impl SvcModel {
    fn classifier(&self) -> KernelClassifier<'_> {
        KernelClassifier {
            classes: &self.classes,
            expansion: &self.expansion,
            n_support: &self.n_support,
            multiclass: self.multiclass,
            shape: self.shape,
            break_ties: self.break_ties,
            calibration: self.calibration.as_deref(),
        }
    }

    /// The values of all decision functions. One-vs-one: one column per pair of classes, positive for the first class (for
    /// two classes, one column that is positive for the second). One-vs-rest and Crammer-Singer: one column per class.
    ///
    /// # Errors
    /// If the number of columns differs or a value is not finite.
    pub fn raw_decisions(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.classifier().raw_decisions(x)
    }

    /// Whether the model predicts probabilities.
    pub fn has_probabilities(&self) -> bool {
        self.calibration.is_some()
    }
}

/// The margin of a binary decision function.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassMargin {
    /// The first class.
    pub first: Label,
    /// The second class; `None` for all others.
    pub second: Option<Label>,
    /// `1 / ‖w‖`; `None` if `w` is zero, so that there is no margin.
    pub margin: Option<f64>,
}

impl SvcModel {
    /// The margins with the classes they are between: one per pair of observed classes (one-vs-one), or one per observed
    /// class (one-vs-rest). Empty for Crammer-Singer, which has no margins of its own.
    pub fn class_margins(&self) -> Vec<ClassMargin> {
        let observed: Vec<usize> =
            (0..self.classes.len()).filter(|c| self.n_support[*c] > 0).collect();
        let label = |c: usize| self.classes.label(c as u32).clone();
        let between: Vec<(Label, Option<Label>)> = match self.multiclass {
            Multiclass::OneVsOne => pairs(observed.len())
                .map(|(a, b)| (label(observed[a]), Some(label(observed[b]))))
                .collect(),
            _ => observed.iter().map(|c| (label(*c), None)).collect(),
        };
        if between.len() != self.margins.len() {
            return Vec::new();
        }
        let margin = |((first, second), margin): ((Label, Option<Label>), &f64)| ClassMargin {
            first,
            second,
            margin: Some(*margin).filter(|m| m.is_finite()),
        };
        between.into_iter().zip(&self.margins).map(margin).collect()
    }
}

impl Classifier for SvcModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn n_columns(&self) -> usize {
        self.expansion.n_columns
    }

    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.classifier().scores(x)
    }

    fn predict(&self, x: &Rows<'_>) -> Result<Vec<u32>> {
        self.classifier().predict(x)
    }
}

impl Probabilistic for SvcModel {
    fn log_proba(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.classifier().log_proba(x, "svc")
    }
}

impl DecisionFunction for SvcModel {
    fn decisions(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.classifier().decisions(x)
    }
}

impl SupportVectors for SvcModel {
    fn support_terms(&self, row: &[f64]) -> Result<SupportExplanation> {
        self.classifier().support_terms(self, row)
    }
}

impl Check for SvcModel {
    fn check(&self) -> Result<()> {
        self.classifier().check(&self.class_weights)?;
        let slacks_fit =
            self.slacks.is_empty() || self.slacks.dim() == self.expansion.coefficients.dim();
        let valid = slacks_fit
            && self.slacks.iter().all(|slack| slack.is_finite() && *slack >= 0.0)
            // Infinite where w = 0.
            && self.margins.iter().all(|margin| *margin > 0.0);
        if valid { Ok(()) } else { Err(invalid_classifier()) }
    }
}
