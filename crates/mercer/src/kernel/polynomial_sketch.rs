//! Tensor sketch: random features of the polynomial kernel.
//!
//! A count sketch adds every cell with a random sign to a random component. The circular convolution of `degree` count
//! sketches is the count sketch of all products of `degree` cells, and
//! `E φ(x)·φ(z) = (gamma x·z + coef0)ᵈᵉᵍʳᵉᵉ` (Pham & Pagh 2013).

use super::Function;
use super::approximation::{check_usable, sampled_certificate, sampled_error};
use crate::data::{check_cells, check_storage};
use crate::model::check_not_nan;
use crate::prelude::*;
use mercer_num::fourier::CircularConvolution;
use mercer_num::parallel::prelude::*;
use mercer_num::random::Random;
use mercer_num::rows::Missing;
use std::time::Instant;

/// Rows mapped by one thread at a time.
const ROWS_PER_BLOCK: usize = 64;

/// The largest number of components: a file cannot ask for more memory than a Fourier transform of this length takes.
const MAX_COMPONENTS: usize = 1 << 24;

params! {
    /// Tensor sketch: columns whose inner products approximate a polynomial kernel.
    pub struct PolynomialCountSketch {
        /// Coefficient of the inner product in the polynomial kernel.
        gamma: f64 = 1.0, AtLeast(0.0);
        /// Degree of the polynomial kernel.
        degree: usize = 2, Between(1.0, 1000.0);
        /// Independent term of the polynomial kernel `(gamma x·z + coef0)^degree`.
        coef0: f64 = 0.0, AtLeast(0.0);
        /// Number of features. The approximation error is inversely proportional to its square root.
        n_components: usize = 100, Between(1.0, 1e9);
        ..RandomState;
    }
    formula = "E φ(x)·φ(z) = (γ x·z + c₀)ᵈ,  φ the convolution of d count sketches";
    lecture = 13;
    attributes = [
        of_field(
            "indexHash_",
            "index_hash",
            "array",
            "ndarray of shape (degree, n_features)",
            "Component to which each count sketch adds each feature.",
        ),
        field("bitHash_", "bit_hash", "ndarray of shape (degree, n_features)", "Sign with which it adds it, 1 or -1."),
    ];
}

/// Places and signs for every factor of the product.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolynomialCountSketchModel {
    /// What inner products are multiplied by.
    pub gamma: f64,
    /// The constant that is added to inner products.
    pub coef0: f64,
    /// How many columns a row has.
    pub n_columns: usize,
    /// How many the new rows have.
    pub n_components: usize,
    /// Where each column goes, a list a factor; the constant, where there is one, is a column at the end.
    pub index_hash: Vec<Vec<u32>>,
    /// With which sign: 1 or -1.
    pub bit_hash: Matrix,
}

impl Fit for PolynomialCountSketch {
    type Model = PolynomialCountSketchModel;

    /// Draws places and signs; of the rows only the width is looked at.
    fn fit(
        &self,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<PolynomialCountSketchModel>> {
        let start = Instant::now();
        self.check()?;
        check_usable(data, monitor)?;
        let PolynomialCountSketch { gamma, degree, coef0, n_components, random_state } = *self;
        if n_components > MAX_COMPONENTS {
            return Err(Error::Parameter {
                name: "n_components".into(),
                found: n_components.to_string(),
                expected: format!("at most {MAX_COMPONENTS}"),
            });
        }
        let width = data.n_columns() + usize::from(coef0 != 0.0);
        monitor.reserve("places and signs of columns", 12 * (degree * width) as u64)?;
        // Twiddle factors and buffers of the Fourier transform, and the features of one row.
        monitor.reserve("the features of a row", 96 * n_components as u64)?;
        let mut random = Random::new(random_state as u64);
        let mut places = || (0..width).map(|_| random.below(n_components) as u32).collect();
        let index_hash = (0..degree).map(|_| places()).collect();
        let bit_hash =
            Matrix::from_shape_simple_fn((degree, width), || [-1.0, 1.0][random.below(2)]);
        let n_columns = data.n_columns();
        let model = PolynomialCountSketchModel {
            gamma,
            coef0,
            n_columns,
            n_components,
            index_hash,
            bit_hash,
        };
        let kernel = Function::poly(degree, gamma, coef0);
        let value = |x: &[f64], z: &[f64]| kernel.value(x, z);
        let error = sampled_error(data.rows(), n_components, |x| model.transform(x), value)?;
        monitor.report(degree as u64, Some(degree as u64));
        Ok(Fitted { certificate: sampled_certificate(data, error, None, start), model })
    }
}

impl PolynomialCountSketchModel {
    /// The count sketch of one factor.
    fn sketch(&self, factor: usize, cells: &[(usize, f64)], out: &mut [f64]) {
        let (places, signs) = (&self.index_hash[factor], self.bit_hash.row(factor));
        out.fill(0.0);
        for (j, v) in cells {
            out[places[*j] as usize] += signs[*j] * v;
        }
    }

