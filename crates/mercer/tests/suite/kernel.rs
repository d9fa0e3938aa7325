//! Kernel feature maps and kernel methods against reference values of scikit-learn (`testdata/golden/make_kernel.py`).

use crate::cases::{assert_near, repository_file};
use mercer::catalog::Estimator;
use mercer::kernel::{
    Basis, Function, Gamma, NystroemModel, PolynomialCountSketchModel, RbfSamplerModel,
};
use mercer::prelude::*;
use serde_json::{Map, Value};

/// The tolerance for one formula evaluated in two ways.
const TOLERANCE: f64 = 1e-10;

#[derive(Deserialize)]
struct Golden {
    source: String,
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
    weights: Vec<f64>,
    fourier: Fourier,
    nystroem: Vec<Case>,
    sketches: Vec<Sketch>,
    chi2: Vec<Case>,
    ridge: Vec<Case>,
    pca: Vec<Case>,
}

#[derive(Deserialize)]
struct Fourier {
    gamma: f64,
    weights: Vec<Vec<f64>>,
    offset: Vec<f64>,
    new: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct Sketch {
    gamma: f64,
    coef0: f64,
    positions: Vec<Vec<u32>>,
    signs: Vec<Vec<f64>>,
    n_components: usize,
    new: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct Case {
    params: Map<String, Value>,
    #[serde(default)]
    indices: Vec<u32>,
    #[serde(default)]
    new: Vec<Vec<f64>>,
    #[serde(default)]
    weighted: bool,
    #[serde(default)]
    coefficients: Vec<f64>,
    #[serde(default)]
    predict: Vec<f64>,
    #[serde(default)]
    eigenvalues: Vec<f64>,
}

fn golden() -> Golden {
    let golden: Golden =
        serde_json::from_str(&repository_file("testdata/golden/kernel.json")).unwrap();
    assert!(golden.source.starts_with("scikit-learn"));
    golden
}

fn matrix(rows: &[Vec<f64>]) -> Matrix {
    Matrix::from_shape_vec((rows.len(), rows[0].len()), rows.concat()).unwrap()
}

fn estimator(id: &str, params: &Map<String, Value>) -> Estimator {
    let plain = Estimator::from_id(id).unwrap();
    params.iter().fold(plain, |e, (name, value)| e.set(name, value.clone()).unwrap())
}

#[test]
fn random_fourier_features_equal_scikit_learn() {
    let Golden { x, fourier, .. } = golden();
    let x = matrix(&x);

    let model = RbfSamplerModel::new(fourier.gamma, matrix(&fourier.weights), fourier.offset);

    let new = model.transform(&Rows::from(&x)).unwrap();
    assert_near(&new, &matrix(&fourier.new), TOLERANCE);
}

#[test]
fn nystroem_with_given_landmarks_equals_scikit_learn() {
    let Golden { x, nystroem, .. } = golden();
    let x = matrix(&x);
    for case in nystroem {
        let given = |name: &str| case.params.get(name).and_then(Value::as_f64);
        let kernel = serde_json::from_value(case.params["kernel"].clone()).unwrap();
        let function = Function {
            kernel,
            gamma: given("gamma").unwrap_or(0.2),
            coef0: given("coef0").unwrap_or(1.0),
            degree: given("degree").unwrap_or(3.0) as usize,
        };

        let model =
            NystroemModel::of(function, &Rows::from(&x), case.indices.clone(), Basis::Symmetric)
                .unwrap();

        let new = model.transform(&Rows::from(&x)).unwrap();
        assert_near(&new, &matrix(&case.new), TOLERANCE);
    }
}

#[test]
fn polynomial_count_sketches_equal_scikit_learn() {
    let Golden { x, sketches, .. } = golden();
    let x = matrix(&x);
    for sketch in sketches {
        let model = PolynomialCountSketchModel {
            gamma: sketch.gamma,
            coef0: sketch.coef0,
            n_columns: 5,
            n_components: sketch.n_components,
            index_hash: sketch.positions,
            bit_hash: matrix(&sketch.signs),
        };

        assert_eq!(model.check(), Ok(()));
        let new = model.transform(&Rows::from(&x)).unwrap();
        assert_near(&new, &matrix(&sketch.new), TOLERANCE);
    }
}

#[test]
fn skewed_chi_squared_features_equal_scikit_learn() {
    let Golden { x, chi2, .. } = golden();
    let x = matrix(&x);
    for case in chi2 {
        let estimator = estimator("additive-chi2", &case.params);
        let fitted = estimator.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

        let new = fitted.as_model().transformer().unwrap().transform(&Rows::from(&x)).unwrap();
        assert_near(&new, &matrix(&case.new), TOLERANCE);
    }
}

#[test]
fn kernel_ridge_equals_scikit_learn() {
    let Golden { x, y, weights, ridge, .. } = golden();
    let x = matrix(&x);
    for case in ridge {
        let data = Dataset::regression(&x, &y).unwrap();
        let data = if case.weighted { data.weighted(&weights).unwrap() } else { data };

        let fitted = estimator("kernel-ridge", &case.params).fit(&data, &Monitor::quiet()).unwrap();

        let predicted = fitted.as_model().regressor().unwrap().predict(&Rows::from(&x)).unwrap();
        let mercer::catalog::AnyModel::KernelRidge(model) = &fitted.model else { panic!() };
        for (found, golden) in [
            (&predicted, &case.predict),
            (&model.expansion.coefficients.row(0).to_vec(), &case.coefficients),
        ] {
            for (found, golden) in found.iter().zip(golden) {
                let allowed = 1e-9 * golden.abs().max(1.0);
                assert!((found - golden).abs() < allowed, "{:?}: {found}, {golden}", case.params);
            }
        }
    }
}

#[test]
fn kernel_components_equal_scikit_learn_up_to_their_sign() {
    let Golden { x, pca, .. } = golden();
    let x = matrix(&x);
    for case in pca {
        let estimator = estimator("kernel-pca", &case.params);
        let fitted = estimator.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

        let mercer::catalog::AnyModel::KernelPca(model) = &fitted.model else { panic!() };
        for (found, golden) in model.eigenvalues.iter().zip(&case.eigenvalues) {
            assert!((found / golden - 1.0).abs() < 1e-9, "{:?}: {found}, {golden}", case.params);
        }
        let (new, golden) = (model.transform(&Rows::from(&x)).unwrap(), matrix(&case.new));
        assert_eq!(new.ncols(), golden.ncols());
        for (found, golden) in new.columns().into_iter().zip(golden.columns()) {
            let sign = found.dot(&golden).signum();
            let off = (&found * sign - golden).iter().fold(0.0f64, |a, v| a.max(v.abs()));
            assert!(off < 1e-8, "{:?}: {off}", case.params);
        }
    }
}

/// Rows that are not linearly separable: a ring around a cluster.
fn ring(n: usize) -> (Matrix, Vec<u32>) {
    let mut random = mercer_num::random::Random::new(5);
    let codes: Vec<u32> = (0..n).map(|i| (i % 2) as u32).collect();
    let x = Matrix::from_shape_fn((n, 2), |(i, j)| {
        let angle = 2.4 * i as f64;
        let radius = f64::from(codes[i]) * 2.0;
        radius * if j == 0 { angle.cos() } else { angle.sin() } + 0.3 * random.normal()
    });
    (x, codes)
}

#[test]
fn a_feature_map_with_a_linear_model_separates_what_the_kernel_separates() {
    let (x, codes) = ring(400);
    let classes = Classes::from_names(["inside", "outside"]);
    let right = |id: &str, x: &Matrix| {
        let data = Dataset::classes(x, &codes, &classes).unwrap();
        let fitted = Estimator::from_id(id).unwrap().fit(&data, &Monitor::quiet()).unwrap();
        let predicted = fitted.as_model().classifier().unwrap().predict(&Rows::from(x)).unwrap();
        predicted.iter().zip(&codes).filter(|(a, b)| a == b).count() as f64 / 400.0
    };
    let mapped = |id: &str, gamma: Gamma| {
        let map = Estimator::from_id(id).unwrap().set("n_components", 60.into()).unwrap();
        let map = map.set("gamma", serde_json::to_value(gamma).unwrap()).unwrap();
        let fitted = map.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();
        fitted.as_model().transformer().unwrap().transform(&Rows::from(&x)).unwrap()
    };

    let (plain, machine) = (right("logistic", &x), right("svc", &x));

    assert!(plain < 0.7 && machine > 0.98, "{plain} and {machine}");
    for id in ["rbf-sampler", "nystroem"] {
        let found = right("logistic", &mapped(id, 0.5.into()));
        assert!(found > machine - 0.02, "{id}: {found}, the machine {machine}");
    }
}
