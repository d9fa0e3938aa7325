//! LazyWeights of several linear outputs with lazy L2 shrinkage, lazy averaging and cumulative L1 penalties, so that an
//! update costs as much as the row has nonzero cells.
//!
//! A weight is `w = s · c`: the L2 penalty multiplies the scale `s` of an output, and a row changes the `c` of its
//! nonzero columns. The sum of a weight over the updates is `a · c + r` with `a = Σ s`; a change of `c` by `d`
//! subtracts `a · d` from the remainder `r` (Bottou 2012, section 5.2). For the L1 penalty, `available` is the total
//! penalty that each weight of an output could have received so far and `applied` what a weight did receive (`u` and
//! `q` of Tsuruoka, Tsujii & Ananiadou 2009).

use crate::data::design_matrix::RowEntries;
use mercer_num::simd::add_table_rows;
use mercer_num::simd::row_update::{add_outer, add_sparse_outer, row_times_table};

/// Smaller scales are multiplied into the coefficients, before they lose precision.
const MIN_SCALE: f64 = 1e-9;

/// The weights, feature-major: `m` outputs per feature.
pub(crate) struct LazyWeights {
    /// The number of outputs.
    m: usize,
    cells: Vec<f64>,
    scales: Vec<f64>,
    pub intercepts: Vec<f64>,
    mean: Option<AverageSums>,
    l1: Option<CumulativeL1>,
    /// `‖w‖²` of every output.
    squared_norms: Vec<f64>,
    scaled_steps: Vec<f64>,
}

/// Sums of the weights over the updates.
struct AverageSums {
    /// `a`, the coefficient of `c` in each sum.
    scale_sums: Vec<f64>,
    remainders: Vec<f64>,
    intercepts: Vec<f64>,
    n_steps: Vec<f64>,
}

/// The state of the cumulative L1 penalty.
struct CumulativeL1 {
    available: Vec<f64>,
    applied: Vec<f64>,
    /// `‖w‖₁` of every output.
    norms: Vec<f64>,
}

/// Coefficients, feature-major, and intercepts of linear outputs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LinearWeights {
    pub coefficients: Vec<f64>,
    pub intercepts: Vec<f64>,
}

impl LinearWeights {
    /// The weights of a single output.
    pub fn of_output(&self, k: usize) -> LinearWeights {
        let m = self.intercepts.len();
        LinearWeights {
            coefficients: self.coefficients.iter().skip(k).step_by(m).copied().collect(),
            intercepts: vec![self.intercepts[k]],
        }
    }
}

impl LazyWeights {
    /// Starts from given weights. `mean` continues an average over the given number of updates.
    pub fn new(
        start: LinearWeights,
        mean: Option<(LinearWeights, u64)>,
        with_l1: bool,
    ) -> LazyWeights {
        let m = start.intercepts.len();
        let mut weights = LazyWeights {
            m,
            scales: vec![1.0; m],
            mean: mean.map(|(mean, n_steps)| {
                let times = |x: &f64| x * n_steps as f64;
                AverageSums {
                    scale_sums: vec![0.0; m],
                    remainders: mean.coefficients.iter().map(times).collect(),
                    intercepts: mean.intercepts.iter().map(times).collect(),
                    n_steps: vec![n_steps as f64; m],
                }
            }),
            l1: with_l1.then(|| CumulativeL1 {
                available: vec![0.0; m],
                applied: vec![0.0; start.coefficients.len()],
                norms: vec![0.0; m],
            }),
            squared_norms: vec![0.0; m],
            scaled_steps: vec![0.0; m],
            cells: start.coefficients,
            intercepts: start.intercepts,
        };
        weights.recompute_norms();
        weights
    }

    /// The linear predictions of a row.
    pub fn scores(&self, row: &RowEntries<'_>, out: &mut [f64]) {
        match row {
            RowEntries::Dense(row) => row_times_table(row, &self.cells, out),
            RowEntries::Sparse(columns, values) => {
                out.fill(0.0);
                add_table_rows(columns, values, &self.cells, out);
            }
        }
        let outputs = self.scales.iter().zip(&self.intercepts);
        out.iter_mut().zip(outputs).for_each(|(p, (scale, b))| *p = *p * scale + b);
    }

