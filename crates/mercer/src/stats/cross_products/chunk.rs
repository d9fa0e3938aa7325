//! Cross-products of the rows of one chunk, in double or double-double precision.

use super::{DoubleDoubleSums, DoubleSums, Sums};
use crate::error::{Error, Result};
use mercer_num::linalg::{add_double_double_gram, add_gram};
use mercer_num::parallel;
use mercer_num::rows::Missing;
use mercer_num::{Matrix, Rows};

/// Rows that are copied, centered and multiplied while they are in cache.
const ROWS_PER_PANEL: usize = 256;
/// Fewer rows than this are summed in double-double precision without measuring their condition.
const MIN_ROWS_FOR_DOUBLE: usize = 512;

/// The rows of one chunk.
pub(super) struct Chunk<'a> {
    pub rows: Rows<'a>,
    /// Row-major.
    pub targets: &'a [f64],
    pub n_targets: usize,
    pub weights: &'a [f64],
}

impl Chunk<'_> {
    /// The sums in double precision if the rows are well conditioned, else in double-double precision.
    ///
    /// # Errors
    /// If a cell is not finite or too large to square.
    pub fn sums(&self) -> Result<Sums> {
        let (n, width) = (self.rows.n_rows(), self.rows.n_columns());
        if n == 0 {
            return Ok(Sums::None);
        }
        if n >= MIN_ROWS_FOR_DOUBLE {
            let plain = if self.prefers_sparse() { self.sparse_sums() } else { self.dense_sums() };
            let plain = plain.ok_or_else(|| self.bad_cell())?;
            // The condition of a chunk with too few rows is meaningless; that of the total is measured later.
            if n < 2 * width || plain.is_well_conditioned(width) {
                return Ok(Sums::Plain(plain));
            }
        }
        self.double_double_sums().map(Sums::Wide).ok_or_else(|| self.bad_cell())
    }

    /// Whether products of pairs of stored cells are less work than dense products.
    fn prefers_sparse(&self) -> bool {
        let Rows::Sparse(x) = &self.rows else { return false };
        let (n, width) = (x.n_rows() as f64, x.n_columns() as f64);
        let stored: usize = x.iter().map(|(columns, _)| columns.len()).sum();
        16.0 * (stored as f64 / n).powi(2) < width * width
    }

    /// The number of columns and targets plus one.
    fn width(&self) -> usize {
        self.rows.n_columns() + self.n_targets + 1
    }

    /// The targets of a row.
    fn target(&self, i: usize) -> &[f64] {
        &self.targets[i * self.n_targets..(i + 1) * self.n_targets]
    }

    /// Visits panels of rows with positive weight, as row-major blocks of columns, targets and a one, with the weights.
    /// `None` if a row of weight zero has a cell that is not finite.
    fn each_panel(&self, mut take: impl FnMut(&mut [f64], &[f64])) -> Option<()> {
        let (d, width) = (self.rows.n_columns(), self.width());
        let mut panel = Vec::with_capacity(ROWS_PER_PANEL * width);
        let mut weights = Vec::with_capacity(ROWS_PER_PANEL);
        for range in parallel::chunks(self.rows.n_rows(), ROWS_PER_PANEL) {
            panel.clear();
            weights.clear();
            let block = self.rows.block(range.clone());
            for (k, i) in range.enumerate() {
                let start = panel.len();
                match &block {
                    Some(block) => {
                        panel.extend_from_slice(&block[k * d..(k + 1) * d]);
                    }
                    None => panel.extend(self.rows.row(i)),
                }
                let w = self.weights.get(i).copied();
                if w == Some(0.0) {
                    if panel[start..].iter().any(|v| !v.is_finite()) {
                        return None;
                    }
                    panel.truncate(start);
                    continue;
                }
                panel.extend_from_slice(self.target(i));
                panel.push(1.0);
                weights.extend(w);
            }
            take(&mut panel, &weights);
        }
        Some(())
    }

    /// Sums in double precision, first around the means of the first panel, then around those of all rows. `None` if
    /// they are not finite.
    fn dense_sums(&self) -> Option<DoubleSums> {
        let width = self.width();
        let mut shift = Vec::new();
        let mut sums = vec![0.0; width * width];
        self.each_panel(|panel, weights| {
            if shift.is_empty() {
                shift = column_means(panel, width);
                shift[width - 1] = 0.0;
            }
            for (i, row) in panel.chunks_exact_mut(width).enumerate() {
                row.iter_mut().zip(&shift).for_each(|(x, s)| *x -= s);
                if let Some(w) = weights.get(i) {
                    let root = w.sqrt();
                    row.iter_mut().for_each(|x| *x *= root);
                }
            }
            add_gram(panel, width, &mut sums);
        })?;
        centered_sums(&sums, width, &shift)
    }

    /// Sums in double precision over pairs of stored cells. `None` if they are not finite.
    fn sparse_sums(&self) -> Option<DoubleSums> {
        let Rows::Sparse(x) = &self.rows else { return None };
        let (d, width) = (x.n_columns(), self.width());
        let mut sums = vec![0.0; width * width];
        let mut sorted = Sorted::default();
        for (i, (columns, values)) in x.iter().enumerate() {
            let w = self.weights.get(i).copied().unwrap_or(1.0);
            if w == 0.0 {
                values.iter().all(|v| v.is_finite()).then_some(())?;
                continue;
            }
            let (columns, values) = sorted.row(columns, values);
            for (p, (j, v)) in columns.iter().zip(values).enumerate() {
                let scaled = w * v;
                let sums = &mut sums[*j as usize * width..(*j as usize + 1) * width];
                for (k, u) in columns[..=p].iter().zip(values) {
                    sums[*k as usize] += scaled * u;
                }
            }
            let y = self.target(i);
            for (k, u) in y.iter().chain(&[1.0]).enumerate() {
                let sums = &mut sums[(d + k) * width..(d + k + 1) * width];
                columns.iter().zip(values).for_each(|(j, v)| sums[*j as usize] += w * u * v);
                let others = y.iter().chain(&[1.0]).take(k + 1);
                sums[d..].iter_mut().zip(others).for_each(|(sum, v)| *sum += w * u * v);
            }
        }
        centered_sums(&sums, width, &vec![0.0; width])
    }

    fn double_double_sums(&self) -> Option<DoubleDoubleSums> {
        let width = self.width();
        let (mut high, mut low) = (vec![0.0; width * width], vec![0.0; width * width]);
        self.each_panel(|panel, weights| {
            add_double_double_gram(panel, width, weights, &mut high, &mut low);
        })?;
        // The products leave partial values above the diagonal.
        for i in 0..width {
            high[i * width + i + 1..(i + 1) * width].fill(0.0);
            low[i * width + i + 1..(i + 1) * width].fill(0.0);
        }
        let square = |cells| Matrix::from_shape_vec((width, width), cells).ok();
        let wide = DoubleDoubleSums { high: square(high)?, low: square(low)? };
        wide.high.iter().all(|v| v.is_finite()).then_some(wide)
    }

    fn bad_cell(&self) -> Error {
        match self.rows.first_invalid_cell(Missing::Refused) {
            Some((row, column)) => {
                Error::NotFinite { row, column, value: self.rows.get(row, column) }
            }
            None => {
                let size = |j: usize| {
                    let cells = (0..self.rows.n_rows()).map(|i| self.rows.get(i, j).abs());
                    cells.fold(0.0, f64::max)
                };
                let column = (0..self.rows.n_columns())
                    .find(|j| size(*j) > 1e150)
                    .unwrap_or(self.rows.n_columns());
                Error::TooLarge { column }
            }
        }
    }
}

