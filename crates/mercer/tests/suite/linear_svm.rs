//! Linear support vector machines against LIBLINEAR, and against the optimality conditions.

use crate::cases::repository_file;
use mercer::catalog::{AnyModel, Estimator};
use mercer::prelude::*;
use mercer_num::random::Random;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Golden {
    source: String,
    rows: Vec<GoldenRows>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct GoldenRows {
    name: String,
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
    weights: Vec<f64>,
}

#[derive(Deserialize)]
struct Case {
    kind: String,
    rows: String,
    params: serde_json::Map<String, Value>,
    weighted: bool,
    coefficients: Vec<Vec<f64>>,
    intercepts: Vec<f64>,
    objective: f64,
}

fn estimator(kind: &str, params: &serde_json::Map<String, Value>, tol: f64) -> Estimator {
    let plain = Estimator::from_id(kind).unwrap().set("tol", json!(tol)).unwrap();
    params.iter().fold(plain, |made, (name, value)| made.set(name, value.clone()).unwrap())
}

/// The coefficients, one row per hyperplane, and the intercepts.
fn weights_and_intercepts(model: &AnyModel) -> (Matrix, Vec<f64>) {
    match model {
        AnyModel::LinearSvc(model) => (model.coefficients.clone(), model.intercepts.clone()),
        AnyModel::LinearSvr(model) => {
            let weights = model.coefficients.clone();
            (Matrix::from_shape_vec((1, weights.len()), weights).unwrap(), vec![model.intercept])
        }
        other => panic!("{} is not a linear SVM", other.id()),
    }
}

#[test]
fn hyperplanes_equal_liblinear() {
    let golden: Golden =
        serde_json::from_str(&repository_file("testdata/golden/linear-svm.json")).unwrap();
    assert!(golden.source.starts_with("scikit-learn"));
    let mut compared = 0;
    for case in &golden.cases {
        let rows = golden.rows.iter().find(|rows| rows.name == case.rows).unwrap();
        let what = format!("{} {} {:?}", case.kind, case.rows, case.params);
        let width = rows.x[0].len();
        let x = Matrix::from_shape_vec((rows.x.len(), width), rows.x.concat()).unwrap();
        let codes: Vec<u32> = rows.y.iter().map(|y| *y as u32).collect();
        let n_classes = i64::from(*codes.iter().max().unwrap()) + 1;
        let classes = Classes::new((0..n_classes).map(Label::Int).collect());
        let mut data = match case.kind.as_str() {
            "linear-svc" => Dataset::classes(&x, &codes, &classes).unwrap(),
            _ => Dataset::regression(&x, &rows.y).unwrap(),
        };
        if case.weighted {
            data = data.weighted(&rows.weights).unwrap();
        }

        // With the L1 penalty the solver stops by objective values, which have half the digits of a gradient.
        // Crammer-Singer passes gain little each, and the weights have half the digits of the objective.
        let absolute = case.params.contains_key("penalty");
        let together = case.params.contains_key("multi_class");
        let (tol, close) = match () {
            () if absolute => (1e-6, 1e-3),
            () if together => (1e-7, 2e-3),
            () => (1e-10, 1e-5),
        };
        let mut machine = estimator(&case.kind, &case.params, tol);
        if together {
            machine = machine.set("max_iter", json!(1_000_000)).unwrap();
        }

        let fitted = machine.fit(&data, &Monitor::quiet()).unwrap();

        let (weights, constants) = weights_and_intercepts(&fitted.model);
        let golden = case.coefficients.iter().flatten().chain(&case.intercepts);
        let off = weights
            .iter()
            .chain(&constants)
            .zip(golden)
            .fold(0.0f64, |worst, (a, b)| worst.max((a - b).abs() / b.abs().max(1.0)));
        let certificate = &fitted.certificate;
        let value = certificate.primal().unwrap();
        assert!(
            certificate.duality_gap().unwrap() <= tol * value,
            "{what}: {}",
            fitted.certificate
        );
        assert!(certificate.status.is_converged(), "{what}: {}", fitted.certificate);
        assert!(value <= case.objective * (1.0 + tol), "{what}: {value}, {}", case.objective);
        // If LIBLINEAR stopped early, strong convexity bounds the error of its weights: ½ ‖w − w*‖² is at most the
        // difference of the objectives. The L1 penalty has no such bound.
        let short = (case.objective - value).max(0.0);
        if absolute && short > 1e-8 * value {
            continue;
        }
        compared += 1;
        assert!(off < close + (2.0 * short).sqrt(), "{what}: {off}, {short}");
    }
    assert!(compared > 20, "{compared} of {} cases", golden.cases.len());
}

/// Rows of overlapping clusters, with many zeros.
fn overlapping(n: usize, width: usize, n_classes: u32, seed: u64) -> (Matrix, Vec<u32>) {
    let mut random = Random::new(seed);
    let codes: Vec<u32> = (0..n as u32).map(|i| i % n_classes).collect();
    let x = Matrix::from_shape_fn((n, width), |(i, j)| {
        let value = random.normal() + f64::from(codes[i]) * (j % 3) as f64;
        if random.uniform() < 0.4 { 0.0 } else { value }
    });
    (x, codes)
}

#[test]
fn every_solver_reaches_the_optimum() {
    // Three classes fit into one SIMD group, twenty into two wide ones.
    for (n_classes, loss) in [3, 20].into_iter().flat_map(|n| [(n, "hinge"), (n, "squared_hinge")])
    {
        let (x, codes) = overlapping(300, 9, n_classes, 5);
        let csr = Sparse::csr_from_dense(x.view(), 0.0);
        let classes = Classes::new((0..n_classes).map(|c| Label::Int(i64::from(c))).collect());
        let dense = Dataset::classes(&x, &codes, &classes).unwrap();
        let sparse = Dataset::classes(&csr, &codes, &classes).unwrap();
        let fit = |dual: &str, data: &Dataset<'_>, tol: &str| {
            let machine = Estimator::from_id("linear-svc").unwrap();
            let machine =
                machine.set_from_str("loss", loss).unwrap().set_from_str("dual", dual).unwrap();
            let machine = machine.set_from_str("tol", tol).unwrap();
            let fitted = machine.fit(data, &Monitor::quiet()).unwrap();
            let how = fitted.certificate.to_string();
            assert!(!how.contains("NOT"), "{loss} {dual}: {}", fitted.certificate);
            fitted
        };
        let best = fit("auto", &dense, "1e-9");
        for (dual, data) in [("true", &dense), ("false", &sparse), ("true", &sparse)] {
            let other = fit(dual, data, "1e-9");
            for (a, b) in weights_and_intercepts(&best.model)
                .0
                .iter()
                .zip(&weights_and_intercepts(&other.model).0)
            {
                assert!((a - b).abs() < 1e-6, "{n_classes} classes, {loss}: {a}, {b}");
            }
        }
        // An early stop is within its certified duality gap.
        let near = fit("true", &sparse, "1e-3").certificate;
        let value = |certificate: &Certificate| certificate.primal().unwrap();
        let short = value(&near) - value(&best.certificate);
        assert!(
            short <= near.duality_gap().unwrap() * (1.0 + 1e-9),
            "{n_classes} classes, {loss}: {short}"
        );
        assert!(near.duality_gap().unwrap() <= 1e-3 * value(&near));
    }
}

