//! Planes between classes that were found by steps: one for two classes, else one for each against the
//! others.

use super::descent::{Aims, Ended, Start, descend};
use super::duality_gap::certificate;
use super::loss::Loss;
use super::rows::Asked;
use super::weights::Plain;
use crate::data::design_matrix::DesignMatrix;
use crate::data::{ClassWeight, ClassWeightRule};
use crate::linear::svc::check_rows;
use crate::model::Cached;
use crate::prelude::*;
use mercer_num::rows::Missing;
use mercer_num::special::log_normalize;
use std::marker::PhantomData;
use std::time::Instant;

/// How a distance from a plane becomes a probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Certainty {
    /// By the logistic function.
    Sigmoid,
    /// Straight from −1 to 1 (Zhang 2004).
    Straight,
    /// It does not.
    None,
}

/// Planes of an estimator `K`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearClassifier<K> {
    /// The classes.
    pub classes: Classes,
    /// The weights, one row a class; of two classes, the second's.
    pub coefficients: Matrix,
    /// The constant terms.
    pub intercepts: Vec<f64>,
    /// Passes over the rows.
    pub n_iter: u64,
    /// Rows looked at, and one: the number of the next step.
    pub t: u64,
    /// Where the weights are means: the ones that step.
    pub last: Option<LastClassifier>,
    certainty: Certainty,
    #[serde(skip)]
    by_feature: Cached<Vec<f64>>,
    #[serde(skip)]
    kind: PhantomData<K>,
}

/// Planes as the last step left them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastClassifier {
    /// The weights, one row a plane.
    pub last_coefficients: Matrix,
    /// The constant terms.
    pub last_intercepts: Vec<f64>,
}

/// Where learning begins.
pub(crate) enum Begin<'a, M> {
    /// At weights of zero, or those of a model, as if no row had been seen; until there is no gain.
    Start(Option<&'a M>),
    /// Where a model came to; one pass.
    On(Option<&'a M>),
}

impl<K> LinearClassifier<K> {
    /// Learns rows.
    ///
    /// # Errors
    /// If the rows cannot be learned from.
    pub(crate) fn learn(
        asked: &Asked,
        class_weight: Option<&ClassWeight>,
        from: Begin<'_, Self>,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<Self>> {
        let began = Instant::now();
        let once = matches!(from, Begin::On(_));
        let (codes, classes) = data.class_target()?;
        check_rows(data)?;
        classes.check_several()?;
        let factors = factors(class_weight, codes, classes, once)?;
        let (width, m) = (data.n_columns(), outputs(classes.len()));
        let start = match from {
            Begin::Start(model) => Start { mean: None, t: 1, ..at(model, classes, width, m)? },
            Begin::On(model) => at(model, classes, width, m)?,
        };
        let t = start.t;
        let plan = asked.plan(data.rows(), once)?;
        let ground = asked.ground(data, Aims::Classes { codes, factors }, m, monitor)?;
        let ended = descend(&plan, &ground, start, monitor)?;
        let planes = ended.mean.as_ref().unwrap_or(&ended.now);
        let certificate = certificate(&plan, &ground, &ended, planes)
            .rows(data.n_rows() as u64)
            .iterations(ended.passes)
            .since(began);
        let t = t + ended.passes * data.n_rows() as u64;
        let model = LinearClassifier::of(ended, classes, width, t, plan.loss);
        Ok(Fitted { model, certificate })
    }

    /// The planes that steps ended at; `t` is the number of the next one.
    pub(crate) fn of(ended: Ended, classes: &Classes, width: usize, t: u64, loss: Loss) -> Self {
        let certainty = match loss {
            Loss::Log => Certainty::Sigmoid,
            Loss::ModifiedHuber => Certainty::Straight,
            _ => Certainty::None,
        };
        let m = ended.now.constants.len();
        let to_rows =
            |plain: &Plain| Matrix::from_shape_fn((m, width), |(k, j)| plain.cells[j * m + k]);
        let planes = ended.mean.as_ref().unwrap_or(&ended.now);
        let last = ended.mean.is_some().then(|| LastClassifier {
            last_coefficients: to_rows(&ended.now),
            last_intercepts: ended.now.constants.clone(),
        });
        LinearClassifier {
            classes: classes.clone(),
            coefficients: to_rows(planes),
            intercepts: planes.constants.clone(),
            n_iter: ended.passes,
            t,
            last,
            certainty,
            by_feature: Cached::default(),
            kind: PhantomData,
        }
    }

    /// Whether it says how sure it is: where its loss was `log_loss` or `modified_huber`.
    pub fn has_probabilities(&self) -> bool {
        self.certainty != Certainty::None
    }

    fn by_feature(&self) -> Vec<f64> {
        let mut weights: Vec<f64> = self.coefficients.t().iter().copied().collect();
        weights.extend(&self.intercepts);
        weights
    }
}

/// Where `m` planes begin that have seen no row.
pub(crate) fn at_zero(width: usize, m: usize) -> Start {
    let now = Plain { cells: vec![0.0; width * m], constants: vec![0.0; m] };
    Start { now, mean: None, t: 1 }
}

/// Where a model stands.
fn at<K>(
    model: Option<&LinearClassifier<K>>,
    classes: &Classes,
    width: usize,
    m: usize,
) -> Result<Start> {
    let Some(model) = model else { return Ok(at_zero(width, m)) };
    if model.coefficients.ncols() != width {
        return Err(Error::Columns { found: width, expected: model.coefficients.ncols() });
    }
    if &model.classes != classes {
        return Err(Error::Merge { why: "the classes differ from those of the model".into() });
    }
    let plain = |coefficients: &Matrix, constants: &[f64]| Plain {
        cells: coefficients.t().iter().copied().collect(),
        constants: constants.to_vec(),
    };
    let shown = plain(&model.coefficients, &model.intercepts);
    Ok(match &model.last {
        Some(last) => {
            let now = plain(&last.last_coefficients, &last.last_intercepts);
            Start { now, mean: Some(shown), t: model.t }
        }
        None => Start { now: shown, mean: None, t: model.t },
    })
}

/// How much the rows of each class count; by their numbers, not by their weights.
pub(crate) fn factors(
    weight: Option<&ClassWeight>,
    codes: &[u32],
    classes: &Classes,
    once: bool,
) -> Result<Vec<f64>> {
    if once && weight == Some(&ClassWeight::Rule(ClassWeightRule::Balanced)) {
        return Err(Error::Parameter {
            name: "class_weight".into(),
            found: "balanced".into(),
            expected: "weights by class where rows come in parts: no part knows all of them".into(),
        });
    }
    let mut counts = vec![0.0; classes.len()];
    codes.iter().for_each(|c| counts[*c as usize] += 1.0);
    let factors = ClassWeight::factors(weight, classes, &counts)?;
    let mut present = (0..classes.len()).filter(|c| counts[*c] > 0.0);
    if let (Some(only), None, false) = (present.next(), present.next(), once) {
        return Err(Error::OneClass { class: classes.label(only as u32).to_string() });
    }
    Ok(factors)
}

pub(crate) fn outputs(n_classes: usize) -> usize {
    if n_classes == 2 { 1 } else { n_classes }
}

fn side(class: usize) -> f64 {
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
            && m == outputs(self.classes.len())
            && width >= 1
            && self.t >= 1
            && fits(&self.coefficients, &self.intercepts)
            && self.last.as_ref().is_none_or(last);
        if fits { Ok(()) } else { Err(Error::File("planes that no rows could give".into())) }
    }
}

