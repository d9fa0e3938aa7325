//! The within-group scatter in one pass over the rows.
//!
//! The mean of a segment, some rows of one group, is computed first, and its scatter while the rows are still in cache.
//! For a group of several segments, `Σ w (segment mean − group mean)(segment mean − group mean)ᵀ` is added (Chan, Golub
//! & LeVeque 1979).

use mercer_num::linalg::add_gram;
use mercer_num::simd::centered_product::{add_and_mark_changes, write_centered};
use mercer_num::{Rows, SparseView};
use std::borrow::Cow;
use std::ops::Range;

/// Rows per product: enough for full speed, few enough to stay in cache.
const ROWS_PER_PANEL: usize = 512;
/// A panel of at least so many rows ends with its group, because fewer columns vary within one group than within two.
const MIN_PANEL_ROWS: usize = 128;

/// The scatter under construction.
pub(crate) struct BlockedScatter<'a, 'w> {
    cells: Cells<'a>,
    width: usize,
    weights: &'w [f64],
    /// The segments of the current panel, with their means.
    pending: Vec<(Vec<usize>, Vec<f64>)>,
    /// The number of their rows.
    n_pending: usize,
    /// Nonzero for a column that varies in one of them.
    changes: Vec<u64>,
    /// `√w (segment mean − group mean)` for groups of several segments.
    between: Vec<f64>,
    square: Vec<f64>,
}

