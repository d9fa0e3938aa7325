//! A quadratic over a box with a kernel matrix too large to hold, solved by pairs of variables with its
//! columns at hand.
//!
//! Minimize `½ βᵀKβ − zᵀβ + ε ‖β‖₁` subject to `low ≤ β ≤ high`, with the sum of β in each of two
//! groups kept. Every step takes the pair that [`smo`](super::pair) would take, over all variables. When it
//! needs a column of `K` that is not at hand, that and those of the variables that violate most are
//! computed together, as one matrix product on all threads. Variables at a bound and far from leaving it
//! are set aside (Joachims 1999), and columns shortened when they are next used. It ends when the
//! violation over the variables looked at is within the tolerance, and for no other reason but a request
//! or rounding; whoever asked looks at all of them, and begins again from there if he must.

use super::column_cache::Cache;
use super::pair::{Variables, gain_of, move_pair, pairs, violation};
use super::power_slack::PowerSlack;
use crate::kernel::KernelRows;
use crate::model::{Monitor, Standing, Stop};
use mercer_num::Float;
use mercer_num::simd::smo::WorkingSetScan;
use std::ops::Range;

/// Up to so many variables the whole matrix is made at once.
pub(crate) const WHOLE: usize = 384;
/// Columns there is room for in any case.
pub(crate) const FEWEST_COLUMNS: usize = 64;
/// Columns computed at a time: one for so many at hand, within bounds. An easy problem needs few columns
/// in all and must not pay for others; a hard one needs most, and many at a time are computed faster.
const FRESH_SHARE: usize = 16;
const FEWEST_FRESH: usize = 8;
const MOST_FRESH: usize = 128;
/// Where the columns are at hand a solve goes on to this share of the tolerance: its last steps cost little, and the
/// objective is then not behind that of a solver whose last step happened to be a long one.
const POLISHED: f64 = 0.5;
/// Steps between two looks at the clock, and at who could be set aside.
const POLL: u64 = 64;
const LOOK: u64 = 1000;

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
    /// `Kβ` where it begins, if it is known.
    pub outputs: Option<Vec<f64>>,
    /// What slack costs where that is a power of its length: then multipliers have prices, not bounds.
    pub slack: Option<&'a PowerSlack>,
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
    /// The violation the solver measured, over the variables it looked at.
    pub violation: f64,
    /// Whether that is within the tolerance.
    pub converged: bool,
    /// How many variables were not looked at in the end.
    pub aside: usize,
    /// Pairs moved.
    pub steps: u64,
    /// Kernel values computed.
    pub kernel_values: u64,
    /// Why it ended early.
    pub stopped: Option<Stop>,
}

/// Who is told the share of the way behind, and where the solver stands.
pub type Tell<'a> = dyn Fn(f64, Standing) + Sync + 'a;

/// Solves the problem over some rows; `progress` is told how far it is.
pub fn solve<T: Float>(
    problem: &BoxQp<'_>,
    rows: &KernelRows<T>,
    options: &SolverOptions,
    monitor: &Monitor<'_>,
    progress: &Tell<'_>,
) -> Solution {
    let n = rows.n_rows();
    let (mut beta, mut values) = (problem.start.clone(), 0);
    let outputs = match &problem.outputs {
        Some(outputs) => outputs.clone(),
        None if beta.iter().all(|b| *b == 0.0) => vec![0.0; n],
        None => {
            let carriers: Vec<u32> = (0..n as u32).filter(|i| beta[*i as usize] != 0.0).collect();
            let weights: Vec<f64> = carriers.iter().map(|i| beta[*i as usize]).collect();
            values = (carriers.len() * n) as u64;
            rows.select(&carriers).weighted_sums(&weights, rows)
        }
    };
    beta.iter_mut().zip(problem.low.iter().zip(problem.high)).for_each(|(b, (low, high))| {
        *b = b.clamp(*low, *high);
    });
    let variables = Variables::new(
        beta,
        outputs.iter().zip(problem.linear).map(|(f, z)| f - z).collect(),
        problem.low.to_vec(),
        problem.high.to_vec(),
        problem.tube,
        problem.split,
        problem.slack.cloned(),
    );
    let mut solution = if n <= WHOLE {
        whole(variables, rows, options, monitor)
    } else {
        ByColumns::new(variables, rows, options, monitor).run(progress)
    };
    solution.kernel_values += values;
    solution
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
    let lifted = |i: usize| match v.slack {
        None => k[i * n + i],
        Some(_) => T::narrow(k[i * n + i].into() + v.lift(i)),
    };
    let mut diagonal: Vec<T> = (0..n).map(lifted).collect();
    let mut stopped = None;
    let to = POLISHED * options.tol;
    let run = pairs(&mut v, &k, &mut diagonal, to, options.max_steps, |_, _| {
        stopped = monitor.stop();
        stopped.is_none()
    });
    Solution {
        level: levels(&v),
        violation: run.violation,
        converged: run.violation <= options.tol,
        aside: 0,
        steps: run.steps,
        kernel_values: (n * (n + 1) / 2) as u64,
        stopped,
        beta: v.beta,
    }
}

