//! Matrix products, by row panels of fixed size.

use crate::Matrix;
use crate::parallel;
use crate::parallel::prelude::*;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::reborrow::ReborrowMut;
use faer::traits::ComplexField;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::{Array2, ArrayView2, Axis, s};
use std::convert::Infallible;

/// Rows per panel of a product: enough for full speed.
const ROWS_PER_PANEL: usize = 256;
/// Rows that one thread sums before the merge tree of [`gram`].
const ROWS_PER_LEAF: usize = 4096;
/// Columns of a triangular product that are computed at once.
const COLUMNS_PER_STEP: usize = 128;

/// `into += blockᵀ · block` for a row-major block, on this thread. Only the lower triangle of the row-major `into` is
/// updated.
///
/// # Panics
/// If the lengths do not match the width.
pub fn add_gram<T: ComplexField + Copy>(block: &[T], width: usize, into: &mut [T]) {
    assert_eq!(into.len(), width * width, "a Gram matrix is square");
    if width == 0 {
        return;
    }
    let x = MatRef::from_row_major_slice(block, block.len() / width, width);
    triangular::matmul(
        MatMut::from_row_major_slice_mut(into, width, width),
        BlockStructure::TriangularLower,
        Accum::Add,
        x.transpose(),
        BlockStructure::Rectangular,
        x,
        BlockStructure::Rectangular,
        T::one_impl(),
        Par::Seq,
    );
}

/// `into += times · blockᵀ · block` for the rows from `first` on of the row-major result, on this thread. Cells above
/// the diagonal are undefined.
///
/// # Panics
/// If the lengths do not match the width.
pub fn add_gram_rows<T: ComplexField + Copy>(
    block: &[T],
    width: usize,
    first: usize,
    into: &mut [T],
    times: T,
) {
    let n = into.len() / width.max(1);
    if n == 0 || block.is_empty() {
        return;
    }
    let end = first + n;
    let x = MatRef::from_row_major_slice(block, block.len() / width, width);
    let into = MatMut::from_row_major_slice_mut(into, n, width).subcols_mut(0, end);
    matmul(into, Accum::Add, x.subcols(first, n).transpose(), x.subcols(0, end), times, Par::Seq);
}

/// `into += aᵀ · b` for row-major blocks with equal numbers of rows, on this thread.
///
/// # Panics
/// If the lengths do not match the widths.
pub fn add_transposed_product(
    a: &[f64],
    a_width: usize,
    b: &[f64],
    b_width: usize,
    into: &mut [f64],
) {
    assert_eq!(into.len(), a_width * b_width, "one cell per pair of columns");
    if into.is_empty() {
        return;
    }
    let n = a.len() / a_width;
    let (a, b) =
        (MatRef::from_row_major_slice(a, n, a_width), MatRef::from_row_major_slice(b, n, b_width));
    let into = MatMut::from_row_major_slice_mut(into, a_width, b_width);
    matmul(into, Accum::Add, a.transpose(), b, 1.0, Par::Seq);
}

/// `out = A · Bᵀ`, the inner products of the rows of two row-major blocks, on this thread. `one` is the number one in
/// their precision.
///
/// # Panics
/// If the lengths do not match.
pub fn dot_products<T: ComplexField + Copy>(a: &[T], b: &[T], width: usize, out: &mut [T], one: T) {
    scaled_products(a, b, width, out, (Accum::Replace, one));
}

/// `out −= A · Bᵀ`, as in [`dot_products`]; `minus_one` is −1 in their precision.
///
/// # Panics
/// If the lengths do not match.
pub fn subtract_dot_products<T: ComplexField + Copy>(
    a: &[T],
    b: &[T],
    width: usize,
    out: &mut [T],
    minus_one: T,
) {
    scaled_products(a, b, width, out, (Accum::Add, minus_one));
}

