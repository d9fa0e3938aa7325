//! Weights, means and cross-products of the columns and the targets: all that least squares needs.
//!
//! Sums are kept in one of two precisions. *Plain* sums are centered cross-products in doubles,
//! merged by the pairwise update of Chan, Golub & LeVeque (1979),
//! `S = Sₐ + S_b + δδᵀ wₐw_b / w`. They lose as many digits as the squared condition number of the
//! columns has, so a chunk keeps them only where that is measured to be small. The whole of rows
//! that are well conditioned chunk by chunk is so too, because `λ_min(A + B) ≥ λ_min(A) + λ_min(B)`.
//! Otherwise the sums are *wide*: cross-products in twice a double's precision (`add_double_double_gram`),
//! which lose nothing that matters before the columns are equal to the last bit of their doubles.
//! Wide sums merge and forget by plain addition; one wide part makes the whole wide.

use crate::data::{Dataset, check_storage};
use crate::error::{Error, Result};
use crate::model::Statistics;
use mercer_num::double_double::{self, DoubleDouble};
use mercer_num::linalg::{Cholesky, DoubleDoubleMatrix, add_double_double_gram, add_gram};
use mercer_num::parallel::{self, Layout};
use mercer_num::rows::Missing;
use mercer_num::{Matrix, Rows};
use serde::{Deserialize, Serialize};

/// Rows of a panel: what is copied, centered and multiplied while it is in cache.
const PANEL: usize = 256;
/// Fewer rows than this are summed wide: that is cheap, and nothing needs to be measured.
const FEW_ROWS: usize = 512;
/// Plain sums are kept up to this condition number of the scaled cross-products, which costs five
/// of sixteen digits.
const PLAIN_CONDITION: f64 = 1e5;
/// Cells of a chunk at most, and numbers in a square of sums at most.
const MOST_CELLS: usize = 1 << 23;
const MOST_SUMS: u64 = 1 << 29;
/// Below this share of a total, what taking away leaves over is rounding.
const CRUMB: f64 = 1e-12;

/// The weighted cross-products of columns and targets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scatter {
    n_columns: usize,
    #[serde(default = "one")]
    n_targets: usize,
    sums: Sums,
}

fn one() -> usize {
    1
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Sums {
    #[default]
    None,
    Plain(Plain),
    Wide(Wide),
}

/// Centered sums over the columns and, last, the targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain {
    weight: f64,
    means: Vec<f64>,
    /// `Σ w (u − mean)(v − mean)`, the lower triangle.
    products: Matrix,
}

/// Raw sums `Σ w u v` over the columns, the targets and, last, a column of ones; lower triangles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wide {
    high: Matrix,
    low: Matrix,
}

/// What [`Scatter`] says in the precision it has.
#[derive(Clone, Debug)]
pub struct CrossProducts {
    /// The weight of the rows.
    pub weight: f64,
    /// The means of the columns.
    pub means: Vec<DoubleDouble>,
    /// The means of the targets.
    pub target_means: Vec<DoubleDouble>,
    /// Cross-products of the columns and, last, the targets: around the means or around zero.
    pub products: DoubleDoubleMatrix,
    /// `Σ w x²` of the columns and the targets, around zero: the size that rounding is relative to.
    pub raw_squares: Vec<f64>,
    /// Whether the sums were kept in twice a double's precision.
    pub wide: bool,
}

impl Scatter {
    /// Adds rows with a number each, or with as many each.
    ///
    /// # Errors
    /// If the target is no number, a cell is not finite, or the columns are another number or too
    /// many for a square of sums.
    pub fn push_rows(&mut self, batch: &Dataset<'_>) -> Result<()> {
        let (targets, n_targets) = batch.regression_targets()?;
        let width = batch.n_columns();
        self.check_width(width, n_targets)?;
        check_storage(batch.rows())?;
        let sums = (width as u64 + n_targets as u64 + 1).pow(2);
        if sums > MOST_SUMS {
            let (needed, budget) = (16 * sums, 16 * MOST_SUMS);
            let what = format!("the cross-products of {width} columns");
            return Err(Error::Memory { what, needed, budget, instead: "" });
        }
        let leaf = Leaf { rows: *batch.rows(), targets, n_targets, weights: batch.weights() };
        let other = Scatter { n_columns: width, n_targets, sums: leaf.sums()? };
        self.merge(&other)
    }

