//! What support vector classification learns, and what it says of rows.

use super::multiclass::{
    DecisionShape, Multiclass, Task, decision_between, pair_segments, scores, shown_pairs, votes,
};
use crate::calibrate::coupling::{DecisionLayout, log_class_probabilities};
use crate::calibrate::map::{CalibrationMap, maps_are_valid, not_calibrated};
use crate::explain::{SupportExplanation, first_two};
use crate::kernel::{KernelExpansion, Segment};
use crate::model::argmax_rows;
use crate::prelude::*;

/// Machines that tell classes apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SvcModel {
    /// The classes.
    pub classes: Classes,
    /// Support vectors, coefficients and constants.
    pub expansion: KernelExpansion,
    /// Support vectors of each class.
    pub n_support: Vec<u32>,
    /// Steps of each problem.
    pub n_iter: Vec<u64>,
    /// Whether every problem came to its tolerance.
    pub converged: bool,
    /// How much each class counted.
    pub class_weights: Vec<f64>,
    /// How many classes are made of two.
    pub multiclass: Multiclass,
    /// What decisions about many classes look like.
    pub shape: DecisionShape,
    /// Whether equal votes are told apart by the sum of decisions.
    pub break_ties: bool,
    /// For every decision the map to probabilities, where those were asked for.
    pub calibration: Option<Vec<CalibrationMap>>,
    /// How far the edge of the margin is from the boundary, `1 / ‖w‖`, for each problem.
    #[serde(default)]
    pub margins: Vec<f64>,
    /// How far each support vector is behind the edge of its side, in units of the margin, as the coefficients
    /// are laid out. Above one it is on the wrong side; rows that are no support vectors are not behind.
    #[serde(default)]
    pub slacks: Matrix,
    /// Whether a few rows stand for all: the vectors are those rows.
    #[serde(default)]
    pub approximate: bool,
}

impl SvcModel {
    fn segments(&self) -> Vec<Segment> {
        match self.multiclass {
            Multiclass::OneVsOne => pair_segments(&self.n_support),
            Multiclass::OneVsRest | Multiclass::CrammerSinger => {
                let all = 0..self.expansion.n_vectors();
                vec![Segment { vectors: all, to: (0..self.classes.len()).collect() }]
            }
        }
    }

    /// The decision of every problem: one against one, a column a pair, above zero for its first class
    /// (of two classes, for the second); one against the rest or together, a column a class.
    ///
    /// # Errors
    /// If the width differs or a cell is not finite.
    pub fn raw_decisions(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.expansion.decisions(x, &self.segments())
    }

    fn scores_of(&self, decisions: Matrix) -> Matrix {
        match (self.classes.len(), self.multiclass) {
            (2, _) => Matrix::from_shape_fn((decisions.nrows(), 2), |(i, c)| {
                if c == 0 { -decisions[[i, 0]] } else { decisions[[i, 0]] }
            }),
            (_, Multiclass::OneVsRest | Multiclass::CrammerSinger) => decisions,
            (n, Multiclass::OneVsOne) => scores(&decisions, n),
        }
    }

    /// Whether there are probabilities.
    pub fn has_probabilities(&self) -> bool {
        self.calibration.is_some()
    }

    fn log_proba_of(&self, decisions: &Matrix, maps: &[CalibrationMap]) -> Matrix {
        let about = match self.multiclass {
            _ if self.classes.len() == 2 => DecisionLayout::Binary,
            Multiclass::OneVsOne => DecisionLayout::OneVsOne,
            Multiclass::OneVsRest | Multiclass::CrammerSinger => DecisionLayout::OneVsRest,
        };
        let shown: Vec<bool> = self.n_support.iter().map(|n| *n > 0).collect();
        log_class_probabilities(decisions, maps, about, &shown)
    }