/// A multiple of `A · Bᵀ` that replaces `out` or is added to it.
fn scaled_products<T: ComplexField + Copy>(
    a: &[T],
    b: &[T],
    width: usize,
    out: &mut [T],
    (accum, factor): (Accum, T),
) {
    if width == 0 || out.is_empty() {
        return;
    }
    let (n, m) = (a.len() / width, b.len() / width);
    assert_eq!(out.len(), n * m, "one cell per pair of rows");
    if n == 1 {
        // A single row would be summed in another order than several rows.
        let mut twice = [&*out, &*out].concat();
        scaled_products(&[a, a].concat(), b, width, &mut twice, (accum, factor));
        return out.copy_from_slice(&twice[..m]);
    }
    let a = MatRef::from_row_major_slice(a, n, width);
    let b = MatRef::from_row_major_slice(b, m, width);
    let out = MatMut::from_row_major_slice_mut(out, n, m);
    matmul(out, accum, a, b.transpose(), factor, Par::Seq);
}

/// `out = A · Lᵀ` for a row-major block of rows and a lower triangular `L`, on this thread, at about half the cost of
/// [`dot_products`].
///
/// # Panics
/// If the lengths do not match.
pub fn lower_triangular_products<T: ComplexField + Copy>(
    a: &[T],
    l: &[T],
    out: &mut [T],
    n: usize,
    one: T,
) {
    if out.is_empty() {
        return;
    }
    let width = out.len() / n;
    assert_eq!(
        (a.len(), l.len()),
        (n * width, width * width),
        "a square matrix of the width of the rows"
    );
    if n == 1 {
        // A single row would be summed in another order than several rows.
        let mut twice = vec![one; 2 * width];
        lower_triangular_products(&[a, a].concat(), l, &mut twice, 2, one);
        return out.copy_from_slice(&twice[..width]);
    }
    let a = MatRef::from_row_major_slice(a, n, width);
    let l = MatRef::from_row_major_slice(l, width, width);
    let mut out = MatMut::from_row_major_slice_mut(out, n, width);
    for first in (0..width).step_by(COLUMNS_PER_STEP) {
        let some = COLUMNS_PER_STEP.min(width - first);
        let end = first + some;
        let lines = l.submatrix(first, 0, some, end).transpose();
        let to = out.rb_mut().subcols_mut(first, some);
        matmul(to, Accum::Replace, a.subcols(0, end), lines, one, Par::Seq);
    }
}

/// `into += a · b` for row-major blocks, on this thread. Only the leading columns of `a` are read, as many as `b` has
/// rows.
///
/// # Panics
/// If the lengths do not match the widths.
pub fn add_matrix_product(a: &[f64], a_width: usize, b: &[f64], b_width: usize, into: &mut [f64]) {
    if into.is_empty() || b.is_empty() {
        return;
    }
    let (n, inner) = (a.len() / a_width, b.len() / b_width);
    assert!(inner <= a_width, "one column of a per row of b");
    if n == 1 {
        // A single row would be summed in another order than several rows.
        let mut twice = [&*into, &*into].concat();
        add_matrix_product(&[a, a].concat(), a_width, b, b_width, &mut twice);
        return into.copy_from_slice(&twice[..b_width]);
    }
    let a = MatRef::from_row_major_slice(a, n, a_width).subcols(0, inner);
    let b = MatRef::from_row_major_slice(b, inner, b_width);
    matmul(MatMut::from_row_major_slice_mut(into, n, b_width), Accum::Add, a, b, 1.0, Par::Seq);
}

