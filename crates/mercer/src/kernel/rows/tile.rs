//! A block of kernel values: inner products first, the function on top of them.

use super::binary_rows::{BinaryRows, marks_tile};
use super::{Cells, KernelRows, LONG, SHORT, row};
use crate::kernel::{Expression, Function, Kernel, Product};
use mercer_num::Float;
use mercer_num::simd::smo::SPARSE_DOT_ROWS;

impl<T: Float> KernelRows<T> {
    /// The kernel of these rows with those of `against` from `first` on, as many as the parts are long.
    pub(super) fn tile(&self, against: &KernelRows<T>, first: usize, parts: &mut [&mut [T]]) {
        match &self.function.kernel {
            Kernel::Composed(formula) => self.composed_tile(formula, against, first, parts),
            _ => self.tile_of(&self.function, against, first, parts),
        }
    }

    /// The same for a formula: sums of products of the blocks of its kernels.
    fn composed_tile(
        &self,
        formula: &Expression,
        against: &KernelRows<T>,
        first: usize,
        parts: &mut [&mut [T]],
    ) {
        let Some(n) = parts.first().map(|part| part.len()) else { return };
        let mut values = vec![T::default(); parts.len() * n];
        let mut product = vec![0.0; parts.len() * n];
        let mut sums = vec![0.0; parts.len() * n];
        for Product { factor, kernels } in &formula.products {
            product.fill(*factor);
            for leaf in kernels {
                let mut rows: Vec<&mut [T]> = values.chunks_exact_mut(n).collect();
                self.tile_of(&leaf.function(), against, first, &mut rows);
                product.iter_mut().zip(&values).for_each(|(p, v)| *p *= (*v).into());
            }
            sums.iter_mut().zip(&product).for_each(|(sum, p)| *sum += p);
        }
        for (part, sums) in parts.iter_mut().zip(sums.chunks_exact(n)) {
            part.iter_mut().zip(sums).for_each(|(to, sum)| *to = T::narrow(*sum));
        }
    }

    fn tile_of(
        &self,
        function: &Function,
        against: &KernelRows<T>,
        first: usize,
        parts: &mut [&mut [T]],
    ) {
        let Some(n) = parts.first().map(|part| part.len()) else { return };
        match (&self.cells, &against.cells) {
            (Cells::Dense { width, cells }, Cells::Dense { cells: others, .. }) => {
                let others = &others[first * width..(first + n) * width];
                if let Kernel::Custom(own) = &function.kernel {
                    let others: Vec<Vec<f64>> =
                        (0..n).map(|i| widened(row(others, *width, i))).collect();
                    for (k, part) in parts.iter_mut().enumerate() {
                        let x = widened(row(cells, *width, k));
                        let values = others.iter().map(|z| T::narrow(own.value(&x, z)));
                        part.iter_mut().zip(values).for_each(|(to, v)| *to = v);
                    }
                    return;
                }
                if matches!(function.kernel, Kernel::Laplacian | Kernel::Chi2) {
                    for (k, part) in parts.iter_mut().enumerate() {
                        differences(function, row(cells, *width, k), others, part);
                    }
                    return;
                }
                T::scratch(SHORT * LONG, |dots| {
                    for (b, parts) in parts.chunks_mut(SHORT).enumerate() {
                        let from = b * SHORT;
                        let block = &cells[from * width..(from + parts.len()) * width];
                        let dots = &mut dots[..parts.len() * n];
                        if *width == 0 {
                            dots.fill(T::default());
                        }
                        T::dot_products(block, others, *width, dots);
                        for (k, part) in parts.iter_mut().enumerate() {
                            let own = self.squares[from + k];
                            let squares = &against.squares[first..first + n];
                            put_on(function, &dots[k * n..(k + 1) * n], own, squares, part);
                        }
                    }
                });
            }
            (
                Cells::Sparse { width, offsets, columns, marks: true, .. },
                Cells::Sparse { offsets: ends, columns: others, marks: true, .. },
            ) => {
                let asked = BinaryRows { offsets, columns };
                let others = BinaryRows { offsets: &ends[first..=first + n], columns: others };
                marks_tile(function, *width, asked, others, parts);
            }
            (
                Cells::Sparse { width, offsets, columns, values, .. },
                Cells::Sparse { offsets: ends, columns: others, values: with, .. },
            ) if !matches!(function.kernel, Kernel::Laplacian | Kernel::Chi2) => {
                let ends = &ends[first..first + n + 1];
                // Of a wide table only the columns that occur are ever touched.
                let mut table = vec![T::default(); SPARSE_DOT_ROWS * width];
                T::scratch(SPARSE_DOT_ROWS * n, |dots| {
                    for (b, parts) in parts.chunks_mut(SPARSE_DOT_ROWS).enumerate() {
                        let from = b * SPARSE_DOT_ROWS;
                        let cells = offsets[from]..offsets[from + parts.len()];
                        for k in 0..parts.len() {
                            for at in offsets[from + k]..offsets[from + k + 1] {
                                table[columns[at] as usize * SPARSE_DOT_ROWS + k] = values[at];
                            }
                        }
                        T::sparse_dots(ends, others, with, &table, dots);
                        for (k, part) in parts.iter_mut().enumerate() {
                            let squares = &against.squares[first..first + n];
                            let own = self.squares[from + k];
                            put_on(function, &dots[k * n..(k + 1) * n], own, squares, part);
                        }
                        for j in &columns[cells] {
                            let line = *j as usize * SPARSE_DOT_ROWS;
                            table[line..line + SPARSE_DOT_ROWS].fill(T::default());
                        }
                    }
                });
            }
            (
                Cells::Sparse { width, offsets, columns, values, .. },
                Cells::Sparse { offsets: ends, columns: others, values: with, .. },
            ) => {
                let mut spread = vec![T::default(); *width];
                let mut dots = vec![T::default(); n];
                for (k, part) in parts.iter_mut().enumerate() {
                    let own = offsets[k]..offsets[k + 1];
                    for (j, v) in columns[own.clone()].iter().zip(&values[own.clone()]) {
                        spread[*j as usize] = *v;
                    }
                    let total: f64 =
                        values[own.clone()].iter().map(|v| (*v).into()).map(f64::abs).sum();
                    for (i, dot) in dots.iter_mut().enumerate() {
                        let cells = ends[first + i]..ends[first + i + 1];
                        let cells = others[cells.clone()].iter().zip(&with[cells]);
                        let cells = cells.map(|(j, v)| (spread[*j as usize].into(), (*v).into()));
                        *dot = T::narrow(sparse_sum(function, cells, total));
                    }
                    put_on(
                        function,
                        &dots,
                        self.squares[k],
                        &against.squares[first..first + n],
                        part,
                    );
                    columns[own].iter().for_each(|j| spread[*j as usize] = T::default());
                }
            }
            (Cells::Given { width, cells, .. }, Cells::Given { training_indices, .. }) => {
                for (k, part) in parts.iter_mut().enumerate() {
                    let values = row(cells, *width, k);
                    let training_indices = &training_indices[first..first + n];
                    part.iter_mut()
                        .zip(training_indices)
                        .for_each(|(v, j)| *v = values[*j as usize]);
                }
            }
            _ => unreachable!("both sides are made ready in one way"),
        }
    }
}

