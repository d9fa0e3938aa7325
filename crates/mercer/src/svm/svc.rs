//! Support vector classification with a soft or a hard margin (C-SVC).
//!
//! Minimize `½‖w‖² + Σᵢ Cᵢ ξᵢᵏ` subject to `yᵢ (w·φ(xᵢ) + b) ≥ 1 − ξᵢ` and `ξᵢ ≥ 0` (Cortes & Vapnik 1995). For `k = 1`
//! the dual problem is `max Σ αᵢ − ½ Σ αᵢαⱼ yᵢyⱼ K(xᵢ, xⱼ)` with `0 ≤ αᵢ ≤ Cᵢ` and `Σ αᵢyᵢ = 0`; for `k > 1` a penalty
//! replaces the upper bounds, see [`PowerSlack`]. The coefficients of the decision function are `βᵢ = yᵢαᵢ`.

use super::dual_problem::{DualSolution, shared_kernel};
use super::duality_gap::DualityGap;
use super::hard_margin::{ConvexHulls, closest_points};
use super::multiclass::{BinaryFunction, ClassProblem, DecisionShape, Decomposition, Multiclass};
use super::params::{SmoOptions, SmoParams, SvmOptions};
use super::plan::{Reduction, plan};
use super::subproblem::{Subproblem, certificate, for_each_subproblem, solve_all};
use super::svc_model::SvcModel;
use crate::calibrate::map::{Calibration, CalibrationMap};
use crate::data::ClassWeightParam;
use crate::kernel::{Function, KernelParams, Precision, SvmKernelOptions};
use crate::model::{Certificate, Convergence, Status};
use crate::prelude::*;
use crate::solver::{OnProgress, PowerSlack};
use mercer_num::parallel::prelude::*;
use std::time::Instant;

choice! {
    /// Whether margin violations are allowed.
    pub enum Margin {
        /// Allowed at the cost `C`.
        Soft = "soft",
        /// Not allowed.
        Hard = "hard",
    }
}

params! {
    /// Support vector classification (C-SVC): maximum-margin classification with a kernel.
    pub struct Svc {
        /// Inverse regularization strength: the cost of margin violations. Larger values fit the
        /// training rows more closely and allow a smaller margin.
        C: f64 = 1.0, Above(0.0);
        /// `soft` allows margin violations at the cost `C`, `hard` allows none. If the classes are
        /// not separable with a hard margin, the fit fails and returns a witness: convex
        /// combinations of both classes that coincide.
        margin: Margin = Margin::Soft, OneOf(Margin::VALUES);
        /// Exponent of the slack in the loss: 1 for the hinge loss, 2 for the squared hinge loss,
        /// or any number from 1 on. Larger values penalize small margin violations less and large
        /// ones more.
        slack_power: f64 = 1.0, Between(1.0, 100.0);
        ..KernelParams(svm);
        ..SmoParams;
        ..ClassWeightParam(Above(0.0));
        /// Reduction of more than two classes: one classifier per pair of classes (`ovo`), one per
        /// class against the rest (`ovr`), or all classes jointly, without intercepts
        /// (`crammer_singer`).
        multiclass: Multiclass = Multiclass::OneVsOne, OneOf(Multiclass::VALUES);
        /// Shape of the decision function of more than two classes: one column per class (`ovr`) or
        /// one column per pair of classes (`ovo`).
        decision_function_shape: DecisionShape = DecisionShape::OneVsRest, OneOf(DecisionShape::VALUES);
        /// Break ties between classes with equally many votes by the sum of their decision values
        /// instead of by class order.
        break_ties: bool = false, Any;
        /// Fit calibration maps to leave-one-out decision values, so that the model predicts class
        /// probabilities. Predictions are then the most probable classes.
        probability: bool = false, Any;
        /// Calibration method if `probability` is true: Platt scaling (`sigmoid`), isotonic
        /// regression (`isotonic`), or Venn-Abers prediction (`venn-abers`). The last two need more
        /// rows and make no assumption about the shape of the map.
        calibration: Calibration = Calibration::Sigmoid, OneOf(Calibration::VALUES);
        /// Number of landmark rows of a Nyström approximation of the kernel, for data with many
        /// rows; 0 solves the exact problem. The approximation uses the squared hinge loss and
        /// one-vs-rest. Larger values are more accurate and slower.
        approx: usize = 0, Between(0.0, 1e6);
        /// Solve the exact problem after the approximate one, with its decision values as the warm
        /// start.
        polish: bool = false, Any;
    }
    formula = "min ½‖w‖² + C Σᵢ ξᵢ  subject to  yᵢ(w·φ(xᵢ) + b) ≥ 1 − ξᵢ, ξᵢ ≥ 0";
    lecture = 12;
    attributes = [
        SUPPORT,
        SUPPORT_VECTORS,
        CLASS_SUPPORT_COUNT,
        CLASS_DUAL_COEF,
        EXPANSION_INTERCEPTS,
        PAIRWISE_WEIGHTS,
        CLASS_WEIGHT,
        SUBPROBLEM_ITERATIONS,
        FIT_STATUS,
        own(
            "margins_",
            "ndarray of shape (n_subproblems,)",
            "Margin `1/‖w‖` of each subproblem: the distance between the hyperplane and the edge of the margin.",
        ),
        own(
            "slacks_",
            "ndarray of the shape of dual_coef_",
            "Slack `ξ` of each support vector; above one the row is misclassified.",
        ),
    ];
    sklearn {
        extra: &[NO_RANDOM_STATE],
        spellings: SUPPORT_VECTOR_CLASSIFIER,
    }
}

