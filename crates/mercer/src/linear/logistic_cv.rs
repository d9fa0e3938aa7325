//! Logistic regression with the regularization strength chosen by cross-validation.
//!
//! For every fold a regularization path is fitted on the other rows: the values of `C` in their order, each fit starting from
//! the last one. The held-out rows of the fold score the fits, and the value with the best mean score over the folds is
//! used for all rows (Stone 1974). Folds are stratified and rows are not shuffled, as in scikit-learn, so that sorted rows
//! give other folds than shuffled ones.

use super::logistic::{LogisticRegression, LogisticRegressionModel, Penalty};
use super::svc::check_rows;
use crate::data::ClassWeight;
use crate::data::ClassWeightParam;
use crate::evaluate::stratified_folds;
use crate::model::{Candidate, Candidates, Certificate, CrossValidated, ParamValue, Rule};
use crate::prelude::*;
use mercer_num::parallel::prelude::*;
use mercer_num::rows::Missing;
use ndarray::{Array3, Array5, Axis};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The default number of folds.
const DEFAULT_FOLDS: usize = 5;
/// Regularization paths with more coefficients than this are not stored in the model.
const MAX_PATH_COEFFICIENTS: usize = 10_000_000;
/// Probabilities are clipped here, as in scikit-learn.
const MIN_PROBABILITY: f64 = f64::EPSILON;

choice! {
    /// Score of a fit on the held-out rows of a fold.
    pub enum FoldScore {
        /// The fraction of rows whose class is predicted.
        Accuracy = "accuracy",
        /// Minus the mean log loss.
        NegLogLoss = "neg_log_loss",
    }
}

/// The values of `C` to choose from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Grid {
    /// This many values from 0.0001 to 10000, equally spaced on a logarithmic scale.
    Count(usize),
    /// These values.
    Each(Vec<f64>),
}

impl Grid {
    fn values(&self) -> Vec<f64> {
        match self {
            Grid::Each(values) => values.clone(),
            Grid::Count(1) => vec![1e-4],
            Grid::Count(n) => {
                (0..*n).map(|k| 10f64.powf(-4.0 + 8.0 * k as f64 / (n - 1) as f64)).collect()
            }
        }
    }
}

impl ParamValue for Grid {
    const TYPE: &'static str = "int or list of float";

    fn obeys(&self, rule: Rule) -> bool {
        match self {
            Grid::Count(n) => n.obeys(rule),
            Grid::Each(values) => !values.is_empty() && values.obeys(rule),
        }
    }
}

params! {
    /// Logistic regression with the regularization strength chosen by cross-validation.
    pub struct LogisticRegressionCv {
        /// Inverse regularization strengths to choose from: a list of values, or a number of values between 0.0001 and
        /// 10000 on a logarithmic scale. Larger values fit the training rows more closely.
        Cs: Grid = Grid::Count(10), Above(0.0);
        /// Fractions of the L1 penalty to choose from, between 0 (`l2`) and 1 (`l1`). A list that is not empty overrides
        /// `penalty`.
        l1_ratios: Vec<f64> = Vec::new(), Between(0.0, 1.0);
        ..FitIntercept;
        /// Number of cross-validation folds. `None` uses 5.
        cv: Option<usize> = None, AtLeast(2.0);
        /// Penalty on the weights: `l2` (half the squared norm), `l1` (the sum of absolute values) or `elasticnet` (a mix of
        /// both, see `l1_ratios`).
        penalty: CvPenalty = CvPenalty::L2, OneOf(CvPenalty::VALUES);
        /// Score of a fold: the fraction of correct predictions (`accuracy`) or minus the mean log loss (`neg_log_loss`).
        scoring: FoldScore = FoldScore::Accuracy, OneOf(FoldScore::VALUES);
        /// Stop a fit when the largest entry of the gradient of the penalized mean loss is at most `tol`.
        tol: f64 = 1e-4, Above(0.0);
        /// Maximum number of iterations of each fit.
        max_iter: usize = 1000, AtLeast(1.0);
        ..ClassWeightParam(AtLeast(0.0));
        /// Fit all rows with the chosen value. Otherwise the coefficients are the mean over the folds of the best fit in
        /// each.
        refit: bool = true, Any;
    }
    formula = "max_C Σ_f score_f(w, b),  (w, b) = argmin ½‖w‖² − C Σ_{i∉f} log P(yᵢ | xᵢ) for every fold f";
    lecture = 10;
    attributes = [
        CLASS_COEF,
        CLASS_INTERCEPT,
        own("C_", "float", "Chosen inverse regularization strength; without `refit`, the mean over the folds."),
        own("l1_ratio_", "float", "Chosen fraction of the L1 penalty."),
        own("Cs_", "ndarray of shape (n_cs,)", "Candidate inverse regularization strengths."),
        own("l1_ratios_", "ndarray of shape (n_l1_ratios,)", "Candidate fractions of the L1 penalty."),
        own("scores_", "ndarray of shape (n_folds, n_l1_ratios, n_cs)", "Score of each fold."),
        own("n_iter_", "ndarray of shape (n_folds, n_l1_ratios, n_cs)", "Number of iterations of each fit."),
        own(
            "coefs_paths_",
            "ndarray of shape (n_folds, n_l1_ratios, n_cs, n_classes, n_features + 1)",
            "Coefficients of each fit, intercepts last; empty beyond ten million of them.",
        ),
    ];
    sklearn {
        extra: &[
            VERBOSE_LEVEL,
            N_JOBS,
            NO_RANDOM_STATE,
            LOGISTIC_SOLVER,
            LOGISTIC_DUAL,
            honored("intercept_scaling", "float", "1.0", INTERCEPT_SCALING),
            only(
                "use_legacy_attributes",
                "False",
                &["\"warn\""],
                "Repeat the cross-validation results for every class.",
                "read C_, scores_ and coefs_paths_ as scikit-learn 1.10 has them",
            ),
        ],
        spellings: &[
            default_if("penalty", "\"deprecated\""),
            default_if("l1_ratios", "\"warn\""),
            default_if("l1_ratios", "\"deprecated\""),
            default_if("scoring", "None"),
            default_if("scoring", "\"warn\""),
            default_if("scoring", "\"deprecated\""),
        ],
    }
}

