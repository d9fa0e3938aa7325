//! Products with some of the dense rows: the active ones, which are few close to the optimum.

use super::{DesignMatrix, MAX_BLOCKS, ROWS_PER_PANEL, panel_times_weights};
use mercer_num::linalg::add_transposed_product;
use mercer_num::parallel::prelude::*;
use mercer_num::{Matrix, Rows};
use ndarray::Array2;

/// A copy of dense rows, in their own precision.
pub(crate) enum DenseRows {
    Double(Matrix),
    Single(Array2<f32>),
}

impl DenseRows {
    pub fn view(&self) -> Rows<'_> {
        match self {
            DenseRows::Double(x) => Rows::Dense(x.view()),
            DenseRows::Single(x) => Rows::Single(x.view()),
        }
    }
}

impl DesignMatrix<'_> {
    /// A copy of some dense rows.
    pub fn copy_rows(&self, indices: &[usize]) -> DenseRows {
        let shape = (indices.len(), self.width());
        let rectangular = "rows of equal length";
        match self.rows() {
            Rows::Single(x) => {
                let entries = indices.iter().flat_map(|i| x.row(*i).into_iter().copied()).collect();
                DenseRows::Single(Array2::from_shape_vec(shape, entries).expect(rectangular))
            }
            _ => {
                let row = |i: &usize| self.dense_row(*i).into_owned();
                let entries = indices.iter().flat_map(row).collect();
                DenseRows::Double(Matrix::from_shape_vec(shape, entries).expect(rectangular))
            }
        }
    }

    /// The scores of some dense rows, `m` per row.
    pub fn scores_of_rows(&self, rows: &[u32], v: &[f64], m: usize, scores: &mut [f64]) {
        let (weights, intercepts) = v.split_at(self.width() * m);
        let panels = scores.par_chunks_mut(ROWS_PER_PANEL * m).zip(rows.par_chunks(ROWS_PER_PANEL));
        panels.for_each(|(scores, rows)| {
            panel_times_weights(&self.gather(rows), self.width(), weights, m, scores);
            for scores in scores.chunks_exact_mut(m) {
                scores.iter_mut().zip(intercepts).for_each(|(z, b)| *z += b);
            }
        });
    }

    /// `Xᵀr` of some dense rows, `m` entries of `r` per row.
    pub fn transpose_product_of_rows(
        &self,
        rows: &[u32],
        residuals: &[f64],
        m: usize,
        out: &mut [f64],
    ) {
        let block_rows = rows
            .len()
            .div_ceil(MAX_BLOCKS)
            .next_multiple_of(ROWS_PER_PANEL)
            .max(4 * ROWS_PER_PANEL);
        let blocks = rows.par_chunks(block_rows).zip(residuals.par_chunks(block_rows * m));
        let blocks = blocks.map(|(rows, residuals)| {
            let mut sums = vec![0.0; out.len()];
            let (weights, intercepts) = sums.split_at_mut(self.width() * m);
            for (rows, residuals) in
                rows.chunks(ROWS_PER_PANEL).zip(residuals.chunks(ROWS_PER_PANEL * m))
            {
                add_transposed_product(&self.gather(rows), self.width(), residuals, m, weights);
                for residuals in residuals.chunks_exact(m) {
                    intercepts.iter_mut().zip(residuals).for_each(|(sum, r)| *sum += r);
                }
            }
            sums
        });
        let blocks: Vec<Vec<f64>> = blocks.collect();
        out.fill(0.0);
        for block in &blocks {
            out.iter_mut().zip(block).for_each(|(sum, x)| *sum += x);
        }
    }

    fn gather(&self, rows: &[u32]) -> Vec<f64> {
        let mut entries = Vec::with_capacity(rows.len() * self.width());
        rows.iter().for_each(|i| entries.extend_from_slice(&self.dense_row(*i as usize)));
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;

    #[test]
    fn products_with_some_rows_equal_those_with_zeros_for_the_others() {
        let mut random = Random::new(1);
        let (n, width, m) = (700, 5, 3);
        let x = Matrix::from_shape_simple_fn((n, width), || random.normal());
        let design = DesignMatrix::by_rows(&Rows::from(&x), true);
        let some: Vec<u32> = (0..n as u32).filter(|i| i % 3 == 1).collect();
        let v: Vec<f64> = (0..design.n_weights() * m).map(|_| random.normal()).collect();

        let (mut all, mut few) = (vec![0.0; n * m], vec![0.0; some.len() * m]);
        design.scores(&v, m, &mut all);
        design.scores_of_rows(&some, &v, m, &mut few);
        let mut residuals = vec![0.0; n * m];
        for (i, scores) in some.iter().zip(few.chunks_exact(m)) {
            residuals[*i as usize * m..][..m].copy_from_slice(scores);
        }
        let (mut of_all, mut of_some) = (vec![0.0; v.len()], vec![0.0; v.len()]);
        design.transpose_product(&residuals, m, &mut of_all);
        design.transpose_product_of_rows(&some, &few, m, &mut of_some);

        for (i, scores) in some.iter().zip(few.chunks_exact(m)) {
            let same = all[*i as usize * m..].iter().zip(scores);
            assert!(same.into_iter().all(|(a, b)| (a - b).abs() < 1e-12));
        }
        assert!(of_all.iter().zip(&of_some).all(|(a, b)| (a - b).abs() < 1e-10));
    }
}
