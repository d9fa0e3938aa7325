//! Products with some of the dense rows: those that push or curve, which are few near the optimum.

use super::{DesignMatrix, forward};
use mercer_num::linalg::add_transposed_product;
use mercer_num::{Matrix, Rows};
use ndarray::Array2;
use rayon::prelude::*;

/// Rows written out together.
const PANEL: usize = 64;
/// Parts they are dealt into at most; each has sums of its own.
const PARTS: usize = 64;

/// Some dense rows, in the precision they came in.
pub(crate) enum Copied {
    Double(Matrix),
    Single(Array2<f32>),
}

impl Copied {
    pub fn view(&self) -> Rows<'_> {
        match self {
            Copied::Double(x) => Rows::Dense(x.view()),
            Copied::Single(x) => Rows::Single(x.view()),
        }
    }
}

impl DesignMatrix<'_> {
    /// A copy of some dense rows.
    pub fn copied(&self, picks: &[usize]) -> Copied {
        let shape = (picks.len(), self.width());
        let of_one_width = "rows of one width";
        match self.rows() {
            Rows::Single(x) => {
                let cells = picks.iter().flat_map(|i| x.row(*i).into_iter().copied()).collect();
                Copied::Single(Array2::from_shape_vec(shape, cells).expect(of_one_width))
            }
            _ => {
                let row = |i: &usize| self.dense_row(*i).into_owned();
                let cells = picks.iter().flat_map(row).collect();
                Copied::Double(Matrix::from_shape_vec(shape, cells).expect(of_one_width))
            }
        }
    }

    /// The scores of some dense rows, `m` each.
    pub fn scores_of_rows(&self, rows: &[u32], v: &[f64], m: usize, scores: &mut [f64]) {
        let (weights, constants) = v.split_at(self.width() * m);
        let panels = scores.par_chunks_mut(PANEL * m).zip(rows.par_chunks(PANEL));
        panels.for_each(|(scores, rows)| {
            forward(&self.written(rows), self.width(), weights, m, scores);
            for scores in scores.chunks_exact_mut(m) {
                scores.iter_mut().zip(constants).for_each(|(z, b)| *z += b);
            }
        });
    }

    /// `Xᵀr` of some dense rows, `m` numbers `r` each.
    pub fn transpose_product_of_rows(
        &self,
        rows: &[u32],
        residuals: &[f64],
        m: usize,
        out: &mut [f64],
    ) {
        let part = rows.len().div_ceil(PARTS).next_multiple_of(PANEL).max(4 * PANEL);
        let parts = rows.par_chunks(part).zip(residuals.par_chunks(part * m));
        let parts = parts.map(|(rows, residuals)| {
            let mut sums = vec![0.0; out.len()];
            let (weights, constants) = sums.split_at_mut(self.width() * m);
            for (rows, residuals) in rows.chunks(PANEL).zip(residuals.chunks(PANEL * m)) {
                add_transposed_product(&self.written(rows), self.width(), residuals, m, weights);
                for residuals in residuals.chunks_exact(m) {
                    constants.iter_mut().zip(residuals).for_each(|(sum, r)| *sum += r);
                }
            }
            sums
        });
        let parts: Vec<Vec<f64>> = parts.collect();
        out.fill(0.0);
        for part in &parts {
            out.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
        }
    }

    fn written(&self, rows: &[u32]) -> Vec<f64> {
        let mut cells = Vec::with_capacity(rows.len() * self.width());
        rows.iter().for_each(|i| cells.extend_from_slice(&self.dense_row(*i as usize)));
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;

    #[test]
    fn some_rows_are_all_rows_with_zeros_for_the_others() {
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
        let (mut whole, mut part) = (vec![0.0; v.len()], vec![0.0; v.len()]);
        design.transpose_product(&residuals, m, &mut whole);
        design.transpose_product_of_rows(&some, &few, m, &mut part);

        for (i, scores) in some.iter().zip(few.chunks_exact(m)) {
            let same = all[*i as usize * m..].iter().zip(scores);
            assert!(same.into_iter().all(|(a, b)| (a - b).abs() < 1e-12));
        }
        assert!(whole.iter().zip(&part).all(|(a, b)| (a - b).abs() < 1e-10));
    }
}
