//! Numerical edge cases: large offsets, tiny and huge scales, constant columns, many columns.

use crate::cases::{assert_near, near, sparse};
use mercer::bayes::{GaussianNb, GaussianNbModel, Variance};
use mercer::prelude::*;
use mercer::stats::{Grouped, Moments};
use ndarray::{Axis, array, concatenate};

fn two() -> Classes {
    Classes::from_names(["a", "b"])
}

fn fit(params: &GaussianNb, x: &Matrix, codes: &[u32]) -> Result<Fitted<GaussianNbModel>> {
    params.fit(&Dataset::classes(x, codes, &two())?, &Monitor::quiet())
}

fn unsmoothed() -> GaussianNb {
    GaussianNb::new().var_smoothing(0.0)
}

fn column(values: &[f64]) -> Matrix {
    Matrix::from_shape_vec((values.len(), 1), values.to_vec()).unwrap()
}

#[test]
fn a_large_offset_does_not_cancel_in_the_variance() {
    let x = column(&[1e8, 1e8 + 1.0, 1e8 + 2.0, -1e8, -1e8 - 1.0, -1e8 - 2.0]);

    let model = fit(&unsmoothed().variance(Variance::Sample), &x, &[0, 0, 0, 1, 1, 1]).unwrap();

    assert_eq!(model.means, array![[1e8 + 1.0], [-1e8 - 1.0]]);
    assert_eq!(model.variances, array![[1.0], [1.0]]);
}

/// NumAcc3 and NumAcc4 of NIST: an offset, and as many values a tenth above as a tenth below it.
#[test]
fn the_standard_deviation_of_numacc_has_eight_digits() {
    for (offset, first) in [(1e6, 0.2), (1e7, 0.2)] {
        let mut values = vec![offset + first];
        for _ in 0..500 {
            values.extend([offset + 0.1, offset + 0.3]);
        }
        let codes = vec![0; values.len()];
        let x = concatenate![Axis(0), column(&values), array![[0.0], [1.0]]];
        let codes: Vec<u32> = codes.into_iter().chain([1, 1]).collect();

        let model = fit(&unsmoothed().variance(Variance::Sample), &x, &codes).unwrap();

        // The certified standard deviation is exactly 0.1. Storing 1e7 + 0.1 leaves about eight digits of the 0.1,
        // which is the loss allowed here.
        let digits = -((model.variances[[0, 0]].sqrt() - 0.1).abs() / 0.1).log10();
        assert!(digits >= 8.0, "offset {offset}: {digits} digits");
        assert!(near(model.means[[0, 0]], offset + 0.2, 1e-14));
    }
}

#[test]
fn values_far_from_zero_keep_their_digits_row_by_row_and_when_forgotten() {
    let params = unsmoothed();
    let values: Vec<f64> = (0..200).map(|i| 1e9 + f64::from(i % 7)).collect();
    let codes: Vec<u32> = (0..200).map(|i| i % 2).collect();
    let (x, classes) = (column(&values), two());
    let data = Dataset::classes(&x, &codes, &classes).unwrap();

    let mut stats = Default::default();
    for i in 0..200 {
        params.observe(&mut stats, &data.slice(i..i + 1)).unwrap();
    }
    let grown = params.finish(&stats).unwrap();
    let mut some = Default::default();
    params.observe(&mut some, &data.slice(100..200)).unwrap();
    stats.forget(&some).unwrap();
    let left = params.finish(&stats).unwrap();

    let whole = fit(&params, &x, &codes).unwrap();
    let half = params.fit(&data.slice(0..100), &Monitor::quiet()).unwrap();
    assert_near(&grown.variances, &whole.variances, 1e-6);
    assert_near(&left.variances, &half.variances, 1e-6);
    assert_near(&grown.means, &whole.means, 1e-15);
}

#[test]
fn a_hundred_thousand_features_never_underflow() {
    let width = 100_000;
    let x = Matrix::from_shape_fn((8, width), |(i, j)| {
        // Two classes with means half a unit apart, and noise in every row.
        (i % 2) as f64 * 0.5 + ((i * 31 + j * 17) % 101) as f64 / 50.0
    });
    let codes = [0, 1, 0, 1, 0, 1, 0, 1];

    let model = fit(&GaussianNb::new(), &x, &codes).unwrap();

    let log_proba = model.log_proba(&Rows::from(&x)).unwrap();
    assert_eq!(model.predict(&Rows::from(&x)).unwrap(), codes);
    assert!(log_proba.iter().all(|p| p.is_finite()));
    assert!(log_proba.rows().into_iter().all(|r| (r.mapv(f64::exp).sum() - 1.0).abs() < 1e-12));
    let densities = model.log_density(&Rows::from(&x)).unwrap();
    assert!(densities.iter().all(|p| p.is_finite() && p.exp() != 1.0));
}