    /// How many columns there are, without the targets.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// The weight of the rows.
    pub fn weight(&self) -> f64 {
        match &self.sums {
            Sums::None => 0.0,
            Sums::Plain(plain) => plain.weight,
            Sums::Wide(wide) => wide.weight().value(),
        }
    }

    /// Cross-products around the means, or around zero.
    ///
    /// # Errors
    /// If there are no rows, or numbers too large to square.
    pub fn moments(&self, centered: bool) -> Result<CrossProducts> {
        let moments = match &self.sums {
            Sums::None => return Err(Error::NoRows),
            Sums::Plain(plain) if centered => plain.centered(self.n_columns),
            Sums::Plain(plain) => plain.to_wide().moments(self.n_columns, false, false),
            Sums::Wide(wide) => wide.moments(self.n_columns, centered, true),
        };
        if moments.weight <= 0.0 {
            return Err(Error::NoRows);
        }
        let squares = moments.products.high.diag();
        if let Some(column) = squares.iter().position(|s| !s.is_finite()) {
            return Err(Error::TooLarge { column });
        }
        Ok(moments)
    }

    fn check_width(&self, width: usize, n_targets: usize) -> Result<()> {
        match self.sums {
            Sums::None => Ok(()),
            _ if self.n_columns != width => {
                Err(Error::Columns { found: width, expected: self.n_columns })
            }
            _ if self.n_targets != n_targets => {
                let (found, expected) = (n_targets, self.n_targets);
                Err(Error::Length { what: "a row of targets".into(), found, expected })
            }
            _ => Ok(()),
        }
    }
}

impl Statistics for Scatter {
    fn merge(&mut self, other: &Self) -> Result<()> {
        if other.sums == Sums::None {
            return Ok(());
        }
        self.check_width(other.n_columns, other.n_targets)?;
        match (&mut self.sums, &other.sums) {
            (Sums::None, _) => *self = other.clone(),
            (Sums::Plain(mine), Sums::Plain(theirs)) => mine.merge(theirs),
            (Sums::Wide(mine), Sums::Wide(theirs)) => mine.add(theirs),
            (Sums::Wide(mine), Sums::Plain(theirs)) => mine.add(&theirs.to_wide()),
            (Sums::Plain(mine), Sums::Wide(theirs)) => {
                let mut sum = mine.to_wide();
                sum.add(theirs);
                self.sums = Sums::Wide(sum);
            }
            (_, Sums::None) => {}
        }
        Ok(())
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        if other.sums == Sums::None {
            return Ok(());
        }
        let (weight, gone) = (self.weight(), other.weight());
        let left = weight - gone;
        if left < -CRUMB * weight.max(gone) {
            let why = format!("the rows have weight {weight}, asked to lose {gone}");
            return Err(Error::Forget { why });
        }
        self.check_width(other.n_columns, other.n_targets)?;
        if left <= CRUMB * weight {
            *self = Scatter::default();
            return Ok(());
        }
        let sums = match (&self.sums, &other.sums) {
            (Sums::Plain(mine), Sums::Plain(theirs)) => Sums::Plain(mine.without(theirs, left)),
            (mine, theirs) => {
                let (Some(mut mine), Some(mut theirs)) = (mine.to_wide(), theirs.to_wide()) else {
                    return Ok(());
                };
                theirs.negate();
                mine.add(&theirs);
                Sums::Wide(mine)
            }
        };
        let left = Scatter { sums, ..*self };
        let before = self.moments(true)?.products.high.diag().to_owned();
        let after = left.moments(true)?.products.high.diag().to_owned();
        if let Some(j) = after.iter().zip(&before).position(|(a, b)| *a < -1e-6 * b) {
            let why = format!("column {} would have a negative variance: not learned", j + 1);
            return Err(Error::Forget { why });
        }
        *self = left;
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let d = self.n_columns;
        let last = d + self.n_targets;
        let finite = |m: &Matrix| m.iter().all(|v| v.is_finite());
        let fits = match &self.sums {
            Sums::None => d == 0,
            Sums::Plain(s) => {
                s.means.len() == last
                    && s.products.dim() == (last, last)
                    && s.means.iter().all(|m| m.is_finite())
                    && finite(&s.products)
                    && s.weight.is_finite()
                    && s.weight >= 0.0
            }
            Sums::Wide(s) => {
                s.high.dim() == (last + 1, last + 1)
                    && s.low.dim() == (last + 1, last + 1)
                    && finite(&s.high)
                    && finite(&s.low)
                    && s.high[[last, last]] >= 0.0
            }
        };
        let squares = match &self.sums {
            Sums::None => &Matrix::zeros((0, 0)),
            Sums::Plain(s) => &s.products,
            Sums::Wide(s) => &s.high,
        };
        // Taking rows back out may leave a crumb below zero.
        let largest = squares.diag().iter().fold(0.0, |a: f64, v| a.max(v.abs()));
        if fits && last < 1 << 16 && squares.diag().iter().all(|v| *v >= -1e-6 * largest) {
            Ok(())
        } else {
            Err(Error::File("cross-products that no rows could have".into()))
        }
    }

