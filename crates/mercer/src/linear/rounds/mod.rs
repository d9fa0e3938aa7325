//! Logistic regression and the squared-hinge linear SVM and SVR by rounds.
//!
//! Minimize `½‖w‖² + C Σᵢ cᵢ ℓ(yᵢ, w·xᵢ + b)` with the log loss of softmax classes, the squared hinge loss
//! `max(0, 1 − y z)²` of every class against the rest, or the squared ε-insensitive loss `max(0, |z − y| − ε)²`, by
//! Newton's method with conjugate gradients ([`NewtonRounds`]) whose sums over the rows merge. The optimum is that of
//! the in-memory solvers, and so is the certificate: with `g` the gradient of the loss part, the dual point of the
//! residuals has the duality gap `Σⱼ (½ λⱼ wⱼ² + gⱼ² / 2λⱼ + wⱼ gⱼ)`, which needs no further pass.

mod rows;

use self::rows::{HessianRow, RowLoss, Targets, each_row};
use super::logistic::{LogisticRegression, LogisticRegressionModel, Penalty};
use super::svc::{
    HingeLoss, InterceptPenalty, LinearMulticlass, LinearSvc, LinearSvcModel, SvmPenalty,
};
use super::svr::{EpsilonInsensitiveLoss, LinearSvr, LinearSvrModel};
use crate::data::{ClassWeight, Classes, Dataset};
use crate::error::{Error, Result};
use crate::model::{
    BoxedRounds, ByRounds, Certificate, Fitted, Params, RoundPenalty, RoundPoint, RoundProgress,
    RoundSums, Rounds, Shape, Stop,
};
use crate::solver::newton_rounds::{MAX_DENSE_HESSIAN_WEIGHTS, NewtonRounds, Request};
use mercer_num::rows::Missing;

/// The gradient of an unpenalized intercept, relative to the loss weights, that counts as zero: the dual point is
/// feasible only where it vanishes.
const INTERCEPT_TOLERANCE: f64 = 1e-12;

/// The problem, independent of the rows.
struct LinearProblem {
    loss: RowLoss,
    /// The classes, or `None` for regression.
    classes: Option<Classes>,
    class_weight: Option<ClassWeight>,
    c: f64,
    width: usize,
    fit_intercept: bool,
    /// The penalty on half the squared weights; zero leaves them unpenalized.
    weight_penalty: f64,
    /// The same for the intercept.
    intercept_penalty: f64,
    /// Whether the penalty is that of standardized columns, as in Spark's MLlib: the squared weight of a column counts
    /// with its variance.
    standardized_penalty: bool,
    /// The tolerance on the mean gradient.
    tol: f64,
    max_iterations: u64,
}

/// The solution, handed to the estimator that makes its model of it.
struct LinearSolution {
    /// The classes that have rows.
    present: Vec<u32>,
    /// Scores per row: one per class, or one for two classes and for regression.
    m: usize,
    /// Weights feature by feature, intercepts last.
    weights: Vec<f64>,
    /// The mean of every column.
    means: Vec<f64>,
    iterations: u64,
    converged: bool,
}

/// Refuses a parameter value whose problem has no rounds.
fn refuse(name: &str, found: &str, expected: &str) -> Error {
    Error::Parameter { name: name.into(), found: found.into(), expected: expected.into() }
}

impl ByRounds for LogisticRegression {
    fn by_rounds(&self, shape: &Shape<'_>) -> Result<BoxedRounds<LogisticRegressionModel>> {
        self.check()?;
        let weight_penalty = match self.penalty {
            Penalty::L2 => 1.0,
            Penalty::None => 0.0,
            _ => {
                let found = format!("{:?}", self.penalty).to_lowercase();
                return Err(refuse("penalty", &found, "`l2` or `none` for a fit by rounds"));
            }
        };
        let problem = LinearProblem {
            loss: RowLoss::Softmax,
            classes: Some(classes(shape)?),
            class_weight: self.class_weight.clone(),
            c: if weight_penalty > 0.0 { self.C } else { 1.0 },
            width: shape.n_columns,
            fit_intercept: self.fit_intercept,
            weight_penalty,
            standardized_penalty: false,
            intercept_penalty: 0.0,
            tol: self.tol,
            max_iterations: self.max_iter as u64,
        };
        Ok(Box::new(LinearRounds::new(problem, |solution, classes| {
            LogisticRegressionModel::from_weights(
                classes.expect("a classifier is started with its classes"),
                &solution.present,
                (solution.m, solution.means.len()),
                &solution.weights,
                solution.iterations,
            )
        })))
    }
}