/// The cells of a row in ascending order of columns, without duplicates: borrowed, or a copy.
#[derive(Default)]
struct Sorted {
    cells: Vec<(i32, f64)>,
    columns: Vec<i32>,
    values: Vec<f64>,
}

impl Sorted {
    fn row<'a>(&'a mut self, columns: &'a [i32], values: &'a [f64]) -> (&'a [i32], &'a [f64]) {
        if columns.is_sorted_by(|a, b| a < b) {
            return (columns, values);
        }
        self.cells.clear();
        self.cells.extend(columns.iter().copied().zip(values.iter().copied()));
        self.cells.sort_by_key(|(j, _)| *j);
        self.columns.clear();
        self.values.clear();
        for parts in self.cells.chunk_by(|a, b| a.0 == b.0) {
            self.columns.push(parts[0].0);
            self.values.push(parts.iter().map(|(_, v)| v).sum());
        }
        (&self.columns, &self.values)
    }
}

/// The unweighted means of a block's columns.
fn column_means(block: &[f64], width: usize) -> Vec<f64> {
    let mut sums = vec![0.0; width];
    for row in block.chunks_exact(width) {
        sums.iter_mut().zip(row).for_each(|(s, x)| *s += x);
    }
    let n = (block.len() / width).max(1) as f64;
    sums.iter().map(|s| s / n).collect()
}

/// Converts sums around `shift` to sums around the means. `None` if they are not finite.
fn centered_sums(sums: &[f64], width: usize, shift: &[f64]) -> Option<DoubleSums> {
    let last = width - 1;
    let totals = &sums[last * width..last * width + width];
    let weight = totals[last];
    if weight == 0.0 {
        let zeros = Matrix::zeros((last, last));
        return Some(DoubleSums { weight, means: vec![0.0; last], products: zeros });
    }
    let products = Matrix::from_shape_fn((last, last), |(i, j)| match i >= j {
        true => sums[i * width + j] - totals[i] * (totals[j] / weight),
        false => 0.0,
    });
    let means: Vec<f64> = totals[..last].iter().zip(shift).map(|(t, s)| s + t / weight).collect();
    let finite = products.iter().chain(&means).all(|v| v.is_finite());
    finite.then_some(DoubleSums { weight, means, products })
}
