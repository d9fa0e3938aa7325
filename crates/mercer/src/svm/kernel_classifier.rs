//! Prediction with binary kernel decision functions: what the models of C-SVC and ν-SVC have in common.

use super::multiclass::{
    DecisionShape, Multiclass, decision_between, pair_segments, vote_scores, votes,
};
use crate::calibrate::coupling::{DecisionLayout, log_class_probabilities};
use crate::calibrate::map::{CalibrationMap, maps_are_valid, not_calibrated};
use crate::explain::{DecidedBy, SupportExplanation, first_two};
use crate::kernel::{KernelExpansion, Segment};
use crate::model::argmax_rows;
use crate::prelude::*;

/// Decision values that are computed before they are reduced to one value per class.
const MAX_DECISIONS_PER_BLOCK: usize = 1 << 24;

/// The decision functions of a fitted classifier, borrowed from its model.
pub(super) struct KernelClassifier<'m> {
    pub classes: &'m Classes,
    pub expansion: &'m KernelExpansion,
    pub n_support: &'m [u32],
    pub multiclass: Multiclass,
    pub shape: DecisionShape,
    pub break_ties: bool,
    pub calibration: Option<&'m [CalibrationMap]>,
}

impl KernelClassifier<'_> {
    fn segments(&self) -> Vec<Segment> {
        match self.multiclass {
            Multiclass::OneVsOne => pair_segments(self.n_support),
            Multiclass::OneVsRest | Multiclass::CrammerSinger => vec![Segment {
                vectors: 0..self.expansion.n_vectors(),
                to: (0..self.classes.len()).collect(),
            }],
        }
    }

    /// The values of all binary decision functions.
    pub fn raw_decisions(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.expansion.decisions(x, &self.segments())
    }

    /// Applies `map` to the decision values of blocks of rows: those of all pairs of many classes would not fit in
    /// memory at once.
    fn by_blocks<T>(
        &self,
        x: &Rows<'_>,
        mut map: impl FnMut(Matrix) -> T,
        mut add: impl FnMut(T),
    ) -> Result<()> {
        let segments = self.segments();
        let n_rows = (MAX_DECISIONS_PER_BLOCK / self.expansion.intercepts.len().max(1)).max(1);
        // One block even if there are no rows, so that the number of columns is checked.
        for first in (0..x.n_rows().max(1)).step_by(n_rows) {
            let block = x.slice(first..(first + n_rows).min(x.n_rows()));
            add(map(self.expansion.decisions(&block, &segments)?));
        }
        Ok(())
    }

    /// The matrix of `map` for all rows, from blocks of rows.
    fn matrix_by_blocks(&self, x: &Rows<'_>, map: impl Fn(Matrix) -> Matrix) -> Result<Matrix> {
        let mut blocks = Vec::new();
        self.by_blocks(x, map, |block| blocks.push(block))?;
        if blocks.len() == 1 {
            return Ok(blocks.remove(0));
        }
        let views: Vec<_> = blocks.iter().map(|block| block.view()).collect();
        Ok(ndarray::concatenate(ndarray::Axis(0), &views).expect("blocks of equal width"))
    }

    /// One score per class from the binary decision values.
    fn class_scores(&self, decisions: Matrix) -> Matrix {
        match (self.classes.len(), self.multiclass) {
            (2, _) => Matrix::from_shape_fn((decisions.nrows(), 2), |(i, c)| {
                if c == 0 { -decisions[[i, 0]] } else { decisions[[i, 0]] }
            }),
            (_, Multiclass::OneVsRest | Multiclass::CrammerSinger) => decisions,
            (n, Multiclass::OneVsOne) => vote_scores(&decisions, n),
        }
    }

    fn log_probabilities(&self, decisions: &Matrix, maps: &[CalibrationMap]) -> Matrix {
        let layout = match self.multiclass {
            _ if self.classes.len() == 2 => DecisionLayout::Binary,
            Multiclass::OneVsOne => DecisionLayout::OneVsOne,
            Multiclass::OneVsRest | Multiclass::CrammerSinger => DecisionLayout::OneVsRest,
        };
        let observed: Vec<bool> = self.n_support.iter().map(|n| *n > 0).collect();
        log_class_probabilities(decisions, maps, layout, &observed)
    }

    /// Log-probabilities if the model is calibrated, class scores otherwise.
    pub fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.matrix_by_blocks(x, |decisions| match self.calibration {
            Some(maps) => self.log_probabilities(&decisions, maps),
            None => self.class_scores(decisions),
        })
    }

    pub fn predict(&self, x: &Rows<'_>) -> Result<Vec<u32>> {
        let n = self.classes.len();
        let classes_of = |decisions: Matrix| {
            if let Some(maps) = self.calibration {
                return argmax_rows(&self.log_probabilities(&decisions, maps));
            }
            if n > 2 && self.multiclass == Multiclass::OneVsOne && !self.break_ties {
                return argmax_rows(&votes(&decisions, n));
            }
            argmax_rows(&self.class_scores(decisions))
        };
        let mut classes = Vec::with_capacity(x.n_rows());
        self.by_blocks(x, classes_of, |block| classes.extend(block))?;
        Ok(classes)
    }

    pub fn log_proba(&self, x: &Rows<'_>, estimator: &str) -> Result<Matrix> {
        let maps = self.calibration.ok_or_else(|| not_calibrated(estimator))?;
        self.matrix_by_blocks(x, |decisions| self.log_probabilities(&decisions, maps))
    }

    /// The decision function in the requested shape.
    pub fn decisions(&self, x: &Rows<'_>) -> Result<Matrix> {
        if self.classes.len() == 2 || self.shape == DecisionShape::OneVsOne {
            return self.raw_decisions(x);
        }
        self.matrix_by_blocks(x, |decisions| self.class_scores(decisions))
    }

    /// The decision between the two most likely classes of a row as a sum over support vectors.
    pub fn support_terms(
        &self,
        model: &impl Classifier,
        row: &[f64],
    ) -> Result<SupportExplanation> {
        let (first, second) = first_two(model, &Rows::from(ndarray::ArrayView1::from(row)))?;
        let sum = match self.multiclass {
            Multiclass::OneVsRest | Multiclass::CrammerSinger if self.classes.len() > 2 => {
                vec![(first, 1.0), (second, -1.0)]
            }
            _ => vec![decision_between(self.classes.len(), first, second)],
        };
        let explanation = self.expansion.explain(row, &self.segments(), &sum)?;
        let (by, values) = self.decision(&Rows::from(ndarray::ArrayView1::from(row)))?;
        let values = [values[[0, first]], values[[0, second]]];
        Ok(explanation.between(model, (first, second)).decided_by(by, values))
    }

    /// What the predicted class is chosen by, and its value for every class.
    fn decision(&self, x: &Rows<'_>) -> Result<(DecidedBy, Matrix)> {
        let decisions = self.raw_decisions(x)?;
        let n = self.classes.len();
        Ok(match self.calibration {
            Some(maps) => {
                let probabilities = self.log_probabilities(&decisions, maps).mapv(f64::exp);
                (DecidedBy::Probabilities, probabilities)
            }
            None if n > 2 && self.multiclass == Multiclass::OneVsOne => {
                (DecidedBy::Votes, votes(&decisions, n))
            }
            None => (DecidedBy::DecisionValues, self.class_scores(decisions)),
        })
    }

    /// Refuses parts whose sizes do not fit together, for models that come from a file.
    pub fn check(&self, class_weights: &[f64]) -> Result<()> {
        self.expansion.check()?;
        let n = self.classes.len();
        let (rows, decisions) = match self.multiclass {
            Multiclass::OneVsOne => (n.saturating_sub(1), n * n.saturating_sub(1) / 2),
            Multiclass::OneVsRest | Multiclass::CrammerSinger => (n, n),
        };
        let total: u64 = self.n_support.iter().map(|n| u64::from(*n)).sum();
        let valid = n >= 2
            && self.n_support.len() == n
            && total == self.expansion.n_vectors() as u64
            && self.expansion.coefficients.nrows() == rows
            && self.expansion.intercepts.len() == decisions
            && class_weights.len() == n
            && class_weights.iter().all(|w| w.is_finite() && *w >= 0.0)
            && maps_are_valid(self.calibration, decisions);
        if valid { Ok(()) } else { Err(invalid_classifier()) }
    }
}

/// The error for a classifier whose parts do not fit together.
pub(super) fn invalid_classifier() -> Error {
    Error::File("the parts of a support vector classifier do not fit together".into())
}
