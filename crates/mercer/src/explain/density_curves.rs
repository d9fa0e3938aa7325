//! The class-conditional distributions of a column as points, for plots.
//!
//! Every curve covers its class: the area under a density is one up to the tails, and no curve leaves the domain of
//! its distribution.

use crate::error::Result;
use crate::model::FactorizedLikelihood;

/// Points of a smooth curve.
const POINTS_PER_CURVE: usize = 200;
/// Points of a tail outside of a grid.
const POINTS_PER_TAIL: usize = 40;
/// Standard deviations on either side of the mean that a normal density is drawn over.
const NORMAL_RADIUS: f64 = 4.0;
/// Means that an exponential density is drawn over: all but exp(−8) of its probability.
const EXPONENTIAL_MEANS: f64 = 8.0;
/// The largest factor between the densities of neighboring points,
const STEEP: f64 = 1.3;
/// unless both are below this fraction of the peak.
const FLAT: f64 = 1e-3;
/// Counts that a distribution over counts is drawn over.
const MAX_COUNTS: usize = 1000;

/// The set on which the distribution of a column is defined.
#[derive(Clone, Debug, PartialEq)]
pub enum Domain {
    /// All real numbers: a density around the mean of each class.
    Real,
    /// Real numbers that are not negative.
    NonNegative,
    /// A density that is interpolated between these points.
    Grid(Vec<f64>),
    /// A density that is constant between these points.
    Steps(Vec<f64>),
    /// The integers from zero.
    Counts,
    /// The category codes below a number.
    Categories(usize),
    /// One outcome, of which only the probability is known: a binary feature, or a term.
    Outcome,
}

/// The distributions of one column, one entry per class.
#[derive(Clone, Debug, PartialEq)]
pub enum Distributions {
    /// Densities as lines through points `(x, p(x | class))`.
    Densities(Vec<Vec<(f64, f64)>>),
    /// Probabilities of the values.
    Masses {
        /// The values.
        values: Vec<f64>,
        /// `P(value | class)`: one list per class.
        probabilities: Vec<Vec<f64>>,
    },
    /// The probability of one outcome in every class.
    Outcome(Vec<f64>),
}

/// The distributions of a column of a naive Bayes model. `row` holds the other columns, missing if the model accepts
/// that; `moments(class)` returns mean and standard deviation of the column.
///
/// # Errors
/// If the row has another number of columns than the model.
pub fn distributions(
    model: &dyn FactorizedLikelihood,
    column: usize,
    row: &[f64],
    moments: impl Fn(usize) -> (f64, f64),
) -> Result<Distributions> {
    let n_classes = model.classes().len();
    let mut row = row.to_vec();
    let mut densities = |x: f64| -> Result<Vec<f64>> {
        row[column] = x;
        Ok(model.log_factors(&row)?.row(column).iter().map(|p| p.exp()).collect())
    };
    let domain = model.domain(column);
    let points_of_class = |c: usize| match &domain {
        Domain::NonNegative => spaced(0.0, EXPONENTIAL_MEANS * moments(c).0),
        _ => normal_points(moments(c)),
    };
    match &domain {
        Domain::Grid(points) => interpolated(points, n_classes, densities),
        Domain::Real | Domain::NonNegative => {
            let curve = |c: usize| {
                let points = points_of_class(c).into_iter();
                points.map(|x| Ok((x, densities(x)?[c]))).collect::<Result<Vec<_>>>()
            };
            Ok(Distributions::Densities((0..n_classes).map(curve).collect::<Result<_>>()?))
        }
        Domain::Steps(breaks) => {
            let mut curves = vec![Vec::new(); n_classes];
            for ends in breaks.windows(2) {
                let heights = densities(0.5 * ends[0] + 0.5 * ends[1])?;
                for (curve, height) in curves.iter_mut().zip(heights) {
                    curve.extend([(ends[0], height), (ends[1], height)]);
                }
            }
            for curve in &mut curves {
                curve.insert(0, (breaks[0], 0.0));
                curve.push((breaks[breaks.len() - 1], 0.0));
            }
            Ok(Distributions::Densities(curves))
        }
        Domain::Counts => {
            let ends = (0..n_classes).map(|c| moments(c).0 + NORMAL_RADIUS * moments(c).1 + 3.0);
            let end = ends.fold(0.0, f64::max).ceil() as usize;
            masses(end.min(MAX_COUNTS) + 1, n_classes, densities)
        }
        Domain::Categories(n) => masses(*n, n_classes, densities),
        Domain::Outcome => {
            let probability = |c: usize| moments(c).0;
            Ok(Distributions::Outcome((0..n_classes).map(probability).collect()))
        }
    }
}

