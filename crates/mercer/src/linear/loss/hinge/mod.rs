//! Scores that should lie in intervals, as functions to minimize.
//!
//! Support vector machines price how far a score `z = w·x + b` is from where it should be: from `[1, ∞)` or
//! `(−∞, −1]` for a class, from `[y − ε, y + ε]` for a number. With `d` that distance,
//!
//! `f(w, b) = ½‖w‖² + ½λ₀b² + Σᵢ cᵢ dᵢ²`  or  `½‖w‖² + ½λ₀b² + Σᵢ cᵢ dᵢ`
//!
//! or `‖w‖₁` in place of half the square. The second has corners. It is solved by the method of
//! multipliers (Rockafellar 1976; for machines Yan & Li 2020): the distance is squared below `1/τ` and
//! measured from an interval that the multipliers `θ` of the last round have moved,
//!
//! `cᵢ max over |t| ≤ 1 of (t r − t² / 2τ)`  with `r` the distance of `z − θᵢ/τ`,
//!
//! whose slope is the next `θ`. Squared distances are the same with `τ = 2`, `θ = 0` and any `t`, so that
//! one piecewise quadratic function serves all.

mod binary_sparse;
mod duality_gap;
mod line_search;

pub(crate) use duality_gap::Measured;

use crate::data::design_matrix::{Column, DesignMatrix};
use crate::model::Monitor;
use crate::solver::SmoothObjective;
use crate::solver::augmented_lagrangian::MANY;
use crate::solver::coordinate_descent::PenalizedLoss;
use crate::solver::interleaved::{add_scaled, dots};
use crate::solver::objective::{SubproblemState, unit_steps};
use crate::solver::preconditioner::{Asked, MOST_CELLS, NARROW, PenaltyWeights, Preconditioner};
use binary_sparse::RowTarget;
use mercer_num::Rows;
use rayon::prelude::*;

/// Rows whose losses one thread adds.
const ROWS: usize = 1024;

/// Where the scores should lie.
pub(crate) enum Targets {
    /// Those of a row's own class at 1 or more, others at −1 or less; a single score is the second
    /// class's.
    Classes {
        /// Where a row's class stands among the present ones.
        places: Vec<u32>,
        /// How much more a class counts where it is the one told from the others.
        factors: Vec<f64>,
    },
    /// WithinClassScatter a tube around numbers.
    Numbers { y: Vec<f64>, tube: f64 },
}

/// Whether distances count as they are or squared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LossPower {
    Plain,
    Squared,
}

/// What the weights cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Penalties {
    /// On half the squares of weights, and on their absolute values.
    pub weights: (f64, f64),
    /// On those of the constant term.
    pub constant: (f64, f64),
}

/// The problem and where its solution has come to.
pub(crate) struct MarginLoss<'a> {
    pub design: DesignMatrix<'a>,
    /// Numbers a feature has.
    pub m: usize,
    pub power: LossPower,
    pub costs: Penalties,
    aim: Targets,
    /// What a row counts.
    rows: Vec<f64>,
    /// What is known of every row, where there is a single function of sparse rows.
    facts: Option<Vec<RowTarget>>,
    /// How scores are measured: what is far for them.
    pub unit: f64,
    /// `τ` of each function.
    stiffness: Vec<f64>,
    /// `θ` of the last round; nothing for squared distances.
    anchors: Vec<f64>,
    weights: Vec<f64>,
    scores: Vec<f64>,
    /// `θ` of the weights.
    pulls: Vec<f64>,
    values: Vec<f64>,
    direction: Vec<f64>,
    direction_scores: Vec<f64>,
    /// Rows that curve, and how much, where only those are read for products: of a single function of sparse rows.
    curved: Option<Vec<(u32, f64)>>,
    /// Dense rows that curve for any function, where they are few enough to be read alone.
    few: Option<Vec<u32>>,
    /// Numbers that second derivatives may take, and their factors again.
    pub room: usize,
    /// Whether the scores of the direction are still to be worked out, as they are there.
    unscored: bool,
    last: Vec<f64>,
    last_scores: Vec<f64>,
    /// What keeps steps of a free constant short where nothing else does.
    leashes: Vec<f64>,
    guess: Preconditioner,
    /// Products since the guess was made.
    spent: u64,
}

