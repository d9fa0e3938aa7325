//! Linear classifier trained by stochastic gradient descent: one weight vector for two classes, one-vs-rest otherwise.

use super::descent::{SgdResult, SgdTargets, Start, minimize};
use super::duality_gap::certificate;
use super::lazy_weights::LinearWeights;
use super::loss::Loss;
use super::options::SgdSettings;
use crate::data::design_matrix::DesignMatrix;
use crate::data::{ClassWeight, ClassWeightRule};
use crate::linear::svc::check_rows;
use crate::model::{Cached, check_predictions};
use crate::prelude::*;
use mercer_num::rows::Missing;
use mercer_num::special::log_normalize;
use std::marker::PhantomData;
use std::time::Instant;

/// How a decision value becomes a probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ProbabilityLink {
    /// The logistic function.
    Sigmoid,
    /// `(clip(z, −1, 1) + 1) / 2`, for `modified_huber` (Zhang 2004).
    ClippedLinear,
    /// The loss gives no probabilities.
    None,
}

/// A linear classifier of estimator `K`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearClassifier<K> {
    /// The classes.
    pub classes: Classes,
    /// The weights, one row per class; for two classes one row, which separates the second from the first.
    pub coefficients: Matrix,
    /// The intercepts.
    pub intercepts: Vec<f64>,
    /// Epochs.
    pub n_iter: u64,
    /// The number of the next update, counted from one.
    pub t: u64,
    /// For averaged SGD: the weights of the last update, from which training continues.
    pub last: Option<LastClassifier>,
    probability_link: ProbabilityLink,
    #[serde(skip)]
    by_feature: Cached<Vec<f64>>,
    #[serde(skip)]
    kind: PhantomData<K>,
}

/// The weights after the last update, before averaging.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastClassifier {
    /// The weights, one row per output.
    pub last_coefficients: Matrix,
    /// The intercepts.
    pub last_intercepts: Vec<f64>,
}