    /// Squares of sums are dear to merge, so a chunk has many rows for every column; and enough of
    /// them to be well conditioned by itself.
    fn chunk_rows(n_columns: usize, layout: Layout) -> usize {
        let plain = parallel::chunk_rows(n_columns, layout);
        let many = (32 * n_columns).next_power_of_two();
        let most = (MOST_CELLS / n_columns.max(1)).max(2).next_power_of_two() / 2;
        plain.max(many.min(most))
    }

    fn bytes(_n_classes: usize, n_columns: usize) -> u64 {
        16 * (n_columns as u64 + 2).pow(2)
    }
}

impl Sums {
    fn to_wide(&self) -> Option<Wide> {
        match self {
            Sums::None => None,
            Sums::Plain(plain) => Some(plain.to_wide()),
            Sums::Wide(wide) => Some(wide.clone()),
        }
    }
}

impl Plain {
    fn merge(&mut self, other: &Plain) {
        let weight = self.weight + other.weight;
        if weight <= 0.0 {
            return;
        }
        let share = other.weight / weight;
        let cross = self.weight * share;
        let deltas: Vec<f64> = other.means.iter().zip(&self.means).map(|(b, a)| b - a).collect();
        let theirs = other.products.outer_iter();
        for ((i, mut row), other) in self.products.outer_iter_mut().enumerate().zip(theirs) {
            let scaled = deltas[i] * cross;
            for ((s, o), d) in row.iter_mut().zip(other).zip(&deltas).take(i + 1) {
                *s += o + scaled * d;
            }
        }
        self.means.iter_mut().zip(&deltas).for_each(|(m, d)| *m += d * share);
        self.weight = weight;
    }

    /// The merge undone, where `left` is the weight that stays.
    fn without(&self, other: &Plain, left: f64) -> Plain {
        let share = other.weight / left;
        let means: Vec<f64> =
            self.means.iter().zip(&other.means).map(|(m, o)| m + (m - o) * share).collect();
        let cross = left / self.weight * other.weight;
        let deltas: Vec<f64> = other.means.iter().zip(&means).map(|(b, a)| b - a).collect();
        let mut products = &self.products - &other.products;
        for (i, mut row) in products.outer_iter_mut().enumerate() {
            let scaled = deltas[i] * cross;
            row.iter_mut().zip(&deltas).take(i + 1).for_each(|(s, d)| *s -= scaled * d);
        }
        Plain { weight: left, means, products }
    }

    fn centered(&self, d: usize) -> CrossProducts {
        let raw = |(s, m): (&f64, &f64)| s + self.weight * m * m;
        CrossProducts {
            weight: self.weight,
            means: self.means[..d].iter().map(|m| DoubleDouble::from(*m)).collect(),
            target_means: self.means[d..].iter().map(|m| DoubleDouble::from(*m)).collect(),
            raw_squares: self.products.diag().iter().zip(&self.means).map(raw).collect(),
            products: DoubleDoubleMatrix {
                high: self.products.clone(),
                low: Matrix::zeros(self.products.raw_dim()),
            },
            wide: false,
        }
    }

    /// `Σ w u v = S + w m mᵀ`.
    fn to_wide(&self) -> Wide {
        let n = self.means.len();
        let mut sums = DoubleDoubleMatrix::zeros(n + 1);
        let weight = DoubleDouble::from(self.weight);
        for i in 0..n {
            let scaled = weight * DoubleDouble::from(self.means[i]);
            for j in 0..=i {
                let product = scaled * DoubleDouble::from(self.means[j]);
                sums.set(i, j, product + DoubleDouble::from(self.products[[i, j]]));
            }
            sums.set(n, i, scaled);
        }
        sums.set(n, n, weight);
        Wide { high: sums.high, low: sums.low }
    }
}

