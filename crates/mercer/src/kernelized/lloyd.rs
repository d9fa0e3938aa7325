//! Lloyd's algorithm in the space of a kernel.
//!
//! Given a kernel, weights and `k`, minimize `Σᵢ wᵢ ‖φ(xᵢ) − m_c(i)‖²` over the cluster `c(i)` of every row, where `m_c` is
//! the weighted mean of cluster `c`. Each iteration assigns every row to its nearest mean; the means follow, which never
//! increases the objective (Lloyd 1982). With `s_c = Σ_{j ∈ c} wⱼ`, sums over the cluster,
//! `‖φ(x) − m_c‖² = K(x, x) − 2/s_c Σⱼ wⱼ K(x, xⱼ) + 1/s_c² Σⱼₗ wⱼwₗ K(xⱼ, xₗ)`.
//!
//! A mean has no coordinates here, so that an iteration starts from labels instead of means and costs one product with
//! the kernel matrix. That is why it shares the seeding, but not the loop, with `kernel::landmarks::k_means`.

use super::k_means::KernelKMeans;
use crate::kernel::{KernelRows, k_means_plus_plus};
use crate::model::{Monitor, Stop};
use mercer_num::parallel::prelude::*;

/// Rows whose distances from the means one thread computes at a time.
const ROWS_PER_BLOCK: usize = 64;
/// An increase of the objective below this fraction of it is rounding.
const RELATIVE_ROUNDING: f64 = 1e-10;

/// Unique rows to be clustered.
pub(super) struct ClusteringProblem<'a> {
    pub rows: KernelRows<f64>,
    /// `K(xᵢ, xᵢ)`.
    pub diagonal: Vec<f64>,
    /// The Gram matrix if it fits into the memory budget; else kernel values are computed again in every iteration.
    pub gram: Option<Vec<f64>>,
    pub weights: &'a [f64],
    pub k: usize,
}

/// The result of one start.
pub(super) struct Clustering {
    pub labels: Vec<u32>,
    /// `‖m_c‖²`.
    pub squared_norms: Vec<f64>,
    /// The objective.
    pub inertia: f64,
    /// The largest excess of a row's squared distance from its own mean over that from the nearest mean.
    pub violation: f64,
    pub iterations: u64,
    pub stopped: Option<Stop>,
    /// Whether the labels are stable or the objective decreased by less than the tolerance.
    pub converged: bool,
    /// Whether the objective increased, which only an indefinite kernel does.
    pub increased: bool,
}

