//! The weights of several planes side by side, with factors in front and means behind that are brought up
//! to date only where a row touches them.
//!
//! A weight is `s · c`: a price on squared weights shrinks all of a plane by its `s`, and a row of few cells
//! changes few `c`. The sum of a weight over the steps is `a · c + r` with `a = Σ s`; a change of `c` by `d`
//! takes `a · d` from `r` (Bottou 2012, section 5.2). What absolute prices have taken from a weight is kept
//! in `taken`, what they could have taken in `owed` (Tsuruoka, Tsujii & Ananiadou 2009).

use crate::data::design_matrix::RowCells;
use mercer_num::simd::add_table_rows;
use mercer_num::simd::row_update::{add_outer, add_sparse_outer, row_times_table};

/// A factor this small is multiplied out.
const SMALLEST: f64 = 1e-9;

/// The weights feature by feature, a number a plane.
pub(crate) struct Weights {
    /// How many planes.
    m: usize,
    cells: Vec<f64>,
    factors: Vec<f64>,
    pub constants: Vec<f64>,
    mean: Option<Mean>,
    debt: Option<Debt>,
    /// `‖w‖²` of every plane.
    squares: Vec<f64>,
    shares: Vec<f64>,
}

/// Sums over steps.
struct Mean {
    /// What of the cells is in the sums.
    parts: Vec<f64>,
    rest: Vec<f64>,
    constants: Vec<f64>,
    n_steps: Vec<f64>,
}

/// What absolute prices ask for.
struct Debt {
    owed: Vec<f64>,
    taken: Vec<f64>,
    /// `Σ |w|` of every plane.
    absolutes: Vec<f64>,
}

/// Weights and constant terms, feature by feature.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plain {
    pub cells: Vec<f64>,
    pub constants: Vec<f64>,
}

impl Weights {
    /// So many planes at given weights. With `mean`, sums go on from a mean over so many steps.
    pub fn new(start: Plain, mean: Option<(Plain, u64)>, absolute: bool) -> Weights {
        let m = start.constants.len();
        let mut weights = Weights {
            m,
            factors: vec![1.0; m],
            mean: mean.map(|(mean, n_steps)| {
                let times = |x: &f64| x * n_steps as f64;
                Mean {
                    parts: vec![0.0; m],
                    rest: mean.cells.iter().map(times).collect(),
                    constants: mean.constants.iter().map(times).collect(),
                    n_steps: vec![n_steps as f64; m],
                }
            }),
            debt: absolute.then(|| Debt {
                owed: vec![0.0; m],
                taken: vec![0.0; start.cells.len()],
                absolutes: vec![0.0; m],
            }),
            squares: vec![0.0; m],
            shares: vec![0.0; m],
            cells: start.cells,
            constants: start.constants,
        };
        weights.measure();
        weights
    }

    /// The scores of a row.
    pub fn scores(&self, row: &RowCells<'_>, out: &mut [f64]) {
        match row {
            RowCells::Dense(row) => row_times_table(row, &self.cells, out),
            RowCells::Sparse(columns, values) => {
                out.fill(0.0);
                add_table_rows(columns, values, &self.cells, out);
            }
        }
        let planes = self.factors.iter().zip(&self.constants);
        out.iter_mut().zip(planes).for_each(|(p, (factor, b))| *p = *p * factor + b);
    }

    /// Multiplies the weights of a plane, as a squared price does.
    pub fn shrink(&mut self, plane: usize, by: f64) {
        self.factors[plane] *= by;
        self.squares[plane] *= by * by;
        if let Some(debt) = &mut self.debt {
            debt.absolutes[plane] *= by;
        }
        if self.factors[plane] < SMALLEST {
            self.multiply_out(plane);
        }
    }

    /// Adds `steps[k]` times the row to plane `k`. `scores` are those of the row before, without
    /// constants and after any shrinking; `square` is `‖x‖²`.
    pub fn add(&mut self, row: &RowCells<'_>, steps: &[f64], scores: &[f64], square: f64) {
        for (k, step) in steps.iter().enumerate() {
            self.shares[k] = step / self.factors[k];
            self.squares[k] += step * (2.0 * scores[k] + step * square);
        }
        if let Some(debt) = &mut self.debt {
            add_absolutes(row, -1.0, &self.cells, &self.factors, &mut debt.absolutes);
        }
        match row {
            RowCells::Dense(row) => add_outer(row, &self.shares, &mut self.cells),
            RowCells::Sparse(columns, values) => {
                add_sparse_outer(columns, values, &self.shares, &mut self.cells);
            }
        }
        if let Some(debt) = &mut self.debt {
            add_absolutes(row, 1.0, &self.cells, &self.factors, &mut debt.absolutes);
        }
        if let Some(mean) = &mut self.mean {
            let planes = self.shares.iter_mut().zip(&mean.parts);
            planes.for_each(|(share, part)| *share *= -part);
            match row {
                RowCells::Dense(row) => add_outer(row, &self.shares, &mut mean.rest),
                RowCells::Sparse(columns, values) => {
                    add_sparse_outer(columns, values, &self.shares, &mut mean.rest);
                }
            }
        }
    }

