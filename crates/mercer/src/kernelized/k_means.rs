//! K-means in the space of a kernel.
//!
//! Minimize `Σᵢ wᵢ ‖φ(xᵢ) − m_c(i)‖²` over the clusters `c(i)` of rows, `m_c` the mean of the cluster. With
//! `s_c = Σ_{j ∈ c} wⱼ`,
//! `‖φ(x) − m_c‖² = K(x, x) − 2/s_c Σⱼ wⱼ K(x, xⱼ) + 1/s_c² Σⱼₗ wⱼwₗ K(xⱼ, xₗ)`, sums over the cluster, so no
//! map is ever written down (Schölkopf, Smola & Müller 1998; Dhillon, Guan & Kulis 2004). Every row goes to
//! the nearest mean and the means follow, which never raises the sum (Lloyd 1982), from rows drawn far
//! apart (Arthur & Vassilvitskii 2007). With a linear kernel it is k-means.

use super::{KernelProblem, USUAL_BYTES};
use crate::kernel::{Gamma, Kernel, KernelExpansion, KernelRows, Precision, Segment, UniqueRows};
use crate::model::{Certificate, Clusterer, Stop};
use crate::prelude::*;
use mercer_num::random::Random;
use rayon::prelude::*;
use std::time::Instant;

/// Rows whose distances one thread works out at a time.
const ROWS: usize = 64;
/// Kernel values kept rather than worked out again in every round, in bytes.
const KEPT: u64 = 2 << 30;
/// A rise of the sum, relative to it, that rounding may be all of.
const ROUNDING: f64 = 1e-10;

params! {
    /// K-means in the space of a kernel: groups of rows of any shape that the kernel sees.
    pub struct KernelKMeans {
        /// How many clusters. Of fewer rows that differ, as many as there are.
        n_clusters: usize = 8, Between(1.0, 1e6);
        /// The kernel: `linear`, `poly`, `rbf`, `sigmoid`, `laplacian`, `chi2`, sums and products of
        /// these as in `rbf(gamma=0.1)+2*linear`, or `precomputed` where the rows are kernel values.
        kernel: Kernel = Kernel::Rbf, Formula(Kernel::WORDS);
        /// How fast a kernel falls with distance: a number, `scale` for `1 / (columns · variance)`, or
        /// `auto` for `1 / columns`. Nothing is `auto`, and 1 for `chi2`.
        gamma: Option<Gamma> = None, AtLeast(0.0);
        /// The power of the kernel `poly`.
        degree: usize = 3, Between(0.0, 1000.0);
        /// The constant in the kernels `poly` and `sigmoid`.
        coef0: f64 = 1.0, Any;
        /// How often to start from other rows; the best end is kept.
        n_init: usize = 4, Between(1.0, 1e6);
        /// Rounds at most, for every start.
        max_iter: usize = 300, Between(1.0, 1e9);
        /// The decrease of the sum, relative to it, below which rounds end.
        tol: f64 = 1e-6, AtLeast(0.0);
        /// The seed of what is drawn.
        random_state: usize = 0, Any;
    }
}

/// Means as sums over rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelKMeansModel {
    /// The rows, cluster after cluster, with their shares of its mean; the intercepts are `−½‖m_c‖²`.
    pub expansion: KernelExpansion,
    /// How many of the rows each cluster has.
    pub n_members: Vec<u32>,
    /// What they weigh.
    pub cluster_weights: Vec<f64>,
    /// The cluster of every row learned from.
    pub labels: Vec<u32>,
    /// The weighted sum of squared distances from the means.
    pub inertia: f64,
    /// Rounds of the start that was kept.
    pub n_iter: u64,
}

