//! Support vector machines on small problems: solutions by hand, equivalences between estimators, and the certificates
//! and options of a fit.

use mercer::calibrate::Calibration;
use mercer::data::ClassWeight;
use mercer::kernel::{Function, Kernel};
use mercer::prelude::*;
use mercer::svm::{Margin, Multiclass, NuSvc, NuSvr, OneClassSvm, Svc, SvcModel, Svr};
use mercer_num::random::Random;
use ndarray::array;

fn two() -> Classes {
    Classes::from_names(["minus", "plus"])
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found}, not {expected}");
}

#[test]
fn two_points_have_the_bisecting_hyperplane() {
    // At distance d: α = 2/d², ‖w‖ = 2/d, objective 2/d².
    let x = array![[1.0, 2.0], [4.0, 6.0]];
    let classes = two();
    let data = Dataset::classes(&x, &[0, 1], &classes).unwrap();

    let svc = Svc::new().kernel(Kernel::Linear).C(1e3).tol(1e-10);
    let fitted = svc.fit(&data, &Monitor::quiet()).unwrap();

    for (found, expected) in fitted.expansion.coefficients.iter().zip([-0.08, 0.08]) {
        near(*found, expected, 1e-12);
    }
    let w = fitted.expansion.weights().unwrap();
    near(w[[0, 0]], 0.24, 1e-12);
    near(w[[0, 1]], 0.32, 1e-12);
    near(fitted.certificate.primal().unwrap(), 0.08, 1e-12);
    assert!(fitted.certificate.duality_gap().unwrap() < 1e-12);
    let decisions = fitted.decisions(&Rows::from(&x)).unwrap();
    near(decisions[[0, 0]], -1.0, 1e-12);
    near(decisions[[1, 0]], 1.0, 1e-12);
}

#[test]
fn progress_reports_the_violation_and_the_support_vectors() {
    let mut random = Random::new(5);
    let x = Matrix::from_shape_fn((900, 2), |_| random.normal());
    for n_classes in [2, 4] {
        let codes: Vec<u32> = (0..900).map(|i| i % n_classes).collect();
        let names: Vec<String> = (0..n_classes).map(|c| c.to_string()).collect();
        let classes = Classes::from_names(names.iter().map(String::as_str));
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let reports = std::sync::Mutex::new(Vec::new());
        let monitor = Monitor::quiet().on_progress(|p| reports.lock().unwrap().push(p));

        let fitted = Svc::new().fit(&data, &monitor).unwrap();

        let reports = reports.lock().unwrap();
        let last = reports.last().unwrap();
        assert!(reports.len() > 2, "{reports:?}");
        assert!(reports.iter().all(|p| p.done <= last.done), "{reports:?}");
        assert_eq!(last.fraction(), Some(1.0));
        let convergence = last.convergence.unwrap();
        assert!(convergence.violation <= 1e-3, "{convergence}");
        let vectors = fitted.expansion.coefficients.iter().filter(|b| **b != 0.0).count();
        assert_eq!(convergence.n_support_vectors, vectors);
    }
}

#[test]
fn an_explanation_sums_over_the_support_vectors() {
    let x = ndarray::array![[0.0], [2.0], [6.0]];
    let classes = Classes::from_names(["a", "b", "c"]);
    let data = Dataset::classes(&x, &[0, 1, 2], &classes).unwrap();
    let svc = Svc::new().kernel(Kernel::Linear).C(1e3).tol(1e-9);
    let model = svc.fit(&data, &Monitor::quiet()).unwrap();

    let explanation = model.support_terms(&[3.5]).unwrap();

    // The hyperplane between 2 and 6 is at 4: f(x) = (4 - x) / 2, with coefficients ±1/8.
    let [first, second] = explanation.between.as_ref().unwrap();
    assert_eq!((first.to_string(), second.to_string()), ("b".into(), "c".into()));
    assert_eq!(explanation.kernel, "x·z");
    assert_eq!(explanation.support_vectors.iter().map(|s| s.row).collect::<Vec<_>>(), [1, 2]);
    near(explanation.support_vectors[0].term, 7.0 / 8.0, 1e-8);
    near(explanation.support_vectors[1].term, -21.0 / 8.0, 1e-8);
    near(explanation.intercept, 2.0, 1e-8);
    near(explanation.sum, 0.25, 1e-8);
}

