//! Bit-identical results: the same rows give the same bits with any number of threads, from a file, in memory or from a
//! stream.

use super::{Cases, Waves, law, mergeable, small, those_that_take, training};
use crate::cases::*;
use mercer::catalog::{CATALOG, Capability, Input, Learns};
use mercer::prelude::*;
use mercer::train::{Outcome, Trained, train};
use mercer_num::parallel::with_threads;
use ndarray::{Axis, ShapeBuilder, concatenate};
use proptest::prelude::*;

#[test]
fn the_same_rows_give_the_same_bits() {
    law(1092, shapes(), |shape, cases| {
        for card in CATALOG.iter().filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape);

            prop_assert_eq!(bytes(card, &case.data(card)), bytes(card, &case.clone().data(card)));
            cases.checked();
        }
        Ok(())
    });
}

#[test]
fn a_loaded_model_equals_the_saved_one() {
    law(1090, shapes(), |shape, cases| {
        for card in CATALOG.iter().filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape);
            let Ok(trained) = trained(card, &case.data(card)) else { continue };
            let bytes = trained.to_bytes().unwrap();

            let loaded = Trained::from_bytes(&bytes).unwrap();

            prop_assert_eq!(loaded.to_bytes().unwrap(), bytes);
            prop_assert_eq!(&loaded, &trained);
            prop_assert_eq!(
                predictions(&loaded.fitted.model, &case.x),
                predictions(&trained.fitted.model, &case.x)
            );
            cases.checked();
        }
        Ok(())
    });
}

#[test]
fn memory_order_changes_no_bit() {
    law(1090, shapes(), |shape, cases| {
        for card in CATALOG.iter().filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape);
            let mut fortran = Matrix::zeros(case.x.raw_dim().f());
            fortran.assign(&case.x);
            let every_other = concatenate![Axis(1), case.x, case.x];
            let strided = every_other.slice(ndarray::s![.., ..case.x.ncols()]);

            let expected = bytes(card, &case.data(card));

            prop_assert_eq!(&bytes(card, &case.data_of(card, &fortran)), &expected);
            prop_assert_eq!(&bytes(card, &case.data_of(card, Rows::Dense(strided))), &expected);
            if let Ok(fitted) = fit(card, &case) {
                prop_assert_eq!(predictions(&fitted, &fortran), predictions(&fitted, &case.x));
                cases.checked();
            }
        }
        Ok(())
    });
}

