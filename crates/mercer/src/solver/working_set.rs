//! A quadratic over a box with a kernel matrix too large to hold: working sets of variables, each
//! solved by pairs in cache.
//!
//! Minimize `½ βᵀKβ − zᵀβ + ε ‖β‖₁` subject to `low ≤ β ≤ high`, with the sum of β in each of two
//! groups kept. A round takes the variables that violate the optimum most, computes the columns of
//! `K` that are not at hand as one matrix product, solves the small problem among them, and moves
//! `f = Kβ − z` by the columns that changed (Joachims 1999; Wen et al. 2018). Variables at a bound and
//! far from leaving it are set aside, and looked at again before the end. It ends when the violation over
//! all variables is within the tolerance, and for no other reason but a request or rounding.

use super::cache::Cache;
use super::smo::{End, Variables, pairs, violation};
use crate::kernel::KernelRows;
use crate::model::{Monitor, Stop};
use mercer_num::Float;
use mercer_num::sweep::Scan;
use rayon::prelude::*;

/// Up to so many variables the whole matrix is made at once.
const WHOLE: usize = 768;
/// Variables of the first working set; later ones are larger.
const FIRST_SET: usize = 128;
/// Variables of a large working set: a matrix among them stays in cache.
const LARGEST_SET: usize = 512;
/// Numbers of `f` that one thread moves at a time.
const CHUNK: usize = 2048;
/// Steps within a working set, for each of its variables, before the others are looked at again.
const STEPS_EACH: u64 = 40;
/// How much smaller than the violation of all the one within a set is made.
const WITHIN: f64 = 0.1;

/// Minimize `½ βᵀKβ − zᵀβ + ε ‖β‖₁` subject to `low ≤ β ≤ high`, each group's sum as at the start.
#[derive(Clone, Debug)]
pub struct BoxQp<'a> {
    /// `z`.
    pub linear: &'a [f64],
    /// Lower bounds.
    pub low: &'a [f64],
    /// Upper bounds.
    pub high: &'a [f64],
    /// `ε`.
    pub tube: f64,
    /// The first so many variables are a group, the rest another.
    pub split: usize,
    /// Where to begin: within the bounds.
    pub start: Vec<f64>,
}

/// How to solve.
#[derive(Clone, Copy, Debug)]
pub struct SolverOptions {
    /// The violation to come to.
    pub tol: f64,
    /// Most steps.
    pub max_steps: u64,
    /// Memory for columns, in bytes.
    pub cache_bytes: u64,
    /// Whether variables may be set aside.
    pub shrinking: bool,
}

/// What a solver comes to.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The variables.
    pub beta: Vec<f64>,
    /// For each group, a number between the prices of rising and of falling: the multiplier of its sum.
    pub level: [f64; 2],
    /// The violation the solver measured.
    pub violation: f64,
    /// Whether that is within the tolerance.
    pub converged: bool,
    /// Pairs moved.
    pub steps: u64,
    /// Kernel values computed.
    pub kernel_values: u64,
    /// Why it ended early.
    pub stopped: Option<Stop>,
}

/// Solves the problem over some rows.
pub fn solve<T: Float>(
    problem: &BoxQp<'_>,
    rows: &KernelRows<T>,
    options: &SolverOptions,
    monitor: &Monitor<'_>,
    progress: &(dyn Fn(f64) + Sync),
) -> Solution {
    let n = rows.n_rows();
    let beta = problem.start.clone();
    let f: Vec<f64> = problem.linear.iter().map(|z| -z).collect();
    let variables = Variables::new(
        beta,
        f,
        problem.low.to_vec(),
        problem.high.to_vec(),
        problem.tube,
        problem.split,
    );
    if n <= WHOLE {
        whole(variables, rows, options, monitor)
    } else {
        Rounds::new(variables, problem, rows, options, monitor, progress).run()
    }
}

