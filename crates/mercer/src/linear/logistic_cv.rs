//! Logistic regression whose price is chosen by cross-validation.
//!
//! For every fold, the weights of the other rows follow the prices from the first to the last, each fit
//! beginning where the one before ended; the rows of the fold judge them. The price that does best over all
//! folds is taken for all rows (Stone 1974). Folds have the same share of every class and rows are not
//! shuffled, as scikit-learn deals them, so that sorted rows give other folds than mixed ones.

use super::logistic::{LogisticRegression, LogisticRegressionModel, Penalty};
use super::svc::check_rows;
use crate::data::ClassWeight;
use crate::data::ClassWeightParam;
use crate::evaluate::stratified_folds;
use crate::model::{Candidate, Candidates, Certificate, CrossValidated, ParamValue, Rule};
use crate::prelude::*;
use mercer_num::rows::Missing;
use ndarray::{Array3, Array5, Axis};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Folds where nobody says how many.
const USUAL_FOLDS: usize = 5;
/// Paths of more numbers than this are used and not kept.
const MOST_NUMBERS: usize = 10_000_000;
/// Scikit-learn takes no probability for smaller.
const SMALLEST: f64 = f64::EPSILON;

choice! {
    /// What a fold says about weights that never saw it.
    pub enum FoldScore {
        /// The share of rows whose class is found.
        Accuracy = "accuracy",
        /// Minus the mean surprise at the classes.
        NegLogLoss = "neg_log_loss",
    }
}

/// How many prices, or which.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Grid {
    /// So many from 0.0001 to 10000, each the same multiple of the one before.
    Count(usize),
    /// These.
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
    /// Logistic regression whose price on large weights is chosen by cross-validation.
    pub struct LogisticRegressionCv {
        /// How much the rows count against the price on large weights: the values to choose from, or how
        /// many of them from 0.0001 to 10000.
        Cs: Grid = Grid::Count(10), Above(0.0);
        /// The shares of absolute values in the price to choose from; where there are any, they say what
        /// large weights cost.
        l1_ratios: Vec<f64> = Vec::new(), Between(0.0, 1.0);
        ..FitIntercept;
        /// How many folds judge; nothing is 5.
        cv: Option<usize> = None, AtLeast(2.0);
        /// What large weights cost: half their squared length (`l2`), the sum of their absolute values
        /// (`l1`), a mix of both by `l1_ratios` (`elasticnet`).
        penalty: CvPenalty = CvPenalty::L2, OneOf(CvPenalty::WORDS);
        /// What a fold is judged by: the share of classes found (`accuracy`) or the probabilities of the true
        /// ones (`neg_log_loss`).
        scoring: FoldScore = FoldScore::Accuracy, OneOf(FoldScore::WORDS);
        /// A fit is done when no entry of the gradient of the mean loss, price included, is larger.
        tol: f64 = 1e-4, Above(0.0);
        /// Steps after which to stop a fit in any case.
        max_iter: usize = 1000, AtLeast(1.0);
        ..ClassWeightParam(AtLeast(0.0));
        /// Whether all rows are learned with the chosen price; else the weights are the means over folds,
        /// of the best in each.
        refit: bool = true, Any;
    }
}

choice! {
    /// What large weights cost.
    pub enum CvPenalty {
        /// Half their squared length.
        L2 = "l2",
        /// The sum of their absolute values.
        L1 = "l1",
        /// Shares of both, from `l1_ratios`.
        ElasticNet = "elasticnet",
    }
}