choice! {
    /// Penalty on the weights.
    pub enum CvPenalty {
        /// `½‖w‖²`.
        L2 = "l2",
        /// `‖w‖₁`.
        L1 = "l1",
        /// A mix of both, by `l1_ratios`.
        ElasticNet = "elasticnet",
    }
}

/// The fit at the chosen regularization strength, and the scores of all candidates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
// Names are those of the literature: `C` is one.
#[allow(non_snake_case)]
pub struct LogisticRegressionCvModel {
    /// The fit.
    pub logistic: LogisticRegressionModel,
    /// The chosen value of `C`; without a refit, the mean over the folds.
    pub C: f64,
    /// The chosen fraction of the L1 penalty.
    pub l1_ratio: f64,
    /// The values of `C` to choose from.
    pub Cs: Vec<f64>,
    /// The fractions of the L1 penalty to choose from.
    pub l1_ratios: Vec<f64>,
    /// The score of each fold: folds × `l1_ratios` × `Cs`.
    pub scores: Array3<f64>,
    /// Iterations of each fit, at least one: folds × `l1_ratios` × `Cs`.
    pub n_iter: Array3<f64>,
    /// The coefficients, intercepts last: folds × `l1_ratios` × `Cs` × classes × columns. Empty beyond ten million
    /// coefficients.
    pub coefs_paths: Array5<f64>,
    scoring: FoldScore,
}

/// One fit of a regularization path.
struct PathPoint {
    model: LogisticRegressionModel,
    score: f64,
    iterations: u64,
    converged: bool,
}