/// `AᵀA`, summed over row panels in a fixed tree.
pub fn gram(a: ArrayView2<'_, f64>) -> Matrix {
    let (n, width) = a.dim();
    let panels = n.div_ceil(ROWS_PER_LEAF);
    let leaf = |k: usize| {
        let mut sum = vec![0.0; width * width];
        let rows = a.slice(s![k * ROWS_PER_LEAF..((k + 1) * ROWS_PER_LEAF).min(n), ..]);
        for panel in rows.axis_chunks_iter(Axis(0), ROWS_PER_PANEL) {
            let panel = panel.as_standard_layout();
            add_gram(panel.as_slice().unwrap_or_default(), width, &mut sum);
        }
        Ok::<_, Infallible>(sum)
    };
    let add = |a: &mut Vec<f64>, b: &Vec<f64>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        Ok(())
    };
    let Ok((sum, _)) = parallel::reduce(panels, leaf, add, |_| true);
    let mut out = match sum {
        Some(sum) => Matrix::from_shape_vec((width, width), sum).expect("a square of the width"),
        None => Matrix::zeros((width, width)),
    };
    for i in 0..width {
        for j in i + 1..width {
            out[[i, j]] = out[[j, i]];
        }
    }
    out
}

/// `A · B`, with row panels of `A` on all threads.
///
/// # Panics
/// If the inner dimensions differ.
pub fn multiply<T: ComplexField + Copy>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) -> Array2<T> {
    assert_eq!(a.ncols(), b.nrows(), "inner dimensions differ");
    let (n, inner, width) = (a.nrows(), a.ncols(), b.ncols());
    let mut out = Array2::from_elem((n, width), T::zero_impl());
    if n == 0 || inner == 0 || width == 0 {
        return out;
    }
    let b = b.as_standard_layout();
    let b = MatRef::from_row_major_slice(b.as_slice().unwrap_or_default(), inner, width);
    let cells = out.as_slice_mut().expect("a fresh matrix is contiguous");
    cells.par_chunks_mut(ROWS_PER_PANEL * width).enumerate().for_each(|(k, cells)| {
        let rows = cells.len() / width;
        let panel = a.slice(s![k * ROWS_PER_PANEL..k * ROWS_PER_PANEL + rows, ..]);
        let panel = panel.as_standard_layout();
        let panel = MatRef::from_row_major_slice(panel.as_slice().unwrap_or_default(), rows, inner);
        let cells = MatMut::from_row_major_slice_mut(cells, rows, width);
        matmul(cells, Accum::Replace, panel, b, T::one_impl(), Par::Seq);
    });
    out
}

