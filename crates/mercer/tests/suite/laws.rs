//! What holds of every estimator in the catalog, by what its card says it can and takes. The next
//! estimator is covered by its line in the catalog.

use crate::cases::*;
use mercer::catalog::{
    AnyModel, CATALOG, Card, Estimator, Goal, Learns, Outcome, Trained, Training, train,
};
use mercer::data::Stream;
use mercer::explain::{explain, explain_scores, explain_terms};
use mercer::model::{Progress, Rule, Stop};
use mercer::prelude::*;
use mercer::prepare::Schema;
use mercer_num::parallel::with_threads;
use mercer_num::random::Random;
use ndarray::{Axis, ShapeBuilder, concatenate};
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Summation in another order may move a number this much.
const ROUNDING: f64 = 1e-12;
/// The same through longer ways: forgetting, another storage, another order of columns.
const LONG_WAY: f64 = 1e-9;

fn few() -> Config {
    same_cases(64)
}

fn those_that_can(what: &str) -> impl Iterator<Item = &'static Card> {
    CATALOG.iter().filter(move |card| card.can(what))
}

fn those_that_take(what: &str) -> impl Iterator<Item = &'static Card> {
    CATALOG.iter().filter(move |card| card.takes(what))
}

/// Those that keep a summary.
fn mergeable() -> impl Iterator<Item = &'static Card> {
    CATALOG.iter().filter(|card| card.learns == Learns::Statistics)
}

/// Whether the model is looked for, step by step, once the rows are summed up.
fn searches(card: &Card) -> bool {
    estimator(card).no_rows().is_some_and(|stats| stats.holds_rows())
}

/// Those to whom the order of the rows, and a row twice instead of one of twice the weight, is the same.
fn orderless() -> impl Iterator<Item = &'static Card> {
    CATALOG.iter().filter(|card| !card.can("ordered"))
}

/// Densities over real numbers: a change of units multiplies all of them alike.
fn real_densities() -> impl Iterator<Item = &'static Card> {
    those_that_can("generative").filter(|card| cells(card) == Cells::Real && !card.takes("binary"))
}

/// Whether the factor of a column depends on another column.
fn leaning(model: &AnyModel) -> bool {
    let factored = model.as_model().factored();
    let given = factored.is_some_and(|m| (0..m.n_columns()).any(|j| m.given(j).is_some()));
    given || model.fields().get("parents").is_some()
}

/// Forty rows of three classes.
fn ordinary() -> Shape {
    Shape { n_rows: 40, n_columns: 4, n_classes: 3, gaps: false, weighted: false, seed: 11 }
}

// ---------------------------------------------------------------------------------- to the bit

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
    for card in those_that_take("sparse") {
        let n_rows = if card.learns == Learns::Solver { 500 } else { 5000 };
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

/// A table that comes in waves of several batches, as files do.
struct Waves<'a>(&'a Table, usize);