#[test]
fn smoothing_keeps_a_constant_column_finite_and_uninformative() {
    let x = array![[1.0, 5.0], [2.0, 5.0], [4.0, 5.0], [5.0, 5.0]];

    let model = fit(&GaussianNb::new(), &x, &[0, 0, 1, 1]).unwrap();

    // The pooled variance of 1, 2, 4, 5 is 2.5.
    assert_eq!(model.smoothing, 2.5e-9);
    assert_eq!(model.variances.column(1).to_vec(), [2.5e-9, 2.5e-9]);
    let alone = fit(&GaussianNb::new(), &x.select(Axis(1), &[0]), &[0, 0, 1, 1]).unwrap();
    let rows = x.select(Axis(1), &[0]);
    assert_near(
        &model.log_proba(&Rows::from(&x)).unwrap(),
        &alone.log_proba(&Rows::from(&rows)).unwrap(),
        1e-9,
    );
}

#[test]
fn a_constant_column_without_smoothing_is_refused_by_class_and_column() {
    let x = array![[1.0, 5.0], [2.0, 6.0], [4.0, 7.0], [5.0, 7.0]];

    let error = fit(&unsmoothed(), &x, &[0, 0, 1, 1]).unwrap_err();

    assert_eq!(error, Error::ZeroVariance { column: 1, class: "b".into() });
    assert_eq!(
        error.to_string(),
        "column 2 has zero variance in class `b`, so its Gaussian density is infinite; \
         increase `var_smoothing` or drop the column"
    );
}

#[test]
fn identical_rows_are_refused() {
    let x = Matrix::from_elem((4, 2), 3.0);

    let error = fit(&GaussianNb::new(), &x, &[0, 1, 0, 1]).unwrap_err();

    assert!(matches!(error, Error::ZeroVariance { column: 0, .. }));
}

#[test]
fn one_row_of_a_class_has_no_sample_variance_but_its_smoothing() {
    let x = column(&[1.0, 2.0, 3.0]);
    let sample = GaussianNb::new().variance(Variance::Sample);

    let model = fit(&sample, &x, &[0, 0, 1]).unwrap();
    let refused = fit(&sample.var_smoothing(0.0), &x, &[0, 0, 1]).unwrap_err();

    assert_eq!(model.variances[[1, 0]], model.smoothing);
    assert_eq!(refused, Error::ZeroVariance { column: 0, class: "b".into() });
}

#[test]
fn a_class_without_values_takes_the_density_of_all_classes() {
    let gap = f64::NAN;
    let x = array![[1.0, 1.0], [2.0, 3.0], [4.0, gap], [5.0, gap]];

    let model = fit(&GaussianNb::new(), &x, &[0, 0, 1, 1]).unwrap();

    // Only class a has the values 1 and 3, so both classes get mean 2 and variance 1.
    assert_eq!(model.means.column(1).to_vec(), [2.0, 2.0]);
    assert_eq!(model.variances[[0, 1]], model.variances[[1, 1]]);
    let thin = sparse(&x);
    let from_sparse = GaussianNb::new()
        .fit(&Dataset::classes(&thin, &[0, 0, 1, 1], &two()).unwrap(), &Monitor::quiet())
        .unwrap();
    assert_eq!(from_sparse.model, model.model);
}

#[test]
fn fractional_weights_leave_no_rounding_residue_when_all_values_are_missing() {
    // 0.1 + 0.2 + 0.3 − 0.1 − 0.2 − 0.3 is not zero in doubles.
    let gap = f64::NAN;
    let x = array![[1.0, 1.0], [2.0, 3.0], [4.0, gap], [5.0, gap], [6.0, gap]];
    let weights = [1.0, 1.0, 0.1, 0.2, 0.3];
    let (codes, thin, classes) = ([0, 0, 1, 1, 1], sparse(&x), two());

    let [dense, from_sparse] = [Rows::from(&x), Rows::from(&thin)].map(|rows| {
        let data = Dataset::classes(rows, &codes, &classes).unwrap().weighted(&weights).unwrap();
        GaussianNb::new().fit(&data, &Monitor::quiet()).unwrap().model
    });

    assert_near(&dense.means, &from_sparse.means, 1e-15);
    assert_near(&dense.variances, &from_sparse.variances, 1e-15);
    let moments = Moments::of_rows(&Rows::from(&thin), &codes, &weights, &[2.0, 0.1 + 0.2 + 0.3]);
    assert_eq!(moments.unwrap().check(), Ok(()));
}