impl Svc {
    /// The options of the kernel and of the solver.
    pub(super) fn options(&self) -> SvmOptions {
        let mut options = SvmOptions::from(self);
        if self.margin == Margin::Hard {
            // Whether convex hulls intersect is decided in double precision.
            options.smo.tol = options.smo.tol.min(1e-9);
            options.smo.gap = None;
        }
        // Crammer-Singer has no intercepts.
        options.zero_sum = self.multiclass != Multiclass::CrammerSinger;
        options
    }

    /// The kernel function and the precision of a kernel matrix that fits to `data` can share; `None` for the forms that
    /// do not solve the dual problem of a soft margin.
    pub(crate) fn shared_kernel(&self, data: &Dataset<'_>) -> Option<(Function, Precision)> {
        let is_soft = self.margin == Margin::Soft && self.approx == 0 && self.slack_power <= 1.0;
        let is_binary = self.multiclass != Multiclass::CrammerSinger;
        (is_soft && is_binary).then(|| shared_kernel(&self.options(), data, self.C))
    }

    /// Fits the model, with a warm start from a model of the same rows if there is one.
    fn fit_with_warm_start(
        &self,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
        previous: Option<&SvcModel>,
    ) -> Result<Fitted<SvcModel>> {
        let start = Instant::now();
        self.check_finite_cost()?;
        self.check()?;
        self.check_combinations()?;
        if self.approx == 0 {
            return self.fit_exact(data, monitor, previous, start);
        }
        let approximate = self.fit_approximate(data, monitor)?;
        if !self.polish {
            return Ok(approximate);
        }
        self.fit_exact(data, monitor, Some(&approximate.model), start)
    }

    /// Refuses an infinite `C`, which stands for a hard margin in textbooks.
    fn check_finite_cost(&self) -> Result<()> {
        if self.C != f64::INFINITY {
            return Ok(());
        }
        Err(Error::Parameter {
            name: "C".into(),
            found: "inf".into(),
            expected: "float > 0, and finite; for a hard margin set `margin` to `hard`".into(),
        })
    }