impl Fit for LogisticRegressionCv {
    type Model = LogisticRegressionCvModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<Self::Model>> {
        let began = Instant::now();
        self.check()?;
        let training = self.training_data(data)?;
        let (ratios, mut strengths) = (self.ratios()?, self.Cs.values());
        let base = self.base_estimator(data, &training.weights)?;
        let m = if training.classes.len() == 2 { 1 } else { training.classes.len() };
        let n_fits = training.n_folds * ratios.len() * strengths.len();
        let n_coefficients = (data.n_columns() + 1) * m * n_fits;
        monitor.reserve("storing the coefficients of all folds", 16 * n_coefficients as u64)?;
        let progress = Progress { monitor, done: AtomicU64::new(0), total: n_fits as u64 + 1 };
        let paths: Vec<Vec<PathPoint>> = (0..training.n_folds)
            .flat_map(|fold| ratios.iter().map(move |ratio| (fold, *ratio)))
            .collect::<Vec<_>>()
            .par_iter()
            .map(|(fold, ratio)| {
                let path = (strengths.as_slice(), *ratio);
                self.regularization_path(&base, &training, *fold, path, &progress)
            })
            .collect::<Result<_>>()?;
        let (paths, n_folds, stopped) = match monitor.stop() {
            None => (paths, training.n_folds, None),
            Some(stop) => {
                let (paths, n_strengths) = complete_paths(paths, ratios.len());
                if paths.is_empty() {
                    return Err(Error::Stopped);
                }
                strengths.truncate(n_strengths);
                let n_folds = paths.len() / ratios.len();
                (paths, n_folds, Some(stop))
            }
        };
        let shape = (n_folds, ratios.len(), strengths.len());
        let at = |(f, r, c): (usize, usize, usize)| &paths[f * ratios.len() + r][c];
        let scores = Array3::from_shape_fn(shape, |index| at(index).score);
        let n_iter = Array3::from_shape_fn(shape, |index| at(index).iterations.max(1) as f64);
        let coefs_paths = match n_coefficients <= MAX_PATH_COEFFICIENTS {
            true => self.coefficient_paths(&paths, shape, (m, data.n_columns())),
            false => Array5::zeros((0, 0, 0, 0, 0)),
        };
        let (fitted, strength, ratio) = match self.refit && stopped.is_none() {
            true => {
                let (r, c) = best(&scores.sum_axis(Axis(0)));
                let params = with_penalty(&base, strengths[c], ratios[r]);
                let start = &at((0, r, c)).model;
                (params.fit_from(start, data, &monitor.silent())?, strengths[c], ratios[r])
            }
            false => mean_of_best(&scores, &paths, &strengths, &ratios),
        };
        monitor.report(progress.total, Some(progress.total));
        let chosen = format!(
            "C {} chosen among {} by {n_folds} folds{}",
            short(strength),
            strengths.len() * ratios.len(),
            if self.refit && stopped.is_none() { "" } else { ", the mean of the best of each" }
        );
        let iterations = fitted.certificate.iterations.max(1);
        let certificate = fitted
            .certificate
            .note_first(chosen)
            .stopped_by(stopped)
            .rows(data.n_rows() as u64)
            .iterations(iterations)
            .since(began);
        let model = LogisticRegressionCvModel {
            logistic: fitted.model,
            C: strength,
            l1_ratio: ratio,
            Cs: strengths,
            l1_ratios: ratios,
            scores,
            n_iter,
            coefs_paths,
            scoring: self.scoring,
        };
        Ok(Fitted { model, certificate })
    }
}

/// The validated training rows and their folds.
struct TrainingData<'a, 'd> {
    data: &'a Dataset<'d>,
    codes: &'a [u32],
    classes: &'a Classes,
    /// Sample weights.
    weights: Vec<f64>,
    /// The fold of every row.
    folds: Vec<usize>,
    n_folds: usize,
}

/// Counts the fits that are done, on any thread.
struct Progress<'a> {
    monitor: &'a Monitor<'a>,
    done: AtomicU64,
    total: u64,
}

/// After a stop: the paths of the folds that have a fit for every fraction of the L1 penalty, cut to the number of
/// values of `C` that all of them reached, and this number.
fn complete_paths(mut paths: Vec<Vec<PathPoint>>, n_ratios: usize) -> (Vec<Vec<PathPoint>>, usize) {
    let mut kept: Vec<Vec<PathPoint>> = Vec::new();
    while !paths.is_empty() {
        let fold: Vec<Vec<PathPoint>> = paths.drain(..n_ratios).collect();
        if fold.iter().all(|path| !path.is_empty()) {
            kept.extend(fold);
        }
    }
    let n_strengths = kept.iter().map(Vec::len).min().unwrap_or(0);
    kept.iter_mut().for_each(|path| path.truncate(n_strengths));
    (kept, n_strengths)
}

