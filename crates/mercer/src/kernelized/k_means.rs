//! Kernel k-means: clusters around means in the space of a kernel.
//!
//! Minimize `Σᵢ wᵢ ‖φ(xᵢ) − m_c(i)‖²` over the cluster `c(i)` of every row, where `m_c` is the weighted mean of cluster
//! `c`. Distances need kernel values only (Schölkopf, Smola & Müller 1998; Dhillon, Guan & Kulis 2004). Lloyd's algorithm
//! ([`super::lloyd`]) runs from several k-means++ seedings (Arthur & Vassilvitskii 2007), and the smallest objective
//! wins. With a linear kernel this is k-means.

use super::lloyd::{Clustering, ClusteringProblem};
use super::{DEFAULT_MEMORY_BYTES, KernelProblem, fit_first_rows};
use crate::kernel::KernelParams;
use crate::kernel::{Kernel, KernelExpansion, KernelRows, Precision, Segment, UniqueRows};
use crate::model::Stop;
use crate::model::{Certificate, Clusterer};
use crate::prelude::*;
use std::time::Instant;

/// A Gram matrix up to this size is stored; a larger one is computed again in every iteration.
const MAX_GRAM_BYTES: u64 = 2 << 30;

params! {
    /// Kernel k-means: clusters of arbitrary shape, around means in the space of a kernel.
    pub struct KernelKMeans {
        /// Number of clusters. With fewer distinct rows than this, each of them is a cluster.
        n_clusters: usize = 8, Between(1.0, 1e6);
        ..KernelParams(kernel = Kernel::Rbf);
        /// Number of runs from different k-means++ seedings; the run with the smallest inertia is returned.
        n_init: usize = 4, Between(1.0, 1e6);
        /// Maximum number of iterations of each run.
        max_iter: usize = 300, Between(1.0, 1e9);
        /// Stop a run when the relative decrease of the inertia in one iteration is at most `tol`.
        tol: f64 = 1e-6, AtLeast(0.0);
        ..RandomState;
    }
    formula = "min Σᵢ ‖φ(xᵢ) − μ_c(i)‖²  over the clusters c(i)";
    lecture = 13;
    attributes = [
        of_field("labels_", "labels", "int32", "ndarray of shape (n_rows,)", "Cluster of each training row."),
        own("inertia_", "float", "Sum of the squared distances of the rows from the means of their clusters."),
        own("cluster_weights_", "ndarray of shape (n_clusters,)", "Total sample weight of each cluster."),
        own("n_iter_", "int", "Number of iterations of the best run."),
    ];
    sklearn {
        spellings: &[POLYNOMIAL],
    }
}

/// The means of the clusters as kernel expansions over their rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelKMeansModel {
    /// The rows, cluster after cluster, with coefficients `wᵢ / s_c`; the intercepts are `−½‖m_c‖²`.
    pub expansion: KernelExpansion,
    /// Number of rows of each cluster in the expansion.
    pub n_members: Vec<u32>,
    /// `s_c`: the total weight of each cluster.
    pub cluster_weights: Vec<f64>,
    /// The cluster of every training row.
    pub labels: Vec<u32>,
    /// The weighted sum of squared distances from the means.
    pub inertia: f64,
    /// Iterations of the best run.
    pub n_iter: u64,
}

