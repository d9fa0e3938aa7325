//! A smooth curve: a small bell on every row of the class (Parzen, 1962; John & Langley, 1995).
//!
//! `p(x | c) = Σᵢ N(x; xᵢ, h_c²) / n_c`, with Silverman's bandwidth
//! `h = 0.9 min(deviation, quartile range / 1.34) n^(−1/5)`.
//!
//! The curve is kept on a grid, rows dealt to the two nearest points in proportion, so that a
//! prediction costs the same whether ten rows were learned or ten million. Between points the
//! logarithm is taken as straight; beyond the grid the last bell falls off.

use super::{Curve, Numbers, short};
use crate::explain::moments_of;
use mercer_num::Matrix;
use mercer_num::random::Random;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// Points of a grid.
const LEAST_POINTS: usize = 64;
const MOST_POINTS: usize = 1024;
/// Points of a grid within one bandwidth.
const FINENESS: f64 = 3.0;
/// Steps between discrete values that a bandwidth takes at least.
const DISCRETE: f64 = 0.75;
/// Bandwidths beyond which a bell has nothing to add to what is near.
const REACH: f64 = 5.0;

/// The curve of each class on one grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// The first point of the grid.
    pub start: f64,
    /// From one point to the next.
    pub step: f64,
    /// The bandwidths.
    pub bandwidths: Vec<f64>,
    /// How far inside the grid each class's first and last row lies.
    pub margins: Vec<(f64, f64)>,
    /// `log p(point | class)`, one row a class and one column a point.
    pub log_densities: Matrix,
}

impl Kernel {
    /// The curves of a column and how well they foresee its rows; a class that saw nothing takes
    /// that of all.
    pub(crate) fn fit(column: &Numbers<'_>) -> (Kernel, f64) {
        let values = column.tally.values();
        let pooled = column.counts.sum_axis(ndarray::Axis(0));
        let all: f64 = pooled.sum();
        let n_classes = column.weights.len();
        // The rows of each class; those of all where it has none.
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
            // Over discrete values, narrower bells would add up to more than one.
            .map(|h| h.max(DISCRETE * column.resolution()))
            .collect();
        let widest = bandwidths.iter().copied().fold(0.0, f64::max);
        let narrowest = bandwidths.iter().copied().fold(f64::INFINITY, f64::min);
        let low = values.first().copied().unwrap_or(0.0) - 3.0 * widest;
        let high = values.last().copied().unwrap_or(0.0) + 3.0 * widest;
        let points = (FINENESS * (high - low) / narrowest).ceil();
        let points = (points as usize).clamp(LEAST_POINTS, MOST_POINTS);
        let step = (high - low) / (points - 1) as f64;
        // No bell is narrower than the grid can show.
        bandwidths.iter_mut().for_each(|h| *h = h.max(step));

        let mut kernel = Kernel {
            start: low,
            step,
            margins: Vec::with_capacity(n_classes),
            log_densities: Matrix::zeros((n_classes, points)),
            bandwidths,
        };
        let mut held_out = 0.0;
        for c in 0..n_classes {
            let counts = rows(c);
            let mut dealt = vec![0.0; points];
            for (x, n) in values.iter().zip(&counts) {
                let (at, share) = kernel.place(*x);
                dealt[at] += n * (1.0 - share);
                dealt[at + 1] += n * share;
            }
            let h = kernel.bandwidths[c];
            let density = smoothed(&dealt, h / step, counts.sum() * h);
            if column.weights[c] > 1.0 {
                held_out += kernel.held_out(c, &density, column, &values);
            }
            let ends = |mut x: Box<dyn Iterator<Item = (&f64, &f64)> + '_>| {
                x.find(|(_, n)| **n > 0.0).map_or(0.0, |(x, _)| *x)
            };
            let first = ends(Box::new(values.iter().zip(&counts)));
            let last = ends(Box::new(values.iter().zip(&counts).rev()));
            kernel.margins.push((first - low, high - last));
            let log_density = with_tails(&density, &dealt, step / h, counts.sum() * h);
            kernel.log_densities.row_mut(c).assign(&ndarray::aview1(&log_density));
        }
        (kernel, held_out)
    }

    /// The mean and the deviation of a class.
    pub(crate) fn moments(&self, c: usize) -> (f64, f64) {
        let points = self.log_densities.row(c).into_iter().enumerate();
        moments_of(points.map(|(k, p)| (self.start + k as f64 * self.step, p.exp())))
    }

    /// The log-likelihood of the rows of a class, each under the bells of the others.
    fn held_out(&self, c: usize, density: &[f64], column: &Numbers<'_>, values: &[f64]) -> f64 {
        let (n, most) = (column.weights[c], -column.resolution().ln());
        let h = self.bandwidths[c];
        let peak = 1.0 / (TAU.sqrt() * h);
        let next = peak * (-0.5 * (self.step / h).powi(2)).exp();
        let mut total = 0.0;
        for (x, count) in values.iter().zip(column.counts.row(c)).filter(|(_, n)| **n > 0.0) {
            let (at, share) = self.place(*x);
            let all = density[at] * (1.0 - share) + density[at + 1] * share;
            // What a row dealt to two points adds to the line between them.
            let own = (share * share + (1.0 - share) * (1.0 - share)) * peak
                + 2.0 * share * (1.0 - share) * next;
            let others = (n * all - own) / (n - 1.0);
            total += count * others.max(1e-12 * peak / n).ln().min(most);
        }
        total
    }

    /// The grid point below a number and the share of the way to the next.
    fn place(&self, x: f64) -> (usize, f64) {
        let place = (x - self.start) / self.step;
        let at = (place as usize).min(self.log_densities.ncols() - 2);
        (at, place - at as f64)
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
        self.adder()(x, &mut scores);
        scores[class]
    }
}

