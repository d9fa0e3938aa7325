//! Predictions: explanations add up, probabilities sum to one, intervals are nested, shapes are as declared.

use super::{Cases, LONG_WAY, ROUNDING, law, small, those_that_can};
use crate::cases::*;
use mercer::catalog::{CATALOG, Capability, Input};
use mercer::explain::{explain, explain_scores, explain_terms};
use mercer::prelude::*;
use mercer_num::random::Random;
use proptest::prelude::*;

#[test]
fn terms_sum_to_the_prediction() {
    law(168, shapes(), |shape, cases| {
        for card in those_that_can(Capability::LinearModel).filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape);
            let Ok(fitted) = fit(card, &case) else { continue };
            let model = fitted.as_model().linear_model().unwrap();
            let predicted = model.predict(&Rows::from(&case.x)).unwrap();
            for (row, predicted) in case.x.outer_iter().zip(predicted) {
                let explanation =
                    explain_terms(model, &row.to_vec(), &names(case.x.ncols())).unwrap();

                let sum =
                    explanation.intercept + explanation.terms.iter().map(|t| t.term).sum::<f64>();
                let from_average = explanation.average
                    + explanation.terms.iter().map(|t| t.contribution).sum::<f64>();
                prop_assert!(near(explanation.prediction, predicted, LONG_WAY));
                prop_assert!(near(sum, predicted, LONG_WAY));
                prop_assert!(near(from_average, predicted, LONG_WAY));
            }
            cases.checked();
        }
        Ok(())
    });
}

#[test]
fn intervals_contain_the_prediction_and_widen_with_the_level() {
    law(125, shapes(), |shape, cases| {
        for card in those_that_can(Capability::Regressor).filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape);
            let Ok(fitted) = fit(card, &case) else { continue };
            let model = fitted.as_model().regressor().unwrap();
            let rows = Rows::from(&case.x);
            let predicted = model.predict(&rows).unwrap();
            let (narrow, wide) =
                (model.intervals(&rows, 0.5).unwrap(), model.intervals(&rows, 0.99).unwrap());
            prop_assert_eq!(narrow.is_some(), wide.is_some());
            let (Some(narrow), Some(wide)) = (narrow, wide) else { continue };
            for ((y, inner), outer) in predicted.iter().zip(narrow).zip(wide) {
                prop_assert!(outer.0 <= inner.0 && inner.0 <= *y);
                prop_assert!(*y <= inner.1 && inner.1 <= outer.1);
            }
            cases.checked();
        }
        Ok(())
    });
}

#[test]
fn probabilities_sum_to_one_and_agree_with_predict() {
    law(737, (shapes(), 0.0..1e6f64), |(shape, far), cases| {
        for card in those_that_can(Capability::Probabilistic).filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape);
            let Ok(fitted) = fit(card, &case) else { continue };
            let model = fitted.as_model().probabilistic().unwrap();
            let whole = |v: f64| if card.accepts(Input::Categories) { v.floor() } else { v };
            for x in [case.x.clone(), &case.x * far, case.x.mapv(|v| v.abs() + far)] {
                let x = x.mapv(whole);
                let rows = Rows::from(&x);
                let log_proba = model.log_proba(&rows).unwrap();
                let predicted = model.predict(&rows).unwrap();
                for (row, winner) in log_proba.outer_iter().zip(predicted) {
                    let p: Vec<f64> = row.iter().map(|p| p.exp()).collect();
                    prop_assert!(p.iter().all(|p| (0.0..=1.0).contains(p)), "{:?}", p);
                    prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{:?}", p);
                    let best = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    prop_assert_eq!(row[winner as usize], best);
                }
            }
            cases.checked();
        }
        Ok(())
    });
}

