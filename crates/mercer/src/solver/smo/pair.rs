//! Sequential minimal optimization: a quadratic over a box, two variables at a time.
//!
//! Minimize `½ βᵀKβ − zᵀβ + ε ‖β‖₁` subject to `low ≤ β ≤ high`, with the sum of β in each group kept,
//! given the matrix `K` as a whole. With `f = Kβ − z`, a variable may rise if it is below its upper
//! bound, at the price `u = f ± ε`, and fall if it is above the lower one. At the optimum no variable
//! that may rise is cheaper than one that may fall.
//!
//! The pair: the cheapest to rise, and the one to fall with it that gains most by the second-order
//! model (Fan, Chen & Lin 2005, working set selection 2). Written in `β` with signs, not in pairs of
//! multipliers, classification, regression, one-class and the ν forms are one problem, and the kink of
//! `ε|β|` at zero is a place where a step ends. Where slack costs a power of its length ([`slack`](super::power_slack)), the
//! slope of a variable's own cost is part of its price.

use super::power_slack::PowerSlack;
use mercer_num::Float;
use mercer_num::simd::smo::{MIN_CURVATURE, WorkingSetScan, scan_working_set};
use std::ops::Range;

/// The variables of a problem, or of a part of one.
pub(crate) struct Variables {
    pub beta: Vec<f64>,
    pub f: Vec<f64>,
    pub low: Vec<f64>,
    pub high: Vec<f64>,
    /// `u` is `up − f`: minus the prices of tube and slack, or `-inf` where the variable may not rise.
    pub up: Vec<f64>,
    /// The same for falling, or `inf`.
    pub down: Vec<f64>,
    pub tube: f64,
    /// The first so many are a group, the rest another.
    pub split: usize,
    /// What slack costs, where that is a power of its length.
    pub slack: Option<PowerSlack>,
}

impl Variables {
    pub fn new(
        beta: Vec<f64>,
        f: Vec<f64>,
        low: Vec<f64>,
        high: Vec<f64>,
        tube: f64,
        split: usize,
        slack: Option<PowerSlack>,
    ) -> Self {
        let n = beta.len();
        let (up, down) = (vec![0.0; n], vec![0.0; n]);
        let mut out = Variables { beta, f, low, high, up, down, tube, split, slack };
        (0..n).for_each(|i| out.refresh(i));
        out
    }

    /// What a variable may do where it stands.
    pub fn refresh(&mut self, i: usize) {
        let b = self.beta[i];
        let own = self.slack.as_ref().map_or(0.0, |slack| slack.slope(i, b));
        let rising = if b >= 0.0 { -self.tube } else { self.tube } - own;
        let falling = if b > 0.0 { -self.tube } else { self.tube } - own;
        self.up[i] = if b < self.high[i] { rising } else { f64::NEG_INFINITY };
        self.down[i] = if b > self.low[i] { falling } else { f64::INFINITY };
    }

    /// How much the price of a variable's slack curves where it stands.
    pub fn lift(&self, i: usize) -> f64 {
        self.slack.as_ref().map_or(0.0, |slack| slack.curvature(i, self.beta[i].abs()))
    }

    pub fn groups(&self) -> [Range<usize>; 2] {
        [0..self.split, self.split..self.beta.len()]
    }

    /// A scan of each group.
    pub fn scans(&self) -> [WorkingSetScan; 2] {
        self.groups()
            .map(|g| scan_working_set(&self.f[g.clone()], &self.up[g.clone()], &self.down[g]))
    }

    /// The same variables at some places.
    pub fn select(&self, places: &[u32]) -> Variables {
        let take = |from: &[f64]| places.iter().map(|i| from[*i as usize]).collect::<Vec<_>>();
        Variables {
            beta: take(&self.beta),
            f: take(&self.f),
            low: take(&self.low),
            high: take(&self.high),
            up: take(&self.up),
            down: take(&self.down),
            tube: self.tube,
            split: places.iter().filter(|i| (**i as usize) < self.split).count(),
            slack: self
                .slack
                .as_ref()
                .map(|slack| PowerSlack { power: slack.power, prices: take(&slack.prices) }),
        }
    }
}