impl Fit for KernelKMeans {
    type Model = KernelKMeansModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<KernelKMeansModel>> {
        let start = Instant::now();
        self.check()?;
        let KernelKMeans { ref kernel, gamma, degree, coef0, .. } = *self;
        let problem = KernelProblem::new(data, kernel, gamma, coef0, degree, monitor)?;
        let list = UniqueRows::of(&problem.rows, data.weights(), self.random_state as u64);
        let (n, k) = (list.indices.len(), self.n_clusters.min(list.indices.len()));
        let bytes = 8 * (n as u64) * (problem.rows.n_columns() as u64 + 3 * k as u64);
        monitor.reserve_within("rows made ready and their distances", bytes, USUAL_BYTES)?;
        let ready = KernelRows::new(
            problem.function.clone(),
            problem.storage,
            &problem.rows,
            &list.indices,
            &problem.center,
            &list.indices,
        );
        let square = 8 * (n as u64) * (n as u64);
        let room = monitor.memory().map_or(KEPT, |m| m.saturating_sub(bytes)).min(KEPT);
        let gram = (square <= room).then(|| ready.whole_gram());
        let clustering =
            ClusteringProblem { own: ready.diagonal(), ready, gram, weights: &list.weights, k };
        let mut best: Option<Clusters> = None;
        let mut stopped = None;
        for run in 0..self.n_init {
            let seed = (self.random_state as u64).wrapping_add(run as u64 * 0x9e37_79b9);
            let total = self.n_init as u64 * self.max_iter as u64;
            let done = (run * self.max_iter) as u64;
            let found = clustering.run(self, seed, monitor, |round| {
                monitor.report(done + round, Some(total));
            });
            stopped = found.stopped;
            if best.as_ref().is_none_or(|best| found.inertia < best.inertia) {
                best = Some(found);
            }
            if stopped.is_some() {
                break;
            }
        }
        let total = self.n_init as u64 * self.max_iter as u64;
        monitor.report(total, Some(total));
        let best = best.ok_or(Error::NoRows)?;
        let mut how = format!("best of {} starts", self.n_init);
        if k < self.n_clusters {
            how += &format!(", {k} clusters because only {k} rows differ");
        }
        if best.rose {
            how += ", ended where the sum would have risen: this is no kernel on these rows";
        }
        let (inertia, unrest) = (best.inertia, best.unrest);
        let model = best.model(&problem, &list)?;
        let certificate = Certificate::iterative(true, stopped)
            .objective("sum of squared distances", inertia)
            .violation("largest excess distance of a row to its own mean", unrest)
            .note(how)
            .rows(data.n_rows() as u64)
            .iterations(model.n_iter)
            .since(start);
        Ok(Fitted { model, certificate })
    }
}

/// Rows without repetition, and what is asked of them.
struct ClusteringProblem<'a> {
    ready: KernelRows<f64>,
    own: Vec<f64>,
    /// All kernel values, where there is room.
    gram: Option<Vec<f64>>,
    weights: &'a [f64],
    k: usize,
}

/// What a start led to.
struct Clusters {
    labels: Vec<u32>,
    /// `‖m_c‖²`.
    squares: Vec<f64>,
    inertia: f64,
    /// How much nearer to another mean a row is, at most.
    unrest: f64,
    rounds: u64,
    stopped: Option<Stop>,
    rose: bool,
}