/// Densities whose logarithm is linear between the points of a grid and that fall off outside of it. Steep parts get
/// points in between, because a line through the ends lies above the curve.
fn interpolated(
    grid: &[f64],
    n_classes: usize,
    mut densities: impl FnMut(f64) -> Result<Vec<f64>>,
) -> Result<Distributions> {
    let heights = grid.iter().map(|x| densities(*x)).collect::<Result<Vec<Vec<f64>>>>()?;
    let mut curves = vec![Vec::new(); n_classes];
    for (c, curve) in curves.iter_mut().enumerate() {
        let peak = heights.iter().map(|p| p[c]).fold(0.0, f64::max);
        let mut density = |x: f64| Ok(densities(x)?[c]);
        let ends = [(grid[0], -1.0), (grid[grid.len() - 1], 1.0)];
        let [left, right] = ends.map(|(end, side)| tail(end, side, FLAT * peak, &mut density));
        curve.extend(left?.into_iter().rev());
        for (k, x) in grid.iter().enumerate() {
            curve.push((*x, heights[k][c]));
            let Some(next) = heights.get(k + 1).map(|p| p[c]) else { break };
            for part in steep_parts(heights[k][c], next, FLAT * peak) {
                let x = x + part * (grid[k + 1] - x);
                curve.push((x, density(x)?));
            }
        }
        curve.extend(right?);
    }
    Ok(Distributions::Densities(curves))
}

/// Fractions of the way between two points at which a density with a linear logarithm changes by the factor [`STEEP`],
/// as long as it is above `negligible`.
fn steep_parts(from: f64, to: f64, negligible: f64) -> Vec<f64> {
    let (low, high) = (from.min(to).max(f64::MIN_POSITIVE), from.max(to));
    if high <= negligible || high <= STEEP * low {
        return Vec::new();
    }
    let decay = (high / low).ln();
    let shown = ((high / negligible).ln() / decay).min(1.0);
    let n = (shown * decay / STEEP.ln()).ceil();
    let parts = (1..=n as usize).map(|k| shown * k as f64 / n).filter(|part| *part < 1.0);
    match from >= to {
        true => parts.collect(),
        false => parts.map(|part| 1.0 - part).collect::<Vec<_>>().into_iter().rev().collect(),
    }
}

/// The curve from the end of a grid outwards, until the density is negligible; empty if it is at the end.
fn tail(
    end: f64,
    side: f64,
    negligible: f64,
    density: &mut impl FnMut(f64) -> Result<f64>,
) -> Result<Vec<(f64, f64)>> {
    let falls = |density: f64| density <= negligible;
    if falls(density(end)?) {
        return Ok(Vec::new());
    }
    // The scale of the tail is not known: the distance is doubled or halved until it just suffices.
    let mut distance = end.abs().max(1.0);
    while !falls(density(end + side * distance)?) && distance < f64::MAX / 4.0 {
        distance *= 2.0;
    }
    while falls(density(end + side * 0.5 * distance)?) && end + side * 0.25 * distance != end {
        distance *= 0.5;
    }
    let points =
        (1..=POINTS_PER_TAIL).map(|k| end + side * distance * k as f64 / POINTS_PER_TAIL as f64);
    points.map(|x| Ok((x, density(x)?))).collect()
}

/// The points of a normal density with this mean and standard deviation.
pub fn normal_points((mean, deviation): (f64, f64)) -> Vec<f64> {
    spaced(mean - NORMAL_RADIUS * deviation, mean + NORMAL_RADIUS * deviation)
}

fn spaced(low: f64, high: f64) -> Vec<f64> {
    let step = (high - low) / POINTS_PER_CURVE as f64;
    (0..=POINTS_PER_CURVE).map(|k| low + step * k as f64).collect()
}

/// The probabilities of the values `0, 1, …, n − 1`.
fn masses(
    n: usize,
    n_classes: usize,
    mut densities: impl FnMut(f64) -> Result<Vec<f64>>,
) -> Result<Distributions> {
    let values: Vec<f64> = (0..n).map(|k| k as f64).collect();
    let mut probabilities = vec![Vec::with_capacity(n); n_classes];
    for x in &values {
        probabilities.iter_mut().zip(densities(*x)?).for_each(|(to, p)| to.push(p));
    }
    Ok(Distributions::Masses { values, probabilities })
}