/// The mean over the folds of the best fit in each, with its `C` and fraction of the L1 penalty.
fn mean_of_best(
    scores: &Array3<f64>,
    paths: &[Vec<PathPoint>],
    strengths: &[f64],
    ratios: &[f64],
) -> (Fitted<LogisticRegressionModel>, f64, f64) {
    let chosen: Vec<(usize, usize)> =
        scores.outer_iter().map(|scores| best(&scores.to_owned())).collect();
    let mean = |f: &dyn Fn((usize, usize)) -> f64| {
        chosen.iter().map(|index| f(*index)).sum::<f64>() / chosen.len() as f64
    };
    let points = chosen.iter().enumerate().map(|(f, (r, c))| &paths[f * ratios.len() + r][*c]);
    let converged = points.clone().all(|point| point.converged);
    let model = LogisticRegressionModel::mean(points.map(|point| &point.model));
    let certificate = Certificate::iterative(converged, None);
    let fitted = Fitted { model, certificate };
    (fitted, mean(&|(_, c)| strengths[c]), mean(&|(r, _)| ratios[r]))
}

/// The index of the best score; ties go to the first `C`, then to the first `l1_ratio`.
fn best(scores: &Matrix) -> (usize, usize) {
    let mut best = (0, 0);
    for c in 0..scores.ncols() {
        for r in 0..scores.nrows() {
            if scores[[r, c]] > scores[best] {
                best = (r, c);
            }
        }
    }
    best
}

fn with_penalty(base: &LogisticRegression, strength: f64, ratio: f64) -> LogisticRegression {
    let penalty = match ratio {
        0.0 => Penalty::L2,
        1.0 => Penalty::L1,
        _ => Penalty::ElasticNet,
    };
    base.clone().C(strength).penalty(penalty).l1_ratio(ratio)
}

impl LogisticRegressionCv {
    /// Validates the rows and assigns the folds.
    fn training_data<'a, 'd>(&self, data: &'a Dataset<'d>) -> Result<TrainingData<'a, 'd>> {
        let (codes, classes) = data.class_target()?;
        check_rows(data)?;
        classes.check_several()?;
        data.check_cells(Missing::Refused)?;
        let weight = |i: usize| data.weights().get(i).copied().unwrap_or(1.0);
        let weights: Vec<f64> = (0..data.n_rows()).map(weight).collect();
        if weights.iter().sum::<f64>() <= 0.0 {
            return Err(Error::NoRows);
        }
        let folds = self.folds(codes, classes)?;
        let n_folds = folds.iter().max().map_or(0, |last| last + 1);
        Ok(TrainingData { data, codes, classes, weights, folds, n_folds })
    }

    /// Fits the values of `C` one after the other on the rows outside a fold, and scores them on the fold. After a stop
    /// the path has the values that were reached: at least the first, if its fit has any state to return.
    fn regularization_path(
        &self,
        base: &LogisticRegression,
        training: &TrainingData<'_, '_>,
        fold: usize,
        (strengths, ratio): (&[f64], f64),
        progress: &Progress<'_>,
    ) -> Result<Vec<PathPoint>> {
        let TrainingData { data, codes, classes, weights, folds, .. } = training;
        let weights_where = |in_fold: bool| -> Vec<f64> {
            let weight = |(f, w): (&usize, &f64)| if (*f == fold) == in_fold { *w } else { 0.0 };
            folds.iter().zip(weights).map(weight).collect()
        };
        let (training_weights, held_out_weights) = (weights_where(false), weights_where(true));
        let rows = data.rows().view();
        let others = Dataset::classes(rows, codes, classes)?.weighted(&training_weights)?;
        let silent = progress.monitor.silent();
        let mut path: Vec<PathPoint> = Vec::with_capacity(strengths.len());
        for strength in strengths {
            let params = with_penalty(base, *strength, ratio);
            let fitted = match path.last() {
                Some(point) => params.fit_from(&point.model, &others, &silent),
                None => params.fit(&others, &silent),
            };
            let fitted = match fitted {
                Err(Error::Stopped) => break,
                fitted => fitted?,
            };
            let stopped = fitted.certificate.stopped().is_some();
            if stopped && !path.is_empty() {
                break;
            }
            let score = self.score(&fitted.model, data, codes, &held_out_weights)?;
            let Fitted { model, certificate } = fitted;
            let (iterations, converged) =
                (certificate.iterations, certificate.status.is_converged());
            path.push(PathPoint { model, score, iterations, converged });
            let done = progress.done.fetch_add(1, Ordering::Relaxed) + 1;
            progress.monitor.report(done, Some(progress.total));
            if stopped {
                break;
            }
        }
        Ok(path)
    }

    fn folds(&self, codes: &[u32], classes: &Classes) -> Result<Vec<usize>> {
        let n_folds = self.cv.unwrap_or(DEFAULT_FOLDS);
        stratified_folds(codes, classes.len(), n_folds).ok_or_else(|| Error::Parameter {
            name: "cv".into(),
            found: n_folds.to_string(),
            expected: "no more folds than the largest class has rows".into(),
        })
    }

