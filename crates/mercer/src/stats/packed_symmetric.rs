//! Symmetric matrices in packed storage, the rows of the lower triangle one after the other: `(0,0) (1,0) (1,1) (2,0)
//! ...`.

use mercer_num::Matrix;

/// The number of cells of the lower triangle.
pub(crate) fn size(width: usize) -> usize {
    width * (width + 1) / 2
}

/// The cells of row `i` up to the diagonal.
pub(crate) fn row(i: usize) -> std::ops::Range<usize> {
    let start = i * (i + 1) / 2;
    start..start + i + 1
}

/// Packs the lower triangle of a row-major square.
pub(crate) fn pack(square: &[f64], width: usize, into: &mut [f64]) {
    for i in 0..width {
        into[row(i)].copy_from_slice(&square[i * width..i * width + i + 1]);
    }
}

/// `triangle += factor · v vᵀ`.
pub(crate) fn add_outer(triangle: &mut [f64], factor: f64, v: &[f64]) {
    (0..v.len()).for_each(|i| add_outer_row(&mut triangle[row(i)], i, factor, v));
}

/// The same for several factors and vectors, in one pass over the triangle.
pub(crate) fn add_outers(triangle: &mut [f64], vectors: &[(f64, Vec<f64>)]) {
    let width = vectors.first().map_or(0, |(_, v)| v.len());
    for i in 0..width {
        let cells = &mut triangle[row(i)];
        vectors.iter().for_each(|(factor, v)| add_outer_row(cells, i, *factor, v));
    }
}

fn add_outer_row(cells: &mut [f64], i: usize, factor: f64, v: &[f64]) {
    let scale = factor * v[i];
    if scale != 0.0 {
        cells.iter_mut().zip(v).for_each(|(t, vj)| *t += scale * vj);
    }
}

/// The full matrix, multiplied by a factor.
pub(crate) fn square(triangle: &[f64], width: usize, factor: f64) -> Matrix {
    let mut out = Matrix::zeros((width, width));
    for i in 0..width {
        for (j, v) in triangle[row(i)].iter().enumerate() {
            out[[i, j]] = v * factor;
            out[[j, i]] = v * factor;
        }
    }
    out
}

/// The diagonal.
pub(crate) fn diagonal(triangle: &[f64], width: usize) -> Vec<f64> {
    (0..width).map(|i| triangle[row(i).end - 1]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn unpacking_inverts_packing() {
        let mut triangle = vec![0.0; size(3)];

        pack(&[1.0, 9.0, 9.0, 2.0, 3.0, 9.0, 4.0, 5.0, 6.0], 3, &mut triangle);
        add_outer(&mut triangle, 2.0, &[1.0, 0.0, 1.0]);

        assert_eq!(triangle, [3.0, 2.0, 3.0, 6.0, 5.0, 8.0]);
        let (mut one, mut other) = (triangle.clone(), triangle.clone());
        add_outers(&mut one, &[(0.5, vec![1.0, 2.0, 3.0]), (3.0, vec![0.1, 0.0, 0.7])]);
        add_outer(&mut other, 0.5, &[1.0, 2.0, 3.0]);
        add_outer(&mut other, 3.0, &[0.1, 0.0, 0.7]);
        assert_eq!(one, other);
        assert_eq!(diagonal(&triangle, 3), [3.0, 3.0, 8.0]);
        let whole = array![[1.5, 1.0, 3.0], [1.0, 1.5, 2.5], [3.0, 2.5, 4.0]];
        assert_eq!(square(&triangle, 3, 0.5), whole);
    }
}