/// For each group, the mean price of the variables inside their bounds, or where there are none, the
/// middle between the prices of rising and of falling. A variable that only rounding keeps from its bound
/// is at it: otherwise the order of the rows would choose between the middle and an end.
fn levels(v: &Variables) -> [f64; 2] {
    [0, 1].map(|g| {
        let (mut sum, mut free) = (0.0, 0u64);
        let (mut top, mut bottom) = (f64::NEG_INFINITY, f64::INFINITY);
        for i in v.groups()[g].clone() {
            // Where there is no bound there is nothing to be near to.
            let width = v.high[i] - v.low[i];
            let near = if width.is_finite() { 1e-10 * width } else { 0.0 };
            let rises = v.beta[i] < v.high[i] - near;
            let falls = v.beta[i] > v.low[i] + near;
            // Inside, and not on the kink either: both prices are the same.
            if rises && falls && v.up[i] == v.down[i] {
                sum += v.up[i] - v.f[i];
                free += 1;
            }
            if rises {
                top = top.max(v.up[i] - v.f[i]);
            }
            if falls {
                bottom = bottom.min(v.down[i] - v.f[i]);
            }
        }
        match (free, top.is_finite(), bottom.is_finite()) {
            (0, true, true) => 0.5 * (top + bottom),
            (0, true, false) => top,
            (0, false, true) => bottom,
            (0, false, false) => 0.0,
            _ => sum / free as f64,
        }
    })
}

/// A solve by columns, under way.
pub(crate) struct ByColumns<'a, T> {
    pub all: &'a KernelRows<T>,
    pub options: &'a SolverOptions,
    pub monitor: &'a Monitor<'a>,
    /// The variables looked at, and which of all they are.
    pub v: Variables,
    active: Vec<u32>,
    /// The rows looked at, where not all are.
    pub some: Option<KernelRows<T>>,
    /// The diagonal of the kernel, with the curvature of slack.
    pub diagonal: Vec<T>,
    pub cache: Cache<T>,
    /// Values of the variables set aside.
    beta: Vec<f64>,
    pub steps: u64,
}

impl<'a, T: Float> ByColumns<'a, T> {
    fn new(
        v: Variables,
        all: &'a KernelRows<T>,
        options: &'a SolverOptions,
        monitor: &'a Monitor<'a>,
    ) -> Self {
        let n = all.n_rows();
        let mut diagonal = all.diagonal();
        if v.slack.is_some() {
            let own = diagonal.iter_mut().enumerate();
            own.for_each(|(i, own)| *own = T::narrow((*own).into() + v.lift(i)));
        }
        ByColumns {
            all,
            options,
            monitor,
            active: (0..n as u32).collect(),
            some: None,
            diagonal,
            cache: Cache::new(n, capacity::<T>(n, options.cache_bytes)),
            beta: v.beta.clone(),
            v,
            steps: 0,
        }
    }

    fn run(mut self, progress: &Tell<'_>) -> Solution {
        let mut scans = self.v.scans();
        let first = violation(&scans).max(self.options.tol);
        let stopped = loop {
            let gap = |g: usize| scans[g].max_up - scans[g].min_low;
            let g = usize::from(gap(1) > gap(0));
            // A NaN ends the run as well.
            if gap(g) <= POLISHED * self.options.tol || gap(g).is_nan() {
                break None;
            }
            if self.steps >= self.options.max_steps {
                break None;
            }
            if self.steps.is_multiple_of(POLL) {
                if let Some(stop) = self.monitor.stop() {
                    break Some(stop);
                }
                self.tell(progress, first, gap(g));
            }
            if self.cache.is_full() {
                let (stop, last) = self.blocks(scans, first, progress);
                scans = last;
                break stop;
            }
            self.steps += 1;
            if self.options.shrinking && self.steps.is_multiple_of(LOOK) && self.set_aside(&scans) {
                scans = self.v.scans();
                continue;
            }
            match self.step(g, scans) {
                Some(next) => scans = next,
                // Rounding leaves nothing to move.
                None => break None,
            }
        };
        let level = levels(&self.v);
        for (i, b) in self.active.iter().zip(&self.v.beta) {
            self.beta[*i as usize] = *b;
        }
        Solution {
            level,
            violation: violation(&scans),
            converged: violation(&scans) <= self.options.tol,
            aside: self.all.n_rows() - self.active.len(),
            steps: self.steps,
            kernel_values: self.cache.values,
            stopped,
            beta: self.beta,
        }
    }