impl<'a> MarginLoss<'a> {
    /// The problem at weights of zero.
    pub fn new(
        design: DesignMatrix<'a>,
        m: usize,
        aim: Targets,
        rows: Vec<f64>,
        power: LossPower,
        costs: Penalties,
    ) -> MarginLoss<'a> {
        let (n, dimension) = (design.n_rows(), design.n_weights() * m);
        let unit = match &aim {
            Targets::Classes { .. } => 1.0,
            Targets::Numbers { y, tube } => spread(y, &rows).max(*tube),
        };
        let plain = power == LossPower::Plain;
        let single = m == 1 && design.adds_rows();
        let mut problem = MarginLoss {
            m,
            power,
            costs,
            aim,
            rows,
            facts: None,
            unit,
            stiffness: vec![if plain { 0.5 / unit } else { 2.0 }; m],
            anchors: vec![0.0; if plain { n * m } else { 0 }],
            weights: vec![0.0; dimension],
            scores: vec![0.0; n * m],
            pulls: vec![0.0; n * m],
            values: vec![0.0; m],
            direction: vec![0.0; dimension],
            direction_scores: vec![0.0; n * m],
            curved: None,
            few: None,
            room: MOST_CELLS,
            unscored: false,
            last: vec![0.0; dimension],
            last_scores: vec![0.0; n * m],
            leashes: vec![0.0; m],
            guess: Preconditioner::None,
            spent: 0,
            design,
        };
        let fact = |i: usize| RowTarget { ends: problem.ends(i, 0), cost: problem.cost(i, 0) };
        problem.facts = single.then(|| (0..n).map(fact).collect());
        problem
    }

    /// Bytes that a problem of such rows, weights and functions takes, and what it begins with. Second derivatives
    /// are written out in what a budget leaves.
    pub fn bytes(rows: &Rows<'_>, n_weights: usize, m: usize) -> u64 {
        let n = rows.n_rows();
        let a_cell = match rows {
            Rows::Dense(_) => 8,
            Rows::Single(_) => 4,
            Rows::Sparse(_) => 0,
        };
        let copied = if n >= MANY { (n / 4 + n / 16) * (a_cell * n_weights + 48 * m) } else { 0 };
        (8 * (6 * n * m + 14 * n_weights * m) + copied) as u64
    }

    /// Numbers that second derivatives may take where so many bytes are taken by others: each is there in single
    /// precision, in a factor, and for a while again in what comes after.
    pub fn room(monitor: &Monitor<'_>, taken: u64) -> usize {
        let left = monitor.memory().map_or(u64::MAX, |budget| budget.saturating_sub(taken) / 16);
        left.min(MOST_CELLS as u64) as usize
    }

    pub fn free_constant(&self) -> bool {
        self.design.intercept && self.costs.constant == (0.0, 0.0)
    }

    /// The interval of a score.
    #[inline]
    pub fn ends(&self, i: usize, k: usize) -> (f64, f64) {
        match &self.aim {
            Targets::Classes { places, .. } if self.is_own(places[i], k) => (1.0, f64::INFINITY),
            Targets::Classes { .. } => (f64::NEG_INFINITY, -1.0),
            Targets::Numbers { y, tube } => (y[i] - tube, y[i] + tube),
        }
    }

    #[inline]
    fn is_own(&self, place: u32, k: usize) -> bool {
        if self.m == 1 { place == 1 } else { place as usize == k }
    }

    /// What a score's distance costs.
    #[inline]
    pub fn cost(&self, i: usize, k: usize) -> f64 {
        match &self.aim {
            Targets::Classes { places, factors } if self.m == 1 || self.is_own(places[i], k) => {
                self.rows[i] * factors[places[i] as usize]
            }
            _ => self.rows[i],
        }
    }

    /// What a row's score is.
    pub fn score(&self, i: usize, k: usize) -> f64 {
        self.scores[i * self.m + k]
    }

    /// How hard a row pulls, `cᵢ θᵢ`.
    pub fn force(&self, i: usize, k: usize) -> f64 {
        self.cost(i, k) * self.pulls[i * self.m + k]
    }

    /// Whether a row pulls, and not with all its might.
    pub fn bends(&self, i: usize, k: usize) -> bool {
        let theta = self.pulls[i * self.m + k].abs();
        theta > 0.0 && theta < self.cap()
    }

    /// The largest `|θ|`.
    #[inline]
    fn cap(&self) -> f64 {
        match self.power {
            LossPower::Plain => 1.0,
            LossPower::Squared => f64::INFINITY,
        }
    }

    /// The loss of a score for every unit of cost, and its `θ`.
    #[inline]
    fn loss(&self, i: usize, k: usize, z: f64) -> (f64, f64) {
        let anchor = self.anchors.get(i * self.m + k).copied().unwrap_or(0.0);
        loss(self.ends(i, k), self.stiffness[k], self.cap(), anchor, z)
    }

    /// Fills the pulls of all scores; gives the loss of each function.
    fn losses(&mut self) -> Vec<f64> {
        let m = self.m;
        let mut pulls = std::mem::take(&mut self.pulls);
        let parts = pulls.par_chunks_mut(ROWS * m).zip(self.scores.par_chunks(ROWS * m));
        let parts = parts.enumerate().map(|(part, (pulls, scores))| {
            let mut sums = vec![0.0; m];
            let rows = pulls.chunks_exact_mut(m).zip(scores.chunks_exact(m));
            for (i, (pulls, scores)) in (part * ROWS..).zip(rows) {
                for (k, (pull, z)) in pulls.iter_mut().zip(scores).enumerate() {
                    let (loss, theta) = self.loss(i, k, *z);
                    *pull = theta;
                    sums[k] += self.cost(i, k) * loss;
                }
            }
            sums
        });
        let sums = add_up(parts.collect(), m);
        self.pulls = pulls;
        sums
    }

    /// `cᵢ θᵢ`, each times `times`.
    fn forces(&self, times: f64) -> Vec<f64> {
        let m = self.m;
        let mut forces = self.pulls.clone();
        forces.par_chunks_mut(ROWS * m).enumerate().for_each(|(part, forces)| {
            for (i, row) in (part * ROWS..).zip(forces.chunks_exact_mut(m)) {
                row.iter_mut().enumerate().for_each(|(k, f)| *f *= times * self.cost(i, k));
            }
        });
        forces
    }

    /// Begins the next round of multipliers, stiffer where `stiffer` says so.
    pub fn next_round(&mut self, stiffer: &[bool]) {
        /// How much stiffer.
        const TIMES: f64 = 4.0;
        self.anchors.copy_from_slice(&self.pulls);
        for (stiffness, stiffer) in self.stiffness.iter_mut().zip(stiffer) {
            if *stiffer && *stiffness * self.unit < 1e9 {
                *stiffness *= TIMES;
            }
        }
    }

    /// The problem of some of its rows, written out, which count for all.
    pub fn of_some<'b>(&self, picks: &[usize], rows: &Rows<'b>) -> MarginLoss<'b> {
        let times = self.rows.len() as f64 / picks.len().max(1) as f64;
        let aim = match &self.aim {
            Targets::Classes { places, factors } => Targets::Classes {
                places: picks.iter().map(|i| places[*i]).collect(),
                factors: factors.clone(),
            },
            Targets::Numbers { y, tube } => {
                Targets::Numbers { y: picks.iter().map(|i| y[*i]).collect(), tube: *tube }
            }
        };
        let costs = picks.iter().map(|i| times * self.rows[*i]).collect();
        let design = DesignMatrix::by_rows(rows, self.design.intercept);
        let some = MarginLoss::new(design, self.m, aim, costs, self.power, self.costs);
        MarginLoss { room: self.room, ..some }
    }

    /// Goes to weights that are near the best ones, whose second derivatives are worth having.
    pub fn begin_at(&mut self, weights: &[f64]) {
        self.weights.copy_from_slice(weights);
        self.design.scores(&self.weights, self.m, &mut self.scores);
        self.spent = u64::from(u32::MAX);
    }

    /// Goes to other weights, and to the pulls that make them.
    pub fn start_at(&mut self, weights: &[f64], pulls: Vec<f64>) {
        /// How stiff a round is that begins near the optimum.
        const STIFF: f64 = 16.0;
        self.weights.copy_from_slice(weights);
        self.design.scores(&self.weights, self.m, &mut self.scores);
        if self.power == LossPower::Plain {
            self.anchors.copy_from_slice(&pulls);
            self.stiffness.fill(STIFF / self.unit);
        }
        self.pulls = pulls;
    }
}