/// The initial point of a fit.
pub(crate) enum Initialization<'a, M> {
    /// A new fit until convergence, from zero or (warm start) from the weights of a model.
    Fresh(Option<&'a M>),
    /// One more epoch from the state of a model (`partial_fit`).
    Continue(Option<&'a M>),
}

impl<K> LinearClassifier<K> {
    /// Fits the rows in memory.
    ///
    /// # Errors
    /// If the data or parameters are invalid, or the weights diverge.
    pub(crate) fn fit_in_memory(
        params: &SgdSettings,
        from: Initialization<'_, Self>,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<Self>> {
        let began = Instant::now();
        let single_epoch = matches!(from, Initialization::Continue(_));
        let (codes, classes) = data.class_target()?;
        check_rows(data)?;
        classes.check_several()?;
        let class_weights =
            class_factors(params.class_weight.as_ref(), codes, classes, single_epoch)?;
        let (width, m) = (data.n_columns(), n_outputs(classes.len()));
        let start = match from {
            Initialization::Fresh(model) => {
                Start { average: None, t: 1, ..start_from(model, classes, width, m)? }
            }
            Initialization::Continue(model) => start_from(model, classes, width, m)?,
        };
        let t = start.t;
        let options = params.options(data.rows(), single_epoch)?;
        let training =
            params.training_data(data, SgdTargets::Classes { codes, class_weights }, m, monitor)?;
        let result = minimize(&options, &training, start, monitor)?;
        let certificate = certificate(&options, &training, &result, monitor)
            .rows(data.n_rows() as u64)
            .iterations(result.epochs)
            .since(began);
        let t = t + result.epochs * data.n_rows() as u64;
        let model = LinearClassifier::from_result(result, classes, width, t, options.loss);
        Ok(Fitted { model, certificate })
    }

    /// The model of a finished descent; `t` is the number of the next update.
    pub(crate) fn from_result(
        result: SgdResult,
        classes: &Classes,
        width: usize,
        t: u64,
        loss: Loss,
    ) -> Self {
        let probability_link = match loss {
            Loss::Log => ProbabilityLink::Sigmoid,
            Loss::ModifiedHuber => ProbabilityLink::ClippedLinear,
            _ => ProbabilityLink::None,
        };
        let m = result.weights.intercepts.len();
        let to_rows = |plain: &LinearWeights| {
            Matrix::from_shape_fn((m, width), |(k, j)| plain.coefficients[j * m + k])
        };
        let fitted = result.fitted();
        let last = result.average.is_some().then(|| LastClassifier {
            last_coefficients: to_rows(&result.weights),
            last_intercepts: result.weights.intercepts.clone(),
        });
        LinearClassifier {
            classes: classes.clone(),
            coefficients: to_rows(fitted),
            intercepts: fitted.intercepts.clone(),
            n_iter: result.epochs,
            t,
            last,
            probability_link,
            by_feature: Cached::default(),
            kind: PhantomData,
        }
    }

    /// Whether the loss gives probabilities: `log_loss` and `modified_huber` do.
    pub fn has_probabilities(&self) -> bool {
        self.probability_link != ProbabilityLink::None
    }

    fn by_feature(&self) -> Vec<f64> {
        let mut weights: Vec<f64> = self.coefficients.t().iter().copied().collect();
        weights.extend(&self.intercepts);
        weights
    }
}

/// The zero weights of `m` n_outputs before the first update.
pub(crate) fn zero_start(width: usize, m: usize) -> Start {
    let weights = LinearWeights { coefficients: vec![0.0; width * m], intercepts: vec![0.0; m] };
    Start { weights, average: None, t: 1 }
}

/// The state of a model.
fn start_from<K>(
    model: Option<&LinearClassifier<K>>,
    classes: &Classes,
    width: usize,
    m: usize,
) -> Result<Start> {
    let Some(model) = model else { return Ok(zero_start(width, m)) };
    if model.coefficients.ncols() != width {
        return Err(Error::Columns { found: width, expected: model.coefficients.ncols() });
    }
    if &model.classes != classes {
        return Err(Error::Merge { why: "the classes differ from those of the model".into() });
    }
    let by_feature = |coefficients: &Matrix, intercepts: &[f64]| LinearWeights {
        coefficients: coefficients.t().iter().copied().collect(),
        intercepts: intercepts.to_vec(),
    };
    let reported = by_feature(&model.coefficients, &model.intercepts);
    Ok(match &model.last {
        Some(last) => {
            let weights = by_feature(&last.last_coefficients, &last.last_intercepts);
            Start { weights, average: Some(reported), t: model.t }
        }
        None => Start { weights: reported, average: None, t: model.t },
    })
}

/// The weight of each class in the loss. `balanced` counts rows, not sample weights, as scikit-learn does.
pub(crate) fn class_factors(
    weight: Option<&ClassWeight>,
    codes: &[u32],
    classes: &Classes,
    single_epoch: bool,
) -> Result<Vec<f64>> {
    if single_epoch && weight == Some(&ClassWeight::Rule(ClassWeightRule::Balanced)) {
        return Err(Error::Parameter {
            name: "class_weight".into(),
            found: "balanced".into(),
            expected: "a weight per class if rows are learned in parts: no part knows the class frequencies".into(),
        });
    }
    let mut counts = vec![0.0; classes.len()];
    codes.iter().for_each(|c| counts[*c as usize] += 1.0);
    let class_weights = ClassWeight::factors(weight, classes, &counts)?;
    let mut present = (0..classes.len()).filter(|c| counts[*c] > 0.0);
    if let (Some(only), None, false) = (present.next(), present.next(), single_epoch) {
        return Err(Error::OneClass { class: classes.label(only as u32).to_string() });
    }
    Ok(class_weights)
}

pub(crate) fn n_outputs(n_classes: usize) -> usize {
    if n_classes == 2 { 1 } else { n_classes }
}

fn class_sign(class: usize) -> f64 {
    if class == 1 { 1.0 } else { -1.0 }
}

impl<K> Check for LinearClassifier<K> {
    fn check(&self) -> Result<()> {
        let (m, width) = self.coefficients.dim();
        let fits = |coefficients: &Matrix, intercepts: &[f64]| {
            coefficients.dim() == (m, width)
                && intercepts.len() == m
                && coefficients.iter().chain(intercepts).all(|w| w.is_finite())
        };
        let last = |last: &LastClassifier| fits(&last.last_coefficients, &last.last_intercepts);
        let fits = self.classes.len() >= 2
            && m == n_outputs(self.classes.len())
            && width >= 1
            && self.t >= 1
            && fits(&self.coefficients, &self.intercepts)
            && self.last.as_ref().is_none_or(last);
        if fits {
            Ok(())
        } else {
            Err(Error::File(
                "linear classifier with inconsistent shapes or non-finite weights".into(),
            ))
        }
    }
}

impl<K: Send + Sync> DecisionFunction for LinearClassifier<K> {
    fn decisions(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        let m = self.intercepts.len();
        let mut decisions = Matrix::zeros((x.n_rows(), m));
        let cells = decisions.as_slice_mut().expect("a fresh matrix is contiguous");
        let weights = self.by_feature.get(|| self.by_feature());
        DesignMatrix::by_rows(x, true).scores(weights, m, cells);
        if cells.iter().any(|z| !z.is_finite()) {
            crate::data::check_cells(x, Missing::Refused)?;
            check_predictions(cells, &self.intercepts)?;
        }
        Ok(decisions)
    }
}

impl<K: Send + Sync> Classifier for LinearClassifier<K> {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn n_columns(&self) -> usize {
        self.coefficients.ncols()
    }

    /// The decision value of each class; for two classes, `−z` and `z`.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        let decisions = self.decisions(x)?;
        if self.intercepts.len() > 1 {
            return Ok(decisions);
        }
        Ok(Matrix::from_shape_fn((x.n_rows(), 2), |(i, c)| class_sign(c) * decisions[[i, 0]]))
    }
}

