//! Rows judged by the models that never saw them.

use super::stream::{AssignedRows, Labels, Training};
use crate::catalog::AnyModel;
use crate::data::{Classes, Stream};
use crate::decision::Densities;
use crate::error::Result;
use crate::evaluate::{Evaluation, Information, RegressionEvaluation};
use crate::model::{Fitted, Monitor};
use mercer_num::Matrix;
use mercer_num::parallel;
use mercer_num::special::log_normalize;
use ndarray::ArrayViewMut1;

/// Rows whose factors are looked at to find the most telling columns, and factors looked at in all.
const TELLING_ROWS: u64 = 20_000;
const TELLING_FACTORS: u64 = 100_000_000;

/// Held-out rows, judged.
pub(crate) struct HeldOutScores {
    pub classes: Evaluation,
    pub numbers: RegressionEvaluation,
    pub information: Information,
    pub densities: Densities,
}

/// What the models that never saw them say about the rows of a batch.
pub(crate) struct Judged {
    pub classes: Evaluation,
    pub numbers: Vec<(Vec<f64>, Vec<f64>)>,
    /// How far inside each is, by a model that knows strangers.
    pub inside: Vec<f64>,
    pub information: Information,
    pub densities: Densities,
}

impl Training<'_> {
    /// Reads the stream again and lets every row be judged by the model that never saw it.
    pub(crate) fn judge<S: Stream>(
        &self,
        models: &[Option<Fitted<AnyModel>>],
        stream: &S,
        labels: Labels,
        monitor: &Monitor<'_>,
        n_rows: u64,
    ) -> std::result::Result<Option<HeldOutScores>, S::Error> {
        let classes = self.task.classes();
        let mut judgement = HeldOutScores {
            classes: Evaluation::new(&classes),
            numbers: RegressionEvaluation::default(),
            information: Information::default(),
            densities: Densities::default(),
        };
        let mut stopped = None;
        let factors = (self.features.n_features() * self.task.n_classes()).max(1) as u64;
        let telling = TELLING_ROWS.min(TELLING_FACTORS / factors).max(1);
        let stride = n_rows.div_ceil(telling).max(1) as usize;
        let piece = self.piece();
        self.each_wave(stream, (labels, 1), monitor, &mut stopped, |wave, first_row| {
            let judged = parallel::map(wave.len(), |k| {
                let first = first_row as usize + k * piece;
                judge_batch((&wave[k], first), models, &classes, stride)
                    .map_err(|e| e.after_rows(first))
            })?;
            for batch in judged {
                judgement.classes.merge(&batch.classes);
                for (numbers, predicted) in batch.numbers {
                    judgement.numbers.push(&numbers, &predicted);
                }
                judgement.information.merge(&batch.information);
                judgement.densities.merge(&batch.densities);
            }
            Ok(())
        })?;
        Ok(stopped.is_none().then_some(judgement))
    }
}

/// Lets every fold's rows be judged by the model that never saw them; `first` rows came before.
pub(crate) fn judge_batch(
    (batch, first): (&AssignedRows, usize),
    models: &[Option<Fitted<AnyModel>>],
    classes: &Classes,
    stride: usize,
) -> Result<Judged> {
    let mut judged = Judged {
        classes: Evaluation::new(classes),
        numbers: Vec::new(),
        inside: Vec::new(),
        information: Information::default(),
        densities: Densities::default(),
    };
    for (places, model) in batch.places.iter().zip(models) {
        let Some(model) = model else { continue };
        let part = batch.rows.select(places);
        let rows = part.rows();
        let able = model.as_model();
        match (able.probabilistic(), able.generative()) {
            // Scores that are joint likelihoods give both at once.
            (Some(_), Some(model)) if able.factorized_likelihood().is_some() => {
                let (log_proba, densities) = split(model.log_joint(&rows)?);
                judged.classes.push(&part.codes, &log_proba);
                judged.densities.merge(&Densities::of(&densities));
            }
            (Some(model), generative) => {
                judged.classes.push(&part.codes, &model.log_proba(&rows)?);
                if let Some(model) = generative {
                    judged.densities.merge(&Densities::of(&model.log_density(&rows)?));
                }
            }
            (None, _) => {
                if let Some(model) = able.classifier() {
                    judged.classes.push_predictions(&part.codes, &model.predict(&rows)?);
                }
            }
        }
        if let Some(model) = model.as_model().regressor() {
            judged.numbers.push((part.numbers.clone(), model.predict(&rows)?));
        }
        if let Some(model) = model.as_model().outlier_detector() {
            judged.inside.extend(model.inlier_scores(&rows)?);
        }
        if let Some(model) = model.as_model().factorized_likelihood() {
            let telling = |i: &usize| (first + places[*i]).is_multiple_of(stride);
            let some: Vec<usize> = (0..places.len()).filter(telling).collect();
            let some = part.select(&some);
            judged.information.push(model, &some.rows(), &some.codes)?;
        }
    }
    Ok(judged)
}

/// Joint log-likelihoods as `log P(class | row)` and `log p(row)`.
fn split(mut joint: Matrix) -> (Matrix, Vec<f64>) {
    let normalize =
        |mut row: ArrayViewMut1<'_, f64>| row.as_slice_mut().map_or(f64::NAN, log_normalize);
    let densities = joint.outer_iter_mut().map(normalize).collect();
    (joint, densities)
}
