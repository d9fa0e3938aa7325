//! Rows made ready for kernel values by the block.
//!
//! Inner products of a block of rows with a block of others are one matrix product; the function is
//! then put on while the block is in cache. Rows are kept in single or double precision; for kernels
//! that look at differences they are moved to around their mean first, so that single precision
//! keeps the digits that matter. Blocks have fixed sizes, so any number of threads gives the same bits.

use super::{Expression, Function, Kernel, Product};
use mercer_num::linalg::HalfMatrix;
use mercer_num::memory::zeros_of;
use mercer_num::sweep::LANES;
use mercer_num::{Float, Rows};
use rayon::prelude::*;
use std::ops::Range;

/// Rows of a block on the side that is long.
const LONG: usize = 512;
/// Rows of a block on the side that is asked for.
const SHORT: usize = 256;
/// Rows of a strip of a matrix that is symmetric.
const STRIP: usize = 64;
/// Multiplications below which one thread is enough.
const SERIAL: usize = 1 << 21;
/// Rows of fewer columns are always written out.
const NARROW: usize = 32;
/// So are rows of which at least one cell in so many is not zero: a product of blocks is faster by cell.
const THIN: usize = 4;
/// Where differences are summed up instead, sparse rows are written out up to so many columns, or where at least
/// one cell in so many is there.
const NARROW_DIFFERENCES: usize = 1024;
const THIN_DIFFERENCES: usize = 32;

/// How rows are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// All cells.
    Whole,
    /// The cells that are not zero.
    Thin,
}

impl Storage {
    /// The one that gives kernel values of some rows sooner. Sparse and dense rows of the same cells are kept
    /// in the same way.
    pub fn of(function: &Function, rows: &Rows<'_>) -> Storage {
        let (n_rows, width) = (rows.n_rows(), rows.n_columns());
        let there = || -> usize {
            let here = |cells: &[f64]| cells.iter().filter(|v| **v != 0.0).count();
            match rows {
                Rows::Sparse(x) => x.iter().map(|(_, values)| here(values)).sum(),
                _ => (0..n_rows).map(|i| here(&rows.block(i..i + 1).unwrap_or_default())).sum(),
            }
        };
        let thin = match &function.kernel {
            Kernel::Precomputed | Kernel::Own(_) => false,
            Kernel::Composed(formula) => {
                formula.leaves().all(|leaf| Storage::of(&leaf.function(), rows) == Storage::Thin)
            }
            Kernel::Laplacian | Kernel::Chi2 => {
                matches!(rows, Rows::Sparse(_))
                    && width > NARROW_DIFFERENCES
                    && there() * THIN_DIFFERENCES < n_rows * width
            }
            _ => width >= NARROW && there() * THIN <= n_rows * width,
        };
        if thin { Storage::Thin } else { Storage::Whole }
    }
}

/// Rows with a kernel, ready for blocks of its values.
#[derive(Clone, Debug)]
pub struct KernelRows<T> {
    function: Function,
    cells: Cells<T>,
    /// Squared lengths, for the kernels that need them.
    squares: Vec<T>,
    n_rows: usize,
}

#[derive(Clone, Debug)]
enum Cells<T> {
    Dense {
        width: usize,
        cells: Vec<T>,
    },
    Sparse {
        width: usize,
        offsets: Vec<usize>,
        columns: Vec<i32>,
        values: Vec<T>,
    },
    /// Kernel values with the rows learned from, and which of those each row is.
    Given {
        width: usize,
        cells: Vec<T>,
        places: Vec<u32>,
    },
}

