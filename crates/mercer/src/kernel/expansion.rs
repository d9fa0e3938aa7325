//! The kernel expansion `f(x) = Σᵢ βᵢ K(xᵢ, x) + b`, for one decision or several that share their support vectors.

use super::{Function, Kernel, KernelRows, Storage};
use crate::choice;
use crate::data::{SharedGram, check_storage};
use crate::error::{Error, Result};
use crate::model::{Cached, check_predictions};
use mercer_num::parallel::prelude::*;
use mercer_num::{Float, Matrix, Rows, SparseView};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Rows evaluated by one thread at a time.
const ROWS_PER_BLOCK: usize = 128;
/// Support vectors in one block.
const VECTORS_PER_BLOCK: usize = 512;

choice! {
    /// The precision of kernel values.
    pub enum Precision {
        /// Four bytes each.
        Single = "single",
        /// Eight bytes each.
        Double = "double",
    }
}

/// Support vectors and their coefficients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelExpansion {
    /// The kernel.
    pub function: Function,
    /// The precision of kernel values.
    pub precision: Precision,
    /// Number of columns of a row.
    pub n_columns: usize,
    /// The center that is subtracted from rows of a translation-invariant kernel and, for a linear kernel, from support
    /// vectors in the weights `w`, whose coefficients sum to zero; empty for none.
    pub center: Vec<f64>,
    /// The indices of the support vectors among the training rows.
    pub support: Vec<u32>,
    /// The support vectors in dense storage.
    pub vectors: Matrix,
    /// The support vectors in sparse storage, for sparse rows with many columns.
    pub sparse_vectors: Option<CsrRows>,
    /// `β`: one row per decision, one column per support vector.
    pub coefficients: Matrix,
    /// `b` of every decision.
    pub intercepts: Vec<f64>,
    #[serde(skip)]
    ready: Cached<Ready>,
}

/// Rows in compressed sparse row storage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CsrRows {
    /// Where every row starts, and where the last one ends.
    pub offsets: Vec<usize>,
    /// The columns of the cells.
    pub columns: Vec<i32>,
    /// The values of the cells.
    pub values: Vec<f64>,
}

impl CsrRows {
    fn of(x: &SparseView<'_>, indices: &[u32]) -> CsrRows {
        let mut out = CsrRows { offsets: vec![0], columns: Vec::new(), values: Vec::new() };
        for i in indices {
            let (columns, values) = x.row(*i as usize);
            out.columns.extend_from_slice(columns);
            out.values.extend_from_slice(values);
            out.offsets.push(out.columns.len());
        }
        out
    }
}

#[derive(Debug)]
enum Ready {
    Single(KernelRows<f32>),
    Double(KernelRows<f64>),
    /// `w = Σ β x` of every decision of a linear kernel, one row per decision.
    Weights(Matrix),
}

/// Support vectors that serve some decisions: which rows of the coefficients go where.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Segment {
    pub vectors: Range<usize>,
    /// The decision that each row of the coefficients adds to.
    pub to: Vec<usize>,
}

impl Segment {
    /// All vectors, every row of the coefficients a decision of its own.
    pub fn all(expansion: &KernelExpansion) -> Segment {
        Segment {
            vectors: 0..expansion.n_vectors(),
            to: (0..expansion.coefficients.nrows()).collect(),
        }
    }
}

impl KernelExpansion {
    /// Changes every decision `d` to `scale d + shift`.
    pub(crate) fn rescale_outputs(&mut self, shift: f64, scale: f64) {
        self.coefficients.iter_mut().for_each(|beta| *beta *= scale);
        self.intercepts.iter_mut().for_each(|b| *b = *b * scale + shift);
        // The weights of a linear kernel contain the coefficients.
        if matches!(self.ready.known(), Some(Ready::Weights(_))) {
            self.ready = Cached::default();
        }
    }