#[test]
fn prior_and_likelihoods_multiply_to_the_joint() {
    law(384, shapes(), |shape, cases| {
        for card in those_that_can(Capability::FactorizedLikelihood) {
            let case = Case::new(card, shape);
            let Ok(fitted) = fit(card, &case) else { continue };
            let model = fitted.as_model().factorized_likelihood().unwrap();
            let scores = model.scores(&Rows::from(&case.x)).unwrap();
            let predicted = model.predict(&Rows::from(&case.x)).unwrap();
            for (i, row) in case.x.outer_iter().enumerate() {
                let explanation = explain(model, &row.to_vec(), &names(case.x.ncols())).unwrap();

                for (joint, score) in explanation.log_joint.iter().zip(scores.row(i)) {
                    prop_assert!(near(*joint, *score, LONG_WAY), "{} and {}", joint, score);
                }
                prop_assert!((explanation.posterior.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                let (winner, predicted) = (explanation.winner, predicted[i] as usize);
                let tie = near(scores[[i, winner]], scores[[i, predicted]], LONG_WAY);
                prop_assert!(winner == predicted || tie);
                let present = row.iter().filter(|v| !v.is_nan()).count();
                prop_assert_eq!(explanation.ranked_contributions().len(), present);
            }
            cases.checked();
        }
        Ok(())
    });
}

#[test]
fn support_vector_terms_sum_to_the_decision_value() {
    law(68, shapes(), |shape, cases| {
        for card in those_that_can(Capability::SupportVectors).filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape);
            let Ok(fitted) = fit(card, &case) else { continue };
            let model = fitted.as_model();
            let rows = Rows::from(&case.x);
            let numbers = match (model.regressor(), model.outlier_detector()) {
                (Some(model), _) => model.predict(&rows).unwrap(),
                (_, Some(model)) => model.inlier_scores(&rows).unwrap(),
                _ => Vec::new(),
            };
            let classified = model.classifier().map(|m| (m.classes(), m.predict(&rows).unwrap()));
            for (i, row) in case.x.outer_iter().enumerate() {
                let explanation =
                    model.support_vectors().unwrap().support_terms(&row.to_vec()).unwrap();

                let sum = explanation.intercept
                    + explanation.support_vectors.iter().map(|s| s.term).sum::<f64>();
                let size =
                    explanation.support_vectors.iter().map(|s| s.term.abs()).sum::<f64>().max(1.0);
                prop_assert!(near(explanation.sum, sum, ROUNDING * size));
                if let Some(number) = numbers.get(i) {
                    // Kernel expansions predict in the precision they store.
                    prop_assert!(
                        (explanation.sum - number).abs() < 1e-5 * size,
                        "{} {}",
                        explanation.sum,
                        number
                    );
                }
                if let Some((classes, codes)) = &classified {
                    let [first, second] = explanation.between.unwrap();
                    prop_assert_eq!(&first, classes.label(codes[i]));
                    prop_assert!(first != second);
                }
            }
            cases.checked();
        }
        Ok(())
    });
}

#[test]
fn intercepts_and_terms_sum_to_the_score() {
    law(380, shapes(), |shape, cases| {
        for card in those_that_can(Capability::AdditiveScores).filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape);
            let Ok(fitted) = fit(card, &case) else { continue };
            let tolerance = LONG_WAY * slack(&fitted);
            let model = fitted.as_model();
            let rows = Rows::from(&case.x);
            let scores = model.classifier().unwrap().scores(&rows).unwrap();
            let distances = model.discriminant().map(|model| model.distances(&rows).unwrap());
            for (i, row) in case.x.outer_iter().enumerate() {
                let explanation =
                    explain_scores(model, &row.to_vec(), &names(case.x.ncols())).unwrap();

                for (sum, score) in explanation.scores.iter().zip(scores.row(i)) {
                    prop_assert!(near(*sum, *score, tolerance), "{} and {}", sum, score);
                }
                if let Some(distances) = &distances {
                    for (explained, distance) in explanation.distances.iter().zip(distances.row(i))
                    {
                        prop_assert!(*explained >= 0.0 && near(*explained, *distance, tolerance));
                    }
                }
                if card.can(Capability::Probabilistic) {
                    prop_assert!((explanation.posterior.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                }
                prop_assert_eq!(explanation.ranked_contributions().len(), row.len());
            }
            cases.checked();
            let Some(model) = model.discriminant() else { continue };
            for name in model.derived_names() {
                prop_assert!(model.derived(name).is_some(), "{}", name);
            }
        }
        Ok(())
    });
}