    /// Multiplies the weights of an output, as the gradient step of an L2 penalty does.
    pub fn shrink(&mut self, output: usize, by: f64) {
        self.scales[output] *= by;
        self.squared_norms[output] *= by * by;
        if let Some(l1) = &mut self.l1 {
            l1.norms[output] *= by;
        }
        if self.scales[output] < MIN_SCALE {
            self.fold_scale(output);
        }
    }

    /// Adds `steps[k]` times the row to output `k`. `scores` are the predictions before the update, without intercepts
    /// and after any shrinkage; `square` is `‖x‖²`.
    pub fn add(&mut self, row: &RowEntries<'_>, steps: &[f64], scores: &[f64], square: f64) {
        for (k, step) in steps.iter().enumerate() {
            self.scaled_steps[k] = step / self.scales[k];
            self.squared_norms[k] += step * (2.0 * scores[k] + step * square);
        }
        if let Some(l1) = &mut self.l1 {
            add_l1_norms(row, -1.0, &self.cells, &self.scales, &mut l1.norms);
        }
        match row {
            RowEntries::Dense(row) => add_outer(row, &self.scaled_steps, &mut self.cells),
            RowEntries::Sparse(columns, values) => {
                add_sparse_outer(columns, values, &self.scaled_steps, &mut self.cells);
            }
        }
        if let Some(l1) = &mut self.l1 {
            add_l1_norms(row, 1.0, &self.cells, &self.scales, &mut l1.norms);
        }
        if let Some(mean) = &mut self.mean {
            let outputs = self.scaled_steps.iter_mut().zip(&mean.scale_sums);
            outputs.for_each(|(step, scale_sum)| *step *= -scale_sum);
            match row {
                RowEntries::Dense(row) => add_outer(row, &self.scaled_steps, &mut mean.remainders),
                RowEntries::Sparse(columns, values) => {
                    add_sparse_outer(columns, values, &self.scaled_steps, &mut mean.remainders);
                }
            }
        }
    }

    /// Adds to the L1 penalty available to an output, and applies it to the weights of the nonzero columns of a row.
    pub fn apply_l1(&mut self, row: &RowEntries<'_>, output: usize, penalty: f64) {
        let m = self.m;
        let Some(l1) = &mut self.l1 else { return };
        l1.available[output] += penalty;
        let (available, scale) = (l1.available[output], self.scales[output]);
        let (cells, remainders, squared_norms) =
            (&mut self.cells, &mut self.mean, &mut self.squared_norms);
        let mut apply = |j: usize| {
            let at = j * m + output;
            let before = scale * cells[at];
            let after = match before {
                w if w > 0.0 => (w - (available + l1.applied[at])).max(0.0),
                w if w < 0.0 => (w + (available - l1.applied[at])).min(0.0),
                w => w,
            };
            if after != before {
                l1.applied[at] += after - before;
                l1.norms[output] += after.abs() - before.abs();
                squared_norms[output] += after * after - before * before;
                let change = after / scale - cells[at];
                cells[at] += change;
                if let Some(mean) = remainders {
                    mean.remainders[at] -= mean.scale_sums[output] * change;
                }
            }
        };
        match row {
            RowEntries::Dense(row) => (0..row.len()).for_each(apply),
            RowEntries::Sparse(columns, _) => columns.iter().for_each(|j| apply(*j as usize)),
        }
    }

    /// Adds the current weights of an output to its average.
    pub fn add_to_average(&mut self, output: usize) {
        if let Some(mean) = &mut self.mean {
            mean.scale_sums[output] += self.scales[output];
            mean.intercepts[output] += self.intercepts[output];
            mean.n_steps[output] += 1.0;
        }
    }

    /// `‖w‖²` of an output.
    pub fn squared_norm(&self, output: usize) -> f64 {
        self.squared_norms[output].max(0.0)
    }