    /// The cells of a row that are there, in units of the kernel, the constant at the end.
    fn cells(&self, x: &Rows<'_>, i: usize) -> Vec<(usize, f64)> {
        let unit = self.gamma.sqrt();
        let mut out: Vec<(usize, f64)> = match x {
            Rows::Sparse(x) => {
                let (columns, values) = x.row(i);
                columns.iter().zip(values).map(|(j, v)| (*j as usize, unit * v)).collect()
            }
            _ => x.row(i).iter().map(|v| unit * v).enumerate().collect(),
        };
        if self.coef0 != 0.0 {
            out.push((self.n_columns, self.coef0.sqrt()));
        }
        out
    }
}

impl Transformer for PolynomialCountSketchModel {
    fn n_inputs(&self) -> usize {
        self.n_columns
    }

    fn n_outputs(&self) -> usize {
        self.n_components
    }

    fn transform(&self, x: &Rows<'_>) -> Result<Matrix> {
        check_storage(x)?;
        let (found, expected) = (x.n_columns(), self.n_columns);
        if found != expected {
            return Err(Error::Columns { found, expected });
        }
        check_cells(x, Missing::Refused)?;
        let m = self.n_components;
        let ring = CircularConvolution::new(m);
        let mut out = Matrix::zeros((x.n_rows(), m));
        let all = out.as_slice_mut().unwrap_or_default();
        all.par_chunks_mut(ROWS_PER_BLOCK * m).enumerate().for_each(|(k, out)| {
            let (mut next, mut room) = (vec![0.0; m], Vec::new());
            for (i, out) in out.chunks_exact_mut(m).enumerate() {
                let cells = self.cells(x, k * ROWS_PER_BLOCK + i);
                self.sketch(0, &cells, out);
                for factor in 1..self.index_hash.len() {
                    self.sketch(factor, &cells, &mut next);
                    ring.convolve(out, &next, &mut room);
                }
            }
        });
        check_not_nan(out.as_slice().unwrap_or_default(), m)?;
        Ok(out)
    }
}

impl Check for PolynomialCountSketchModel {
    fn check(&self) -> Result<()> {
        let width = self.n_columns + usize::from(self.coef0 != 0.0);
        let places = |list: &Vec<u32>| {
            list.len() == width && list.iter().all(|k| (*k as usize) < self.n_components)
        };
        let fits = self.n_columns > 0
            && (1..=MAX_COMPONENTS).contains(&self.n_components)
            && !self.index_hash.is_empty()
            && self.index_hash.iter().all(places)
            && self.bit_hash.dim() == (self.index_hash.len(), width)
            && self.bit_hash.iter().all(|s| s.abs() == 1.0)
            && [self.gamma, self.coef0].iter().all(|v| v.is_finite() && *v >= 0.0);
        if fits { Ok(()) } else { Err(Error::File("a sketch that nobody drew".into())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_products_are_right_on_average() {
        let mut random = Random::new(1);
        let x = Matrix::from_shape_simple_fn((5, 6), || random.normal());
        let params = PolynomialCountSketch::new().degree(3).gamma(0.2).coef0(1.0).n_components(64);
        let kernel = Function::poly(3, 0.2, 1.0);
        let (mut sums, mut squares) = (Matrix::zeros((5, 5)), Matrix::zeros((5, 5)));

        for seed in 0..400 {
            let params = params.clone().random_state(seed);
            let model = params.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();
            let new = model.transform(&Rows::from(&x)).unwrap();
            let products = new.dot(&new.t());
            squares += &(&products * &products);
            sums += &products;
        }

        for ((i, j), sum) in sums.indexed_iter() {
            let mean = sum / 400.0;
            let spread = (squares[[i, j]] / 400.0 - mean * mean).max(0.0).sqrt();
            let value = kernel.value(&x.row(i).to_vec(), &x.row(j).to_vec());
            assert!((mean - value).abs() <= 5.0 * spread / 20.0 + 1e-12, "{mean} and {value}");
        }
    }
}