#[test]
fn single_precision_rows_equal_their_double_precision() {
    law(1090, shapes(), |shape, cases| {
        for card in CATALOG.iter().filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape);
            let single = case.x.mapv(|v| v as f32);
            let widened = single.mapv(f64::from);

            let narrow = case.data_of(card, Rows::Single(single.view()));

            prop_assert_eq!(bytes(card, &narrow), bytes(card, &case.data_of(card, &widened)));
            if let Ok(fitted) = fit_data(card, &narrow) {
                let narrow = Rows::Single(single.view());
                prop_assert_eq!(predictions(&fitted, narrow), predictions(&fitted, &widened));
                cases.checked();
            }
        }
        Ok(())
    });
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for card in CATALOG {
        for (with_missing, weighted) in [(false, false), (true, true)] {
            let case =
                Case::new(card, Shape { with_missing, weighted, ..many_chunks(card, 35, 5) });
            let run = || {
                let bytes = bytes(card, &case.data(card)).unwrap();
                let model = Trained::from_bytes(&bytes).unwrap().fitted.model;
                (bytes, predictions(&model, &case.x))
            };
            let single = with_threads(1, run);
            for threads in [2, 3, 8] {
                assert_eq!(with_threads(threads, run), single, "{}, {threads} threads", card.id);
            }
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits_of_sparse_rows() {
    let cases = Cases::default();
    for card in those_that_take(Input::Sparse) {
        let n_rows = if card.learns != Learns::Statistics { 500 } else { 5000 };
        let shape = Shape { n_rows, n_columns: 6, with_missing: true, ..small() };
        let case = Case::new(card, shape).with_zeros();
        let (x, parts) = (sparse(&case.x), disordered(&case.x));
        for rows in [Rows::from(&x), parts.rows()] {
            let run = || {
                let bytes = bytes(card, &case.data_of(card, rows)).unwrap();
                let model = Trained::from_bytes(&bytes).unwrap().fitted.model;
                (bytes, predictions(&model, rows))
            };
            let single = with_threads(1, run);

            for threads in [2, 3, 8] {
                assert_eq!(with_threads(threads, run), single, "{}, {threads} threads", card.id);
            }
        }
        cases.checked();
    }
    cases.at_least(36);
}

#[test]
fn a_split_along_the_chunk_plan_changes_no_bit() {
    let (cases, refused) = (Cases::default(), Cases::default());
    for card in mergeable() {
        // Seven leaves make the tree (((0 1) (2 3)) ((4 5) 6)).
        let case = Case::new(card, Shape { weighted: true, ..many_chunks(card, 7, 6) });
        let data = case.data(card);
        let whole = trained(card, &data).unwrap();
        let n = data.n_rows();

        let ranges = [0..4 * chunk(card), 4 * chunk(card)..6 * chunk(card), 6 * chunk(card)..n];
        let parts: Result<Vec<Trained>> =
            ranges.into_iter().map(|range| trained(card, &data.slice(range))).collect();
        if let Err(Error::SingularCovariance { .. }) = parts {
            // The last part has too few rows for a covariance of each class.
            refused.checked();
            continue;
        }
        let parts = parts.unwrap();
        let mut merged = parts[0].merge(&parts[1].merge(&parts[2]).unwrap()).unwrap();
        // Only the elapsed time may differ.
        merged.fitted.certificate.seconds = whole.fitted.certificate.seconds;

        assert_eq!(merged.to_bytes().unwrap(), whole.to_bytes().unwrap(), "{}", card.id);
        cases.checked();
    }
    assert_eq!((cases.0.get(), refused.0.get()), (12, 1));
}

#[test]
fn streamed_tables_give_the_bits_of_rows_in_memory() {
    let cases = Cases::default();
    for card in mergeable() {
        for shape in [many_chunks(card, 7, 8), Shape { with_missing: true, ..small() }] {
            let case = Case::new(card, shape);
            let table = case.table(card);
            let data = case.data(card);
            let fitted = estimator(card).fit(&data, &Monitor::quiet()).unwrap();
            let stats = estimator(card).gather(&data, &Monitor::quiet()).unwrap().stats;
            let memory = Trained::new(estimator(card), case.features(), fitted, Some(stats));
            let expected = memory.to_bytes().unwrap();

            for n_folds in [0, 3] {
                // Log-densities and nonconformity scores of held-out rows come from the folds, which a fit in memory
                // does not have.
                let parts = |outcome: Outcome| {
                    let mut trained = outcome.trained;
                    let densities = trained.densities.take();
                    trained.conformal = None;
                    (trained.to_bytes().unwrap(), densities)
                };
                let run = |wave| {
                    let stream = Waves(&table, wave);
                    let training = training(card, &case, n_folds);
                    parts(train(training, &stream, &Monitor::quiet()).unwrap())
                };
                let plain = train(training(card, &case, n_folds), &table, &Monitor::quiet());
                let (plain, densities) = parts(plain.unwrap());

                assert_eq!(plain, expected, "{}", card.id);
                assert_eq!(densities.is_some(), n_folds > 1 && card.can(Capability::Generative));
                for wave in [1, 2, 5] {
                    let (bytes, of_wave) = run(wave);
                    assert_eq!(bytes, expected, "{}", card.id);
                    assert_eq!(of_wave, densities, "{}", card.id);
                }
            }
        }
        cases.checked();
    }
    cases.at_least(13);
}

#[test]
fn held_out_metrics_do_not_depend_on_waves_or_threads() {
    let cases = Cases::default();
    for card in mergeable() {
        let case = Case::new(card, many_chunks(card, 5, 9));
        let table = case.table(card);
        let run = |threads, wave| {
            let outcome = with_threads(threads, || {
                train(training(card, &case, 4), &Waves(&table, wave), &Monitor::quiet()).unwrap()
            });
            (outcome.evaluation, outcome.regression, outcome.mutual_information)
        };

        let single = run(1, 1);

        let evaluated = single.0.as_ref().map(|e| e.n_rows());
        let evaluated = evaluated.or_else(|| single.1.as_ref().map(|e| e.n_rows()));
        assert_eq!(evaluated, Some(case.x.nrows() as u64), "{}", card.id);
        assert_eq!(run(3, 2), single);
        assert_eq!(run(8, 5), single);
        cases.checked();
    }
    cases.at_least(13);
}
