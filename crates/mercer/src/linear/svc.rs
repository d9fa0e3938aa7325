//! Linear support vector classification.
//!
//! For every class against the rest (for two classes once, with the second as the positive one), minimize
//! `½‖w‖² + C Σᵢ sᵢ max(0, 1 − yᵢ (w·xᵢ + b))ᵖ` with `p` 1 or 2, or `‖w‖₁` instead of `½‖w‖²` (Cortes & Vapnik 1995; Fan et
//! al. 2008). The intercept is the weight of a constant column of `intercept_scaling`, penalized like the others or
//! unpenalized. The multiclass problem of Crammer & Singer, which fits all classes jointly, is in
//! [`crate::solver::dual_coordinate_descent::crammer_singer`].

use super::loss::hinge::{
    Dual, DualRule, LossPower, MarginLoss, Penalties, SolveOptions, SolveResult, Targets,
    check_dual, solve,
};
use super::loss::leave_one_out::leave_one_out_scores;
use crate::calibrate::coupling::{DecisionLayout, log_class_probabilities};
use crate::calibrate::map::{maps_are_valid, not_calibrated};
use crate::calibrate::{Calibration, CalibrationMap};
use crate::data::ClassWeight;
use crate::data::ClassWeightParam;
use crate::data::design_matrix::DesignMatrix;
use crate::model::{Cached, check_predictions};
use crate::prelude::*;
use crate::solver::coordinate_descent::{ElasticNetPenalty, PenalizedLoss};
use crate::solver::dual_coordinate_descent::crammer_singer::{
    self, CrammerSinger, CrammerSingerLimits,
};
use crate::solver::duality_gap::{Accuracy, DualityGap};
use mercer_num::parallel::prelude::*;
use mercer_num::rows::Missing;
use std::ops::Range;
use std::time::Instant;

/// Epochs of dual coordinate descent that count as one iteration of `max_iter` for the Crammer-Singer problem.
const EPOCHS_PER_ITERATION: u64 = 100;

/// One-vs-rest problems that are solved at once. More of them are solved in blocks: the scores of all rows for all classes
/// would take too much memory, and a monitor could stop none of the passes over them.
const MAX_JOINT_CLASSES: usize = 256;

/// Columns whose weights are transposed at once.
const COLUMNS_PER_BLOCK: usize = 256;

choice! {
    /// Penalty on the weights of a linear support vector machine.
    pub enum SvmPenalty {
        /// `½‖w‖²`.
        L2 = "l2",
        /// `‖w‖₁`: many weights become zero.
        L1 = "l1",
    }
}

choice! {
    /// Loss of a row inside the margin or on the wrong side.
    pub enum HingeLoss {
        /// `max(0, 1 − y z)`.
        Hinge = "hinge",
        /// `max(0, 1 − y z)²`.
        SquaredHinge = "squared_hinge",
    }
}

choice! {
    /// Whether the penalty includes the intercept.
    pub enum InterceptPenalty {
        /// Penalized as the weight of a constant column of `intercept_scaling`.
        Penalized = "penalized",
        /// Not penalized.
        Unpenalized = "unpenalized",
    }
}

choice! {
    /// Multiclass strategy.
    pub enum LinearMulticlass {
        /// One binary problem per class, against the rest.
        OneVsRest = "ovr",
        /// All classes jointly, so that each row's own class has the highest score.
        CrammerSinger = "crammer_singer",
    }
}

