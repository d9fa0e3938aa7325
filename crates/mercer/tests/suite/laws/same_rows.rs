//! What is the same up to rounding: rows in another storage, order, split, weight, unit or name.

use super::{
    LONG_WAY, ROUNDING, few, leaning, mergeable, orderless, real_densities, those_that_can,
    those_that_take,
};
use crate::cases::*;
use mercer::catalog::{CATALOG, Capability, Input, Learns};
use mercer::prelude::*;
use mercer_num::random::Random;
use ndarray::{Axis, concatenate};
use proptest::prelude::*;

proptest! {
    #![proptest_config(few())]

    #[test]
    fn dense_and_sparse_rows_agree(shape in shapes()) {
        for card in those_that_take(Input::Sparse).filter(|card| tried(card, shape)) {
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
        for card in those_that_take(Input::Sparse).filter(|card| tried(card, shape)) {
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
        let those = CATALOG.iter().filter(|card| card.can(Capability::Classifier) || card.can(Capability::Regressor));
        for card in those.filter(|card| !card.can(Capability::NonConvex) && tried(card, shape)) {
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
        let those = those_that_can(Capability::Classifier).filter(|card| !card.can(Capability::NonConvex));
        for card in those.filter(|card| tried(card, shape)) {
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
            let winners = mercer::model::argmax_rows(&a).into_iter().zip(mercer::model::argmax_rows(&b));
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
        for card in those_that_can(Capability::Regressor).filter(|card| card.learns != Learns::Solver) {
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
        for card in those_that_can(Capability::Regressor).filter(|card| card.learns != Learns::Solver) {
            let case = Case::new(card, shape);
            let constant = Matrix::from_elem((case.x.nrows(), 1), value);
            let wider = Case { x: concatenate![Axis(1), case.x, constant], ..case.clone() };

            let (Ok(a), Ok(b)) = (fit(card, &case), fit(card, &wider)) else { continue };

            assert_near(&answers(&a, &case.x), &answers(&b, &wider.x), LONG_WAY);
        }
    }
}