#[test]
fn sampled_rows_have_positive_density_and_are_repeatable() {
    let cases = Cases::default();
    for card in those_that_can(Capability::Generative) {
        let fitted = fit(card, &Case::new(card, small())).unwrap();
        let model = fitted.as_model().generative().unwrap();

        let (x, codes) = model.sample(200, None, &mut Random::new(4));

        assert_eq!(x.dim(), (200, model.n_columns()));
        assert!(codes.iter().all(|c| (*c as usize) < model.classes().len()));
        assert!(model.log_density(&Rows::from(&x)).unwrap().iter().all(|p| p.is_finite()));
        let again = model.sample(200, None, &mut Random::new(4));
        assert_eq!((x, codes), again);
        let (x, codes) = model.sample(50, Some(1), &mut Random::new(4));
        assert_eq!(x.dim(), (50, model.n_columns()), "{}", card.id);
        assert!(codes.iter().all(|c| *c == 1));
        let joint = model.log_joint(&Rows::from(&x)).unwrap();
        assert!(joint.column(1).iter().all(|p| p.is_finite()), "{}", card.id);
        cases.checked();
    }
    cases.at_least(10);
}

#[test]
fn a_missing_value_has_no_factor() {
    let cases = Cases::default();
    for card in CATALOG.iter().filter(|card| {
        card.can(Capability::FactorizedLikelihood) && card.accepts(Input::MissingValues)
    }) {
        let case = Case::new(card, small());
        let fitted = fit(card, &case).unwrap();
        let model = fitted.as_model().factorized_likelihood().unwrap();
        let mut row = case.x.row(0).to_vec();
        let whole = model.log_factors(&row).unwrap();
        row[1] = f64::NAN;

        let factors = model.log_factors(&row).unwrap();

        assert!(factors.row(1).iter().all(|f| *f == 0.0));
        for j in (0..row.len()).filter(|j| *j != 1 && model.given(*j) != Some(1)) {
            assert_eq!(factors.row(j), whole.row(j));
        }
        let scores = model.scores(&Rows::from(ndarray::ArrayView1::from(&row))).unwrap();
        for c in 0..model.classes().len() {
            let product: f64 = model.log_priors()[c] + factors.column(c).sum();
            assert!(near(scores[[0, c]], product, ROUNDING));
        }
        cases.checked();
    }
    cases.at_least(4);
}

#[test]
fn a_class_without_rows_is_never_predicted() {
    let cases = Cases::default();
    for card in those_that_can(Capability::Probabilistic) {
        let mut case = Case::new(card, small());
        case.classes = Classes::from_names(["class 0", "class 1", "class 2", "class 3"]);

        let Ok(fitted) = fit(card, &case) else { continue };

        let log_proba = predictions(&fitted, &case.x);
        assert!(log_proba.column(3).iter().all(|p| p.exp() == 0.0), "{}", card.id);
        cases.checked();
    }
    cases.at_least(14);
}

#[test]
fn transformed_rows_have_the_declared_width_in_any_storage() {
    let cases = Cases::default();
    for card in those_that_can(Capability::Transformer) {
        let case = Case::new(card, small()).with_zeros();
        let fitted = fit(card, &case).unwrap();
        let model = fitted.as_model().transformer().unwrap();

        let new = model.transform(&Rows::from(&case.x)).unwrap();

        assert_eq!(new.dim(), (40, model.n_outputs()), "{}", card.id);
        assert!(new.iter().all(|v| v.is_finite()));
        if card.accepts(Input::Sparse) {
            let csr = sparse(&case.x);
            assert_near(&model.transform(&Rows::from(&csr)).unwrap(), &new, LONG_WAY);
            if let Some(new_csr) = model.transform_sparse(&Rows::from(&csr)).unwrap() {
                let written = |i: usize, j: usize| Rows::from(&new_csr).get(i, j);
                let written = Matrix::from_shape_fn(new.dim(), |(i, j)| written(i, j));
                assert_near(&written, &new, LONG_WAY);
            }
        }
        cases.checked();
    }
    cases.at_least(7);
}

#[test]
fn zero_rows_have_zero_predictions() {
    for card in CATALOG {
        let fitted = fit(card, &Case::new(card, small())).unwrap();

        assert_eq!(predictions(&fitted, &Matrix::zeros((0, 4))).nrows(), 0);
    }
}
