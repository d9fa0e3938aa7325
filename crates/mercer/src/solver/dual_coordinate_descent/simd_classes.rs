//! The first passes over the rows' pulls, for several classes at a time.
//!
//! What takes time in [`super`] is to bring a row and the weights it meets into reach. Eight classes, or
//! sixteen, whose weights stand side by side, in single precision, share that: a pass over all of them takes little
//! longer than one over a single class. Rows that one class is done with are read for the others, so the last digits are left
//! to passes over one class at a time.

use super::FURTHER;
use crate::linear::loss::hinge::LossPower;
use crate::model::{Monitor, Stop};
use mercer_num::memory::prefetch;
use mercer_num::random::Random;
use mercer_num::simd::packed_rows::{AlignedTable, PackedRows};

/// Visits between two looks at the clock.
const VISITS: usize = 1024;

/// What a row is for every class of a group.
#[derive(Clone, Copy)]
pub(crate) struct Sides<const N: usize> {
    /// 1 where the score should be 1 or more, −1 where it should be −1 or less; 0 of a class that is not there.
    pub side: [f32; N],
    /// The largest pull.
    pub bound: [f32; N],
    /// How much the gradient of a pull moves with it.
    pub curve: [f32; N],
    pub beta: [f32; N],
    /// How much a score moves with its pull.
    pub norm: f32,
}

impl<const N: usize> Sides<N> {
    /// A row that no class counts: nothing ever moves a class that is not there.
    pub fn unseen(norm: f32) -> Sides<N> {
        Sides { side: [0.0; N], bound: [0.0; N], curve: [1.0; N], beta: [0.0; N], norm }
    }
}

/// The pulls of some classes, and the weights they make.
pub(crate) struct Group<const N: usize> {
    pub rows: Vec<Sides<N>>,
    weights: AlignedTable<N>,
    /// How much the constant terms move with a pull.
    lift: f32,
    power: LossPower,
    pub passes: u64,
    /// Whether the last pass found nothing to do.
    pub settled: bool,
    pub stopped: Option<Stop>,
}

impl<const N: usize> Group<N> {
    /// No pulls.
    pub fn new(rows: Vec<Sides<N>>, n_columns: usize, lift: f64, power: LossPower) -> Group<N> {
        let weights = AlignedTable::zeros(n_columns + 1);
        let lift = lift as f32;
        Group { rows, weights, lift, power, passes: 0, settled: false, stopped: None }
    }

    /// Passes over the rows until no score is further than `tolerance` from what its pull is right for, or until
    /// there were enough of them.
    pub fn run(&mut self, x: &PackedRows, tolerance: f32, most: u64, monitor: &Monitor<'_>) {
        let all: Vec<u32> = (0..self.rows.len() as u32).collect();
        let mut active = all.clone();
        let mut sure = [f32::INFINITY; N];
        let mut random = Random::new(0);
        let mut visits = 0;
        while !self.settled && visits < most * all.len() as u64 {
            random.shuffle(&mut active);
            let whole = active.len() == all.len();
            let (mut worst, mut kept) = ([0.0f32; N], 0);
            for visit in 0..active.len() {
                if visit.is_multiple_of(VISITS) {
                    self.stopped = monitor.stop();
                    if self.stopped.is_some() {
                        return;
                    }
                }
                // What is visited next is known, to us: first the row, then the weights that it meets.
                if let Some(later) = active.get(visit + 2) {
                    prefetch(&self.rows[*later as usize..=*later as usize]);
                    x.prefetch_row(*later as usize);
                }
                if let Some(next) = active.get(visit + 1) {
                    x.prefetch_table(*next as usize, self.weights.rows());
                }
                let i = active[visit];
                let quiet = self.visit(x, i as usize, &sure, &mut worst);
                active[kept] = i;
                kept += usize::from(!quiet);
            }
            self.passes += 1;
            visits += active.len() as u64;
            let right = worst.iter().all(|off| *off <= tolerance);
            self.settled = right && whole;
            if right || kept == 0 {
                active.clone_from(&all);
                sure = [f32::INFINITY; N];
            } else {
                active.truncate(kept);
                sure = worst;
            }
        }
    }

    /// Sets the pulls of a row to their best, keeps by how much scores were off; says whether none will soon
    /// change.
    #[inline]
    fn visit(&mut self, x: &PackedRows, i: usize, sure: &[f32; N], worst: &mut [f32; N]) -> bool {
        let constants = self.weights.rows()[x.n_columns()];
        let dots = x.dot_table(i, &self.weights);
        let row = &mut self.rows[i];
        let plain = self.power == LossPower::Plain;
        let (mut steps, mut quiet, mut moved) = ([0.0f32; N], true, false);
        // Conditions without a branch, so that lanes stay together.
        for k in 0..N {
            // As if every class were to be at 1 or more.
            let side = row.side[k];
            let z = side * (dots[k] + constants[k]);
            let own = side * row.beta[k];
            let rest = z - row.norm * own;
            let best = ((1.0 - rest).max(0.0) / row.curve[k]).min(row.bound[k]);
            let further = (own + FURTHER as f32 * (best - own)).max(0.0).min(row.bound[k]);
            let step = further - own;
            row.beta[k] = side * further;
            steps[k] = side * step;
            worst[k] = worst[k].max((best - own).abs() * row.curve[k]);
            moved |= step != 0.0;
            let above = (best == 0.0) & (z > 1.0 + sure[k]);
            let below = plain & (best == row.bound[k]) & (z < 1.0 - sure[k]);
            quiet &= (step == 0.0) & (above | below | (side == 0.0));
        }
        if moved {
            x.add_to_table(i, &steps, &mut self.weights);
            let constants = &mut self.weights.rows_mut()[x.n_columns()];
            constants.iter_mut().zip(&steps).for_each(|(b, step)| *b += step * self.lift);
        }
        quiet
    }
}
