//! A kernel density estimate per class (Parzen, 1962; John & Langley, 1995).
//!
//! `p(x | c) = Σᵢ N(x; xᵢ, h_c²) / n_c`, with Silverman's bandwidth
//! `h = 0.9 min(standard deviation, interquartile range / 1.34) n^(−1/5)`.
//!
//! The density is evaluated on a grid with linear binning: every row is distributed to its two nearest grid points, so
//! that the cost of a prediction does not depend on the number of rows. The log-density is interpolated linearly
//! between grid points; beyond the grid it follows the Gaussian kernel of the last row. It is normalized such that the
//! interpolated density integrates to one.

use super::{Density, NumericColumn, short};
use crate::explain::moments_of;
use mercer_num::Matrix;
use mercer_num::random::Random;
use mercer_num::special::normal_tails;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// The minimum and maximum number of grid points.
const MIN_POINTS: usize = 64;
const MAX_POINTS: usize = 1024;
/// Grid points per bandwidth.
const POINTS_PER_BANDWIDTH: f64 = 3.0;
/// The minimum bandwidth, in units of the resolution of discrete values.
const MIN_BANDWIDTH: f64 = 0.75;
/// The support of the truncated kernel, in bandwidths.
const KERNEL_RADIUS: f64 = 5.0;

/// The log-density of each class on a common grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// The first grid point.
    pub start: f64,
    /// The distance of grid points.
    pub step: f64,
    /// The bandwidth of each class.
    pub bandwidths: Vec<f64>,
    /// The distances of the first and last row of each class to the ends of the grid.
    pub margins: Vec<(f64, f64)>,
    /// `log p(point | class)`, one row per class and one column per grid point.
    pub log_densities: Matrix,
}

