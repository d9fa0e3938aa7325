//! Polynomial features: all monomials of the columns up to a degree.
//!
//! `φ(x) = (1, x₁, …, x_n, x₁², x₁x₂, …)`, by degree and within a degree in the order of the columns. With
//! `kernel` every product `x^e` of degree `k` is multiplied by
//! `√(gammaᵏ coef0ᵈ⁻ᵏ d! / ((d − k)! e₁! … e_n!))`, and then `φ(x)·φ(z) = (gamma x·z + coef0)ᵈ`, by the
//! multinomial theorem.

use super::Function;
use super::approximation::{check_usable, sampled_error};
use crate::data::{check_cells, check_storage};
use crate::model::check_not_nan;
use crate::model::{Cached, ParamValue, Rule};
use crate::prelude::*;
use mercer_num::parallel::prelude::*;
use mercer_num::rows::Missing;
use ndarray::Array2;
use std::ops::Mul;
use std::time::Instant;

/// Rows written by one thread at a time.
const ROWS_PER_BLOCK: usize = 64;
/// Most products there may be.
const MOST: usize = i32::MAX as usize;

/// The largest degree, or the smallest and the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Degrees {
    /// Up to this.
    UpTo(usize),
    /// From the first to the second, and the constant where it is asked for.
    Between(usize, usize),
}

impl ParamValue for Degrees {
    const TYPE: &'static str = "int or pair of int";

    fn obeys(&self, rule: Rule) -> bool {
        let (low, high) = self.ends();
        low <= high && high.obeys(rule)
    }
}

impl Degrees {
    fn ends(self) -> (usize, usize) {
        match self {
            Degrees::UpTo(high) => (0, high),
            Degrees::Between(low, high) => (low, high),
        }
    }
}

choice! {
    /// How the cells of a matrix follow each other in memory.
    pub enum Order {
        /// Row after row.
        Rows = "C",
        /// Column after column.
        Columns = "F",
    }
}

params! {
    /// Polynomial features: all monomials of the columns up to a degree.
    pub struct PolynomialFeatures {
        /// Maximum degree of the monomials, or a pair of their minimum and maximum degree.
        degree: Degrees = Degrees::UpTo(2), Between(0.0, 100.0);
        /// Omit powers: only products of distinct columns.
        interaction_only: bool = false, Any;
        /// Include the monomial of degree zero, a column of ones.
        include_bias: bool = true, Any;
        /// Memory layout of the dense result in Python: row-major (`C`) or column-major (`F`).
        order: Order = Order::Rows, OneOf(Order::VALUES);
        /// Scale the monomials such that inner products of the features equal the polynomial kernel
        /// `(gamma x·z + coef0)ᵈᵉᵍʳᵉᵉ`.
        kernel: bool = false, Any;
        /// Coefficient of the inner product in the polynomial kernel.
        gamma: f64 = 1.0, AtLeast(0.0);
        /// Independent term of the polynomial kernel `(gamma x·z + coef0)^degree`.
        coef0: f64 = 1.0, AtLeast(0.0);
    }
    formula = "φ(x) = (1, x₁, …, xₙ, x₁², x₁x₂, …),  all monomials up to the degree";
    lecture = 13;
    attributes = [
        of_model(
            "powers_",
            "powers",
            "ndarray of shape (n_output_features_, n_features)",
            "Exponent of each feature in each monomial.",
        ),
        of_model("n_output_features_", "output_count_of_model", "int", "Number of monomials."),
    ];
    sklearn {
        positional: &["degree"],
    }
}

/// The degrees of the monomials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolynomialFeaturesModel {
    /// How many columns a row has.
    pub n_columns: usize,
    /// The smallest degree beside the constant.
    pub min_degree: usize,
    /// The largest degree.
    pub max_degree: usize,
    /// Whether no column may occur twice in a product.
    pub interaction_only: bool,
    /// Whether the constant is there.
    pub include_bias: bool,
    /// The `gamma` and `coef0` of the kernel that the new rows have as their inner products, where they
    /// have one.
    pub kernel: Option<(f64, f64)>,
    #[serde(skip)]
    ready: Cached<Levels>,
}

/// The products of each degree, in order.
#[derive(Debug)]
struct Levels {
    /// For each degree from one on, where the products that begin with each column start, and where the
    /// last ends.
    starts: Vec<Vec<usize>>,
    /// What each product is multiplied by; empty for nothing.
    scales: Vec<f64>,
}

impl Fit for PolynomialFeatures {
    type Model = PolynomialFeaturesModel;

