//! What gives the same bits: the same rows, however many threads, from a file, in memory or in a stream.

use super::{Waves, few, mergeable, ordinary, those_that_take, training};
use crate::cases::*;
use mercer::catalog::{CATALOG, Capability, Input, Learns};
use mercer::prelude::*;
use mercer::train::{Outcome, Trained, train};
use mercer_num::parallel::with_threads;
use ndarray::{Axis, ShapeBuilder, concatenate};
use proptest::prelude::*;

proptest! {
    #![proptest_config(few())]

    #[test]
    fn the_same_rows_give_the_same_bits(shape in shapes()) {
        for card in CATALOG.iter().filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape);

            prop_assert_eq!(bytes(card, &case.data(card)), bytes(card, &case.clone().data(card)));
        }
    }

    #[test]
    fn a_loaded_model_is_the_saved_one(shape in shapes()) {
        for card in CATALOG.iter().filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape);
            let Ok(trained) = trained(card, &case.data(card)) else { continue };
            let bytes = trained.to_bytes().unwrap();

            let loaded = Trained::from_bytes(&bytes).unwrap();

            prop_assert_eq!(loaded.to_bytes().unwrap(), bytes);
            prop_assert_eq!(&loaded, &trained);
            prop_assert_eq!(
                answers(&loaded.fitted.model, &case.x),
                answers(&trained.fitted.model, &case.x)
            );
        }
    }

    #[test]
    fn memory_order_changes_no_bit(shape in shapes()) {
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
                prop_assert_eq!(answers(&fitted, &fortran), answers(&fitted, &case.x));
            }
        }
    }

    #[test]
    fn single_precision_rows_are_their_widened_selves(shape in shapes()) {
        for card in CATALOG.iter().filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape);
            let single = case.x.mapv(|v| v as f32);
            let widened = single.mapv(f64::from);

            let narrow = case.data_of(card, Rows::Single(single.view()));

            prop_assert_eq!(bytes(card, &narrow), bytes(card, &case.data_of(card, &widened)));
            if let Ok(fitted) = fit_data(card, &narrow) {
                let narrow = Rows::Single(single.view());
                prop_assert_eq!(answers(&fitted, narrow), answers(&fitted, &widened));
            }
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for card in CATALOG {
        for (gaps, weighted) in [(false, false), (true, true)] {
            let case = Case::new(card, Shape { gaps, weighted, ..many_chunks(card, 35, 5) });
            let run = || {
                let bytes = bytes(card, &case.data(card)).unwrap();
                let model = Trained::from_bytes(&bytes).unwrap().fitted.model;
                (bytes, answers(&model, &case.x))
            };
            let alone = with_threads(1, run);
            for threads in [2, 3, 8] {
                assert_eq!(with_threads(threads, run), alone, "{}, {threads} threads", card.id);
            }
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits_of_sparse_rows() {
    for card in those_that_take(Input::Sparse) {
        let n_rows = if card.learns != Learns::Statistics { 500 } else { 5000 };
        let shape = Shape { n_rows, n_columns: 6, gaps: true, ..ordinary() };
        let case = Case::new(card, shape).thinned();
        let (x, parts) = (sparse(&case.x), disordered(&case.x));
        for rows in [Rows::from(&x), parts.rows()] {
            let run = || {
                let bytes = bytes(card, &case.data_of(card, rows)).unwrap();
                let model = Trained::from_bytes(&bytes).unwrap().fitted.model;
                (bytes, answers(&model, rows))
            };
            let alone = with_threads(1, run);

            for threads in [2, 3, 8] {
                assert_eq!(with_threads(threads, run), alone, "{}, {threads} threads", card.id);
            }
        }
    }
}

#[test]
fn a_split_along_the_chunk_plan_changes_no_bit() {
    for card in mergeable() {
        // Seven leaves make the tree (((0 1) (2 3)) ((4 5) 6)).
        let case = Case::new(card, Shape { weighted: true, ..many_chunks(card, 7, 6) });
        let data = case.data(card);
        let whole = trained(card, &data).unwrap();
        let n = data.n_rows();

        let split = [4 * chunk(card)..6 * chunk(card), 6 * chunk(card)..n]
            .map(|range| trained(card, &data.slice(range)).unwrap());
        let left = trained(card, &data.slice(0..4 * chunk(card))).unwrap();
        let mut merged = left.merge(&split[0].merge(&split[1]).unwrap()).unwrap();
        // Names of columns are the same; only the time it took may differ.
        merged.fitted.certificate.seconds = whole.fitted.certificate.seconds;

        assert_eq!(merged.to_bytes().unwrap(), whole.to_bytes().unwrap(), "{}", card.id);
    }
}

#[test]
fn streamed_tables_give_the_bits_of_rows_in_memory() {
    for card in mergeable() {
        for shape in [many_chunks(card, 7, 8), Shape { gaps: true, ..ordinary() }] {
            let case = Case::new(card, shape);
            let table = case.table(card);
            let data = case.data(card);
            let fitted = estimator(card).fit(&data, &Monitor::quiet()).unwrap();
            let stats = estimator(card).gather(&data, &Monitor::quiet()).unwrap().stats;
            let memory = Trained::new(estimator(card), case.features(), fitted, Some(stats));
            let expected = memory.to_bytes().unwrap();

            for n_folds in [0, 3] {
                // Densities of held-out rows come from the folds, which a fit in memory has not.
                let parts = |outcome: Outcome| {
                    let mut trained = outcome.trained;
                    let densities = trained.densities.take();
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
    }
}

#[test]
fn held_out_figures_do_not_depend_on_waves_or_threads() {
    for card in mergeable() {
        let case = Case::new(card, many_chunks(card, 5, 9));
        let table = case.table(card);
        let run = |threads, wave| {
            let outcome = with_threads(threads, || {
                train(training(card, &case, 4), &Waves(&table, wave), &Monitor::quiet()).unwrap()
            });
            (outcome.evaluation, outcome.regression, outcome.bits)
        };

        let alone = run(1, 1);

        let judged = alone.0.as_ref().map(|e| e.n_rows());
        let judged = judged.or_else(|| alone.1.as_ref().map(|e| e.n_rows()));
        assert_eq!(judged, Some(case.x.nrows() as u64), "{}", card.id);
        assert_eq!(run(3, 2), alone);
        assert_eq!(run(8, 5), alone);
    }
}
