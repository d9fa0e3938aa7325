//! A symmetric kernel matrix that is too large to store: the solver requests its columns in blocks.
//!
//! The trait plays the part of `QMatrix` in LIBSVM. Every call computes a whole block, so dynamic dispatch costs nothing
//! measurable, and the solver does not depend on how kernel values are computed.

/// A symmetric matrix `K` whose columns are computed on request, with values of type `T`.
pub trait Columns<T>: Send + Sync {
    /// The number of rows, which is also the number of columns.
    fn n_rows(&self) -> usize;

    /// `Kᵢᵢ` of every row.
    fn diagonal(&self) -> Vec<T>;

    /// The whole matrix in row-major order, computed on the calling thread.
    fn matrix(&self) -> Vec<T>;

    /// The principal submatrix with the given rows and columns, in their order.
    fn submatrix(&self, indices: &[u32]) -> Box<dyn Columns<T>>;

    /// Computes the columns with the given indices on all threads; every output has `n_rows` values.
    ///
    /// # Panics
    /// If the number of outputs or the length of one of them does not fit.
    fn compute(&self, indices: &[u32], out: &mut [&mut [T]]);

    /// `Σₖ coefficients[k] K(:, indices[k])` for every list of coefficients, summed in double precision.
    fn combine(&self, indices: &[u32], coefficients: &[Vec<f64>]) -> Vec<Vec<f64>>;
}

#[cfg(test)]
pub(super) mod test_matrix {
    use super::Columns;
    use mercer_num::{Float, Matrix};

    /// A kernel matrix in memory, for tests of the solvers.
    #[derive(Clone)]
    pub(crate) struct TestMatrix<T> {
        n: usize,
        values: Vec<T>,
    }

    impl<T: Float> TestMatrix<T> {
        pub fn rbf(x: &Matrix, gamma: f64) -> TestMatrix<T> {
            TestMatrix::of(x, |a, b| {
                let distance: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
                (-gamma * distance).exp()
            })
        }

        pub fn linear(x: &Matrix) -> TestMatrix<T> {
            TestMatrix::of(x, |a, b| a.iter().zip(b).map(|(a, b)| a * b).sum())
        }

        fn of(x: &Matrix, kernel: impl Fn(&[f64], &[f64]) -> f64) -> TestMatrix<T> {
            let rows: Vec<Vec<f64>> = x.outer_iter().map(|row| row.to_vec()).collect();
            let row =
                |a: &Vec<f64>| rows.iter().map(|b| T::narrow(kernel(a, b))).collect::<Vec<T>>();
            TestMatrix { n: rows.len(), values: rows.iter().flat_map(row).collect() }
        }

        fn row(&self, i: usize) -> &[T] {
            &self.values[i * self.n..(i + 1) * self.n]
        }

        /// `Kβ` in double precision.
        pub fn product(&self, beta: &[f64]) -> Vec<f64> {
            let dot = |i| self.row(i).iter().zip(beta).map(|(k, b)| (*k).into() * b).sum();
            (0..self.n).map(dot).collect()
        }
    }

    impl<T: Float> Columns<T> for TestMatrix<T> {
        fn n_rows(&self) -> usize {
            self.n
        }

        fn diagonal(&self) -> Vec<T> {
            (0..self.n).map(|i| self.row(i)[i]).collect()
        }

        fn matrix(&self) -> Vec<T> {
            self.values.clone()
        }

        fn submatrix(&self, indices: &[u32]) -> Box<dyn Columns<T>> {
            let rows = indices.iter().map(|i| self.row(*i as usize));
            let values = rows.flat_map(|row| indices.iter().map(|j| row[*j as usize])).collect();
            Box::new(TestMatrix { n: indices.len(), values })
        }

        fn compute(&self, indices: &[u32], out: &mut [&mut [T]]) {
            for (i, out) in indices.iter().zip(out) {
                out.copy_from_slice(self.row(*i as usize));
            }
        }

        fn combine(&self, indices: &[u32], coefficients: &[Vec<f64>]) -> Vec<Vec<f64>> {
            let product = |coefficients: &Vec<f64>| {
                let mut beta = vec![0.0; self.n];
                indices.iter().zip(coefficients).for_each(|(i, c)| beta[*i as usize] = *c);
                self.product(&beta)
            };
            coefficients.iter().map(product).collect()
        }
    }
}