impl Wide {
    fn weight(&self) -> DoubleDouble {
        let last = self.high.nrows() - 1;
        DoubleDouble { high: self.high[[last, last]], low: self.low[[last, last]] }
    }

    fn add(&mut self, other: &Wide) {
        let cells = "sums are contiguous";
        double_double::add(
            self.high.as_slice_mut().expect(cells),
            self.low.as_slice_mut().expect(cells),
            other.high.as_slice().expect(cells),
            other.low.as_slice().expect(cells),
        );
    }

    fn negate(&mut self) {
        self.high.mapv_inplace(|v| -v);
        self.low.mapv_inplace(|v| -v);
    }

    fn moments(&self, d: usize, centered: bool, wide: bool) -> CrossProducts {
        let last = self.high.nrows() - 1;
        let raw = DoubleDoubleMatrix { high: self.high.clone(), low: self.low.clone() };
        let weight = self.weight();
        let means: Vec<DoubleDouble> = (0..last).map(|j| raw.at(last, j) / weight).collect();
        let mut products = DoubleDoubleMatrix::zeros(last);
        for i in 0..last {
            for (j, mean) in means[..=i].iter().enumerate() {
                let around_zero = raw.at(i, j);
                let cell =
                    if centered { around_zero - raw.at(last, i) * *mean } else { around_zero };
                products.set(i, j, cell);
            }
        }
        CrossProducts {
            weight: weight.value(),
            means: means[..d].to_vec(),
            target_means: means[d..].to_vec(),
            raw_squares: (0..last).map(|j| raw.at(j, j).value()).collect(),
            products,
            wide,
        }
    }
}

/// The rows of one chunk.
struct Leaf<'a> {
    rows: Rows<'a>,
    /// Row by row.
    targets: &'a [f64],
    n_targets: usize,
    weights: &'a [f64],
}

