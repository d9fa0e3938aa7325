//! The hard-margin support vector machine as the closest points of two convex hulls.
//!
//! The maximum-margin hyperplane bisects the shortest segment between the convex hulls of the two classes (Bennett &
//! Bredensteiner 2000): minimize `‖p − q‖²` over convex combinations `p = Σ λᵢ φ(xᵢ)` of one class and `q` of the other.
//! This problem always has a solution. If the distance is positive, `w` is parallel to `p − q` and the margin is half
//! of the distance. If it is zero, the classes are not separable, and the two convex combinations are the witness. In
//! floating point the hulls intersect if the distance is a negligible fraction of the spread of the rows; the witness is
//! then still true to its word, because its distance is computed from the rows and reported.

use super::dual_problem::{DualProblem, DualSolution, SolveContext};
use super::duality_gap::DualityGap;
use super::subproblem::Subproblem;
use crate::kernel::Kernel;
use crate::model::Monitor;
use crate::solver::BoxQp;

/// Hulls intersect if they do not separate and their squared distance is at most this fraction of the squared spread of
/// the rows: the distance is then a ten-millionth of the spread.
const MAX_INTERSECTION: f64 = 1e-14;
/// The same if the solver can do no better.
const MAX_FINAL_INTERSECTION: f64 = 1e-12;
/// Tolerances below this fraction of the squared spread are below rounding.
const ROUNDING: f64 = 1e-15;

/// The convex hulls of two classes.
pub(super) enum ConvexHulls {
    /// The canonical hyperplane, scaled so that the closest rows have decision values one and minus one.
    Separated(DualSolution),
    /// The signed coefficients of both convex combinations, in the order of the subproblem, their distance, computed
    /// from the rows, and the spread of the rows.
    Intersecting { coefficients: Vec<f64>, distance: f64, spread: f64 },
    /// Neither a separating hyperplane nor convex combinations that coincide were found.
    Undecided { distance: f64, spread: f64 },
}

/// The closest-points problem: the rows of a binary subproblem, those of the positive class first.
struct ClosestPoints {
    /// The position of each variable in the subproblem.
    order: Vec<usize>,
    rows: Vec<u32>,
    n_positive: usize,
    linear: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl ClosestPoints {
    fn new(subproblem: &Subproblem) -> ClosestPoints {
        let n = subproblem.rows.len();
        let of_class =
            |positive: bool| (0..n).filter(move |k| (subproblem.linear[*k] > 0.0) == positive);
        let order: Vec<usize> = of_class(true).chain(of_class(false)).collect();
        let n_positive = of_class(true).count();
        let rows = order.iter().map(|k| subproblem.rows[*k]).collect();
        let (mut lower, mut upper) = (vec![0.0; n], vec![0.0; n]);
        upper[..n_positive].fill(1.0);
        lower[n_positive..].fill(-1.0);
        ClosestPoints { order, rows, n_positive, linear: vec![0.0; n], lower, upper }
    }

    /// `min ½ ‖p − q‖²`, starting with the first row of each class.
    fn qp(&self) -> BoxQp<'_> {
        let mut qp = BoxQp::new(&self.linear, &self.lower, &self.upper);
        qp.split = self.n_positive;
        (qp.start[0], qp.start[self.n_positive]) = (1.0, -1.0);
        qp
    }

    /// Values of the variables in the order of the subproblem, times a factor.
    fn in_subproblem_order(&self, values: &[f64], factor: f64) -> Vec<f64> {
        let mut out = vec![0.0; values.len()];
        self.order.iter().zip(values).for_each(|(k, v)| out[*k] = factor * v);
        out
    }

    /// The two convex combinations of a solution, measured on the rows. For a linear kernel `w = p − q` and the outputs
    /// `w·x` are computed from the cells: their rounding error is relative to the spread of the rows, that of kernel
    /// values to its square.
    fn measure(
        &self,
        problem: &DualProblem<'_>,
        solution: &DualSolution,
        (squared_spread, rounding): (f64, f64),
    ) -> Hulls {
        if problem.function.kernel == Kernel::Linear {
            let positions: Vec<u32> = (0..self.rows.len() as u32).collect();
            let w = problem.linear_weights(&positions, &solution.beta);
            let outputs = problem.linear_outputs(&w);
            let square = w.iter().map(|w| w * w).sum::<f64>();
            // The size of the rounding error of an output.
            let rounding = 8.0 * f64::EPSILON * (square * squared_spread).sqrt();
            return Hulls { square, outputs, rounding };
        }
        let square = solution.beta.iter().zip(&solution.outputs).map(|(b, f)| b * f).sum();
        Hulls { square, outputs: solution.outputs.clone(), rounding: 2.0 * rounding }
    }

