//! The multiclass support vector machine of Crammer & Singer (2001) with a kernel.
//!
//! Minimize `½ Σₘ ‖wₘ‖² + Σᵢ Cᵢ max over m of (eᵢₘ + fₘ(xᵢ) − f_y(xᵢ))`, with `eᵢₘ` zero for the row's own class `y` and
//! one for the others. In the dual every row has one variable per class, `fₘ = Σᵢ αᵢₘ K(xᵢ, ·)`:
//!
//! `min ½ Σₘ αₘᵀKαₘ + Σᵢₘ eᵢₘ αᵢₘ`  with  `Σₘ αᵢₘ = 0`, `αᵢᵧ ≤ Cᵢ` and `αᵢₘ ≤ 0` for the others.
//!
//! With the gradient `Gᵢₘ = eᵢₘ + fₘ(xᵢ)`, the KKT violation of a row is `max Gᵢₘ` over all classes minus `min Gᵢₘ` over
//! the classes whose variable is below its bound. Every iteration selects the row that violates most and solves the
//! subproblem over its variables ([`CrammerSingerSubproblem`]; Keerthi et al. 2008).

use super::column_cache::ColumnCache;
use super::columns::Columns;
use crate::model::{Monitor, Stop};
use crate::solver::crammer_singer_subproblem::CrammerSingerSubproblem;

/// Iterations between two checks of the monitor.
const ITERATIONS_PER_CHECK: u64 = 64;

/// The problem: the kernel matrix, and the class and cost of every row.
pub(crate) struct CrammerSinger<'a> {
    pub columns: &'a dyn Columns<f64>,
    /// The class of each row, below `n_classes`.
    pub classes: &'a [u32],
    pub n_classes: usize,
    /// `Cᵢ`.
    pub costs: &'a [f64],
}

/// Stopping tolerance and limits of a solve.
pub(crate) struct CrammerSingerOptions<'a> {
    pub tol: f64,
    /// The relative duality gap at which to stop, instead of the tolerance.
    pub gap: Option<f64>,
    pub max_iterations: u64,
    pub cache_bytes: u64,
    pub monitor: &'a Monitor<'a>,
}

/// The solution, with objectives computed afresh from the dual variables.
pub(crate) struct CrammerSingerSolution {
    /// The dual variables, `n_classes` per row.
    pub alpha: Vec<f64>,
    pub primal: f64,
    pub dual: f64,
    pub violation: f64,
    pub iterations: u64,
    pub kernel_values: u64,
    pub converged: bool,
    pub stopped: Option<Stop>,
}

/// The state of a solve.
struct Solver<'a> {
    problem: &'a CrammerSinger<'a>,
    diagonal: Vec<f64>,
    alpha: Vec<f64>,
    /// `Gᵢₘ`, `n_classes` per row.
    gradient: Vec<f64>,
    cache: ColumnCache<f64>,
    iterations: u64,
}

/// Solves the problem and evaluates both objectives at the solution.
pub(crate) fn solve_crammer_singer(
    problem: &CrammerSinger<'_>,
    options: &CrammerSingerOptions<'_>,
) -> CrammerSingerSolution {
    let mut solver = Solver::new(problem, options.cache_bytes);
    let initial = solver.most_violating_row().0;
    let mut tol = if options.gap.is_some() { 0.1 * initial } else { options.tol };
    loop {
        let (violation, stopped) = solver.run(tol, options);
        let within = violation <= tol;
        let (primal, dual) = solver.objectives();
        let violation = solver.most_violating_row().0;
        let size = primal.abs().max(dual.abs()).max(f64::MIN_POSITIVE);
        let converged = match options.gap {
            Some(gap) => primal - dual <= gap * size,
            None => within && violation <= options.tol * (1.0 + 1e-6),
        };
        // Rounding, the iteration limit or the monitor ended the run before the tolerance.
        if converged || !within || stopped.is_some() || tol <= 1e-15 * initial {
            return CrammerSingerSolution {
                primal,
                dual,
                violation,
                iterations: solver.iterations,
                kernel_values: solver.cache.n_computed,
                converged,
                stopped,
                alpha: solver.alpha,
            };
        }
        // The updated gradient has drifted from the recomputed one by rounding, or the duality gap is too large.
        tol *= if options.gap.is_some() { 0.1 } else { 0.5 };
    }
}