/// The loss of a score for every unit of cost, and its `θ`.
#[inline]
fn loss(ends: (f64, f64), stiffness: f64, cap: f64, anchor: f64, z: f64) -> (f64, f64) {
    let r = towards(ends, z - anchor / stiffness);
    let theta = (stiffness * r).clamp(-cap, cap);
    (theta * r - 0.5 * theta * theta / stiffness, theta)
}

/// How far a score has to go to its interval.
#[inline]
fn towards((low, high): (f64, f64), z: f64) -> f64 {
    if z < low {
        low - z
    } else if z > high {
        high - z
    } else {
        0.0
    }
}

/// The weighted standard deviation; where there is none, what is far from zero.
fn spread(y: &[f64], weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    let mean = y.iter().zip(weights).map(|(y, w)| w * y).sum::<f64>() / total;
    let squares: f64 = y.iter().zip(weights).map(|(y, w)| w * (y - mean) * (y - mean)).sum();
    match (squares / total).sqrt() {
        deviation if deviation > 1e-9 * mean.abs() => deviation,
        _ if mean != 0.0 => mean.abs(),
        _ => 1.0,
    }
}

/// The sums of all parts, in their order.
fn add_up(parts: Vec<Vec<f64>>, m: usize) -> Vec<f64> {
    let mut sums = vec![0.0; m];
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
    }
    sums
}

