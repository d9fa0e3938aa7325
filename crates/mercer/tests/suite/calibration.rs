//! Calibrated probabilities of support vector machines: properties of all estimators and calibration methods.

use mercer::catalog::{CATALOG, Card, Estimator};
use mercer::prelude::*;
use mercer::preprocess::Features;
use mercer::train::Trained;
use mercer_num::random::Random;

/// Rows of overlapping classes; every third has weight two.
fn overlapping(n: usize, n_classes: u32, seed: u64) -> (Matrix, Vec<u32>, Classes, Vec<f64>) {
    let mut random = Random::new(seed);
    let codes: Vec<u32> = (0..n as u32).map(|i| i % n_classes).collect();
    let x = Matrix::from_shape_fn((n, 3), |(i, j)| {
        1.3 * f64::from(codes[i]) * (j as f64 - 0.7) + 1.2 * random.normal()
    });
    let classes = Classes::from_names((0..n_classes).map(|c| format!("class {c}")));
    let weights = (0..n).map(|i| if i % 3 == 0 { 2.0 } else { 1.0 }).collect();
    (x, codes, classes, weights)
}

/// The estimators with a `probability` parameter.
fn calibrated() -> impl Iterator<Item = &'static Card> {
    CATALOG.iter().filter(|card| card.specs.iter().any(|spec| spec.name == "probability"))
}

/// Each of them with every calibration method and several losses.
fn variants(card: &Card) -> Vec<Estimator> {
    let options: &[&[(&str, &str)]] = match card.id {
        "svc" => &[&[], &[("multiclass", "ovr")], &[("slack_power", "2")]],
        "linear-svc" => &[
            &[],
            &[("loss", "hinge")],
            &[("penalty", "l1")],
            &[("loss", "hinge"), ("intercept", "unpenalized")],
            &[("fit_intercept", "false")],
        ],
        _ => &[&[("nu", "0.5")]],
    };
    let with = |estimator: Estimator, (name, value): &(&str, &str)| {
        estimator.set_from_str(name, value).unwrap()
    };
    let mut variants = Vec::new();
    for options in options {
        for calibration in ["sigmoid", "isotonic", "venn-abers"] {
            let plain = Estimator::from_id(card.id).unwrap();
            let plain = plain.set_from_str("probability", "true").unwrap();
            let plain = plain.set_from_str("calibration", calibration).unwrap();
            variants.push(options.iter().fold(plain, with));
        }
    }
    variants
}

fn argmax(row: &[f64]) -> usize {
    (0..row.len()).fold(0, |best, c| if row[c] > row[best] { c } else { best })
}

#[test]
fn the_most_probable_class_is_the_predicted_one() {
    assert_eq!(calibrated().count(), 3);
    for n_classes in [2, 4] {
        let (x, codes, classes, weights) = overlapping(120, n_classes, 5);
        let (fresh, ..) = overlapping(300, n_classes, 6);
        let data = Dataset::classes(&x, &codes, &classes).unwrap().weighted(&weights).unwrap();
        for estimator in calibrated().flat_map(variants) {
            let what = format!("{n_classes} classes, {:?}", estimator);
            let fitted = estimator.fit(&data, &Monitor::quiet()).unwrap();

            let model = fitted.as_model();
            model.check().unwrap();
            let able = model.probabilistic().unwrap();
            for rows in [&fresh, &(&fresh * 1e6), &x] {
                let rows = Rows::from(rows);
                let proba = able.log_proba(&rows).unwrap().mapv(f64::exp);
                let predicted = able.predict(&rows).unwrap();
                let scores = able.scores(&rows).unwrap();
                for (i, row) in proba.outer_iter().enumerate() {
                    assert!((row.sum() - 1.0).abs() < 1e-9, "{what}");
                    assert_eq!(argmax(&row.to_vec()), predicted[i] as usize, "{what}: {row}");
                    assert_eq!(argmax(&scores.row(i).to_vec()), predicted[i] as usize, "{what}");
                }
                // For two classes, the probability is nondecreasing in the decision value.
                if n_classes == 2 {
                    let decisions = model.decision_function().unwrap().decisions(&rows).unwrap();
                    let mut order: Vec<usize> = (0..proba.nrows()).collect();
                    order.sort_by(|a, b| decisions[[*a, 0]].total_cmp(&decisions[[*b, 0]]));
                    let nondecreasing =
                        order.is_sorted_by(|a, b| proba[[*a, 1]] <= proba[[*b, 1]] + 1e-12);
                    assert!(nondecreasing, "{what}");
                }
            }
        }
    }
}

#[test]
fn mean_confidence_is_close_to_the_accuracy() {
    let (x, codes, classes, _) = overlapping(400, 2, 7);
    let (fresh, truth, ..) = overlapping(3000, 2, 8);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    for estimator in calibrated().flat_map(variants) {
        let fitted = estimator.fit(&data, &Monitor::quiet()).unwrap();

        let able = fitted.as_model().probabilistic().unwrap();
        let proba = able.log_proba(&Rows::from(&fresh)).unwrap().mapv(f64::exp);
        let (mut confidence, mut accuracy, mut brier) = (0.0, 0.0, 0.0);
        for (row, truth) in proba.outer_iter().zip(&truth) {
            let best = argmax(&row.to_vec());
            confidence += row[best] / 3000.0;
            accuracy += f64::from(u8::from(best == *truth as usize)) / 3000.0;
            brier += (1.0 - row[*truth as usize]).powi(2) / 3000.0;
        }
        assert!((confidence - accuracy).abs() < 0.08, "{estimator:?}: {confidence}, {accuracy}");
        // A constant probability of ½ scores 1/4.
        assert!(brier < 0.2, "{estimator:?}: {brier}");
    }
}

#[test]
fn a_class_without_rows_has_probability_zero() {
    let (x, codes, _, _) = overlapping(80, 2, 9);
    // Two of four classes have rows.
    let codes: Vec<u32> = codes.iter().map(|c| 1 + 2 * c).collect();
    let classes = Classes::from_names(["a", "b", "c", "d"]);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    for estimator in calibrated().flat_map(variants) {
        let fitted = estimator.fit(&data, &Monitor::quiet()).unwrap();

        let able = fitted.as_model().probabilistic().unwrap();
        let proba = able.log_proba(&Rows::from(&x)).unwrap().mapv(f64::exp);
        let predicted = able.predict(&Rows::from(&x)).unwrap();
        for (row, predicted) in proba.outer_iter().zip(predicted) {
            assert_eq!((row[0], row[2]), (0.0, 0.0), "{estimator:?}");
            assert_eq!(argmax(&row.to_vec()), predicted as usize, "{estimator:?}");
        }
    }
}

#[test]
fn calibration_maps_are_saved_and_loaded() {
    let (x, codes, classes, _) = overlapping(60, 3, 10);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    for estimator in calibrated().flat_map(variants) {
        let fitted = estimator.fit(&data, &Monitor::quiet()).unwrap();
        let features = Features::plain((0..3).map(|j| format!("x{j}")));
        let trained = Trained::new(estimator.clone(), features, fitted, None);

        let loaded = Trained::from_bytes(&trained.to_bytes().unwrap()).unwrap();

        assert_eq!(loaded, trained, "{estimator:?}");
    }
}