    /// Refuses parameters that exclude each other.
    fn check_combinations(&self) -> Result<()> {
        let refuse = |name: &str, found: String, expected: &str| {
            Err(Error::Parameter { name: name.into(), found, expected: expected.into() })
        };
        let hard = self.margin == Margin::Hard;
        let crammer_singer = self.multiclass == Multiclass::CrammerSinger;
        let power = self.slack_power;
        if self.approx > 0 && hard {
            return refuse("margin", "hard".into(), "soft if `approx` is above 0");
        }
        if self.approx > 0 && crammer_singer {
            return refuse(
                "multiclass",
                "crammer_singer".into(),
                "ovr or ovo if `approx` is above 0",
            );
        }
        if self.approx > 0 && (![1.0, 2.0].contains(&power) || (self.polish && power != 1.0)) {
            return refuse(
                "slack_power",
                power.to_string(),
                "1, or 2 without `polish`, if `approx` is above 0",
            );
        }
        if crammer_singer && hard {
            return refuse("multiclass", "crammer_singer with a hard margin".into(), "ovo or ovr");
        }
        if crammer_singer && power > 1.0 {
            let found = format!("crammer_singer with `slack_power` {power}");
            return refuse("multiclass", found, "ovo or ovr");
        }
        if hard && power > 1.0 {
            let found = format!("{power} with a hard margin");
            return refuse("slack_power", found, "1, because a hard margin has no slack");
        }
        Ok(())
    }

    /// Fits the exact problem: reduction to binary subproblems, warm start, solution, and model.
    fn fit_exact(
        &self,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
        previous: Option<&SvcModel>,
        start: Instant,
    ) -> Result<Fitted<SvcModel>> {
        let crammer_singer = self.multiclass == Multiclass::CrammerSinger;
        // Without upper bounds the dual variables can have any size, and Crammer-Singer is solved in double precision.
        let unbounded = self.slack_power > 1.0 || crammer_singer;
        let max_bound = if unbounded { f64::INFINITY } else { self.C };
        let params = self.options();
        let rows =
            ClassProblem::new(&params, self.class_weight.as_ref(), data, max_bound, monitor)?;
        if crammer_singer {
            return Ok(self.fit_crammer_singer(rows, monitor, start));
        }
        let one_vs_one = rows.classes.len() == 2 || self.multiclass == Multiclass::OneVsOne;
        if one_vs_one && rows.classes.len() > 2 {
            rows.reserve_pairs(monitor)?;
        }
        let decomposition = match one_vs_one {
            true => Decomposition::OneVsOne(&rows.ranges),
            false => Decomposition::OneVsRest(&rows.ranges),
        };
        let mut subproblems = self.subproblems(&rows, &decomposition);
        if let Some(previous) = previous.filter(|m| self.can_start_from(m, rows.classes)) {
            previous.warm_start(data.rows(), &rows, &decomposition, &mut subproblems)?;
        }
        let reduction = if one_vs_one { Reduction::OneVsOne } else { Reduction::OneVsRest };
        let plan = plan(&rows.problem, reduction, &subproblems, monitor);
        let solutions = match self.margin {
            Margin::Soft => solve_all(&rows.problem, &subproblems, monitor),
            Margin::Hard => self.solve_hard_margin(&rows, &subproblems, monitor)?,
        };
        let solved = Solved { subproblems, solutions };
        let (expansion, n_support) =
            decomposition.expansion(&rows.problem, &solved.subproblems, &solved.functions());
        let calibration = self.calibrate(&rows, &decomposition, &solved, monitor);
        let certificate = certificate(
            &rows.problem,
            plan,
            &solved.subproblems,
            &solved.solutions,
            expansion.n_vectors(),
            start,
        );
        let slacks = solved.slacks(&rows, &decomposition);
        let margins = solved.margins();
        let certificate = self.with_margin(certificate, &margins, &slacks);
        let row_of: std::collections::HashMap<u32, usize> =
            rows.problem.indices.iter().copied().zip(0..).collect();
        let vectors: Vec<usize> = expansion.support.iter().map(|i| row_of[i]).collect();
        let model = SvcModel {
            margins,
            slacks: slacks.select(ndarray::Axis(1), &vectors),
            calibration,
            classes: rows.classes.clone(),
            expansion,
            n_support,
            n_iter: solved.solutions.iter().map(|s| s.iterations).collect(),
            converged: solved.solutions.iter().all(|s| s.converged),
            class_weights: rows.class_weights,
            multiclass: decomposition.multiclass(),
            shape: self.decision_function_shape,
            break_ties: self.break_ties,
            approximate: false,
        };
        Ok(Fitted { model, certificate })
    }

