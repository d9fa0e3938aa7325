//! Invariance up to rounding: another storage, order, split, weight, unit or class name of the same rows gives the
//! same model.

use super::{
    LONG_WAY, ROUNDING, assert_same_refusal, has_parents, law, mergeable, order_invariant,
    real_densities, those_that_can, those_that_take,
};
use crate::cases::*;
use mercer::catalog::{CATALOG, Capability, Input, Learns};
use mercer::prelude::*;
use mercer_num::random::Random;
use ndarray::{Axis, concatenate};
use proptest::prelude::*;

#[test]
fn dense_and_sparse_rows_agree() {
    law(897, shapes(), |shape, cases| {
        for card in those_that_take(Input::Sparse).filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape).with_zeros();
            let x = sparse(&case.x);

            let dense = fit(card, &case);
            let csr = fit_data(card, &case.data_of(card, &x));

            let (Ok(dense), Ok(csr)) = (&dense, &csr) else {
                prop_assert_eq!(dense.err(), csr.err());
                continue;
            };
            assert_same_learning(card, dense, csr, &case.x, 1e-10);
            assert_near(&predictions(dense, &case.x), &predictions(dense, &x), 1e-10);
            cases.checked();
        }
        Ok(())
    });
}

#[test]
fn unsorted_and_repeated_sparse_cells_are_summed() {
    law(897, shapes(), |shape, cases| {
        for card in those_that_take(Input::Sparse).filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape).with_zeros();
            let (ordered, parts) = (sparse(&case.x), disordered(&case.x));

            let expected = fit_data(card, &case.data_of(card, &ordered));
            let found = fit_data(card, &case.data_of(card, parts.rows()));

            let (Ok(expected), Ok(found)) = (&expected, &found) else {
                prop_assert_eq!(expected.err(), found.err());
                continue;
            };
            assert_same_learning(card, expected, found, &ordered, LONG_WAY);
            assert_near(
                &predictions(expected, &ordered),
                &predictions(expected, parts.rows()),
                LONG_WAY,
            );
            cases.checked();
        }
        Ok(())
    });
}

#[test]
fn any_split_of_the_rows_merges_to_the_whole() {
    law(831, (shapes(), prop::array::uniform2(0usize..200)), |(shape, cuts), cases| {
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
            cases.checked();
        }
        Ok(())
    });
}

#[test]
fn observing_single_rows_equals_one_batch() {
    law(832, shapes(), |shape, cases| {
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
            // The tails of a kernel density magnify the rounding error of its bandwidth.
            assert_models_near(whole, grown, 100.0 * ROUNDING);
            cases.checked();
        }
        Ok(())
    });
}

#[test]
fn forgetting_undoes_observing() {
    law(813, (shapes(), 0.0..0.9f64), |(shape, fraction), cases| {
        for card in mergeable() {
            let case = Case::new(card, shape);
            let data = case.data(card);
            let n = data.n_rows();
            // The first rows are retained: they contain every class.
            let retained = ((n as f64 * (1.0 - fraction)) as usize).max(shape.n_classes.min(n));
            let added =
                estimator(card).gather(&data.slice(retained..n), &Monitor::quiet()).unwrap().stats;
            let Ok(before) = trained(card, &data.slice(0..retained)) else { continue };

            let all = trained(card, &data).unwrap();
            let after = all.forget(&added, (n - retained) as u64).unwrap();

            prop_assert_eq!(after.fitted.certificate.rows, retained as u64);
            assert_models_near(&before.fitted.model, &after.fitted.model, LONG_WAY);
            cases.checked();
        }
        Ok(())
    });
}

#[test]
fn weight_two_is_the_row_twice_and_weight_zero_its_absence() {
    law(908, (shapes(), prop::collection::vec(0usize..=2, 400)), |(shape, times), cases| {
        for card in order_invariant().filter(|card| tried(card, shape)) {
            let mut case = Case::new(card, Shape { weighted: false, ..shape });
            let n = case.x.nrows();
            let repeated: Vec<usize> =
                (0..n).flat_map(|i| std::iter::repeat_n(i, times[i])).collect();
            let copies = case.select(&repeated);
            case.weights = Some(times[..n].iter().map(|t| *t as f64).collect());

            // `gamma=scale` is the variance of the rows without their weights, as in scikit-learn.
            let mut estimator = estimator(card);
            if let Ok(auto) = estimator.set_from_str("gamma", "auto") {
                estimator = auto;
            }
            let weighted = estimator.fit(&case.data(card), &Monitor::quiet());
            let copied = estimator.fit(&copies.data(card), &Monitor::quiet());

            let (Ok(weighted), Ok(copied)) = (&weighted, &copied) else {
                prop_assert_eq!(weighted.err(), copied.err());
                continue;
            };
            assert_same_learning(card, weighted, copied, &case.x, ROUNDING);
            cases.checked();
        }
        Ok(())
    });
}

#[test]
fn predictions_do_not_depend_on_the_row_order() {
    law(1020, shapes(), |shape, cases| {
        for card in order_invariant().filter(|card| tried(card, shape)) {
            let case = Case::new(card, shape);
            let mut rows: Vec<usize> = (0..case.x.nrows()).collect();
            Random::new(shape.seed).shuffle(&mut rows);

            let (a, b) = (fit(card, &case), fit(card, &case.select(&rows)));

            let (Ok(a), Ok(b)) = (&a, &b) else {
                prop_assert_eq!(a.err(), b.err());
                continue;
            };
            assert_near(
                &predictions(a, &case.x),
                &predictions(b, &case.x),
                within(card, LONG_WAY * slack(a)),
            );
            cases.checked();
        }
        Ok(())
    });
}