impl ClusteringProblem<'_> {
    /// Iterates from one k-means++ seeding until labels are stable, the objective decreases by less than `tol`, or
    /// `max_iter` is reached; `None` if the monitor stops the first iteration.
    pub fn run(
        &self,
        params: &KernelKMeans,
        seed: u64,
        monitor: &Monitor<'_>,
        report: impl Fn(u64),
    ) -> Option<Clustering> {
        let mut labels = self.initial_labels(seed);
        let mut best: Option<Clustering> = None;
        for iteration in 1..=params.max_iter as u64 {
            self.fill_empty_clusters(&mut labels, monitor);
            let Some((distances, squared_norms)) = self.distances(&labels, monitor) else {
                let stopped = monitor.stop();
                return best.map(|best| Clustering { stopped, ..best });
            };
            let at = |i: usize, c: u32| distances[i * self.k + c as usize];
            let inertia: f64 =
                (self.weights.iter().enumerate()).map(|(i, w)| w * at(i, labels[i])).sum();
            let nearest: Vec<u32> =
                distances.chunks_exact(self.k).map(|row| first_smallest(row) as u32).collect();
            let violation =
                (0..labels.len()).map(|i| at(i, labels[i]) - at(i, nearest[i])).fold(0.0, f64::max);
            let before = best.as_ref().map(|b| b.inertia);
            let scale = inertia.abs().max(f64::MIN_POSITIVE);
            let increased =
                before.is_some_and(|before| inertia > before + RELATIVE_ROUNDING * scale);
            if increased {
                let best = best.expect("an increase follows an earlier iteration");
                return Some(Clustering { increased, iterations: iteration, ..best });
            }
            let small_step = before.is_some_and(|before| before - inertia <= params.tol * scale);
            let converged = labels == nearest || small_step;
            let stopped = monitor.stop();
            best = Some(Clustering {
                labels: labels.clone(),
                squared_norms,
                inertia: inertia.max(0.0),
                violation,
                iterations: iteration,
                stopped,
                converged,
                increased: false,
            });
            report(iteration);
            if converged || stopped.is_some() {
                break;
            }
            labels = nearest;
        }
        best
    }

    /// The nearest of the k-means++ seeds for every row.
    fn initial_labels(&self, seed: u64) -> Vec<u32> {
        let n = self.diagonal.len();
        let mut labels = vec![0; n];
        let mut column = vec![0.0; n];
        k_means_plus_plus(self.weights, self.k, seed, |c, drawn, distances| {
            self.rows.columns(&[drawn as u32], &self.rows, &mut [&mut column]);
            for i in 0..n {
                let own = self.diagonal[i];
                let distance = own + self.diagonal[drawn] - 2.0 * column[i];
                // Rounding must not give the drawn row a distance above zero: it would be drawn again.
                let zero = i == drawn || distance <= 1e-14 * own.abs();
                let distance = if zero { 0.0 } else { distance };
                if distance < distances[i] {
                    (distances[i], labels[i]) = (distance, c as u32);
                }
            }
        });
        labels
    }

    /// Moves into each empty cluster the row that contributes most to the objective, which decreases it.
    fn fill_empty_clusters(&self, labels: &mut [u32], monitor: &Monitor<'_>) {
        let mut members = vec![0usize; self.k];
        labels.iter().for_each(|c| members[*c as usize] += 1);
        if members.iter().all(|m| *m > 0) {
            return;
        }
        for c in 0..self.k {
            if members[c] > 0 {
                continue;
            }
            let Some((distances, _)) = self.distances(labels, monitor) else { return };
            let mut farthest: Option<(f64, usize)> = None;
            for (i, own) in labels.iter().enumerate() {
                let loss = self.weights[i] * distances[i * self.k + *own as usize];
                if members[*own as usize] > 1 && farthest.is_none_or(|(most, _)| loss > most) {
                    farthest = Some((loss, i));
                }
            }
            let Some((_, i)) = farthest else { return };
            members[labels[i] as usize] -= 1;
            members[c] += 1;
            labels[i] = c as u32;
        }
    }

    /// The squared distance of every row from every mean, row-major, and the squared norms of the means. The distance
    /// from an empty cluster is infinite. `None` if the monitor stops it.
    fn distances(&self, labels: &[u32], monitor: &Monitor<'_>) -> Option<(Vec<f64>, Vec<f64>)> {
        let (n, k) = (self.diagonal.len(), self.k);
        let mut sizes = vec![0.0; k];
        labels.iter().zip(self.weights).for_each(|(c, w)| sizes[*c as usize] += w);
        // Σⱼ wⱼ K(xᵢ, xⱼ) / s_c over each cluster.
        let mut sums = vec![0.0; n * k];
        sums.par_chunks_mut(ROWS_PER_BLOCK * k).enumerate().try_for_each(|(b, sums)| {
            if monitor.stop().is_some() {
                return None;
            }
            let first = b * ROWS_PER_BLOCK;
            let m = sums.len() / k;
            let computed;
            let values = match &self.gram {
                Some(gram) => &gram[first * n..(first + m) * n],
                None => {
                    let indices: Vec<u32> = (first as u32..(first + m) as u32).collect();
                    let mut block = vec![0.0; m * n];
                    self.rows.select(&indices).block(&self.rows, 0..n, &mut block);
                    computed = block;
                    &computed[..]
                }
            };
            for (sums, values) in sums.chunks_exact_mut(k).zip(values.chunks_exact(n)) {
                for ((c, w), value) in labels.iter().zip(self.weights).zip(values) {
                    sums[*c as usize] += w * value;
                }
                sums.iter_mut().zip(&sizes).for_each(|(sum, s)| *sum /= s.max(f64::MIN_POSITIVE));
            }
            Some(())
        })?;
        let mut squared_norms = vec![0.0; k];
        for (i, c) in labels.iter().enumerate() {
            let c = *c as usize;
            squared_norms[c] += self.weights[i] / sizes[c] * sums[i * k + c];
        }
        for (sums, own) in sums.chunks_exact_mut(k).zip(&self.diagonal) {
            for (c, sum) in sums.iter_mut().enumerate() {
                *sum = if sizes[c] > 0.0 {
                    own - 2.0 * *sum + squared_norms[c]
                } else {
                    f64::INFINITY
                };
            }
        }
        Some((sums, squared_norms))
    }
}

/// The index of the smallest value; the first of equal ones.
pub(super) fn first_smallest(row: &[f64]) -> usize {
    (1..row.len()).fold(0, |best, c| if row[c] < row[best] { c } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Function, Storage};
    use mercer_num::Rows;

    #[test]
    fn an_empty_cluster_receives_the_farthest_row() {
        let x = ndarray::array![[0.0], [1.0], [9.0]];
        let rows: KernelRows<f64> =
            KernelRows::all(Function::linear(), Storage::Dense, &Rows::from(&x), &[], &[]);
        let problem = ClusteringProblem {
            diagonal: rows.diagonal(),
            rows,
            gram: None,
            weights: &[1.0; 3],
            k: 2,
        };
        let mut labels = vec![0, 0, 0];

        problem.fill_empty_clusters(&mut labels, &Monitor::quiet());

        assert_eq!(labels, [0, 0, 1]);
    }
}