impl SmoothObjective for MarginLoss<'_> {
    fn n_subproblems(&self) -> usize {
        self.m
    }

    fn dimension(&self) -> usize {
        self.weights.len()
    }

    fn values_and_gradient(&mut self, out: &mut [f64]) -> Vec<f64> {
        let losses = self.losses_gradient(out);
        let m = self.m;
        for (j, (out, w)) in out.chunks_exact_mut(m).zip(self.weights.chunks_exact(m)).enumerate() {
            let (price, _) = self.price(j);
            out.iter_mut().zip(w).for_each(|(g, w)| *g += price * w);
        }
        let costs = PenalizedLoss::costs(self, &self.weights);
        self.values = losses.iter().zip(costs).map(|(loss, cost)| loss + cost).collect();
        self.values.clone()
    }

    /// The root of what share of the value the gradient can be worth.
    fn violations(&self, gradient: &[f64]) -> Vec<f64> {
        let (weights, constants) = gradient.split_at(self.design.width() * self.m);
        let mut worth = dots(weights, weights, self.m);
        worth.iter_mut().for_each(|g| *g *= 0.5);
        for (worth, g) in worth.iter_mut().zip(constants) {
            *worth += match self.costs.constant.0 {
                // A free constant can move by about the unit of the scores.
                0.0 => g.abs() * self.unit,
                price => 0.5 * g * g / price,
            };
        }
        worth.iter().zip(&self.values).map(|(worth, value)| (worth / value).sqrt()).collect()
    }

    fn prepare_hessian(&mut self) {
        let last = std::mem::replace(&mut self.guess, Preconditioner::None);
        if self.prepare_single() {
            return;
        }
        let curvatures = PenalizedLoss::curvatures(self);
        if self.free_constant() {
            let parts = vec![0.0; self.m];
            let sums = curvatures.chunks_exact(self.m).fold(parts, |mut sums, row| {
                sums.iter_mut().zip(row).for_each(|(sum, d)| *sum += d);
                sums
            });
            let least = 1e-3 * self.rows.iter().sum::<f64>() / self.unit;
            self.leashes = sums.iter().map(|sum| (least - sum).max(0.0)).collect();
        }
        let leash = self.leashes.iter().fold(0.0, |a: f64, b| a.max(*b));
        let prices = PenaltyWeights {
            weights: self.costs.weights.0,
            constants: self.costs.constant.0 + leash,
        };
        let shares = |i: usize| self.rows[i];
        let spent = std::mem::take(&mut self.spent);
        let asked = Asked { exact: true, spent, room: self.room };
        self.guess = Preconditioner::at(last, &self.design, &curvatures, shares, prices, asked);
        self.few = self.few_rows(&curvatures);
        self.curved = (self.m == 1 && self.design.is_sparse())
            .then(|| (0..).zip(curvatures).filter(|(_, d)| *d != 0.0).collect());
    }

    fn hessian_product(&mut self, v: &[f64], out: &mut [f64]) {
        self.spent += 1;
        let m = self.m;
        self.last.copy_from_slice(v);
        if let Some(curved) = &self.curved {
            self.design.product_of_some(curved, v, out);
            return self.add_prices(v, out);
        }
        if let Some(rows) = &self.few {
            let mut scores = vec![0.0; rows.len() * m];
            self.design.scores_of_rows(rows, v, m, &mut scores);
            scores.par_chunks_mut(m).zip(rows).for_each(|(scores, i)| {
                let cells = scores.iter_mut().enumerate();
                cells.for_each(|(k, u)| *u *= self.curvature(*i as usize, k));
            });
            self.design.transpose_product_of_rows(rows, &scores, m, out);
            return self.add_prices(v, out);
        }
        let mut last_scores = std::mem::take(&mut self.last_scores);
        let this = &*self;
        let curve = |rows: std::ops::Range<usize>, scores: &[f64], out: &mut [f64]| {
            let cells = out.chunks_exact_mut(m).zip(scores.chunks_exact(m));
            for (i, (out, scores)) in rows.zip(cells) {
                for (k, (out, u)) in out.iter_mut().zip(scores).enumerate() {
                    *out = this.curvature(i, k) * u;
                }
            }
        };
        this.design.round_trip(v, m, &mut last_scores, curve, out);
        self.last_scores = last_scores;
        self.add_prices(v, out);
    }

    fn precondition(&self, r: &[f64], out: &mut [f64]) {
        let leash = self.leashes.iter().fold(0.0, |a: f64, b| a.max(*b));
        self.guess.solve(&self.design, r, self.m, self.costs.constant.0 + leash, out);
    }

    fn reset_direction(&mut self) {
        self.direction.fill(0.0);
        self.unscored = self.curved.is_some() || self.few.is_some();
        if !self.unscored {
            self.direction_scores.fill(0.0);
        }
    }

    fn extend_direction(&mut self, shares: &[f64]) {
        add_scaled(shares, &self.last, &mut self.direction);
        if !self.unscored {
            add_scaled(shares, &self.last_scores, &mut self.direction_scores);
        }
    }

    /// To the bottom, where rows are dense or of one function: a step as long as it should be is the shorter way to the
    /// rows that matter.
    fn initial_steps(&mut self, lanes: &[SubproblemState]) -> Vec<f64> {
        self.score_direction();
        match lanes {
            _ if self.costs.weights.1 != 0.0 || self.costs.constant.1 != 0.0 => unit_steps(lanes),
            [lane] if self.facts.is_some() && lane.is_far_from_optimum() => {
                vec![self.single_least_along(lane.slope)]
            }
            _ if self.design.is_sparse() => unit_steps(lanes),
            _ => self.minimizing_steps(lanes),
        }
    }

    fn values_along(&mut self, shares: &[f64]) -> Vec<f64> {
        let m = self.m;
        self.score_direction();
        let parts: Vec<Vec<f64>> = self
            .scores
            .par_chunks(ROWS * m)
            .zip(self.direction_scores.par_chunks(ROWS * m))
            .enumerate()
            .map(|(part, (scores, steps))| {
                if let Some(facts) = &self.facts {
                    let first = part * ROWS;
                    return vec![self.single_loss_along(facts, first, scores, steps, shares[0])];
                }
                let mut sums = vec![0.0; m];
                let rows = scores.chunks_exact(m).zip(steps.chunks_exact(m));
                for (i, (scores, steps)) in (part * ROWS..).zip(rows) {
                    for (k, (z, d)) in scores.iter().zip(steps).enumerate() {
                        sums[k] += self.cost(i, k) * self.loss(i, k, z + shares[k] * d).0;
                    }
                }
                sums
            })
            .collect();
        let mut moved = self.weights.clone();
        add_scaled(shares, &self.direction, &mut moved);
        let costs = PenalizedLoss::costs(self, &moved);
        add_up(parts, m).into_iter().zip(costs).map(|(loss, cost)| loss + cost).collect()
    }

    fn take_step(&mut self, shares: &[f64]) {
        add_scaled(shares, &self.direction, &mut self.weights);
        add_scaled(shares, &self.direction_scores, &mut self.scores);
    }
}