impl ByRounds for LinearSvc {
    fn by_rounds(&self, shape: &Shape<'_>) -> Result<BoxedRounds<LinearSvcModel>> {
        self.check()?;
        match () {
            () if self.loss != HingeLoss::SquaredHinge => {
                return Err(refuse("loss", "hinge", "`squared_hinge` for a fit by rounds"));
            }
            () if self.penalty != SvmPenalty::L2 => {
                return Err(refuse("penalty", "l1", "`l2` for a fit by rounds"));
            }
            () if self.multi_class != LinearMulticlass::OneVsRest => {
                return Err(refuse("multi_class", "crammer_singer", "`ovr` for a fit by rounds"));
            }
            () if self.probability => {
                return Err(refuse("probability", "true", "false for a fit by rounds"));
            }
            () => {}
        }
        let problem = LinearProblem {
            loss: RowLoss::SquaredHinge,
            classes: Some(classes(shape)?),
            class_weight: self.class_weight.clone(),
            c: self.C,
            width: shape.n_columns,
            fit_intercept: self.fit_intercept,
            weight_penalty: 1.0,
            standardized_penalty: false,
            intercept_penalty: intercept_penalty(self.intercept, self.intercept_scaling),
            tol: self.tol,
            max_iterations: self.max_iter as u64,
        };
        Ok(Box::new(LinearRounds::new(problem, |solution, classes| {
            LinearSvcModel::from_weights(
                classes.expect("a classifier is started with its classes"),
                &solution.present,
                (solution.m, solution.means.len()),
                &solution.weights,
                (solution.iterations, solution.converged),
            )
        })))
    }
}

impl ByRounds for LinearSvr {
    fn by_rounds(&self, shape: &Shape<'_>) -> Result<BoxedRounds<LinearSvrModel>> {
        self.check()?;
        if self.loss != EpsilonInsensitiveLoss::SquaredEpsilonInsensitive {
            let expected = "`squared_epsilon_insensitive` for a fit by rounds";
            return Err(refuse("loss", "epsilon_insensitive", expected));
        }
        let problem = LinearProblem {
            loss: RowLoss::SquaredEpsilonInsensitive { epsilon: self.epsilon },
            classes: None,
            class_weight: None,
            c: self.C,
            width: shape.n_columns,
            fit_intercept: self.fit_intercept,
            weight_penalty: 1.0,
            standardized_penalty: false,
            intercept_penalty: intercept_penalty(self.intercept, self.intercept_scaling),
            tol: self.tol,
            max_iterations: self.max_iter as u64,
        };
        Ok(Box::new(LinearRounds::new(problem, |solution, _| {
            let (coefficients, intercept) = solution.weights.split_at(solution.means.len());
            LinearSvrModel {
                coefficients: coefficients.to_vec(),
                intercept: intercept.first().copied().unwrap_or(0.0),
                means: solution.means,
                n_iter: solution.iterations,
                converged: solution.converged,
            }
        })))
    }
}

fn wrong_point() -> Error {
    Error::File("the point of a round belongs to another problem".into())
}

fn classes(shape: &Shape<'_>) -> Result<Classes> {
    let classes = shape.classes.ok_or(Error::NoRows)?;
    classes.check_several()?;
    Ok(classes.clone())
}

/// The intercept is the weight of a constant column of `scaling`.
fn intercept_penalty(intercept: InterceptPenalty, scaling: f64) -> f64 {
    match intercept {
        InterceptPenalty::Penalized => scaling.powi(-2),
        InterceptPenalty::Unpenalized => 0.0,
    }
}

/// A fit under way.
struct LinearRounds<M> {
    problem: LinearProblem,
    /// Known after the first round.
    state: Option<State>,
    rows: u64,
    make: fn(LinearSolution, Option<&Classes>) -> M,
}