    /// `‖w‖₁` of an output; zero without an L1 penalty.
    pub fn l1_norm(&self, output: usize) -> f64 {
        self.l1.as_ref().map_or(0.0, |l1| l1.norms[output])
    }

    /// Multiplies the scales into the coefficients and recomputes the norms, so that rounding errors do not accumulate
    /// over epochs. Returns whether all weights are finite.
    pub fn renormalize(&mut self) -> bool {
        (0..self.m).for_each(|output| self.fold_scale(output));
        self.recompute_norms();
        let finite = |x: &f64| x.is_finite();
        self.cells.iter().all(finite) && self.intercepts.iter().all(finite)
    }

    /// The weights, and their averages if any update was averaged. Call [`LazyWeights::renormalize`] first.
    pub fn finish(self) -> (LinearWeights, Option<LinearWeights>) {
        let m = self.m;
        let mean = self.mean.filter(|mean| mean.n_steps.iter().any(|n| *n > 0.0)).map(|mean| {
            // An output without averaged updates is its own average.
            let mean_of = |sum: f64, now: f64, k: usize| match mean.n_steps[k] {
                n if n > 0.0 => sum / n,
                _ => now,
            };
            let remainders = mean.remainders.iter().zip(&self.cells).enumerate();
            let intercepts = mean.intercepts.iter().zip(&self.intercepts).enumerate();
            LinearWeights {
                coefficients: remainders
                    .map(|(at, (sum, now))| mean_of(*sum, *now, at % m))
                    .collect(),
                intercepts: intercepts.map(|(k, (sum, now))| mean_of(*sum, *now, k)).collect(),
            }
        });
        (LinearWeights { coefficients: self.cells, intercepts: self.intercepts }, mean)
    }

    fn fold_scale(&mut self, output: usize) {
        let scale = std::mem::replace(&mut self.scales[output], 1.0);
        let scale_sum = match &mut self.mean {
            Some(mean) => std::mem::take(&mut mean.scale_sums[output]),
            None => 0.0,
        };
        for at in (output..self.cells.len()).step_by(self.m) {
            if let Some(mean) = &mut self.mean {
                mean.remainders[at] += scale_sum * self.cells[at];
            }
            self.cells[at] *= scale;
        }
    }

    fn recompute_norms(&mut self) {
        self.squared_norms.fill(0.0);
        for weights in self.cells.chunks_exact(self.m) {
            self.squared_norms.iter_mut().zip(weights).for_each(|(sum, w)| *sum += w * w);
        }
        if let Some(l1) = &mut self.l1 {
            l1.norms.fill(0.0);
            for weights in self.cells.chunks_exact(self.m) {
                l1.norms.iter_mut().zip(weights).for_each(|(sum, w)| *sum += w.abs());
            }
        }
    }
}