/// Solves with the whole matrix at hand, on this thread.
fn whole<T: Float>(
    mut v: Variables,
    rows: &KernelRows<T>,
    options: &SolverOptions,
    monitor: &Monitor<'_>,
) -> Solution {
    let n = rows.n_rows();
    let k = rows.gram();
    let diagonal: Vec<T> = (0..n).map(|i| k[i * n + i]).collect();
    for j in 0..n {
        let b = v.beta[j];
        if b != 0.0 {
            T::add_columns(&[&k[j * n..(j + 1) * n]], &[b], 0, &mut v.f);
        }
    }
    let mut stopped = None;
    let run = pairs(&mut v, &k, &diagonal, options.tol, options.max_steps, |_, _| {
        stopped = monitor.stop();
        stopped.is_none()
    });
    let level = levels(&v);
    Solution {
        level,
        violation: run.violation,
        converged: run.end == End::Within,
        steps: run.steps,
        kernel_values: (n * (n + 1) / 2) as u64,
        stopped,
        beta: v.beta,
    }
}

/// For each group, the mean price of the variables inside their bounds, or where there are none, the
/// middle between the prices of rising and of falling.
fn levels(v: &Variables) -> [f64; 2] {
    let scans = v.scans();
    [0, 1].map(|g| {
        let group = v.groups()[g].clone();
        let (mut sum, mut free) = (0.0, 0u64);
        for i in group {
            // Inside, and not on the kink either: both prices are the same.
            if v.up[i] == v.down[i] {
                sum += v.up[i] - v.f[i];
                free += 1;
            }
        }
        let Scan { top, bottom, .. } = scans[g];
        match (free, top.is_finite(), bottom.is_finite()) {
            (0, true, true) => 0.5 * (top + bottom),
            (0, true, false) => top,
            (0, false, true) => bottom,
            (0, false, false) => 0.0,
            _ => sum / free as f64,
        }
    })
}

/// A solve by working sets, under way.
struct Rounds<'a, T> {
    problem: &'a BoxQp<'a>,
    all: &'a KernelRows<T>,
    options: &'a SolverOptions,
    monitor: &'a Monitor<'a>,
    progress: &'a (dyn Fn(f64) + Sync),
    /// The variables looked at, and which of all they are.
    v: Variables,
    active: Vec<u32>,
    /// The rows looked at, where not all are.
    some: Option<KernelRows<T>>,
    diagonal: Vec<T>,
    cache: Cache<T>,
    /// Values of the variables set aside.
    beta: Vec<f64>,
    /// How often all were looked at again.
    returns: usize,
    steps: u64,
    kernel_values: u64,
    last: Vec<u32>,
}

impl<'a, T: Float> Rounds<'a, T> {
    fn new(
        v: Variables,
        problem: &'a BoxQp<'a>,
        all: &'a KernelRows<T>,
        options: &'a SolverOptions,
        monitor: &'a Monitor<'a>,
        progress: &'a (dyn Fn(f64) + Sync),
    ) -> Self {
        let n = all.n_rows();
        let mut out = Rounds {
            problem,
            all,
            options,
            monitor,
            progress,
            active: (0..n as u32).collect(),
            some: None,
            diagonal: all.diagonal(),
            cache: Cache::new(n, capacity::<T>(n, options.cache_bytes)),
            beta: v.beta.clone(),
            v,
            returns: 0,
            steps: 0,
            kernel_values: 0,
            last: Vec::new(),
        };
        if out.beta.iter().any(|b| *b != 0.0) {
            out.v.f = out.fresh(&(0..n as u32).collect::<Vec<_>>());
        }
        out
    }