    /// Begins the problems where this model ended, shrunk into their bounds.
    pub(super) fn continue_with(
        &self,
        picks: &[u32],
        ranges: &[std::ops::Range<usize>],
        tasks: &mut [Task],
    ) {
        let n = ranges.len();
        let sign = if n == 2 { -1.0 } else { 1.0 };
        let place: std::collections::HashMap<u32, usize> =
            self.expansion.support.iter().copied().zip(0..).collect();
        for ((a, b), task) in shown_pairs(ranges).zip(tasks) {
            let mut start = Vec::with_capacity(task.places.len());
            for k in &task.places {
                let first = ranges[a].contains(&(*k as usize));
                let row = if first { b - 1 } else { a };
                let value = place
                    .get(&picks[*k as usize])
                    .map_or(0.0, |at| sign * self.expansion.coefficients[[row, *at]]);
                start.push(value);
            }
            let bounds = task.low.iter().zip(&task.high);
            let shrink = start.iter().zip(bounds).fold(1.0f64, |shrink, (b, (low, high))| {
                let room = if *b > 0.0 { *high } else { -*low };
                if *b == 0.0 { shrink } else { shrink.min((room / b.abs()).max(0.0)) }
            });
            // Other rows than before, or none left: begin from nothing.
            let scale: f64 = start.iter().map(|b| b.abs()).sum();
            if start.iter().sum::<f64>().abs() > 1e-9 * scale || shrink == 0.0 {
                continue;
            }
            task.start = start
                .iter()
                .zip(task.low.iter().zip(&task.high))
                .map(|(b, (low, high))| (shrink * b).clamp(*low, *high))
                .collect();
        }
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
        let decisions = self.raw_decisions(x)?;
        match &self.calibration {
            Some(maps) => Ok(self.log_proba_of(&decisions, maps)),
            None => Ok(self.scores_of(decisions)),
        }
    }

    fn predict(&self, x: &Rows<'_>) -> Result<Vec<u32>> {
        let decisions = self.raw_decisions(x)?;
        let n = self.classes.len();
        if let Some(maps) = &self.calibration {
            return Ok(argmax_rows(&self.log_proba_of(&decisions, maps)));
        }
        if n > 2 && self.multiclass == Multiclass::OneVsOne && !self.break_ties {
            return Ok(argmax_rows(&votes(&decisions, n)));
        }
        Ok(argmax_rows(&self.scores_of(decisions)))
    }
}

impl Probabilistic for SvcModel {
    fn log_proba(&self, x: &Rows<'_>) -> Result<Matrix> {
        let maps = self.calibration.as_ref().ok_or_else(|| not_calibrated("svc"))?;
        Ok(self.log_proba_of(&self.raw_decisions(x)?, maps))
    }
}

impl DecisionFunction for SvcModel {
    fn decisions(&self, x: &Rows<'_>) -> Result<Matrix> {
        let decisions = self.raw_decisions(x)?;
        if self.classes.len() == 2 || self.shape == DecisionShape::OneVsOne {
            return Ok(decisions);
        }
        Ok(self.scores_of(decisions))
    }
}

impl SupportVectors for SvcModel {
    fn support_terms(&self, row: &[f64]) -> Result<SupportExplanation> {
        let (first, second) = first_two(self, &Rows::from(ndarray::ArrayView1::from(row)))?;
        let sum = match self.multiclass {
            Multiclass::OneVsRest | Multiclass::CrammerSinger if self.classes.len() > 2 => {
                vec![(first, 1.0), (second, -1.0)]
            }
            _ => vec![decision_between(self.classes.len(), first, second)],
        };
        let told = self.expansion.explain(row, &self.segments(), &sum)?;
        Ok(told.between(self, (first, second)))
    }
}

impl Check for SvcModel {
    fn check(&self) -> Result<()> {
        self.expansion.check()?;
        let n = self.classes.len();
        let (rows, decisions) = match self.multiclass {
            Multiclass::OneVsOne => (n.saturating_sub(1), n * n.saturating_sub(1) / 2),
            Multiclass::OneVsRest | Multiclass::CrammerSinger => (n, n),
        };
        let total: u64 = self.n_support.iter().map(|n| u64::from(*n)).sum();
        let fits = n >= 2
            && self.n_support.len() == n
            && total == self.expansion.n_vectors() as u64
            && self.expansion.coefficients.nrows() == rows
            && self.expansion.intercepts.len() == decisions
            && self.class_weights.len() == n
            && self.class_weights.iter().all(|w| w.is_finite() && *w >= 0.0)
            && (self.slacks.is_empty() || self.slacks.dim() == self.expansion.coefficients.dim())
            && maps_are_valid(self.calibration.as_deref(), decisions);
        if fits { Ok(()) } else { Err(Error::File("a classifier that no rows could have".into())) }
    }
}