    /// Lets a plane owe more, and pays what the weights of a row can (where it has cells).
    pub fn pay(&mut self, row: &RowCells<'_>, plane: usize, more: f64) {
        let m = self.m;
        let Some(debt) = &mut self.debt else { return };
        debt.owed[plane] += more;
        let (owed, factor) = (debt.owed[plane], self.factors[plane]);
        let (cells, rest, squares) = (&mut self.cells, &mut self.mean, &mut self.squares);
        let mut pay = |j: usize| {
            let at = j * m + plane;
            let before = factor * cells[at];
            let after = match before {
                w if w > 0.0 => (w - (owed + debt.taken[at])).max(0.0),
                w if w < 0.0 => (w + (owed - debt.taken[at])).min(0.0),
                w => w,
            };
            if after != before {
                debt.taken[at] += after - before;
                debt.absolutes[plane] += after.abs() - before.abs();
                squares[plane] += after * after - before * before;
                let change = after / factor - cells[at];
                cells[at] += change;
                if let Some(mean) = rest {
                    mean.rest[at] -= mean.parts[plane] * change;
                }
            }
        };
        match row {
            RowCells::Dense(row) => (0..row.len()).for_each(pay),
            RowCells::Sparse(columns, _) => columns.iter().for_each(|j| pay(*j as usize)),
        }
    }

    /// Counts a plane as it is now in its mean.
    pub fn count(&mut self, plane: usize) {
        if let Some(mean) = &mut self.mean {
            mean.parts[plane] += self.factors[plane];
            mean.constants[plane] += self.constants[plane];
            mean.n_steps[plane] += 1.0;
        }
    }

    /// `‖w‖²` of a plane.
    pub fn square(&self, plane: usize) -> f64 {
        self.squares[plane].max(0.0)
    }

    /// `Σ |w|` of a plane, where absolute weights have a price.
    pub fn absolute(&self, plane: usize) -> f64 {
        self.debt.as_ref().map_or(0.0, |debt| debt.absolutes[plane])
    }

    /// Multiplies all factors out and measures the weights afresh, so that rounding does not add up over
    /// passes. Gives whether all of them are finite.
    pub fn settle(&mut self) -> bool {
        (0..self.m).for_each(|plane| self.multiply_out(plane));
        self.measure();
        let finite = |x: &f64| x.is_finite();
        self.cells.iter().all(finite) && self.constants.iter().all(finite)
    }

    /// The weights as they are, and their means where there are any; [`Weights::settle`] first.
    pub fn finish(self) -> (Plain, Option<Plain>) {
        let m = self.m;
        let mean = self.mean.filter(|mean| mean.n_steps.iter().any(|n| *n > 0.0)).map(|mean| {
            // A plane that counted no step has no mean but what it is.
            let mean_of = |sum: f64, now: f64, k: usize| match mean.n_steps[k] {
                n if n > 0.0 => sum / n,
                _ => now,
            };
            let rest = mean.rest.iter().zip(&self.cells).enumerate();
            let constants = mean.constants.iter().zip(&self.constants).enumerate();
            Plain {
                cells: rest.map(|(at, (sum, now))| mean_of(*sum, *now, at % m)).collect(),
                constants: constants.map(|(k, (sum, now))| mean_of(*sum, *now, k)).collect(),
            }
        });
        (Plain { cells: self.cells, constants: self.constants }, mean)
    }

    fn multiply_out(&mut self, plane: usize) {
        let factor = std::mem::replace(&mut self.factors[plane], 1.0);
        let part = match &mut self.mean {
            Some(mean) => std::mem::take(&mut mean.parts[plane]),
            None => 0.0,
        };
        for at in (plane..self.cells.len()).step_by(self.m) {
            if let Some(mean) = &mut self.mean {
                mean.rest[at] += part * self.cells[at];
            }
            self.cells[at] *= factor;
        }
    }

    fn measure(&mut self) {
        self.squares.fill(0.0);
        for weights in self.cells.chunks_exact(self.m) {
            self.squares.iter_mut().zip(weights).for_each(|(sum, w)| *sum += w * w);
        }
        if let Some(debt) = &mut self.debt {
            debt.absolutes.fill(0.0);
            for weights in self.cells.chunks_exact(self.m) {
                debt.absolutes.iter_mut().zip(weights).for_each(|(sum, w)| *sum += w.abs());
            }
        }
    }
}