impl<'a> Solver<'a> {
    fn new(problem: &'a CrammerSinger<'a>, cache_bytes: u64) -> Solver<'a> {
        let (n, m) = (problem.classes.len(), problem.n_classes);
        let diagonal = problem.columns.diagonal();
        let mut alpha = vec![0.0; n * m];
        let mut gradient = vec![1.0; n * m];
        for (i, class) in problem.classes.iter().enumerate() {
            let class = *class as usize;
            gradient[i * m + class] = 0.0;
            if diagonal[i] <= 0.0 {
                // A row at the origin has a linear subproblem, whose solution is at the bound and changes no score.
                alpha[i * m + class] = problem.costs[i];
                alpha[i * m + usize::from(class == 0)] = -problem.costs[i];
            }
        }
        let fits = usize::try_from(cache_bytes / (8 * n.max(1) as u64)).unwrap_or(usize::MAX);
        let cache = ColumnCache::new(n, fits.clamp(2.min(n), n.max(1)));
        Solver { problem, diagonal, alpha, gradient, cache, iterations: 0 }
    }

    /// The KKT violation of a row.
    fn violation(&self, i: usize) -> f64 {
        let m = self.problem.n_classes;
        let (gradient, alpha) =
            (&self.gradient[i * m..(i + 1) * m], &self.alpha[i * m..(i + 1) * m]);
        let (class, cost) = (self.problem.classes[i] as usize, self.problem.costs[i]);
        let highest = gradient.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let below_bound = |c: usize| alpha[c] < if c == class { cost } else { 0.0 };
        let lowest =
            (0..m).filter(|c| below_bound(*c)).map(|c| gradient[c]).fold(highest, f64::min);
        highest - lowest
    }

    /// The largest KKT violation and its row; the first of equal ones.
    fn most_violating_row(&self) -> (f64, usize) {
        let rows = (0..self.diagonal.len()).filter(|i| self.diagonal[*i] > 0.0);
        rows.map(|i| (self.violation(i), i))
            .fold((0.0, 0), |worst, row| if row.0 > worst.0 { row } else { worst })
    }

    /// Iterates until no row violates by more than `tol`; returns the last violation.
    fn run(&mut self, tol: f64, options: &CrammerSingerOptions<'_>) -> (f64, Option<Stop>) {
        let m = self.problem.n_classes;
        let mut row = CrammerSingerSubproblem::new(m);
        loop {
            let (violation, i) = self.most_violating_row();
            if violation <= tol || self.iterations >= options.max_iterations {
                return (violation, None);
            }
            if self.iterations.is_multiple_of(ITERATIONS_PER_CHECK)
                && let Some(stop) = options.monitor.stop()
            {
                return (violation, Some(stop));
            }
            for c in 0..m {
                row.b[c] = self.gradient[i * m + c] - self.diagonal[i] * self.alpha[i * m + c];
            }
            row.solve(self.problem.classes[i] as usize, self.problem.costs[i], self.diagonal[i]);
            let steps: Vec<f64> =
                row.alpha.iter().zip(&self.alpha[i * m..]).map(|(new, old)| new - old).collect();
            if steps.iter().all(|step| *step == 0.0) {
                return (violation, None);
            }
            self.alpha[i * m..(i + 1) * m].copy_from_slice(&row.alpha);
            self.cache.fetch(&[i as u32], self.problem.columns);
            self.cache.touch(i as u32);
            let column = self.cache.column(i as u32);
            for (gradient, k) in self.gradient.chunks_exact_mut(m).zip(column) {
                gradient.iter_mut().zip(&steps).for_each(|(g, step)| *g += step * k);
            }
            self.iterations += 1;
        }
    }

    /// The primal and dual objective, from a gradient that is recomputed from the dual variables.
    fn objectives(&mut self) -> (f64, f64) {
        let (n, m) = (self.diagonal.len(), self.problem.n_classes);
        let support: Vec<u32> = (0..n as u32)
            .filter(|i| self.alpha[*i as usize * m..][..m].iter().any(|a| *a != 0.0))
            .collect();
        let of_class = |c: usize| support.iter().map(|i| self.alpha[*i as usize * m + c]).collect();
        let coefficients: Vec<Vec<f64>> = (0..m).map(of_class).collect();
        let outputs = self.problem.columns.combine(&support, &coefficients);
        let (mut squares, mut losses, mut linear) = (0.0, 0.0, 0.0);
        for (i, class) in self.problem.classes.iter().enumerate() {
            let class = *class as usize;
            let gradient = &mut self.gradient[i * m..(i + 1) * m];
            let alpha = &self.alpha[i * m..(i + 1) * m];
            for (c, (g, a)) in gradient.iter_mut().zip(alpha).enumerate() {
                let margin = if c == class { 0.0 } else { 1.0 };
                squares += a * outputs[c][i];
                linear += margin * a;
                *g = outputs[c][i] + margin;
            }
            let highest = gradient.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            losses += self.problem.costs[i] * (highest - gradient[class]);
        }
        (0.5 * squares + losses, -0.5 * squares - linear)
    }
}