    /// The expansion of some of the rows learned from.
    pub(crate) fn of_rows(
        function: Function,
        precision: Precision,
        rows: &Rows<'_>,
        support: Vec<u32>,
        center: Vec<f64>,
        coefficients: Matrix,
        intercepts: Vec<f64>,
    ) -> KernelExpansion {
        let (mut vectors, mut sparse_vectors) = (Matrix::zeros((0, 0)), None);
        match rows {
            _ if function.kernel == Kernel::Precomputed => {}
            Rows::Sparse(x) if rows.n_columns() > 4096 => {
                let whole = x.sum_duplicates();
                sparse_vectors = Some(CsrRows::of(&whole.view(), &support));
            }
            rows => {
                let cells: Vec<f64> = support.iter().flat_map(|i| rows.row(*i as usize)).collect();
                vectors = Matrix::from_shape_vec((support.len(), rows.n_columns()), cells)
                    .expect("a row each");
            }
        }
        KernelExpansion {
            function,
            precision,
            n_columns: rows.n_columns(),
            center,
            support,
            vectors,
            sparse_vectors,
            coefficients,
            intercepts,
            ready: Cached::default(),
        }
    }

    /// The expansion that looks up the kernel values of the rows it predicts.
    pub(super) fn with_gram(mut self, gram: &SharedGram) -> KernelExpansion {
        let vectors: Vec<u32> = self.support.iter().map(|i| gram.train[*i as usize]).collect();
        let (function, gram) = (self.function.clone(), gram.clone());
        let ready = match self.precision {
            Precision::Single => Ready::Single(KernelRows::shared(function, gram, vectors)),
            Precision::Double => Ready::Double(KernelRows::shared(function, gram, vectors)),
        };
        self.ready = Cached::filled(ready);
        self
    }

    /// How many support vectors there are.
    pub fn n_vectors(&self) -> usize {
        self.support.len()
    }

    /// `w = Σ β x` of one row of the coefficients, for a linear kernel with vectors written out.
    pub fn weights(&self) -> Option<Matrix> {
        self.has_weights().then(|| self.coefficients.dot(&self.centered_vectors()))
    }

    /// `w` of every decision, from the coefficients of all segments that contribute to it.
    pub(crate) fn decision_weights(&self, segments: &[Segment]) -> Option<Matrix> {
        if !self.has_weights() {
            return None;
        }
        let vectors = self.centered_vectors();
        let mut weights = Matrix::zeros((self.intercepts.len(), self.n_columns));
        for segment in segments {
            for (r, to) in segment.to.iter().enumerate() {
                for k in segment.vectors.clone().filter(|k| self.coefficients[[r, *k]] != 0.0) {
                    weights.row_mut(*to).scaled_add(self.coefficients[[r, k]], &vectors.row(k));
                }
            }
        }
        Some(weights)
    }

    /// Whether decisions of a linear kernel can be written as `w·x + b`.
    fn has_weights(&self) -> bool {
        self.function.kernel == Kernel::Linear && self.sparse_vectors.is_none()
    }

    fn centered_vectors(&self) -> Matrix {
        match self.center.is_empty() {
            true => self.vectors.clone(),
            false => &self.vectors - &ndarray::ArrayView1::from(&self.center),
        }
    }

    /// The center that is subtracted from rows before kernel values are computed: none for a linear kernel, whose
    /// intercepts belong to the rows as they are.
    pub(crate) fn kernel_center(&self) -> &[f64] {
        if self.function.kernel == Kernel::Linear { &[] } else { &self.center }
    }