/// The weights of the columns at the chosen price, and how all prices did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
// Names are those of the literature: `C` is one.
#[allow(non_snake_case)]
pub struct LogisticRegressionCvModel {
    /// The weights.
    pub logistic: LogisticRegressionModel,
    /// The chosen price; without a refit, the mean over folds.
    pub C: f64,
    /// The chosen share of absolute values.
    pub l1_ratio: f64,
    /// The prices there were.
    pub Cs: Vec<f64>,
    /// The shares there were.
    pub l1_ratios: Vec<f64>,
    /// What each fold says: folds, shares, prices.
    pub scores: Array3<f64>,
    /// Steps of each fit: folds, shares, prices. A look that finds nothing to do counts as one.
    pub n_iter: Array3<f64>,
    /// The weights, constant terms last: folds, shares, prices, classes, columns. Empty where they would be
    /// more than ten million numbers.
    pub coefs_paths: Array5<f64>,
    scoring: FoldScore,
}

/// A fit on the way.
struct Point {
    model: LogisticRegressionModel,
    score: f64,
    steps: u64,
}

impl Fit for LogisticRegressionCv {
    type Model = LogisticRegressionCvModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<Self::Model>> {
        let began = Instant::now();
        self.check()?;
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
        let (ratios, prices) = (self.ratios()?, self.Cs.values());
        let plain = self.plain(data, &weights)?;
        let n_folds = folds.iter().max().map_or(0, |last| last + 1);
        let m = if classes.len() == 2 { 1 } else { classes.len() };
        let numbers = (data.n_columns() + 1) * m * ratios.len() * prices.len() * n_folds;
        monitor.reserve("keeping the weights of all folds", 16 * numbers as u64)?;
        let total = (n_folds * ratios.len() * prices.len() + 1) as u64;
        let (quiet, done) = (monitor.silent(), AtomicU64::new(0));
        let ways: Vec<(usize, f64)> =
            (0..n_folds).flat_map(|f| ratios.iter().map(move |ratio| (f, *ratio))).collect();
        let way = |(fold, ratio): &(usize, f64)| {
            let learned = |i: usize| if folds[i] == *fold { 0.0 } else { weights[i] };
            let learned: Vec<f64> = (0..data.n_rows()).map(learned).collect();
            let rows = data.rows().view();
            let others = Dataset::classes(rows, codes, classes)?.weighted(&learned)?;
            let mut points: Vec<Point> = Vec::with_capacity(prices.len());
            for price in &prices {
                let params = with_price(&plain, *price, *ratio);
                let fitted = match points.last() {
                    Some(point) => params.fit_from(&point.model, &others, &quiet)?,
                    None => params.fit(&others, &quiet)?,
                };
                if fitted.certificate.stopped().is_some() {
                    return Err(Error::Stopped);
                }
                let judged = |i: usize| if folds[i] == *fold { weights[i] } else { 0.0 };
                let score = self.score(&fitted.model, data, codes, judged)?;
                points.push(Point {
                    model: fitted.model,
                    score,
                    steps: fitted.certificate.iterations,
                });
                monitor.report(done.fetch_add(1, Ordering::Relaxed) + 1, Some(total));
            }
            Ok(points)
        };
        let paths: Vec<Vec<Point>> = ways.par_iter().map(way).collect::<Result<_>>()?;
        let shape = (n_folds, ratios.len(), prices.len());
        let at = |(f, r, c): (usize, usize, usize)| &paths[f * ratios.len() + r][c];
        let scores = Array3::from_shape_fn(shape, |place| at(place).score);
        let n_iter = Array3::from_shape_fn(shape, |place| at(place).steps.max(1) as f64);
        let coefs_paths = match numbers <= MOST_NUMBERS {
            true => self.coefficients(&paths, shape, (m, data.n_columns())),
            false => Array5::zeros((0, 0, 0, 0, 0)),
        };
        let (logistic, certificate, price, ratio) = if self.refit {
            let (r, c) = best(&scores.sum_axis(Axis(0)));
            let params = with_price(&plain, prices[c], ratios[r]);
            let fitted = params.fit_from(&at((0, r, c)).model, data, &quiet)?;
            (fitted.model, fitted.certificate, prices[c], ratios[r])
        } else {
            let places: Vec<_> =
                scores.outer_iter().map(|scores| best(&scores.to_owned())).collect();
            let mean = |f: &dyn Fn((usize, usize)) -> f64| {
                places.iter().map(|place| f(*place)).sum::<f64>() / places.len() as f64
            };
            let chosen = places.iter().enumerate().map(|(f, (r, c))| &at((f, *r, *c)).model);
            let model = LogisticRegressionModel::mean(chosen);
            let certificate = Certificate::iterative(true, None);
            (model, certificate, mean(&|(_, c)| prices[c]), mean(&|(r, _)| ratios[r]))
        };
        monitor.report(total, Some(total));
        let chosen = format!(
            "C {} chosen among {} by {n_folds} folds{}",
            short(price),
            prices.len() * ratios.len(),
            if self.refit { "" } else { ", the mean of the best of each" }
        );
        let iterations = certificate.iterations.max(1);
        let certificate = certificate
            .note_first(chosen)
            .rows(data.n_rows() as u64)
            .iterations(iterations)
            .since(began);
        let model = LogisticRegressionCvModel {
            logistic,
            C: price,
            l1_ratio: ratio,
            Cs: prices,
            l1_ratios: ratios,
            scores,
            n_iter,
            coefs_paths,
            scoring: self.scoring,
        };
        Ok(Fitted { model, certificate })
    }
}

