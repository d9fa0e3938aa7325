//! Weighted means and cross-products of columns and targets, the sufficient statistics of least squares.
//!
//! Sums are stored in one of two precisions. *Double* sums are centered cross-products, merged by the pairwise update
//! of Chan, Golub & LeVeque (1979), `S = Sₐ + S_b + δδᵀ wₐw_b / w`. They lose as many digits as the squared condition
//! number of the columns has, so a chunk uses them only if that number is measured to be small. If every chunk is well
//! conditioned, so are all rows, because `λ_min(A + B) ≥ λ_min(A) + λ_min(B)`. Otherwise the sums are *double-double*:
//! raw cross-products with 106 bits (`add_double_double_gram`), which are accurate unless columns agree to the last
//! bit. They are merged and subtracted by addition. One double-double part makes the total double-double.

mod chunk;

use self::chunk::Chunk;
use crate::data::{Dataset, check_storage};
use crate::error::{Error, Result};
use crate::model::Statistics;
use mercer_num::Matrix;
use mercer_num::double_double::{self, DoubleDouble};
use mercer_num::linalg::{Cholesky, DoubleDoubleMatrix};
use mercer_num::parallel::{self, Layout};
use serde::{Deserialize, Serialize};

/// Sums in double precision are used up to this condition number of the scaled cross-products, which costs five of
/// sixteen digits.
const MAX_DOUBLE_CONDITION: f64 = 1e5;
/// Maximum number of cells of a chunk.
const MAX_CHUNK_CELLS: usize = 1 << 23;
/// Maximum number of entries of a square of sums.
const MAX_SUMS: u64 = 1 << 29;
/// A weight below this fraction of the total is the rounding error of a subtraction.
const RELATIVE_RESIDUE: f64 = 1e-12;

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
    Plain(DoubleSums),
    Wide(DoubleDoubleSums),
}

/// Centered sums over the columns, followed by the targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DoubleSums {
    weight: f64,
    means: Vec<f64>,
    /// `Σ w (u − mean)(v − mean)`, the lower triangle.
    products: Matrix,
}

/// Raw sums `Σ w u v` over the columns, the targets and a column of ones; lower triangles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DoubleDoubleSums {
    high: Matrix,
    low: Matrix,
}

/// The means and cross-products of a [`Scatter`], in the precision of its sums.
#[derive(Clone, Debug)]
pub struct CrossProducts {
    /// The weight of the rows.
    pub weight: f64,
    /// The means of the columns.
    pub means: Vec<DoubleDouble>,
    /// The means of the targets.
    pub target_means: Vec<DoubleDouble>,
    /// Cross-products of the columns, followed by the targets: centered or around zero.
    pub products: DoubleDoubleMatrix,
    /// `Σ w x²` of the columns and the targets, around zero. Rounding errors are relative to these.
    pub raw_squares: Vec<f64>,
    /// Whether the sums were computed in double-double precision.
    pub wide: bool,
}

impl Scatter {
    /// Adds rows with one or several regression targets.
    ///
    /// # Errors
    /// If the target is not numeric, a cell is not finite, the number of columns differs, or the cross-products would
    /// take too much memory.
    pub fn push_rows(&mut self, batch: &Dataset<'_>) -> Result<()> {
        let (targets, n_targets) = batch.regression_targets()?;
        let width = batch.n_columns();
        self.check_width(width, n_targets)?;
        check_storage(batch.rows())?;
        let sums = (width as u64 + n_targets as u64 + 1).pow(2);
        if sums > MAX_SUMS {
            let (needed, budget) = (16 * sums, 16 * MAX_SUMS);
            let what = format!("the cross-products of {width} columns");
            return Err(Error::Memory { what, needed, budget, instead: "" });
        }
        let chunk = Chunk { rows: *batch.rows(), targets, n_targets, weights: batch.weights() };
        let other = Scatter { n_columns: width, n_targets, sums: chunk.sums()? };
        self.merge(&other)
    }