impl<T: Float> KernelRows<T> {
    /// Some rows of many. `center` is taken off every row that is kept whole, or is empty; `places` says which
    /// row learned from each of them is, for a precomputed kernel.
    ///
    /// # Panics
    /// If a pick is outside of the rows.
    pub fn new(
        function: Function,
        storage: Storage,
        rows: &Rows<'_>,
        picks: &[u32],
        center: &[f64],
        places: &[u32],
    ) -> Self {
        let width = rows.n_columns();
        let written_out = |center: &[f64]| {
            let mut cells = vec![T::default(); picks.len() * width];
            let chunk = 256 * width.max(1);
            cells.par_chunks_mut(chunk).zip(picks.par_chunks(256)).for_each(|(cells, picks)| {
                for (out, i) in cells.chunks_exact_mut(width.max(1)).zip(picks) {
                    write_row(rows, *i as usize, center, out);
                }
            });
            cells
        };
        let cells = match rows {
            _ if function.kernel == Kernel::Precomputed => {
                Cells::Given { width, cells: written_out(&[]), places: places.to_vec() }
            }
            _ if storage == Storage::Thin => thin(rows, picks),
            _ => Cells::Dense { width, cells: written_out(center) },
        };
        let mut out = KernelRows { function, cells, squares: Vec::new(), n_rows: picks.len() };
        out.squares = (0..out.n_rows).map(|i| T::narrow(out.square(i))).collect();
        out
    }

    /// Some rows of many, made ready in the way these are: rows that are asked about may come in another
    /// storage than those learned from.
    ///
    /// # Panics
    /// If a pick is outside of the rows.
    pub fn beside(&self, rows: &Rows<'_>, picks: &[u32], center: &[f64]) -> Self {
        KernelRows::new(self.function.clone(), self.storage(), rows, picks, center, picks)
    }

    /// All rows.
    pub fn all(
        function: Function,
        storage: Storage,
        rows: &Rows<'_>,
        center: &[f64],
        places: &[u32],
    ) -> Self {
        let picks: Vec<u32> = (0..rows.n_rows() as u32).collect();
        KernelRows::new(function, storage, rows, &picks, center, places)
    }