/// What a kernel of sparse rows sums up: differences, where absent cells count too.
fn sparse_sum(function: &Function, cells: impl Iterator<Item = (f64, f64)>, total: f64) -> f64 {
    match function.kernel {
        Kernel::Chi2 => {
            let term = |(a, b): (f64, f64)| {
                if a + b > 0.0 { (a - b) * (a - b) / (a + b) - a } else { 0.0 }
            };
            total + cells.map(term).sum::<f64>()
        }
        _ => total + cells.map(|(a, b)| (a - b).abs() - a.abs()).sum::<f64>(),
    }
}

fn differences<T: Float>(function: &Function, own: &[T], others: &[T], out: &mut [T]) {
    for (value, other) in out.iter_mut().zip(others.chunks_exact(own.len().max(1))) {
        let sum = match function.kernel {
            Kernel::Chi2 => T::chi_squared_distance(own, other),
            _ => T::l1_distance(own, other),
        };
        *value = T::narrow(-function.gamma * sum.into());
    }
    T::exp_each(out);
}

/// The function, put on inner products (or on sums of differences of sparse rows).
pub(super) fn put_on<T: Float>(
    function: &Function,
    dots: &[T],
    own: T,
    squares: &[T],
    out: &mut [T],
) {
    let Function { kernel, gamma, coef0, degree } = function;
    let (gamma, coef0) = (*gamma, *coef0);
    match kernel {
        Kernel::Rbf => T::gaussian_kernel(dots, own, squares, gamma, out),
        Kernel::Poly => T::polynomial_kernel(dots, gamma, coef0, *degree as u32, out),
        Kernel::Sigmoid => T::sigmoid_kernel(dots, gamma, coef0, out),
        Kernel::Laplacian | Kernel::Chi2 => {
            let powers = out.iter_mut().zip(dots);
            powers.for_each(|(out, sum)| *out = T::narrow(-gamma * (*sum).into()));
            T::exp_each(out);
        }
        Kernel::Linear | Kernel::Precomputed | Kernel::Composed(_) | Kernel::Custom(_) => {
            out.copy_from_slice(dots);
        }
    }
}

pub(super) fn widened<T: Float>(row: &[T]) -> Vec<f64> {
    row.iter().map(|v| (*v).into()).collect()
}