    /// Tells the share of the way from the first violation to the tolerance, in digits.
    pub fn tell(&self, progress: &Tell<'_>, first: f64, gap: f64) {
        let share = ((first / gap).ln() / (first / self.options.tol).ln()).clamp(0.0, 1.0);
        let mut standing = Standing::new(gap, &self.v.beta);
        if self.active.len() < self.beta.len() {
            // The variables that were set aside have theirs as they were.
            let active = self.active.iter().filter(|i| self.beta[**i as usize] != 0.0).count();
            standing.supports += Standing::new(gap, &self.beta).supports - active;
        }
        progress(share, standing);
    }

    /// Moves the pair of a group that is worth most; `None` where rounding leaves nothing to move.
    fn step(&mut self, g: usize, mut scans: [WorkingSetScan; 2]) -> Option<[WorkingSetScan; 2]> {
        let group = self.v.groups()[g].clone();
        let i = group.start + scans[g].argmax_up;
        if !self.cache.has(i as u32) {
            let set = self.choose(&[i as u32], &scans);
            self.cache.fetch(&set, self.some.as_ref().unwrap_or(self.all));
        }
        self.cache.use_column(i as u32);
        let v = &self.v;
        let rising = self.cache.column(i as u32);
        let j = group.start
            + T::select_second(
                &v.f[group.clone()],
                &v.down[group.clone()],
                &rising[group.clone()],
                &self.diagonal[group.clone()],
                self.diagonal[i],
                scans[g].max_up,
            )?;
        if !self.cache.has(j as u32) {
            let set = self.choose(&[i as u32, j as u32], &scans);
            self.cache.fetch(&set, self.some.as_ref().unwrap_or(self.all));
        }
        self.cache.use_column(j as u32);
        let (rising, falling) = (self.cache.column(i as u32), self.cache.column(j as u32));
        let gain = gain_of(&self.v, j, scans[g].max_up);
        let (own_i, own_j) = match self.v.slack {
            None => (self.diagonal[i].into(), self.diagonal[j].into()),
            Some(_) => (rising[i].into(), falling[j].into()),
        };
        let curvature = own_i + own_j - 2.0 * rising[j].into();
        let t = move_pair(&mut self.v, i, j, gain, curvature);
        if t == 0.0 {
            return None;
        }
        if self.v.slack.is_some() {
            self.diagonal[i] = T::narrow(own_i + self.v.lift(i));
            self.diagonal[j] = T::narrow(own_j + self.v.lift(j));
        }
        let groups = self.v.groups();
        for (g, group) in groups.into_iter().enumerate().filter(|(_, group)| !group.is_empty()) {
            scans[g] = T::update_and_scan(
                &mut self.v.f[group.clone()],
                &rising[group.clone()],
                &falling[group.clone()],
                t,
                &self.v.up[group.clone()],
                &self.v.down[group],
            );
        }
        Some(scans)
    }

    /// Some variables, and with them those of each group that violate most on each side and whose
    /// columns are not at hand.
    fn choose(&self, wanted: &[u32], scans: &[WorkingSetScan; 2]) -> Vec<u32> {
        let v = &self.v;
        let room = self.cache.capacity() - self.cache.len();
        let most = (self.cache.len() / FRESH_SHARE).clamp(FEWEST_FRESH, MOST_FRESH).min(room);
        let groups = v.groups();
        let sides = 2 * groups.iter().filter(|g| !g.is_empty()).count();
        let each = most.saturating_sub(wanted.len()) / sides;
        let mut set = wanted.to_vec();
        for (group, scan) in groups.into_iter().zip(scans).filter(|_| each > 0) {
            for side in [Side::Rise, Side::Fall] {
                let fresh = |i| !self.cache.has(i);
                set.extend(self.farthest(group.clone(), scan, side, (each, 0.5), fresh));
            }
        }
        set.sort_unstable();
        set.dedup();
        set
    }