    /// The binary subproblems with the bounds or the slack penalties of this margin.
    fn subproblems(
        &self,
        rows: &ClassProblem<'_, '_>,
        decomposition: &Decomposition<'_>,
    ) -> Vec<Subproblem> {
        let powers = self.slack_power > 1.0;
        let cost = |row: usize| rows.row_weight(self.C, row);
        let mut subproblems = decomposition.subproblems(|row| match self.margin {
            Margin::Soft if !powers => cost(row),
            _ => f64::INFINITY,
        });
        for sub in subproblems.iter_mut().filter(|_| powers) {
            let costs = sub.rows.iter().map(|k| cost(*k as usize)).collect();
            sub.slack = Some(PowerSlack { power: self.slack_power, costs });
        }
        subproblems
    }

    fn can_start_from(&self, previous: &SvcModel, classes: &Classes) -> bool {
        previous.classes == *classes && self.margin == Margin::Soft && self.slack_power <= 1.0
    }

    /// Solves all subproblems with a hard margin.
    ///
    /// # Errors
    /// [`Error::NotSeparable`] with a witness if two classes are not separable, [`Error::Undecided`] if rounding leaves
    /// that open.
    fn solve_hard_margin(
        &self,
        rows: &ClassProblem<'_, '_>,
        subproblems: &[Subproblem],
        monitor: &Monitor<'_>,
    ) -> Result<Vec<DualSolution>> {
        if let Some(evidence) = rows.problem.indefinite {
            return Err(Error::Parameter {
                name: "kernel".into(),
                found: format!("{}, not positive semi-definite ({evidence})", self.kernel),
                expected:
                    "positive semi-definite for a hard margin, which is a distance in the feature \
                           space; set `margin` to `soft`, or choose another kernel"
                        .into(),
            });
        }
        let n = subproblems.len();
        let work = |sub: &Subproblem, _: &OnProgress<'_>| {
            // The gap of the objective as a relative error of the margin, whose square is the objective's inverse.
            let tol = self.gap.map_or(self.tol, |gap| 1.0 - (1.0 - gap.min(1.0)).sqrt());
            match closest_points(&rows.problem, sub, tol, n, monitor).ok_or(Error::Stopped)? {
                ConvexHulls::Separated(solution) => Ok(solution),
                ConvexHulls::Intersecting { coefficients, distance, spread } => {
                    Err(not_separable(rows, sub, &coefficients, distance, spread))
                }
                ConvexHulls::Undecided { distance, spread } => {
                    let [first, second] = class_names(rows, sub);
                    Err(Error::Undecided { first, second, distance, spread })
                }
            }
        };
        let convergence = |solution: &Result<DualSolution>| match solution {
            Ok(solution) => solution.convergence(),
            Err(_) => Convergence::default(),
        };
        for_each_subproblem(subproblems, monitor, work, convergence).into_iter().collect()
    }

    /// The calibration maps, fitted to leave-one-out decision values, if probabilities are requested.
    fn calibrate(
        &self,
        rows: &ClassProblem<'_, '_>,
        decomposition: &Decomposition<'_>,
        solved: &Solved,
        monitor: &Monitor<'_>,
    ) -> Option<Vec<CalibrationMap>> {
        self.probability.then(|| {
            let Solved { subproblems, solutions } = solved;
            let leave_one_out = |(sub, solution): (&Subproblem, &DualSolution)| {
                // After a stop there is time for the plain decision values only.
                if monitor.stop().is_some() {
                    return solution.outputs.iter().map(|f| f + solution.intercepts[0]).collect();
                }
                rows.problem.leave_one_out(sub, solution, 1.0, solution.intercepts[0])
            };
            let scores: Vec<Vec<f64>> =
                subproblems.par_iter().zip(solutions).map(leave_one_out).collect();
            decomposition.calibrate(self.calibration, &rows.problem, subproblems, &scores)
        })
    }

    /// Adds the margin and the number of margin violations of a binary problem to the certificate.
    fn with_margin(
        &self,
        certificate: Certificate,
        margins: &[f64],
        slacks: &Matrix,
    ) -> Certificate {
        let [margin] = margins else { return certificate };
        if margin.is_infinite() && certificate.status == Status::Stationary {
            return certificate.note("w·w is not positive for this kernel, so there is no margin");
        }
        if margin.is_infinite() {
            return certificate.note(
                "w = 0: the decision function is constant and has no margin; choose another kernel, or \
                 increase `C`",
            );
        }
        let count = |least: f64| slacks.iter().filter(|s| **s > least).count();
        // A slack within the tolerance is no violation.
        let (inside, wrong) = (count(self.tol), count(1.0));
        let margin = short(*margin);
        certificate.note(format!(
            "margin {margin}, {inside} rows inside it, {wrong} of them misclassified"
        ))
    }
}

