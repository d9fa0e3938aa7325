//! The kernel matrix of a set of rows, as solvers request it.

use super::KernelRows;
use crate::solver::Columns;
use mercer_num::Float;

impl<T: Float> Columns<T> for KernelRows<T> {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn diagonal(&self) -> Vec<T> {
        KernelRows::diagonal(self)
    }

    fn matrix(&self) -> Vec<T> {
        self.gram()
    }

    fn submatrix(&self, indices: &[u32]) -> Box<dyn Columns<T>> {
        Box::new(self.select(indices))
    }

    fn compute(&self, indices: &[u32], out: &mut [&mut [T]]) {
        self.columns(indices, self, out);
    }

    fn combine(&self, indices: &[u32], coefficients: &[Vec<f64>]) -> Vec<Vec<f64>> {
        self.select(indices).weighted_tables(coefficients, self)
    }
}
