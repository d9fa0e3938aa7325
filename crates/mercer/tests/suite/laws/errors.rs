//! Invalid rows, targets and weights are refused with the right error.

use super::{Cases, LONG_WAY, Waves, mergeable, small, those_that_can, those_that_take, training};
use crate::cases::*;
use mercer::catalog::{CATALOG, Capability, Input, Learns};
use mercer::prelude::*;
use mercer::train::train;
use mercer_num::parallel::with_threads;
use ndarray::Axis;

#[test]
fn rows_of_another_width_are_refused() {
    for card in CATALOG {
        let fitted = fit(card, &Case::new(card, small())).unwrap();
        let model = fitted.as_model();
        for width in [0, 3, 5] {
            let x = Matrix::zeros((2, width));
            let csr = sparse(&x);
            for rows in [Rows::from(&x), Rows::from(&csr)] {
                let refused = Some(Error::Columns { found: width, expected: 4 });
                if let Some(model) = model.classifier() {
                    assert_eq!(model.scores(&rows).err(), refused);
                    assert_eq!(model.predict(&rows).err(), refused);
                }
                if let Some(model) = model.probabilistic() {
                    assert_eq!(model.log_proba(&rows).err(), refused);
                }
                if let Some(model) = model.generative() {
                    assert_eq!(model.log_density(&rows).err(), refused);
                }
                if let Some(model) = model.factorized_likelihood() {
                    assert_eq!(model.log_factors(&vec![0.0; width]).err(), refused);
                }
                if let Some(model) = model.regressor() {
                    assert_eq!(model.predict(&rows).err(), refused);
                }
                if let Some(model) = model.clusterer() {
                    assert_eq!(model.distances(&rows).err(), refused);
                    assert_eq!(model.assign(&rows).err(), refused);
                }
                if let Some(model) = model.transformer() {
                    assert_eq!(model.transform(&rows).err(), refused);
                }
            }
        }
    }
}

#[test]
fn summaries_of_another_width_do_not_merge() {
    let cases = Cases::default();
    for card in mergeable() {
        let estimator = estimator(card);
        let narrow = Case::new(card, small());
        let wide = Case::new(card, Shape { n_columns: 5, ..small() });
        let gather =
            |case: &Case| estimator.gather(&case.data(card), &Monitor::quiet()).unwrap().stats;

        let mut stats = gather(&narrow);

        assert_eq!(stats.merge(&gather(&wide)), Err(Error::Columns { found: 5, expected: 4 }));
        assert!(stats.forget(&gather(&wide)).is_err());
        assert!(estimator.observe(&mut stats, &wide.data(card)).is_err());
        assert_eq!(stats, gather(&narrow));
        cases.checked();
    }
    cases.at_least(13);
}

#[test]
fn rows_that_were_never_observed_cannot_be_forgotten() {
    let cases = Cases::default();
    for card in mergeable() {
        let case = Case::new(card, small());
        let some = trained(card, &case.data(card).slice(0..20)).unwrap();
        let all = estimator(card).gather(&case.data(card), &Monitor::quiet()).unwrap().stats;

        let error = some.forget(&all, 40).unwrap_err();

        assert!(matches!(error, Error::Forget { .. }), "{}: {error}", card.id);
        cases.checked();
    }
    cases.at_least(13);
}

#[test]
fn a_missing_value_is_refused_unless_it_is_supported() {
    let cases = Cases::default();
    for card in CATALOG.iter().filter(|card| !card.accepts(Input::MissingValues)) {
        let mut case = Case::new(card, many_chunks(card, 3, 4));
        case.x[[chunk(card) + 3, 5]] = f64::NAN;

        let error = fit(card, &case).unwrap_err();

        let Error::NotFinite { row, column, value } = error else { panic!("{}: {error}", card.id) };
        assert_eq!((row, column), (chunk(card) + 3, 5), "{}", card.id);
        assert!(value.is_nan());
        cases.checked();
    }
    cases.at_least(34);
}