/// The place of the best score among shares and prices: the first price that has it, then the first share.
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

fn with_price(plain: &LogisticRegression, price: f64, ratio: f64) -> LogisticRegression {
    let penalty = match ratio {
        0.0 => Penalty::L2,
        1.0 => Penalty::L1,
        _ => Penalty::ElasticNet,
    };
    plain.clone().C(price).penalty(penalty).l1_ratio(ratio)
}

impl LogisticRegressionCv {
    fn folds(&self, codes: &[u32], classes: &Classes) -> Result<Vec<usize>> {
        let n_folds = self.cv.unwrap_or(USUAL_FOLDS);
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
                expected: "numbers from 0 to 1 to choose from where penalty is `elasticnet`".into(),
            }),
        }
    }

    /// The fits without their prices; classes weigh the same in every fold.
    fn plain(&self, data: &Dataset<'_>, weights: &[f64]) -> Result<LogisticRegression> {
        let (codes, classes) = data.class_target()?;
        let mut by_class = vec![0.0; classes.len()];
        codes.iter().zip(weights).for_each(|(c, w)| by_class[*c as usize] += w);
        let factors = ClassWeight::factors(self.class_weight.as_ref(), classes, &by_class)?;
        let names = classes.labels().iter().map(ToString::to_string);
        let by_name = || ClassWeight::ByClass(names.zip(factors).collect());
        Ok(LogisticRegression::new()
            .fit_intercept(self.fit_intercept)
            .class_weight(self.class_weight.as_ref().map(|_| by_name()))
            .tol(self.tol)
            .max_iter(self.max_iter))
    }

    /// How well a model does on the rows that judge.
    fn score(
        &self,
        model: &LogisticRegressionModel,
        data: &Dataset<'_>,
        codes: &[u32],
        judged: impl Fn(usize) -> f64,
    ) -> Result<f64> {
        let log_proba = model.log_proba(data.rows())?;
        let (mut sum, mut total) = (0.0, 0.0);
        for (i, row) in log_proba.outer_iter().enumerate() {
            let (weight, own) = (judged(i), row[codes[i] as usize]);
            total += weight;
            sum += weight
                * match self.scoring {
                    FoldScore::NegLogLoss => own.max(SMALLEST.ln()),
                    FoldScore::Accuracy => {
                        let first = row.iter().position(|p| *p >= own).unwrap_or(0);
                        let highest = row.iter().all(|p| *p <= own);
                        f64::from(u8::from(highest && first == codes[i] as usize))
                    }
                };
        }
        Ok(if total > 0.0 { sum / total } else { 0.0 })
    }

    fn coefficients(
        &self,
        paths: &[Vec<Point>],
        (n_folds, n_ratios, n_prices): (usize, usize, usize),
        (m, width): (usize, usize),
    ) -> Array5<f64> {
        let wide = width + usize::from(self.fit_intercept);
        Array5::from_shape_fn((n_folds, n_ratios, n_prices, m, wide), |(f, r, c, k, j)| {
            let model = &paths[f * n_ratios + r][c].model;
            match j < width {
                true => model.coefficients[[k, j]],
                // A class that no row of the others had is infinitely unlikely; files hold numbers.
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
            for (c, price) in self.Cs.iter().enumerate() {
                let scores = self.scores.iter().skip(r * self.Cs.len() + c);
                let scores: Vec<f64> =
                    scores.step_by(self.Cs.len() * self.l1_ratios.len()).copied().collect();
                let mean = scores.iter().sum::<f64>() / n_folds;
                let squares: f64 = scores.iter().map(|s| (s - mean).powi(2)).sum();
                all.push(Candidate {
                    values: vec![*price, *ratio],
                    score: mean,
                    error: Some((squares / (n_folds - 1.0).max(1.0) / n_folds).sqrt()),
                    chosen: *price == self.C && *ratio == self.l1_ratio,
                });
            }
        }
        let score = match self.scoring {
            FoldScore::Accuracy => "accuracy",
            FoldScore::NegLogLoss => "minus log-loss",
        };
        Candidates { names: vec!["C", "l1_ratio"], score, all }
    }
}

impl Check for LogisticRegressionCvModel {
    fn check(&self) -> Result<()> {
        self.logistic.check()?;
        let (_, n_ratios, n_prices) = self.scores.dim();
        let fits = n_prices == self.Cs.len()
            && n_ratios == self.l1_ratios.len()
            && n_prices * n_ratios > 0
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
        if fits { Ok(()) } else { Err(Error::File("a choice that no fit could make".into())) }
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
    fn every_fold_is_judged_by_weights_that_never_saw_it() {
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
            let some = |places: &[usize]| {
                let rows = x.select(Axis(0), places);
                (rows, places.iter().map(|i| codes[*i]).collect::<Vec<u32>>())
            };
            let (rows, of_rows) = some(&others);
            let (held, of_held) = some(&out);
            for (c, price) in [0.01, 1.0].into_iter().enumerate() {
                let alone = LogisticRegression::new().C(price).tol(1e-10);
                let rest = Dataset::classes(&rows, &of_rows, &classes).unwrap();
                let model = alone.fit(&rest, &Monitor::quiet()).unwrap();
                let log_proba = model.log_proba(&Rows::from(&held)).unwrap();
                let mean: f64 =
                    of_held.iter().enumerate().map(|(i, k)| log_proba[[i, *k as usize]]).sum();

                let score = mean / out.len() as f64;
                assert!((fitted.scores[[f, 0, c]] - score).abs() < 1e-8);
            }
        }
        let told = fitted.certificate.to_string();
        assert!(
            told.contains(&format!("C {} chosen among 2 by 3 folds", short(fitted.C))),
            "{told}"
        );
        let chosen: Vec<_> = fitted.candidates().all.into_iter().filter(|c| c.chosen).collect();
        assert_eq!(chosen.len(), 1);
        assert!(fitted.candidates().all.iter().all(|c| c.score <= chosen[0].score));
    }

    #[test]
    fn folds_that_no_class_fills_are_refused() {
        let x = Matrix::from_shape_fn((6, 1), |(i, _)| i as f64);
        let classes = Classes::from_names(["a", "b"]);
        let data = Dataset::classes(&x, &[0, 1, 0, 1, 0, 1], &classes).unwrap();

        let refused = LogisticRegressionCv::new().fit(&data, &Monitor::quiet());

        assert!(matches!(refused, Err(Error::Parameter { name, .. }) if name == "cv"));
    }
}