impl<K: Send + Sync> Probabilistic for LinearClassifier<K> {
    /// One-vs-rest probabilities, normalized to sum to one (Zadrozny & Elkan 2002); uniform if all of them are zero.
    fn log_proba(&self, x: &Rows<'_>) -> Result<Matrix> {
        let mut scores = self.scores(x)?;
        let log_probability = |z: f64| match self.probability_link {
            ProbabilityLink::ClippedLinear => (0.5 * (z.clamp(-1.0, 1.0) + 1.0)).ln(),
            _ => -Loss::Log.value(1.0, z),
        };
        for mut row in scores.outer_iter_mut() {
            row.mapv_inplace(log_probability);
            if row.iter().all(|p| *p == f64::NEG_INFINITY) {
                row.fill(0.0);
            }
            if let Some(row) = row.as_slice_mut() {
                log_normalize(row);
            }
        }
        Ok(scores)
    }
}

impl<K: Send + Sync> AdditiveScores for LinearClassifier<K> {
    fn terms(&self, row: &[f64]) -> Result<(Vec<f64>, Matrix)> {
        self.scores(&Rows::from(ndarray::ArrayView1::from(row)))?;
        let k = self.classes.len();
        // For two classes, the one row of weights has sign +1 for the second class and −1 for the first.
        let part =
            |c: usize| if self.intercepts.len() == k { (c, 1.0) } else { (0, class_sign(c)) };
        let starts = (0..k).map(|c| part(c).1 * self.intercepts[part(c).0]).collect();
        let terms = Matrix::from_shape_fn((row.len(), k), |(j, c)| {
            let (k, sign) = part(c);
            sign * self.coefficients[[k, j]] * row[j]
        });
        Ok((starts, terms))
    }

    fn scores_are_log_odds(&self) -> bool {
        false
    }
}
