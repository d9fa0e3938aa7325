//! Machines of many classes learned together, over a kernel.
//!
//! Minimize `½ Σₘ ‖wₘ‖² + Σᵢ Cᵢ max over m of (eᵢₘ + fₘ(xᵢ) − f_y(xᵢ))` with `eᵢₘ` one for every class but the row's own
//! `y` (Crammer & Singer 2001). In the dual every row has a pull on every class, `fₘ = Σᵢ αᵢₘ K(xᵢ, ·)`:
//!
//! `min ½ Σₘ αₘᵀKαₘ + Σᵢₘ eᵢₘ αᵢₘ`  with  `Σₘ αᵢₘ = 0`, `αᵢᵧ ≤ Cᵢ` and `αᵢₘ ≤ 0` for the others.
//!
//! A step takes the row that violates its conditions most, `max (e + f) − min (e + f)` over the classes whose pull may
//! rise, and sets its pulls to their best ([`CrammerSingerSubproblem`]).

use super::column_cache::Cache;
use crate::kernel::KernelRows;
use crate::model::{Monitor, Stop};
use crate::solver::crammer_singer_subproblem::CrammerSingerSubproblem;

/// Steps between two looks at the clock.
const POLL: u64 = 64;

/// Rows, their classes and prices.
pub(crate) struct CrammerSinger<'a> {
    pub rows: &'a KernelRows<f64>,
    /// The class of each row, of `m`.
    pub classes: &'a [u32],
    pub m: usize,
    /// `Cᵢ`.
    pub costs: &'a [f64],
}

/// How to solve.
pub(crate) struct CrammerSingerOptions<'a> {
    pub tol: f64,
    /// A relative gap to end at, in place of the tolerance.
    pub gap: Option<f64>,
    pub max_steps: u64,
    pub cache_bytes: u64,
    pub monitor: &'a Monitor<'a>,
}

/// What it came to.
pub(crate) struct CrammerSingerSolution {
    /// Pulls, `m` a row.
    pub pulls: Vec<f64>,
    pub primal: f64,
    pub dual: f64,
    pub violation: f64,
    pub steps: u64,
    pub kernel_values: u64,
    pub converged: bool,
    pub stopped: Option<Stop>,
}

/// A solve under way.
struct Solve<'a> {
    problem: &'a CrammerSinger<'a>,
    own: Vec<f64>,
    pulls: Vec<f64>,
    /// `e + f`, `m` a row.
    scores: Vec<f64>,
    cache: Cache<f64>,
    steps: u64,
}

/// Minimizes, and measures what came out.
pub(crate) fn solve_crammer_singer(
    problem: &CrammerSinger<'_>,
    options: &CrammerSingerOptions<'_>,
) -> CrammerSingerSolution {
    let mut solve = Solve::new(problem, options.cache_bytes);
    let first = solve.worst().0;
    let mut tolerance = if options.gap.is_some() { 0.1 * first } else { options.tol };
    loop {
        let (violation, stopped) = solve.run(tolerance, options);
        let within = violation <= tolerance;
        let (primal, dual) = solve.measure();
        let violation = solve.worst().0;
        let size = primal.abs().max(dual.abs()).max(f64::MIN_POSITIVE);
        let close = match options.gap {
            Some(gap) => primal - dual <= gap * size,
            None => within && violation <= options.tol * (1.0 + 1e-6),
        };
        // Rounding, a limit or somebody came before the tolerance.
        if close || !within || stopped.is_some() || tolerance <= 1e-15 * first {
            return CrammerSingerSolution {
                primal,
                dual,
                violation,
                steps: solve.steps,
                kernel_values: solve.cache.values,
                converged: close,
                stopped,
                pulls: solve.pulls,
            };
        }
        // Scores summed step by step had rounded apart from those measured, or the gap is not closed.
        tolerance *= if options.gap.is_some() { 0.1 } else { 0.5 };
    }
}