#[test]
fn predictions_do_not_depend_on_the_column_order() {
    law(862, shapes(), |shape, cases| {
        let those = CATALOG
            .iter()
            .filter(|card| card.can(Capability::Classifier) || card.can(Capability::Regressor));
        for card in those.filter(|card| !card.can(Capability::NonConvex) && tried(card, shape)) {
            let case = Case::new(card, shape);
            let mut columns: Vec<usize> = (0..case.x.ncols()).collect();
            Random::new(shape.seed).shuffle(&mut columns);
            let shuffled = Case { x: case.x.select(Axis(1), &columns), ..case.clone() };

            let (a, b) = (fit(card, &case), fit(card, &shuffled));

            let (Ok(a), Ok(b)) = (&a, &b) else {
                assert_same_refusal(&a, &b);
                continue;
            };
            // A tie between structures over the columns is broken by their order.
            if has_parents(a) {
                continue;
            }
            assert_near(
                &predictions(a, &case.x),
                &predictions(b, &shuffled.x),
                within(card, LONG_WAY),
            );
            cases.checked();
        }
        Ok(())
    });
}

#[test]
fn predictions_do_not_depend_on_class_names() {
    law(792, shapes(), |shape, cases| {
        let those =
            those_that_can(Capability::Classifier).filter(|card| !card.can(Capability::NonConvex));
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
                assert_same_refusal(&a, &b);
                continue;
            };
            let mut reversed = predictions(b, &case.x);
            reversed.invert_axis(Axis(1));
            assert_near(&predictions(a, &case.x), &reversed, within(card, LONG_WAY * slack(a)));
            cases.checked();
        }
        Ok(())
    });
}

#[test]
fn predictions_do_not_depend_on_the_units_of_the_columns() {
    law(320, (shapes(), -60i32..60), |(shape, power), cases| {
        for card in real_densities() {
            let case = Case::new(card, shape);
            let scaled = Case { x: &case.x * 2f64.powi(power), ..case.clone() };

            let (a, b) = (fit(card, &case), fit(card, &scaled));

            let (Ok(a), Ok(b)) = (&a, &b) else {
                assert_same_refusal(&a, &b);
                continue;
            };
            let tolerance = LONG_WAY * slack(a);
            let (a, b) = (predictions(a, &case.x), predictions(b, &scaled.x));
            assert_near(&a, &b, tolerance);
            // Either of two classes may be predicted if their scores are equal up to rounding.
            let winners =
                mercer::model::argmax_rows(&a).into_iter().zip(mercer::model::argmax_rows(&b));
            for (row, (one, other)) in a.outer_iter().zip(winners) {
                let tie = near(row[one as usize], row[other as usize], tolerance);
                prop_assert!(one == other || tie, "{}: {}", card.id, row);
            }
            cases.checked();
        }
        Ok(())
    });
}

#[test]
fn a_constant_column_does_not_change_the_posterior() {
    law(319, (shapes(), -9.0..9.0f64), |(shape, value), cases| {
        for card in real_densities() {
            let case = Case::new(card, shape);
            let constant = Matrix::from_elem((case.x.nrows(), 1), value);
            let wider = Case { x: concatenate![Axis(1), case.x, constant], ..case.clone() };

            let (a, b) = (fit(card, &case), fit(card, &wider));

            // A covariance per class has no inverse then.
            if let (Ok(_), Err(Error::SingularCovariance { rank, n_columns, .. })) = (&a, &b) {
                prop_assert_eq!(rank + 1, *n_columns);
                cases.checked();
                continue;
            }
            let (Ok(a), Ok(b)) = (&a, &b) else {
                assert_same_refusal(&a, &b);
                continue;
            };
            assert_near(&predictions(a, &case.x), &predictions(b, &wider.x), LONG_WAY * slack(a));
            cases.checked();
        }
        Ok(())
    });
}

#[test]
fn predictions_follow_the_unit_of_the_target() {
    law(128, (shapes(), -40i32..40, -9.0..9.0f64), |(shape, power, shift), cases| {
        for card in
            those_that_can(Capability::Regressor).filter(|card| card.learns == Learns::Statistics)
        {
            let case = Case::new(card, shape);
            let unit = 2f64.powi(power);
            let moved = |y: &f64| unit * (y + shift);
            let numbers = case.numbers.iter().map(moved).collect();
            let other = Case { numbers, ..case.clone() };

            let (a, b) = (fit(card, &case), fit(card, &other));

            let (Ok(a), Ok(b)) = (&a, &b) else {
                assert_same_refusal(&a, &b);
                continue;
            };
            let expected = predictions(a, &case.x).mapv(|y| y + shift);
            assert_near(&expected, &(predictions(b, &case.x) / unit), LONG_WAY);
            cases.checked();
        }
        Ok(())
    });
}

#[test]
fn a_constant_column_does_not_change_a_regression() {
    law(128, (shapes(), -9.0..9.0f64), |(shape, value), cases| {
        for card in
            those_that_can(Capability::Regressor).filter(|card| card.learns == Learns::Statistics)
        {
            let case = Case::new(card, shape);
            let constant = Matrix::from_elem((case.x.nrows(), 1), value);
            let wider = Case { x: concatenate![Axis(1), case.x, constant], ..case.clone() };

            let (a, b) = (fit(card, &case), fit(card, &wider));

            let (Ok(a), Ok(b)) = (&a, &b) else {
                assert_same_refusal(&a, &b);
                continue;
            };
            assert_near(&predictions(a, &case.x), &predictions(b, &wider.x), LONG_WAY);
            cases.checked();
        }
        Ok(())
    });
}