    fn run(mut self) -> Solution {
        let mut size = FIRST_SET;
        let mut first = None;
        let mut round = 0u64;
        let (violation, end, stopped) = loop {
            let scans = self.v.scans();
            let gap = violation(&scans);
            let from = *first.get_or_insert(gap.max(self.options.tol));
            (self.progress)(((from / gap).ln() / (from / self.options.tol).ln()).clamp(0.0, 1.0));
            if !(gap > self.options.tol) {
                if self.all_active() {
                    break (gap, End::Within, None);
                }
                self.look_at_all();
                continue;
            }
            if let Some(stop) = self.monitor.stop() {
                break (gap, End::Asked, Some(stop));
            }
            if self.steps >= self.options.max_steps {
                break (gap, End::Steps, None);
            }
            round += 1;
            if self.options.shrinking && self.returns < 2 && round % 4 == 0 {
                self.set_aside(&scans);
            }
            let set = self.choose(size);
            size = (2 * size).min(LARGEST_SET);
            match self.solve_set(&set, gap) {
                End::Rounding if self.all_active() => break (gap, End::Rounding, None),
                End::Rounding => self.look_at_all(),
                End::Asked => break (gap, End::Asked, self.monitor.stop()),
                _ => {}
            }
        };
        if !self.all_active() {
            self.look_at_all();
        }
        Solution {
            level: levels(&self.v),
            violation,
            converged: end == End::Within,
            steps: self.steps,
            kernel_values: self.kernel_values + self.cache.values,
            stopped,
            beta: self.v.beta,
        }
    }

    fn all_active(&self) -> bool {
        self.some.is_none()
    }

    fn rows(&self) -> &KernelRows<T> {
        self.some.as_ref().unwrap_or(self.all)
    }

    /// The variables that violate most, of each group and on each side, and some of the last set.
    fn choose(&self, size: usize) -> Vec<u32> {
        let n = self.v.beta.len();
        let size = size.min(n).min(self.cache_room());
        let groups = self.v.groups();
        let filled = groups.iter().filter(|g| !g.is_empty()).count();
        let each = (size / (2 * filled)).max(1);
        let mut taken = vec![false; n];
        let mut set = Vec::with_capacity(size + 4);
        for group in groups {
            let scans = mercer_num::sweep::scan(
                &self.v.f[group.clone()],
                &self.v.up[group.clone()],
                &self.v.down[group.clone()],
            );
            for side in [Side::Rise, Side::Fall] {
                let value = |i: u32| {
                    let i = i as usize;
                    match side {
                        Side::Rise => self.v.up[i] - self.v.f[i],
                        Side::Fall => self.v.f[i] - self.v.down[i],
                    }
                };
                // Only those that could be half of a violating pair.
                let limit = match side {
                    Side::Rise => scans.bottom,
                    Side::Fall => -scans.top,
                };
                let mut some: Vec<u32> = (group.start as u32..group.end as u32)
                    .filter(|i| !taken[*i as usize] && value(*i) > limit)
                    .collect();
                let by_value =
                    |a: &u32, b: &u32| value(*b).total_cmp(&value(*a)).then_with(|| a.cmp(b));
                if some.len() > each {
                    some.select_nth_unstable_by(each - 1, by_value);
                    some.truncate(each);
                }
                some.iter().for_each(|i| taken[*i as usize] = true);
                set.extend(some);
            }
        }
        // What is left of the room goes to those inside their bounds that were moved last.
        for i in &self.last {
            let inside = self.v.up[*i as usize].is_finite() && self.v.down[*i as usize].is_finite();
            if set.len() < size && !taken[*i as usize] && inside && self.cache.has(*i) {
                taken[*i as usize] = true;
                set.push(*i);
            }
        }
        set.sort_unstable();
        set
    }

    fn cache_room(&self) -> usize {
        capacity::<T>(self.v.beta.len(), self.options.cache_bytes)
    }