    /// Of the rows only the width is looked at.
    fn fit(
        &self,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<PolynomialFeaturesModel>> {
        let start = Instant::now();
        self.check()?;
        check_usable(data, monitor)?;
        let model = self.model(data.n_columns())?;
        monitor.reserve("the places of products", 16 * model.n_outputs() as u64)?;
        let mut certificate = Certificate::closed_form().rows(data.n_rows() as u64);
        if let Some((gamma, coef0)) = model.kernel {
            let kernel = Function::poly(model.max_degree, gamma, coef0);
            let error = sampled_error(
                data.rows(),
                model.n_outputs(),
                |x| model.transform(x),
                |x, z| kernel.value(x, z),
            )?;
            certificate =
                certificate.violation("root mean square error of sampled kernel values", error);
        }
        monitor.report(1, Some(1));
        Ok(Fitted { model, certificate: certificate.since(start) })
    }
}

impl PolynomialFeatures {
    fn model(&self, n_columns: usize) -> Result<PolynomialFeaturesModel> {
        let refuse = |name: &str, found: String, expected: &str| {
            Err(Error::Parameter { name: name.into(), found, expected: expected.into() })
        };
        let (mut min_degree, max_degree) = self.degree.ends();
        let mut include_bias = self.include_bias;
        if self.kernel {
            if self.interaction_only {
                return refuse("interaction_only", "true".into(), "false where `kernel` is true");
            }
            if matches!(self.degree, Degrees::Between(..)) {
                return refuse(
                    "degree",
                    format!("{:?}", self.degree),
                    "one number where `kernel` is true",
                );
            }
            if !include_bias && self.coef0 > 0.0 {
                return refuse(
                    "include_bias",
                    "false".into(),
                    "true where `kernel` is true and coef0 is not 0",
                );
            }
            // Without a constant only products of the full degree count.
            if self.coef0 == 0.0 {
                (min_degree, include_bias) = (max_degree, max_degree == 0);
            }
        }
        let model = PolynomialFeaturesModel {
            n_columns,
            min_degree: min_degree.max(1),
            max_degree,
            interaction_only: self.interaction_only,
            include_bias,
            kernel: self.kernel.then_some((self.gamma, self.coef0)),
            ready: Cached::default(),
        };
        match model.counted() {
            None => refuse(
                "degree",
                format!("{:?}", self.degree),
                &format!(
                    "smaller: of {n_columns} columns there would be more than {MOST} products"
                ),
            ),
            Some(0) => refuse(
                "degree",
                format!("{:?}", self.degree),
                "larger, or `include_bias` true: no product is left",
            ),
            Some(_) => Ok(model),
        }
    }
}

impl PolynomialFeaturesModel {
    /// How many products of a degree there are; `None` where they are too many to count.
    fn of_degree(&self, k: usize) -> Option<usize> {
        let n = self.n_columns as u128;
        // Choosing with repetition is choosing from more.
        let from = if self.interaction_only { n } else { (n + k as u128).checked_sub(1)? };
        if (k as u128) > from {
            return Some(0);
        }
        let mut count: u128 = 1;
        for i in 0..(k as u128).min(from - k as u128) {
            count = count.checked_mul(from - i)? / (i + 1);
            if count > MOST as u128 {
                return None;
            }
        }
        usize::try_from(count).ok()
    }

    /// How many products there are, those of degrees that are only on the way included in the bound.
    fn counted(&self) -> Option<usize> {
        let mut wanted = usize::from(self.include_bias);
        let mut all = 1usize;
        for k in 1..=self.max_degree {
            let n = self.of_degree(k)?;
            all = all.checked_add(n).filter(|n| *n <= MOST)?;
            wanted += if k >= self.min_degree { n } else { 0 };
        }
        Some(wanted)
    }

    fn levels(&self) -> &Levels {
        self.ready.get(|| {
            let n = self.n_columns;
            let mut starts: Vec<Vec<usize>> = Vec::with_capacity(self.max_degree);
            for k in 1..=self.max_degree {
                let mut at = 0;
                let mut level = Vec::with_capacity(n + 1);
                for i in 0..n {
                    level.push(at);
                    at += match k {
                        1 => 1,
                        // What may follow column i.
                        _ => starts[k - 2][n] - starts[k - 2][self.next(i)],
                    };
                }
                level.push(at);
                starts.push(level);
            }
            let scales = match self.kernel {
                Some((gamma, coef0)) => self.scales(gamma, coef0),
                None => Vec::new(),
            };
            Levels { starts, scales }
        })
    }