#[test]
fn duplicate_rows_keep_their_own_bounds() {
    let mut random = Random::new(8);
    let x = Matrix::from_shape_fn((60, 2), |(i, _)| random.normal() + f64::from(i as u8 % 2));
    let codes: Vec<u32> = (0..60).map(|i| i % 2).collect();
    let repeated: Vec<usize> = (0..180).map(|i| i % 60).collect();
    let tripled = x.select(ndarray::Axis(0), &repeated);
    let all: Vec<u32> = repeated.iter().map(|i| codes[*i]).collect();
    let classes = two();
    let fit = |x: &Matrix, codes: &[u32], c: f64| {
        let data = Dataset::classes(x, codes, &classes).unwrap();
        let svc = Svc::new().gamma(0.5.into()).C(c).tol(1e-9);
        svc.fit(&data, &Monitor::quiet()).unwrap()
    };

    let found = fit(&tripled, &all, 0.7);

    let expected = fit(&x, &codes, 2.1);
    assert!(found.certificate.duality_gap().unwrap() < 1e-8);
    near(found.certificate.primal().unwrap(), expected.certificate.primal().unwrap(), 1e-8);
    let (a, b) = (found.decisions(&Rows::from(&x)), expected.decisions(&Rows::from(&x)));
    a.unwrap().iter().zip(&b.unwrap()).for_each(|(a, b)| near(*a, *b, 1e-7));
    let coefficients = &found.expansion.coefficients;
    assert!(coefficients.iter().all(|c| c.abs() <= 0.7));
    near(coefficients.sum(), 0.0, 1e-12);
    // At most one row of each group of duplicates is a free support vector.
    let inside = coefficients.iter().filter(|c| c.abs() < 0.7 && **c != 0.0).count();
    assert!(inside <= 60 && found.expansion.support.len() < 180, "{inside}");
}

#[test]
fn the_hard_margin_is_half_the_distance_of_the_convex_hulls() {
    // The closest points are (1, 1) and the midpoint of (3, 1) and (1, 3), at distance √2.
    let x = array![[0.0, 0.0], [1.0, 1.0], [3.0, 1.0], [1.0, 3.0], [4.0, 4.0]];
    let classes = two();
    let data = Dataset::classes(&x, &[0, 0, 1, 1, 1], &classes).unwrap();
    let svc = Svc::new().kernel(Kernel::Linear).margin(Margin::Hard).tol(1e-9);

    let fitted = svc.fit(&data, &Monitor::quiet()).unwrap();

    fitted.check().unwrap();
    near(fitted.margins[0], 0.5f64.sqrt(), 1e-8);
    let w = fitted.expansion.weights().unwrap();
    near(w[[0, 0]], 1.0, 1e-8);
    near(w[[0, 1]], 1.0, 1e-8);
    near(fitted.expansion.intercepts[0], -3.0, 1e-8);
    near(fitted.certificate.primal().unwrap(), 1.0, 1e-8);
    assert!(fitted.certificate.duality_gap().unwrap().abs() < 1e-8);
    // A soft margin with a large C has no slack and the same hyperplane.
    let soft = Svc::new().kernel(Kernel::Linear).C(1e4).tol(1e-9);
    let soft = soft.fit(&data, &Monitor::quiet()).unwrap();
    near(soft.margins[0], fitted.margins[0], 1e-8);
    assert!(soft.slacks.iter().all(|s| *s < 1e-8));
}