impl ClusteringProblem<'_> {
    fn run(
        &self,
        params: &KernelKMeans,
        seed: u64,
        monitor: &Monitor<'_>,
        report: impl Fn(u64),
    ) -> Clusters {
        let mut labels = self.far_apart(seed);
        let mut best: Option<Clusters> = None;
        for round in 1..=params.max_iter as u64 {
            self.fill_empty(&mut labels);
            let (distances, squares) = self.distances(&labels);
            let at = |i: usize, c: u32| distances[i * self.k + c as usize];
            let inertia: f64 =
                (self.weights.iter().enumerate()).map(|(i, w)| w * at(i, labels[i])).sum();
            let nearest: Vec<u32> =
                distances.chunks_exact(self.k).map(|row| first_smallest(row) as u32).collect();
            let unrest =
                (0..labels.len()).map(|i| at(i, labels[i]) - at(i, nearest[i])).fold(0.0, f64::max);
            let before = best.as_ref().map(|b| b.inertia);
            let scale = inertia.abs().max(f64::MIN_POSITIVE);
            let rose = before.is_some_and(|before| inertia > before + ROUNDING * scale);
            if rose {
                // Only what is no kernel does this.
                return Clusters { rose, rounds: round, ..best.expect("a round before") };
            }
            let moved = labels != nearest;
            let stopped = monitor.stop();
            best = Some(Clusters {
                labels: labels.clone(),
                squares,
                inertia: inertia.max(0.0),
                unrest,
                rounds: round,
                stopped,
                rose: false,
            });
            report(round);
            let settled = before.is_some_and(|before| before - inertia <= params.tol * scale);
            if !moved || settled || stopped.is_some() {
                break;
            }
            labels = nearest;
        }
        best.expect("a round at least")
    }

    /// Rows, each drawn in proportion to its weight and its squared distance from the ones before; every
    /// row goes with the nearest.
    fn far_apart(&self, seed: u64) -> Vec<u32> {
        let n = self.own.len();
        let mut random = Random::new(seed);
        let mut labels = vec![0; n];
        let mut distances = vec![f64::INFINITY; n];
        let mut masses = self.weights.to_vec();
        let mut column = vec![0.0; n];
        for c in 0..self.k {
            let total: f64 = masses.iter().sum();
            if total <= 0.0 {
                // Rows that differ and are the same to the kernel.
                break;
            }
            let shares: Vec<f64> = masses.iter().map(|mass| mass / total).collect();
            let drawn = random.choice(&shares);
            self.ready.columns(&[drawn as u32], &self.ready, &mut [&mut column]);
            for i in 0..n {
                let far = self.own[i] + self.own[drawn] - 2.0 * column[i];
                // The row itself is nobody's neighbor again, whatever rounding says.
                let far = if i == drawn || far <= 1e-14 * self.own[i].abs() { 0.0 } else { far };
                if far < distances[i] {
                    (distances[i], labels[i]) = (far, c as u32);
                }
                masses[i] = self.weights[i] * distances[i];
            }
        }
        labels
    }

    /// Gives every cluster that nobody is in the row that lies farthest from its own mean: the sum falls.
    fn fill_empty(&self, labels: &mut [u32]) {
        let mut members = vec![0usize; self.k];
        labels.iter().for_each(|c| members[*c as usize] += 1);
        if members.iter().all(|m| *m > 0) {
            return;
        }
        for c in 0..self.k {
            if members[c] > 0 {
                continue;
            }
            let (distances, _) = self.distances(labels);
            let mut far: Option<(f64, usize)> = None;
            for (i, own) in labels.iter().enumerate() {
                let lost = self.weights[i] * distances[i * self.k + *own as usize];
                if members[*own as usize] > 1 && far.is_none_or(|(most, _)| lost > most) {
                    far = Some((lost, i));
                }
            }
            let Some((_, i)) = far else { return };
            members[labels[i] as usize] -= 1;
            members[c] += 1;
            labels[i] = c as u32;
        }
    }

    /// The squared distance of every row from every mean, and the means' squared lengths. A cluster that
    /// nobody is in is infinitely far.
    fn distances(&self, labels: &[u32]) -> (Vec<f64>, Vec<f64>) {
        let (n, k) = (self.own.len(), self.k);
        let mut sizes = vec![0.0; k];
        labels.iter().zip(self.weights).for_each(|(c, w)| sizes[*c as usize] += w);
        // Σⱼ wⱼ K(xᵢ, xⱼ) / s_c over each cluster.
        let mut sums = vec![0.0; n * k];
        sums.par_chunks_mut(ROWS * k).enumerate().for_each(|(b, sums)| {
            let first = b * ROWS;
            let m = sums.len() / k;
            let made;
            let values = match &self.gram {
                Some(gram) => &gram[first * n..(first + m) * n],
                None => {
                    let indices: Vec<u32> = (first as u32..(first + m) as u32).collect();
                    let mut block = vec![0.0; m * n];
                    self.ready.select(&indices).block(&self.ready, 0..n, &mut block);
                    made = block;
                    &made[..]
                }
            };
            for (sums, values) in sums.chunks_exact_mut(k).zip(values.chunks_exact(n)) {
                for ((c, w), value) in labels.iter().zip(self.weights).zip(values) {
                    sums[*c as usize] += w * value;
                }
                sums.iter_mut().zip(&sizes).for_each(|(sum, s)| *sum /= s.max(f64::MIN_POSITIVE));
            }
        });
        let mut squares = vec![0.0; k];
        for (i, c) in labels.iter().enumerate() {
            let c = *c as usize;
            squares[c] += self.weights[i] / sizes[c] * sums[i * k + c];
        }
        for (sums, own) in sums.chunks_exact_mut(k).zip(&self.own) {
            for (c, sum) in sums.iter_mut().enumerate() {
                *sum = if sizes[c] > 0.0 { own - 2.0 * *sum + squares[c] } else { f64::INFINITY };
            }
        }
        (sums, squares)
    }
}

/// The place of the smallest; ties go to the first.
fn first_smallest(row: &[f64]) -> usize {
    (1..row.len()).fold(0, |best, c| if row[c] < row[best] { c } else { best })
}