    /// The first column that may follow a column in a product.
    fn next(&self, i: usize) -> usize {
        i + usize::from(self.interaction_only)
    }

    fn scales(&self, gamma: f64, coef0: f64) -> Vec<f64> {
        let d = self.max_degree as i32;
        let scale = |product: &[usize]| {
            let k = product.len();
            // d! / (d − k)!, over the factorial of how often each column occurs.
            let ways: f64 = (0..k).map(|i| (self.max_degree - i) as f64).product();
            let same: f64 = product
                .chunk_by(|a, b| a == b)
                .map(|run| (1..=run.len()).map(|i| i as f64).product::<f64>())
                .product();
            let k = k as i32;
            (ways / same * gamma.powi(k) * coef0.powi(d - k)).sqrt()
        };
        self.products().iter().map(|product| scale(product)).collect()
    }

    /// The columns of every product, in order.
    pub fn products(&self) -> Vec<Vec<usize>> {
        let mut out = if self.include_bias { vec![Vec::new()] } else { Vec::new() };
        let mut level: Vec<Vec<usize>> = vec![Vec::new()];
        for k in 1..=self.max_degree {
            let longer = |product: &Vec<usize>| {
                let from = product.last().map_or(0, |last| self.next(*last));
                let product = product.clone();
                (from..self.n_columns).map(move |j| [&product[..], &[j]].concat())
            };
            level = level.iter().flat_map(longer).collect();
            if k >= self.min_degree {
                out.extend(level.iter().cloned());
            }
        }
        out
    }

    fn check_rows(&self, x: &Rows<'_>) -> Result<()> {
        check_storage(x)?;
        let (found, expected) = (x.n_columns(), self.n_columns);
        if found != expected {
            return Err(Error::Columns { found, expected });
        }
        check_cells(x, Missing::Refused)
    }

    /// The products of one row: each degree is the one before, times a column; a run of products that
    /// begin with the same column is one sweep.
    fn write<T: Copy + Mul<Output = T>>(
        &self,
        row: &[T],
        one: T,
        room: &mut Vec<T>,
        out: &mut [T],
    ) {
        let starts = &self.levels().starts;
        let mut at = 0;
        if self.include_bias {
            out[0] = one;
            at = 1;
        }
        room.clear();
        let mut before = 0;
        for k in 1..=self.max_degree {
            let first = room.len();
            match k {
                1 => room.extend_from_slice(row),
                _ => {
                    let last = &starts[k - 2];
                    for (i, x) in row.iter().enumerate() {
                        let range = before + last[self.next(i)]..before + last[self.n_columns];
                        for p in range {
                            let product = *x * room[p];
                            room.push(product);
                        }
                    }
                }
            }
            before = first;
            if k >= self.min_degree {
                let new = &room[first..];
                out[at..at + new.len()].copy_from_slice(new);
                at += new.len();
            }
        }
    }

    /// The same up to degree two, straight into its place.
    fn write_square<T: Copy + Mul<Output = T>>(&self, row: &[T], one: T, out: &mut [T]) {
        let (bias, out) = out.split_at_mut(usize::from(self.include_bias));
        bias.fill(one);
        let (plain, mut out) = out.split_at_mut(if self.min_degree == 1 { row.len() } else { 0 });
        plain.copy_from_slice(&row[..plain.len()]);
        for (i, x) in row.iter().enumerate() {
            let others = &row[self.next(i)..];
            let (own, rest) = out.split_at_mut(others.len());
            own.iter_mut().zip(others).for_each(|(to, other)| *to = *x * *other);
            out = rest;
        }
    }

    /// The new rows, of rows whose cells are read by `read`.
    fn map<T: Copy + Default + Mul<Output = T> + Send + Sync>(
        &self,
        n_rows: usize,
        one: T,
        narrow: impl Fn(f64) -> T + Sync,
        read: impl Fn(usize) -> Vec<T> + Sync,
    ) -> Array2<T> {
        let width = self.n_outputs();
        let scales: Vec<T> = self.levels().scales.iter().map(|s| narrow(*s)).collect();
        let mut out = vec![T::default(); n_rows * width];
        out.par_chunks_mut(ROWS_PER_BLOCK * width).enumerate().for_each(|(k, out)| {
            let mut room = Vec::new();
            for (i, out) in out.chunks_exact_mut(width).enumerate() {
                let row = read(k * ROWS_PER_BLOCK + i);
                match self.max_degree {
                    2 => self.write_square(&row, one, out),
                    _ => self.write(&row, one, &mut room, out),
                }
                out.iter_mut().zip(&scales).for_each(|(to, scale)| *to = *to * *scale);
            }
        });
        Array2::from_shape_vec((n_rows, width), out).expect("rows of one width")
    }