    /// So many variables of a group that violate most on a side: only those that could be half of a violating
    /// pair, and have gone this share of the way to the farthest.
    pub fn farthest(
        &self,
        group: Range<usize>,
        scan: &WorkingSetScan,
        side: Side,
        (most, way): (usize, f64),
        wanted: impl Fn(u32) -> bool,
    ) -> Vec<u32> {
        let v = &self.v;
        let (from, to) = match side {
            Side::Rise => (scan.min_low, scan.max_up),
            Side::Fall => (-scan.max_up, -scan.min_low),
        };
        let limit = from + way * (to - from);
        let mut some: Vec<(f64, u32)> = Vec::new();
        for i in group {
            let value = match side {
                Side::Rise => v.up[i] - v.f[i],
                Side::Fall => v.f[i] - v.down[i],
            };
            if value > limit && wanted(i as u32) {
                some.push((value, i as u32));
            }
        }
        if some.len() > most {
            let by_value =
                |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1));
            some.select_nth_unstable_by(most - 1, by_value);
            some.truncate(most);
        }
        some.into_iter().map(|(_, i)| i).collect()
    }

    /// Leaves out the variables that stand at a bound and are far from leaving it, if they are many.
    pub fn set_aside(&mut self, scans: &[WorkingSetScan; 2]) -> bool {
        let v = &self.v;
        let keep: Vec<u32> = (0..v.beta.len())
            .filter(|i| {
                let WorkingSetScan { max_up: top, min_low: bottom, .. } =
                    scans[usize::from(*i >= v.split)];
                v.up[*i] - v.f[*i] >= bottom || v.down[*i] - v.f[*i] <= top
            })
            .map(|i| i as u32)
            .collect();
        if keep.len() * 10 > v.beta.len() * 9 || keep.len() < 2 {
            return false;
        }
        for (i, b) in self.active.iter().zip(&v.beta) {
            self.beta[*i as usize] = *b;
        }
        self.v = v.select(&keep);
        self.active = keep.iter().map(|i| self.active[*i as usize]).collect();
        self.diagonal = keep.iter().map(|i| self.diagonal[*i as usize]).collect();
        let rows = self.some.as_ref().unwrap_or(self.all).select(&keep);
        self.some = Some(rows);
        self.cache.shrink(&keep);
        true
    }
}

/// Which way a variable would go.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Rise,
    Fall,
}