    fn solve_set(&mut self, set: &[u32], gap: f64) -> End {
        let q = set.len();
        let rows = self.some.as_ref().unwrap_or(self.all);
        self.cache.fetch(set, rows);
        let mut k = vec![T::default(); q * q];
        for (a, i) in set.iter().enumerate() {
            let column = self.cache.column(*i);
            for (b, j) in set.iter().enumerate().skip(a) {
                k[a * q + b] = column[*j as usize];
                k[b * q + a] = column[*j as usize];
            }
        }
        let diagonal: Vec<T> = set.iter().map(|i| self.diagonal[*i as usize]).collect();
        let mut part = self.v.select(set);
        let tol = (WITHIN * gap).max(0.5 * self.options.tol);
        let most = (STEPS_EACH * q as u64).min(self.options.max_steps - self.steps);
        let monitor = self.monitor;
        let run = pairs(&mut part, &k, &diagonal, tol, most, |_, _| monitor.stop().is_none());
        self.steps += run.steps;
        let (mut columns, mut moves) = (Vec::new(), Vec::new());
        for (a, i) in set.iter().enumerate() {
            let change = part.beta[a] - self.v.beta[*i as usize];
            if change != 0.0 {
                columns.push(self.cache.column(*i));
                moves.push(change);
            }
        }
        add_columns(&columns, &moves, &mut self.v.f);
        for (a, i) in set.iter().enumerate() {
            self.v.beta[*i as usize] = part.beta[a];
            self.v.refresh(*i as usize);
        }
        self.last = set.to_vec();
        if run.steps == 0 {
            run.end
        } else if run.end == End::Rounding {
            End::Steps
        } else {
            run.end
        }
    }

    /// Leaves out the variables that stand at a bound and are far from leaving it, if they are many.
    fn set_aside(&mut self, scans: &[Scan; 2]) {
        let v = &self.v;
        let keep: Vec<u32> = (0..v.beta.len())
            .filter(|i| {
                let Scan { top, bottom, .. } = scans[usize::from(*i >= v.split)];
                v.up[*i] - v.f[*i] >= bottom || v.down[*i] - v.f[*i] <= top
            })
            .map(|i| i as u32)
            .collect();
        if keep.len() * 5 > v.beta.len() * 4 || keep.len() < 2 {
            return;
        }
        for (i, b) in self.active.iter().zip(&v.beta) {
            self.beta[*i as usize] = *b;
        }
        self.v = v.select(&keep);
        self.active = keep.iter().map(|i| self.active[*i as usize]).collect();
        self.diagonal = keep.iter().map(|i| self.diagonal[*i as usize]).collect();
        let rows = self.rows().select(&keep);
        self.some = Some(rows);
        self.cache.shrink(&keep, capacity::<T>(keep.len(), self.options.cache_bytes));
        self.last.clear();
    }

    /// Takes all variables in again, with `f` computed afresh for those that were left out.
    fn look_at_all(&mut self) {
        for (i, b) in self.active.iter().zip(&self.v.beta) {
            self.beta[*i as usize] = *b;
        }
        let n = self.beta.len();
        let mut f = vec![f64::NAN; n];
        self.active.iter().zip(&self.v.f).for_each(|(i, v)| f[*i as usize] = *v);
        let aside: Vec<u32> = (0..n as u32).filter(|i| f[*i as usize].is_nan()).collect();
        aside.iter().zip(self.fresh(&aside)).for_each(|(i, v)| f[*i as usize] = v);
        self.v = Variables::new(
            self.beta.clone(),
            f,
            self.problem.low.to_vec(),
            self.problem.high.to_vec(),
            self.problem.tube,
            self.problem.split,
        );
        self.active = (0..n as u32).collect();
        self.some = None;
        self.diagonal = self.all.diagonal();
        self.kernel_values += self.cache.values;
        self.cache = Cache::new(n, capacity::<T>(n, self.options.cache_bytes));
        self.last.clear();
        self.returns += 1;
    }