params! {
    /// Linear support vector classification: the separating hyperplane with the largest margin.
    pub struct LinearSvc {
        /// Penalty on the weights: `l2` (half the squared norm) or `l1` (the sum of absolute values, which makes many
        /// weights zero; only with `loss=squared_hinge`).
        penalty: SvmPenalty = SvmPenalty::L2, OneOf(SvmPenalty::VALUES);
        /// Loss of a row inside the margin: its distance from the margin (`hinge`) or the squared distance
        /// (`squared_hinge`).
        loss: HingeLoss = HingeLoss::SquaredHinge, OneOf(HingeLoss::VALUES);
        /// Stop when the optimality conditions are violated by at most `tol` and the relative duality gap is at most
        /// `tol`. Smaller values take longer.
        tol: f64 = 1e-4, Above(0.0);
        /// Solve the dual problem by coordinate descent first. Fast for many features with the hinge loss; `auto`
        /// chooses it there. Newton's method on the primal problem gives the last digits in any case.
        dual: Dual = Dual::Rule(DualRule::Auto), Any;
        /// Inverse regularization strength. Larger values fit the training rows more closely and allow a smaller margin.
        C: f64 = 1.0, Above(0.0);
        ..FitIntercept;
        /// Value of the constant column whose weight gives the intercept. Larger values penalize the intercept less.
        intercept_scaling: f64 = 1.0, Above(0.0);
        /// Whether the penalty includes the intercept: `penalized` like the weight of the constant column, as LIBLINEAR
        /// does, or `unpenalized`.
        intercept: InterceptPenalty = InterceptPenalty::Penalized, OneOf(InterceptPenalty::VALUES);
        ..ClassWeightParam(Above(0.0));
        /// Maximum number of iterations. For `multi_class=crammer_singer` an iteration is a hundred epochs over the rows.
        max_iter: usize = 1000, AtLeast(1.0);
        /// Stop at this relative duality gap instead of at `tol`. `None` stops at `tol`.
        gap: Option<f64> = None, Above(0.0);
        /// Multiclass strategy: one problem per class against the rest (`ovr`), or all classes jointly
        /// (`crammer_singer`, which uses the hinge loss whatever `loss` is).
        multi_class: LinearMulticlass = LinearMulticlass::OneVsRest, OneOf(LinearMulticlass::VALUES);
        /// Estimate class probabilities, calibrated on approximate leave-one-out scores. Predictions are then the most
        /// probable class.
        probability: bool = false, Any;
        /// Calibration of scores to probabilities if `probability` is true: `sigmoid` (Platt), `isotonic` or `venn-abers`
        /// (two isotonic fits, one per assumed label). The last two need more rows and adapt to any monotonic shape.
        calibration: Calibration = Calibration::Sigmoid, OneOf(Calibration::VALUES);
    }
    formula = "min ½‖w‖² + C Σᵢ max(0, 1 − yᵢ(w·xᵢ + b))ᵖ,  p = 1 (hinge) or 2 (squared hinge)";
    lecture = 11;
    attributes = [CLASS_COEF, CLASS_INTERCEPT, ITERATIONS, CONVERGED];
    sklearn {
        positional: &["penalty", "loss"],
        extra: &[VERBOSE_LEVEL, NO_RANDOM_STATE],
    }
}

/// One hyperplane per class, or a single one for two classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearSvcModel {
    /// The classes.
    pub classes: Classes,
    /// The weights, one row per class; for two classes one row, of the second class.
    pub coefficients: Matrix,
    /// The intercepts.
    pub intercepts: Vec<f64>,
    /// Iterations of the solver.
    pub n_iter: u64,
    /// Whether the solver reached its tolerance.
    pub converged: bool,
    /// The calibration map of every decision value, if `probability` is true.
    #[serde(default)]
    pub calibration: Option<Vec<CalibrationMap>>,
    #[serde(skip)]
    by_feature: Cached<Vec<f64>>,
}