impl Clusters {
    fn model(self, problem: &KernelProblem<'_>, list: &UniqueRows) -> Result<KernelKMeansModel> {
        // Clusters that stayed empty, as of rows that are all one to the kernel, are left out.
        let k = self.squares.len();
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); k];
        self.labels.iter().enumerate().for_each(|(i, c)| members[*c as usize].push(i));
        let kept: Vec<usize> = (0..k).filter(|c| !members[*c].is_empty()).collect();
        let weight = |c: &usize| members[*c].iter().map(|i| list.weights[*i]).sum::<f64>();
        let cluster_weights: Vec<f64> = kept.iter().map(weight).collect();
        let mut support = Vec::new();
        let mut shares = Vec::new();
        for (c, total) in kept.iter().zip(&cluster_weights) {
            support.extend(members[*c].iter().map(|i| list.indices[*i]));
            shares.extend(members[*c].iter().map(|i| list.weights[*i] / total));
        }
        let shares = Matrix::from_shape_vec((1, shares.len()), shares).expect("a row of shares");
        let intercepts = kept.iter().map(|c| -0.5 * self.squares[*c]).collect();
        let expansion = problem.expansion(Precision::Double, support, shares, intercepts);
        let mut model = KernelKMeansModel {
            expansion,
            n_members: kept.iter().map(|c| members[*c].len() as u32).collect(),
            cluster_weights,
            labels: Vec::new(),
            inertia: self.inertia,
            n_iter: self.rounds,
        };
        model.labels = model.assign(&problem.rows)?;
        Ok(model)
    }
}

impl KernelKMeansModel {
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

    /// Of given kernel values, that of a row with itself is not among them: distances are then less by it.
    fn distances(&self, x: &Rows<'_>) -> Result<Matrix> {
        let mut out = self.expansion.decisions(x, &self.segments())?;
        let own = self.expansion.kernel_diagonal(x)?;
        for (mut row, own) in out.rows_mut().into_iter().zip(own) {
            row.iter_mut().for_each(|v| *v = own - 2.0 * *v);
        }
        Ok(out)
    }

    fn assign(&self, x: &Rows<'_>) -> Result<Vec<u32>> {
        // The kernel of a row with itself is the same for all clusters.
        let near = self.expansion.decisions(x, &self.segments())?;
        let nearest = |row: ndarray::ArrayView1<'_, f64>| {
            (1..row.len()).fold(0, |best, c| if row[c] > row[best] { c } else { best }) as u32
        };
        Ok(near.rows().into_iter().map(nearest).collect())
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
        if fits { Ok(()) } else { Err(Error::File("clusters that no rows could have".into())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crowds(n: usize, seed: u64) -> Matrix {
        let mut random = Random::new(seed);
        Matrix::from_shape_fn((n, 2), |(i, j)| 4.0 * ((i + j) % 3) as f64 + random.normal())
    }

    /// Plain k-means from given labels, over columns.
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
        let x = crowds(90, 1);
        let weights: Vec<f64> = (0..90).map(|i| 0.5 + (i % 4) as f64).collect();
        let data = Dataset::unlabeled(&x).weighted(&weights).unwrap();
        let params = KernelKMeans::new().n_clusters(3).kernel(Kernel::Linear).tol(0.0);

        let fitted = params.fit(&data, &Monitor::quiet()).unwrap();

        // From where it ended plain k-means does not move, and finds the same sum.
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
    fn the_sum_never_rises_from_round_to_round() {
        let x = crowds(120, 2);
        let sum = |rounds: usize| {
            let params = KernelKMeans::new().n_clusters(5).n_init(1).max_iter(rounds).tol(0.0);
            params.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap().inertia
        };

        let sums: Vec<f64> = (1..12).map(sum).collect();

        assert!(sums.windows(2).all(|s| s[1] <= s[0] + 1e-12 * s[0]), "{sums:?}");
        assert!(sums[10] < sums[0]);
    }

    #[test]
    fn a_ring_and_its_middle_are_two_clusters() {
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
    fn rows_that_are_the_same_need_no_more_clusters() {
        let x = ndarray::array![[1.0], [1.0], [5.0], [1.0]];

        let fitted = KernelKMeans::new().fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

        assert_eq!(fitted.n_clusters(), 2);
        assert_eq!(fitted.labels[0], fitted.labels[3]);
        assert!(fitted.inertia < 1e-12);
        assert!(fitted.certificate.to_string().contains("only 2 rows differ"));
    }

    #[test]
    fn a_cluster_that_nobody_is_in_takes_the_farthest_row() {
        let x = ndarray::array![[0.0], [1.0], [9.0]];
        let rows = Rows::from(&x);
        let ready: KernelRows<f64> = KernelRows::all(
            crate::kernel::Function::linear(),
            crate::kernel::Storage::Dense,
            &rows,
            &[],
            &[],
        );
        let problem = ClusteringProblem {
            own: ready.diagonal(),
            ready,
            gram: None,
            weights: &[1.0; 3],
            k: 2,
        };
        let mut labels = vec![0, 0, 0];

        problem.fill_empty(&mut labels);

        assert_eq!(labels, [0, 0, 1]);
    }
}