#[test]
fn a_column_of_missing_values_is_fitted_if_they_are_supported() {
    let cases = Cases::default();
    for card in those_that_take(Input::MissingValues) {
        let mut case = Case::new(card, small());
        case.x.column_mut(2).fill(f64::NAN);
        let without = Case { x: case.x.select(Axis(1), &[0, 1, 3]), ..case.clone() };

        let (a, b) = (fit(card, &case).unwrap(), fit(card, &without).unwrap());

        assert_near(&predictions(&a, &case.x), &predictions(&b, &without.x), LONG_WAY);
        cases.checked();
    }
    cases.at_least(5);
}

#[test]
fn the_first_infinite_cell_is_named_in_any_chunk_storage_and_number_of_threads() {
    for card in CATALOG {
        let clean = Case::new(card, many_chunks(card, 6, 2));
        let fitted = fit(card, &clean).unwrap();
        for infinity in [f64::INFINITY, f64::NEG_INFINITY] {
            let mut case = clean.clone();
            // Every chunk from the third on has one, so the first error in time is not the first in order.
            for k in 2..6 {
                case.x[[k * chunk(card) + 9, 5]] = infinity;
            }
            let first = 2 * chunk(card) + 9;
            let expected = Error::NotFinite { row: first, column: 5, value: infinity };
            let single = case.x.mapv(|v| v as f32);
            let csr = sparse(&case.x);
            let mut rows = vec![Rows::from(&case.x), Rows::Single(single.view())];
            if card.accepts(Input::Sparse) {
                rows.push(Rows::from(&csr));
            }
            for rows in rows {
                for threads in [1, 3, 8] {
                    let (learning, predicting) = with_threads(threads, || {
                        let classifier = fitted.as_model().classifier();
                        let regressor = fitted.as_model().regressor();
                        let predicting = classifier
                            .map(|m| m.scores(&rows).map(|_| ()))
                            .or_else(|| regressor.map(|m| m.predict(&rows).map(|_| ())));
                        (fit_data(card, &case.data_of(card, rows)), predicting)
                    });
                    assert_eq!(learning.unwrap_err(), expected, "{}", card.id);
                    if let Some(predicting) = predicting {
                        assert_eq!(predicting.unwrap_err(), expected, "{}", card.id);
                    }
                }
            }
        }
    }
}

#[test]
fn an_infinite_cell_of_a_stream_is_named_by_its_row_in_the_whole() {
    let cases = Cases::default();
    for card in mergeable() {
        let mut case = Case::new(card, many_chunks(card, 6, 2));
        let row = 4 * chunk(card) + 9;
        for later in [row, row + chunk(card)] {
            case.x[[later, 5]] = f64::INFINITY;
        }
        let table = case.table(card);

        for wave in [1, 2, 3, 6] {
            let stream = Waves(&table, wave);
            let outcome = train(training(card, &case, 3), &stream, &Monitor::quiet());

            let expected = Error::NotFinite { row, column: 5, value: f64::INFINITY };
            assert_eq!(outcome.err(), Some(expected), "{}, waves of {wave}", card.id);
        }
        cases.checked();
    }
    cases.at_least(13);
}

#[test]
fn no_rows_are_refused() {
    for card in CATALOG {
        let case = Case::new(card, small()).select(&[]);
        let csr = sparse(&case.x);

        assert_eq!(fit(card, &case).err(), Some(Error::NoRows), "{}", card.id);
        assert_eq!(fit_data(card, &case.data_of(card, &csr)).err(), Some(Error::NoRows));
        if card.learns == Learns::Statistics {
            let none = estimator(card).no_rows().unwrap();
            assert_eq!(estimator(card).finish(&none, 0).err(), Some(Error::NoRows));
        }
    }
}

#[test]
fn an_empty_table_is_refused() {
    let cases = Cases::default();
    for card in mergeable() {
        let case = Case::new(card, small()).select(&[]);

        let outcome = train(training(card, &case, 3), &case.table(card), &Monitor::quiet());

        assert_eq!(outcome.err(), Some(Error::NoRows), "{}", card.id);
        cases.checked();
    }
    cases.at_least(13);
}

