//! The scatter of groups of rows around their means, in one reading of the rows.
//!
//! Some rows of one group, a segment, are looked at for their mean and, while they are still in cache, once more from
//! there. Where a group has several segments, `Σ w (mean of the segment − mean of the group)(…)ᵀ` is what they are
//! short of (Chan, Golub & LeVeque 1979).

use mercer_num::linalg::add_gram;
use mercer_num::simd::centered_product::{add_and_mark_changes, write_centered};
use mercer_num::{Rows, SparseView};
use std::borrow::Cow;
use std::ops::Range;

/// Rows of a product: enough for full speed, few enough to stay in cache.
const PANEL: usize = 512;
/// Rows after which a product ends with its group: fewer columns move in one group than in two.
const ENOUGH: usize = 128;

/// Rows on their way into a scatter.
pub(crate) struct Segments<'a, 'w> {
    cells: Cells<'a>,
    width: usize,
    weights: &'w [f64],
    /// Segments of the panel that grows, with their means.
    pending: Vec<(Vec<usize>, Vec<f64>)>,
    /// How many rows they have.
    n_pending: usize,
    /// Not zero where a column moves in one of them.
    changes: Vec<u64>,
    /// `√w (mean of a segment − mean of its group)` of groups that have several.
    between: Vec<f64>,
    square: Vec<f64>,
}

/// Rows to be read one by one, as dense ones.
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

impl<'a, 'w> Segments<'a, 'w> {
    pub fn new(rows: &Rows<'a>, weights: &'w [f64]) -> Segments<'a, 'w> {
        let width = rows.n_columns();
        Segments {
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

    /// Adds the rows of a group and answers its mean: zero where it has no weight, and not finite where a cell
    /// is not.
    pub fn push_group(&mut self, places: &[usize]) -> Vec<f64> {
        if self.n_pending >= ENOUGH {
            self.flush();
        }
        let mut parts: Vec<(f64, Vec<f64>)> = Vec::new();
        let mut rest = places;
        while !rest.is_empty() {
            let (segment, others) = rest.split_at(rest.len().min(PANEL - self.n_pending));
            rest = others;
            let (weight, mean) = self.mean(segment);
            self.n_pending += segment.len();
            self.pending.push((segment.to_vec(), mean.clone()));
            parts.push((weight, mean));
            if self.n_pending == PANEL {
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
            let share = if total > 0.0 { w / total } else { 0.0 };
            mean.iter_mut().zip(part).for_each(|(m, p)| *m += share * p);
        }
        // In a column that stands still the shares may add up to almost one.
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

    /// The weight and the mean of some rows; marks the columns in which they differ. A column that stands still has
    /// its value as mean, to the bit.
    fn mean(&mut self, places: &[usize]) -> (f64, Vec<f64>) {
        let mut sums = vec![0.0; self.width];
        let mut changes = vec![0; self.width];
        let (mut total, mut first) = (0.0, None);
        for i in places {
            let row = self.cells.row(self.width, *i);
            let w = self.weights.get(*i).copied().unwrap_or(1.0);
            if w == 0.0 {
                // It says nothing, but its cells must be numbers: zero times another is none.
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

    /// Adds the products of the rows that are pending. Columns that stand still add nothing and are left out: a
    /// pixel at the rim, a word that a class never uses.
    fn flush(&mut self) {
        let width = self.width;
        let runs = runs(&self.changes);
        let n: usize = runs.iter().map(Range::len).sum();
        let mut thin = vec![0.0; self.n_pending * n];
        let mut used = 0;
        for (places, mean) in &self.pending {
            for i in places {
                let w = self.weights.get(*i).copied().unwrap_or(1.0);
                // A row that weighs nothing says nothing, even where its square is infinite.
                if w == 0.0 {
                    continue;
                }
                let row = self.cells.row(width, *i);
                let mut out = &mut thin[used * n..(used + 1) * n];
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
            return add_gram(&thin[..used * n], n, &mut self.square);
        }
        let mut square = vec![0.0; n * n];
        add_gram(&thin[..used * n], n, &mut square);
        for (from, i) in square.chunks_exact(n).zip(runs.iter().cloned().flatten()) {
            let into = &mut self.square[i * width..(i + 1) * width];
            let mut from = from;
            // What stands right of the diagonal is not touched.
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

/// The columns that move, neighbors together. A few that stand still between two runs cost less to take along than
/// to leave out.
fn runs(changes: &[u64]) -> Vec<Range<usize>> {
    const GAP: usize = 2;
    let mut runs: Vec<Range<usize>> = Vec::new();
    for j in (0..changes.len()).filter(|j| changes[*j] != 0) {
        match runs.last_mut() {
            Some(last) if j <= last.end + GAP => last.end = j + 1,
            _ => runs.push(j..j + 1),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_the_columns_that_move() {
        assert_eq!(runs(&[0, 1, 1, 0, 0, 0, 0, 4, 0, 1]), [1..3, 7..10]);
        assert!(runs(&[0, 0]).is_empty());
    }
}