/// `A · Bᵀ`, with row panels of `A` on all threads: the inner products of two sets of rows.
///
/// # Panics
/// If the widths differ.
pub fn multiply_transposed(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Matrix {
    multiply(a, b.t())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::tests::{assert_near, normal};
    use crate::parallel::with_threads;
    use ndarray::array;

    #[test]
    fn products_by_hand() {
        let a = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];

        assert_eq!(gram(a.view()), array![[35.0, 44.0], [44.0, 56.0]]);
        assert_eq!(
            multiply(a.view(), array![[1.0], [-1.0]].view()),
            array![[-1.0], [-1.0], [-1.0]]
        );
        assert_eq!(
            multiply_transposed(a.view(), array![[1.0, 1.0]].view()),
            array![[3.0], [7.0], [11.0]]
        );
        assert_eq!(gram(Matrix::zeros((0, 2)).view()), Matrix::zeros((2, 2)));
    }

    #[test]
    fn inner_products_are_subtracted() {
        let (a, b) = (normal(5, 7, 1), normal(3, 7, 2));
        let (a, b) = (a.as_slice().unwrap(), b.as_slice().unwrap());
        for n in [1, 5] {
            let mut product = vec![0.0; n * 3];
            dot_products(&a[..n * 7], b, 7, &mut product, 1.0);

            let mut out = vec![2.0; n * 3];
            subtract_dot_products(&a[..n * 7], b, 7, &mut out, -1.0);

            assert!(out.iter().zip(&product).all(|(out, t)| (out - (2.0 - t)).abs() < 1e-12));
        }
    }

    #[test]
    fn products_are_right_for_any_memory_order() {
        for (n, m, k) in [(1, 1, 1), (7, 3, 5), (300, 17, 9), (1000, 64, 33)] {
            let (a, b) = (normal(n, m, 1), normal(m, k, 2));

            assert_near(&multiply(a.view(), b.view()), &a.dot(&b), 1e-11);
            assert_near(&gram(a.view()), &a.t().dot(&a), 1e-10);
            let transposed = a.t().as_standard_layout().into_owned();
            assert_eq!(gram(transposed.t()), gram(a.view()));
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let a = normal(20_000, 13, 3);
        let b = normal(13, 11, 4);

        let one = with_threads(1, || (gram(a.view()), multiply(a.view(), b.view())));
        let many = with_threads(5, || (gram(a.view()), multiply(a.view(), b.view())));

        assert_eq!(one, many);
    }

    #[test]
    fn a_row_has_the_same_bits_in_blocks_of_any_size() {
        for (m, k) in [(1, 5), (7, 3), (40, 17), (300, 784)] {
            let (a, b) = (normal(130, k, 7), normal(m, k, 8));
            let (a, b) = (a.as_slice().unwrap(), b.as_slice().unwrap());
            let mut all = vec![0.0; 130 * m];
            dot_products(a, b, k, &mut all, 1.0);

            for n in [1, 2, 7, 64] {
                let mut some = vec![0.0; n * m];
                dot_products(&a[..n * k], b, k, &mut some, 1.0);
                assert_eq!(some, all[..n * m], "{n} rows, {m} x {k}");
            }
        }
    }

    #[test]
    fn row_blocks_of_a_gram_matrix_form_its_lower_triangle() {
        let a = normal(30, 7, 3);
        let mut found = Matrix::from_elem((7, 7), 1.0);

        for (k, strip) in found.as_slice_mut().unwrap().chunks_mut(3 * 7).enumerate() {
            add_gram_rows(a.as_slice().unwrap(), 7, 3 * k, strip, -2.0);
        }

        let expected = gram(a.view());
        for i in 0..7 {
            for j in 0..=i {
                assert!((found[[i, j]] - 1.0 + 2.0 * expected[[i, j]]).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn triangular_products_equal_full_ones() {
        for (n, m) in [(1, 1), (1, 300), (7, 3), (40, 128), (130, 300)] {
            let (a, mut l) = (normal(n, m, 7), normal(m, m, 8));
            l.indexed_iter_mut().filter(|((i, j), _)| j > i).for_each(|(_, v)| *v = 0.0);
            let mut found = vec![0.0; n * m];

            lower_triangular_products(
                a.as_slice().unwrap(),
                l.as_slice().unwrap(),
                &mut found,
                n,
                1.0,
            );

            let found = Matrix::from_shape_vec((n, m), found).unwrap();
            assert_near(&found, &a.dot(&l.t()), 1e-11);
            let mut first = vec![0.0; m];
            lower_triangular_products(
                &a.as_slice().unwrap()[..m],
                l.as_slice().unwrap(),
                &mut first,
                1,
                1.0,
            );
            assert!(
                n == 1 || first == found.row(0).to_vec(),
                "the result depends on the number of rows"
            );
        }
    }

    #[test]
    fn alignment_does_not_change_the_bits() {
        for (n, m, k) in [(50, 1, 1), (50, 2, 3), (64, 7, 7), (300, 16, 5), (256, 100, 24)] {
            let (a, b) = (normal(n, m, 5), normal(n, k, 6));
            let at = |offset: usize| {
                let index = |x: &Matrix| {
                    let mut scratch = vec![0.0; offset];
                    scratch.extend(x.iter());
                    scratch
                };
                let (a, b) = (index(&a), index(&b));
                let mut squares = vec![0.0; offset + m * m];
                let mut products = vec![0.0; offset + m * k];
                add_gram(&a[offset..], m, &mut squares[offset..]);
                add_transposed_product(&a[offset..], m, &b[offset..], k, &mut products[offset..]);
                (squares.split_off(offset), products.split_off(offset))
            };

            let expected = at(0);
            (1..9).for_each(|offset| assert_eq!(at(offset), expected, "{n} x {m} x {k}"));
        }
    }
}