/// Access to dense or sparse rows as dense ones.
pub(super) enum Cells<'a> {
    Dense(Cow<'a, [f64]>),
    Sparse(SparseView<'a>),
}

impl<'a> Cells<'a> {
    pub fn of(rows: &Rows<'a>) -> Cells<'a> {
        match rows {
            Rows::Sparse(x) => Cells::Sparse(*x),
            _ => Cells::Dense(rows.block(0..rows.n_rows()).unwrap_or_default()),
        }
    }

    pub fn row(&self, width: usize, i: usize) -> Cow<'_, [f64]> {
        match self {
            Cells::Dense(block) => Cow::Borrowed(&block[i * width..(i + 1) * width]),
            Cells::Sparse(x) => Cow::Owned(Rows::Sparse(*x).row(i)),
        }
    }
}

impl<'a, 'w> BlockedScatter<'a, 'w> {
    pub fn new(rows: &Rows<'a>, weights: &'w [f64]) -> BlockedScatter<'a, 'w> {
        let width = rows.n_columns();
        BlockedScatter {
            cells: Cells::of(rows),
            width,
            weights,
            pending: Vec::new(),
            n_pending: 0,
            changes: vec![0; width],
            between: Vec::new(),
            square: vec![0.0; width * width],
        }
    }

    /// Adds the rows of a group and returns its mean: zero for a group without weight, not finite if a cell is not
    /// finite.
    pub fn push_group(&mut self, indices: &[usize]) -> Vec<f64> {
        if self.n_pending >= MIN_PANEL_ROWS {
            self.flush();
        }
        let mut parts: Vec<(f64, Vec<f64>)> = Vec::new();
        let mut rest = indices;
        while !rest.is_empty() {
            let (segment, others) = rest.split_at(rest.len().min(ROWS_PER_PANEL - self.n_pending));
            rest = others;
            let (weight, mean) = self.mean(segment);
            self.n_pending += segment.len();
            self.pending.push((segment.to_vec(), mean.clone()));
            parts.push((weight, mean));
            if self.n_pending == ROWS_PER_PANEL {
                self.flush();
            }
        }
        self.join(parts)
    }

    /// The mean of a group from those of its segments.
    fn join(&mut self, mut parts: Vec<(f64, Vec<f64>)>) -> Vec<f64> {
        if parts.len() == 1 {
            return parts.swap_remove(0).1;
        }
        let total: f64 = parts.iter().map(|(w, _)| w).sum();
        let mut mean = vec![0.0; self.width];
        for (w, part) in &parts {
            let fraction = if total > 0.0 { w / total } else { 0.0 };
            mean.iter_mut().zip(part).for_each(|(m, p)| *m += fraction * p);
        }
        // For a constant column, rounded fractions may not add up to one.
        let (_, first) = &parts[0];
        for (j, m) in mean.iter_mut().enumerate() {
            if parts.iter().all(|(w, part)| *w == 0.0 || part[j] == first[j]) && parts[0].0 > 0.0 {
                *m = first[j];
            }
        }
        for (w, part) in &parts {
            let root = w.sqrt();
            self.between.extend(part.iter().zip(&mean).map(|(p, m)| root * (p - m)));
        }
        mean
    }

    /// The weight and the mean of some rows; records the columns that vary. The mean of a constant column is its value,
    /// to the bit.
    fn mean(&mut self, indices: &[usize]) -> (f64, Vec<f64>) {
        let mut sums = vec![0.0; self.width];
        let mut changes = vec![0; self.width];
        let (mut total, mut first) = (0.0, None);
        for i in indices {
            let row = self.cells.row(self.width, *i);
            let w = self.weights.get(*i).copied().unwrap_or(1.0);
            if w == 0.0 {
                // A row of weight zero adds nothing, but a cell that is not finite must be noticed.
                sums.iter_mut().zip(row.iter()).for_each(|(s, x)| *s += 0.0 * x);
                continue;
            }
            total += w;
            let first: &Cow<'_, [f64]> = first.get_or_insert_with(|| row.clone());
            add_and_mark_changes(&row, w, first, &mut sums, &mut changes);
        }
        if let Some(first) = first {
            for (j, sum) in sums.iter_mut().enumerate() {
                *sum = if changes[j] == 0 && sum.is_finite() { first[j] } else { *sum / total };
            }
        }
        self.changes.iter_mut().zip(&changes).for_each(|(all, c)| *all |= c);
        (total, sums)
    }

    /// Adds the products of the pending rows. Columns that are constant in them add nothing and are left out of the
    /// product.
    fn flush(&mut self) {
        let width = self.width;
        let runs = runs(&self.changes);
        let n: usize = runs.iter().map(Range::len).sum();
        let mut varying_cells = vec![0.0; self.n_pending * n];
        let mut used = 0;
        for (indices, mean) in &self.pending {
            for i in indices {
                let w = self.weights.get(*i).copied().unwrap_or(1.0);
                // A row of weight zero is skipped, because its square may be infinite.
                if w == 0.0 {
                    continue;
                }
                let row = self.cells.row(width, *i);
                let mut out = &mut varying_cells[used * n..(used + 1) * n];
                for run in &runs {
                    let (cells, rest) = out.split_at_mut(run.len());
                    write_centered(&row[run.clone()], &mean[run.clone()], w.sqrt(), cells);
                    out = rest;
                }
                used += 1;
            }
        }
        self.pending.clear();
        self.n_pending = 0;
        self.changes.fill(0);
        if n == 0 {
            return;
        }
        if n == width {
            return add_gram(&varying_cells[..used * n], n, &mut self.square);
        }
        let mut square = vec![0.0; n * n];
        add_gram(&varying_cells[..used * n], n, &mut square);
        for (from, i) in square.chunks_exact(n).zip(runs.iter().cloned().flatten()) {
            let into = &mut self.square[i * width..(i + 1) * width];
            let mut from = from;
            // Cells right of the diagonal are not computed.
            for run in runs.iter().take_while(|run| run.start <= i) {
                let (cells, rest) = from.split_at(run.len());
                let end = run.end.min(i + 1);
                into[run.start..end].iter_mut().zip(cells).for_each(|(t, v)| *t += v);
                from = rest;
            }
        }
    }

    /// The lower triangle of the scatter, in a row-major square.
    pub fn finish(mut self) -> Vec<f64> {
        self.flush();
        add_gram(&self.between, self.width, &mut self.square);
        self.square
    }
}

/// Ranges of varying columns. A few constant columns between two ranges cost less to include than to leave out.
fn runs(changes: &[u64]) -> Vec<Range<usize>> {
    const MAX_CONSTANT_BETWEEN: usize = 2;
    let mut runs: Vec<Range<usize>> = Vec::new();
    for j in (0..changes.len()).filter(|j| changes[*j] != 0) {
        match runs.last_mut() {
            Some(last) if j <= last.end + MAX_CONSTANT_BETWEEN => last.end = j + 1,
            _ => runs.push(j..j + 1),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_cover_the_varying_columns() {
        assert_eq!(runs(&[0, 1, 1, 0, 0, 0, 0, 4, 0, 1]), [1..3, 7..10]);
        assert!(runs(&[0, 0]).is_empty());
    }
}
