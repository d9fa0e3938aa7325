//! Multiclass support vector classification by the method of Crammer & Singer (2001).
//!
//! All classes are trained jointly: one function per class without intercepts, such that the function of a row's own class
//! exceeds the others by the margin. See [`CrammerSinger`](crate::solver) for the problem.

use super::dual_problem::DualSolution;
use super::duality_gap::DualityGap;
use super::multiclass::{ClassProblem, Multiclass, UNOBSERVED_INTERCEPT, expansion_of_table};
use super::plan::plan_crammer_singer;
use super::subproblem::certificate;
use super::svc::Svc;
use super::svc_model::SvcModel;
use crate::calibrate::map::CalibrationMap;
use crate::prelude::*;
use crate::solver::CrammerSingerSolution;
use std::time::Instant;

/// The observed classes and the costs of the rows.
struct ObservedClasses {
    classes: Vec<usize>,
    /// The index of each row's class among the observed ones.
    codes: Vec<u32>,
    costs: Vec<f64>,
}

impl ObservedClasses {
    fn new(c: f64, rows: &ClassProblem<'_, '_>) -> ObservedClasses {
        let classes: Vec<usize> =
            (0..rows.classes.len()).filter(|c| !rows.ranges[*c].is_empty()).collect();
        let mut codes = vec![0u32; rows.codes.len()];
        for (index, class) in classes.iter().enumerate() {
            codes[rows.ranges[*class].clone()].fill(index as u32);
        }
        let costs = (0..codes.len()).map(|k| rows.row_weight(c, k)).collect();
        ObservedClasses { classes, codes, costs }
    }

    /// The dual variable of each row's own class is below its bound.
    fn is_free(&self, solution: &CrammerSingerSolution, row: usize) -> bool {
        let own = row * self.classes.len() + self.codes[row] as usize;
        solution.alpha[own] < self.costs[row]
    }

    /// The coefficients, one row per class. Two classes have a single decision function, the difference of theirs.
    fn coefficients(&self, n_classes: usize, solution: &CrammerSingerSolution) -> Matrix {
        let n_functions = if n_classes == 2 { 1 } else { n_classes };
        let mut table = Matrix::zeros((n_functions, self.codes.len()));
        for (k, alpha) in solution.alpha.chunks_exact(self.classes.len()).enumerate() {
            if n_classes == 2 {
                table[[0, k]] = alpha[1] - alpha[0];
            } else {
                self.classes.iter().zip(alpha).for_each(|(class, a)| table[[*class, k]] = *a);
            }
        }
        table
    }
}

impl Svc {
    /// Fits one function per class, all jointly.
    pub(super) fn fit_crammer_singer(
        &self,
        rows: ClassProblem<'_, '_>,
        monitor: &Monitor<'_>,
        start: Instant,
    ) -> Fitted<SvcModel> {
        let n = rows.classes.len();
        let problem = &rows.problem;
        let observed = ObservedClasses::new(self.C, &rows);
        let m = observed.classes.len();
        let plan = plan_crammer_singer(problem, m, monitor);
        let solution = problem.solve_crammer_singer(&observed.codes, m, &observed.costs, monitor);
        let table = observed.coefficients(n, &solution);
        let intercept =
            |c: usize| if rows.ranges[c].is_empty() { UNOBSERVED_INTERCEPT } else { 0.0 };
        let intercepts = if n == 2 { vec![0.0] } else { (0..n).map(intercept).collect() };
        let calibration = self
            .probability
            .then(|| self.calibrate_jointly(&rows, &table, |k| observed.is_free(&solution, k)));
        let (expansion, n_support) = expansion_of_table(problem, &rows.ranges, &table, intercepts);
        let (n_iter, converged) = (vec![solution.iterations], solution.converged);
        monitor.report(1, Some(1));
        let solutions = [DualSolution::from(solution)];
        let certificate = certificate(problem, plan, &[], &solutions, expansion.n_vectors(), start);
        let model = SvcModel {
            margins: Vec::new(),
            slacks: Matrix::default((0, 0)),
            calibration,
            classes: rows.classes.clone(),
            expansion,
            n_support,
            n_iter,
            converged,
            class_weights: rows.class_weights,
            approximate: false,
            // The single function of two classes has the layout of a pair.
            multiclass: if n == 2 { Multiclass::OneVsOne } else { Multiclass::CrammerSinger },
            shape: self.decision_function_shape,
            break_ties: self.break_ties,
        };
        Fitted { model, certificate }
    }

    /// The calibration map of every function, fitted to its leave-one-out decision values.
    fn calibrate_jointly(
        &self,
        rows: &ClassProblem<'_, '_>,
        table: &Matrix,
        is_free: impl Fn(usize) -> bool,
    ) -> Vec<CalibrationMap> {
        let betas: Vec<Vec<f64>> = table.outer_iter().map(|row| row.to_vec()).collect();
        let scores = rows.problem.leave_one_out_without_intercept(&betas, is_free);
        // The single function of two classes is positive for the second.
        let ranges = if rows.ranges.len() == 2 { &rows.ranges[1..] } else { &rows.ranges };
        ranges
            .iter()
            .zip(&scores)
            .map(|(range, scores)| {
                if range.is_empty() {
                    return CalibrationMap::placeholder();
                }
                let positive: Vec<bool> = (0..scores.len()).map(|k| range.contains(&k)).collect();
                CalibrationMap::fit(self.calibration, scores, &positive, &rows.problem.weights)
            })
            .collect()
    }
}

impl From<CrammerSingerSolution> for DualSolution {
    /// The part of the solution that a certificate reports.
    fn from(solution: CrammerSingerSolution) -> DualSolution {
        DualSolution {
            beta: Vec::new(),
            intercepts: [0.0; 2],
            converged: solution.converged,
            iterations: solution.iterations,
            kernel_values: solution.kernel_values,
            stopped: solution.stopped,
            gap: DualityGap {
                primal: solution.primal,
                dual: solution.dual,
                violation: solution.violation,
                squared_norm: (solution.primal + solution.dual).abs(),
                ..DualityGap::default()
            },
            stagnated: false,
            min_curvature: 0.0,
            outputs: Vec::new(),
        }
    }
}