impl Kernel {
    /// The densities of a column and their leave-one-out log-likelihood; a class without values gets the density of
    /// all classes.
    pub(crate) fn fit(column: &NumericColumn<'_>) -> (Kernel, f64) {
        let values = column.values.values();
        let pooled = column.counts.sum_axis(ndarray::Axis(0));
        let all: f64 = pooled.sum();
        let n_classes = column.weights.len();
        // The rows of each class, or of all classes if it has none.
        let rows = |c: usize| match column.weights[c] > 0.0 {
            true => column.counts.row(c).to_owned(),
            false => pooled.clone(),
        };
        let mut bandwidths: Vec<f64> = (0..n_classes)
            .map(|c| match column.weights[c] {
                w if w > 0.0 => {
                    bandwidth(&values, &rows(c).to_vec(), w, (column.squares[c] / w).sqrt())
                }
                _ => bandwidth(&values, &pooled.to_vec(), all, column.variance.sqrt()),
            })
            // A narrower bandwidth would make the density of discrete values exceed one per resolution.
            .map(|h| h.max(MIN_BANDWIDTH * column.resolution()))
            .collect();
        let widest = bandwidths.iter().copied().fold(0.0, f64::max);
        let narrowest = bandwidths.iter().copied().fold(f64::INFINITY, f64::min);
        let low = values.first().copied().unwrap_or(0.0) - 3.0 * widest;
        let high = values.last().copied().unwrap_or(0.0) + 3.0 * widest;
        let points = (POINTS_PER_BANDWIDTH * (high - low) / narrowest).ceil();
        let points = (points as usize).clamp(MIN_POINTS, MAX_POINTS);
        let step = (high - low) / (points - 1) as f64;
        // The grid does not resolve narrower kernels.
        bandwidths.iter_mut().for_each(|h| *h = h.max(step));

        let mut kernel = Kernel {
            start: low,
            step,
            margins: Vec::with_capacity(n_classes),
            log_densities: Matrix::zeros((n_classes, points)),
            bandwidths,
        };
        let mut leave_one_out = 0.0;
        for c in 0..n_classes {
            let counts = rows(c);
            let mut binned = vec![0.0; points];
            for (x, n) in values.iter().zip(&counts) {
                let (at, fraction) = kernel.grid_position(*x);
                binned[at] += n * (1.0 - fraction);
                binned[at + 1] += n * fraction;
            }
            let h = kernel.bandwidths[c];
            let density = smoothed(&binned, h / step, counts.sum() * h);
            if column.weights[c] > 1.0 {
                leave_one_out += kernel.leave_one_out(c, &density, column, &values);
            }
            let ends = |mut x: Box<dyn Iterator<Item = (&f64, &f64)> + '_>| {
                x.find(|(_, n)| **n > 0.0).map_or(0.0, |(x, _)| *x)
            };
            let first = ends(Box::new(values.iter().zip(&counts)));
            let last = ends(Box::new(values.iter().zip(&counts).rev()));
            kernel.margins.push((first - low, high - last));
            let log_density = with_tails(&density, &binned, step / h, counts.sum() * h);
            kernel.log_densities.row_mut(c).assign(&ndarray::aview1(&log_density));
            let log_mass = kernel.mass(c).ln();
            kernel.log_densities.row_mut(c).mapv_inplace(|p| p - log_mass);
        }
        (kernel, leave_one_out)
    }

    /// Mean and standard deviation of a class.
    pub(crate) fn moments(&self, c: usize) -> (f64, f64) {
        let points = self.log_densities.row(c).into_iter().enumerate();
        moments_of(points.map(|(k, p)| (self.start + k as f64 * self.step, p.exp())))
    }

    /// The log-likelihood of the rows of a class, each under the kernels of the others.
    fn leave_one_out(
        &self,
        c: usize,
        density: &[f64],
        column: &NumericColumn<'_>,
        values: &[f64],
    ) -> f64 {
        let (n, most) = (column.weights[c], -column.resolution().ln());
        let h = self.bandwidths[c];
        let peak = 1.0 / (TAU.sqrt() * h);
        let next = peak * (-0.5 * (self.step / h).powi(2)).exp();
        let mut total = 0.0;
        for (x, count) in values.iter().zip(column.counts.row(c)).filter(|(_, n)| **n > 0.0) {
            let (at, fraction) = self.grid_position(*x);
            let all = density[at] * (1.0 - fraction) + density[at + 1] * fraction;
            // The contribution of the row itself to the interpolated density.
            let own = (fraction * fraction + (1.0 - fraction) * (1.0 - fraction)) * peak
                + 2.0 * fraction * (1.0 - fraction) * next;
            let others = (n * all - own) / (n - 1.0);
            total += count * others.max(1e-12 * peak / n).ln().min(most);
        }
        total
    }

    /// The integral of the density of a class: of the interpolation between grid points, and of the Gaussian tails
    /// beyond them.
    fn mass(&self, c: usize) -> f64 {
        let log_p = self.log_densities.row(c).to_vec();
        let between = |p: &[f64]| p[0].max(p[1]).exp() * mean_exp(-(p[1] - p[0]).abs());
        let inside: f64 = log_p.windows(2).map(between).sum::<f64>() * self.step;
        let (h, (before, after)) = (self.bandwidths[c], self.margins[c]);
        let tail = |log_p: f64, margin: f64| log_p.exp() * h * mills_ratio(margin / h);
        inside + tail(log_p[0], before) + tail(log_p[log_p.len() - 1], after)
    }

    /// The grid points.
    pub(crate) fn points(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.log_densities.ncols()).map(|k| self.start + k as f64 * self.step)
    }

    /// The grid point below a value, and its position between that point and the next, as a fraction.
    fn grid_position(&self, x: f64) -> (usize, f64) {
        let position = (x - self.start) / self.step;
        let at = (position as usize).min(self.log_densities.ncols() - 2);
        (at, position - at as f64)
    }

    pub(crate) fn fits(&self, n_classes: usize) -> bool {
        self.start.is_finite()
            && self.step.is_finite()
            && self.step > 0.0
            && self.bandwidths.len() == n_classes
            && self.bandwidths.iter().all(|h| h.is_finite() && *h > 0.0)
            && self.margins.len() == n_classes
            && self.margins.iter().all(|(a, b)| a.is_finite() && b.is_finite())
            && self.log_densities.nrows() == n_classes
            && self.log_densities.ncols() >= 2
            && self.log_densities.iter().all(|p| p.is_finite())
    }

    fn log_density(&self, class: usize, x: f64) -> f64 {
        let mut scores = vec![0.0; self.bandwidths.len()];
        self.log_density_adder()(x, &mut scores);
        scores[class]
    }
}

/// `∫₀¹ exp(t d) dt`.
fn mean_exp(d: f64) -> f64 {
    if d == 0.0 { 1.0 } else { d.exp_m1() / d }
}

/// Mills' ratio `exp(t²/2) ∫ₜ^∞ exp(−u²/2) du`, by its continued fraction for large `t`.
fn mills_ratio(t: f64) -> f64 {
    if t < 5.0 {
        return normal_tails(t).upper * TAU.sqrt() * (0.5 * t * t).exp();
    }
    1.0 / (1..=8).rev().fold(t, |rest, k| t + f64::from(k) / rest)
}

