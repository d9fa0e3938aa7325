//! What weights and pulls prove together.
//!
//! Any pulls `βᵢ` within their bounds (`|βᵢ| ≤ cᵢ` for plain distances) prove a bound from below,
//! `Σᵢ end(βᵢ) βᵢ − ½‖Xᵀβ‖² − (Σᵢβᵢ)² / 2λ₀` (less `Σᵢ βᵢ² / 4cᵢ` for squared ones), where `end` is the
//! end of the interval that a pull of its sign leads to.

use super::{LossPower, MarginLoss, ROWS, add_up, towards};
use crate::solver::coordinate_descent::PenalizedLoss;
use rayon::prelude::*;

/// What is true of the weights of one function.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Measured {
    pub value: f64,
    /// How far above what no weights can go below.
    pub gap: f64,
}

impl MarginLoss<'_> {
    /// Takes the pulls as multipliers; says for every function by how much a score would have to differ
    /// for a pull to be right.
    pub fn row_violations(&self) -> Vec<f64> {
        let m = self.m;
        let mut worst = vec![0.0f64; m];
        let rows = self.pulls.chunks_exact(m).zip(self.anchors.chunks_exact(m));
        for (_, (pulls, anchors)) in self.rows.iter().zip(rows).filter(|(cost, _)| **cost > 0.0) {
            for (k, (new, old)) in pulls.iter().zip(anchors).enumerate() {
                worst[k] = worst[k].max((new - old).abs() / self.stiffness[k]);
            }
        }
        worst
    }

    /// By how much scores differ from those their pulls are right for, in units of what is far.
    pub fn scores_off(&self) -> f64 {
        let m = self.m;
        let rows = self.pulls.chunks_exact(m).zip(self.scores.chunks_exact(m)).enumerate();
        rows.fold(0.0f64, |worst, (i, (pulls, scores))| {
            let cells = pulls.iter().zip(scores).enumerate();
            cells.fold(worst, |worst, (k, (theta, z))| {
                let (low, high) = self.ends(i, k);
                // Where the score may be: at an end for a pull inside its bounds, beyond it at them; half
                // the pull away from it where distances are squared.
                let off = match *theta {
                    0.0 => towards((low, high), *z).abs(),
                    t if self.power == LossPower::Squared => {
                        let end = if t > 0.0 { low } else { high };
                        (end - z - 0.5 * t).abs()
                    }
                    t if t >= 1.0 => (z - low).max(0.0),
                    t if t <= -1.0 => (high - z).max(0.0),
                    t if t > 0.0 => (z - low).abs(),
                    _ => (high - z).abs(),
                };
                if self.cost(i, k) > 0.0 { worst.max(off) } else { worst }
            })
        }) / self.unit
    }

    /// Works everything out afresh from the weights, and from the pulls where distances are plain.
    pub fn measure(&mut self) -> Vec<Measured> {
        self.design.scores(&self.weights, self.m, &mut self.scores);
        if self.power == LossPower::Squared {
            self.losses();
        }
        self.measure_pulls(false)
    }

    /// What scores and pulls prove together; `summed` says that the weights are the sum of the pulls.
    pub fn measure_pulls(&self, summed: bool) -> Vec<Measured> {
        let m = self.m;
        let mut forces = self.forces(1.0);
        if self.free_constant() {
            balance(&mut forces, m);
        }
        let mut combined = self.weights.clone();
        match summed {
            true => combined[self.design.width() * m..]
                .iter_mut()
                .for_each(|b| *b *= self.costs.constant.0),
            false => self.design.transpose_product(&forces, m, &mut combined),
        }
        let (absolute, squared) = match self.costs.weights.1 > 0.0 {
            true => (self.shorten(&mut forces, &mut combined), false),
            false => (vec![0.0; m], true),
        };
        let n = self.design.width();
        let costs = PenalizedLoss::costs(self, &self.weights);
        let parts: Vec<Vec<f64>> = forces
            .par_chunks(ROWS * m)
            .zip(self.scores.par_chunks(ROWS * m))
            .enumerate()
            .map(|(part, (forces, scores))| {
                let mut sums = vec![0.0; 2 * m];
                let rows = forces.chunks_exact(m).zip(scores.chunks_exact(m));
                for (i, (forces, scores)) in (part * ROWS..).zip(rows) {
                    for (k, (force, z)) in forces.iter().zip(scores).enumerate() {
                        let (loss, apart) = self.apart(i, k, *z, *force);
                        sums[k] += loss;
                        sums[m + k] += apart;
                    }
                }
                sums
            })
            .collect();
        let sums = add_up(parts, 2 * m);
        let mut off = vec![0.0; m];
        for (j, (w, v)) in self.weights.chunks_exact(m).zip(combined.chunks_exact(m)).enumerate() {
            let price = if j < n { self.costs.weights.0 } else { self.costs.constant.0 };
            if !squared || price == 0.0 {
                continue;
            }
            for ((off, w), v) in off.iter_mut().zip(w).zip(v) {
                *off += 0.5 * price * (w - v / price) * (w - v / price);
            }
        }
        (0..m)
            .map(|k| Measured {
                value: sums[k] + costs[k],
                gap: sums[m + k] + off[k] + absolute[k],
            })
            .collect()
    }

    /// A score's loss, and how far loss and pull are from proving each other: never negative.
    #[inline]
    fn apart(&self, i: usize, k: usize, z: f64, force: f64) -> (f64, f64) {
        let (cost, (low, high)) = (self.cost(i, k), self.ends(i, k));
        let r = towards((low, high), z);
        if cost == 0.0 {
            return (0.0, 0.0);
        }
        match self.power {
            LossPower::Squared => {
                // A force against the distance, or without one, is for an end on its own side.
                let end = if force > 0.0 { low } else { high };
                let apart = match force * r > 0.0 || force == 0.0 {
                    true => (force - 2.0 * cost * r).powi(2) / (4.0 * cost),
                    false => cost * r * r + force * force / (4.0 * cost) + force * (z - end),
                };
                (cost * r * r, apart)
            }
            LossPower::Plain => {
                let force = force.clamp(-cost, cost);
                let end = if force > 0.0 { low } else { high };
                let apart = match force {
                    0.0 => cost * r.abs(),
                    _ if force * r > 0.0 => (cost - force.abs()) * r.abs(),
                    _ => cost * r.abs() + force * (z - end),
                };
                (cost * r.abs(), apart)
            }
        }
    }

    /// Makes forces so short that no column exceeds its price; gives the rest of the gap, which
    /// is that of absolute values: `Σⱼ pullⱼ|wⱼ| − wⱼ(Xᵀβ)ⱼ`.
    fn shorten(&self, forces: &mut [f64], combined: &mut [f64]) -> Vec<f64> {
        let m = self.m;
        let mut most = vec![1.0f64; m];
        for (j, row) in combined.chunks_exact(m).enumerate() {
            let (_, pull) = self.price(j);
            for (most, v) in most.iter_mut().zip(row) {
                if pull > 0.0 && v.abs() > pull {
                    *most = most.min(pull / v.abs());
                }
            }
        }
        for row in forces.chunks_exact_mut(m).chain(combined.chunks_exact_mut(m)) {
            row.iter_mut().zip(&most).for_each(|(x, times)| *x *= times);
        }
        let mut rest = vec![0.0; m];
        let rows = self.weights.chunks_exact(m).zip(combined.chunks_exact(m));
        for (j, (w, v)) in rows.enumerate() {
            let (_, pull) = self.price(j);
            for ((rest, w), v) in rest.iter_mut().zip(w).zip(v) {
                *rest += (pull * w.abs() - w * v).max(0.0);
            }
        }
        rest
    }
}

/// Makes the forces of every function add up to zero, by taking from the side that has more.
fn balance(forces: &mut [f64], m: usize) {
    let (mut up, mut down) = (vec![0.0; m], vec![0.0; m]);
    for row in forces.chunks_exact(m) {
        for (k, f) in row.iter().enumerate() {
            if *f > 0.0 { up[k] += f } else { down[k] -= f }
        }
    }
    for row in forces.chunks_exact_mut(m) {
        for (k, f) in row.iter_mut().enumerate() {
            if *f > 0.0 && up[k] > down[k] {
                *f *= down[k] / up[k];
            } else if *f < 0.0 && down[k] > up[k] {
                *f *= up[k] / down[k];
            }
        }
    }
}
