//! The hard-margin support vector machine as the closest points of two convex hulls.
//!
//! The maximum-margin hyperplane bisects the shortest segment between the convex hulls of the two classes (Bennett &
//! Bredensteiner 2000): minimize `‖p − q‖²` over convex combinations `p = Σ λᵢ φ(xᵢ)` of one class and `q` of the other.
//! This problem always has a solution. If the distance is positive, `w` is parallel to `p − q` and the margin is half
//! of the distance. If it is zero, the classes are not separable, and the two convex combinations are the witness.

use super::dual_problem::{DualProblem, DualSolution, SolveContext};
use super::duality_gap::DualityGap;
use super::subproblem::Subproblem;
use crate::model::Monitor;
use crate::solver::BoxQp;

/// Hulls intersect if their squared distance is at most this fraction of the largest `K(x, x)`.
const MAX_INTERSECTION: f64 = 1e-12;
/// Tolerances below this fraction of the largest `K(x, x)` are below rounding.
const ROUNDING: f64 = 1e-15;

/// The convex hulls of two classes.
pub(super) enum ConvexHulls {
    /// The canonical hyperplane, scaled so that the closest rows have decision values one and minus one.
    Separated(DualSolution),
    /// The signed coefficients of both convex combinations, in the order of the subproblem, and their distance.
    Intersecting { coefficients: Vec<f64>, distance: f64 },
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

    /// The extreme outputs of a solution: the smallest of the positive class and the largest of the negative class.
    fn margins(&self, outputs: &[f64]) -> (f64, f64) {
        let (positive, negative) = outputs.split_at(self.n_positive);
        (
            positive.iter().copied().fold(f64::INFINITY, f64::min),
            negative.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        )
    }

    /// The canonical hyperplane of a solution with the squared distance `square`.
    fn hyperplane(&self, solution: &DualSolution, square: f64, converged: bool) -> DualSolution {
        let (smallest, largest) = self.margins(&solution.outputs);
        let width = smallest - largest;
        let scale = 2.0 / width;
        DualSolution {
            beta: self.in_subproblem_order(&solution.beta, scale),
            outputs: self.in_subproblem_order(&solution.outputs, scale),
            intercepts: [-(smallest + largest) / width; 2],
            converged,
            iterations: solution.iterations,
            kernel_values: solution.kernel_values,
            stopped: solution.stopped,
            gap: DualityGap {
                primal: 0.5 * scale * scale * square,
                // No margin exceeds half of the distance between the hulls.
                dual: 2.0 / square,
                violation: scale * solution.gap.violation,
            },
        }
    }
}

/// Finds the closest points of the convex hulls of a binary subproblem's classes, to the relative tolerance `tol` of the
/// margin. `None` if the monitor stopped the solver before that.
pub(super) fn closest_points(
    problem: &DualProblem<'_>,
    subproblem: &Subproblem,
    tol: f64,
    n_subproblems: usize,
    monitor: &Monitor<'_>,
) -> Option<ConvexHulls> {
    let points = ClosestPoints::new(subproblem);
    let scale = problem.max_diagonal(&points.rows).max(f64::MIN_POSITIVE);
    let context = SolveContext { n_subproblems, monitor, progress: &|_, _| {} };
    let mut qp = points.qp();
    let (mut iterations, mut kernel_values) = (0, 0);
    let mut tolerance = 1e-3 * scale;
    loop {
        let mut solution = problem.solve_to_tolerance((tolerance, 0), &points.rows, &qp, context);
        iterations += solution.iterations;
        kernel_values += solution.kernel_values;
        (solution.iterations, solution.kernel_values) = (iterations, kernel_values);
        let square: f64 = solution.beta.iter().zip(&solution.outputs).map(|(b, f)| b * f).sum();
        let (smallest, largest) = points.margins(&solution.outputs);
        let width = smallest - largest;
        let converged = width >= (1.0 - tol) * square;
        let separated = width > 0.0 && square > MAX_INTERSECTION * scale;
        if separated && (converged || solution.stopped.is_some()) {
            let hyperplane = points.hyperplane(&solution, square, converged);
            return Some(ConvexHulls::Separated(hyperplane));
        }
        if solution.stopped.is_some() {
            return None;
        }
        let finest = tolerance <= ROUNDING * scale || !solution.converged;
        if square <= MAX_INTERSECTION * scale || finest {
            return Some(ConvexHulls::Intersecting {
                coefficients: points.in_subproblem_order(&solution.beta, 1.0),
                distance: square.max(0.0).sqrt(),
            });
        }
        qp.start.clone_from(&solution.beta);
        qp.outputs = Some(solution.outputs);
        tolerance = (0.1 * tolerance).min(0.3 * tol * square).max(ROUNDING * scale);
    }
}