struct State {
    newton: NewtonRounds,
    m: usize,
    present: Vec<u32>,
    /// Per class: its index among the present ones and its weight in the loss.
    index: Vec<u32>,
    factors: Vec<f64>,
    penalties: Vec<f64>,
    means: Vec<f64>,
}

impl<M> LinearRounds<M> {
    fn new(
        problem: LinearProblem,
        make: fn(LinearSolution, Option<&Classes>) -> M,
    ) -> LinearRounds<M> {
        LinearRounds { problem, state: None, rows: 0, make }
    }
}

impl LinearProblem {
    fn n_weights(&self, m: usize) -> usize {
        m * (self.width + usize::from(self.fit_intercept))
    }

    fn check(&self, batch: &Dataset<'_>) -> Result<()> {
        if batch.n_columns() != self.width {
            return Err(Error::Columns { found: batch.n_columns(), expected: self.width });
        }
        batch.check_cells(Missing::Refused)
    }

    /// The first round: the weight of every class, or of all rows, and the weighted sums of the columns.
    fn count(&self, sums: &mut RoundSums, batch: &Dataset<'_>) -> Result<()> {
        self.check(batch)?;
        let n_classes = self.classes.as_ref().map_or(1, Classes::len);
        let codes = match &self.classes {
            Some(_) => Some(batch.class_target()?.0),
            None => None,
        };
        let first_square = n_classes + self.width;
        let sums = sums.at_least(self.n_counts());
        each_row(batch.rows(), |i, cells| {
            let weight = batch.weights().get(i).copied().unwrap_or(1.0);
            sums[codes.map_or(0, |codes| codes[i] as usize)] += weight;
            cells.each(|j, x| sums[n_classes + j] += weight * x);
            if self.standardized_penalty {
                cells.each(|j, x| sums[first_square + j] += weight * x * x);
                sums[first_square + self.width] += weight * weight;
            }
        });
        Ok(())
    }

    /// The number of sums of the first round.
    fn n_counts(&self) -> usize {
        let squares = if self.standardized_penalty { self.width + 1 } else { 0 };
        self.classes.as_ref().map_or(1, Classes::len) + self.width + squares
    }

    /// The penalty on half the squared weight of each column: its unbiased variance if the penalty is standardized. A
    /// constant column keeps the penalty of one, so that its weight stays at zero beside the intercept.
    fn column_penalties(&self, means: &[f64], squares: &[f64], total: f64) -> Vec<f64> {
        let [squares @ .., squared_weights] = squares else {
            return vec![self.weight_penalty; self.width];
        };
        let divisor = total - squared_weights / total;
        let variance = |(square, mean): (&f64, &f64)| {
            let centered = square - total * mean * mean;
            // Below this, rounding of the sums decides.
            let varies = centered > 1e-14 * square && divisor > 0.0;
            self.weight_penalty * if varies { centered / divisor } else { 1.0 }
        };
        squares.iter().zip(means).map(variance).collect()
    }