    fn ratios(&self) -> Result<Vec<f64>> {
        match self.penalty {
            _ if !self.l1_ratios.is_empty() => Ok(self.l1_ratios.clone()),
            CvPenalty::L2 => Ok(vec![0.0]),
            CvPenalty::L1 => Ok(vec![1.0]),
            CvPenalty::ElasticNet => Err(Error::Parameter {
                name: "l1_ratios".into(),
                found: "empty".into(),
                expected: "values between 0 and 1 to choose from with `penalty=elasticnet`".into(),
            }),
        }
    }

    /// The estimator of all fits, with class weights from all folds.
    fn base_estimator(&self, data: &Dataset<'_>, weights: &[f64]) -> Result<LogisticRegression> {
        let (codes, classes) = data.class_target()?;
        let mut class_totals = vec![0.0; classes.len()];
        codes.iter().zip(weights).for_each(|(c, w)| class_totals[*c as usize] += w);
        let class_weights =
            ClassWeight::factors(self.class_weight.as_ref(), classes, &class_totals)?;
        let names = classes.labels().iter().map(ToString::to_string);
        let by_name = || ClassWeight::ByClass(names.zip(class_weights).collect());
        Ok(LogisticRegression::new()
            .fit_intercept(self.fit_intercept)
            .class_weight(self.class_weight.as_ref().map(|_| by_name()))
            .tol(self.tol)
            .max_iter(self.max_iter))
    }

    /// The score of a model on the held-out rows.
    fn score(
        &self,
        model: &LogisticRegressionModel,
        data: &Dataset<'_>,
        codes: &[u32],
        held_out_weights: &[f64],
    ) -> Result<f64> {
        let log_proba = model.log_proba(data.rows())?;
        let (mut sum, mut total) = (0.0, 0.0);
        for (i, row) in log_proba.outer_iter().enumerate() {
            let (weight, own) = (held_out_weights[i], row[codes[i] as usize]);
            total += weight;
            sum += weight
                * match self.scoring {
                    FoldScore::NegLogLoss => own.max(MIN_PROBABILITY.ln()),
                    FoldScore::Accuracy => {
                        let first = row.iter().position(|p| *p >= own).unwrap_or(0);
                        let highest = row.iter().all(|p| *p <= own);
                        f64::from(u8::from(highest && first == codes[i] as usize))
                    }
                };
        }
        Ok(if total > 0.0 { sum / total } else { 0.0 })
    }

    fn coefficient_paths(
        &self,
        paths: &[Vec<PathPoint>],
        (n_folds, n_ratios, n_strengths): (usize, usize, usize),
        (m, width): (usize, usize),
    ) -> Array5<f64> {
        let n_weights = width + usize::from(self.fit_intercept);
        Array5::from_shape_fn((n_folds, n_ratios, n_strengths, m, n_weights), |(f, r, c, k, j)| {
            let model = &paths[f * n_ratios + r][c].model;
            match j < width {
                true => model.coefficients[[k, j]],
                // The intercept of a class without training rows is −∞, which model files cannot hold.
                false => model.intercepts[k].max(f64::MIN),
            }
        })
    }
}

impl CrossValidated for LogisticRegressionCvModel {
    fn candidates(&self) -> Candidates {
        let n_folds = self.scores.len_of(Axis(0)).max(1) as f64;
        let mut all = Vec::new();
        for (r, ratio) in self.l1_ratios.iter().enumerate() {
            for (c, strength) in self.Cs.iter().enumerate() {
                let scores = self.scores.iter().skip(r * self.Cs.len() + c);
                let scores: Vec<f64> =
                    scores.step_by(self.Cs.len() * self.l1_ratios.len()).copied().collect();
                let mean = scores.iter().sum::<f64>() / n_folds;
                let squares: f64 = scores.iter().map(|s| (s - mean).powi(2)).sum();
                all.push(Candidate {
                    values: vec![*strength, *ratio],
                    score: mean,
                    error: Some((squares / (n_folds - 1.0).max(1.0) / n_folds).sqrt()),
                    chosen: *strength == self.C && *ratio == self.l1_ratio,
                });
            }
        }
        let score = match self.scoring {
            FoldScore::Accuracy => "accuracy",
            FoldScore::NegLogLoss => "negative log loss",
        };
        Candidates { names: vec!["C", "l1_ratio"], score, all }
    }
}