impl<K: Send + Sync> DecisionFunction for LinearClassifier<K> {
    fn decisions(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        let m = self.intercepts.len();
        let mut decisions = Matrix::zeros((x.n_rows(), m));
        let cells = decisions.as_slice_mut().expect("a fresh matrix is contiguous");
        let weights = self.by_feature.get(|| self.by_feature());
        DesignMatrix::reading(x, true).scores(weights, m, cells);
        if cells.iter().any(|z| !z.is_finite()) {
            crate::data::check_cells(x, Missing::Refused)?;
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

    /// The decision about each class; of two classes, for the second and against the first.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        let decisions = self.decisions(x)?;
        if self.intercepts.len() > 1 {
            return Ok(decisions);
        }
        Ok(Matrix::from_shape_fn((x.n_rows(), 2), |(i, c)| side(c) * decisions[[i, 0]]))
    }
}

impl<K: Send + Sync> Probabilistic for LinearClassifier<K> {
    /// The probabilities of the planes, made to add up to one (Zadrozny & Elkan 2002); where all of them
    /// are zero, all classes are the same.
    fn log_proba(&self, x: &Rows<'_>) -> Result<Matrix> {
        let mut scores = self.scores(x)?;
        let log_probability = |z: f64| match self.certainty {
            Certainty::Straight => (0.5 * (z.clamp(-1.0, 1.0) + 1.0)).ln(),
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
        // The one row of two classes speaks for the second and against the first.
        let part = |c: usize| if self.intercepts.len() == k { (c, 1.0) } else { (0, side(c)) };
        let starts = (0..k).map(|c| part(c).1 * self.intercepts[part(c).0]).collect();
        let terms = Matrix::from_shape_fn((row.len(), k), |(j, c)| {
            let (place, sign) = part(c);
            sign * self.coefficients[[place, j]] * row[j]
        });
        Ok((starts, terms))
    }
}