    /// The extreme outputs: the smallest of the positive class and the largest of the negative class.
    fn margins(&self, outputs: &[f64]) -> (f64, f64) {
        let (positive, negative) = outputs.split_at(self.n_positive);
        (
            positive.iter().copied().fold(f64::INFINITY, f64::min),
            negative.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        )
    }

    /// The canonical hyperplane of a solution. Outputs and intercept are moved by `shift`, from the center of these
    /// rows to that of all rows.
    fn hyperplane(
        &self,
        solution: &DualSolution,
        hulls: &Hulls,
        shift: f64,
        converged: bool,
    ) -> DualSolution {
        let (smallest, largest) = self.margins(&hulls.outputs);
        let width = smallest - largest;
        let scale = 2.0 / width;
        let mut outputs = self.in_subproblem_order(&hulls.outputs, scale);
        outputs.iter_mut().for_each(|f| *f += scale * shift);
        DualSolution {
            beta: self.in_subproblem_order(&solution.beta, scale),
            outputs,
            intercepts: [-(smallest + largest) / width - scale * shift; 2],
            converged,
            iterations: solution.iterations,
            kernel_values: solution.kernel_values,
            stopped: solution.stopped,
            stagnated: false,
            min_curvature: solution.min_curvature,
            gap: DualityGap {
                primal: 0.5 * scale * scale * hulls.square,
                // No margin exceeds half of the distance between the hulls.
                dual: 2.0 / hulls.square,
                violation: scale * solution.gap.violation,
                squared_norm: scale * scale * hulls.square,
                ..DualityGap::default()
            },
        }
    }
}

/// The squared distance of two convex combinations, the outputs `⟨p − q, φ(x)⟩`, and their rounding error.
struct Hulls {
    square: f64,
    outputs: Vec<f64>,
    rounding: f64,
}

/// Finds the closest points of the convex hulls of a binary subproblem's classes, to the relative tolerance `tol` of the
/// margin. `None` if the monitor stopped the solver before that.
///
/// All sizes are compared with the spread of the two classes' rows around their own center, so that neither translation
/// nor scaling of the rows changes the decision.
pub(super) fn closest_points(
    whole: &DualProblem<'_>,
    subproblem: &Subproblem,
    tol: f64,
    n_subproblems: usize,
    monitor: &Monitor<'_>,
) -> Option<ConvexHulls> {
    let points = ClosestPoints::new(subproblem);
    let problem = whole.restricted_to(&points.rows);
    let positions: Vec<u32> = (0..points.rows.len() as u32).collect();
    let (squared_spread, rounding) = problem.squared_spread();
    let scale = squared_spread.max(f64::MIN_POSITIVE);
    let finest = (ROUNDING * scale).max(rounding);
    let context = SolveContext { n_subproblems, monitor, progress: &|_, _| {} };
    let mut qp = points.qp();
    let (mut iterations, mut kernel_values) = (0, 0);
    let mut tolerance = 1e-3 * scale;
    loop {
        let mut solution = problem.solve_to_tolerance((tolerance, 0), &positions, &qp, context);
        iterations += solution.iterations;
        kernel_values += solution.kernel_values;
        (solution.iterations, solution.kernel_values) = (iterations, kernel_values);
        let hulls = points.measure(&problem, &solution, (squared_spread, rounding));
        let (smallest, largest) = points.margins(&hulls.outputs);
        let width = smallest - largest;
        let separated = width > hulls.rounding;
        let converged = width >= (1.0 - tol) * hulls.square;
        let last = tolerance <= finest || !solution.converged;
        if separated && (converged || last || solution.stopped.is_some()) {
            let shift = problem.shift_to(whole, &positions, &solution.beta);
            return Some(ConvexHulls::Separated(
                points.hyperplane(&solution, &hulls, shift, converged),
            ));
        }
        if solution.stopped.is_some() {
            return None;
        }
        let (distance, spread) = (hulls.square.max(0.0).sqrt(), squared_spread.sqrt());
        let limit = if last { MAX_FINAL_INTERSECTION } else { MAX_INTERSECTION };
        if !separated && hulls.square <= limit * squared_spread {
            let coefficients = points.in_subproblem_order(&solution.beta, 1.0);
            return Some(ConvexHulls::Intersecting { coefficients, distance, spread });
        }
        if last {
            return Some(ConvexHulls::Undecided { distance, spread });
        }
        qp.start.clone_from(&solution.beta);
        qp.outputs = Some(hulls.outputs);
        tolerance = (0.1 * tolerance).min(0.3 * tol * hulls.square.max(0.0)).max(finest);
    }
}