/// Subproblems and their solutions.
struct Solved {
    subproblems: Vec<Subproblem>,
    solutions: Vec<DualSolution>,
}

impl Solved {
    fn functions(&self) -> Vec<BinaryFunction> {
        self.solutions.iter().map(|s| (s.beta.clone(), s.intercepts[0])).collect()
    }

    /// The margin `1 / ‖w‖` of every subproblem, infinite if `w` is zero to rounding.
    fn margins(&self) -> Vec<f64> {
        let margin = |solution: &DualSolution| {
            let DualityGap { squared_norm, rounding, .. } = solution.gap;
            let is_zero = squared_norm <= rounding;
            if is_zero { f64::INFINITY } else { 1.0 / squared_norm.sqrt() }
        };
        self.solutions.iter().map(margin).collect()
    }

    /// The slack `max(0, 1 − yᵢ f(xᵢ))` of every row in every subproblem, in the layout of the coefficients.
    fn slacks(&self, rows: &ClassProblem<'_, '_>, decomposition: &Decomposition<'_>) -> Matrix {
        let of_subproblem = |(sub, solution): (&Subproblem, &DualSolution)| -> Vec<f64> {
            let outputs = sub.linear.iter().zip(&solution.outputs);
            outputs.map(|(y, f)| (1.0 - y * (f + solution.intercepts[0])).max(0.0)).collect()
        };
        let slacks: Vec<Vec<f64>> =
            self.subproblems.iter().zip(&self.solutions).map(of_subproblem).collect();
        decomposition.table(rows.problem.indices.len(), &self.subproblems, |k| &slacks[k])
    }
}

/// The error for intersecting convex hulls, with the convex combinations of both classes as the witness.
fn not_separable(
    rows: &ClassProblem<'_, '_>,
    sub: &Subproblem,
    coefficients: &[f64],
    distance: f64,
    spread: f64,
) -> Error {
    let combination = |sign: f64| -> Vec<(usize, f64)> {
        let nonzero = sub.rows.iter().zip(coefficients).filter(|(_, c)| **c * sign > 0.0);
        nonzero.map(|(k, c)| (rows.problem.indices[*k as usize] as usize, c.abs())).collect()
    };
    let [first, second] = class_names(rows, sub);
    let witness = [combination(1.0), combination(-1.0)];
    Error::NotSeparable { first, second, witness, distance, spread }
}

/// The names of the two classes of a subproblem; in one-vs-rest the rest is named after the first of its classes.
fn class_names(rows: &ClassProblem<'_, '_>, sub: &Subproblem) -> [String; 2] {
    [1.0, -1.0].map(|sign| {
        let row = sub.rows.iter().zip(&sub.linear).find(|(_, y)| **y == sign);
        let code = row.map_or(0, |(k, _)| rows.codes[*k as usize]);
        rows.classes.label(code).to_string()
    })
}

impl Fit for Svc {
    type Model = SvcModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<SvcModel>> {
        self.fit_with_warm_start(data, monitor, None)
    }

    /// The dual variables of rows that are still present are the initial point.
    fn fit_from(
        &self,
        start: &SvcModel,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<SvcModel>> {
        self.fit_with_warm_start(data, monitor, Some(start))
    }
}
