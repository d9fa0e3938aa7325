//! Densities are densities: every likelihood of a column integrates (or sums) to one in every class, falls below the
//! outlier threshold far from the data, and is drawn with area one inside its domain.

use super::{Cases, real_densities, small};
use crate::cases::*;
use mercer::bayes::likelihood::Likelihood;
use mercer::bayes::{Family, Likelihoods, MixedNb, MixedNbModel};
use mercer::decision::outlier_threshold;
use mercer::explain::{Distributions, distributions};
use mercer::prelude::*;
use mercer_num::random::Random;

/// Families for numeric columns that have a density or probability of their own.
const FAMILIES: [Family; 10] = [
    Family::Auto,
    Family::Schema,
    Family::Kernel,
    Family::EqualWidth,
    Family::EqualFrequency,
    Family::Entropy,
    Family::Split,
    Family::Bernoulli,
    Family::Poisson,
    Family::Exponential,
];

/// Columns of 120 values: the first half belongs to one class, the second to another.
fn columns() -> Vec<(&'static str, Vec<f64>)> {
    let mut random = Random::new(7);
    let mut draw = |f: &dyn Fn(&mut Random, f64) -> f64| -> Vec<f64> {
        (0..120).map(|i| f(&mut random, if i < 60 { 0.0 } else { 1.0 })).collect()
    };
    vec![
        ("uniform", draw(&|r, _| r.uniform())),
        ("normal", draw(&|r, c| r.normal() + c)),
        ("far from zero", draw(&|r, c| 1e6 + r.normal() + c)),
        ("positive", draw(&|r, c| (r.normal() + c).exp())),
        ("counts", draw(&|r, c| (4.0 * r.uniform() + 2.0 * c).floor())),
        ("indicator", draw(&|r, c| f64::from(u8::from(r.uniform() < 0.3 + 0.4 * c)))),
        ("constant", draw(&|_, _| 5.0)),
        ("zeros", draw(&|_, _| 0.0)),
        ("outlier", draw(&|r, c| if r.uniform() < 0.02 { 1e4 } else { r.normal() + c })),
        ("tiny", draw(&|r, c| 1e-9 * (r.normal() + c))),
        ("many values", (0..4000).map(|_| random.normal()).collect()),
    ]
}

fn fit_column(values: &[f64], family: Family) -> Result<(MixedNbModel, Matrix)> {
    let x = Matrix::from_shape_vec((values.len(), 1), values.to_vec()).unwrap();
    let codes: Vec<u32> = (0..values.len()).map(|i| (2 * i / values.len()) as u32).collect();
    let classes = Classes::from_names(["a", "b"]);
    let data = Dataset::classes(&x, &codes, &classes)?;
    let nb = MixedNb::new().likelihood(Likelihoods::One(family));
    Ok((nb.fit(&data, &Monitor::quiet())?.model, x))
}

/// Points between which the density is smooth, from where its tails are negligible on either side.
fn pieces(likelihood: &Likelihood, c: usize) -> Vec<f64> {
    let spaced = |low: f64, high: f64, n: usize| -> Vec<f64> {
        (0..=n).map(|k| low + (high - low) * k as f64 / n as f64).collect()
    };
    match likelihood {
        Likelihood::Gaussian(l) => {
            let (m, s) = (l.means[c], l.variances[c].sqrt());
            spaced(m - 10.0 * s, m + 10.0 * s, 20)
        }
        Likelihood::Exponential(l) => spaced(0.0, 40.0 * l.means[c], 40),
        Likelihood::Kernel(l) => {
            let (n, h) = (l.log_densities.ncols(), l.bandwidths[c]);
            let end = l.start + l.step * (n - 1) as f64;
            let mut all = spaced(l.start - 10.0 * h, l.start, 20);
            all.extend((1..n).map(|k| l.start + l.step * k as f64));
            all.extend(spaced(end, end + 10.0 * h, 20).into_iter().skip(1));
            all
        }
        Likelihood::Histogram(l) => {
            let far = 50.0 * l.tail_scale;
            let mut all = spaced(l.range.0 - far, l.range.0, 100);
            all.extend(&l.cuts);
            all.extend(spaced(l.range.1, l.range.1 + far, 100));
            all.dedup();
            all
        }
        other => panic!("{other:?} is not a density"),
    }
}

/// `∫ p(x | c) dx` by the midpoint rule, or `Σ P(x | c)` of a distribution over counts.
fn mass(model: &MixedNbModel, c: usize) -> f64 {
    let likelihood = &model.likelihoods[0];
    let p = |points: &[f64]| -> Vec<f64> {
        let x = Matrix::from_shape_vec((points.len(), 1), points.to_vec()).unwrap();
        let joint = model.log_joint(&Rows::from(&x)).unwrap();
        joint.column(c).mapv(|s| (s - model.log_priors[c]).exp()).to_vec()
    };
    if let Likelihood::Poisson(l) = likelihood {
        let end = (l.rates[c] + 40.0 * l.rates[c].sqrt() + 60.0) as usize;
        // Large rates begin far from zero.
        let begin = (l.rates[c] - 40.0 * l.rates[c].sqrt()).max(0.0) as usize;
        return p(&(begin..end).map(|k| k as f64).collect::<Vec<_>>()).iter().sum();
    }
    const STEPS: usize = 20;
    let (mut points, mut widths) = (Vec::new(), Vec::new());
    for ends in pieces(likelihood, c).windows(2) {
        let width = (ends[1] - ends[0]) / STEPS as f64;
        points.extend((0..STEPS).map(|k| ends[0] + width * (k as f64 + 0.5)));
        widths.extend([width; STEPS]);
    }
    p(&points).iter().zip(widths).map(|(p, width)| p * width).sum()
}