    fn start(&self, sums: &[f64]) -> Result<State> {
        let n_classes = self.classes.as_ref().map_or(1, Classes::len);
        if sums.len() != self.n_counts() {
            return Err(Error::Merge { why: "the sums are of another problem".into() });
        }
        let (by_class, columns) = sums.split_at(n_classes);
        let (columns, squares) = columns.split_at(self.width);
        let total: f64 = by_class.iter().sum();
        if total <= 0.0 {
            return Err(Error::NoRows);
        }
        let means: Vec<f64> = columns.iter().map(|sum| sum / total).collect();
        let by_column = self.column_penalties(&means, squares, total);
        let factors = match &self.classes {
            Some(classes) => ClassWeight::factors(self.class_weight.as_ref(), classes, by_class)?,
            None => vec![1.0],
        };
        let mut present: Vec<u32> = Vec::new();
        let mut index = vec![0; n_classes];
        if let Some(classes) = &self.classes {
            for c in 0..n_classes {
                if by_class[c] * factors[c] > 0.0 {
                    index[c] = present.len() as u32;
                    present.push(c as u32);
                }
            }
            match present[..] {
                [] => return Err(Error::NoRows),
                [only] => return Err(Error::OneClass { class: classes.label(only).to_string() }),
                _ => {}
            }
        }
        let m = if present.len() <= 2 { 1 } else { present.len() };
        let loss_weight: f64 =
            self.c * by_class.iter().zip(&factors).map(|(w, f)| w * f).sum::<f64>();
        let mut penalties: Vec<f64> =
            by_column.iter().flat_map(|penalty| std::iter::repeat_n(*penalty, m)).collect();
        penalties.resize(self.n_weights(m), self.intercept_penalty);
        // Without a penalty there is no dual point whose feasibility a small gradient has to ensure.
        let unpenalized = if self.weight_penalty > 0.0 { INTERCEPT_TOLERANCE } else { self.tol };
        let tolerances = (self.tol * loss_weight, unpenalized * loss_weight);
        let weights = vec![0.0; penalties.len()];
        let newton = NewtonRounds::new(weights, penalties.clone(), tolerances, self.max_iterations);
        Ok(State { newton, m, present, index, factors, penalties, means })
    }
}

impl State {
    /// The state of a process that only observes rows at a point.
    fn at_point(problem: &LinearProblem, point: &RoundPoint) -> Result<State> {
        let n_classes = problem.classes.as_ref().map_or(1, Classes::len);
        let mut index = vec![0; n_classes];
        for (k, class) in point.present.iter().enumerate() {
            *index.get_mut(*class as usize).ok_or_else(wrong_point)? = k as u32;
        }
        let m = if point.present.len() <= 2 { 1 } else { point.present.len() };
        let n = problem.n_weights(m);
        let fits = point.weights.len() == n
            && point.direction.as_ref().is_none_or(|direction| direction.len() == n)
            && point.factors.len() == n_classes;
        let numbers = point.weights.iter().chain(&point.factors);
        if !fits || !numbers.chain(point.direction.iter().flatten()).all(|x| x.is_finite()) {
            return Err(wrong_point());
        }
        Ok(State {
            newton: NewtonRounds::at_request(point.weights.clone(), point.direction.clone()),
            m,
            present: point.present.clone(),
            index,
            factors: point.factors.clone(),
            penalties: Vec::new(),
            means: Vec::new(),
        })
    }

    fn point(&self) -> RoundPoint {
        let (weights, direction) = match self.newton.request() {
            Request::Evaluate(at) => (at, None),
            Request::Product(at, along) => (at, Some(along)),
        };
        RoundPoint {
            weights: weights.to_vec(),
            direction: direction.map(<[f64]>::to_vec),
            present: self.present.clone(),
            factors: self.factors.clone(),
        }
    }

    /// One pass: loss, gradient and Hessian or its diagonal, or a Hessian product.
    fn observe(
        &self,
        problem: &LinearProblem,
        sums: &mut RoundSums,
        batch: &Dataset<'_>,
    ) -> Result<()> {
        problem.check(batch)?;
        let targets = Targets::of(problem, self, batch)?;
        let (m, n) = (self.m, problem.n_weights(self.m));
        let (at, along) = match self.newton.request() {
            Request::Evaluate(at) => (at, None),
            Request::Product(at, along) => (at, Some(along)),
        };
        let n_second = if n <= MAX_DENSE_HESSIAN_WEIGHTS { n * (n + 1) / 2 } else { n };
        let sums = sums.at_least(if along.is_some() { n } else { 1 + n + n_second });
        let (mut scores, mut moves) = (vec![0.0; m], vec![0.0; m]);
        let (mut residual, mut curvature) = (vec![0.0; m], vec![0.0; m]);
        let mut hessian = (n <= MAX_DENSE_HESSIAN_WEIGHTS).then(|| HessianRow::new(m, n));
        each_row(batch.rows(), |i, cells| {
            let row = targets.row(i);
            cells.score(at, problem, &mut scores);
            match along {
                Some(along) => {
                    cells.score(along, problem, &mut moves);
                    row.hessian_product(problem.loss, &scores, &moves, &mut residual);
                    cells.add(&residual, problem, sums);
                }
                None => {
                    sums[0] += row.loss(problem.loss, &scores, &mut residual, &mut curvature);
                    cells.add(&residual, problem, &mut sums[1..=n]);
                    let second = &mut sums[1 + n..];
                    match &mut hessian {
                        Some(hessian) => {
                            hessian.set_scores(problem.loss, &row, &scores, &curvature);
                            hessian.add(&cells, problem, second);
                        }
                        None => cells.add_squares(&curvature, problem, second),
                    }
                }
            }
        });
        Ok(())
    }