impl<'a> Solve<'a> {
    fn new(problem: &'a CrammerSinger<'a>, cache_bytes: u64) -> Solve<'a> {
        let (n, m) = (problem.classes.len(), problem.m);
        let own = problem.rows.diagonal();
        let mut pulls = vec![0.0; n * m];
        let mut scores = vec![1.0; n * m];
        for (i, class) in problem.classes.iter().enumerate() {
            let class = *class as usize;
            scores[i * m + class] = 0.0;
            if own[i] <= 0.0 {
                // No pulls move the scores of a row at the origin: it pulls with all its might, to no effect.
                pulls[i * m + class] = problem.costs[i];
                pulls[i * m + usize::from(class == 0)] = -problem.costs[i];
            }
        }
        let room = usize::try_from(cache_bytes / (8 * n.max(1) as u64)).unwrap_or(usize::MAX);
        let cache = Cache::new(n, room.clamp(2.min(n), n.max(1)));
        Solve { problem, own, pulls, scores, cache, steps: 0 }
    }

    /// How much a row violates its conditions.
    fn violation(&self, i: usize) -> f64 {
        let m = self.problem.m;
        let (scores, pulls) = (&self.scores[i * m..(i + 1) * m], &self.pulls[i * m..(i + 1) * m]);
        let (class, cost) = (self.problem.classes[i] as usize, self.problem.costs[i]);
        let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let may_rise = |c: usize| pulls[c] < if c == class { cost } else { 0.0 };
        let lowest = (0..m).filter(|c| may_rise(*c)).map(|c| scores[c]).fold(highest, f64::min);
        highest - lowest
    }

    /// The row that violates most, and by how much; the first of equals.
    fn worst(&self) -> (f64, usize) {
        let moves = (0..self.own.len()).filter(|i| self.own[*i] > 0.0);
        moves
            .map(|i| (self.violation(i), i))
            .fold((0.0, 0), |worst, row| if row.0 > worst.0 { row } else { worst })
    }

    /// Steps until no row violates by more than the tolerance; gives the violation it ended at.
    fn run(&mut self, tolerance: f64, options: &CrammerSingerOptions<'_>) -> (f64, Option<Stop>) {
        let m = self.problem.m;
        let mut row = CrammerSingerSubproblem::new(m);
        loop {
            let (violation, i) = self.worst();
            if violation <= tolerance || self.steps >= options.max_steps {
                return (violation, None);
            }
            if self.steps.is_multiple_of(POLL)
                && let Some(stop) = options.monitor.stop()
            {
                return (violation, Some(stop));
            }
            for c in 0..m {
                row.held[c] = self.scores[i * m + c] - self.own[i] * self.pulls[i * m + c];
            }
            row.solve(self.problem.classes[i] as usize, self.problem.costs[i], self.own[i]);
            let moved: Vec<f64> =
                row.best.iter().zip(&self.pulls[i * m..]).map(|(new, old)| new - old).collect();
            if moved.iter().all(|step| *step == 0.0) {
                return (violation, None);
            }
            self.pulls[i * m..(i + 1) * m].copy_from_slice(&row.best);
            self.cache.fetch(&[i as u32], self.problem.rows);
            self.cache.use_column(i as u32);
            let column = self.cache.column(i as u32);
            for (scores, k) in self.scores.chunks_exact_mut(m).zip(column) {
                scores.iter_mut().zip(&moved).for_each(|(z, step)| *z += step * k);
            }
            self.steps += 1;
        }
    }

    /// Primal and dual objective, from scores that are summed afresh.
    fn measure(&mut self) -> (f64, f64) {
        let (n, m) = (self.own.len(), self.problem.m);
        let carriers: Vec<u32> = (0..n as u32)
            .filter(|i| self.pulls[*i as usize * m..][..m].iter().any(|a| *a != 0.0))
            .collect();
        let some = self.problem.rows.select(&carriers);
        let of_class = |c: usize| carriers.iter().map(move |i| (*i as usize, c));
        let pulls: Vec<Vec<f64>> =
            (0..m).map(|c| of_class(c).map(|(i, c)| self.pulls[i * m + c]).collect()).collect();
        let outputs = some.weighted_tables(&pulls, self.problem.rows);
        let (mut squares, mut losses, mut linear) = (0.0, 0.0, 0.0);
        for (i, class) in self.problem.classes.iter().enumerate() {
            let class = *class as usize;
            let scores = &mut self.scores[i * m..(i + 1) * m];
            let pulls = &self.pulls[i * m..(i + 1) * m];
            for (c, (z, a)) in scores.iter_mut().zip(pulls).enumerate() {
                let one = if c == class { 0.0 } else { 1.0 };
                squares += a * outputs[c][i];
                linear += one * a;
                *z = outputs[c][i] + one;
            }
            let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            losses += self.problem.costs[i] * (highest - scores[class]);
        }
        (0.5 * squares + losses, -0.5 * squares - linear)
    }
}