    /// Where a product stands among those of its degree.
    fn place(&self, product: &[usize]) -> usize {
        let starts = &self.levels().starts;
        // Summed apart, because the difference of the first terms may be negative.
        let (mut before, mut skipped) = (0, 0);
        for (k, i) in product.iter().enumerate() {
            let left = product.len() - k;
            before += starts[left - 1][*i];
            if left > 1 {
                skipped += starts[left - 2][self.next(*i)];
            }
        }
        before - skipped
    }

    /// Adds the products of the cells of a sparse row that are there.
    fn push_sparse(&self, cells: &[(usize, f64)], columns: &mut Vec<i32>, values: &mut Vec<f64>) {
        let starts = &self.levels().starts;
        let mut at = usize::from(self.include_bias);
        if self.include_bias {
            columns.push(0);
            values.push(1.0);
        }
        // Products by the places of their cells, so that a product is only ever made longer.
        let mut level: Vec<(Vec<usize>, f64)> = vec![(Vec::new(), 1.0)];
        for k in 1..=self.max_degree {
            let mut longer = Vec::new();
            for (product, value) in &level {
                let from = product.last().map_or(0, |last| self.next(*last));
                for (p, (_, x)) in cells.iter().enumerate().skip(from) {
                    longer.push(([&product[..], &[p]].concat(), value * x));
                }
            }
            level = longer;
            if k >= self.min_degree {
                for (product, value) in &level {
                    let product: Vec<usize> = product.iter().map(|p| cells[*p].0).collect();
                    columns.push((at + self.place(&product)) as i32);
                    values.push(*value);
                }
                at += starts[k - 1][self.n_columns];
            }
        }
    }
}

impl Transformer for PolynomialFeaturesModel {
    fn n_inputs(&self) -> usize {
        self.n_columns
    }

    fn n_outputs(&self) -> usize {
        self.counted().unwrap_or(0)
    }

    fn transform(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_rows(x)?;
        let out = self.map(x.n_rows(), 1.0, |v| v, |i| x.row(i));
        check_not_nan(out.as_slice().unwrap_or_default(), self.n_outputs())?;
        Ok(out)
    }

    fn transform_f32(&self, x: &Rows<'_>) -> Result<Array2<f32>> {
        self.check_rows(x)?;
        let row = |i: usize| x.row(i).iter().map(|v| *v as f32).collect();
        Ok(self.map(x.n_rows(), 1.0, |v| v as f32, row))
    }

    fn transform_sparse(&self, x: &Rows<'_>) -> Result<Option<Sparse>> {
        let Rows::Sparse(view) = x else { return Ok(None) };
        self.check_rows(x)?;
        let whole = view.sum_duplicates();
        let view = whole.view();
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let rows: Vec<(Vec<i32>, Vec<f64>)> = (0..x.n_rows())
            .into_par_iter()
            .map(|i| {
                let (places, cells) = view.row(i);
                let cells: Vec<(usize, f64)> = (places.iter().zip(cells))
                    .filter(|(_, v)| **v != 0.0)
                    .map(|(j, v)| (*j as usize, *v))
                    .collect();
                let (mut columns, mut values) = (Vec::new(), Vec::new());
                self.push_sparse(&cells, &mut columns, &mut values);
                let scales = &self.levels().scales;
                if !scales.is_empty() {
                    values.iter_mut().zip(&columns).for_each(|(v, j)| *v *= scales[*j as usize]);
                }
                (columns, values)
            })
            .collect();
        for (some, with) in rows {
            columns.extend(some);
            values.extend(with);
            offsets.push(columns.len());
        }
        Ok(Some(Sparse::new((x.n_rows(), self.n_outputs()), offsets, columns, values)))
    }

