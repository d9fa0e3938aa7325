//! Means of rows that lie together (Lloyd 1982), started far from each other (Arthur & Vassilvitskii 2007).

use super::unique_rows::UniqueRows;
use crate::model::Monitor;
use mercer_num::random::Random;
use mercer_num::{Float, Matrix, Rows};
use rayon::prelude::*;

/// Rows whose nearest means one thread finds at a time.
const ROWS: usize = 256;
/// Rounds: centers of a kernel map need not be the best means there are.
const ROUNDS: usize = 10;

/// At most `m` means, one a row, of rows without repetition.
pub(super) fn means(
    rows: &Rows<'_>,
    list: &UniqueRows,
    m: usize,
    seed: u64,
    monitor: &Monitor<'_>,
) -> Matrix {
    let (n, d) = (list.indices.len(), rows.n_columns());
    let x: Vec<f64> = list.indices.iter().flat_map(|i| rows.row(*i as usize)).collect();
    let squares: Vec<f64> = x.chunks_exact(d).map(|row| f64::dot(row, row)).collect();
    let mut means = far_apart(&x, &squares, &list.weights, d, m.min(n), seed);
    for round in 0..ROUNDS {
        if monitor.stop().is_some() {
            break;
        }
        let nearest = nearest(&x, d, &means);
        let mut sums = vec![0.0; means.len()];
        let mut weights = vec![0.0; means.len() / d];
        for ((row, c), w) in x.chunks_exact(d).zip(&nearest).zip(&list.weights) {
            let c = *c as usize;
            weights[c] += w;
            sums[c * d..(c + 1) * d].iter_mut().zip(row).for_each(|(sum, v)| *sum += w * v);
        }
        let mut moved = false;
        for (c, w) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            for (mean, sum) in means[c * d..(c + 1) * d].iter_mut().zip(&sums[c * d..]) {
                moved |= *mean != sum / w;
                *mean = sum / w;
            }
        }
        monitor.report(round as u64 + 1, Some(ROUNDS as u64));
        if !moved {
            break;
        }
    }
    Matrix::from_shape_vec((means.len() / d, d), means).expect("means of one width")
}

/// Rows, each drawn in proportion to its weight and its squared distance from the ones before.
fn far_apart(
    x: &[f64],
    squares: &[f64],
    weights: &[f64],
    d: usize,
    m: usize,
    seed: u64,
) -> Vec<f64> {
    let mut random = Random::new(seed);
    let mut distances = vec![f64::INFINITY; squares.len()];
    let mut masses = weights.to_vec();
    let mut out = Vec::with_capacity(m * d);
    for _ in 0..m {
        let total: f64 = masses.iter().sum();
        if total <= 0.0 {
            break;
        }
        let shares: Vec<f64> = masses.iter().map(|mass| mass / total).collect();
        let drawn = random.choice(&shares);
        let row = &x[drawn * d..(drawn + 1) * d];
        out.extend_from_slice(row);
        let others = x.par_chunks_exact(d).zip(squares).zip(&mut distances);
        others.with_min_len(ROWS).for_each(|((other, square), distance)| {
            let far = squares[drawn] + square - 2.0 * f64::dot(other, row);
            // The row itself is nobody's neighbor again, whatever rounding says.
            let far = if far > 1e-14 * square { far } else { 0.0 };
            *distance = distance.min(far);
        });
        masses.iter_mut().zip(weights).zip(&distances).for_each(|((m, w), d)| *m = w * d);
    }
    out
}

/// The mean that is nearest to each row; ties go to the first.
fn nearest(x: &[f64], d: usize, means: &[f64]) -> Vec<u32> {
    let m = means.len() / d;
    let halves: Vec<f64> = means.chunks_exact(d).map(|mean| 0.5 * f64::dot(mean, mean)).collect();
    let near = |rows: &[f64]| -> Vec<u32> {
        let mut dots = vec![0.0; rows.len() / d * m];
        f64::dot_products(rows, means, d, &mut dots);
        let best = |dots: &[f64]| {
            let mut best = 0;
            for c in 1..m {
                if halves[c] - dots[c] < halves[best] - dots[best] {
                    best = c;
                }
            }
            best as u32
        };
        dots.chunks_exact(m).map(best).collect()
    };
    x.par_chunks(ROWS * d).flat_map_iter(near).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn two_crowds_have_two_means() {
        let x = array![[0.0, 1.0], [0.0, 3.0], [10.0, 0.0], [12.0, 0.0], [12.0, 0.0], [12.0, 0.0]];
        let list = UniqueRows::of(&Rows::from(&x), &[], 1);

        let means = means(&Rows::from(&x), &list, 2, 4, &Monitor::quiet());

        let mut found = [means.row(0).to_vec(), means.row(1).to_vec()];
        found.sort_by(|a, b| a[0].total_cmp(&b[0]));
        assert_eq!(found, [[0.0, 2.0], [11.5, 0.0]]);
    }
}