impl Leaf<'_> {
    fn sums(&self) -> Result<Sums> {
        let (n, width) = (self.rows.n_rows(), self.rows.n_columns());
        if n == 0 {
            return Ok(Sums::None);
        }
        if n >= FEW_ROWS {
            let plain = if self.is_thin() { self.sparse_sums() } else { self.dense_sums() };
            let plain = plain.ok_or_else(|| self.bad_cell())?;
            // Chunks that could not have rows enough cannot be measured; the whole will be.
            if n < 2 * width || plain.is_well_conditioned(width) {
                return Ok(Sums::Plain(plain));
            }
        }
        self.wide_sums().map(Sums::Wide).ok_or_else(|| self.bad_cell())
    }

    /// Whether visiting pairs of stored cells is less work than multiplying panels.
    fn is_thin(&self) -> bool {
        let Rows::Sparse(x) = &self.rows else { return false };
        let (n, width) = (x.n_rows() as f64, x.n_columns() as f64);
        let stored: usize = x.iter().map(|(columns, _)| columns.len()).sum();
        16.0 * (stored as f64 / n).powi(2) < width * width
    }

    /// Columns, targets and a one.
    fn width(&self) -> usize {
        self.rows.n_columns() + self.n_targets + 1
    }

    /// The targets of a row.
    fn target(&self, i: usize) -> &[f64] {
        &self.targets[i * self.n_targets..(i + 1) * self.n_targets]
    }

    /// Hands out panels of rows that weigh something, as row-major blocks of columns, targets and a
    /// one, with their weights. `None` if a row that weighs nothing has a cell that is not finite.
    fn each_panel(&self, mut take: impl FnMut(&mut [f64], &[f64])) -> Option<()> {
        let (d, width) = (self.rows.n_columns(), self.width());
        let mut panel = Vec::with_capacity(PANEL * width);
        let mut weights = Vec::with_capacity(PANEL);
        for range in parallel::chunks(self.rows.n_rows(), PANEL) {
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

    /// Around the means of the first panel, then around those of all. `None` if not finite.
    fn dense_sums(&self) -> Option<Plain> {
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
        plain_from(&sums, width, &shift)
    }

    /// Pairs of stored cells only, around zero. `None` if not finite.
    fn sparse_sums(&self) -> Option<Plain> {
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
        plain_from(&sums, width, &vec![0.0; width])
    }

    fn wide_sums(&self) -> Option<Wide> {
        let width = self.width();
        let (mut high, mut low) = (vec![0.0; width * width], vec![0.0; width * width]);
        self.each_panel(|panel, weights| {
            add_double_double_gram(panel, width, weights, &mut high, &mut low);
        })?;
        // Above the diagonal stands what the products left there.
        for i in 0..width {
            high[i * width + i + 1..(i + 1) * width].fill(0.0);
            low[i * width + i + 1..(i + 1) * width].fill(0.0);
        }
        let square = |cells| Matrix::from_shape_vec((width, width), cells).ok();
        let wide = Wide { high: square(high)?, low: square(low)? };
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

/// The cells of a row by rising column, each stored once: as they stand, or a copy.
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

impl Plain {
    /// Whether the columns tell apart with enough digits; columns that stand still do not count.
    fn is_well_conditioned(&self, d: usize) -> bool {
        let scales: Vec<f64> = self.products.diag().iter().map(|s| s.max(0.0).sqrt()).collect();
        // What is left of a constant column is the rounding of its mean.
        let moves = |j: &usize| {
            scales[*j] > 1e-14 * (self.weight.sqrt() * self.means[*j].abs() + f64::MIN_POSITIVE)
        };
        let kept: Vec<usize> = (0..d).filter(moves).collect();
        let scaled = Matrix::from_shape_fn((kept.len(), kept.len()), |(i, j)| {
            let (i, j) = (kept[i.max(j)], kept[i.min(j)]);
            self.products[[i, j]] / (scales[i] * scales[j])
        });
        let norm = |m: &Matrix| {
            let sums = m.columns().into_iter().map(|c| c.iter().map(|v| v.abs()).sum::<f64>());
            sums.fold(0.0, f64::max)
        };
        Cholesky::of(scaled.view())
            .is_some_and(|factor| factor.inverse_norm() * norm(&scaled) <= PLAIN_CONDITION)
    }
}

/// The plain means of a block's columns.
fn column_means(block: &[f64], width: usize) -> Vec<f64> {
    let mut sums = vec![0.0; width];
    for row in block.chunks_exact(width) {
        sums.iter_mut().zip(row).for_each(|(s, x)| *s += x);
    }
    let n = (block.len() / width).max(1) as f64;
    sums.iter().map(|s| s / n).collect()
}

/// Moves sums from around `shift` to around the means. `None` if they are not finite.
fn plain_from(sums: &[f64], width: usize, shift: &[f64]) -> Option<Plain> {
    let last = width - 1;
    let totals = &sums[last * width..last * width + width];
    let weight = totals[last];
    if weight == 0.0 {
        let zeros = Matrix::zeros((last, last));
        return Some(Plain { weight, means: vec![0.0; last], products: zeros });
    }
    let products = Matrix::from_shape_fn((last, last), |(i, j)| match i >= j {
        true => sums[i * width + j] - totals[i] * (totals[j] / weight),
        false => 0.0,
    });
    let means: Vec<f64> = totals[..last].iter().zip(shift).map(|(t, s)| s + t / weight).collect();
    let finite = products.iter().chain(&means).all(|v| v.is_finite());
    finite.then_some(Plain { weight, means, products })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;
    use ndarray::array;

    fn scatter(x: &Matrix, y: &[f64]) -> Scatter {
        let mut out = Scatter::default();
        out.push_rows(&Dataset::regression(x, y).unwrap()).unwrap();
        out
    }

    fn noise(n: usize, d: usize) -> (Matrix, Vec<f64>) {
        let mut random = Random::new(1);
        let x = Matrix::from_shape_fn((n, d), |_| 5.0 + random.normal());
        let y = (0..n).map(|_| random.normal()).collect();
        (x, y)
    }

    #[test]
    fn sums_by_hand() {
        let x = array![[1.0, 2.0], [3.0, 2.0], [5.0, 5.0]];

        let around_means = scatter(&x, &[1.0, 0.0, -1.0]).moments(true).unwrap();
        let around_zero = scatter(&x, &[1.0, 0.0, -1.0]).moments(false).unwrap();

        assert_eq!((around_means.weight, around_means.target_means[0].value()), (3.0, 0.0));
        assert_eq!(around_means.means, [DoubleDouble::from(3.0); 2]);
        let sums = array![[8.0, 0.0, 0.0], [6.0, 6.0, 0.0], [-4.0, -3.0, 2.0]];
        assert_eq!(around_means.products.high, sums);
        let sums = array![[35.0, 0.0, 0.0], [33.0, 33.0, 0.0], [-4.0, -3.0, 2.0]];
        assert_eq!(around_zero.products.high, sums);
    }

    #[test]
    fn many_ordinary_rows_are_summed_plain_and_agree_with_wide_sums() {
        let (x, y) = noise(2000, 6);

        let plain = scatter(&x, &y);
        let mut wide = Scatter::default();
        for range in parallel::chunks(2000, 100) {
            let data = Dataset::regression(&x, &y).unwrap();
            wide.push_rows(&data.slice(range)).unwrap();
        }

        assert!(matches!(plain.sums, Sums::Plain(_)) && matches!(wide.sums, Sums::Wide(_)));
        for centered in [true, false] {
            let (a, b) = (plain.moments(centered).unwrap(), wide.moments(centered).unwrap());
            assert!((a.weight - b.weight).abs() < 1e-12);
            for (a, b) in a.products.high.iter().zip(&b.products.high) {
                assert!((a - b).abs() < 1e-9, "{a} and {b}");
            }
        }
    }

    #[test]
    fn columns_that_nearly_repeat_are_summed_wide_and_standing_ones_are_not() {
        let (mut x, y) = noise(2000, 4);
        x.column_mut(2).fill(0.1);
        assert!(matches!(scatter(&x, &y).sums, Sums::Plain(_)));

        for i in 0..2000 {
            x[[i, 3]] = x[[i, 0]] + 1e-4 * x[[i, 1]];
        }

        assert!(matches!(scatter(&x, &y).sums, Sums::Wide(_)));
    }

    #[test]
    fn plain_parts_merge_and_forget() {
        let (x, y) = noise(3000, 3);
        let data = Dataset::regression(&x, &y).unwrap();
        let part = |range| {
            let mut out = Scatter::default();
            out.push_rows(&data.slice(range)).unwrap();
            out
        };
        let (left, right, whole) = (part(0..1000), part(1000..3000), part(0..3000));

        let mut merged = left.clone();
        merged.merge(&right).unwrap();
        let mut back = merged.clone();
        back.forget(&right).unwrap();

        let near = |a: &Scatter, b: &Scatter| {
            let (a, b) = (a.moments(true).unwrap(), b.moments(true).unwrap());
            let mut cells = a.products.high.iter().zip(&b.products.high);
            let mut means = a.means.iter().zip(&b.means);
            cells.all(|(a, b)| (a - b).abs() < 1e-9)
                && means.all(|(a, b)| (*a - *b).value().abs() < 1e-12)
        };
        assert!(near(&merged, &whole) && near(&back, &left));
        let mut none = merged.clone();
        none.forget(&whole).unwrap();
        assert_eq!(none, Scatter::default());
        assert!(matches!(
            merged.clone().forget(&merged).and(none.forget(&left)),
            Err(Error::Forget { .. })
        ));
    }

    #[test]
    fn thin_rows_give_the_sums_of_full_ones() {
        let (mut x, y) = noise(1500, 30);
        for ((i, j), v) in x.indexed_iter_mut() {
            if (i * 31 + j * 17) % 19 != 0 {
                *v = 0.0;
            }
        }
        let mut cells = sprs::TriMatI::<f64, i32>::new(x.dim());
        for ((i, j), v) in x.indexed_iter().filter(|(_, v)| **v != 0.0) {
            cells.add_triplet(i, j, *v);
        }
        let thin: mercer_num::Sparse = cells.to_csr();
        let weights: Vec<f64> = (0..1500).map(|i| f64::from(i % 3)).collect();
        fn of<'a>(rows: Rows<'a>, y: &'a [f64], weights: &'a [f64]) -> CrossProducts {
            let mut out = Scatter::default();
            let data = Dataset::regression(rows, y).unwrap().weighted(weights).unwrap();
            out.push_rows(&data).unwrap();
            out.moments(true).unwrap()
        }

        let (full, thin) = (of(Rows::from(&x), &y, &weights), of(Rows::from(&thin), &y, &weights));

        for (a, b) in full.products.high.iter().zip(&thin.products.high) {
            assert!((a - b).abs() < 1e-9, "{a} and {b}");
        }
    }
}