#[test]
fn weights_are_the_sum_of_rows_times_dual_variables() {
    // Squared hinge: βᵢ = 2C yᵢ max(0, 1 − yᵢ zᵢ), w = Σ βᵢ xᵢ and b = Σ βᵢ; an unpenalized b has Σ βᵢ = 0.
    let (x, codes) = overlapping(80, 4, 2, 3);
    let classes = Classes::from_names(["a", "b"]);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    for intercept in ["penalized", "unpenalized"] {
        let machine =
            Estimator::from_id("linear-svc").unwrap().set_from_str("tol", "1e-12").unwrap();
        let machine = machine.set_from_str("intercept", intercept).unwrap();

        let fitted = machine.fit(&data, &Monitor::quiet()).unwrap();

        let (w, b) = weights_and_intercepts(&fitted.model);
        let mut sums = vec![0.0; 5];
        for (row, code) in x.outer_iter().zip(&codes) {
            let y = if *code == 1 { 1.0 } else { -1.0 };
            let z = row.dot(&w.row(0)) + b[0];
            let beta = 2.0 * y * f64::max(0.0, 1.0 - y * z);
            row.iter().zip(&mut sums).for_each(|(x, sum)| *sum += beta * x);
            sums[4] += beta;
        }
        w.iter().zip(&sums).for_each(|(w, sum)| assert!((w - sum).abs() < 1e-9, "{w}, {sum}"));
        let constant = if intercept == "unpenalized" { 0.0 } else { b[0] };
        assert!((sums[4] - constant).abs() < 1e-9, "{intercept}: {}, {constant}", sums[4]);
    }
}