    /// The number of columns, without the targets.
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

    /// Cross-products of the centered columns, or around zero.
    ///
    /// # Errors
    /// If there are no rows, or values are too large to square.
    pub fn moments(&self, centered: bool) -> Result<CrossProducts> {
        let moments = match &self.sums {
            Sums::None => return Err(Error::NoRows),
            Sums::Plain(plain) if centered => plain.centered(self.n_columns),
            Sums::Plain(plain) => plain.to_double_double().moments(self.n_columns, false, false),
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
            (Sums::Wide(mine), Sums::Plain(theirs)) => mine.add(&theirs.to_double_double()),
            (Sums::Plain(mine), Sums::Wide(theirs)) => {
                let mut sum = mine.to_double_double();
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
        let (weight, removed) = (self.weight(), other.weight());
        let left = weight - removed;
        if left < -RELATIVE_RESIDUE * weight.max(removed) {
            let why = format!(
                "the rows have weight {weight}, which is less than the {removed} to remove"
            );
            return Err(Error::Forget { why });
        }
        self.check_width(other.n_columns, other.n_targets)?;
        if left <= RELATIVE_RESIDUE * weight {
            *self = Scatter::default();
            return Ok(());
        }
        let sums = match (&self.sums, &other.sums) {
            (Sums::Plain(mine), Sums::Plain(theirs)) => Sums::Plain(mine.without(theirs, left)),
            (mine, theirs) => {
                let (Some(mut mine), Some(mut theirs)) =
                    (mine.to_double_double(), theirs.to_double_double())
                else {
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
            let why = format!(
                "column {} would have a negative variance: these rows were not part of the training data",
                j + 1
            );
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
        // Removing rows may leave a rounding residue below zero.
        let largest = squares.diag().iter().fold(0.0, |a: f64, v| a.max(v.abs()));
        if fits && last < 1 << 16 && squares.diag().iter().all(|v| *v >= -1e-6 * largest) {
            Ok(())
        } else {
            Err(Error::File("inconsistent cross-products".into()))
        }
    }

    /// A square of sums takes long to merge, so a chunk has many rows per column, which also makes it well conditioned.
    fn chunk_rows(n_columns: usize, layout: Layout) -> usize {
        let plain = parallel::chunk_rows(n_columns, layout);
        let many = (32 * n_columns).next_power_of_two();
        let most = (MAX_CHUNK_CELLS / n_columns.max(1)).max(2).next_power_of_two() / 2;
        plain.max(many.min(most))
    }

    fn bytes(_n_classes: usize, n_columns: usize) -> u64 {
        16 * (n_columns as u64 + 2).pow(2)
    }
}

impl Sums {
    fn to_double_double(&self) -> Option<DoubleDoubleSums> {
        match self {
            Sums::None => None,
            Sums::Plain(plain) => Some(plain.to_double_double()),
            Sums::Wide(wide) => Some(wide.clone()),
        }
    }
}

impl DoubleSums {
    fn merge(&mut self, other: &DoubleSums) {
        let weight = self.weight + other.weight;
        if weight <= 0.0 {
            return;
        }
        let fraction = other.weight / weight;
        let cross = self.weight * fraction;
        let deltas: Vec<f64> = other.means.iter().zip(&self.means).map(|(b, a)| b - a).collect();
        let theirs = other.products.outer_iter();
        for ((i, mut row), other) in self.products.outer_iter_mut().enumerate().zip(theirs) {
            let scaled = deltas[i] * cross;
            for ((s, o), d) in row.iter_mut().zip(other).zip(&deltas).take(i + 1) {
                *s += o + scaled * d;
            }
        }
        self.means.iter_mut().zip(&deltas).for_each(|(m, d)| *m += d * fraction);
        self.weight = weight;
    }

    /// The inverse of `merge`, where `left` is the remaining weight.
    fn without(&self, other: &DoubleSums, left: f64) -> DoubleSums {
        let fraction = other.weight / left;
        let means: Vec<f64> =
            self.means.iter().zip(&other.means).map(|(m, o)| m + (m - o) * fraction).collect();
        let cross = left / self.weight * other.weight;
        let deltas: Vec<f64> = other.means.iter().zip(&means).map(|(b, a)| b - a).collect();
        let mut products = &self.products - &other.products;
        for (i, mut row) in products.outer_iter_mut().enumerate() {
            let scaled = deltas[i] * cross;
            row.iter_mut().zip(&deltas).take(i + 1).for_each(|(s, d)| *s -= scaled * d);
        }
        DoubleSums { weight: left, means, products }
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
    fn to_double_double(&self) -> DoubleDoubleSums {
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
        DoubleDoubleSums { high: sums.high, low: sums.low }
    }
}

impl DoubleDoubleSums {
    fn weight(&self) -> DoubleDouble {
        let last = self.high.nrows() - 1;
        DoubleDouble { high: self.high[[last, last]], low: self.low[[last, last]] }
    }

    fn add(&mut self, other: &DoubleDoubleSums) {
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

impl DoubleSums {
    /// Whether the varying columns have a small condition number.
    fn is_well_conditioned(&self, d: usize) -> bool {
        let scales: Vec<f64> = self.products.diag().iter().map(|s| s.max(0.0).sqrt()).collect();
        // The residue of a constant column is the rounding error of its mean.
        let varies = |j: &usize| {
            scales[*j] > 1e-14 * (self.weight.sqrt() * self.means[*j].abs() + f64::MIN_POSITIVE)
        };
        let varying: Vec<usize> = (0..d).filter(varies).collect();
        let scaled = Matrix::from_shape_fn((varying.len(), varying.len()), |(i, j)| {
            let (i, j) = (varying[i.max(j)], varying[i.min(j)]);
            self.products[[i, j]] / (scales[i] * scales[j])
        });
        let norm = |m: &Matrix| {
            let sums = m.columns().into_iter().map(|c| c.iter().map(|v| v.abs()).sum::<f64>());
            sums.fold(0.0, f64::max)
        };
        Cholesky::of(scaled.view())
            .is_some_and(|factor| factor.inverse_norm() * norm(&scaled) <= MAX_DOUBLE_CONDITION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::Rows;
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
    fn double_sums_agree_with_double_double_sums() {
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
    fn nearly_collinear_columns_need_double_double_sums_and_constant_ones_do_not() {
        let (mut x, y) = noise(2000, 4);
        x.column_mut(2).fill(0.1);
        assert!(matches!(scatter(&x, &y).sums, Sums::Plain(_)));

        for i in 0..2000 {
            x[[i, 3]] = x[[i, 0]] + 1e-4 * x[[i, 1]];
        }

        assert!(matches!(scatter(&x, &y).sums, Sums::Wide(_)));
    }

    #[test]
    fn double_sums_merge_and_forget() {
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
    fn sparse_rows_give_the_sums_of_dense_ones() {
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
        let sparse: mercer_num::Sparse = cells.to_csr();
        let weights: Vec<f64> = (0..1500).map(|i| f64::from(i % 3)).collect();
        fn of<'a>(rows: Rows<'a>, y: &'a [f64], weights: &'a [f64]) -> CrossProducts {
            let mut out = Scatter::default();
            let data = Dataset::regression(rows, y).unwrap().weighted(weights).unwrap();
            out.push_rows(&data).unwrap();
            out.moments(true).unwrap()
        }

        let (dense, sparse) =
            (of(Rows::from(&x), &y, &weights), of(Rows::from(&sparse), &y, &weights));

        for (a, b) in dense.products.high.iter().zip(&sparse.products.high) {
            assert!((a - b).abs() < 1e-9, "{a} and {b}");
        }
    }
}
