//! Explanations sum to what is predicted: the terms, factors or support vectors of every estimator add up to the score,
//! the joint log-likelihood, the decision value or the prediction.

use super::{Cases, LONG_WAY, small};
use crate::cases::*;
use mercer::catalog::{AnyModel, CATALOG, Capability, Card, Estimator};
use mercer::data::{ColumnDescription, Measure};
use mercer::explain::{explain, explain_scores, explain_terms};
use mercer::prelude::*;
use ndarray::{ArrayView1, array};

/// Kernel expansions predict in the precision that they store.
const SINGLE_PRECISION: f64 = 1e-5;

/// The rows of a case that are explained.
const N_ROWS: usize = 8;

/// Whether two values agree relative to the size of the terms that they are sums of.
#[track_caller]
fn assert_sum(card: &Card, sum: f64, value: f64, size: f64, tolerance: f64) {
    let allowed = tolerance * size.max(value.abs()).max(1.0);
    assert!(sum == value || (sum - value).abs() <= allowed, "{}: {sum} and {value}", card.id);
}

fn check_factors(card: &Card, model: &AnyModel, row: &[f64]) {
    let model = model.as_model().factorized_likelihood().unwrap();
    let scores = model.scores(&Rows::from(ArrayView1::from(row))).unwrap();
    let e = explain(model, row, &names(row.len())).unwrap();
    for c in 0..e.classes.len() {
        let factors: f64 = e.factors.iter().map(|f| f.log_factors[c]).sum();
        let size: f64 = e.factors.iter().map(|f| f.log_factors[c].abs()).sum();
        assert_sum(card, factors, e.log_likelihood[c], size, LONG_WAY);
        assert_sum(card, e.log_priors[c] + factors, e.log_joint[c], size, LONG_WAY);
        assert_sum(card, e.log_joint[c], scores[[0, c]], size, LONG_WAY);
    }
    let size: f64 = e.factors.iter().map(|f| f.log_odds.abs()).sum();
    let odds = e.prior_log_odds() + e.factors.iter().map(|f| f.log_odds).sum::<f64>();
    assert_sum(card, odds, e.total_log_odds().unwrap(), size, LONG_WAY);
}

fn check_scores(card: &Card, model: &AnyModel, row: &[f64]) {
    let model = model.as_model();
    let rows = Rows::from(ArrayView1::from(row));
    let scores = model.classifier().unwrap().scores(&rows).unwrap();
    let e = explain_scores(model, row, &names(row.len())).unwrap();
    let mut size: f64 = 0.0;
    for (c, intercept) in e.intercepts.iter().enumerate() {
        let terms = e.terms.iter().map(|t| t.terms[c]);
        size = size.max(terms.clone().map(f64::abs).sum::<f64>() + intercept.abs());
        assert_sum(card, intercept + terms.sum::<f64>(), e.scores[c], size, LONG_WAY);
        assert_sum(card, e.scores[c], scores[[0, c]], size, LONG_WAY);
    }
    let sum = e.intercept_contribution() + e.terms.iter().map(|t| t.contribution).sum::<f64>();
    assert_sum(card, sum, e.total(), size, LONG_WAY);
    if let (Some(model), 2) = (model.decision_function(), e.classes.len()) {
        let decision = model.decisions(&rows).unwrap()[[0, 0]];
        assert_sum(card, e.total().abs(), decision.abs(), size, LONG_WAY);
    }
}

fn check_support_vectors(card: &Card, model: &AnyModel, row: &[f64]) {
    let model = model.as_model();
    let rows = Rows::from(ArrayView1::from(row));
    let e = model.support_vectors().unwrap().support_terms(row).unwrap();
    let terms = e.support_vectors.iter().map(|s| s.term);
    let size = terms.clone().map(f64::abs).sum::<f64>();
    assert_sum(card, e.intercept + terms.sum::<f64>(), e.sum, size, LONG_WAY);
    let predicted = match (model.regressor(), model.outlier_detector(), model.classifier()) {
        (Some(model), ..) => Some(model.predict(&rows).unwrap()[0]),
        (_, Some(model), _) => Some(model.inlier_scores(&rows).unwrap()[0]),
        (.., Some(classifier)) if classifier.classes().len() == 2 => {
            model.decision_function().map(|m| m.decisions(&rows).unwrap()[[0, 0]].abs())
        }
        _ => None,
    };
    if let Some(predicted) = predicted {
        let sum = if model.classifier().is_some() { e.sum.abs() } else { e.sum };
        assert_sum(card, sum, predicted, size, SINGLE_PRECISION);
    }
}