impl Stream for Waves<'_> {
    type Error = Error;

    fn stream(
        &self,
        schema: &Schema,
        chunk: usize,
        take: &mut dyn FnMut(Vec<Table>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut rest = self.0.select(schema)?;
        while rest.n_rows() > 0 {
            let mut wave = Vec::new();
            while rest.n_rows() > 0 && wave.len() < self.1 {
                wave.push(rest.take_front(chunk.min(rest.n_rows())));
            }
            if take(wave)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn training<'a>(card: &Card, case: &'a Case, n_folds: usize) -> Training<'a> {
    Training {
        estimator: estimator(card),
        features: case.features(),
        goal: match card.can("regressor") {
            true => Goal::Numbers,
            false => Goal::Classes(&case.classes),
        },
        n_rows: Some(case.x.nrows() as u64),
        n_folds,
        seed: 3,
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
                assert_eq!(densities.is_some(), n_folds > 1 && card.can("generative"));
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

// ---------------------------------------------------------------------------- to rounding

proptest! {
    #![proptest_config(few())]

    #[test]
    fn dense_and_sparse_rows_agree(shape in shapes()) {
        for card in those_that_take("sparse").filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape).thinned();
            let x = sparse(&case.x);

            let dense = fit(card, &case);
            let thin = fit_data(card, &case.data_of(card, &x));

            let (Ok(dense), Ok(thin)) = (&dense, &thin) else {
                prop_assert_eq!(dense.err(), thin.err());
                continue;
            };
            assert_same_learning(card, dense, thin, &case.x, 1e-10);
            assert_near(&answers(dense, &case.x), &answers(dense, &x), 1e-10);
        }
    }

    #[test]
    fn cells_in_any_order_and_in_parts_are_the_same_rows(shape in shapes()) {
        for card in those_that_take("sparse").filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape).thinned();
            let (ordered, parts) = (sparse(&case.x), disordered(&case.x));

            let expected = fit_data(card, &case.data_of(card, &ordered));
            let found = fit_data(card, &case.data_of(card, parts.rows()));

            let (Ok(expected), Ok(found)) = (&expected, &found) else {
                prop_assert_eq!(expected.err(), found.err());
                continue;
            };
            assert_same_learning(card, expected, found, &ordered, LONG_WAY);
            assert_near(&answers(expected, &ordered), &answers(expected, parts.rows()), LONG_WAY);
        }
    }

    #[test]
    fn any_split_of_the_rows_merges_to_the_whole(
        shape in shapes(),
        cuts in prop::array::uniform2(0usize..200),
    ) {
        for card in mergeable() {
            let case = Case::new(card, shape);
            let data = case.data(card);
            let n = data.n_rows();
            let (a, b) = (cuts[0].min(cuts[1]).min(n), cuts[0].max(cuts[1]).min(n));
            let estimator = estimator(card);

            let mut merged = estimator.no_rows().unwrap();
            for range in [b..n, 0..a, a..b] {
                let part = estimator.gather(&data.slice(range), &Monitor::quiet()).unwrap().stats;
                merged.merge(&part).unwrap();
            }

            let whole = fit_data(card, &data);
            let merged = estimator.finish(&merged, n as u64);
            let (Ok(whole), Ok(merged)) = (&whole, &merged) else {
                prop_assert_eq!(whole.err(), merged.err());
                continue;
            };
            assert_models_near(whole, merged, ROUNDING);
        }
    }

    #[test]
    fn one_row_at_a_time_is_one_batch(shape in shapes()) {
        for card in mergeable() {
            let case = Case::new(card, shape);
            let data = case.data(card);
            let estimator = estimator(card);

            let mut stats = estimator.no_rows().unwrap();
            for i in 0..data.n_rows() {
                estimator.observe(&mut stats, &data.slice(i..i + 1)).unwrap();
            }

            let whole = fit_data(card, &data);
            let grown = estimator.finish(&stats, data.n_rows() as u64);
            let (Ok(whole), Ok(grown)) = (&whole, &grown) else {
                prop_assert_eq!(whole.err(), grown.err());
                continue;
            };
            // In the tails of a density the digits of a bandwidth count a hundredfold.
            assert_models_near(whole, grown, 100.0 * ROUNDING);
        }
    }

    #[test]
    fn forgetting_undoes_observing(shape in shapes(), share in 0.0..0.9f64) {
        for card in mergeable() {
            let case = Case::new(card, shape);
            let data = case.data(card);
            let n = data.n_rows();
            // The first rows stay: they hold every class.
            let kept = ((n as f64 * (1.0 - share)) as usize).max(shape.n_classes.min(n));
            let Ok(before) = trained(card, &data.slice(0..kept)) else { continue };
            let added = estimator(card).gather(&data.slice(kept..n), &Monitor::quiet()).unwrap().stats;

            let all = trained(card, &data).unwrap();
            let after = all.forget(&added, (n - kept) as u64).unwrap();

            prop_assert_eq!(after.fitted.certificate.rows, kept as u64);
            assert_models_near(&before.fitted.model, &after.fitted.model, LONG_WAY);
        }
    }

    #[test]
    fn weight_two_is_the_row_twice_and_weight_zero_its_absence(
        shape in shapes(),
        times in prop::collection::vec(0usize..=2, 200),
    ) {
        for card in orderless().filter(|card| tried(card, shape)) {
            let mut case = Case::new(card, Shape { weighted: false, ..shape });
            let n = case.x.nrows();
            let repeated: Vec<usize> =
                (0..n).flat_map(|i| std::iter::repeat_n(i, times[i])).collect();
            let copies = case.select(&repeated);
            case.weights = Some(times[..n].iter().map(|t| *t as f64).collect());

            let weighted = fit(card, &case);
            let copied = fit(card, &copies);

            let (Ok(weighted), Ok(copied)) = (&weighted, &copied) else {
                prop_assert_eq!(weighted.err(), copied.err());
                continue;
            };
            assert_same_learning(card, weighted, copied, &case.x, ROUNDING);
        }
    }

    #[test]
    fn the_order_of_rows_does_not_matter(shape in shapes()) {
        for card in orderless().filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape);
            let mut places: Vec<usize> = (0..case.x.nrows()).collect();
            Random::new(shape.seed).shuffle(&mut places);

            let (a, b) = (fit(card, &case), fit(card, &case.select(&places)));

            let (Ok(a), Ok(b)) = (&a, &b) else {
                prop_assert_eq!(a.err(), b.err());
                continue;
            };
            assert_near(&answers(a, &case.x), &answers(b, &case.x), within(card, LONG_WAY * slack(a)));
        }
    }

    #[test]
    fn the_order_of_columns_does_not_matter(shape in shapes()) {
        for card in CATALOG.iter().filter(|card| card.can("classifier") || card.can("regressor")).filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape);
            let mut places: Vec<usize> = (0..case.x.ncols()).collect();
            Random::new(shape.seed).shuffle(&mut places);
            let shuffled = Case { x: case.x.select(Axis(1), &places), ..case.clone() };

            let (Ok(a), Ok(b)) = (fit(card, &case), fit(card, &shuffled)) else { continue };

            // Of two trees over the columns that are equally good, the first is taken.
            if leaning(&a) {
                continue;
            }
            assert_near(&answers(&a, &case.x), &answers(&b, &shuffled.x), within(card, LONG_WAY));
        }
    }

    #[test]
    fn the_names_of_classes_do_not_matter(shape in shapes()) {
        for card in those_that_can("classifier").filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape);
            let last = case.classes.len() as u32 - 1;
            let renamed = Case {
                codes: case.codes.iter().map(|c| last - c).collect(),
                classes: Classes::new((0..=last).map(|c| Label::Int(i64::from(c))).collect()),
                ..case.clone()
            };

            let (a, b) = (fit(card, &case), fit(card, &renamed));

            let (Ok(a), Ok(b)) = (&a, &b) else {
                prop_assert_eq!(a.is_err(), b.is_err());
                continue;
            };
            let mut turned = answers(b, &case.x);
            turned.invert_axis(Axis(1));
            assert_near(&answers(a, &case.x), &turned, within(card, LONG_WAY * slack(a)));
        }
    }

    #[test]
    fn a_change_of_units_by_a_power_of_two_keeps_predictions(
        shape in shapes(),
        power in -60i32..60,
    ) {
        for card in real_densities() {
            let case = Case::new(card, shape);
            let scaled = Case { x: &case.x * 2f64.powi(power), ..case.clone() };

            let (Ok(a), Ok(b)) = (fit(card, &case), fit(card, &scaled)) else { continue };

            let tolerance = LONG_WAY * slack(&a);
            let (a, b) = (answers(&a, &case.x), answers(&b, &scaled.x));
            assert_near(&a, &b, tolerance);
            // Where two classes are equal to rounding, either may win.
            let winners = mercer::model::winners(&a).into_iter().zip(mercer::model::winners(&b));
            for (row, (one, other)) in a.outer_iter().zip(winners) {
                let tie = near(row[one as usize], row[other as usize], tolerance);
                prop_assert!(one == other || tie, "{}: {}", card.id, row);
            }
        }
    }

    #[test]
    fn a_constant_column_tells_nothing(shape in shapes(), value in -9.0..9.0f64) {
        for card in real_densities() {
            let case = Case::new(card, shape);
            let constant = Matrix::from_elem((case.x.nrows(), 1), value);
            let wider = Case { x: concatenate![Axis(1), case.x, constant], ..case.clone() };

            let (Ok(a), Ok(b)) = (fit(card, &case), fit(card, &wider)) else { continue };

            let tolerance = LONG_WAY * slack(&a);
            assert_near(&answers(&a, &case.x), &answers(&b, &wider.x), tolerance);
        }
    }

    #[test]
    fn a_target_in_other_units_is_predicted_in_those_units(
        shape in shapes(),
        power in -40i32..40,
        shift in -9.0..9.0f64,
    ) {
        for card in those_that_can("regressor").filter(|card| card.learns != Learns::Solver) {
            let case = Case::new(card, shape);
            let unit = 2f64.powi(power);
            let moved = |y: &f64| unit * (y + shift);
            let numbers = case.numbers.iter().map(moved).collect();
            let other = Case { numbers, ..case.clone() };

            let (Ok(a), Ok(b)) = (fit(card, &case), fit(card, &other)) else { continue };

            let expected = answers(&a, &case.x).mapv(|y| y + shift);
            assert_near(&expected, &(answers(&b, &case.x) / unit), LONG_WAY);
        }
    }

    #[test]
    fn a_column_that_stands_still_moves_no_number(shape in shapes(), value in -9.0..9.0f64) {
        for card in those_that_can("regressor").filter(|card| card.learns != Learns::Solver) {
            let case = Case::new(card, shape);
            let constant = Matrix::from_elem((case.x.nrows(), 1), value);
            let wider = Case { x: concatenate![Axis(1), case.x, constant], ..case.clone() };

            let (Ok(a), Ok(b)) = (fit(card, &case), fit(card, &wider)) else { continue };

            assert_near(&answers(&a, &case.x), &answers(&b, &wider.x), LONG_WAY);
        }
    }

    #[test]
    fn terms_add_up_to_the_number(shape in shapes()) {
        for card in those_that_can("additive").filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape);
            let Ok(fitted) = fit(card, &case) else { continue };
            let model = fitted.as_model().additive().unwrap();
            let predicted = model.predict(&Rows::from(&case.x)).unwrap();
            for (row, predicted) in case.x.outer_iter().zip(predicted) {
                let told = explain_terms(model, &row.to_vec(), &names(case.x.ncols())).unwrap();

                let sum = told.intercept + told.terms.iter().map(|t| t.term).sum::<f64>();
                let pushed = told.average + told.terms.iter().map(|t| t.push).sum::<f64>();
                prop_assert!(near(told.prediction, predicted, LONG_WAY));
                prop_assert!(near(sum, predicted, LONG_WAY));
                prop_assert!(near(pushed, predicted, LONG_WAY));
            }
        }
    }

    #[test]
    fn intervals_hold_the_number_and_grow_with_the_level(shape in shapes()) {
        for card in those_that_can("regressor").filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape);
            let Ok(fitted) = fit(card, &case) else { continue };
            let model = fitted.as_model().regressor().unwrap();
            let rows = Rows::from(&case.x);
            let predicted = model.predict(&rows).unwrap();
            let (narrow, wide) =
                (model.intervals(&rows, 0.5).unwrap(), model.intervals(&rows, 0.99).unwrap());
            let (Some(narrow), Some(wide)) = (narrow, wide) else { continue };
            for ((y, inner), outer) in predicted.iter().zip(narrow).zip(wide) {
                prop_assert!(outer.0 <= inner.0 && inner.0 <= *y);
                prop_assert!(*y <= inner.1 && inner.1 <= outer.1);
            }
        }
    }

    // ------------------------------------------------------------------------ probabilities

    #[test]
    fn probabilities_sum_to_one_and_agree_with_predict(shape in shapes(), far in 0.0..1e6f64) {
        for card in those_that_can("probabilistic").filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape);
            let Ok(fitted) = fit(card, &case) else { continue };
            let model = fitted.as_model().probabilistic().unwrap();
            let whole = |v: f64| if card.takes("categories") { v.floor() } else { v };
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
        }
    }

    #[test]
    fn prior_and_factors_multiply_to_the_score(shape in shapes()) {
        for card in those_that_can("factored") {
            let case = Case::new(card, shape);
            let Ok(fitted) = fit(card, &case) else { continue };
            let model = fitted.as_model().factored().unwrap();
            let scores = model.scores(&Rows::from(&case.x)).unwrap();
            let predicted = model.predict(&Rows::from(&case.x)).unwrap();
            for (i, row) in case.x.outer_iter().enumerate() {
                let told = explain(model, &row.to_vec(), &names(case.x.ncols())).unwrap();

                for (joint, score) in told.log_joint.iter().zip(scores.row(i)) {
                    prop_assert!(near(*joint, *score, LONG_WAY), "{} and {}", joint, score);
                }
                prop_assert!((told.posterior.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                let (winner, predicted) = (told.winner, predicted[i] as usize);
                let tie = near(scores[[i, winner]], scores[[i, predicted]], LONG_WAY);
                prop_assert!(winner == predicted || tie);
                prop_assert_eq!(told.ladder().len(), row.iter().filter(|v| !v.is_nan()).count());
            }
        }
    }

    #[test]
    fn starts_and_terms_add_up_to_the_score(shape in shapes()) {
        for card in those_that_can("summed").filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape);
            let Ok(fitted) = fit(card, &case) else { continue };
            let tolerance = LONG_WAY * slack(&fitted);
            let model = fitted.as_model();
            let rows = Rows::from(&case.x);
            let scores = model.classifier().unwrap().scores(&rows).unwrap();
            let distances = model.discriminant().map(|model| model.distances(&rows).unwrap());
            for (i, row) in case.x.outer_iter().enumerate() {
                let told = explain_scores(model, &row.to_vec(), &names(case.x.ncols())).unwrap();

                for (sum, score) in told.scores.iter().zip(scores.row(i)) {
                    prop_assert!(near(*sum, *score, tolerance), "{} and {}", sum, score);
                }
                if let Some(distances) = &distances {
                    for (told, distance) in told.distances.iter().zip(distances.row(i)) {
                        prop_assert!(*told >= 0.0 && near(*told, *distance, tolerance));
                    }
                }
                if card.can("probabilistic") {
                    prop_assert!((told.posterior.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                }
                prop_assert_eq!(told.ladder().len(), row.len());
            }
            let Some(model) = model.discriminant() else { continue };
            for name in model.derived_names() {
                prop_assert!(model.derived(name).is_some(), "{}", name);
            }
        }
    }
}

#[test]
fn sampled_rows_are_likely_and_repeatable() {
    for card in those_that_can("generative") {
        let fitted = fit(card, &Case::new(card, ordinary())).unwrap();
        let model = fitted.as_model().generative().unwrap();

        let (x, codes) = model.sample(200, &mut Random::new(4));

        assert_eq!(x.dim(), (200, model.n_columns()));
        assert!(codes.iter().all(|c| (*c as usize) < model.classes().len()));
        assert!(model.log_density(&Rows::from(&x)).unwrap().iter().all(|p| p.is_finite()));
        let again = model.sample(200, &mut Random::new(4));
        assert_eq!((x, codes), again);
    }
}

#[test]
fn a_row_with_a_gap_is_the_product_without_that_factor() {
    for card in CATALOG.iter().filter(|card| card.can("factored") && card.takes("missing")) {
        let case = Case::new(card, ordinary());
        let fitted = fit(card, &case).unwrap();
        let model = fitted.as_model().factored().unwrap();
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
    }
}

#[test]
fn a_class_nobody_showed_is_never_predicted() {
    for card in those_that_can("probabilistic") {
        let mut case = Case::new(card, ordinary());
        case.classes = Classes::from_names(["class 0", "class 1", "class 2", "class 3"]);

        let Ok(fitted) = fit(card, &case) else { continue };

        let log_proba = answers(&fitted, &case.x);
        assert!(log_proba.column(3).iter().all(|p| p.exp() == 0.0), "{}", card.id);
    }
}

#[test]
fn new_rows_are_as_wide_as_promised_in_any_storage() {
    for card in those_that_can("transformer") {
        let case = Case::new(card, ordinary()).thinned();
        let fitted = fit(card, &case).unwrap();
        let model = fitted.as_model().transformer().unwrap();

        let new = model.transform(&Rows::from(&case.x)).unwrap();

        assert_eq!(new.dim(), (40, model.n_outputs()), "{}", card.id);
        assert!(new.iter().all(|v| v.is_finite()));
        if card.takes("sparse") {
            let thin = sparse(&case.x);
            assert_near(&model.transform(&Rows::from(&thin)).unwrap(), &new, LONG_WAY);
            if let Some(new_thin) = model.transform_sparse(&Rows::from(&thin)).unwrap() {
                let written = |i: usize, j: usize| Rows::from(&new_thin).get(i, j);
                let written = Matrix::from_shape_fn(new.dim(), |(i, j)| written(i, j));
                assert_near(&written, &new, LONG_WAY);
            }
        }
    }
}

#[test]
fn no_rows_get_no_answers() {
    for card in CATALOG {
        let fitted = fit(card, &Case::new(card, ordinary())).unwrap();

        assert_eq!(answers(&fitted, &Matrix::zeros((0, 4))).nrows(), 0);
    }
}

// ---------------------------------------------------------------------------------- refusals

#[test]
fn rows_of_another_width_are_refused() {
    for card in CATALOG {
        let fitted = fit(card, &Case::new(card, ordinary())).unwrap();
        let model = fitted.as_model();
        for width in [0, 3, 5] {
            let x = Matrix::zeros((2, width));
            let thin = sparse(&x);
            for rows in [Rows::from(&x), Rows::from(&thin)] {
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
                if let Some(model) = model.factored() {
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
    for card in mergeable() {
        let estimator = estimator(card);
        let narrow = Case::new(card, ordinary());
        let wide = Case::new(card, Shape { n_columns: 5, ..ordinary() });
        let gather =
            |case: &Case| estimator.gather(&case.data(card), &Monitor::quiet()).unwrap().stats;

        let mut stats = gather(&narrow);

        assert_eq!(stats.merge(&gather(&wide)), Err(Error::Columns { found: 5, expected: 4 }));
        assert!(stats.forget(&gather(&wide)).is_err());
        assert!(estimator.observe(&mut stats, &wide.data(card)).is_err());
        assert_eq!(stats, gather(&narrow));
    }
}

#[test]
fn rows_that_were_never_learned_are_not_forgotten() {
    for card in mergeable() {
        let case = Case::new(card, ordinary());
        let some = trained(card, &case.data(card).slice(0..20)).unwrap();
        let all = estimator(card).gather(&case.data(card), &Monitor::quiet()).unwrap().stats;

        let error = some.forget(&all, 40).unwrap_err();

        assert!(matches!(error, Error::Forget { .. }), "{}: {error}", card.id);
    }
}

#[test]
fn a_gap_is_refused_where_it_means_nothing() {
    for card in CATALOG.iter().filter(|card| !card.takes("missing")) {
        let mut case = Case::new(card, many_chunks(card, 3, 4));
        case.x[[chunk(card) + 3, 5]] = f64::NAN;

        let error = fit(card, &case).unwrap_err();

        let Error::NotFinite { row, column, value } = error else { panic!("{}: {error}", card.id) };
        assert_eq!((row, column), (chunk(card) + 3, 5), "{}", card.id);
        assert!(value.is_nan());
    }
}

#[test]
fn a_column_without_a_single_value_still_learns_where_gaps_are_taken() {
    for card in those_that_take("missing") {
        let mut case = Case::new(card, ordinary());
        case.x.column_mut(2).fill(f64::NAN);
        let without = Case { x: case.x.select(Axis(1), &[0, 1, 3]), ..case.clone() };

        let (a, b) = (fit(card, &case).unwrap(), fit(card, &without).unwrap());

        assert_near(&answers(&a, &case.x), &answers(&b, &without.x), LONG_WAY);
    }
}

#[test]
fn the_first_infinite_cell_is_named_in_any_chunk_storage_and_number_of_threads() {
    for card in CATALOG {
        let clean = Case::new(card, many_chunks(card, 6, 2));
        let fitted = fit(card, &clean).unwrap();
        for infinity in [f64::INFINITY, f64::NEG_INFINITY] {
            let mut case = clean.clone();
            // Every chunk from the third on has one, so whoever finishes first finds another.
            for k in 2..6 {
                case.x[[k * chunk(card) + 9, 5]] = infinity;
            }
            let first = 2 * chunk(card) + 9;
            let expected = Error::NotFinite { row: first, column: 5, value: infinity };
            let single = case.x.mapv(|v| v as f32);
            let thin = sparse(&case.x);
            let mut rows = vec![Rows::from(&case.x), Rows::Single(single.view())];
            if card.takes("sparse") {
                rows.push(Rows::from(&thin));
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
    }
}

#[test]
fn no_rows_are_refused() {
    for card in CATALOG {
        let case = Case::new(card, ordinary()).select(&[]);
        let thin = sparse(&case.x);

        assert_eq!(fit(card, &case).err(), Some(Error::NoRows), "{}", card.id);
        assert_eq!(fit_data(card, &case.data_of(card, &thin)).err(), Some(Error::NoRows));
        if card.learns == Learns::Statistics {
            let none = estimator(card).no_rows().unwrap();
            assert_eq!(estimator(card).finish(&none, 0).err(), Some(Error::NoRows));
        }
    }
}

#[test]
fn an_empty_table_is_refused() {
    for card in mergeable() {
        let case = Case::new(card, ordinary()).select(&[]);

        let outcome = train(training(card, &case, 3), &case.table(card), &Monitor::quiet());

        assert_eq!(outcome.err(), Some(Error::NoRows), "{}", card.id);
    }
}

#[test]
fn rows_without_columns_are_refused() {
    for card in CATALOG {
        let case = Case { x: Matrix::zeros((40, 0)), ..Case::new(card, ordinary()) };
        let thin = sparse(&case.x);

        assert_eq!(fit(card, &case).err(), Some(Error::NoFeatures), "{}", card.id);
        let refused = fit_data(card, &case.data_of(card, &thin)).err();
        assert_eq!(refused, Some(Error::NoFeatures), "{}", card.id);
    }
}

#[test]
fn rows_that_weigh_nothing_are_refused() {
    for card in CATALOG {
        let case = Case { weights: Some(vec![0.0; 40]), ..Case::new(card, ordinary()) };

        assert_eq!(fit(card, &case).err(), Some(Error::NoRows), "{}", card.id);
    }
}

#[test]
fn one_class_is_refused() {
    for card in those_that_can("classifier") {
        let mut case = Case::new(card, ordinary());
        case.codes.fill(0);
        case.classes = Classes::from_names(["only"]);

        let refused = Some(Error::OneClass { class: "only".into() });

        assert_eq!(fit(card, &case).err(), refused, "{}", card.id);
        if card.learns == Learns::Statistics {
            let outcome = train(training(card, &case, 0), &case.table(card), &Monitor::quiet());
            assert_eq!(outcome.err(), refused, "{}", card.id);
        }
    }
}

#[test]
fn targets_of_the_wrong_kind_are_refused() {
    for card in those_that_can("classifier") {
        let case = Case::new(card, ordinary());

        let numbers = Dataset::numbers(&case.x, &case.numbers).unwrap();
        let nothing = Dataset::unlabeled(&case.x);

        assert!(matches!(fit_data(card, &numbers), Err(Error::Kind { .. })), "{}", card.id);
        assert!(
            matches!(fit_data(card, &nothing), Err(Error::MissingColumn { .. })),
            "{}",
            card.id
        );
    }
}

#[test]
fn classes_are_refused_where_numbers_are_learned() {
    for card in those_that_can("regressor") {
        let case = Case::new(card, ordinary());

        let classes = Dataset::classes(&case.x, &case.codes, &case.classes).unwrap();
        let nothing = Dataset::unlabeled(&case.x);

        assert!(matches!(fit_data(card, &classes), Err(Error::Kind { .. })), "{}", card.id);
        let refused = fit_data(card, &nothing);
        assert!(matches!(refused, Err(Error::MissingColumn { .. })), "{}", card.id);
    }
}

#[test]
fn weights_that_are_none_are_refused_with_their_row() {
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
fn targets_that_fit_no_row_or_class_are_refused() {
    let x = Matrix::zeros((3, 1));
    let classes = Classes::from_names(["a", "b"]);

    let short = Dataset::classes(&x, &[0, 1], &classes);
    let unknown = Dataset::classes(&x, &[0, 1, 2], &classes);
    let number = Dataset::numbers(&x, &[0.0, f64::NAN, 1.0]);

    assert!(matches!(short, Err(Error::Length { found: 2, expected: 3, .. })));
    assert!(matches!(unknown, Err(Error::UnknownClass { .. })));
    assert!(matches!(number, Err(Error::NotFinite { row: 1, .. })));
}

/// Values that break a rule.
fn breaking(rule: Rule) -> Vec<Value> {
    match rule {
        Rule::Any => vec![],
        Rule::AtLeast(low) => vec![json!(low - 1.0), json!(low - 1e-3)],
        Rule::Above(low) => vec![json!(low), json!(low - 1.0)],
        Rule::Between(low, high) => vec![json!(low - 1.0), json!(high + 1.0)],
        Rule::Simplex => vec![json!([0.5, 0.6]), json!([-0.5, 1.5]), json!([0.0])],
        Rule::OneOf(_) | Rule::Formula(_) => vec![json!("no such word"), json!(1)],
    }
}

#[test]
fn bad_parameters_are_refused_by_name() {
    for card in CATALOG {
        let case = Case::new(card, ordinary());
        for spec in card.specs {
            let mut bad = breaking(spec.rule);
            // Nothing by column is a table, if an empty one.
            bad.push(if spec.kind.contains("by column") { json!({"": {}}) } else { json!({}) });
            bad.extend((!spec.kind.contains("nothing")).then_some(Value::Null));
            for value in bad {
                let refused = |error: Error| match error {
                    Error::Parameter { name, .. } => assert_eq!(name, spec.name),
                    other => panic!("`{}` {}={value}: {other}", card.id, spec.name),
                };
                refused(estimator(card).set(spec.name, value.clone()).unwrap_err());
                // A description may come from anywhere: a fit looks again.
                let described = json!({"id": card.id, "params": {spec.name: value}});
                if let Ok(estimator) = serde_json::from_value::<Estimator>(described) {
                    refused(estimator.fit(&case.data(card), &Monitor::quiet()).unwrap_err());
                }
            }
        }
        let unknown = estimator(card).set("no_such_parameter", json!(1)).unwrap_err();
        assert!(matches!(unknown, Error::UnknownParameter { .. }));
        let described = json!({"id": card.id, "params": {"no_such_parameter": 1}});
        assert!(serde_json::from_value::<Estimator>(described).is_err());
    }
    assert!(matches!(Estimator::from_id("no-such-id"), Err(Error::UnknownEstimator { .. })));
}

#[test]
fn defaults_are_allowed_and_can_be_set_again_as_words() {
    for card in CATALOG {
        let defaults = card.defaults();
        let plain = Estimator::from_id(card.id).unwrap();
        for spec in card.specs {
            let value = &defaults[spec.name];
            let word = value.as_str().map_or_else(|| value.to_string(), str::to_owned);

            let set = plain.set_word(spec.name, &word).unwrap();

            assert_eq!(set, plain, "{} {}", card.id, spec.name);
            assert!(!spec.doc.trim().is_empty());
        }
        assert_eq!(plain.check(), Ok(()));
    }
}

// ------------------------------------------------------------------------------ going on

#[test]
fn those_that_learn_row_by_row_say_so() {
    for card in CATALOG {
        let case = Case::new(card, ordinary());
        let data = case.data(card);

        let learned = estimator(card).learn_on(None, &data, &Monitor::quiet());

        match learned {
            Ok(fitted) => {
                assert!(card.can("online"), "{}", card.id);
                assert_eq!((fitted.certificate.rows, fitted.certificate.rounds), (40, 1));
                let more = estimator(card).learn_on(Some(&fitted), &data, &Monitor::quiet());
                assert_eq!(more.unwrap().certificate.rows, 80, "{}", card.id);
            }
            Err(error) => {
                assert!(!card.can("online"), "{}: {error}", card.id);
                assert!(matches!(error, Error::Unable { .. }), "{}: {error}", card.id);
            }
        }
    }
}

#[test]
fn rows_in_parts_are_one_pass_over_rows_as_they_come() {
    for card in those_that_can("online") {
        let case = Case::new(card, Shape { weighted: true, ..ordinary() });
        let data = case.data(card);
        let plain = estimator(card).set_word("shuffle", "false").unwrap();

        let whole = plain.learn_on(None, &data, &Monitor::quiet()).unwrap();
        let mut parts: Option<Fitted<AnyModel>> = None;
        for range in [0..11, 11..12, 12..31, 31..40] {
            let part = data.slice(range);
            parts = Some(plain.learn_on(parts.as_ref(), &part, &Monitor::quiet()).unwrap());
        }

        let parts = parts.unwrap();
        assert_near(&answers(&parts, &case.x), &answers(&whole, &case.x), LONG_WAY);
        // Another order is another model, which is what their card says.
        let back: Vec<usize> = (0..40).rev().collect();
        let turned = case.select(&back);
        let turned = plain.learn_on(None, &turned.data(card), &Monitor::quiet()).unwrap();
        assert_ne!(answers(&turned, &case.x), answers(&whole, &case.x), "{}", card.id);
    }
}

#[test]
fn those_that_can_begin_at_another_model_say_so() {
    for card in CATALOG {
        let case = Case::new(card, ordinary());
        let data = case.data(card);
        let fitted = fit_data(card, &data).unwrap();

        match estimator(card).fit_from(&fitted.model, &data, &Monitor::quiet()) {
            Ok(again) => {
                assert!(card.can("warm"), "{}", card.id);
                // Whoever has an optimum is there already.
                if !card.can("online") {
                    assert!(again.certificate.rounds <= 1, "{}", card.id);
                    assert_near(&answers(&again, &case.x), &answers(&fitted, &case.x), SOLVED);
                }
                let narrow = Case::new(card, Shape { n_columns: 3, ..ordinary() });
                let other =
                    estimator(card).fit_from(&fitted.model, &narrow.data(card), &Monitor::quiet());
                assert!(other.is_err() || answers(&other.unwrap(), &narrow.x).nrows() == 40);
            }
            Err(error) => {
                assert!(!card.can("warm"), "{}: {error}", card.id);
                assert!(matches!(error, Error::Unable { .. }), "{}: {error}", card.id);
            }
        }
    }
}

// ------------------------------------------------------------------------------ the monitor

#[test]
fn a_fit_that_may_not_begin_says_so() {
    for card in CATALOG {
        let case = Case::new(card, ordinary());
        let cancelled = Monitor::quiet().cancelled_by(Arc::new(AtomicBool::new(true)));
        let late = Monitor::quiet().time_limit(Duration::ZERO);
        for (monitor, why) in [(cancelled, Stop::Cancelled), (late, Stop::Deadline)] {
            match estimator(card).fit(&case.data(card), &monitor) {
                Err(error) => assert_eq!(error, Error::Stopped, "{}", card.id),
                Ok(fitted) => assert_eq!(fitted.certificate.stopped, Some(why), "{}", card.id),
            }
            if card.learns == Learns::Statistics {
                let outcome = train(training(card, &case, 3), &case.table(card), &monitor);
                assert_eq!(outcome.err(), Some(Error::Stopped), "{}", card.id);
            }
        }
    }
}

#[test]
fn a_fit_cancelled_midway_keeps_what_it_has_and_is_marked() {
    for card in mergeable() {
        // More chunks than one look at the clock apart.
        let case = Case::new(card, many_chunks(card, 40, 3));
        let data = case.data(card);
        let flag = Arc::new(AtomicBool::new(false));
        let raise = |at: Progress| flag.store(at.done > 0, Ordering::Relaxed);
        let monitor = Monitor::quiet().on_progress(raise).cancelled_by(Arc::clone(&flag));

        let fitted = estimator(card).fit(&data, &monitor).unwrap();

        let rows = fitted.certificate.rows as usize;
        assert_eq!(fitted.certificate.stopped, Some(Stop::Cancelled), "{}", card.id);
        assert!(0 < rows && rows < data.n_rows());
        assert!(fitted.certificate.to_string().contains("CUT SHORT"));
        // Who searches has no time for it either.
        let same = fitted.model == fit_data(card, &data.slice(0..rows)).unwrap().model;
        assert!(same || searches(card), "{}", card.id);
    }
}

#[test]
fn training_cancelled_midway_keeps_what_it_has_and_is_marked() {
    for card in mergeable() {
        let case = Case::new(card, many_chunks(card, 6, 3));
        let flag = Arc::new(AtomicBool::new(false));
        let raise = |at: Progress| flag.store(at.done >= 2 * chunk(card) as u64, Ordering::Relaxed);
        let monitor = Monitor::quiet().on_progress(raise).cancelled_by(Arc::clone(&flag));

        let outcome = train(training(card, &case, 3), &case.table(card), &monitor).unwrap();

        let certificate = &outcome.trained.fitted.certificate;
        assert_eq!(certificate.stopped, Some(Stop::Cancelled));
        assert_eq!(certificate.rows, 2 * chunk(card) as u64);
        assert!(outcome.evaluation.is_none() && outcome.regression.is_none());
        let loaded = Trained::from_bytes(&outcome.trained.to_bytes().unwrap()).unwrap();
        assert_eq!(loaded.fitted.certificate.stopped, Some(Stop::Cancelled));
    }
}

#[test]
fn a_part_cut_short_marks_the_whole() {
    for card in mergeable() {
        let case = Case::new(card, ordinary());
        let part = |range| trained(card, &case.data(card).slice(range)).unwrap();
        let (whole, mut cut) = (part(0..20), part(20..40));
        cut.fitted.certificate.stopped = Some(Stop::Deadline);
        let added = cut.stats.clone().unwrap();

        let merged = [whole.merge(&cut).unwrap(), cut.merge(&whole).unwrap()];

        for merged in merged {
            assert_eq!(merged.fitted.certificate.stopped, Some(Stop::Deadline), "{}", card.id);
            let left = merged.forget(&added, 20).unwrap();
            assert_eq!(left.fitted.certificate.stopped, Some(Stop::Deadline), "{}", card.id);
        }
        assert_eq!(whole.merge(&whole).unwrap().fitted.certificate.stopped, None);
    }
}

#[test]
fn progress_rises_to_its_total() {
    for card in CATALOG {
        let case = Case::new(card, many_chunks(card, 40, 3));
        let seen = Mutex::new(Vec::new());
        let monitor = Monitor::quiet().on_progress(|at| seen.lock().unwrap().push(at));

        estimator(card).fit(&case.data(card), &monitor).unwrap();

        let seen = seen.lock().unwrap();
        let last = seen.last().unwrap();
        assert_eq!(Some(last.done), last.total, "{}", card.id);
        if searches(card) {
            // Rows, then steps.
            assert!(seen.iter().all(|at| at.total.is_some_and(|total| at.done <= total)));
            continue;
        }
        assert!(seen.iter().all(|at| at.done <= last.done));
        if card.learns == Learns::Statistics {
            assert!(seen.is_sorted_by_key(|at| at.done));
            assert_eq!(last.done, case.x.nrows() as u64);
        }
    }
}

#[test]
fn the_progress_of_training_rises_to_its_total() {
    for card in mergeable() {
        let case = Case::new(card, many_chunks(card, 6, 3));
        for (n_folds, passes) in [(0, 1), (3, 2)] {
            let seen = Mutex::new(Vec::new());
            let monitor = Monitor::quiet().on_progress(|at| seen.lock().unwrap().push(at));

            train(training(card, &case, n_folds), &Waves(&case.table(card), 2), &monitor).unwrap();

            let seen = seen.lock().unwrap();
            let total = passes * case.x.nrows() as u64;
            let of_rows = |at: &&Progress| !searches(card) || at.total == Some(total);
            let seen: Vec<&Progress> = seen.iter().filter(of_rows).collect();
            assert!(seen.is_sorted_by_key(|at| at.done));
            assert!(seen.iter().all(|at| at.total == Some(total)));
            assert_eq!(seen.last().unwrap().done, total);
        }
    }
}

#[test]
fn training_obeys_a_memory_budget() {
    for card in mergeable() {
        let case = Case::new(card, ordinary());
        let run = |bytes| {
            let monitor = Monitor::quiet().memory_limit(bytes);
            train(training(card, &case, 3), &case.table(card), &monitor)
        };

        assert!(run(1 << 20).is_ok());
        assert!(matches!(run(100).err(), Some(Error::Memory { budget: 100, .. })), "{}", card.id);
    }
}

#[test]
fn those_that_plan_say_so_once_and_keep_what_they_said() {
    for card in CATALOG {
        let case = Case::new(card, ordinary());
        let plans = Mutex::new(Vec::new());
        let monitor = Monitor::quiet().on_plan(|plan| plans.lock().unwrap().push(plan.clone()));

        let fitted = estimator(card).fit(&case.data(card), &monitor).unwrap();

        let told = plans.lock().unwrap().clone();
        assert_eq!(told.len(), usize::from(card.can("planned")), "{}", card.id);
        assert_eq!(told.first(), fitted.certificate.proof.plan.as_ref(), "{}", card.id);
        assert!(told.iter().all(|plan| !plan.way.is_empty() && plan.bytes > 0), "{}", card.id);
    }
}