    /// `f` of some variables from nothing but `β`.
    fn fresh(&mut self, of: &[u32]) -> Vec<f64> {
        let rows = self.all.select(of);
        let mut f: Vec<f64> = of.iter().map(|i| -self.problem.linear[*i as usize]).collect();
        let carriers: Vec<u32> =
            (0..self.beta.len() as u32).filter(|i| self.beta[*i as usize] != 0.0).collect();
        for some in carriers.chunks(256) {
            let mut columns = vec![vec![T::default(); of.len()]; some.len()];
            let mut out: Vec<&mut [T]> = columns.iter_mut().map(Vec::as_mut_slice).collect();
            self.all.columns(some, &rows, &mut out);
            let columns: Vec<&[T]> = columns.iter().map(Vec::as_slice).collect();
            let values: Vec<f64> = some.iter().map(|i| self.beta[*i as usize]).collect();
            add_columns(&columns, &values, &mut f);
            self.kernel_values += (some.len() * of.len()) as u64;
        }
        f
    }
}

#[derive(Clone, Copy)]
enum Side {
    Rise,
    Fall,
}

/// `into += Σ coefficients · columns`, on all threads, each number summed in the order of the columns.
fn add_columns<T: Float>(columns: &[&[T]], coefficients: &[f64], into: &mut [f64]) {
    if columns.len() * into.len() < 1 << 16 {
        T::add_columns(columns, coefficients, 0, into);
        return;
    }
    into.par_chunks_mut(CHUNK).enumerate().for_each(|(k, part)| {
        T::add_columns(columns, coefficients, k * CHUNK, part);
    });
}