impl Fit for KernelKMeans {
    type Model = KernelKMeansModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<KernelKMeansModel>> {
        let start = Instant::now();
        self.check()?;
        let KernelKMeans { ref kernel, gamma, degree, coef0, .. } = *self;
        let problem = KernelProblem::new(data, kernel, gamma, coef0, degree, monitor)?;
        let unique = UniqueRows::of(&problem.rows, data.weights(), self.random_state as u64);
        let k = self.n_clusters.min(unique.indices.len());
        let clustering = match (clustering_problem(&problem, &unique, k, monitor), monitor.stop()) {
            (Err(Error::Stopped), Some(stop)) => return self.fit_first(data, stop, start),
            (clustering, _) => clustering?,
        };
        let mut best: Option<Clustering> = None;
        let mut stopped = None;
        let total = self.n_init as u64 * self.max_iter as u64;
        for run in 0..self.n_init {
            let seed = (self.random_state as u64).wrapping_add(run as u64 * 0x9e37_79b9);
            let done = (run * self.max_iter) as u64;
            let found = clustering.run(self, seed, monitor, |iteration| {
                monitor.report(done + iteration, Some(total));
            });
            let Some(found) = found else {
                stopped = monitor.stop();
                break;
            };
            stopped = found.stopped;
            if best.as_ref().is_none_or(|best| found.inertia < best.inertia) {
                best = Some(found);
            }
            if stopped.is_some() {
                break;
            }
        }
        monitor.report(total, Some(total));
        let best = match (best, stopped) {
            (None, Some(stop)) => return self.fit_first(data, stop, start),
            (best, _) => best.ok_or(Error::NoRows)?,
        };
        let mut how = format!("best of {} starts", self.n_init);
        if k < self.n_clusters {
            how += &format!(", {k} clusters because only {k} rows are distinct");
        }
        if best.increased {
            how += ", stopped where the inertia would have increased: the kernel is indefinite on these rows";
        }
        let (inertia, violation, converged) = (best.inertia, best.violation, best.converged);
        let model = KernelKMeansModel::of(best, &problem, &unique, stopped)?;
        let certificate = Certificate::iterative(converged, stopped)
            .objective("sum of squared distances", inertia)
            .violation("largest excess distance of a row to its own mean", violation)
            .note(how)
            .rows(data.n_rows() as u64)
            .iterations(model.n_iter)
            .since(start);
        Ok(Fitted { model, certificate })
    }
}

impl KernelKMeans {
    /// The clusters of the first rows, and the labels of all rows.
    fn fit_first(
        &self,
        data: &Dataset<'_>,
        stop: Stop,
        start: Instant,
    ) -> Result<Fitted<KernelKMeansModel>> {
        let mut fitted = fit_first_rows(self, data, stop, start)?;
        fitted.model.labels = fitted.model.assign(data.rows())?;
        Ok(fitted)
    }
}

/// Prepares the unique rows, with their Gram matrix if it fits.
fn clustering_problem<'a>(
    problem: &KernelProblem<'_>,
    unique: &'a UniqueRows,
    k: usize,
    monitor: &Monitor<'_>,
) -> Result<ClusteringProblem<'a>> {
    let n = unique.indices.len() as u64;
    let bytes = 8 * n * (problem.rows.n_columns() as u64 + 3 * k as u64);
    monitor.reserve_within("prepared rows and their distances", bytes, DEFAULT_MEMORY_BYTES)?;
    let rows = KernelRows::new(
        problem.function.clone(),
        problem.storage,
        &problem.rows,
        &unique.indices,
        &problem.center,
        &unique.indices,
    );
    let budget = monitor.memory().map_or(MAX_GRAM_BYTES, |m| m.saturating_sub(bytes));
    let gram = match 8 * n * n <= budget.min(MAX_GRAM_BYTES) {
        true => Some(rows.whole_gram(monitor).ok_or(Error::Stopped)?),
        false => None,
    };
    Ok(ClusteringProblem { diagonal: rows.diagonal(), rows, gram, weights: &unique.weights, k })
}