    /// The support vectors as rows.
    fn rows(&self) -> Result<Rows<'_>> {
        match &self.sparse_vectors {
            None => Ok(Rows::from(&self.vectors)),
            Some(sparse_vectors) => {
                let view = SparseView::try_new(
                    self.n_columns,
                    &sparse_vectors.offsets,
                    &sparse_vectors.columns,
                    &sparse_vectors.values,
                );
                view.map(Rows::Sparse).map_err(|e| Error::File(e.to_string()))
            }
        }
    }

    /// The support vectors made ready.
    pub(crate) fn kernel_rows_in<T: Float>(&self) -> Result<KernelRows<T>> {
        self.kernel_rows_around(self.kernel_center())
    }

    /// The same with another center.
    pub(crate) fn kernel_rows_around<T: Float>(&self, center: &[f64]) -> Result<KernelRows<T>> {
        if self.function.kernel == Kernel::Precomputed {
            // Only the indices of the vectors are used, not their values.
            let none = Matrix::zeros((self.support.len(), 0));
            let rows = Rows::from(&none);
            return Ok(KernelRows::all(
                self.function.clone(),
                Storage::Dense,
                &rows,
                &[],
                &self.support,
            ));
        }
        let rows = self.rows()?;
        // Centered rows are no longer sparse.
        let storage = match center.is_empty() {
            true => Storage::of(&self.function, &rows),
            false => Storage::Dense,
        };
        Ok(KernelRows::all(self.function.clone(), storage, &rows, center, &self.support))
    }

    /// Refuses rows of another width, and those the kernel is not made for.
    pub(crate) fn check_rows(&self, x: &Rows<'_>) -> Result<()> {
        check_storage(x)?;
        if x.n_columns() != self.n_columns {
            return Err(Error::Columns { found: x.n_columns(), expected: self.n_columns });
        }
        self.function.check_rows(x)
    }

    /// All decisions about some rows: one row a row, one column a decision.
    ///
    /// # Errors
    /// If the width differs or a cell is not finite.
    pub(crate) fn decisions(&self, x: &Rows<'_>, segments: &[Segment]) -> Result<Matrix> {
        self.check_rows(x)?;
        let ready = self.ready.get(|| {
            let none = || Ready::Weights(Matrix::zeros((0, 0)));
            // Kernel values of a linear kernel are not centered, so that single precision is not enough for them.
            let centered_linear = self.function.kernel == Kernel::Linear && !self.center.is_empty();
            match self.precision {
                _ if self.is_linear(segments) => {
                    self.decision_weights(segments).map_or_else(none, Ready::Weights)
                }
                Precision::Single if !centered_linear => {
                    self.kernel_rows_in().map_or_else(|_| none(), Ready::Single)
                }
                _ => self.kernel_rows_in().map_or_else(|_| none(), Ready::Double),
            }
        });
        let mut out = Matrix::zeros((x.n_rows(), self.intercepts.len()));
        match ready {
            Ready::Weights(weights) => add_weighted(x, weights, &mut out),
            Ready::Single(vectors) => self.add_kernels(x, vectors, segments, &mut out),
            Ready::Double(vectors) => self.add_kernels(x, vectors, segments, &mut out),
        }
        for mut row in out.rows_mut() {
            row.iter_mut().zip(&self.intercepts).for_each(|(v, b)| *v += b);
        }
        check_predictions(out.as_slice().unwrap_or_default(), &self.intercepts)?;
        Ok(out)
    }

    /// Whether decisions are evaluated as `w·x + b`: always with one segment, else if there are no more weight vectors
    /// than support vectors.
    fn is_linear(&self, segments: &[Segment]) -> bool {
        let few = segments.len() == 1 || self.intercepts.len() <= self.n_vectors();
        self.has_weights() && few
    }

    fn add_kernels<T: Float>(
        &self,
        x: &Rows<'_>,
        vectors: &KernelRows<T>,
        segments: &[Segment],
        out: &mut Matrix,
    ) {
        let n_decisions = out.ncols().max(1);
        // The coefficients of every block of vectors, narrowed and contiguous.
        let blocks: Vec<(Range<usize>, Vec<T>, &Segment)> = segments
            .iter()
            .flat_map(|segment| {
                let Range { start, end } = segment.vectors;
                (start..end).step_by(VECTORS_PER_BLOCK).map(move |first| {
                    let range = first..(first + VECTORS_PER_BLOCK).min(end);
                    let rows = (0..segment.to.len()).map(|r| self.coefficients.row(r));
                    let mut some = Vec::with_capacity(segment.to.len() * range.len());
                    for row in rows {
                        some.extend(range.clone().map(|k| T::narrow(row[k])));
                    }
                    (range, some, segment)
                })
            })
            .collect();
        let cells = out.as_slice_mut().unwrap_or_default();
        cells.par_chunks_mut(ROWS_PER_BLOCK * n_decisions).enumerate().for_each(|(k, cells)| {
            let n = cells.len() / n_decisions;
            let indices: Vec<u32> =
                (0..n as u32).map(|i| (k * ROWS_PER_BLOCK) as u32 + i).collect();
            let rows = vectors.matching(x, &indices, self.kernel_center());
            let mut values = vec![T::default(); n * VECTORS_PER_BLOCK];
            for (range, coefficients, segment) in &blocks {
                let width = range.len();
                let values = &mut values[..n * width];
                rows.block(vectors, range.clone(), values);
                let mut sums = vec![T::default(); n * segment.to.len()];
                T::dot_products(values, coefficients, width, &mut sums);
                for (row, sums) in
                    cells.chunks_exact_mut(n_decisions).zip(sums.chunks_exact(segment.to.len()))
                {
                    for (sum, to) in sums.iter().zip(&segment.to) {
                        row[*to] += (*sum).into();
                    }
                }
            }
        });
    }

    /// The kernel of every row with itself; zero where kernel values are given, which do not have it.
    pub(crate) fn kernel_diagonal(&self, x: &Rows<'_>) -> Result<Vec<f64>> {
        self.check_rows(x)?;
        if self.function.kernel == Kernel::Precomputed {
            return Ok(vec![0.0; x.n_rows()]);
        }
        let indices: Vec<u32> = (0..x.n_rows() as u32).collect();
        let own = |indices: &[u32]| -> Vec<f64> {
            let storage = Storage::of(&self.function, x);
            let function = self.function.clone();
            KernelRows::<f64>::new(function, storage, x, indices, self.kernel_center(), indices)
                .diagonal()
        };
        Ok(indices.par_chunks(ROWS_PER_BLOCK).flat_map_collect(own))
    }

    /// Refuses parts that no fit could have made.
    pub(crate) fn check(&self) -> Result<()> {
        let refuse = || Error::File("a expansion that no rows could have".into());
        let n = self.support.len();
        let given = self.function.kernel == Kernel::Precomputed;
        let vectors_fit = match &self.sparse_vectors {
            _ if given => {
                self.vectors.is_empty()
                    && self.support.iter().all(|i| (*i as usize) < self.n_columns)
            }
            None => self.vectors.dim() == (n, self.n_columns),
            Some(sparse_vectors) => {
                sparse_vectors.offsets.len() == n + 1
                    && sparse_vectors.offsets.first() == Some(&0)
                    && sparse_vectors.offsets.last() == Some(&sparse_vectors.columns.len())
                    && self.vectors.is_empty()
            }
        };
        let Function { gamma, coef0, degree, .. } = &self.function;
        let values =
            self.sparse_vectors.as_ref().map_or(&[][..], |sparse_vectors| &sparse_vectors.values);
        let numbers = self.vectors.iter().chain(&self.coefficients).chain(&self.intercepts);
        let mut numbers = numbers.chain(&self.center).chain(values).chain([gamma, coef0]);
        let fits = vectors_fit
            && self.coefficients.ncols() == n
            && (self.center.is_empty() || self.center.len() == self.n_columns)
            && self.n_columns > 0
            && *degree <= 1000
            && *gamma >= 0.0
            && numbers.all(|v| v.is_finite());
        if !fits {
            return Err(refuse());
        }
        self.rows().map(|_| ()).map_err(|_| refuse())
    }
}