#[test]
fn rows_without_columns_are_refused() {
    for card in CATALOG {
        let case = Case { x: Matrix::zeros((40, 0)), ..Case::new(card, small()) };
        let csr = sparse(&case.x);

        assert_eq!(fit(card, &case).err(), Some(Error::NoFeatures), "{}", card.id);
        let refused = fit_data(card, &case.data_of(card, &csr)).err();
        assert_eq!(refused, Some(Error::NoFeatures), "{}", card.id);
    }
}

#[test]
fn rows_of_weight_zero_are_refused() {
    for card in CATALOG {
        let case = Case { weights: Some(vec![0.0; 40]), ..Case::new(card, small()) };

        assert_eq!(fit(card, &case).err(), Some(Error::NoRows), "{}", card.id);
    }
}

#[test]
fn one_class_is_refused() {
    let cases = Cases::default();
    for card in those_that_can(Capability::Classifier) {
        let mut case = Case::new(card, small());
        case.codes.fill(0);
        case.classes = Classes::from_names(["only"]);

        let refused = Some(Error::OneClass { class: "only".into() });

        assert_eq!(fit(card, &case).err(), refused, "{}", card.id);
        if card.learns == Learns::Statistics {
            let outcome = train(training(card, &case, 0), &case.table(card), &Monitor::quiet());
            assert_eq!(outcome.err(), refused, "{}", card.id);
        }
        cases.checked();
    }
    cases.at_least(21);
}

#[test]
fn targets_of_the_wrong_kind_are_refused() {
    let cases = Cases::default();
    for card in those_that_can(Capability::Classifier) {
        let case = Case::new(card, small());

        let numbers = Dataset::regression(&case.x, &case.numbers).unwrap();
        let nothing = Dataset::unlabeled(&case.x);

        assert!(matches!(fit_data(card, &numbers), Err(Error::Kind { .. })), "{}", card.id);
        assert!(
            matches!(fit_data(card, &nothing), Err(Error::MissingColumn { .. })),
            "{}",
            card.id
        );
        cases.checked();
    }
    cases.at_least(21);
}

#[test]
fn classes_are_refused_by_regressors() {
    let cases = Cases::default();
    for card in those_that_can(Capability::Regressor) {
        let case = Case::new(card, small());

        let classes = Dataset::classes(&case.x, &case.codes, &case.classes).unwrap();
        let nothing = Dataset::unlabeled(&case.x);

        assert!(matches!(fit_data(card, &classes), Err(Error::Kind { .. })), "{}", card.id);
        let refused = fit_data(card, &nothing);
        assert!(matches!(refused, Err(Error::MissingColumn { .. })), "{}", card.id);
        cases.checked();
    }
    cases.at_least(10);
}

#[test]
fn invalid_weights_are_refused_with_their_row() {
    let x = Matrix::zeros((3, 1));
    let classes = Classes::from_names(["a", "b"]);
    let weighted = |weights: &[f64]| {
        Dataset::classes(&x, &[0, 1, 0], &classes).unwrap().weighted(weights).err().unwrap()
    };
    for bad in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = weighted(&[1.0, bad, bad]);

        assert!(matches!(error, Error::Weight { row: 1, .. }), "{error}");
    }
    assert!(matches!(weighted(&[1.0]), Error::Length { found: 1, expected: 3, .. }));
}

#[test]
fn targets_of_wrong_length_or_class_are_refused() {
    let x = Matrix::zeros((3, 1));
    let classes = Classes::from_names(["a", "b"]);

    let short = Dataset::classes(&x, &[0, 1], &classes);
    let unknown = Dataset::classes(&x, &[0, 1, 2], &classes);
    let number = Dataset::regression(&x, &[0.0, f64::NAN, 1.0]);

    assert!(matches!(short, Err(Error::Length { found: 2, expected: 3, .. })));
    assert!(matches!(unknown, Err(Error::UnknownClass { .. })));
    assert!(matches!(number, Err(Error::NotFinite { row: 1, .. })));
}