    /// How the rows are kept.
    pub fn storage(&self) -> Storage {
        match self.cells {
            Cells::Sparse { .. } => Storage::Thin,
            Cells::Dense { .. } | Cells::Given { .. } => Storage::Whole,
        }
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The rows at some places, in that order.
    #[must_use]
    pub fn select(&self, picks: &[u32]) -> Self {
        let taken = |cells: &[T], width: usize| -> Vec<T> {
            let mut out = Vec::with_capacity(picks.len() * width);
            picks.iter().for_each(|i| out.extend_from_slice(row(cells, width, *i as usize)));
            out
        };
        let cells = match &self.cells {
            Cells::Dense { width, cells } => {
                Cells::Dense { width: *width, cells: taken(cells, *width) }
            }
            Cells::Given { width, cells, places } => Cells::Given {
                width: *width,
                cells: taken(cells, *width),
                places: picks.iter().map(|i| places[*i as usize]).collect(),
            },
            Cells::Sparse { width, offsets, columns, values } => {
                let mut out = (vec![0], Vec::new(), Vec::new());
                for i in picks {
                    let cells = offsets[*i as usize]..offsets[*i as usize + 1];
                    out.1.extend_from_slice(&columns[cells.clone()]);
                    out.2.extend_from_slice(&values[cells]);
                    out.0.push(out.1.len());
                }
                Cells::Sparse { width: *width, offsets: out.0, columns: out.1, values: out.2 }
            }
        };
        let squares = picks.iter().map(|i| self.squares[*i as usize]).collect();
        KernelRows { function: self.function.clone(), cells, squares, n_rows: picks.len() }
    }

    /// `K(x, x)` of every row.
    pub fn diagonal(&self) -> Vec<T> {
        (0..self.n_rows).map(|i| T::narrow(self.own(i))).collect()
    }

    fn own(&self, i: usize) -> f64 {
        self.own_of(&self.function, i)
    }

    fn own_of(&self, function: &Function, i: usize) -> f64 {
        let Function { kernel, gamma, coef0, degree } = function;
        let (square, degree) = (self.square(i), *degree);
        match (kernel, &self.cells) {
            (Kernel::Composed(formula), _) => {
                formula.combined(|leaf| self.own_of(&leaf.function(), i))
            }
            (Kernel::Own(own), Cells::Dense { width, cells }) => {
                let x = widened(row(cells, *width, i));
                own.value(&x, &x)
            }
            (Kernel::Precomputed, Cells::Given { width, cells, places }) => {
                row(cells, *width, i)[places[i] as usize].into()
            }
            (Kernel::Linear, _) => square,
            (Kernel::Poly, _) => (gamma * square + coef0).powi(degree as i32),
            (Kernel::Sigmoid, _) => (gamma * square + coef0).tanh(),
            _ => 1.0,
        }
    }

    fn square(&self, i: usize) -> f64 {
        let sum =
            |cells: &[T]| -> f64 { cells.iter().map(|v| (*v).into()).map(|v: f64| v * v).sum() };
        match &self.cells {
            Cells::Dense { width, cells } => sum(row(cells, *width, i)),
            Cells::Sparse { offsets, values, .. } => sum(&values[offsets[i]..offsets[i + 1]]),
            Cells::Given { .. } => 0.0,
        }
    }

    /// The kernel of some rows with all of `against`: one column of values each.
    ///
    /// # Panics
    /// If there are not as many columns as rows asked for, or they are not as long as `against`.
    pub fn columns(&self, of: &[u32], against: &KernelRows<T>, out: &mut [&mut [T]]) {
        assert_eq!(of.len(), out.len(), "a column each");
        let width = self.width();
        let asked = self.select(of);
        if of.len() * against.n_rows * width.max(8) <= SERIAL {
            for (k, first) in (0..against.n_rows).step_by(LONG).enumerate() {
                let last = (first + LONG).min(against.n_rows);
                let mut parts: Vec<&mut [T]> =
                    out.iter_mut().map(|column| &mut column[first..last]).collect();
                asked.tile(against, k * LONG, &mut parts);
            }
            return;
        }
        // Every column is cut where the blocks end, and the parts of a block go to one thread.
        let n_tiles = against.n_rows.div_ceil(LONG);
        let mut tiles: Vec<Vec<&mut [T]>> =
            (0..n_tiles).map(|_| Vec::with_capacity(of.len())).collect();
        for column in out.iter_mut() {
            assert_eq!(column.len(), against.n_rows, "as long as the rows");
            for (tile, part) in tiles.iter_mut().zip(column.chunks_mut(LONG)) {
                tile.push(part);
            }
        }
        tiles.par_iter_mut().enumerate().for_each(|(k, parts)| {
            asked.tile(against, k * LONG, parts);
        });
    }

    /// The kernel of all rows with those of `against` in a range, row-major, on this thread.
    ///
    /// # Panics
    /// If the lengths do not fit.
    pub fn block(&self, against: &KernelRows<T>, range: Range<usize>, out: &mut [T]) {
        if range.is_empty() {
            return;
        }
        assert_eq!(out.len(), self.n_rows * range.len(), "one value a pair");
        for first in range.clone().step_by(LONG) {
            let last = (first + LONG).min(range.end);
            let places = first - range.start..last - range.start;
            let mut parts: Vec<&mut [T]> =
                out.chunks_exact_mut(range.len()).map(|row| &mut row[places.clone()]).collect();
            self.tile(against, first, &mut parts);
        }
    }

    /// `Σₖ weights[k] · K(xₖ, z)` over these rows for every row `z` of others, summed in double precision,
    /// on all threads.
    pub fn weighted_sums(&self, weights: &[f64], of: &KernelRows<T>) -> Vec<f64> {
        let mut out = vec![0.0; of.n_rows];
        out.par_chunks_mut(SHORT).enumerate().for_each(|(k, out)| {
            let first = (k * SHORT) as u32;
            let picks: Vec<u32> = (first..first + out.len() as u32).collect();
            let some = of.select(&picks);
            let mut values = vec![T::default(); out.len() * LONG.min(self.n_rows.max(1))];
            for from in (0..self.n_rows).step_by(LONG) {
                let range = from..(from + LONG).min(self.n_rows);
                let values = &mut values[..out.len() * range.len()];
                some.block(self, range.clone(), values);
                for (sum, row) in out.iter_mut().zip(values.chunks_exact(range.len())) {
                    *sum += T::dot(row, &weights[range.clone()]);
                }
            }
        });
        out
    }

    /// The same for several lists of weights, whose kernel values are worked out once.
    pub fn weighted_tables(&self, weights: &[Vec<f64>], of: &KernelRows<T>) -> Vec<Vec<f64>> {
        let k = weights.len().max(1);
        let mut sums = vec![0.0; of.n_rows * k];
        sums.par_chunks_mut(SHORT * k).enumerate().for_each(|(c, sums)| {
            let first = (c * SHORT) as u32;
            let picks: Vec<u32> = (first..first + (sums.len() / k) as u32).collect();
            let some = of.select(&picks);
            let mut values = vec![T::default(); picks.len() * LONG.min(self.n_rows.max(1))];
            for from in (0..self.n_rows).step_by(LONG) {
                let range = from..(from + LONG).min(self.n_rows);
                let values = &mut values[..picks.len() * range.len()];
                some.block(self, range.clone(), values);
                for (sums, row) in sums.chunks_exact_mut(k).zip(values.chunks_exact(range.len())) {
                    for (sum, weights) in sums.iter_mut().zip(weights) {
                        *sum += T::dot(row, &weights[range.clone()]);
                    }
                }
            }
        });
        (0..weights.len()).map(|j| sums.iter().skip(j).step_by(k).copied().collect()).collect()
    }

    fn width(&self) -> usize {
        match &self.cells {
            Cells::Dense { width, .. } | Cells::Given { width, .. } => *width,
            Cells::Sparse { width, columns, .. } => {
                (columns.len() / self.n_rows.max(1)).min(*width)
            }
        }
    }

    /// The kernel of these rows with those of `against` from `first` on, as many as the parts are long.
    fn tile(&self, against: &KernelRows<T>, first: usize, parts: &mut [&mut [T]]) {
        match &self.function.kernel {
            Kernel::Composed(formula) => self.composed_tile(formula, against, first, parts),
            _ => self.tile_of(&self.function, against, first, parts),
        }
    }

    /// The same for a formula: sums of products of the blocks of its kernels.
    fn composed_tile(
        &self,
        formula: &Expression,
        against: &KernelRows<T>,
        first: usize,
        parts: &mut [&mut [T]],
    ) {
        let Some(n) = parts.first().map(|part| part.len()) else { return };
        let mut values = vec![T::default(); parts.len() * n];
        let mut product = vec![0.0; parts.len() * n];
        let mut sums = vec![0.0; parts.len() * n];
        for Product { factor, kernels } in &formula.products {
            product.fill(*factor);
            for leaf in kernels {
                let mut rows: Vec<&mut [T]> = values.chunks_exact_mut(n).collect();
                self.tile_of(&leaf.function(), against, first, &mut rows);
                product.iter_mut().zip(&values).for_each(|(p, v)| *p *= (*v).into());
            }
            sums.iter_mut().zip(&product).for_each(|(sum, p)| *sum += p);
        }
        for (part, sums) in parts.iter_mut().zip(sums.chunks_exact(n)) {
            part.iter_mut().zip(sums).for_each(|(to, sum)| *to = T::narrow(*sum));
        }
    }

    fn tile_of(
        &self,
        function: &Function,
        against: &KernelRows<T>,
        first: usize,
        parts: &mut [&mut [T]],
    ) {
        let Some(n) = parts.first().map(|part| part.len()) else { return };
        match (&self.cells, &against.cells) {
            (Cells::Dense { width, cells }, Cells::Dense { cells: others, .. }) => {
                let others = &others[first * width..(first + n) * width];
                if let Kernel::Own(own) = &function.kernel {
                    let others: Vec<Vec<f64>> =
                        (0..n).map(|i| widened(row(others, *width, i))).collect();
                    for (k, part) in parts.iter_mut().enumerate() {
                        let x = widened(row(cells, *width, k));
                        let values = others.iter().map(|z| T::narrow(own.value(&x, z)));
                        part.iter_mut().zip(values).for_each(|(to, v)| *to = v);
                    }
                    return;
                }
                if matches!(function.kernel, Kernel::Laplacian | Kernel::Chi2) {
                    for (k, part) in parts.iter_mut().enumerate() {
                        differences(function, row(cells, *width, k), others, part);
                    }
                    return;
                }
                T::scratch(SHORT * LONG, |dots| {
                    for (b, parts) in parts.chunks_mut(SHORT).enumerate() {
                        let from = b * SHORT;
                        let block = &cells[from * width..(from + parts.len()) * width];
                        let dots = &mut dots[..parts.len() * n];
                        if *width == 0 {
                            dots.fill(T::default());
                        }
                        T::dot_products(block, others, *width, dots);
                        for (k, part) in parts.iter_mut().enumerate() {
                            let own = self.squares[from + k];
                            let squares = &against.squares[first..first + n];
                            put_on(function, &dots[k * n..(k + 1) * n], own, squares, part);
                        }
                    }
                });
            }
            (
                Cells::Sparse { width, offsets, columns, values },
                Cells::Sparse { offsets: ends, columns: others, values: with, .. },
            ) if !matches!(function.kernel, Kernel::Laplacian | Kernel::Chi2) => {
                let ends = &ends[first..first + n + 1];
                // Of a wide table only the columns that occur are ever touched.
                let mut table = vec![T::default(); LANES * width];
                T::scratch(LANES * n, |dots| {
                    for (b, parts) in parts.chunks_mut(LANES).enumerate() {
                        let from = b * LANES;
                        let cells = offsets[from]..offsets[from + parts.len()];
                        for k in 0..parts.len() {
                            for at in offsets[from + k]..offsets[from + k + 1] {
                                table[columns[at] as usize * LANES + k] = values[at];
                            }
                        }
                        T::thin_dots(ends, others, with, &table, dots);
                        for (k, part) in parts.iter_mut().enumerate() {
                            let squares = &against.squares[first..first + n];
                            let own = self.squares[from + k];
                            put_on(function, &dots[k * n..(k + 1) * n], own, squares, part);
                        }
                        for j in &columns[cells] {
                            let line = *j as usize * LANES;
                            table[line..line + LANES].fill(T::default());
                        }
                    }
                });
            }
            (
                Cells::Sparse { width, offsets, columns, values },
                Cells::Sparse { offsets: ends, columns: others, values: with, .. },
            ) => {
                let mut spread = vec![T::default(); *width];
                let mut dots = vec![T::default(); n];
                for (k, part) in parts.iter_mut().enumerate() {
                    let own = offsets[k]..offsets[k + 1];
                    for (j, v) in columns[own.clone()].iter().zip(&values[own.clone()]) {
                        spread[*j as usize] = *v;
                    }
                    let total: f64 =
                        values[own.clone()].iter().map(|v| (*v).into()).map(f64::abs).sum();
                    for (i, dot) in dots.iter_mut().enumerate() {
                        let cells = ends[first + i]..ends[first + i + 1];
                        let cells = others[cells.clone()].iter().zip(&with[cells]);
                        let cells = cells.map(|(j, v)| (spread[*j as usize].into(), (*v).into()));
                        *dot = T::narrow(sparse_sum(function, cells, total));
                    }
                    put_on(
                        function,
                        &dots,
                        self.squares[k],
                        &against.squares[first..first + n],
                        part,
                    );
                    columns[own].iter().for_each(|j| spread[*j as usize] = T::default());
                }
            }
            (Cells::Given { width, cells, .. }, Cells::Given { places, .. }) => {
                for (k, part) in parts.iter_mut().enumerate() {
                    let values = row(cells, *width, k);
                    let places = &places[first..first + n];
                    part.iter_mut().zip(places).for_each(|(v, j)| *v = values[*j as usize]);
                }
            }
            _ => unreachable!("both sides are made ready in one way"),
        }
    }

    /// All values among the rows, row-major, on all threads, kept in a precision of the caller's; what stands
    /// above the diagonal is of no meaning.
    pub fn lower_gram<U: Float>(&self) -> Vec<U> {
        let n = self.n_rows;
        let mut out = zeros_of(n * n);
        out.par_chunks_mut(SHORT * n.max(1)).enumerate().for_each(|(k, rows)| {
            let first = k * SHORT;
            self.fill_lower(first..first + rows.len() / n, rows, n);
        });
        out
    }

    /// The same without what has no meaning.
    pub fn half_gram(&self) -> HalfMatrix {
        HalfMatrix::new(self.n_rows, |rows, cells| {
            let end = rows.end;
            self.fill_lower(rows, cells, end);
        })
    }

    /// Writes the values of some rows, of a length, with all up to the last of them.
    fn fill_lower<U: Float>(&self, rows: Range<usize>, cells: &mut [U], length: usize) {
        let picks: Vec<u32> = (rows.start as u32..rows.end as u32).collect();
        let block = self.select(&picks);
        let mut values = vec![T::default(); picks.len() * LONG];
        for from in (0..rows.end).step_by(LONG) {
            let to = (from + LONG).min(rows.end);
            let mut parts: Vec<&mut [T]> =
                values.chunks_exact_mut(LONG).map(|part| &mut part[..to - from]).collect();
            block.tile(self, from, &mut parts);
            for (row, part) in cells.chunks_exact_mut(length).zip(parts) {
                let cells = row[from..to].iter_mut().zip(part);
                cells.for_each(|(cell, v)| *cell = U::narrow((*v).into()));
            }
        }
    }

    /// The same with both halves.
    pub fn whole_gram(&self) -> Vec<T> {
        let mut out = self.lower_gram();
        mirror(&mut out, self.n_rows);
        out
    }

    /// All values among the rows, row-major, on this thread. Both halves have the same bits.
    pub fn gram(&self) -> Vec<T> {
        let n = self.n_rows;
        let mut out = vec![T::default(); n * n];
        for first in (0..n).step_by(STRIP) {
            let last = (first + STRIP).min(n);
            let picks: Vec<u32> = (first as u32..last as u32).collect();
            let block = self.select(&picks);
            let rows = &mut out[first * n..last * n];
            for from in (0..last).step_by(LONG) {
                let to = (from + LONG).min(last);
                let mut parts: Vec<&mut [T]> =
                    rows.chunks_exact_mut(n).map(|row| &mut row[from..to]).collect();
                block.tile(self, from, &mut parts);
            }
        }
        mirror(&mut out, n);
        out
    }
}

/// What a kernel of sparse rows sums up: differences, where absent cells count too.
fn sparse_sum(function: &Function, cells: impl Iterator<Item = (f64, f64)>, total: f64) -> f64 {
    match function.kernel {
        Kernel::Chi2 => {
            let term = |(a, b): (f64, f64)| {
                if a + b > 0.0 { (a - b) * (a - b) / (a + b) - a } else { 0.0 }
            };
            total + cells.map(term).sum::<f64>()
        }
        _ => total + cells.map(|(a, b)| (a - b).abs() - a.abs()).sum::<f64>(),
    }
}

fn differences<T: Float>(function: &Function, own: &[T], others: &[T], out: &mut [T]) {
    for (value, other) in out.iter_mut().zip(others.chunks_exact(own.len().max(1))) {
        let sum = match function.kernel {
            Kernel::Chi2 => T::chi(own, other),
            _ => T::absolute(own, other),
        };
        *value = T::narrow(-function.gamma * sum.into());
    }
    T::exp_each(out);
}

/// The function, put on inner products (or on sums of differences of sparse rows).
fn put_on<T: Float>(function: &Function, dots: &[T], own: T, squares: &[T], out: &mut [T]) {
    let Function { kernel, gamma, coef0, degree } = function;
    let (gamma, coef0) = (*gamma, *coef0);
    match kernel {
        Kernel::Rbf => T::gaussians(dots, own, squares, gamma, out),
        Kernel::Poly => T::powers(dots, gamma, coef0, *degree as u32, out),
        Kernel::Sigmoid => T::tanhs(dots, gamma, coef0, out),
        Kernel::Laplacian | Kernel::Chi2 => {
            let powers = out.iter_mut().zip(dots);
            powers.for_each(|(out, sum)| *out = T::narrow(-gamma * (*sum).into()));
            T::exp_each(out);
        }
        Kernel::Linear | Kernel::Precomputed | Kernel::Composed(_) | Kernel::Own(_) => {
            out.copy_from_slice(dots);
        }
    }
}

fn widened<T: Float>(row: &[T]) -> Vec<f64> {
    row.iter().map(|v| (*v).into()).collect()
}

/// Copies what is below the diagonal to above it, square by square, so that both stay in cache.
fn mirror<T: Copy>(cells: &mut [T], n: usize) {
    for first in (0..n).step_by(STRIP) {
        for from in (0..=first).step_by(STRIP) {
            for i in first..(first + STRIP).min(n) {
                for j in from..(from + STRIP).min(i) {
                    cells[j * n + i] = cells[i * n + j];
                }
            }
        }
    }
}

fn row<T>(cells: &[T], width: usize, i: usize) -> &[T] {
    &cells[i * width..(i + 1) * width]
}

/// The cells of some rows that are not zero, by column.
fn thin<T: Float>(rows: &Rows<'_>, picks: &[u32]) -> Cells<T> {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut row = |cells: &mut dyn Iterator<Item = (i32, f64)>| {
        let first = columns.len();
        for (j, v) in cells.filter(|(_, v)| *v != 0.0) {
            columns.push(j);
            values.push(T::narrow(v));
        }
        debug_assert!(columns[first..].is_sorted());
        offsets.push(columns.len());
    };
    match rows {
        Rows::Sparse(x) => {
            let x = x.whole();
            for i in picks {
                let (columns, values) = x.view().row(*i as usize);
                row(&mut columns.iter().copied().zip(values.iter().copied()));
            }
        }
        _ => picks.iter().for_each(|i| {
            let at = *i as usize;
            let cells = rows.block(at..at + 1).unwrap_or_default();
            row(&mut (0..).zip(cells.iter().copied()));
        }),
    }
    Cells::Sparse { width: rows.n_columns(), offsets, columns, values }
}