#[test]
fn every_likelihood_of_a_column_integrates_to_one() {
    let cases = Cases::default();
    for (name, values) in columns() {
        for family in FAMILIES {
            // Counts and waiting times are not negative.
            let Ok((model, _)) = fit_column(&values, family) else { continue };
            for c in 0..2 {
                let mass = mass(&model, c);
                assert!((mass - 1.0).abs() < 1e-3, "{family:?} of {name}, class {c}: {mass}");
                cases.checked();
            }
        }
    }
    cases.at_least(204);
}

#[test]
fn every_likelihood_falls_below_the_outlier_threshold_far_away() {
    let cases = Cases::default();
    for (name, values) in columns() {
        for family in FAMILIES {
            let Ok((model, x)) = fit_column(&values, family) else { continue };
            let density = |x: &Matrix| model.log_density(&Rows::from(x)).unwrap();
            let threshold = outlier_threshold(&density(&x), 0.01).unwrap();
            // Negative values have density zero under an exponential, fractions probability zero under a Poisson
            // distribution: such rows are no reference for outliers.
            if threshold == f64::NEG_INFINITY {
                assert!(
                    matches!(family, Family::Poisson | Family::Exponential),
                    "{family:?} of {name}"
                );
                continue;
            }
            for far in [1e9, 1e12, f64::MAX.sqrt()] {
                let far = density(&ndarray::array![[far]])[0];
                assert!(far < threshold, "{family:?} of {name}: {far}, threshold {threshold}");
                cases.checked();
            }
        }
    }
    cases.at_least(306);
}

#[test]
fn the_posterior_outside_the_range_is_that_of_the_outermost_bin() {
    let (_, values) = columns().swap_remove(1);
    let cuts = [Family::EqualWidth, Family::EqualFrequency, Family::Entropy, Family::Split];
    for family in cuts {
        let (model, _) = fit_column(&values, family).unwrap();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (inside, outside) in [(low, low - 1e3), (high, high + 1e3), (high, f64::MAX)] {
            let rows = ndarray::array![[inside], [outside]];
            let p = model.log_proba(&Rows::from(&rows)).unwrap();
            assert!((p[[0, 0]] - p[[1, 0]]).abs() < 1e-9, "{family:?}: {p}");
        }
    }
}

#[test]
fn real_densities_of_the_catalog_fall_far_away() {
    let cases = Cases::default();
    for card in real_densities() {
        let case = Case::new(card, small());
        let fitted = fit(card, &case).unwrap();
        let model = fitted.as_model().generative().unwrap();
        let densities = model.log_density(&Rows::from(&case.x)).unwrap();
        let threshold = outlier_threshold(&densities, 0.01).unwrap();

        let far = Matrix::from_elem((1, case.x.ncols()), 1e6);

        assert!(model.log_density(&Rows::from(&far)).unwrap()[0] < threshold, "{}", card.id);
        cases.checked();
    }
    cases.at_least(5);
}

#[test]
fn drawn_densities_have_area_one_and_stay_in_their_domain() {
    let cases = Cases::default();
    for (name, values) in columns() {
        for family in FAMILIES {
            let Ok((model, _)) = fit_column(&values, family) else { continue };
            let means = model.class_means().unwrap();
            let deviations = means.deviations.unwrap();
            let moments = |c: usize| (means.centers[[c, 0]], deviations[[c, 0]]);
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);

            let drawn = distributions(&model, 0, &[f64::NAN], moments).unwrap();

            let areas: Vec<f64> = match &drawn {
                Distributions::Densities(curves) => {
                    let area = |p: &Vec<(f64, f64)>| {
                        p.windows(2).map(|e| 0.5 * (e[0].1 + e[1].1) * (e[1].0 - e[0].0)).sum()
                    };
                    curves.iter().map(area).collect()
                }
                Distributions::Masses { probabilities, .. } => {
                    probabilities.iter().map(|p| p.iter().sum()).collect()
                }
                Distributions::Outcome(_) => panic!("{family:?} has a density"),
            };
            // What is not drawn: the tails, and values beyond the last plotted count.
            let far =
                matches!(&drawn, Distributions::Masses { .. } if means.centers[[0, 0]] > 900.0);
            for area in areas.iter().filter(|_| !far) {
                assert!((0.97..1.01).contains(area), "{family:?} of {name}: {area}");
                cases.checked();
            }
            // A discrete value stands for an interval as wide as the resolution.
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let steps = sorted.windows(2).map(|v| v[1] - v[0]).filter(|step| *step > 0.0);
            // Many values are counted in bins.
            let bin = 0.01 * (sorted[sorted.len() - 1] - low);
            let resolution = steps.fold(1.0, f64::min).max(bin);
            let allowed = match model.likelihoods[0].name() {
                "histogram" => low.min(0.0) - resolution,
                "exponential" => 0.0,
                _ => f64::NEG_INFINITY,
            };
            if let Distributions::Densities(curves) = &drawn {
                assert!(
                    curves.iter().flatten().all(|(x, _)| *x >= allowed),
                    "{family:?} of {name}"
                );
            }
        }
    }
    cases.at_least(198);
}