impl Check for LogisticRegressionCvModel {
    fn check(&self) -> Result<()> {
        self.logistic.check()?;
        let (_, n_ratios, n_strengths) = self.scores.dim();
        let fits = n_strengths == self.Cs.len()
            && n_ratios == self.l1_ratios.len()
            && n_strengths * n_ratios > 0
            && self.n_iter.dim() == self.scores.dim()
            && self.Cs.iter().all(|c| *c > 0.0 && c.is_finite())
            && self.l1_ratios.iter().all(|r| (0.0..=1.0).contains(r))
            && self
                .scores
                .iter()
                .chain(&self.n_iter)
                .chain(&self.coefs_paths)
                .all(|s| s.is_finite())
            && self.C > 0.0
            && (0.0..=1.0).contains(&self.l1_ratio);
        if fits {
            Ok(())
        } else {
            Err(Error::File("candidates that no cross-validation can return".into()))
        }
    }
}

impl Classifier for LogisticRegressionCvModel {
    fn classes(&self) -> &Classes {
        self.logistic.classes()
    }

    fn n_columns(&self) -> usize {
        self.logistic.n_columns()
    }

    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.logistic.scores(x)
    }
}

impl Probabilistic for LogisticRegressionCvModel {}

impl AdditiveScores for LogisticRegressionCvModel {
    fn terms(&self, row: &[f64]) -> Result<(Vec<f64>, Matrix)> {
        self.logistic.terms(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;

    #[test]
    fn every_fold_is_scored_by_a_fit_without_it() {
        let mut random = Random::new(2);
        let codes: Vec<u32> = (0..60).map(|i| (i % 2) as u32).collect();
        let x = Matrix::from_shape_fn((60, 3), |(i, j)| {
            random.normal() + if j == 0 { f64::from(codes[i]) } else { 0.0 }
        });
        let classes = Classes::from_names(["a", "b"]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let params = LogisticRegressionCv::new()
            .Cs(Grid::Each(vec![0.01, 1.0]))
            .cv(Some(3))
            .scoring(FoldScore::NegLogLoss)
            .tol(1e-10);

        let fitted = params.fit(&data, &Monitor::quiet()).unwrap();

        let folds = stratified_folds(&codes, 2, 3).unwrap();
        for f in 0..3 {
            let (out, others): (Vec<usize>, Vec<usize>) = (0..60).partition(|i| folds[*i] == f);
            let select = |indices: &[usize]| {
                let rows = x.select(Axis(0), indices);
                (rows, indices.iter().map(|i| codes[*i]).collect::<Vec<u32>>())
            };
            let (rows, of_rows) = select(&others);
            let (held, of_held) = select(&out);
            for (c, strength) in [0.01, 1.0].into_iter().enumerate() {
                let single = LogisticRegression::new().C(strength).tol(1e-10);
                let rest = Dataset::classes(&rows, &of_rows, &classes).unwrap();
                let model = single.fit(&rest, &Monitor::quiet()).unwrap();
                let log_proba = model.log_proba(&Rows::from(&held)).unwrap();
                let mean: f64 =
                    of_held.iter().enumerate().map(|(i, k)| log_proba[[i, *k as usize]]).sum();

                let score = mean / out.len() as f64;
                assert!((fitted.scores[[f, 0, c]] - score).abs() < 1e-8);
            }
        }
        let report = fitted.certificate.to_string();
        assert!(
            report.contains(&format!("C {} chosen among 2 by 3 folds", short(fitted.C))),
            "{report}"
        );
        let chosen: Vec<_> = fitted.candidates().all.into_iter().filter(|c| c.chosen).collect();
        assert_eq!(chosen.len(), 1);
        assert!(fitted.candidates().all.iter().all(|c| c.score <= chosen[0].score));
    }

    #[test]
    fn more_folds_than_rows_of_any_class_are_rejected() {
        let x = Matrix::from_shape_fn((6, 1), |(i, _)| i as f64);
        let classes = Classes::from_names(["a", "b"]);
        let data = Dataset::classes(&x, &[0, 1, 0, 1, 0, 1], &classes).unwrap();

        let refused = LogisticRegressionCv::new().fit(&data, &Monitor::quiet());

        assert!(matches!(refused, Err(Error::Parameter { name, .. }) if name == "cv"));
    }
}