    /// As scikit-learn writes them: `1`, `x0`, `x0^2`, `x0 x1`.
    fn feature_names_out(&self, inputs: &[String]) -> Option<Vec<String>> {
        let name = |product: &Vec<usize>| {
            let factors = product.chunk_by(|a, b| a == b).map(|run| match run.len() {
                1 => inputs[run[0]].clone(),
                n => format!("{}^{n}", inputs[run[0]]),
            });
            let name = factors.collect::<Vec<_>>().join(" ");
            if name.is_empty() { "1".to_owned() } else { name }
        };
        (inputs.len() == self.n_columns).then(|| self.products().iter().map(name).collect())
    }
}

impl Check for PolynomialFeaturesModel {
    fn check(&self) -> Result<()> {
        let kernel = self.kernel.is_none_or(|(gamma, coef0)| {
            [gamma, coef0].iter().all(|v| v.is_finite() && *v >= 0.0) && !self.interaction_only
        });
        let fits = self.n_columns > 0
            && self.max_degree <= 100
            // The bias alone has no degree: it is stored as degrees from one to zero.
            && (1..=self.max_degree.max(1)).contains(&self.min_degree)
            && kernel
            && self.counted().is_some_and(|n| n > 0);
        if fits { Ok(()) } else { Err(Error::File("products that no fit could have made".into())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;

    fn fitted(params: &PolynomialFeatures, x: &Matrix) -> Fitted<PolynomialFeaturesModel> {
        params.fit(&Dataset::unlabeled(x), &Monitor::quiet()).unwrap()
    }

    #[test]
    fn products_are_those_of_the_board() {
        // 1, a, b, a², ab, b² of (2, 3).
        let x = ndarray::array![[2.0, 3.0]];

        let model = fitted(&PolynomialFeatures::new(), &x);

        let new = model.transform(&Rows::from(&x)).unwrap();
        assert_eq!(new.row(0).to_vec(), [1.0, 2.0, 3.0, 4.0, 6.0, 9.0]);
        let names = model.feature_names_out(&["a".into(), "b".into()]).unwrap();
        assert_eq!(names, ["1", "a", "b", "a^2", "a b", "b^2"]);
        let cubes = PolynomialFeatures::new().degree(Degrees::Between(2, 3)).interaction_only(true);
        let x = ndarray::array![[2.0, 3.0, 5.0]];
        let new = fitted(&cubes, &x).transform(&Rows::from(&x)).unwrap();
        assert_eq!(new.row(0).to_vec(), [1.0, 6.0, 10.0, 15.0, 30.0]);
    }

    #[test]
    fn interactions_of_sparse_rows_equal_those_of_dense_rows() {
        // The index of the product of columns 0 and 1 underflowed while it was summed.
        let x = ndarray::array![[0.0, 1.0, 3.0], [2.0, 3.0, 0.0], [4.0, 5.0, 6.0]];
        let csr = mercer_num::sparse::CsrMatrix::from_dense(&Rows::from(&x), 1.0).unwrap();
        for degrees in [Degrees::Between(1, 2), Degrees::Between(2, 3), Degrees::Between(3, 3)] {
            let params = PolynomialFeatures::new().degree(degrees).interaction_only(true);
            let model = fitted(&params, &x);

            let sparse = model.transform_sparse(&Rows::Sparse(csr.view())).unwrap().unwrap();

            assert_eq!(sparse.to_dense(), model.transform(&Rows::from(&x)).unwrap());
        }
    }

    #[test]
    fn inner_products_are_the_kernel() {
        let mut random = Random::new(4);
        let x = Matrix::from_shape_simple_fn((12, 4), || random.normal());
        for (degree, gamma, coef0) in [(1, 1.0, 0.5), (2, 0.7, 1.0), (3, 0.2, 2.0), (4, 1.5, 0.0)] {
            let params = PolynomialFeatures::new()
                .degree(Degrees::UpTo(degree))
                .kernel(true)
                .gamma(gamma)
                .coef0(coef0);

            let model = fitted(&params, &x);

            let new = model.transform(&Rows::from(&x)).unwrap();
            let products = new.dot(&new.t());
            let kernel = Function::poly(degree, gamma, coef0);
            for ((i, j), found) in products.indexed_iter() {
                let exact = kernel.value(&x.row(i).to_vec(), &x.row(j).to_vec());
                assert!((found - exact).abs() < 1e-12 * exact.abs().max(1.0), "{found} {exact}");
            }
            assert!(model.certificate.violation.as_ref().unwrap().value < 1e-11);
        }
    }

    #[test]
    fn too_many_products_and_none_are_refused() {
        let x = Matrix::zeros((1, 200));
        let refused = |params: PolynomialFeatures| {
            params.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap_err().to_string()
        };

        assert!(refused(PolynomialFeatures::new().degree(Degrees::UpTo(9))).contains("more than"));
        let none = PolynomialFeatures::new().degree(Degrees::UpTo(0)).include_bias(false);
        assert!(refused(none).contains("no product"));
        assert!(
            refused(PolynomialFeatures::new().degree(Degrees::Between(3, 2))).contains("degree")
        );
        let both = PolynomialFeatures::new().kernel(true).interaction_only(true);
        assert!(refused(both).contains("interaction_only"));
    }
}