#[test]
fn classes_that_are_not_separable_have_a_witness() {
    // The diagonals of a square intersect in its center.
    let x = array![[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [9.0, 0.0]];
    let classes = two();
    let data = Dataset::classes(&x, &[0, 0, 1, 1, 1], &classes).unwrap();
    let svc = Svc::new().kernel(Kernel::Linear).margin(Margin::Hard);

    let Err(Error::NotSeparable { first, second, witness, distance, .. }) =
        svc.fit(&data, &Monitor::quiet())
    else {
        panic!("the classes are not separable")
    };

    assert_eq!((first.as_str(), second.as_str()), ("minus", "plus"));
    assert!(distance < 1e-5);
    let point = |combination: &[(usize, f64)], j: usize| -> f64 {
        near(combination.iter().map(|(_, c)| c).sum(), 1.0, 1e-9);
        combination.iter().map(|(row, c)| c * x[[*row, j]]).sum()
    };
    (0..2).for_each(|j| near(point(&witness[0], j), point(&witness[1], j), 1e-5));
    // They are separable with an RBF kernel.
    let rbf = Svc::new().gamma(1.0.into()).margin(Margin::Hard);
    let fitted = rbf.fit(&data, &Monitor::quiet()).unwrap();
    assert_eq!(fitted.predict(&Rows::from(&x)).unwrap(), [0, 0, 1, 1, 1]);
}

#[test]
fn exclusive_or_with_a_quadratic_kernel() {
    // (1 + x·z)²: every α is 1/8, b = 0, objective 1/4.
    let x = array![[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]];
    let classes = two();
    let data = Dataset::classes(&x, &[0, 1, 1, 0], &classes).unwrap();
    let svc = Svc::new().kernel(Kernel::Poly).degree(2).gamma(1.0.into()).coef0(1.0);

    let fitted = svc.C(1e6).tol(1e-10).fit(&data, &Monitor::quiet()).unwrap();

    assert!(fitted.expansion.coefficients.iter().all(|b| (b.abs() - 0.125).abs() < 1e-12));
    near(fitted.expansion.intercepts[0], 0.0, 1e-12);
    near(fitted.certificate.dual.unwrap(), 0.25, 1e-12);
    assert_eq!(fitted.predict(&Rows::from(&x)).unwrap(), [0, 1, 1, 0]);
}

#[test]
fn identical_points_of_both_classes_have_all_variables_at_the_bound() {
    let x = Matrix::ones((6, 2));
    let classes = two();
    let data = Dataset::classes(&x, &[0, 1, 0, 1, 0, 1], &classes).unwrap();

    let fitted = Svc::new().C(2.0).fit(&data, &Monitor::quiet()).unwrap();

    assert!(fitted.expansion.coefficients.iter().all(|b| b.abs() == 2.0));
    near(fitted.decisions(&Rows::from(&x)).unwrap()[[0, 0]], fitted.expansion.intercepts[0], 1e-12);
    assert!(fitted.converged);
}

#[test]
fn regression_through_two_points_is_flatter_by_epsilon() {
    let x = array![[-1.0], [1.0]];
    let data = Dataset::regression(&x, &[-1.0, 1.0]).unwrap();
    let svr = Svr::new().kernel(Kernel::Linear).C(100.0).epsilon(0.2).tol(1e-10);

    let fitted = svr.fit(&data, &Monitor::quiet()).unwrap();

    near(fitted.expansion.weights().unwrap()[[0, 0]], 0.8, 1e-12);
    near(fitted.predict(&Rows::from(&x)).unwrap()[1], 0.8, 1e-12);
    assert!(fitted.certificate.duality_gap().unwrap() < 1e-12);
}

#[test]
fn one_class_svm_of_identical_points_has_them_on_the_boundary() {
    let x = Matrix::ones((8, 3));
    let data = Dataset::unlabeled(&x);

    let fitted = OneClassSvm::new().nu(0.25).fit(&data, &Monitor::quiet()).unwrap();

    // ρ = Σ α = ν n, as every kernel value is one.
    near(-fitted.expansion.intercepts[0], 2.0, 1e-6);
    assert!(fitted.inlier_scores(&Rows::from(&x)).unwrap().iter().all(|v| v.abs() < 1e-6));
}

/// Overlapping Gaussian classes in four columns.
fn blobs(n: usize, n_classes: usize, seed: u64) -> (Matrix, Vec<u32>, Classes) {
    let mut random = Random::new(seed);
    let codes: Vec<u32> = (0..n).map(|i| (i % n_classes) as u32).collect();
    let x = Matrix::from_shape_fn((n, 4), |(i, j)| {
        1.2 * f64::from(codes[i]) * (1.0 + j as f64 * 0.3) + 1.5 * random.normal()
    });
    (x, codes, Classes::from_names((0..n_classes).map(|c| format!("class {c}"))))
}

#[test]
fn nu_bounds_the_fractions_of_margin_errors_and_support_vectors() {
    let (x, codes, classes) = blobs(200, 2, 3);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();

    let fitted = NuSvc::new().nu(0.3).tol(1e-8).fit(&data, &Monitor::quiet()).unwrap();

    assert!(fitted.expansion.n_vectors() as f64 >= 0.3 * 200.0);
    let decisions = fitted.decisions(&Rows::from(&x)).unwrap();
    let inside = decisions
        .column(0)
        .iter()
        .zip(&codes)
        .filter(|(d, c)| *d * (2.0 * f64::from(**c) - 1.0) < 1.0 - 1e-6)
        .count();
    assert!(inside as f64 <= 0.3 * 200.0, "{inside}");
    // C-SVC with the equivalent C has the same decision function.
    let svc = Svc::new().C(fitted.equivalent_c[0]).tol(1e-8);
    let same = svc.fit(&data, &Monitor::quiet()).unwrap();
    for (a, b) in decisions.iter().zip(&same.decisions(&Rows::from(&x)).unwrap()) {
        near(*a, *b, 1e-5);
    }
}

#[test]
fn epsilon_of_nu_svr_gives_the_same_function() {
    let (x, codes, _) = blobs(150, 3, 4);
    let y: Vec<f64> = codes.iter().map(|c| f64::from(*c)).collect();
    let data = Dataset::regression(&x, &y).unwrap();

    let nu = NuSvr::new().nu(0.4).C(2.0).tol(1e-8).fit(&data, &Monitor::quiet()).unwrap();
    let svr = Svr::new().C(2.0).epsilon(nu.epsilon).tol(1e-8);
    let same = svr.fit(&data, &Monitor::quiet()).unwrap();

    let rows = Rows::from(&x);
    for (a, b) in nu.predict(&rows).unwrap().iter().zip(same.predict(&rows).unwrap()) {
        near(*a, b, 1e-5);
    }
    assert!(nu.certificate.duality_gap().unwrap() < 1e-5);
}

#[test]
fn the_duality_gap_is_within_the_tolerance_in_single_precision() {
    let (x, codes, classes) = blobs(900, 3, 5);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    for (tol, relative) in [(1e-3, 1e-3), (1e-8, 1e-8)] {
        let fitted = Svc::new().C(5.0).tol(tol).fit(&data, &Monitor::quiet()).unwrap();

        let certificate = &fitted.certificate;
        let primal = certificate.primal().unwrap();
        assert!(primal >= certificate.dual.unwrap());
        assert!(certificate.duality_gap().unwrap() <= relative * primal, "{certificate}");
        assert!(certificate.violation.as_ref().unwrap().value <= 1.05 * tol, "{certificate}");
    }
}

#[test]
fn one_vs_rest_and_one_vs_one_mostly_agree() {
    let (x, codes, classes) = blobs(300, 4, 6);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    let right = |multiclass| {
        let fitted = Svc::new().multiclass(multiclass).fit(&data, &Monitor::quiet()).unwrap();
        fitted.check().unwrap();
        let predicted = fitted.predict(&Rows::from(&x)).unwrap();
        predicted.iter().zip(&codes).filter(|(a, b)| a == b).count()
    };

    let (pairs, rest) = (right(Multiclass::OneVsOne), right(Multiclass::OneVsRest));

    assert!(pairs.abs_diff(rest) < 15 && pairs > 180, "{pairs}, {rest}");
}

#[test]
fn probabilities_are_calibrated_and_agree_with_predictions() {
    for n_classes in [2, 4] {
        let (x, codes, classes) = blobs(400, n_classes, 20);
        let (fresh, truth, _) = blobs(2000, n_classes, 21);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();

        let fitted = Svc::new().probability(true).fit(&data, &Monitor::quiet()).unwrap();

        fitted.check().unwrap();
        let p = fitted.log_proba(&Rows::from(&fresh)).unwrap().mapv(f64::exp);
        let predicted = fitted.predict(&Rows::from(&fresh)).unwrap();
        let (mut confidence, mut right) = (0.0, 0.0);
        for (i, row) in p.rows().into_iter().enumerate() {
            assert!((row.sum() - 1.0).abs() < 1e-12);
            let most = row.iter().copied().fold(0.0, f64::max);
            assert_eq!(row[predicted[i] as usize], most);
            confidence += most / 2000.0;
            right += f64::from(u8::from(predicted[i] == truth[i])) / 2000.0;
        }
        near(confidence, right, 0.06);
    }
}

#[test]
fn a_warm_start_needs_few_iterations() {
    let (x, codes, classes) = blobs(1000, 2, 7);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    let svc = Svc::new().C(1.0);
    let cold = svc.fit(&data, &Monitor::quiet()).unwrap();

    let warm = svc.fit_from(&cold, &data, &Monitor::quiet()).unwrap();

    assert!(warm.converged && warm.n_iter[0] * 10 < cold.n_iter[0], "{:?}", warm.n_iter);
}

#[test]
fn a_time_limit_gives_a_usable_model() {
    let (x, codes, classes) = blobs(4000, 2, 8);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    let monitor = Monitor::quiet().time_limit(std::time::Duration::from_millis(60));

    let fitted = Svc::new().C(1e4).tol(1e-9).fit(&data, &monitor).unwrap();

    assert!(fitted.certificate.stopped().is_some() && !fitted.converged);
    assert!(fitted.certificate.duality_gap().unwrap() > 0.0);
    assert_eq!(fitted.predict(&Rows::from(&x)).unwrap().len(), 4000);
}

#[test]
fn precomputed_kernel_values_give_the_same_model() {
    let (x, codes, classes) = blobs(60, 3, 9);
    let function = Function::rbf(0.1);
    let gram = Matrix::from_shape_fn((60, 60), |(i, j)| {
        function.value(&x.row(i).to_vec(), &x.row(j).to_vec())
    });
    let fit = |svc: Svc, rows: &Matrix| {
        let data = Dataset::classes(rows, &codes, &classes).unwrap();
        svc.tol(1e-9).fit(&data, &Monitor::quiet()).unwrap()
    };

    let rbf = fit(Svc::new().gamma(0.1.into()), &x);
    let precomputed = fit(Svc::new().kernel(Kernel::Precomputed), &gram);

    precomputed.check().unwrap();
    assert_eq!(precomputed.expansion.support, rbf.expansion.support);
    let (a, b) = (
        rbf.decisions(&Rows::from(&x)).unwrap(),
        precomputed.decisions(&Rows::from(&gram)).unwrap(),
    );
    a.iter().zip(&b).for_each(|(a, b)| near(*a, *b, 1e-7));
}

#[test]
fn class_weights_equal_sample_weights() {
    let (x, codes, classes) = blobs(120, 2, 10);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    let by_class = [("class 1".to_owned(), 2.0)].into_iter().collect();
    let weights: Vec<f64> = codes.iter().map(|c| 1.0 + f64::from(*c)).collect();
    let weighted = data.clone().weighted(&weights).unwrap();
    let svc = Svc::new().gamma(0.1.into()).tol(1e-9);

    let by_class = svc.clone().class_weight(Some(ClassWeight::ByClass(by_class)));
    let (a, b) = (
        by_class.fit(&data, &Monitor::quiet()).unwrap(),
        svc.fit(&weighted, &Monitor::quiet()).unwrap(),
    );

    assert_eq!(a.expansion, b.expansion);
    let unknown = [("class 7".to_owned(), 2.0)].into_iter().collect();
    let refused = Svc::new().class_weight(Some(ClassWeight::ByClass(unknown)));
    assert!(matches!(refused.fit(&data, &Monitor::quiet()), Err(Error::UnknownClass { .. })));
}

/// The minimum of `½‖w‖² + C Σ max(0, 1 − y (w·x + b))ᵏ`, by gradient descent with a backtracking step size.
fn minimize_primal(x: &Matrix, codes: &[u32], costs: &[f64], power: f64) -> f64 {
    let width = x.ncols();
    let at = |w: &[f64]| -> (f64, Vec<f64>) {
        let mut value = 0.5 * w[..width].iter().map(|w| w * w).sum::<f64>();
        let mut gradient = w.to_vec();
        gradient[width] = 0.0;
        for ((row, code), cost) in x.outer_iter().zip(codes).zip(costs) {
            let y = if *code == 1 { 1.0 } else { -1.0 };
            let z: f64 = row.iter().zip(w).map(|(x, w)| x * w).sum::<f64>() + w[width];
            let slack = (1.0 - y * z).max(0.0);
            value += cost * slack.powf(power);
            let derivative = -y * power * cost * slack.powf(power - 1.0);
            row.iter().enumerate().for_each(|(j, x)| gradient[j] += derivative * x);
            gradient[width] += derivative;
        }
        (value, gradient)
    };
    let mut w = vec![0.0; width + 1];
    let (mut value, mut gradient) = at(&w);
    let mut step = 1.0;
    for _ in 0..20_000 {
        let square: f64 = gradient.iter().map(|g| g * g).sum();
        let next: Vec<f64> = w.iter().zip(&gradient).map(|(w, g)| w - step * g).collect();
        let (lower, other) = at(&next);
        if lower <= value - 0.5 * step * square {
            (w, value, gradient) = (next, lower, other);
            step *= 1.5;
        } else {
            step *= 0.5;
        }
        if square < 1e-24 || step < 1e-18 {
            break;
        }
    }
    value
}

#[test]
fn a_power_of_the_slack_reaches_the_minimum_of_the_primal() {
    let (x, codes, classes) = blobs(40, 2, 31);
    let weights: Vec<f64> = (0..40).map(|i| 0.5 + f64::from(i % 3)).collect();
    let data = Dataset::classes(&x, &codes, &classes).unwrap().weighted(&weights).unwrap();
    for power in [1.3, 1.7, 2.0, 3.0, 5.0] {
        for c in [0.05, 2.0] {
            let svc = Svc::new().kernel(Kernel::Linear).C(c).slack_power(power).tol(1e-9);

            let fitted = svc.fit(&data, &Monitor::quiet()).unwrap();

            let certificate = &fitted.certificate;
            let primal = certificate.primal().unwrap();
            assert!(fitted.converged, "power {power}: {}", fitted.certificate);
            assert!(
                certificate.duality_gap().unwrap().abs() <= 1e-8 * primal,
                "{power}: {}",
                fitted.certificate
            );
            let costs: Vec<f64> = weights.iter().map(|w| c * w).collect();
            let minimum = minimize_primal(&x, &codes, &costs, power);
            assert!((primal / minimum - 1.0).abs() < 1e-5, "power {power}: {primal}, {minimum}");
            assert!(certificate.dual.unwrap() <= minimum * (1.0 + 1e-9));
        }
    }
}

#[test]
fn a_slack_power_near_one_approaches_the_hinge_loss() {
    let (x, codes, classes) = blobs(80, 2, 32);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    let svc = Svc::new().gamma(0.1.into()).tol(1e-8);
    let fit = |svc: Svc| svc.fit(&data, &Monitor::quiet()).unwrap();

    let (hinge, near_one) = (fit(svc.clone()), fit(svc.slack_power(1.0001)));

    let value = |fitted: &Fitted<SvcModel>| fitted.certificate.primal().unwrap();
    assert!((value(&hinge) / value(&near_one) - 1.0).abs() < 1e-3);
}

#[test]
fn squared_slack_adds_to_the_diagonal_of_the_kernel() {
    // With 1 / 2C added to the diagonal of the kernel matrix, the problem has a hard margin.
    let (x, codes, classes) = blobs(50, 2, 33);
    let function = Function::rbf(0.1);
    let gram = Matrix::from_shape_fn((50, 50), |(i, j)| {
        let added = if i == j { 0.5 / 0.8 } else { 0.0 };
        function.value(&x.row(i).to_vec(), &x.row(j).to_vec()) + added
    });
    let squared = Svc::new().gamma(0.1.into()).C(0.8).slack_power(2.0).tol(1e-10);
    let hard = Svc::new().kernel(Kernel::Precomputed).margin(Margin::Hard).tol(1e-8);
    let fit = |svc: &Svc, rows: &Matrix| {
        let data = Dataset::classes(rows, &codes, &classes).unwrap();
        svc.fit(&data, &Monitor::quiet()).unwrap()
    };

    let (squared, hard) = (fit(&squared, &x), fit(&hard, &gram));

    assert_eq!(squared.expansion.support, hard.expansion.support);
    for (a, b) in squared.expansion.coefficients.iter().zip(&hard.expansion.coefficients) {
        near(*a, *b, 1e-5);
    }
    near(squared.expansion.intercepts[0], hard.expansion.intercepts[0], 1e-5);
}

#[test]
fn cached_columns_and_working_sets_agree_for_a_power_of_the_slack() {
    let (x, codes, classes) = blobs(600, 2, 34);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    let mut values = Vec::new();
    // A cache of half a megabyte is too small for the columns of 600 rows.
    for (cache, power) in [(256.0, 1.5), (0.5, 1.5), (256.0, 2.0), (0.5, 2.0)] {
        let svc = Svc::new().slack_power(power).cache_size(cache).tol(1e-6);

        let fitted = svc.fit(&data, &Monitor::quiet()).unwrap();

        let certificate = &fitted.certificate;
        let primal = certificate.primal().unwrap();
        assert!(
            fitted.converged && certificate.duality_gap().unwrap() <= 1e-5 * primal,
            "{}",
            fitted.certificate
        );
        values.push(primal);
    }
    near(values[0] / values[1], 1.0, 1e-5);
    near(values[2] / values[3], 1.0, 1e-5);
}

#[test]
fn a_hard_margin_with_a_slack_power_is_refused() {
    let (x, codes, classes) = blobs(20, 2, 35);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();

    let refused = Svc::new().margin(Margin::Hard).slack_power(2.0).fit(&data, &Monitor::quiet());

    assert!(matches!(refused, Err(Error::Parameter { .. })));
}

#[test]
fn the_fit_ends_at_the_requested_duality_gap() {
    let (x, codes, classes) = blobs(500, 2, 37);
    let y: Vec<f64> = x.outer_iter().map(|row| row[0] + 0.3 * row[1] * row[2]).collect();
    let labeled = Dataset::classes(&x, &codes, &classes).unwrap();
    let (regression, unlabeled) = (Dataset::regression(&x, &y).unwrap(), Dataset::unlabeled(&x));
    let quiet = Monitor::quiet();
    for gap in [0.1, 1e-2, 1e-6] {
        let some = Some(gap);
        let svc = Svc::new().gap(some).C(5.0).fit(&labeled, &quiet).unwrap();
        let powers = Svc::new().gap(some).slack_power(2.0).fit(&labeled, &quiet).unwrap();
        let nu_svc = NuSvc::new().gap(some).fit(&labeled, &quiet).unwrap();
        let svr = Svr::new().gap(some).fit(&regression, &quiet).unwrap();
        let nu_svr = NuSvr::new().gap(some).fit(&regression, &quiet).unwrap();
        let one = OneClassSvm::new().gap(some).fit(&unlabeled, &quiet).unwrap();

        for certificate in [
            &svc.certificate,
            &powers.certificate,
            &nu_svc.certificate,
            &svr.certificate,
            &nu_svr.certificate,
            &one.certificate,
        ] {
            let certificate = &certificate;
            let (primal, bound) = (certificate.primal().unwrap(), certificate.dual.unwrap());
            let size = primal.abs().max(bound.abs());
            assert!(certificate.duality_gap().unwrap() <= gap * size, "{gap}: {certificate}");
            assert!(certificate.status.is_converged(), "{gap}: {certificate}");
        }
        let fine = Svc::new().C(5.0).tol(1e-8).fit(&labeled, &quiet).unwrap();
        assert!(gap < 1e-3 || svc.n_iter[0] < fine.n_iter[0]);
    }
}

#[test]
fn crammer_singer_closes_the_duality_gap() {
    for n_classes in [2, 4] {
        let (x, codes, classes) = blobs(120, n_classes, 38);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let svc = Svc::new().multiclass(Multiclass::CrammerSinger).gamma(0.1.into()).tol(1e-6);

        let fitted = svc.fit(&data, &Monitor::quiet()).unwrap();

        fitted.check().unwrap();
        let certificate = &fitted.certificate;
        let primal = certificate.primal().unwrap();
        assert!(fitted.converged && certificate.duality_gap().unwrap() >= -1e-9 * primal);
        assert!(certificate.duality_gap().unwrap() <= 1e-5 * primal, "{}", fitted.certificate);
        // The losses by their definition; the decision value of two classes is the difference of their functions.
        let decisions = fitted.raw_decisions(&Rows::from(&x)).unwrap();
        let mut losses = 0.0;
        for (row, code) in decisions.rows().into_iter().zip(&codes) {
            let scores = match n_classes {
                2 => vec![-0.5 * row[0], 0.5 * row[0]],
                _ => row.to_vec(),
            };
            let own = *code as usize;
            let highest = (0..n_classes).map(|c| scores[c] + if c == own { 0.0 } else { 1.0 });
            losses += highest.fold(f64::NEG_INFINITY, f64::max) - scores[own];
        }
        assert!(losses <= primal && losses > 0.0, "{losses}, {primal}");
        let predicted = fitted.predict(&Rows::from(&x)).unwrap();
        let right = predicted.iter().zip(&codes).filter(|(a, b)| a == b).count();
        assert!(right > 70, "{right} of 120");
    }
}

#[test]
fn crammer_singer_with_two_classes_is_a_binary_svm_without_intercept() {
    // ½(‖w₁‖² + ‖w₂‖²) with w₁ = −w₂ is ¼‖w‖² of their difference w: a binary SVM without intercept at twice the C.
    let (x, codes, classes) = blobs(60, 2, 39);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    let joint = Svc::new().multiclass(Multiclass::CrammerSinger).kernel(Kernel::Linear).C(0.1);
    let linear = mercer::linear::LinearSvc::new().loss(mercer::linear::HingeLoss::Hinge).C(0.2);

    let joint = joint.tol(1e-8).fit(&data, &Monitor::quiet()).unwrap();
    let linear = linear.fit_intercept(false).tol(1e-8).fit(&data, &Monitor::quiet()).unwrap();

    for (a, b) in joint.expansion.weights().unwrap().iter().zip(&linear.coefficients) {
        near(*a, *b, 1e-4);
    }
    let value = |certificate: &Certificate| certificate.primal().unwrap();
    let (a, b) = (value(&joint.certificate), value(&linear.certificate));
    near(2.0 * a / b, 1.0, 1e-6);
}

#[test]
fn crammer_singer_refuses_a_hard_margin_and_a_slack_power() {
    let (x, codes, classes) = blobs(20, 3, 40);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    let joint = Svc::new().multiclass(Multiclass::CrammerSinger);

    for svc in [joint.clone().slack_power(2.0), joint.margin(Margin::Hard)] {
        assert!(matches!(svc.fit(&data, &Monitor::quiet()), Err(Error::Parameter { .. })));
    }
}

#[test]
fn crammer_singer_has_calibrated_probabilities() {
    for n_classes in [2, 3] {
        let (x, codes, classes) = blobs(450, n_classes, 41);
        let (unseen, unseen_codes, _) = blobs(450, n_classes, 42);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        for kind in [Calibration::Sigmoid, Calibration::Isotonic, Calibration::VennAbers] {
            let svc = Svc::new().multiclass(Multiclass::CrammerSinger).gamma(0.1.into());
            let fitted =
                svc.probability(true).calibration(kind).fit(&data, &Monitor::quiet()).unwrap();

            let proba = fitted.log_proba(&Rows::from(&unseen)).unwrap().mapv(f64::exp);
            let predicted = fitted.predict(&Rows::from(&unseen)).unwrap();

            let (mut confidence, mut correct) = (0.0, 0.0);
            for ((row, code), winner) in proba.outer_iter().zip(&unseen_codes).zip(&predicted) {
                near(row.sum(), 1.0, 1e-12);
                confidence += row[*winner as usize];
                correct += f64::from(winner == code);
            }
            near(confidence / 450.0, correct / 450.0, 0.05);
        }
    }
}