#[test]
fn contradictory_options_are_refused() {
    let (x, codes) = overlapping(20, 2, 2, 1);
    let classes = Classes::from_names(["a", "b"]);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    for options in [
        [("penalty", "l1"), ("loss", "hinge")],
        [("penalty", "l1"), ("dual", "true")],
        [("intercept", "unpenalized"), ("dual", "true")],
        [("multi_class", "crammer_singer"), ("penalty", "l1")],
        [("multi_class", "crammer_singer"), ("intercept", "unpenalized")],
        [("multi_class", "crammer_singer"), ("dual", "false")],
        [("multi_class", "crammer_singer"), ("probability", "true")],
    ] {
        let plain = Estimator::from_id("linear-svc").unwrap();
        let machine =
            options.iter().fold(plain, |made, (name, word)| made.set_from_str(name, word).unwrap());

        let refused = machine.fit(&data, &Monitor::quiet()).unwrap_err();

        assert!(matches!(refused, Error::Parameter { .. }), "{refused}");
    }
}

#[test]
fn crammer_singer_closes_the_duality_gap_in_any_storage() {
    let (x, codes) = overlapping(200, 6, 4, 9);
    let csr = Sparse::csr_from_dense(x.view(), 0.0);
    let classes = Classes::from_names(["a", "b", "c", "d"]);
    let weights: Vec<f64> = (0..200).map(|i| f64::from(i % 3)).collect();
    let machine = Estimator::from_id("linear-svc").unwrap();
    let machine = machine.set_from_str("multi_class", "crammer_singer").unwrap();
    let machine =
        machine.set_from_str("C", "0.1").unwrap().set_from_str("max_iter", "100000").unwrap();
    let machine = machine.set_from_str("tol", "1e-6").unwrap();

    let mut found: Vec<Matrix> = Vec::new();
    for rows in [Rows::from(&x), Rows::from(&csr)] {
        let data = Dataset::classes(rows, &codes, &classes).unwrap().weighted(&weights).unwrap();
        let fitted = machine.fit(&data, &Monitor::quiet()).unwrap();

        let (w, b) = weights_and_intercepts(&fitted.model);
        // The objective by its definition: ½ Σ ‖w‖² + C Σ s max over m of (e + w·x) minus the score of the row's class.
        let squares: f64 = w.iter().chain(&b).map(|v| v * v).sum();
        let mut loss = 0.0;
        for ((row, code), weight) in x.outer_iter().zip(&codes).zip(&weights) {
            let score = |m: usize| row.dot(&w.row(m)) + b[m];
            let own = *code as usize;
            let highest = (0..4).map(|m| score(m) + if m == own { 0.0 } else { 1.0 });
            loss += 0.1 * weight * (highest.fold(f64::NEG_INFINITY, f64::max) - score(own));
        }
        let certificate = &fitted.certificate;
        let value = certificate.primal().unwrap();
        assert!((value - (0.5 * squares + loss)).abs() < 1e-9 * value, "{value}, {loss}");
        assert!(
            certificate.duality_gap().unwrap() <= 1e-6 * value
                && certificate.duality_gap().unwrap() >= 0.0
        );
        // Adding a vector to all weight vectors changes no decision but the penalty, so they sum to zero.
        w.columns().into_iter().for_each(|column| assert!(column.sum().abs() < 1e-9));
        found.push(w);
    }
    for (a, b) in found[0].iter().zip(&found[1]) {
        assert!((a - b).abs() < 1e-2, "{a}, {b}");
    }
}

#[test]
fn the_fit_ends_at_the_requested_gap() {
    let (x, codes) = overlapping(200, 5, 3, 11);
    let classes = Classes::from_names(["a", "b", "c"]);
    let numbers: Vec<f64> =
        x.outer_iter().map(|row| row[0] - 0.5 * row[1] + row[2] * row[3]).collect();
    for (id, options) in [
        ("linear-svc", vec![]),
        ("linear-svc", vec![("loss", "hinge")]),
        ("linear-svc", vec![("loss", "hinge"), ("dual", "true")]),
        ("linear-svc", vec![("penalty", "l1")]),
        ("linear-svc", vec![("multi_class", "crammer_singer")]),
        ("linear-svr", vec![]),
    ] {
        let plain = Estimator::from_id(id).unwrap();
        let machine =
            options.iter().fold(plain, |made, (name, word)| made.set_from_str(name, word).unwrap());
        let data = match id {
            "linear-svc" => Dataset::classes(&x, &codes, &classes).unwrap(),
            _ => Dataset::regression(&x, &numbers).unwrap(),
        };
        for gap in [0.1, 1e-3] {
            let machine = machine.set("gap", json!(gap)).unwrap();

            let fitted = machine.fit(&data, &Monitor::quiet()).unwrap();

            let certificate = &fitted.certificate;
            let value = certificate.primal().unwrap();
            assert!(
                certificate.duality_gap().unwrap() <= gap * value,
                "{id} {options:?}: {}",
                fitted.certificate
            );
            assert!(certificate.status.is_converged(), "{id} {options:?}");
        }
    }
}
