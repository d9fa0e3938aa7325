//! Linear support vector machines against LIBLINEAR's numbers, and against what must hold at an optimum.

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

/// The weights, one row a machine, and the constant terms.
fn planes(model: &AnyModel) -> (Matrix, Vec<f64>) {
    match model {
        AnyModel::LinearSvc(model) => (model.coefficients.clone(), model.intercepts.clone()),
        AnyModel::LinearSvr(model) => {
            let weights = model.coefficients.clone();
            (Matrix::from_shape_vec((1, weights.len()), weights).unwrap(), vec![model.intercept])
        }
        other => panic!("{} has no planes", other.id()),
    }
}

#[test]
fn planes_equal_liblinears() {
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

        // Absolute weights are found by values, which have half the digits of a gradient; planes learned
        // together by passes that gain little each, and their digits are half those of the objective.
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

        let (weights, constants) = planes(&fitted.model);
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
        // Where LIBLINEAR stopped early its weights are off by what strong convexity allows:
        // ½ ‖w − w*‖² is no more than the distance of the objectives. With absolute weights nothing follows.
        let short = (case.objective - value).max(0.0);
        if absolute && short > 1e-8 * value {
            continue;
        }
        compared += 1;
        assert!(off < close + (2.0 * short).sqrt(), "{what}: {off}, {short}");
    }
    assert!(compared > 20, "{compared} of {} cases", golden.cases.len());
}

/// Rows around centers that overlap, many cells zero.
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
fn every_way_to_the_optimum_ends_there() {
    // Three classes go side by side in one group, twenty in two wide ones.
    for (n_classes, loss) in [3, 20].into_iter().flat_map(|n| [(n, "hinge"), (n, "squared_hinge")])
    {
        let (x, codes) = overlapping(300, 9, n_classes, 5);
        let thin = Sparse::csr_from_dense(x.view(), 0.0);
        let classes = Classes::new((0..n_classes).map(|c| Label::Int(i64::from(c))).collect());
        let dense = Dataset::classes(&x, &codes, &classes).unwrap();
        let sparse = Dataset::classes(&thin, &codes, &classes).unwrap();
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
            for (a, b) in planes(&best.model).0.iter().zip(&planes(&other.model).0) {
                assert!((a - b).abs() < 1e-6, "{n_classes} classes, {loss}: {a}, {b}");
            }
        }
        // What ends early is as near as it says.
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
fn at_the_optimum_weights_are_the_pulls_of_the_rows() {
    // Squared hinge: βᵢ = 2C yᵢ max(0, 1 − yᵢ zᵢ) and w = Σ βᵢ xᵢ, b = Σ βᵢ; a free b has Σ βᵢ = 0.
    let (x, codes) = overlapping(80, 4, 2, 3);
    let classes = Classes::from_names(["a", "b"]);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    for intercept in ["penalized", "unpenalized"] {
        let machine =
            Estimator::from_id("linear-svc").unwrap().set_from_str("tol", "1e-12").unwrap();
        let machine = machine.set_from_str("intercept", intercept).unwrap();

        let fitted = machine.fit(&data, &Monitor::quiet()).unwrap();

        let (w, b) = planes(&fitted.model);
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
fn options_that_contradict_each_other_are_refused() {
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
fn planes_learned_together_have_no_gap_in_any_storage() {
    let (x, codes) = overlapping(200, 6, 4, 9);
    let thin = Sparse::csr_from_dense(x.view(), 0.0);
    let classes = Classes::from_names(["a", "b", "c", "d"]);
    let weights: Vec<f64> = (0..200).map(|i| f64::from(i % 3)).collect();
    let machine = Estimator::from_id("linear-svc").unwrap();
    let machine = machine.set_from_str("multi_class", "crammer_singer").unwrap();
    let machine =
        machine.set_from_str("C", "0.1").unwrap().set_from_str("max_iter", "100000").unwrap();
    let machine = machine.set_from_str("tol", "1e-6").unwrap();

    let mut found: Vec<Matrix> = Vec::new();
    for rows in [Rows::from(&x), Rows::from(&thin)] {
        let data = Dataset::classes(rows, &codes, &classes).unwrap().weighted(&weights).unwrap();
        let fitted = machine.fit(&data, &Monitor::quiet()).unwrap();

        let (w, b) = planes(&fitted.model);
        // The objective by its definition: ½ Σ ‖w‖² + C Σ s max over m of (e + w·x) less the row's own.
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
        // Planes are learned up to what is added to all of them, which costs: they add up to nothing.
        w.columns().into_iter().for_each(|column| assert!(column.sum().abs() < 1e-9));
        found.push(w);
    }
    for (a, b) in found[0].iter().zip(&found[1]) {
        assert!((a - b).abs() < 1e-2, "{a}, {b}");
    }
}

#[test]
fn a_gap_is_where_the_fit_ends() {
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