impl KernelKMeansModel {
    fn of(
        found: Clustering,
        problem: &KernelProblem<'_>,
        unique: &UniqueRows,
        stopped: Option<Stop>,
    ) -> Result<KernelKMeansModel> {
        let k = found.squared_norms.len();
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); k];
        found.labels.iter().enumerate().for_each(|(i, c)| members[*c as usize].push(i));
        // Clusters stay empty where distinct rows coincide in the space of the kernel.
        let occupied: Vec<usize> = (0..k).filter(|c| !members[*c].is_empty()).collect();
        let weight = |c: &usize| members[*c].iter().map(|i| unique.weights[*i]).sum::<f64>();
        let cluster_weights: Vec<f64> = occupied.iter().map(weight).collect();
        let mut support = Vec::new();
        let mut coefficients = Vec::new();
        for (c, total) in occupied.iter().zip(&cluster_weights) {
            support.extend(members[*c].iter().map(|i| unique.indices[*i]));
            coefficients.extend(members[*c].iter().map(|i| unique.weights[*i] / total));
        }
        let coefficients = Matrix::from_shape_vec((1, coefficients.len()), coefficients)
            .expect("one row of coefficients");
        let intercepts = occupied.iter().map(|c| -0.5 * found.squared_norms[*c]).collect();
        let expansion = problem.expansion(Precision::Double, support, coefficients, intercepts);
        let mut model = KernelKMeansModel {
            expansion,
            n_members: occupied.iter().map(|c| members[*c].len() as u32).collect(),
            cluster_weights,
            labels: Vec::new(),
            inertia: found.inertia,
            n_iter: found.iterations,
        };
        model.labels = match stopped {
            None => model.assign(&problem.rows)?,
            Some(_) => model.labels_of_unique_rows(&found.labels, &occupied, problem, unique)?,
        };
        Ok(model)
    }

    /// The labels that the iterations found, without another pass over all pairs of rows: only duplicates and rows of
    /// weight zero are assigned.
    fn labels_of_unique_rows(
        &self,
        found: &[u32],
        occupied: &[usize],
        problem: &KernelProblem<'_>,
        unique: &UniqueRows,
    ) -> Result<Vec<u32>> {
        let mut cluster_of = vec![0; found.iter().map(|c| *c as usize + 1).max().unwrap_or(0)];
        occupied.iter().enumerate().for_each(|(new, old)| cluster_of[*old] = new as u32);
        let mut labels = vec![u32::MAX; problem.rows.n_rows()];
        for (i, c) in unique.indices.iter().zip(found) {
            labels[*i as usize] = cluster_of[*c as usize];
        }
        for (i, label) in labels.iter_mut().enumerate().filter(|(_, label)| **label == u32::MAX) {
            *label = self.assign(&problem.rows.slice(i..i + 1))?[0];
        }
        Ok(labels)
    }

    fn segments(&self) -> Vec<Segment> {
        let mut at = 0;
        let segment = |(c, n): (usize, &u32)| {
            let vectors = at..at + *n as usize;
            at = vectors.end;
            Segment { vectors, to: vec![c] }
        };
        self.n_members.iter().enumerate().map(segment).collect()
    }
}

impl Clusterer for KernelKMeansModel {
    fn n_columns(&self) -> usize {
        self.expansion.n_columns
    }

    fn n_clusters(&self) -> usize {
        self.n_members.len()
    }

    /// A precomputed kernel has no `K(x, x)` of new rows: the distances are then smaller by it.
    fn distances(&self, x: &Rows<'_>) -> Result<Matrix> {
        let mut out = self.expansion.decisions(x, &self.segments())?;
        let own = self.expansion.kernel_diagonal(x)?;
        for (mut row, own) in out.rows_mut().into_iter().zip(own) {
            row.iter_mut().for_each(|v| *v = own - 2.0 * *v);
        }
        Ok(out)
    }

    fn assign(&self, x: &Rows<'_>) -> Result<Vec<u32>> {
        // K(x, x) is the same for all clusters.
        let similarities = self.expansion.decisions(x, &self.segments())?;
        let nearest = |row: ndarray::ArrayView1<'_, f64>| {
            (1..row.len()).fold(0, |best, c| if row[c] > row[best] { c } else { best }) as u32
        };
        Ok(similarities.rows().into_iter().map(nearest).collect())
    }
}