/// How many columns fit; a few always do.
fn capacity<T>(n: usize, bytes: u64) -> usize {
    let column = (n.max(1) * size_of::<T>()) as u64;
    usize::try_from(bytes / column).unwrap_or(usize::MAX).clamp(FEWEST_COLUMNS.min(n), n.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Function, Storage};
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
    fn columns_that_do_not_fit_lead_to_the_same_optimum_by_blocks() {
        let n = 900;
        let (x, y, low, high) = svm(n, 3, 5.0);
        let function = Function::rbf(0.1);
        let rows: KernelRows<f64> =
            KernelRows::all(function.clone(), Storage::Dense, &Rows::from(&x), &[], &[]);
        for (split, tube) in [(n, 0.0), (n / 2, 0.0), (n, 0.2)] {
            let problem = BoxQp {
                linear: &y,
                low: &low,
                high: &high,
                tube,
                split,
                start: vec![0.0; n],
                outputs: None,
                slack: None,
            };
            // Nothing set aside, so that what was looked at is all there is.
            let plain = SolverOptions { shrinking: false, ..options(1e-8) };
            let few = SolverOptions { cache_bytes: 100 * 8 * n as u64, ..plain };
            let by_blocks = solve(&problem, &rows, &few, &Monitor::quiet(), &|_, _| {});
            let by_columns = solve(&problem, &rows, &plain, &Monitor::quiet(), &|_, _| {});

            assert!(by_blocks.converged, "violation {}", by_blocks.violation);
            assert_ne!(by_blocks.steps, by_columns.steps, "another way");
            let objective = |beta: &[f64]| -> f64 {
                let outputs = rows.weighted_sums(beta, &rows);
                let cells = beta.iter().zip(&outputs).zip(&y);
                cells.map(|((b, f), z)| (0.5 * f - z) * b + tube * b.abs()).sum()
            };
            let (a, b) = (objective(&by_blocks.beta), objective(&by_columns.beta));
            assert!((a - b).abs() < 1e-8 * b.abs(), "split {split}, tube {tube}: {a} and {b}");
        }
    }

    #[test]
    fn a_tolerance_below_rounding_is_told_from_one_that_takes_long() {
        let most = 2_000_000;
        for (n, c, function) in [
            (200, 1.0, Function::rbf(0.2)),
            (200, 1e6, Function::rbf(0.01)),
            (200, 1e3, Function::linear()),
            (900, 10.0, Function::rbf(0.2)),
        ] {
            let (x, y, low, high) = svm(n, 7, c);
            let rows: KernelRows<f64> =
                KernelRows::all(function.clone(), Storage::Dense, &Rows::from(&x), &[], &[]);
            let problem = BoxQp {
                linear: &y,
                low: &low,
                high: &high,
                tube: 0.0,
                split: n,
                start: vec![0.0; n],
                outputs: None,
                slack: None,
            };
            let options = SolverOptions { max_steps: most, ..options(0.0) };
            let end = solve(&problem, &rows, &options, &Monitor::quiet(), &|_, _| {});
            assert!(end.steps < most, "{n} rows at {c}: {} steps", end.steps);
        }
    }

    #[test]
    fn whole_and_by_columns_come_to_the_same() {
        let n = 900;
        let (x, y, low, high) = svm(n, 1, 2.0);
        let function = Function::rbf(0.2);
        let rows: KernelRows<f64> =
            KernelRows::all(function.clone(), Storage::Dense, &Rows::from(&x), &[], &[]);
        let problem = BoxQp {
            linear: &y,
            low: &low,
            high: &high,
            tube: 0.0,
            split: n,
            start: vec![0.0; n],
            outputs: None,
            slack: None,
        };
        let v = Variables::new(
            vec![0.0; n],
            y.iter().map(|z| -z).collect(),
            low.clone(),
            high.clone(),
            0.0,
            n,
            None,
        );

        let plain = SolverOptions { shrinking: false, ..options(1e-9) };
        let sets = solve(&problem, &rows, &plain, &Monitor::quiet(), &|_, _| {});
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
        let rows: KernelRows<f32> =
            KernelRows::all(function.clone(), Storage::Dense, &Rows::from(&x), &[], &[]);
        let problem = BoxQp {
            linear: &y,
            low: &low,
            high: &high,
            tube: 0.0,
            split: n,
            start: vec![0.0; n],
            outputs: None,
            slack: None,
        };
        for (cache_bytes, shrinking) in [(1 << 10, false), (1 << 30, true), (600_000, true)] {
            let options = SolverOptions { cache_bytes, shrinking, ..options(1e-3) };

            let first = solve(&problem, &rows, &options, &Monitor::quiet(), &|_, _| {});
            // Whoever was set aside is looked at in a second run from there.
            let again = BoxQp { start: first.beta, ..problem.clone() };
            let options = SolverOptions { shrinking: false, ..options };
            let found = solve(&again, &rows, &options, &Monitor::quiet(), &|_, _| {});

            assert!(found.converged && first.converged);
            assert_eq!(found.aside, 0);
            let violation = plain_violation(&x, &y, &low, &high, &found.beta, function.clone());
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
        let rows: KernelRows<f64> =
            KernelRows::all(Function::rbf(0.3), Storage::Dense, &Rows::from(&x), &[], &[]);
        let problem = BoxQp {
            linear: &z,
            low: &low,
            high: &high,
            tube: 0.2,
            split: 400,
            start: vec![0.0; n],
            outputs: None,
            slack: None,
        };

        let options = SolverOptions { shrinking: false, ..options(1e-8) };
        let found = solve(&problem, &rows, &options, &Monitor::quiet(), &|_, _| {});

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
        let rows: KernelRows<f64> =
            KernelRows::all(Function::rbf(0.2), Storage::Dense, &Rows::from(&x), &[], &[]);
        let problem = |start: Vec<f64>| BoxQp {
            linear: &y,
            low: &low,
            high: &high,
            tube: 0.0,
            split: n,
            start,
            outputs: None,
            slack: None,
        };
        let run =
            |start| solve(&problem(start), &rows, &options(1e-6), &Monitor::quiet(), &|_, _| {});

        let cold = run(vec![0.0; n]);
        let warm = run(cold.beta.clone());

        assert!(warm.converged);
        assert!(warm.steps <= 10, "{}", warm.steps);
    }
}