/// Adds `sign · |w|` of the nonzero columns of a row to the L1 norms, each column once.
fn add_l1_norms(row: &RowEntries<'_>, sign: f64, cells: &[f64], scales: &[f64], norms: &mut [f64]) {
    let m = scales.len();
    let mut add = |j: usize| {
        let outputs = norms.iter_mut().zip(scales).zip(&cells[j * m..(j + 1) * m]);
        outputs.for_each(|((sum, scale), cell)| *sum += sign * scale * cell.abs());
    };
    match row {
        RowEntries::Dense(row) => (0..row.len()).for_each(add),
        RowEntries::Sparse(columns, _) if columns.is_sorted_by(|a, b| a < b) => {
            columns.iter().for_each(|j| add(*j as usize));
        }
        // A sparse row may store duplicate entries.
        RowEntries::Sparse(columns, _) => {
            let mut columns = columns.to_vec();
            columns.sort_unstable();
            columns.dedup();
            columns.iter().for_each(|j| add(*j as usize));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;
    use std::borrow::Cow;

    /// Compares with eager updates of all weights.
    #[test]
    fn lazy_updates_match_eager_updates() {
        let (m, width) = (2, 5);
        let mut random = Random::new(7);
        let start: Vec<f64> = (0..m * width).map(|_| random.normal()).collect();
        let zero = LinearWeights { coefficients: vec![0.0; m * width], intercepts: vec![0.0; m] };
        let plain = LinearWeights { coefficients: start.clone(), intercepts: vec![0.0; m] };
        let mut lazy = LazyWeights::new(plain, Some((zero, 0)), true);
        let (mut w, mut sums, mut available) = (start, vec![0.0; m * width], vec![0.0; m]);
        let mut applied = vec![0.0; m * width];
        for step in 0..200 {
            let columns: Vec<i32> = (0..width as i32).filter(|j| (step + j) % 3 > 0).collect();
            let values: Vec<f64> = columns.iter().map(|_| random.normal()).collect();
            let row = RowEntries::Sparse(&columns, &values);
            let shrink = if step == 50 { 1e-10 } else { 0.97 };
            let steps = [0.3 * random.normal(), 0.2 * random.normal()];
            let square = values.iter().map(|v| v * v).sum();

            let mut scores = vec![0.0; m];
            (0..m).for_each(|k| lazy.shrink(k, shrink));
            lazy.scores(&row, &mut scores);
            lazy.add(&row, &steps, &scores, square);
            for k in 0..m {
                lazy.apply_l1(&row, k, 0.001);
                lazy.add_to_average(k);
            }

            w.iter_mut().for_each(|w| *w *= shrink);
            for (j, x) in columns.iter().zip(&values) {
                for k in 0..m {
                    w[*j as usize * m + k] += steps[k] * x;
                }
            }
            available.iter_mut().for_each(|available| *available += 0.001);
            for j in &columns {
                for (k, available) in available.iter().enumerate() {
                    let at = *j as usize * m + k;
                    let before: f64 = w[at];
                    w[at] = match before > 0.0 {
                        true => (before - (available + applied[at])).max(0.0),
                        false => (before + (available - applied[at])).min(0.0),
                    };
                    applied[at] += w[at] - before;
                }
            }
            sums.iter_mut().zip(&w).for_each(|(sum, w)| *sum += w);
            for k in 0..m {
                let output = |at: &usize| at % m == k;
                let square: f64 = (0..w.len()).filter(output).map(|at| w[at] * w[at]).sum();
                let absolute: f64 = (0..w.len()).filter(output).map(|at| w[at].abs()).sum();
                assert!((lazy.l1_norm(k) - absolute).abs() < 1e-12);
                assert!((lazy.squared_norm(k) - square).abs() < 1e-12);
            }
            assert!(step % 40 > 0 || lazy.renormalize());
        }

        assert!(lazy.renormalize());
        let (now, mean) = lazy.finish();

        let mean = mean.unwrap().coefficients;
        for at in 0..w.len() {
            assert!((now.coefficients[at] - w[at]).abs() < 1e-12);
            assert!((mean[at] - sums[at] / 200.0).abs() < 1e-12);
        }
    }

    #[test]
    fn dense_and_sparse_rows_give_the_same_updates() {
        let start = LinearWeights { coefficients: vec![1.0, -2.0, 3.0], intercepts: vec![0.5] };
        let (mut dense, mut sparse) =
            (LazyWeights::new(start.clone(), None, false), LazyWeights::new(start, None, false));
        let row = RowEntries::Dense(Cow::Owned(vec![1.0, 0.0, 2.0]));
        let cells = RowEntries::Sparse(&[0, 2], &[1.0, 2.0]);
        let mut scores = [[0.0], [0.0]];

        dense.scores(&row, &mut scores[0]);
        sparse.scores(&cells, &mut scores[1]);
        dense.add(&row, &[0.5], &[7.0], 5.0);
        sparse.add(&cells, &[0.5], &[7.0], 5.0);

        assert_eq!(scores, [[7.5], [7.5]]);
        assert_eq!(dense.squared_norm(0), 1.5f64.powi(2) + 4.0 + 16.0);
        assert_eq!(dense.finish(), sparse.finish());
    }
}