impl Check for KernelKMeansModel {
    fn check(&self) -> Result<()> {
        self.expansion.check()?;
        let members: u64 = self.n_members.iter().map(|n| u64::from(*n)).sum();
        let k = self.n_members.len();
        let fits = k > 0
            && self.expansion.coefficients.nrows() == 1
            && members == self.expansion.n_vectors() as u64
            && self.expansion.intercepts.len() == k
            && self.cluster_weights.len() == k
            && self.cluster_weights.iter().all(|w| w.is_finite() && *w > 0.0)
            && self.labels.iter().all(|c| (*c as usize) < k)
            && self.inertia.is_finite();
        if fits {
            Ok(())
        } else {
            Err(Error::File("kernel k-means model with inconsistent fields".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernelized::lloyd::first_smallest;
    use mercer_num::random::Random;

    fn clusters(n: usize, seed: u64) -> Matrix {
        let mut random = Random::new(seed);
        Matrix::from_shape_fn((n, 2), |(i, j)| 4.0 * ((i + j) % 3) as f64 + random.normal())
    }

    /// Lloyd's algorithm in the input space, from given labels.
    fn lloyd(x: &Matrix, weights: &[f64], mut labels: Vec<u32>, k: usize) -> (Vec<u32>, f64) {
        loop {
            let mut means = Matrix::zeros((k, x.ncols()));
            let mut sizes = vec![0.0; k];
            for (i, row) in x.outer_iter().enumerate() {
                sizes[labels[i] as usize] += weights[i];
                means.row_mut(labels[i] as usize).scaled_add(weights[i], &row);
            }
            for (mut mean, s) in means.rows_mut().into_iter().zip(&sizes) {
                mean /= *s;
            }
            let far = |i: usize, c: usize| (&x.row(i) - &means.row(c)).mapv(|v| v * v).sum();
            let sum = (0..x.nrows()).map(|i| weights[i] * far(i, labels[i] as usize)).sum();
            let new: Vec<u32> = (0..x.nrows())
                .map(|i| first_smallest(&(0..k).map(|c| far(i, c)).collect::<Vec<_>>()) as u32)
                .collect();
            if new == labels {
                return (labels, sum);
            }
            labels = new;
        }
    }

    #[test]
    fn a_linear_kernel_is_k_means() {
        let x = clusters(90, 1);
        let weights: Vec<f64> = (0..90).map(|i| 0.5 + (i % 4) as f64).collect();
        let data = Dataset::unlabeled(&x).weighted(&weights).unwrap();
        let params = KernelKMeans::new().n_clusters(3).kernel(Kernel::Linear).tol(0.0);

        let fitted = params.fit(&data, &Monitor::quiet()).unwrap();

        // The result is a fixed point of k-means with the same objective.
        let (labels, sum) = lloyd(&x, &weights, fitted.labels.clone(), 3);
        assert_eq!(labels, fitted.labels);
        assert!((sum - fitted.inertia).abs() < 1e-9 * sum, "{sum} {}", fitted.inertia);
        assert_eq!(fitted.certificate.violation.as_ref().unwrap().value, 0.0);
        assert_eq!(fitted.assign(&Rows::from(&x)).unwrap(), fitted.labels);
        let distances = fitted.distances(&Rows::from(&x)).unwrap();
        let again: f64 = (0..90).map(|i| weights[i] * distances[[i, labels[i] as usize]]).sum();
        assert!((again - sum).abs() < 1e-9 * sum);
    }

    #[test]
    fn the_inertia_never_increases() {
        let x = clusters(120, 2);
        let sum = |iterations: usize| {
            let params = KernelKMeans::new().n_clusters(5).n_init(1).max_iter(iterations).tol(0.0);
            params.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap().inertia
        };

        let sums: Vec<f64> = (1..12).map(sum).collect();

        assert!(sums.windows(2).all(|s| s[1] <= s[0] + 1e-12 * s[0]), "{sums:?}");
        assert!(sums[10] < sums[0]);
    }

    #[test]
    fn a_ring_and_its_center_are_two_clusters() {
        let x = Matrix::from_shape_fn((80, 2), |(i, j)| {
            let (radius, angle) = (if i % 2 == 0 { 0.1 } else { 2.0 }, 0.7 * i as f64);
            radius * if j == 0 { angle.cos() } else { angle.sin() }
        });
        let ring = KernelKMeans::new()
            .n_clusters(2)
            .kernel("poly(degree=2,coef0=0,gamma=1)".parse().unwrap());

        let fitted = ring.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

        let labels = &fitted.labels;
        assert!((0..80).all(|i| labels[i] == labels[i % 2] || i % 2 == 1), "{labels:?}");
    }

    #[test]
    fn there_are_at_most_as_many_clusters_as_distinct_rows() {
        let x = ndarray::array![[1.0], [1.0], [5.0], [1.0]];

        let fitted = KernelKMeans::new().fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

        assert_eq!(fitted.n_clusters(), 2);
        assert_eq!(fitted.labels[0], fitted.labels[3]);
        assert!(fitted.inertia < 1e-12);
        assert!(fitted.certificate.to_string().contains("only 2 rows are distinct"));
    }
}