impl MarginLoss<'_> {
    /// Works the scores of the direction out where they were left for later.
    fn score_direction(&mut self) {
        if std::mem::take(&mut self.unscored) {
            self.design.scores(&self.direction, self.m, &mut self.direction_scores);
        }
    }

    /// Adds what the prices have of a product with second derivatives.
    fn add_prices(&self, v: &[f64], out: &mut [f64]) {
        let n = self.design.width() * self.m;
        out[..n].iter_mut().zip(v).for_each(|(out, v)| *out += self.costs.weights.0 * v);
        for ((out, v), leash) in out[n..].iter_mut().zip(&v[n..]).zip(&self.leashes) {
            *out += (self.costs.constant.0 + leash) * v;
        }
    }

    /// The rows that have a number other than zero, `m` of them a row, where they are dense and wide and less than
    /// half of all: then to read them alone, and all of them once for the scores of a direction, is less than to read
    /// all.
    fn few_rows(&self, numbers: &[f64]) -> Option<Vec<u32>> {
        if self.design.is_sparse() || self.design.width() <= NARROW {
            return None;
        }
        let some = |row: &[f64]| row.iter().any(|v| *v != 0.0);
        let rows = (0..).zip(numbers.chunks_exact(self.m)).filter(|(_, row)| some(row));
        let rows: Vec<u32> = rows.map(|(i, _)| i).collect();
        (2 * rows.len() < self.design.n_rows()).then_some(rows)
    }

    /// How much a score's loss curves.
    fn curvature(&self, i: usize, k: usize) -> f64 {
        if self.bends(i, k) { self.cost(i, k) * self.stiffness[k] } else { 0.0 }
    }
}