impl Fit for LinearSvc {
    type Model = LinearSvcModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<LinearSvcModel>> {
        let began = Instant::now();
        self.check()?;
        self.check_combination()?;
        let (codes, classes) = data.class_target()?;
        check_rows(data)?;
        classes.check_several()?;
        data.check_cells(Missing::Refused)?;
        let weight = |i: usize| data.weights().get(i).copied().unwrap_or(1.0);
        let mut class_totals = vec![0.0; classes.len()];
        codes.iter().enumerate().for_each(|(i, c)| class_totals[*c as usize] += weight(i));
        let class_weights =
            ClassWeight::factors(self.class_weight.as_ref(), classes, &class_totals)?;
        let observed: Vec<u32> =
            (0..classes.len() as u32).filter(|c| class_totals[*c as usize] > 0.0).collect();
        match observed[..] {
            [] => return Err(Error::NoRows),
            [only] => return Err(Error::OneClass { class: classes.label(only).to_string() }),
            _ => {}
        }
        let n_weights = data.n_columns() + usize::from(self.fit_intercept);
        let n_joint = match self.multi_class {
            LinearMulticlass::OneVsRest => observed.len().min(MAX_JOINT_CLASSES + 1),
            LinearMulticlass::CrammerSinger => observed.len(),
        };
        let bytes = MarginLoss::memory_bytes(data.rows(), n_weights, n_joint);
        monitor.reserve("storing the scores of all rows", bytes)?;
        let index_of = class_positions(&observed, classes.len());
        let index = |c: &u32| index_of[*c as usize];
        let training = TrainingData {
            data,
            classes,
            class_indices: codes.iter().map(index).collect(),
            class_weights: observed.iter().map(|c| class_weights[*c as usize]).collect(),
            costs: (0..data.n_rows()).map(|i| self.C * weight(i)).collect(),
            observed,
            max_hessian_entries: MarginLoss::hessian_budget(monitor, bytes),
            design: DesignMatrix::new(data.rows(), self.fit_intercept, monitor)?,
            began,
        };
        match self.multi_class {
            LinearMulticlass::OneVsRest => self.fit_one_vs_rest(training, monitor),
            LinearMulticlass::CrammerSinger => self.fit_crammer_singer(training, monitor),
        }
    }
}

/// The validated training rows, with their classes and costs.
struct TrainingData<'a, 'd> {
    data: &'a Dataset<'d>,
    classes: &'a Classes,
    /// The codes of the observed classes.
    observed: Vec<u32>,
    /// The index of each row's class among them.
    class_indices: Vec<u32>,
    /// The class weight of each of them.
    class_weights: Vec<f64>,
    /// `C` times the sample weight of each row.
    costs: Vec<f64>,
    max_hessian_entries: usize,
    design: DesignMatrix<'d>,
    began: Instant,
}

/// The indices of classes counted from the class `first`; classes before it have no index.
fn indices_from(first: u32, class_indices: &[u32]) -> Vec<u32> {
    class_indices.iter().map(|c| c.checked_sub(first).unwrap_or(u32::MAX)).collect()
}

impl LinearSvc {
    /// Rejects options that contradict each other.
    fn check_combination(&self) -> Result<()> {
        let unpenalized = self.fit_intercept && self.intercept == InterceptPenalty::Unpenalized;
        check_dual(self.dual, self.penalty == SvmPenalty::L1, unpenalized)?;
        let reject = |name: &str, found: &str, expected: &str| {
            let (found, expected) = (found.to_owned(), expected.to_owned());
            Err(Error::Parameter { name: name.into(), found, expected })
        };
        if self.penalty == SvmPenalty::L1 && self.loss == HingeLoss::Hinge {
            let expected = "`squared_hinge` with `penalty=l1`, or `penalty=l2`";
            return reject("loss", "hinge with `penalty=l1`", expected);
        }
        if self.multi_class == LinearMulticlass::OneVsRest {
            return Ok(());
        }
        let found = match () {
            () if self.penalty == SvmPenalty::L1 => "crammer_singer with `penalty=l1`",
            () if unpenalized => "crammer_singer with `intercept=unpenalized`",
            () if self.dual == Dual::Given(false) => "crammer_singer with `dual=false`",
            () if self.probability => "crammer_singer with `probability=true`",
            () => return Ok(()),
        };
        let expected = "`ovr`; `crammer_singer` needs `penalty=l2`, a penalized intercept, the dual problem and no \
                        probabilities";
        reject("multi_class", found, expected)
    }