#[test]
fn a_value_that_is_always_missing_favors_no_class() {
    let gap = f64::NAN;
    let x = array![[1.0, gap], [2.0, gap], [4.0, gap], [5.0, gap]];

    let model = fit(&GaussianNb::new(), &x, &[0, 0, 1, 1]).unwrap();

    let told = model.log_proba(&Rows::from(&array![[3.0, 17.0]])).unwrap();
    assert!((told[[0, 0]] - told[[0, 1]]).abs() < 1e-12);
}

#[test]
fn tiny_and_huge_scales_give_the_same_predictions() {
    let x = array![[1.0, 3.0], [2.0, 1.0], [4.0, 7.0], [5.0, 5.0], [9.0, 2.0]];
    let codes = [0, 0, 1, 1, 1];
    let plain = fit(&GaussianNb::new(), &x, &codes).unwrap();
    let expected = plain.log_proba(&Rows::from(&x)).unwrap();
    for scale in [1e-140, 1e-30, 1e30, 1e140] {
        let scaled = &x * scale;

        let model = fit(&GaussianNb::new(), &scaled, &codes).unwrap();

        assert_near(&model.log_proba(&Rows::from(&scaled)).unwrap(), &expected, 1e-12);
    }
}

#[test]
fn columns_of_different_scales_do_not_interfere_without_smoothing() {
    let x = array![[1e-150, 1e150], [2e-150, 3e150], [8e-150, 2e150], [9e-150, 4e150]];
    let plain = array![[1.0, 1.0], [2.0, 3.0], [8.0, 2.0], [9.0, 4.0]];
    let codes = [0, 0, 1, 1];

    let (a, b) =
        (fit(&unsmoothed(), &x, &codes).unwrap(), fit(&unsmoothed(), &plain, &codes).unwrap());

    assert_near(
        &a.log_proba(&Rows::from(&x)).unwrap(),
        &b.log_proba(&Rows::from(&plain)).unwrap(),
        1e-9,
    );
}

#[test]
fn values_whose_squares_overflow_are_refused_by_column() {
    for huge in [1e160, 1e200, 1.7e308] {
        for sign in [1.0, -1.0] {
            let x = array![[1.0, huge, 2.0], [2.0, -huge, 1.0], [3.0, 1.0, 4.0], [4.0, 2.0, 3.0]];

            let error = fit(&GaussianNb::new(), &(&x * sign), &[0, 0, 1, 1]).unwrap_err();

            assert_eq!(error, Error::TooLarge { column: 1 });
            assert_eq!(
                error.to_string(),
                "column 2 has values whose squares overflow; divide the column by a large constant"
            );
        }
    }
}

#[test]
fn class_means_whose_squares_overflow_are_refused_by_column() {
    let x = array![[1.0, 1e200], [2.0, 1e200], [3.0, -1e200], [4.0, -1e200]];

    for params in [GaussianNb::new(), unsmoothed()] {
        assert_eq!(fit(&params, &x, &[0, 0, 1, 1]).unwrap_err(), Error::TooLarge { column: 1 });
    }
}

#[test]
fn a_row_far_from_all_classes_has_probabilities() {
    let x = array![[1.0], [2.0], [4.0], [5.0]];
    let model = fit(&GaussianNb::new(), &x, &[0, 0, 1, 1]).unwrap();
    let far = array![[1e300], [-1e300], [1e154], [f64::MAX]];
    let thin = sparse(&far);

    for rows in [Rows::from(&far), Rows::from(&thin)] {
        let log_proba = model.log_proba(&rows).unwrap();
        for row in log_proba.outer_iter() {
            assert!((row.mapv(f64::exp).sum() - 1.0).abs() < 1e-12, "{row}");
        }
        let winners = mercer::model::argmax_rows(&log_proba);
        assert_eq!(model.predict(&rows).unwrap(), winners);
    }
}

#[test]
fn sparse_rows_keep_their_digits_beside_a_constant_column() {
    // The density of the constant column has a width of 1e-6 at 2000: its squared distance is 1e16 times that of the
    // others.
    let x = array![[0.1, 2000.0], [0.2, 2000.0], [0.5, 2000.0], [0.7, 2000.0]];
    let thin = sparse(&x);
    let model = fit(&GaussianNb::new(), &x, &[0, 0, 1, 1]).unwrap();

    let dense = model.log_proba(&Rows::from(&x)).unwrap();

    assert_near(&model.log_proba(&Rows::from(&thin)).unwrap(), &dense, 1e-10);
}