fn write_row<T: Float>(rows: &Rows<'_>, i: usize, center: &[f64], out: &mut [T]) {
    let row = match rows.block(i..i + 1) {
        Some(row) => row,
        None => rows.row(i).into(),
    };
    match center {
        [] => out.iter_mut().zip(row.iter()).for_each(|(out, x)| *out = T::narrow(*x)),
        center => {
            let cells = row.iter().zip(center);
            out.iter_mut().zip(cells).for_each(|(out, (x, c))| *out = T::narrow(x - c));
        }
    }
}

/// The means of some rows, where the kernel looks at differences and the rows are kept whole: what
/// single precision should be taken around. Empty elsewhere.
pub fn center_of(function: &Function, storage: Storage, rows: &Rows<'_>) -> Vec<f64> {
    if function.kernel != Kernel::Rbf || storage == Storage::Thin || rows.n_rows() == 0 {
        return Vec::new();
    }
    let mut sums = vec![0.0; rows.n_columns()];
    for i in 0..rows.n_rows() {
        match rows {
            Rows::Sparse(x) => {
                let (columns, values) = x.row(i);
                columns.iter().zip(values).for_each(|(j, v)| sums[*j as usize] += v);
            }
            _ => {
                let block = rows.block(i..i + 1).unwrap_or_default();
                sums.iter_mut().zip(block.iter()).for_each(|(s, v)| *s += v);
            }
        }
    }
    // Any point near the rows does; a short one makes sparse and dense rows agree to the bit.
    sums.iter().map(|s| f64::from((s / rows.n_rows() as f64) as f32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::OwnKernel;
    use mercer_num::parallel::with_threads;
    use mercer_num::random::Random;
    use mercer_num::{Matrix, Sparse};
    use sprs::TriMatI;

    fn some(n: usize, width: usize, seed: u64) -> Matrix {
        let mut random = Random::new(seed);
        Matrix::from_shape_fn((n, width), |(i, j)| {
            if (i + 2 * j) % 3 == 0 { 0.0 } else { random.normal().abs() }
        })
    }

    fn functions() -> Vec<Function> {
        let with = |kernel| Function { kernel, gamma: 0.3, coef0: 0.5, degree: 3 };
        [
            Kernel::Linear,
            Kernel::Poly,
            Kernel::Rbf,
            Kernel::Sigmoid,
            Kernel::Laplacian,
            Kernel::Chi2,
            "2*rbf(gamma=0.5)*poly(gamma=0.1,coef0=1,degree=2)+0.5*laplacian(gamma=0.2)+3"
                .parse()
                .unwrap(),
            "rbf(gamma=0.1)*linear+chi2(gamma=2)".parse().unwrap(),
        ]
        .map(with)
        .to_vec()
    }

    fn blocks<T: Float>(rows: &KernelRows<T>, of: &[u32], against: &KernelRows<T>) -> Vec<Vec<T>> {
        let mut out = vec![vec![T::default(); against.n_rows()]; of.len()];
        let mut columns: Vec<&mut [T]> = out.iter_mut().map(Vec::as_mut_slice).collect();
        rows.columns(of, against, &mut columns);
        out
    }

    #[test]
    fn blocks_are_the_function_of_each_pair() {
        #[derive(Debug)]
        struct Own;
        impl OwnKernel for Own {
            fn value(&self, x: &[f64], z: &[f64]) -> f64 {
                x.iter().zip(z).map(|(x, z)| x.min(*z)).sum()
            }
        }
        let x = some(70, 9, 1);
        let own = Function { kernel: Kernel::own(Own), ..Function::linear() };
        for function in functions().into_iter().chain([own]) {
            let center = center_of(&function, Storage::Whole, &Rows::from(&x));
            let wide: KernelRows<f64> =
                KernelRows::all(function.clone(), Storage::Whole, &Rows::from(&x), &center, &[]);
            let narrow: KernelRows<f32> =
                KernelRows::all(function.clone(), Storage::Whole, &Rows::from(&x), &center, &[]);
            let of = [3, 69, 0];
            let (wide_block, narrow_block) =
                (blocks(&wide, &of, &wide), blocks(&narrow, &of, &narrow));
            let gram = wide.gram();
            for (k, i) in of.iter().enumerate() {
                for j in 0..70 {
                    let a = x.row(*i as usize).to_vec();
                    let expected = function.value(&a, &x.row(j).to_vec());
                    assert!((wide_block[k][j] - expected).abs() < 1e-13 * expected.abs().max(1.0));
                    let off = (f64::from(narrow_block[k][j]) - expected).abs();
                    assert!(off < 1e-5 * expected.abs().max(1.0), "{function:?}: {off}");
                    assert!(
                        (gram[*i as usize * 70 + j] - expected).abs()
                            < 1e-12 * expected.abs().max(1.0)
                    );
                    assert_eq!(gram[*i as usize * 70 + j], gram[j * 70 + *i as usize]);
                }
                let own =
                    function.value(&x.row(*i as usize).to_vec(), &x.row(*i as usize).to_vec());
                assert!((wide.diagonal()[*i as usize] - own).abs() < 1e-13 * own.abs().max(1.0));
            }
        }
    }

    #[test]
    fn sparse_rows_give_the_same_values() {
        // Too wide and too thin to be written out.
        let (n, width) = (40, 4000);
        let mut random = Random::new(5);
        let mut cells = TriMatI::<f64, i32>::new((n, width));
        for i in 0..n {
            for _ in 0..20 {
                cells.add_triplet(i, random.below(width / 50) * 50, random.normal().abs());
            }
        }
        let sparse: Sparse = cells.to_csr();
        let dense = Matrix::from_shape_fn((n, width), |(i, j)| Rows::from(&sparse).get(i, j));
        for function in functions() {
            let thin: KernelRows<f64> =
                KernelRows::all(function.clone(), Storage::Thin, &Rows::from(&sparse), &[], &[]);
            let wide: KernelRows<f64> =
                KernelRows::all(function.clone(), Storage::Whole, &Rows::from(&dense), &[], &[]);
            assert!(matches!(thin.cells, Cells::Sparse { .. }));
            for (a, b) in thin.gram().iter().zip(wide.gram()) {
                assert!((a - b).abs() < 1e-12 * b.abs().max(1.0), "{function:?}");
            }
            assert_eq!(thin.diagonal().len(), n);
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let x = some(2500, 40, 2);
        let rows: KernelRows<f32> =
            KernelRows::all(Function::rbf(0.1), Storage::Whole, &Rows::from(&x), &[], &[]);
        let of: Vec<u32> = (0..150).map(|k| k * 16).collect();

        let alone = with_threads(1, || blocks(&rows, &of, &rows));

        assert_eq!(with_threads(3, || blocks(&rows, &of, &rows)), alone);
    }

    #[test]
    fn given_values_are_looked_up() {
        let k = Matrix::from_shape_fn((4, 4), |(i, j)| (10 * i.min(j) + i.max(j)) as f64);
        let function = Function { kernel: Kernel::Precomputed, ..Function::linear() };
        let rows: KernelRows<f64> =
            KernelRows::all(function.clone(), Storage::Whole, &Rows::from(&k), &[], &[0, 1, 2, 3]);
        let few = rows.select(&[3, 1]);

        assert_eq!(blocks(&few, &[0, 1], &few), [[33.0, 13.0], [13.0, 11.0]]);
        assert_eq!(few.diagonal(), [33.0, 11.0]);
        assert_eq!(rows.gram()[1], 1.0);
    }
}
