//! The hard margin: no row inside, no row on the wrong side.
//!
//! The widest street between two classes runs halfway between the nearest points of their hulls (Bennett &
//! Bredensteiner 2000): minimize `‖p − q‖²` over mixtures `p = Σ λᵢ φ(xᵢ)` of one class and `q` of the other. That
//! problem always has a solution. If the nearest points are apart, `w` is along `p − q` and the margin is half
//! their distance; if they are one point, the two mixtures are the witness that no hyperplane exists.

use super::dual_problem::{DualProblem, Solved};
use super::duality_gap::Measured;
use super::multiclass::Task;
use crate::model::Monitor;
use crate::solver::BoxQp;

/// Hulls that are nearer than this, squared and of the largest squared length of a row, are taken to meet.
const MEET: f64 = 1e-12;
/// Tolerances below this share of it are below rounding.
const ROUNDING: f64 = 1e-15;

/// What the hulls of two classes say.
pub(super) enum Hulls {
    /// They are apart: the canonical hyperplane, scaled so that the nearest rows are at one and minus one.
    Apart(Solved),
    /// They meet: shares of rows of both sides, as places of the task, and how far apart the mixtures are.
    Meet { shares: Vec<f64>, distance: f64 },
}

/// Finds the nearest points of the hulls of a task's two sides. `None` where there was no time to find out.
pub(super) fn nearest(
    ground: &DualProblem<'_>,
    task: &Task,
    tol: f64,
    sharing: usize,
    monitor: &Monitor<'_>,
) -> Option<Hulls> {
    let n = task.places.len();
    // The solver wants the two sides one after the other.
    let side = |positive: bool| (0..n).filter(move |k| (task.linear[*k] > 0.0) == positive);
    let order: Vec<usize> = side(true).chain(side(false)).collect();
    let split = side(true).count();
    let places: Vec<u32> = order.iter().map(|k| task.places[*k]).collect();
    let (mut low, mut high) = (vec![0.0; n], vec![0.0; n]);
    high[..split].fill(1.0);
    low[split..].fill(-1.0);
    let mut start = vec![0.0; n];
    (start[0], start[split]) = (1.0, -1.0);
    let linear = vec![0.0; n];
    let scale = ground.largest_square(&places).max(f64::MIN_POSITIVE);
    let mut problem = BoxQp {
        linear: &linear,
        low: &low,
        high: &high,
        tube: 0.0,
        split,
        start,
        outputs: None,
        slack: None,
    };
    let (mut steps, mut kernel_values) = (0, 0);
    let mut tolerance = 1e-3 * scale;
    loop {
        let solved =
            ground.solve_to((tolerance, 0), &places, &problem, sharing, monitor, &|_, _| {});
        steps += solved.steps;
        kernel_values += solved.kernel_values;
        let f = &solved.outputs;
        let square: f64 = solved.beta.iter().zip(f).map(|(b, f)| b * f).sum();
        let nearest = f[..split].iter().copied().fold(f64::INFINITY, f64::min);
        let farthest = f[split..].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let street = nearest - farthest;
        let close = street >= (1.0 - tol) * square;
        if street > 0.0 && square > MEET * scale && (close || solved.stopped.is_some()) {
            let times = 2.0 / street;
            let level = -(nearest + farthest) / street;
            let mut beta = vec![0.0; n];
            let mut outputs = vec![0.0; n];
            for (k, (b, f)) in order.iter().zip(solved.beta.iter().zip(f)) {
                (beta[*k], outputs[*k]) = (times * b, times * f);
            }
            let measured = Measured {
                primal: 0.5 * times * times * square,
                // Half the distance of the hulls is the widest margin there can be.
                dual: 2.0 / square,
                violation: times * solved.measured.violation,
            };
            return Some(Hulls::Apart(Solved {
                beta,
                level: [level; 2],
                converged: close,
                steps,
                kernel_values,
                stopped: solved.stopped,
                measured,
                outputs,
            }));
        }
        if solved.stopped.is_some() {
            return None;
        }
        let finest = tolerance <= ROUNDING * scale || !solved.converged;
        if square <= MEET * scale || finest {
            let mut shares = vec![0.0; n];
            order.iter().zip(&solved.beta).for_each(|(k, b)| shares[*k] = *b);
            return Some(Hulls::Meet { shares, distance: square.max(0.0).sqrt() });
        }
        problem.start.clone_from(&solved.beta);
        problem.outputs = Some(solved.outputs);
        tolerance = (0.1 * tolerance).min(0.3 * tol * square).max(ROUNDING * scale);
    }
}