/// Silverman's rule for weighted values in ascending order.
fn bandwidth(values: &[f64], counts: &[f64], weight: f64, deviation: f64) -> f64 {
    let quantile = |q: f64| {
        let mut left = q * weight;
        for (x, n) in values.iter().zip(counts) {
            left -= n;
            if left <= 0.0 {
                return *x;
            }
        }
        values.last().copied().unwrap_or(0.0)
    };
    let quartiles = (quantile(0.75) - quantile(0.25)) / 1.34;
    let spread = if quartiles > 0.0 { deviation.min(quartiles) } else { deviation };
    0.9 * spread * weight.powf(-0.2)
}

/// Binned rows convolved with a Gaussian kernel of `width` grid steps, divided by `scale √(2π)`.
fn smoothed(binned: &[f64], width: f64, scale: f64) -> Vec<f64> {
    let radius = (KERNEL_RADIUS * width).ceil() as usize;
    let kernel_values: Vec<f64> = (0..=radius)
        .map(|k| (-0.5 * (k as f64 / width).powi(2)).exp() / (TAU.sqrt() * scale))
        .collect();
    let mut out = vec![0.0; binned.len()];
    for (at, n) in binned.iter().enumerate().filter(|(_, n)| **n > 0.0) {
        let first = at.saturating_sub(radius);
        let last = (at + radius).min(binned.len() - 1);
        for (to, cell) in out[first..=last].iter_mut().enumerate() {
            *cell += n * kernel_values[(first + to).abs_diff(at)];
        }
    }
    out
}

/// The logarithms, and beyond the radius of all kernels the tail of the nearest one on either side.
fn with_tails(density: &[f64], binned: &[f64], step: f64, scale: f64) -> Vec<f64> {
    let n = density.len();
    let tail = |from: usize, to: usize| {
        let d = from.abs_diff(to) as f64 * step;
        (binned[from] / (TAU.sqrt() * scale)).ln() - 0.5 * d * d
    };
    let mut out: Vec<f64> = density.iter().map(|p| p.ln()).collect();
    for order in [false, true] {
        let mut nearest = None;
        for k in 0..n {
            let at = if order { n - 1 - k } else { k };
            if binned[at] > 0.0 {
                nearest = Some(at);
            }
            if let Some(from) = nearest {
                out[at] = out[at].max(tail(from, at));
            }
        }
    }
    out
}

impl Density for Kernel {
    fn log_density_adder(&self) -> impl Fn(f64, &mut [f64]) {
        let n_classes = self.bandwidths.len();
        let points = self.log_densities.ncols();
        let by_point: Vec<f64> =
            self.log_densities.columns().into_iter().flat_map(|c| c.to_vec()).collect();
        let end = self.start + self.step * (points - 1) as f64;
        move |x, scores| {
            if x >= self.start && x <= end {
                let (at, fraction) = self.grid_position(x);
                let (low, high) = by_point[at * n_classes..][..2 * n_classes].split_at(n_classes);
                for (score, (a, b)) in scores.iter_mut().zip(low.iter().zip(high)) {
                    *score += a + fraction * (b - a);
                }
                return;
            }
            let before = x < self.start;
            let beyond = if before { self.start - x } else { x - end };
            let edge = if before { 0 } else { points - 1 };
            for (c, score) in scores.iter_mut().enumerate() {
                let margin = if before { self.margins[c].0 } else { self.margins[c].1 };
                let h = self.bandwidths[c];
                // The kernel of the last row, from the end of the grid outwards.
                *score +=
                    by_point[edge * n_classes + c] - (beyond / h) * (0.5 * beyond / h + margin / h);
            }
        }
    }

    fn sample(&self, class: usize, random: &mut Random) -> f64 {
        let density: Vec<f64> = self.log_densities.row(class).mapv(f64::exp).to_vec();
        let total: f64 = density.iter().sum();
        let probabilities: Vec<f64> = density.iter().map(|p| p / total).collect();
        let at = random.choice(&probabilities) as f64 + random.uniform() - 0.5;
        self.start + self.step * at
    }

    fn formula(&self, class: usize, x: f64) -> String {
        let p = self.log_density(class, x).exp();
        format!("KDE({}; bandwidth {}) = {}", short(x), short(self.bandwidths[class]), short(p))
    }
}