/// Adds `w·x` of every decision; no weights add nothing.
fn add_weighted(x: &Rows<'_>, weights: &Matrix, out: &mut Matrix) {
    for (i, mut row) in out.rows_mut().into_iter().enumerate().filter(|_| weights.nrows() > 0) {
        let cells = x.row(i);
        for (sum, w) in row.iter_mut().zip(weights.rows()) {
            *sum += w.iter().zip(&cells).map(|(w, x)| w * x).sum::<f64>();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::Sparse;

    /// Rows of 2000 columns, few of them there: too sparse_vectors to be written out, not too wide to be kept so.
    #[test]
    fn rows_in_another_storage_than_the_vectors_get_the_same_answers() {
        let (n, width) = (6, 2000);
        let x = Matrix::from_shape_fn((n, width), |(i, j)| f64::from(j % 700 == i * 90));
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in x.outer_iter() {
            for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                columns.push(j as i32);
                values.push(*v);
            }
            offsets.push(columns.len());
        }
        let sparse_vectors = Sparse::new((n, width), offsets, columns, values);
        let all = Segment { vectors: 0..n, to: vec![0] };
        for kept in [Rows::from(&x), Rows::from(&sparse_vectors)] {
            let expansion = KernelExpansion::of_rows(
                Function::rbf(0.25),
                Precision::Double,
                &kept,
                (0..n as u32).collect(),
                Vec::new(),
                Matrix::ones((1, n)),
                vec![0.5],
            );

            let dense = expansion.decisions(&Rows::from(&x), std::slice::from_ref(&all)).unwrap();
            let sparse = expansion
                .decisions(&Rows::from(&sparse_vectors), std::slice::from_ref(&all))
                .unwrap();

            assert!((&dense - &sparse).iter().all(|v| v.abs() < 1e-14), "{dense} {sparse}");
        }
    }
}