    /// One binary problem per class, against the rest.
    fn fit_one_vs_rest(
        &self,
        training: TrainingData<'_, '_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<LinearSvcModel>> {
        let TrainingData { data, classes, observed, class_indices, mut design, began, .. } =
            training;
        let m = if observed.len() == 2 { 1 } else { observed.len() };
        let power = match self.loss {
            HingeLoss::Hinge => LossPower::Linear,
            HingeLoss::SquaredHinge => LossPower::Squared,
        };
        let options = SolveOptions {
            accuracy: Accuracy { tol: self.tol, gap: self.gap },
            dual: self.dual,
            max_iter: self.max_iter,
            monitor,
        };
        let mut weights = vec![0.0; design.n_weights() * m];
        let mut maps =
            vec![CalibrationMap::placeholder(); if classes.len() == 2 { 1 } else { classes.len() }];
        let mut solved: Option<SolveResult> = None;
        for block in class_blocks(m) {
            if let Some(solved) = &mut solved
                && let Some(stop) = monitor.stop()
            {
                // The other weights remain zero.
                let rest = block.start..m;
                let class_indices = &class_indices;
                let costs = &training.costs;
                solved.leave_unsolved(
                    unsolved_gaps(rest.clone(), class_indices, costs, &training.class_weights),
                    stop,
                );
                for code in &observed[rest] {
                    maps[*code as usize] = CalibrationMap::uncalibrated();
                }
                break;
            }
            let all = m <= MAX_JOINT_CLASSES;
            let first = if all { 0 } else { block.start as u32 };
            let own_indices = indices_from(first, &class_indices);
            let own_classes = if all { 0..observed.len() } else { block.clone() };
            let targets = Targets::Classes {
                class_indices: own_indices.clone(),
                class_weights: training.class_weights[own_classes.clone()].to_vec(),
            };
            let costs = training.costs.clone();
            let mut problem =
                MarginLoss::new(design, block.len(), targets, costs, power, self.penalties());
            problem.max_hessian_entries = training.max_hessian_entries;
            let result = solve(&mut problem, &options);
            let at_zero = solved.is_none() && problem.weights().iter().all(|w| *w == 0.0);
            if result.stopped.is_some() && at_zero {
                return Err(Error::Stopped);
            }
            let own = problem.weights().chunks_exact(block.len());
            for (to, own) in weights.chunks_exact_mut(m).zip(own) {
                to[block.clone()].copy_from_slice(own);
            }
            if self.probability {
                let own_classes = &observed[own_classes];
                self.calibrate(&mut maps, &problem, data, &own_indices, own_classes, monitor);
            }
            solved = Some(match solved {
                Some(before) => before.and(result),
                None => result,
            });
            design = problem.design;
        }
        let solved = solved.expect("there are at least two classes");
        monitor.report(solved.n_iter(), Some(solved.n_iter()));
        let certificate = solved.certificate("primal objective", data.n_rows(), began);
        let (shape, end) = ((m, data.n_columns()), (solved.n_iter(), solved.converged));
        let model = LinearSvcModel {
            calibration: self.probability.then_some(maps),
            ..LinearSvcModel::from_weights(classes, &observed, shape, &weights, end)
        };
        Ok(Fitted { model, certificate })
    }

    /// All classes jointly.
    fn fit_crammer_singer(
        &self,
        training: TrainingData<'_, '_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<LinearSvcModel>> {
        let TrainingData { data, classes, observed, class_indices, design, began, .. } = training;
        let weighted = |(index, cost): (&u32, &f64)| training.class_weights[*index as usize] * cost;
        let intercept_scale = if self.fit_intercept { self.intercept_scaling.powi(2) } else { 0.0 };
        let problem = CrammerSinger {
            design: &design,
            class_indices: &class_indices,
            n_classes: observed.len(),
            costs: class_indices.iter().zip(&training.costs).map(weighted).collect(),
            intercept_scale,
        };
        let max_epochs = EPOCHS_PER_ITERATION.saturating_mul(self.max_iter as u64);
        let limits = CrammerSingerLimits { tol: self.tol, gap: self.gap, max_epochs, monitor };
        let solved = crammer_singer::solve(&problem, &limits);
        if solved.stopped.is_some() && solved.epochs <= 1 {
            return Err(Error::Stopped);
        }
        monitor.report(solved.epochs, Some(solved.epochs));
        let certificate = solved.certificate(data.n_rows(), began);
        let (weights, m) = match classes.len() {
            // The difference between the second and the first class decides.
            2 => (solved.weights.chunks_exact(2).map(|pair| pair[1] - pair[0]).collect(), 1),
            _ => (solved.weights, observed.len()),
        };
        let (shape, end) = ((m, data.n_columns()), (solved.epochs, solved.converged));
        let model = LinearSvcModel::from_weights(classes, &observed, shape, &weights, end);
        Ok(Fitted { model, certificate })
    }

    /// Fits the calibration maps of the decision values of some classes to approximate leave-one-out scores.
    fn calibrate(
        &self,
        maps: &mut [CalibrationMap],
        problem: &MarginLoss<'_>,
        data: &Dataset<'_>,
        class_indices: &[u32],
        observed: &[u32],
        monitor: &Monitor<'_>,
    ) {
        let m = problem.n_outputs;
        let weights: Vec<f64> = match data.weights() {
            [] => vec![1.0; data.n_rows()],
            weights => weights.to_vec(),
        };
        let scores: Vec<Option<Vec<f64>>> = (0..m)
            .into_par_iter()
            .map(|k| match monitor.stop() {
                Some(_) => None,
                None => Some(leave_one_out_scores(problem, data.rows(), k)),
            })
            .collect();
        let map = |index: usize| {
            let (k, mirrored) = if m == 1 { (0, index == 0) } else { (index, false) };
            let own = if m == 1 { 1 } else { index as u32 };
            let Some(scores) = scores[k].as_ref().filter(|_| monitor.stop().is_none()) else {
                return CalibrationMap::uncalibrated();
            };
            let positive: Vec<bool> = class_indices.iter().map(|c| *c == own).collect();
            match mirrored {
                true => CalibrationMap::fit_negated(self.calibration, scores, &positive, &weights),
                false => CalibrationMap::fit(self.calibration, scores, &positive, &weights),
            }
        };
        if let [binary] = maps {
            *binary = map(1);
            return;
        }
        observed.iter().enumerate().for_each(|(index, code)| maps[*code as usize] = map(index));
    }

    fn penalties(&self) -> Penalties {
        let unpenalized = self.intercept == InterceptPenalty::Unpenalized;
        let inverse_scaling = if unpenalized { 0.0 } else { 1.0 / self.intercept_scaling };
        match self.penalty {
            SvmPenalty::L2 => Penalties {
                weights: ElasticNetPenalty { l2: 1.0, l1: 0.0 },
                intercept: ElasticNetPenalty { l2: inverse_scaling * inverse_scaling, l1: 0.0 },
            },
            SvmPenalty::L1 => Penalties {
                weights: ElasticNetPenalty { l2: 0.0, l1: 1.0 },
                intercept: ElasticNetPenalty { l2: 0.0, l1: inverse_scaling },
            },
        }
    }
}

/// The one-vs-rest problems of `m` outputs that are solved at once; no block has a single one if there are several.
fn class_blocks(m: usize) -> impl Iterator<Item = Range<usize>> {
    let n_blocks = m.div_ceil(MAX_JOINT_CLASSES);
    (0..n_blocks).map(move |k| k * m / n_blocks..(k + 1) * m / n_blocks)
}

/// The index of every class among the observed ones; zero for the others.
pub(super) fn class_positions(observed: &[u32], n_classes: usize) -> Vec<u32> {
    let mut positions = vec![0; n_classes];
    observed.iter().zip(0..).for_each(|(code, index)| positions[*code as usize] = index);
    positions
}

/// The duality gaps of classes whose weights and dual variables are zero: every row has the loss 1.
fn unsolved_gaps(
    classes: Range<usize>,
    class_indices: &[u32],
    costs: &[f64],
    class_weights: &[f64],
) -> Vec<DualityGap> {
    let total: f64 = costs.iter().sum();
    let mut own = vec![0.0; class_weights.len()];
    class_indices.iter().zip(costs).for_each(|(c, cost)| own[*c as usize] += cost);
    let gap = |k: usize| {
        let primal = total + own[k] * (class_weights[k] - 1.0);
        DualityGap::from_gap(primal, primal)
    };
    classes.map(gap).collect()
}

/// Rejects data without rows or without columns.
pub(super) fn check_rows(data: &Dataset<'_>) -> Result<()> {
    match (data.n_rows(), data.n_columns()) {
        (0, _) => Err(Error::NoRows),
        (_, 0) => Err(Error::NoFeatures),
        _ => Ok(()),
    }
}

/// The weights and intercepts with one row per class, from weights that are adjacent per feature.
fn by_class(
    weights: &[f64],
    m: usize,
    width: usize,
    n_classes: usize,
    observed: &[u32],
) -> (Matrix, Vec<f64>) {
    let (weights, by_feature_intercepts) = weights.split_at(width * m);
    let rows = if n_classes == 2 { 1 } else { n_classes };
    let mut coefficients = Matrix::zeros((rows, width));
    // A class without rows never has the highest score.
    let mut intercepts = vec![f64::NEG_INFINITY; rows];
    let mut sources = Vec::with_capacity(observed.len());
    for (index, code) in observed.iter().enumerate() {
        // Two observed classes share one hyperplane: for the second, against the first.
        let (k, sign) = match (m, rows) {
            (1, 1) => (0, 1.0),
            (1, _) => (0, if index == 1 { 1.0 } else { -1.0 }),
            _ => (index, 1.0),
        };
        let row = if rows == 1 { 0 } else { *code as usize };
        intercepts[row] = sign * by_feature_intercepts.get(k).copied().unwrap_or(0.0);
        sources.push((row, k, sign));
    }
    let entries = coefficients.as_slice_mut().expect("a fresh matrix is contiguous");
    // Blocks of columns, so that adjacent weights are read while they are in cache.
    for first in (0..width).step_by(COLUMNS_PER_BLOCK) {
        let last = (first + COLUMNS_PER_BLOCK).min(width);
        for (row, k, sign) in &sources {
            let entries = &mut entries[row * width + first..row * width + last];
            let weights = weights[first * m..last * m].chunks_exact(m);
            entries.iter_mut().zip(weights).for_each(|(entry, w)| *entry = sign * w[*k]);
        }
    }
    (coefficients, intercepts)
}

impl LinearSvcModel {
    /// The model of `m` weights per feature, intercepts last, of the observed classes.
    pub(super) fn from_weights(
        classes: &Classes,
        observed: &[u32],
        (m, width): (usize, usize),
        weights: &[f64],
        (n_iter, converged): (u64, bool),
    ) -> LinearSvcModel {
        let (coefficients, intercepts) = by_class(weights, m, width, classes.len(), observed);
        LinearSvcModel {
            classes: classes.clone(),
            coefficients,
            intercepts,
            n_iter,
            converged,
            calibration: None,
            by_feature: Cached::default(),
        }
    }

    /// The weights feature by feature, the intercepts last.
    fn by_feature(&self) -> Vec<f64> {
        let mut weights: Vec<f64> = self.coefficients.t().iter().copied().collect();
        weights.extend(&self.intercepts);
        weights
    }

    /// Whether the model was fitted with `probability = true`.
    pub fn has_probabilities(&self) -> bool {
        self.calibration.is_some()
    }

    fn log_proba_of(&self, decisions: &Matrix, maps: &[CalibrationMap]) -> Matrix {
        let two = self.classes.len() == 2;
        // A class without rows has the intercept −∞.
        let observed: Vec<bool> = match two {
            true => vec![true; 2],
            false => self.intercepts.iter().map(|b| b.is_finite()).collect(),
        };
        log_class_probabilities(
            decisions,
            maps,
            if two { DecisionLayout::Binary } else { DecisionLayout::OneVsRest },
            &observed,
        )
    }
}

impl Check for LinearSvcModel {
    fn check(&self) -> Result<()> {
        let (m, width) = self.coefficients.dim();
        let n = self.classes.len();
        let fits = n >= 2
            && m == if n == 2 { 1 } else { n }
            && m == self.intercepts.len()
            && width >= 1
            && self.coefficients.iter().all(|w| w.is_finite())
            && self.intercepts.iter().all(|b| *b < f64::INFINITY)
            && self.intercepts.iter().any(|b| b.is_finite())
            && maps_are_valid(self.calibration.as_deref(), m);
        if fits {
            Ok(())
        } else {
            Err(Error::File("coefficients that no fit of a linear SVC can return".into()))
        }
    }
}

impl DecisionFunction for LinearSvcModel {
    fn decisions(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        let m = self.intercepts.len();
        let mut decisions = Matrix::zeros((x.n_rows(), m));
        let cells = decisions.as_slice_mut().expect("a fresh matrix is contiguous");
        let weights = self.by_feature.get(|| self.by_feature());
        DesignMatrix::by_rows(x, true).scores(weights, m, cells);
        // A class without rows has the score −∞ for any row; other infinite scores come from bad cells.
        if cells.iter().any(|z| !z.is_finite()) {
            crate::data::check_cells(x, Missing::Refused)?;
            check_predictions(cells, &self.intercepts)?;
        }
        Ok(decisions)
    }
}

impl Classifier for LinearSvcModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn n_columns(&self) -> usize {
        self.coefficients.ncols()
    }

    /// The decision value of each class; for two classes that of the second, with both signs. With probabilities, their
    /// logarithms.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        let decisions = self.decisions(x)?;
        if let Some(maps) = &self.calibration {
            return Ok(self.log_proba_of(&decisions, maps));
        }
        if self.intercepts.len() > 1 {
            return Ok(decisions);
        }
        Ok(Matrix::from_shape_fn((x.n_rows(), 2), |(i, c)| class_sign(c) * decisions[[i, 0]]))
    }
}