/// How far the groups are from the optimum: the larger of their violations, at least zero.
pub(crate) fn violation(scans: &[WorkingSetScan; 2]) -> f64 {
    scans.iter().map(|s| s.max_up - s.min_low).fold(0.0, f64::max)
}

/// How a run of pairs ended.
pub(crate) struct Run {
    pub steps: u64,
    pub violation: f64,
}

/// Steps between two questions whether to go on.
const POLL: u64 = 1024;

/// Solves by pairs until the violation is within `tol`, or rounding leaves nothing to move; `k` is the matrix, row-major and symmetric, and `diagonal` its
/// diagonal with the curvature of slack.
pub(crate) fn pairs<T: Float>(
    v: &mut Variables,
    k: &[T],
    diagonal: &mut [T],
    tol: f64,
    max_steps: u64,
    mut go_on: impl FnMut(u64, f64) -> bool,
) -> Run {
    let n = v.beta.len();
    let groups = v.groups();
    let mut scans = v.scans();
    let mut steps = 0;
    loop {
        let gap = |g: usize| scans[g].max_up - scans[g].min_low;
        let g = usize::from(gap(1) > gap(0));
        let run = || Run { steps, violation: violation(&scans) };
        // A NaN ends the run as well.
        if gap(g) <= tol || gap(g).is_nan() {
            return run();
        }
        if steps >= max_steps {
            return run();
        }
        if steps % POLL == POLL - 1 && !go_on(steps, gap(g)) {
            return run();
        }
        let group = groups[g].clone();
        let i = group.start + scans[g].argmax_up;
        let rising = &k[i * n..(i + 1) * n];
        let Some(j) = T::select_second(
            &v.f[group.clone()],
            &v.down[group.clone()],
            &rising[group.clone()],
            &diagonal[group.clone()],
            diagonal[i],
            scans[g].max_up,
        ) else {
            return run();
        };
        let j = group.start + j;
        let gain = gain_of(v, j, scans[g].max_up);
        let own: [f64; 2] = [i, j].map(|i| k[i * n + i].into());
        let curvature = own[0] + own[1] - 2.0 * rising[j].into();
        let t = move_pair(v, i, j, gain, curvature);
        if t == 0.0 {
            return run();
        }
        for (i, own) in [i, j].into_iter().zip(own).filter(|_| v.slack.is_some()) {
            diagonal[i] = T::narrow(own + v.lift(i));
        }
        let falling = &k[j * n..(j + 1) * n];
        for (g, group) in groups.iter().enumerate().filter(|(_, group)| !group.is_empty()) {
            scans[g] = T::update_and_scan(
                &mut v.f[group.clone()],
                &rising[group.clone()],
                &falling[group.clone()],
                t,
                &v.up[group.clone()],
                &v.down[group.clone()],
            );
        }
        steps += 1;
    }
}

/// How much cheaper it is to let the cheapest rise and `j` fall.
pub(crate) fn gain_of(v: &Variables, j: usize, top: f64) -> f64 {
    top - (v.down[j] - v.f[j])
}

/// Moves `i` up and `j` down to where their gain is used up, or as far as the box and the kinks at zero
/// allow; says how far.
pub(crate) fn move_pair(v: &mut Variables, i: usize, j: usize, gain: f64, curvature: f64) -> f64 {
    let kink = v.tube > 0.0;
    let (rise_to, fall_to) = (
        if kink && v.beta[i] < 0.0 { v.high[i].min(0.0) } else { v.high[i] },
        if kink && v.beta[j] > 0.0 { v.low[j].max(0.0) } else { v.low[j] },
    );
    let (room_i, room_j) = (rise_to - v.beta[i], v.beta[j] - fall_to);
    let room = room_i.min(room_j);
    let t = match &v.slack {
        None => (gain / curvature.max(MIN_CURVATURE)).min(room),
        Some(slack) => slack.way((i, v.beta[i]), (j, v.beta[j]), gain, curvature, room),
    };
    let (i_to, j_to) = (
        if t >= room_i { rise_to } else { v.beta[i] + t },
        if t >= room_j { fall_to } else { v.beta[j] - t },
    );
    if i_to == v.beta[i] && j_to == v.beta[j] {
        return 0.0;
    }
    (v.beta[i], v.beta[j]) = (i_to, j_to);
    v.refresh(i);
    v.refresh(j);
    t
}