/// Silverman's rule for weighted values in rising order.
fn bandwidth(values: &[f64], counts: &[f64], weight: f64, deviation: f64) -> f64 {
    let quantile = |share: f64| {
        let mut left = share * weight;
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

/// Bells of a width in grid steps on dealt rows, divided by `scale √(2π)`.
fn smoothed(dealt: &[f64], width: f64, scale: f64) -> Vec<f64> {
    let reach = (REACH * width).ceil() as usize;
    let bell: Vec<f64> = (0..=reach)
        .map(|k| (-0.5 * (k as f64 / width).powi(2)).exp() / (TAU.sqrt() * scale))
        .collect();
    let mut out = vec![0.0; dealt.len()];
    for (at, n) in dealt.iter().enumerate().filter(|(_, n)| **n > 0.0) {
        let first = at.saturating_sub(reach);
        let last = (at + reach).min(dealt.len() - 1);
        for (to, cell) in out[first..=last].iter_mut().enumerate() {
            *cell += n * bell[(first + to).abs_diff(at)];
        }
    }
    out
}

/// Logarithms, and where nothing is near, the tail of the nearest bell on either side.
fn with_tails(density: &[f64], dealt: &[f64], step: f64, scale: f64) -> Vec<f64> {
    let n = density.len();
    let tail = |from: usize, to: usize| {
        let d = from.abs_diff(to) as f64 * step;
        (dealt[from] / (TAU.sqrt() * scale)).ln() - 0.5 * d * d
    };
    let mut out: Vec<f64> = density.iter().map(|p| p.ln()).collect();
    for order in [false, true] {
        let mut nearest = None;
        for k in 0..n {
            let at = if order { n - 1 - k } else { k };
            if dealt[at] > 0.0 {
                nearest = Some(at);
            }
            if let Some(from) = nearest {
                out[at] = out[at].max(tail(from, at));
            }
        }
    }
    out
}

impl Curve for Kernel {
    fn adder(&self) -> impl Fn(f64, &mut [f64]) {
        let n_classes = self.bandwidths.len();
        let points = self.log_densities.ncols();
        let by_point: Vec<f64> =
            self.log_densities.columns().into_iter().flat_map(|c| c.to_vec()).collect();
        let end = self.start + self.step * (points - 1) as f64;
        move |x, scores| {
            if x >= self.start && x <= end {
                let (at, share) = self.place(x);
                let (low, high) = by_point[at * n_classes..][..2 * n_classes].split_at(n_classes);
                for (score, (a, b)) in scores.iter_mut().zip(low.iter().zip(high)) {
                    *score += a + share * (b - a);
                }
                return;
            }
            let before = x < self.start;
            let beyond = if before { self.start - x } else { x - end };
            let edge = if before { 0 } else { points - 1 };
            for (c, score) in scores.iter_mut().enumerate() {
                let margin = if before { self.margins[c].0 } else { self.margins[c].1 };
                let h = self.bandwidths[c];
                // The bell on the last row, from the edge of the grid outwards.
                *score +=
                    by_point[edge * n_classes + c] - (beyond / h) * (0.5 * beyond / h + margin / h);
            }
        }
    }

    fn sample(&self, class: usize, random: &mut Random) -> f64 {
        let density: Vec<f64> = self.log_densities.row(class).mapv(f64::exp).to_vec();
        let total: f64 = density.iter().sum();
        let shares: Vec<f64> = density.iter().map(|p| p / total).collect();
        let at = random.choice(&shares) as f64 + random.uniform() - 0.5;
        self.start + self.step * at
    }

    fn formula(&self, class: usize, x: f64) -> String {
        let p = self.log_density(class, x).exp();
        format!("bells at {} of width {} = {}", short(x), short(self.bandwidths[class]), short(p))
    }
}