impl Probabilistic for LinearSvcModel {
    fn log_proba(&self, x: &Rows<'_>) -> Result<Matrix> {
        let maps = self.calibration.as_ref().ok_or_else(|| not_calibrated("linear-svc"))?;
        Ok(self.log_proba_of(&self.decisions(x)?, maps))
    }
}

/// The sign of the decision value for the second of two classes.
fn class_sign(class: usize) -> f64 {
    if class == 1 { 1.0 } else { -1.0 }
}

impl AdditiveScores for LinearSvcModel {
    /// The terms of the decision values, also if the scores are probabilities.
    fn terms(&self, row: &[f64]) -> Result<(Vec<f64>, Matrix)> {
        self.scores(&Rows::from(ndarray::ArrayView1::from(row)))?;
        let k = self.classes.len();
        // The single row of two classes counts for the second and against the first.
        let source =
            |c: usize| if self.intercepts.len() == k { (c, 1.0) } else { (0, class_sign(c)) };
        let starts = (0..k).map(|c| source(c).1 * self.intercepts[source(c).0]).collect();
        let terms = Matrix::from_shape_fn((row.len(), k), |(j, c)| {
            let (index, sign) = source(c);
            sign * self.coefficients[[index, j]] * row[j]
        });
        Ok((starts, terms))
    }

    fn scores_are_log_odds(&self) -> bool {
        false
    }
}