fn check_terms(card: &Card, model: &AnyModel, row: &[f64]) {
    let model = model.as_model().linear_model().unwrap();
    let predicted = model.predict(&Rows::from(ArrayView1::from(row))).unwrap()[0];
    let e = explain_terms(model, row, &names(row.len())).unwrap();
    let size = e.intercept.abs() + e.terms.iter().map(|t| t.term.abs()).sum::<f64>();
    let sum = e.intercept + e.terms.iter().map(|t| t.term).sum::<f64>();
    assert_sum(card, sum, e.prediction, size, LONG_WAY);
    assert_sum(card, e.prediction, predicted, size, LONG_WAY);
    let contributions = e.average + e.terms.iter().map(|t| t.contribution).sum::<f64>();
    assert_sum(card, contributions, e.prediction, size + e.average.abs(), LONG_WAY);
}

#[test]
fn every_explanation_sums_to_what_is_predicted() {
    type Check = fn(&Card, &AnyModel, &[f64]);
    let checks: [(Capability, Check); 4] = [
        (Capability::FactorizedLikelihood, check_factors),
        (Capability::AdditiveScores, check_scores),
        (Capability::SupportVectors, check_support_vectors),
        (Capability::LinearModel, check_terms),
    ];
    let cases = Cases::default();
    for n_classes in [2, 3] {
        for card in CATALOG {
            let kinds: Vec<_> = checks.iter().filter(|(kind, _)| card.can(*kind)).collect();
            let case = Case::new(card, Shape { n_classes, ..small() });
            let fitted = if kinds.is_empty() { continue } else { fit(card, &case).unwrap() };
            for (_, check) in kinds {
                for row in case.x.outer_iter().take(N_ROWS) {
                    check(card, &fitted, &row.to_vec());
                }
                cases.checked();
            }
        }
    }
    // 6 by factors, 12 by scores, 7 by support vectors and 8 by terms, for two and for three classes.
    assert_eq!(cases.0.get(), 66);
}

#[test]
fn the_estimators_without_an_explanation_are_known() {
    let explained = [
        Capability::FactorizedLikelihood,
        Capability::AdditiveScores,
        Capability::SupportVectors,
        Capability::LinearModel,
    ];
    let without = CATALOG.iter().filter(|card| !explained.iter().any(|kind| card.can(*kind)));
    let predictors: Vec<&str> =
        without.filter(|card| !card.can(Capability::Transformer)).map(|card| card.id).collect();

    assert_eq!(predictors, ["sgd-one-class", "kernel-k-means", "mlp-regressor"]);
}

/// Three rows of class a and two of class b that no column value has in common.
fn disjoint() -> (Matrix, [u32; 5], Classes) {
    let x = array![[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]];
    (x, [0, 0, 0, 1, 1], Classes::from_names(["a", "b"]))
}

#[test]
fn a_row_that_is_impossible_in_every_class_gets_the_priors() {
    let (x, codes, classes) = disjoint();
    let row = array![[1.0, 1.0]];
    let described: Vec<ColumnDescription> = (0..2)
        .map(|j| ColumnDescription { name: format!("x{j}"), measure: Measure::Categorical(2) })
        .collect();
    let ids = ["multinomial-nb", "bernoulli-nb", "categorical-nb", "mixed-nb", "tan"];
    for id in ids {
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let data = data.with_descriptions(&described).unwrap();
        let estimator = Estimator::from_id(id).unwrap().set_from_str("alpha", "0").unwrap();

        let fitted = estimator.fit(&data, &Monitor::quiet()).unwrap();

        let model = fitted.as_model().probabilistic().unwrap();
        let p = model.log_proba(&Rows::from(&row)).unwrap().mapv(f64::exp);
        assert!((p[[0, 0]] - 0.6).abs() < 1e-12 && (p[[0, 1]] - 0.4).abs() < 1e-12, "{id}: {p}");
        assert_eq!(model.predict(&Rows::from(&row)).unwrap(), [0]);
        let factorized = fitted.as_model().factorized_likelihood().unwrap();
        let e = explain(factorized, &[1.0, 1.0], &[]).unwrap();
        assert!(e.impossible && e.total_log_odds().is_none(), "{id}");
        assert_eq!((e.winner, e.log_likelihood.clone()), (0, vec![f64::NEG_INFINITY; 2]), "{id}");
        assert!((e.posterior[0] - 0.6).abs() < 1e-12);
        assert_eq!(mercer::model::n_impossible(&factorized.scores(&Rows::from(&row)).unwrap()), 1);
    }
}

#[test]
fn complement_naive_bayes_without_smoothing_has_no_nan() {
    let (x, codes, classes) = disjoint();
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    let estimator =
        Estimator::from_id("complement-nb").unwrap().set_from_str("alpha", "0").unwrap();
    let fitted = estimator.fit(&data, &Monitor::quiet()).unwrap();
    let model = fitted.as_model().probabilistic().unwrap();

    let p = model.log_proba(&Rows::from(&array![[1.0, 1.0], [2.0, 0.0], [0.0, 0.0]])).unwrap();

    // Each token excludes the complement of one class: equal probabilities, then certainty.
    assert_eq!(p.mapv(f64::exp), array![[0.5, 0.5], [1.0, 0.0], [0.5, 0.5]]);
}
