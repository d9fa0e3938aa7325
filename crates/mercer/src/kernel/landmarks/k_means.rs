//! k-means clustering in the input space (Lloyd 1982) with k-means++ seeding (Arthur & Vassilvitskii 2007).
//!
//! Minimize `Σᵢ wᵢ minₖ ‖xᵢ − mₖ‖²` over the means `m`. The means serve as landmarks of a kernel approximation, so a few
//! iterations suffice. `kernelized::lloyd` runs the same alternation in the space of a kernel; there a mean has no
//! coordinates and distances come from kernel sums over the members of a cluster. The two share the seeding.

use crate::kernel::UniqueRows;
use crate::model::Monitor;
use mercer_num::parallel::prelude::*;
use mercer_num::random::Random;
use mercer_num::{Float, Matrix, Rows};

/// Rows that one thread assigns to their nearest means at a time.
const ROWS_PER_BLOCK: usize = 256;
/// Lloyd iterations: landmarks need not minimize the k-means objective.
const MAX_ITERATIONS: usize = 10;

/// At most `m` means of unique rows, one per row of the result.
pub(in crate::kernel) fn k_means(
    rows: &Rows<'_>,
    unique: &UniqueRows,
    m: usize,
    seed: u64,
    monitor: &Monitor<'_>,
) -> Matrix {
    let (n, d) = (unique.indices.len(), rows.n_columns());
    let x: Vec<f64> = unique.indices.iter().flat_map(|i| rows.row(*i as usize)).collect();
    let squares: Vec<f64> = x.chunks_exact(d).map(|row| f64::dot(row, row)).collect();
    let mut means = initial_means(&x, &squares, &unique.weights, d, m.min(n), seed);
    for iteration in 0..MAX_ITERATIONS {
        if monitor.stop().is_some() {
            break;
        }
        let nearest = nearest_means(&x, d, &means);
        let moved = update_means(&x, &unique.weights, d, &nearest, &mut means);
        monitor.report(iteration as u64 + 1, Some(MAX_ITERATIONS as u64));
        if !moved {
            break;
        }
    }
    Matrix::from_shape_vec((means.len() / d, d), means).expect("means of one width")
}

/// k-means++ seeding: the indices of at most `k` rows, each drawn with probability proportional to its weight times
/// its squared distance from the nearest row drawn before. `lower(c, i, distances)` lowers the squared distances to
/// those from row `i`, the `c`-th drawn. There are fewer rows if all distances vanish.
pub(crate) fn k_means_plus_plus(
    weights: &[f64],
    k: usize,
    seed: u64,
    mut lower: impl FnMut(usize, usize, &mut [f64]),
) -> Vec<usize> {
    let mut random = Random::new(seed);
    let mut distances = vec![f64::INFINITY; weights.len()];
    let mut masses = weights.to_vec();
    let mut drawn = Vec::with_capacity(k);
    for c in 0..k {
        let total: f64 = masses.iter().sum();
        if total <= 0.0 {
            break;
        }
        let probabilities: Vec<f64> = masses.iter().map(|mass| mass / total).collect();
        let i = random.choice(&probabilities);
        drawn.push(i);
        lower(c, i, &mut distances);
        masses.iter_mut().zip(weights).zip(&distances).for_each(|((m, w), d)| *m = w * d);
    }
    drawn
}

fn initial_means(
    x: &[f64],
    squares: &[f64],
    weights: &[f64],
    d: usize,
    m: usize,
    seed: u64,
) -> Vec<f64> {
    let row = |i: usize| &x[i * d..(i + 1) * d];
    let seeds = k_means_plus_plus(weights, m, seed, |_, i, distances| {
        let others = x.par_chunks_exact(d).zip(squares).zip(distances);
        others.with_min_len(ROWS_PER_BLOCK).for_each(|((other, square), distance)| {
            let candidate = squares[i] + square - 2.0 * f64::dot(other, row(i));
            // Rounding must not give the drawn row a distance above zero: it would be drawn again.
            let candidate = if candidate > 1e-14 * square { candidate } else { 0.0 };
            *distance = distance.min(candidate);
        });
    });
    seeds.into_iter().flat_map(|i| row(i).iter().copied()).collect()
}

/// The index of the nearest mean of each row; the first of equally near ones.
fn nearest_means(x: &[f64], d: usize, means: &[f64]) -> Vec<u32> {
    let m = means.len() / d;
    let halves: Vec<f64> = means.chunks_exact(d).map(|mean| 0.5 * f64::dot(mean, mean)).collect();
    let nearest = |rows: &[f64]| -> Vec<u32> {
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
    x.par_chunks(ROWS_PER_BLOCK * d).flat_map_collect(nearest)
}

/// Replaces each mean by the weighted mean of its rows; whether any mean moved. A mean without rows stays.
fn update_means(x: &[f64], weights: &[f64], d: usize, nearest: &[u32], means: &mut [f64]) -> bool {
    let mut sums = vec![0.0; means.len()];
    let mut totals = vec![0.0; means.len() / d];
    for ((row, c), w) in x.chunks_exact(d).zip(nearest).zip(weights) {
        let c = *c as usize;
        totals[c] += w;
        sums[c * d..(c + 1) * d].iter_mut().zip(row).for_each(|(sum, v)| *sum += w * v);
    }
    let mut moved = false;
    for (c, w) in totals.iter().enumerate().filter(|(_, w)| **w > 0.0) {
        for (mean, sum) in means[c * d..(c + 1) * d].iter_mut().zip(&sums[c * d..]) {
            moved |= *mean != sum / w;
            *mean = sum / w;
        }
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn two_clusters_have_two_means() {
        let x = array![[0.0, 1.0], [0.0, 3.0], [10.0, 0.0], [12.0, 0.0], [12.0, 0.0], [12.0, 0.0]];
        let unique = UniqueRows::of(&Rows::from(&x), &[], 1);

        let means = k_means(&Rows::from(&x), &unique, 2, 4, &Monitor::quiet());

        let mut found = [means.row(0).to_vec(), means.row(1).to_vec()];
        found.sort_by(|a, b| a[0].total_cmp(&b[0]));
        assert_eq!(found, [[0.0, 2.0], [11.5, 0.0]]);
    }
}