#[test]
fn a_narrow_density_far_from_zero_is_scored_in_sparse_rows() {
    // 1e150² divided by a smoothed variance of 2.5e-9 overflows a double.
    let x = array![[1e150, 1.0], [1e150, 2.0], [1e150, 4.0], [1e150, 5.0]];
    let thin = sparse(&x);
    let model = fit(&GaussianNb::new(), &x, &[0, 0, 1, 1]).unwrap();

    let dense = model.log_proba(&Rows::from(&x)).unwrap();

    assert_near(&model.log_proba(&Rows::from(&thin)).unwrap(), &dense, 1e-12);
}

#[test]
fn given_priors_replace_class_frequencies() {
    let x = array![[1.0], [2.0], [4.0], [5.0]];
    let params = GaussianNb::new().priors(vec![0.0, 1.0]);

    let model = fit(&params, &x, &[0, 0, 1, 1]).unwrap();

    assert_eq!(model.predict(&Rows::from(&x)).unwrap(), [1; 4]);
    let log_proba = model.log_proba(&Rows::from(&x)).unwrap();
    assert!(log_proba.column(1).iter().all(|p| *p == 0.0));
    let wrong = fit(&GaussianNb::new().priors(vec![0.2, 0.3, 0.5]), &x, &[0, 0, 1, 1]);
    assert!(matches!(wrong, Err(Error::Parameter { name, .. }) if name == "priors"));
}

#[test]
fn priors_do_not_replace_rows() {
    let x = array![[1.0], [2.0]];
    let classes = two();
    let data = Dataset::classes(&x, &[0, 1], &classes).unwrap().weighted(&[0.0, 0.0]).unwrap();

    let fitted = GaussianNb::new().priors(vec![0.5, 0.5]).fit(&data, &Monitor::quiet());

    assert_eq!(fitted.err(), Some(Error::NoRows));
}

#[test]
fn a_row_of_weight_zero_has_no_influence() {
    let x = array![[1.0], [2.0], [4.0], [5.0], [1e200]];
    let classes = two();
    let data = Dataset::classes(&x, &[0, 0, 1, 1, 0], &classes).unwrap();
    let data = data.weighted(&[1.0, 1.0, 1.0, 1.0, 0.0]).unwrap();

    let model = GaussianNb::new().fit(&data, &Monitor::quiet()).unwrap();

    let without = fit(&GaussianNb::new(), &x.slice(ndarray::s![..4, ..]).to_owned(), &[0, 0, 1, 1]);
    assert_eq!(model.model, without.unwrap().model);
}

#[test]
fn labels_of_several_types_are_one_list_of_classes() {
    let labels = ["true", "10", "2", "2.5", "x", "-1", "9007199254740993", "9007199254740992"];
    let classes = Classes::new(labels.iter().map(|l| Label::parse(l)).collect());
    let x = Matrix::from_shape_fn((16, 1), |(i, _)| i as f64);
    let codes: Vec<u32> = (0..16).map(|i| i / 2).collect();
    let data = Dataset::classes(&x, &codes, &classes).unwrap();

    let model = GaussianNb::new().fit(&data, &Monitor::quiet()).unwrap();

    let shown: Vec<String> = model.classes.labels().iter().map(Label::to_string).collect();
    assert_eq!(
        shown,
        ["true", "-1", "2", "2.5", "10", "9007199254740992", "9007199254740993", "x"]
    );
    assert_eq!(model.predict(&Rows::from(&x)).unwrap(), codes);
}

#[test]
fn summaries_of_different_classes_merge_by_name() {
    let params = GaussianNb::new();
    let x = array![[1.0], [2.0], [6.0], [8.0]];
    let (left, right) = (Classes::from_names(["b", "d"]), Classes::from_names(["a", "b"]));
    let all = Classes::from_names(["a", "b", "d"]);
    let observed = |codes: &[u32], classes: &Classes| {
        let mut stats = Default::default();
        params.observe(&mut stats, &Dataset::classes(&x, codes, classes).unwrap()).unwrap();
        stats
    };

    let mut merged = observed(&[0, 1, 0, 1], &left);
    merged.merge(&observed(&[0, 1, 0, 1], &right)).unwrap();

    let twice = concatenate![Axis(0), x, x];
    let data = Dataset::classes(&twice, &[1, 2, 1, 2, 0, 1, 0, 1], &all).unwrap();
    let whole = params.fit(&data, &Monitor::quiet()).unwrap();
    let merged = params.finish(&merged).unwrap();
    assert_eq!(merged.classes, all);
    assert_near(&merged.means, &whole.means, 1e-15);
    assert_near(&merged.variances, &whole.variances, 1e-14);
}