/// How many columns fit; a working set of some size always does.
fn capacity<T>(n: usize, bytes: u64) -> usize {
    let column = (n.max(1) * size_of::<T>()) as u64;
    usize::try_from(bytes / column).unwrap_or(usize::MAX).clamp(64.min(n), n.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Function;
    use mercer_num::random::Random;
    use mercer_num::{Matrix, Rows};

    fn options(tol: f64) -> SolverOptions {
        SolverOptions { tol, max_steps: u64::MAX, cache_bytes: 1 << 24, shrinking: true }
    }

    fn svm(n: usize, seed: u64, c: f64) -> (Matrix, Vec<f64>, Vec<f64>, Vec<f64>) {
        let mut random = Random::new(seed);
        let y: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let x = Matrix::from_shape_fn((n, 5), |(i, _)| 0.7 * y[i] + random.normal());
        let low = y.iter().map(|y| if *y > 0.0 { 0.0 } else { -c }).collect();
        let high = y.iter().map(|y| if *y > 0.0 { c } else { 0.0 }).collect();
        (x, y, low, high)
    }

    /// How far from the optimum, by the definition and nothing else.
    fn plain_violation(
        x: &Matrix,
        z: &[f64],
        low: &[f64],
        high: &[f64],
        beta: &[f64],
        function: Function,
    ) -> f64 {
        let n = z.len();
        let (mut top, mut bottom) = (f64::NEG_INFINITY, f64::INFINITY);
        for i in 0..n {
            let kb: f64 = (0..n)
                .map(|j| beta[j] * function.value(&x.row(i).to_vec(), &x.row(j).to_vec()))
                .sum();
            let f = kb - z[i];
            if beta[i] < high[i] {
                top = top.max(-f);
            }
            if beta[i] > low[i] {
                bottom = bottom.min(-f);
            }
        }
        top - bottom
    }

    #[test]
    fn whole_and_by_working_sets_come_to_the_same() {
        let n = 900;
        let (x, y, low, high) = svm(n, 1, 2.0);
        let function = Function::rbf(0.2);
        let rows: KernelRows<f64> = KernelRows::all(function, &Rows::from(&x), &[], &[]);
        let problem =
            BoxQp { linear: &y, low: &low, high: &high, tube: 0.0, split: n, start: vec![0.0; n] };
        let v = Variables::new(
            vec![0.0; n],
            y.iter().map(|z| -z).collect(),
            low.clone(),
            high.clone(),
            0.0,
            n,
        );

        let sets = solve(&problem, &rows, &options(1e-9), &Monitor::quiet(), &|_| {});
        let at_once = whole(v, &rows, &options(1e-9), &Monitor::quiet());

        assert!(sets.converged && at_once.converged);
        for (a, b) in sets.beta.iter().zip(&at_once.beta) {
            assert!((a - b).abs() < 1e-6);
        }
        assert!((sets.level[0] - at_once.level[0]).abs() < 1e-7);
        assert!(plain_violation(&x, &y, &low, &high, &sets.beta, function) < 2e-9);
        assert!(sets.beta.iter().sum::<f64>().abs() < 1e-10);
    }

    #[test]
    fn a_small_cache_and_setting_aside_change_nothing_but_the_way() {
        let n = 1500;
        let (x, y, low, high) = svm(n, 2, 5.0);
        let function = Function::rbf(0.1);
        let rows: KernelRows<f32> = KernelRows::all(function, &Rows::from(&x), &[], &[]);
        let problem =
            BoxQp { linear: &y, low: &low, high: &high, tube: 0.0, split: n, start: vec![0.0; n] };
        for (cache_bytes, shrinking) in [(1 << 10, false), (1 << 30, true), (600_000, true)] {
            let options = SolverOptions { cache_bytes, shrinking, ..options(1e-3) };

            let found = solve(&problem, &rows, &options, &Monitor::quiet(), &|_| {});

            assert!(found.converged);
            let violation = plain_violation(&x, &y, &low, &high, &found.beta, function);
            assert!(violation < 1.05e-3, "{violation}");
        }
    }

    #[test]
    fn a_tube_and_two_groups_are_solved_to_the_tolerance() {
        let n = 1000;
        let (x, mut z, _, _) = svm(n, 3, 1.0);
        let mut random = Random::new(9);
        z.iter_mut().for_each(|z| *z += 0.3 * random.normal());
        let (low, high) = (vec![-1.0; n], vec![1.0; n]);
        let rows: KernelRows<f64> = KernelRows::all(Function::rbf(0.3), &Rows::from(&x), &[], &[]);
        let problem = BoxQp {
            linear: &z,
            low: &low,
            high: &high,
            tube: 0.2,
            split: 400,
            start: vec![0.0; n],
        };

        let found = solve(&problem, &rows, &options(1e-8), &Monitor::quiet(), &|_| {});

        assert!(found.converged);
        let k = rows.gram();
        for (g, group) in [0..400, 400..n].into_iter().enumerate() {
            let sum: f64 = found.beta[group.clone()].iter().sum();
            assert!(sum.abs() < 1e-10);
            for i in group {
                let kb: f64 = (0..n).map(|j| k[i * n + j] * found.beta[j]).sum();
                // z − Kβ − level is ε sign(β) inside, within ±ε at zero, beyond at a bound.
                let rest = z[i] - kb - found.level[g];
                let b = found.beta[i];
                match b {
                    0.0 => assert!(rest.abs() <= 0.2 + 1e-7, "{rest}"),
                    b if b.abs() < 1.0 => assert!((rest - 0.2 * b.signum()).abs() < 1e-7),
                    b => assert!(rest * b.signum() >= 0.2 - 1e-7),
                }
            }
        }
    }

    #[test]
    fn a_warm_start_goes_on_from_where_it_was() {
        let n = 1200;
        let (x, y, low, high) = svm(n, 4, 2.0);
        let rows: KernelRows<f64> = KernelRows::all(Function::rbf(0.2), &Rows::from(&x), &[], &[]);
        let problem = |start: Vec<f64>| BoxQp {
            linear: &y,
            low: &low,
            high: &high,
            tube: 0.0,
            split: n,
            start,
        };
        let run = |start| solve(&problem(start), &rows, &options(1e-6), &Monitor::quiet(), &|_| {});

        let cold = run(vec![0.0; n]);
        let warm = run(cold.beta.clone());

        assert!(warm.converged);
        assert!(warm.steps <= 10, "{}", warm.steps);
    }
}