impl PenalizedLoss for MarginLoss<'_> {
    fn n_rows(&self) -> usize {
        self.design.n_rows()
    }

    fn n_columns(&self) -> usize {
        self.design.width()
    }

    fn columns(&self, which: &[usize]) -> Vec<Column<'_>> {
        self.design.columns(which)
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn width(&self) -> usize {
        self.m
    }

    fn price(&self, column: usize) -> (f64, f64) {
        if column < self.design.width() { self.costs.weights } else { self.costs.constant }
    }

    fn losses_gradient(&mut self, out: &mut [f64]) -> Vec<f64> {
        if self.facts.is_some() {
            return vec![self.single_loss_gradient(out)];
        }
        let (losses, m) = (self.losses(), self.m);
        match self.few_rows(&self.pulls) {
            Some(rows) => {
                let mut forces = vec![0.0; rows.len() * m];
                for (i, forces) in rows.iter().zip(forces.chunks_exact_mut(m)) {
                    let each = forces.iter_mut().enumerate();
                    each.for_each(|(k, force)| *force = -self.force(*i as usize, k));
                }
                self.design.transpose_product_of_rows(&rows, &forces, m, out);
            }
            None => self.design.transpose_product(&self.forces(-1.0), m, out),
        }
        losses
    }

    fn curvatures(&self) -> Vec<f64> {
        let m = self.m;
        let mut curvatures = vec![0.0; self.pulls.len()];
        curvatures.par_chunks_mut(ROWS * m).enumerate().for_each(|(part, out)| {
            for (i, row) in (part * ROWS..).zip(out.chunks_exact_mut(m)) {
                row.iter_mut().enumerate().for_each(|(k, d)| *d = self.curvature(i, k));
            }
        });
        curvatures
    }

    fn set_direction(&mut self, direction: Vec<f64>, scores: Vec<f64>) {
        (self.direction, self.direction_scores, self.unscored) = (direction, scores, false);
    }
}
