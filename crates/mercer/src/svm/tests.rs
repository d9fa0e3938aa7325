//! What the machines do on rows that can be worked out by hand, or drawn.

use super::dual_problem::DualProblem;
use super::multiclass::solve_all;
use super::svc::task;
use super::*;
use crate::calibrate::Calibration;
use crate::data::ClassWeight;
use crate::kernel::Kernel;
use crate::prelude::*;
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
fn two_points_have_the_plane_between_them() {
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
fn a_fit_tells_how_far_it_is_from_its_optimum() {
    let mut random = Random::new(5);
    let x = Matrix::from_shape_fn((900, 2), |_| random.normal());
    for n_classes in [2, 4] {
        let codes: Vec<u32> = (0..900).map(|i| i % n_classes).collect();
        let names: Vec<String> = (0..n_classes).map(|c| c.to_string()).collect();
        let classes = Classes::from_names(names.iter().map(String::as_str));
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let told = std::sync::Mutex::new(Vec::new());
        let monitor = Monitor::quiet().on_progress(|p| told.lock().unwrap().push(p));

        let fitted = Svc::new().fit(&data, &monitor).unwrap();

        let told = told.lock().unwrap();
        let last = told.last().unwrap();
        assert!(told.len() > 2, "{told:?}");
        assert!(told.iter().all(|p| p.done <= last.done), "{told:?}");
        assert_eq!(last.share(), Some(1.0));
        let standing = last.standing.unwrap();
        assert!(standing.violation <= 1e-3, "{standing}");
        let vectors = fitted.expansion.coefficients.iter().filter(|b| **b != 0.0).count();
        assert_eq!(standing.supports, vectors);
    }
}

#[test]
fn an_answer_is_told_by_the_rows_it_comes_from() {
    let x = ndarray::array![[0.0], [2.0], [6.0]];
    let classes = Classes::from_names(["a", "b", "c"]);
    let data = Dataset::classes(&x, &[0, 1, 2], &classes).unwrap();
    let svc = Svc::new().kernel(Kernel::Linear).C(1e3).tol(1e-9);
    let model = svc.fit(&data, &Monitor::quiet()).unwrap();

    let told = model.support_terms(&[3.5]).unwrap();

    // Between 2 and 6 the middle of the street is 4: f(x) = (4 - x) / 2, by 1/8 of either row.
    let [first, second] = told.between.as_ref().unwrap();
    assert_eq!((first.to_string(), second.to_string()), ("b".into(), "c".into()));
    assert_eq!(told.kernel, "x·z");
    assert_eq!(told.support_vectors.iter().map(|s| s.row).collect::<Vec<_>>(), [1, 2]);
    near(told.support_vectors[0].term, 7.0 / 8.0, 1e-8);
    near(told.support_vectors[1].term, -21.0 / 8.0, 1e-8);
    near(told.intercept, 2.0, 1e-8);
    near(told.sum, 0.25, 1e-8);
}

#[test]
fn rows_that_are_there_again_keep_their_own_bounds() {
    let mut random = Random::new(8);
    let x = Matrix::from_shape_fn((60, 2), |(i, _)| random.normal() + f64::from(i as u8 % 2));
    let codes: Vec<u32> = (0..60).map(|i| i % 2).collect();
    let again: Vec<usize> = (0..180).map(|i| i % 60).collect();
    let thrice = x.select(ndarray::Axis(0), &again);
    let all: Vec<u32> = again.iter().map(|i| codes[*i]).collect();
    let classes = two();
    let fit = |x: &Matrix, codes: &[u32], price: f64| {
        let data = Dataset::classes(x, codes, &classes).unwrap();
        let svc = Svc::new().gamma(0.5.into()).C(price).tol(1e-9);
        svc.fit(&data, &Monitor::quiet()).unwrap()
    };

    let found = fit(&thrice, &all, 0.7);

    let expected = fit(&x, &codes, 2.1);
    assert!(found.certificate.duality_gap().unwrap() < 1e-8);
    near(found.certificate.primal().unwrap(), expected.certificate.primal().unwrap(), 1e-8);
    let (a, b) = (found.decisions(&Rows::from(&x)), expected.decisions(&Rows::from(&x)));
    a.unwrap().iter().zip(&b.unwrap()).for_each(|(a, b)| near(*a, *b, 1e-7));
    let coefficients = &found.expansion.coefficients;
    assert!(coefficients.iter().all(|c| c.abs() <= 0.7));
    near(coefficients.sum(), 0.0, 1e-12);
    // No row has something while one that is the same before it has room.
    let inside = coefficients.iter().filter(|c| c.abs() < 0.7 && **c != 0.0).count();
    assert!(inside <= 60 && found.expansion.support.len() < 180, "{inside}");
}

#[test]
fn a_hard_margin_is_the_street_between_the_hulls() {
    // The nearest points are (1, 1) and the middle of (3, 1) and (1, 3): the street is √2 wide.
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
    // A price that nobody pays gives the same plane.
    let soft = Svc::new().kernel(Kernel::Linear).C(1e4).tol(1e-9);
    let soft = soft.fit(&data, &Monitor::quiet()).unwrap();
    near(soft.margins[0], fitted.margins[0], 1e-8);
    assert!(soft.slacks.iter().all(|s| *s < 1e-8));
}

#[test]
fn classes_that_meet_have_a_witness() {
    // Diagonals of a square cross in its middle.
    let x = array![[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [9.0, 0.0]];
    let classes = two();
    let data = Dataset::classes(&x, &[0, 0, 1, 1, 1], &classes).unwrap();
    let svc = Svc::new().kernel(Kernel::Linear).margin(Margin::Hard);

    let Err(Error::NotSeparable { first, second, witness, distance }) =
        svc.fit(&data, &Monitor::quiet())
    else {
        panic!("told apart")
    };

    assert_eq!((first.as_str(), second.as_str()), ("minus", "plus"));
    assert!(distance < 1e-5);
    let point = |parts: &[(usize, f64)], j: usize| -> f64 {
        near(parts.iter().map(|(_, share)| share).sum(), 1.0, 1e-9);
        parts.iter().map(|(row, share)| share * x[[*row, j]]).sum()
    };
    (0..2).for_each(|j| near(point(&witness[0], j), point(&witness[1], j), 1e-5));
    // Another kernel tells them apart.
    let bent = Svc::new().gamma(1.0.into()).margin(Margin::Hard);
    let fitted = bent.fit(&data, &Monitor::quiet()).unwrap();
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
fn copies_of_one_point_under_both_names_have_no_direction() {
    let x = Matrix::ones((6, 2));
    let classes = two();
    let data = Dataset::classes(&x, &[0, 1, 0, 1, 0, 1], &classes).unwrap();

    let fitted = Svc::new().C(2.0).fit(&data, &Monitor::quiet()).unwrap();

    assert!(fitted.expansion.coefficients.iter().all(|b| b.abs() == 2.0));
    near(fitted.decisions(&Rows::from(&x)).unwrap()[[0, 0]], fitted.expansion.intercepts[0], 1e-12);
    assert!(fitted.converged);
}

#[test]
fn regression_through_two_points_is_flatter_by_the_tube() {
    let x = array![[-1.0], [1.0]];
    let data = Dataset::regression(&x, &[-1.0, 1.0]).unwrap();
    let svr = Svr::new().kernel(Kernel::Linear).C(100.0).epsilon(0.2).tol(1e-10);

    let fitted = svr.fit(&data, &Monitor::quiet()).unwrap();

    near(fitted.expansion.weights().unwrap()[[0, 0]], 0.8, 1e-12);
    near(fitted.predict(&Rows::from(&x)).unwrap()[1], 0.8, 1e-12);
    assert!(fitted.certificate.duality_gap().unwrap() < 1e-12);
}

#[test]
fn one_class_of_identical_points_has_them_on_the_border() {
    let x = Matrix::ones((8, 3));
    let data = Dataset::unlabeled(&x);

    let fitted = OneClassSvm::new().nu(0.25).fit(&data, &Monitor::quiet()).unwrap();

    // ρ = Σ α = ν n, as every kernel value is one.
    near(-fitted.expansion.intercepts[0], 2.0, 1e-6);
    assert!(fitted.inlier_scores(&Rows::from(&x)).unwrap().iter().all(|v| v.abs() < 1e-6));
}

pub(super) fn blobs(n: usize, n_classes: usize, seed: u64) -> (Matrix, Vec<u32>, Classes) {
    let mut random = Random::new(seed);
    let codes: Vec<u32> = (0..n).map(|i| (i % n_classes) as u32).collect();
    let x = Matrix::from_shape_fn((n, 4), |(i, j)| {
        1.2 * f64::from(codes[i]) * (1.0 + j as f64 * 0.3) + 1.5 * random.normal()
    });
    (x, codes, Classes::from_names((0..n_classes).map(|c| format!("class {c}"))))
}

#[test]
fn nu_bounds_the_shares() {
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
    // The price it found gives the same machine.
    let svc = Svc::new().C(fitted.equivalent_c[0]).tol(1e-8);
    let same = svc.fit(&data, &Monitor::quiet()).unwrap();
    for (a, b) in decisions.iter().zip(&same.decisions(&Rows::from(&x)).unwrap()) {
        near(*a, *b, 1e-5);
    }
}

#[test]
fn the_tube_that_nu_finds_gives_the_same_function() {
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
fn the_gap_is_small_and_single_precision_is_honest_about_it() {
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
fn one_against_the_rest_and_one_against_one_mostly_agree() {
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
fn what_would_be_said_without_a_row_is_nearly_what_is() {
    let (x, codes, classes) = blobs(60, 2, 22);
    let svc = Svc::new().gamma(0.1.into()).C(1.0).tol(1e-9);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    let ground =
        DualProblem::new(&svc.kernelized(), &data, |i| codes[i], 1.0, &Monitor::quiet()).unwrap();
    let one = task(0..60, |k| codes[ground.indices[k] as usize] == 0, |_| 1.0);
    let tasks = [one];
    let solved = solve_all(&ground, &tasks, &Monitor::quiet());
    let said = ground.leave_one_out(&tasks[0], &solved[0], 1.0, solved[0].level[0]);

    let mut worst = 0.0f64;
    for (k, i) in ground.indices.iter().enumerate() {
        let others: Vec<usize> = (0..60).filter(|j| *j != *i as usize).collect();
        let some = x.select(ndarray::Axis(0), &others);
        let some_codes: Vec<u32> = others.iter().map(|j| codes[*j]).collect();
        let left = Dataset::classes(&some, &some_codes, &classes).unwrap();
        let fitted = svc.fit(&left, &Monitor::quiet()).unwrap();
        let row = x.select(ndarray::Axis(0), &[*i as usize]);
        // The decision is about the second class, the problem about the first.
        let truth = -fitted.decisions(&Rows::from(&row)).unwrap()[[0, 0]];
        worst = worst.max((truth - said[k]).abs());
    }
    // The margin is one: no score is off by half of it, though support vectors may change hands.
    assert!(worst < 0.5, "{worst}");
}

#[test]
fn a_warm_start_needs_few_steps() {
    let (x, codes, classes) = blobs(1000, 2, 7);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    let svc = Svc::new().C(1.0);
    let cold = svc.fit(&data, &Monitor::quiet()).unwrap();

    let warm = svc.fit_from(&cold, &data, &Monitor::quiet()).unwrap();

    assert!(warm.converged && warm.n_iter[0] * 10 < cold.n_iter[0], "{:?}", warm.n_iter);
}

#[test]
fn a_deadline_gives_a_usable_model() {
    let (x, codes, classes) = blobs(4000, 2, 8);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    let monitor = Monitor::quiet().time_limit(std::time::Duration::from_millis(60));

    let fitted = Svc::new().C(1e4).tol(1e-9).fit(&data, &monitor).unwrap();

    assert!(fitted.certificate.stopped().is_some() && !fitted.converged);
    assert!(fitted.certificate.duality_gap().unwrap() > 0.0);
    assert_eq!(fitted.predict(&Rows::from(&x)).unwrap().len(), 4000);
}

#[test]
fn given_kernel_values_are_the_kernel() {
    let (x, codes, classes) = blobs(60, 3, 9);
    let function = crate::kernel::Function::rbf(0.1);
    let gram = Matrix::from_shape_fn((60, 60), |(i, j)| {
        function.value(&x.row(i).to_vec(), &x.row(j).to_vec())
    });
    let fit = |svc: Svc, rows: &Matrix| {
        let data = Dataset::classes(rows, &codes, &classes).unwrap();
        svc.tol(1e-9).fit(&data, &Monitor::quiet()).unwrap()
    };

    let plain = fit(Svc::new().gamma(0.1.into()), &x);
    let given = fit(Svc::new().kernel(Kernel::Precomputed), &gram);

    given.check().unwrap();
    assert_eq!(given.expansion.support, plain.expansion.support);
    let (a, b) =
        (plain.decisions(&Rows::from(&x)).unwrap(), given.decisions(&Rows::from(&gram)).unwrap());
    a.iter().zip(&b).for_each(|(a, b)| near(*a, *b, 1e-7));
}

#[test]
fn classes_weigh_as_told() {
    let (x, codes, classes) = blobs(120, 2, 10);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    let by_class = [("class 1".to_owned(), 2.0)].into_iter().collect();
    let weights: Vec<f64> = codes.iter().map(|c| 1.0 + f64::from(*c)).collect();
    let weighted = data.clone().weighted(&weights).unwrap();
    let svc = Svc::new().gamma(0.1.into()).tol(1e-9);

    let told = svc.clone().class_weight(Some(ClassWeight::ByClass(by_class)));
    let (a, b) = (
        told.fit(&data, &Monitor::quiet()).unwrap(),
        svc.fit(&weighted, &Monitor::quiet()).unwrap(),
    );

    assert_eq!(a.expansion, b.expansion);
    let unknown = [("class 7".to_owned(), 2.0)].into_iter().collect();
    let refused = Svc::new().class_weight(Some(ClassWeight::ByClass(unknown)));
    assert!(matches!(refused.fit(&data, &Monitor::quiet()), Err(Error::UnknownClass { .. })));
}

/// `½‖w‖² + C Σ max(0, 1 − y (w·x + b))ᵏ` at its least, by steps down the slope and nothing else.
fn least(x: &Matrix, codes: &[u32], prices: &[f64], power: f64) -> f64 {
    let width = x.ncols();
    let at = |w: &[f64]| -> (f64, Vec<f64>) {
        let mut value = 0.5 * w[..width].iter().map(|w| w * w).sum::<f64>();
        let mut slope = w.to_vec();
        slope[width] = 0.0;
        for ((row, code), price) in x.outer_iter().zip(codes).zip(prices) {
            let y = if *code == 1 { 1.0 } else { -1.0 };
            let z: f64 = row.iter().zip(w).map(|(x, w)| x * w).sum::<f64>() + w[width];
            let slack = (1.0 - y * z).max(0.0);
            value += price * slack.powf(power);
            let pull = -y * power * price * slack.powf(power - 1.0);
            row.iter().enumerate().for_each(|(j, x)| slope[j] += pull * x);
            slope[width] += pull;
        }
        (value, slope)
    };
    let mut w = vec![0.0; width + 1];
    let (mut value, mut slope) = at(&w);
    let mut step = 1.0;
    for _ in 0..20_000 {
        let square: f64 = slope.iter().map(|g| g * g).sum();
        let next: Vec<f64> = w.iter().zip(&slope).map(|(w, g)| w - step * g).collect();
        let (lower, other) = at(&next);
        if lower <= value - 0.5 * step * square {
            (w, value, slope) = (next, lower, other);
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
fn slack_to_a_power_has_the_least_objective() {
    let (x, codes, classes) = blobs(40, 2, 31);
    let weights: Vec<f64> = (0..40).map(|i| 0.5 + f64::from(i % 3)).collect();
    let data = Dataset::classes(&x, &codes, &classes).unwrap().weighted(&weights).unwrap();
    for power in [1.3, 1.7, 2.0, 3.0, 5.0] {
        for price in [0.05, 2.0] {
            let svc = Svc::new().kernel(Kernel::Linear).C(price).slack_power(power).tol(1e-9);

            let fitted = svc.fit(&data, &Monitor::quiet()).unwrap();

            let certificate = &fitted.certificate;
            let primal = certificate.primal().unwrap();
            assert!(fitted.converged, "power {power}: {}", fitted.certificate);
            assert!(
                certificate.duality_gap().unwrap().abs() <= 1e-8 * primal,
                "{power}: {}",
                fitted.certificate
            );
            let prices: Vec<f64> = weights.iter().map(|w| price * w).collect();
            let least = least(&x, &codes, &prices, power);
            assert!((primal / least - 1.0).abs() < 1e-5, "power {power}: {primal}, {least}");
            assert!(certificate.dual.unwrap() <= least * (1.0 + 1e-9));
        }
    }
}

#[test]
fn a_power_near_one_is_the_machine_of_plain_slack() {
    let (x, codes, classes) = blobs(80, 2, 32);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    let svc = Svc::new().gamma(0.1.into()).tol(1e-8);
    let fit = |svc: Svc| svc.fit(&data, &Monitor::quiet()).unwrap();

    let (plain, near_one) = (fit(svc.clone()), fit(svc.slack_power(1.0001)));

    let value = |fitted: &Fitted<SvcModel>| fitted.certificate.primal().unwrap();
    assert!((value(&plain) / value(&near_one) - 1.0).abs() < 1e-3);
}

#[test]
fn squared_slack_is_a_lifted_kernel() {
    // With 1 / 2C on the diagonal of a given kernel nothing may be behind the margin: a hard one.
    let (x, codes, classes) = blobs(50, 2, 33);
    let function = crate::kernel::Function::rbf(0.1);
    let gram = Matrix::from_shape_fn((50, 50), |(i, j)| {
        let lift = if i == j { 0.5 / 0.8 } else { 0.0 };
        function.value(&x.row(i).to_vec(), &x.row(j).to_vec()) + lift
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
fn slack_to_a_power_is_solved_by_columns_and_by_blocks() {
    let (x, codes, classes) = blobs(600, 2, 34);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    let mut values = Vec::new();
    // A cache of half a megabyte has no room for the columns of 600 rows.
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
fn a_hard_margin_has_no_slack_to_take_a_power_of() {
    let (x, codes, classes) = blobs(20, 2, 35);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();

    let refused = Svc::new().margin(Margin::Hard).slack_power(2.0).fit(&data, &Monitor::quiet());

    assert!(matches!(refused, Err(Error::Parameter { .. })));
}

#[test]
fn without_a_row_squared_slack_says_what_was_worked_out() {
    let (x, codes, classes) = blobs(60, 2, 36);
    let svc = Svc::new().gamma(0.1.into()).C(0.7).slack_power(2.0).tol(1e-9);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    let ground =
        DualProblem::new(&svc.kernelized(), &data, |i| codes[i], 1.0, &Monitor::quiet()).unwrap();
    let mut one = task(0..60, |k| codes[ground.indices[k] as usize] == 0, |_| f64::INFINITY);
    one.slack = Some(crate::solver::PowerSlack { power: 2.0, prices: vec![0.7; 60] });
    let tasks = [one];
    let solved = solve_all(&ground, &tasks, &Monitor::quiet());

    let said = ground.leave_one_out(&tasks[0], &solved[0], 1.0, solved[0].level[0]);

    let mut off: Vec<f64> = Vec::new();
    for (k, i) in ground.indices.iter().enumerate() {
        let others: Vec<usize> = (0..60).filter(|j| *j != *i as usize).collect();
        let some = x.select(ndarray::Axis(0), &others);
        let some_codes: Vec<u32> = others.iter().map(|j| codes[*j]).collect();
        let left = Dataset::classes(&some, &some_codes, &classes).unwrap();
        let fitted = svc.fit(&left, &Monitor::quiet()).unwrap();
        let row = x.select(ndarray::Axis(0), &[*i as usize]);
        off.push((-fitted.decisions(&Rows::from(&row)).unwrap()[[0, 0]] - said[k]).abs());
    }
    // Exact where the same rows stay support vectors, and near where one or two change.
    off.sort_by(f64::total_cmp);
    assert!(off[30] < 1e-3 && off[59] < 0.2, "{}, {}", off[30], off[59]);
}

#[test]
fn a_gap_is_where_the_fit_ends() {
    let (x, codes, classes) = blobs(500, 2, 37);
    let y: Vec<f64> = x.outer_iter().map(|row| row[0] + 0.3 * row[1] * row[2]).collect();
    let labeled = Dataset::classes(&x, &codes, &classes).unwrap();
    let (numbers, alone) = (Dataset::regression(&x, &y).unwrap(), Dataset::unlabeled(&x));
    let quiet = Monitor::quiet();
    for gap in [0.1, 1e-2, 1e-6] {
        let some = Some(gap);
        let svc = Svc::new().gap(some).C(5.0).fit(&labeled, &quiet).unwrap();
        let powers = Svc::new().gap(some).slack_power(2.0).fit(&labeled, &quiet).unwrap();
        let nu_svc = NuSvc::new().gap(some).fit(&labeled, &quiet).unwrap();
        let svr = Svr::new().gap(some).fit(&numbers, &quiet).unwrap();
        let nu_svr = NuSvr::new().gap(some).fit(&numbers, &quiet).unwrap();
        let one = OneClassSvm::new().gap(some).fit(&alone, &quiet).unwrap();

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
fn functions_learned_together_have_no_gap() {
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
        // The losses by their definition, from the decisions; of two classes half of the one on either side.
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
fn two_classes_learned_together_are_a_machine_without_a_constant() {
    // ½(‖w₁‖² + ‖w₂‖²) with w₁ = −w₂ is ¼‖w‖² of their difference: a plane without a constant at twice the price.
    let (x, codes, classes) = blobs(60, 2, 39);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    let together = Svc::new().multiclass(Multiclass::CrammerSinger).kernel(Kernel::Linear).C(0.1);
    let plane = crate::linear::LinearSvc::new().loss(crate::linear::HingeLoss::Hinge).C(0.2);

    let together = together.tol(1e-8).fit(&data, &Monitor::quiet()).unwrap();
    let plane = plane.fit_intercept(false).tol(1e-8).fit(&data, &Monitor::quiet()).unwrap();

    for (a, b) in together.expansion.weights().unwrap().iter().zip(&plane.coefficients) {
        near(*a, *b, 1e-4);
    }
    let value = |certificate: &Certificate| certificate.primal().unwrap();
    let (a, b) = (value(&together.certificate), value(&plane.certificate));
    near(2.0 * a / b, 1.0, 1e-6);
}

#[test]
fn what_functions_learned_together_lack_is_refused() {
    let (x, codes, classes) = blobs(20, 3, 40);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    let together = Svc::new().multiclass(Multiclass::CrammerSinger);

    for svc in [together.clone().slack_power(2.0), together.margin(Margin::Hard)] {
        assert!(matches!(svc.fit(&data, &Monitor::quiet()), Err(Error::Parameter { .. })));
    }
}

#[test]
fn functions_learned_together_have_calibrated_probabilities() {
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

            let (mut said, mut right) = (0.0, 0.0);
            for ((row, code), winner) in proba.outer_iter().zip(&unseen_codes).zip(&predicted) {
                near(row.sum(), 1.0, 1e-12);
                said += row[*winner as usize];
                right += f64::from(winner == code);
            }
            // As often right as it says.
            near(said / 450.0, right / 450.0, 0.05);
        }
    }
}