/// Adds the absolute weights at the cells of a row, each column once.
fn add_absolutes(
    row: &RowCells<'_>,
    sign: f64,
    cells: &[f64],
    factors: &[f64],
    absolutes: &mut [f64],
) {
    let m = factors.len();
    let mut add = |j: usize| {
        let planes = absolutes.iter_mut().zip(factors).zip(&cells[j * m..(j + 1) * m]);
        planes.for_each(|((sum, factor), cell)| *sum += sign * factor * cell.abs());
    };
    match row {
        RowCells::Dense(row) => (0..row.len()).for_each(add),
        RowCells::Sparse(columns, _) if columns.is_sorted_by(|a, b| a < b) => {
            columns.iter().for_each(|j| add(*j as usize));
        }
        // A cell may be stored in parts.
        RowCells::Sparse(columns, _) => {
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

    /// The same steps on weights that are brought up to date everywhere, every time.
    #[test]
    fn lazy_weights_and_means_are_the_plain_ones() {
        let (m, width) = (2, 5);
        let mut random = Random::new(7);
        let start: Vec<f64> = (0..m * width).map(|_| random.normal()).collect();
        let zero = Plain { cells: vec![0.0; m * width], constants: vec![0.0; m] };
        let plain = Plain { cells: start.clone(), constants: vec![0.0; m] };
        let mut lazy = Weights::new(plain, Some((zero, 0)), true);
        let (mut w, mut sums, mut owed) = (start, vec![0.0; m * width], vec![0.0; m]);
        let mut taken = vec![0.0; m * width];
        for step in 0..200 {
            let columns: Vec<i32> = (0..width as i32).filter(|j| (step + j) % 3 > 0).collect();
            let values: Vec<f64> = columns.iter().map(|_| random.normal()).collect();
            let row = RowCells::Sparse(&columns, &values);
            let shrink = if step == 50 { 1e-10 } else { 0.97 };
            let steps = [0.3 * random.normal(), 0.2 * random.normal()];
            let square = values.iter().map(|v| v * v).sum();

            let mut scores = vec![0.0; m];
            (0..m).for_each(|k| lazy.shrink(k, shrink));
            lazy.scores(&row, &mut scores);
            lazy.add(&row, &steps, &scores, square);
            for k in 0..m {
                lazy.pay(&row, k, 0.001);
                lazy.count(k);
            }

            w.iter_mut().for_each(|w| *w *= shrink);
            for (j, x) in columns.iter().zip(&values) {
                for k in 0..m {
                    w[*j as usize * m + k] += steps[k] * x;
                }
            }
            owed.iter_mut().for_each(|owed| *owed += 0.001);
            for j in &columns {
                for (k, owed) in owed.iter().enumerate() {
                    let at = *j as usize * m + k;
                    let before: f64 = w[at];
                    w[at] = match before > 0.0 {
                        true => (before - (owed + taken[at])).max(0.0),
                        false => (before + (owed - taken[at])).min(0.0),
                    };
                    taken[at] += w[at] - before;
                }
            }
            sums.iter_mut().zip(&w).for_each(|(sum, w)| *sum += w);
            for k in 0..m {
                let plane = |at: &usize| at % m == k;
                let square: f64 = (0..w.len()).filter(plane).map(|at| w[at] * w[at]).sum();
                let absolute: f64 = (0..w.len()).filter(plane).map(|at| w[at].abs()).sum();
                assert!((lazy.absolute(k) - absolute).abs() < 1e-12);
                assert!((lazy.square(k) - square).abs() < 1e-12);
            }
            assert!(step % 40 > 0 || lazy.settle());
        }

        assert!(lazy.settle());
        let (now, mean) = lazy.finish();

        let mean = mean.unwrap().cells;
        for at in 0..w.len() {
            assert!((now.cells[at] - w[at]).abs() < 1e-12);
            assert!((mean[at] - sums[at] / 200.0).abs() < 1e-12);
        }
    }

    #[test]
    fn a_dense_row_is_a_sparse_one_with_all_its_cells() {
        let start = Plain { cells: vec![1.0, -2.0, 3.0], constants: vec![0.5] };
        let (mut dense, mut sparse) =
            (Weights::new(start.clone(), None, false), Weights::new(start, None, false));
        let row = RowCells::Dense(Cow::Owned(vec![1.0, 0.0, 2.0]));
        let cells = RowCells::Sparse(&[0, 2], &[1.0, 2.0]);
        let mut scores = [[0.0], [0.0]];

        dense.scores(&row, &mut scores[0]);
        sparse.scores(&cells, &mut scores[1]);
        dense.add(&row, &[0.5], &[7.0], 5.0);
        sparse.add(&cells, &[0.5], &[7.0], 5.0);

        assert_eq!(scores, [[7.5], [7.5]]);
        assert_eq!(dense.square(0), 1.5f64.powi(2) + 4.0 + 16.0);
        assert_eq!(dense.finish(), sparse.finish());
    }
}