    /// The duality gap at the last evaluated point; `None` without a penalty.
    fn duality_gap(&self, problem: &LinearProblem) -> Option<f64> {
        if problem.weight_penalty == 0.0 {
            return None;
        }
        let weights = self.newton.weights.iter().zip(&self.newton.gradient);
        let gap = weights
            .zip(&self.penalties)
            .filter(|(_, penalty)| **penalty > 0.0)
            .map(|((w, total), penalty)| {
                let gradient = total - penalty * w;
                0.5 * penalty * w * w + 0.5 * gradient * gradient / penalty + w * gradient
            })
            .sum();
        Some(gap)
    }
}

impl<M: Send + Sync> Rounds for LinearRounds<M> {
    type Model = M;

    fn observe(&self, sums: &mut RoundSums, batch: &Dataset<'_>) -> Result<()> {
        match &self.state {
            None => self.problem.count(sums, batch),
            Some(state) => state.observe(&self.problem, sums, batch),
        }
    }

    fn step(&mut self, sums: &RoundSums, rows: u64) -> Result<bool> {
        match &mut self.state {
            None => {
                if rows == 0 {
                    return Err(Error::NoRows);
                }
                (self.state, self.rows) = (Some(self.problem.start(&sums.sums)?), rows);
                Ok(true)
            }
            Some(state) => Ok(state.newton.answer(&sums.sums)),
        }
    }

    fn point(&self) -> Option<RoundPoint> {
        self.state.as_ref().map(State::point)
    }

    fn move_to(&mut self, point: &RoundPoint) -> Result<()> {
        self.state = Some(State::at_point(&self.problem, point)?);
        Ok(())
    }

    fn set_penalty(&mut self, penalty: RoundPenalty) {
        self.problem.standardized_penalty = penalty == RoundPenalty::StandardizedColumns;
        if penalty == RoundPenalty::None {
            self.problem.weight_penalty = 0.0;
        }
    }

    fn progress(&self) -> Option<RoundProgress> {
        let state = self.state.as_ref().filter(|state| state.newton.value.is_finite())?;
        Some(RoundProgress {
            iterations: state.newton.iterations,
            objective: state.newton.value,
            duality_gap: state.duality_gap(&self.problem),
            violation: state.newton.violation(),
        })
    }

    fn finish(self: Box<Self>, stopped: Option<Stop>) -> Result<Fitted<M>> {
        let LinearRounds { problem, state, rows, make } = *self;
        let state = state.filter(|state| state.newton.value.is_finite()).ok_or(Error::Stopped)?;
        let newton = &state.newton;
        let (value, gap) = (newton.value, state.duality_gap(&problem));
        let name = match problem.loss {
            RowLoss::Softmax => "penalized log loss",
            _ => "primal objective",
        };
        let certificate = Certificate::iterative(newton.converged, stopped).objective(name, value);
        let certificate = match gap {
            Some(gap) => certificate.dual(value - gap),
            None => certificate.note("no penalty, hence no duality gap"),
        };
        let certificate = certificate
            .violation("largest entry of the gradient", newton.violation())
            .note(match newton.products {
                0 => "by rounds: one pass over the rows per iteration".to_owned(),
                n => format!("by rounds: {n} Hessian products, each one pass over the rows"),
            })
            .rows(rows)
            .iterations(newton.iterations);
        let solution = LinearSolution {
            iterations: newton.iterations,
            converged: newton.converged,
            m: state.m,
            present: state.present,
            weights: state.newton.weights,
            means: state.means,
        };
        Ok(Fitted { model: make(solution, problem.classes.as_ref()), certificate })
    }
}
