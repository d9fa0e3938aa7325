//! Kernel feature maps between preprocessing and an estimator: one model, one file, rows in blocks.

use crate::cases::assert_near;
use mercer::catalog::{Capability, Estimator};
use mercer::data::{Column, Levels, Values};
use mercer::data::{Field, Schema};
use mercer::kernel::{Function, Kernel, check_kernel};
use mercer::model::Stop;
use mercer::prelude::*;
use mercer::preprocess::{CategoryEncoding, FeatureMapRecipe, Features, Recipe};
use mercer::train::{Task, Trained, Training, train};
use mercer_num::random::Random;
use std::sync::Arc;

const MAPS: [&str; 6] = [
    "rff:40",
    "nystroem:20",
    "sketch:32:2",
    "chi2",
    "poly:2",
    "nystroem:9,landmarks=pivoted-cholesky,kernel=laplacian",
];

/// A ring around a cluster, and a regression target that grows with the squared distance from the center.
fn table(n: usize) -> Table {
    let mut random = Random::new(7);
    let mut columns = vec![Vec::new(); 2];
    let (mut codes, mut numbers) = (Vec::new(), Vec::new());
    for i in 0..n {
        let radius = if i % 2 == 0 { 10.0 } else { 40.0 };
        let angle = 6.3 * random.uniform();
        let (x, y) =
            (radius * angle.cos() + random.normal(), radius * angle.sin() + random.normal());
        columns[0].push(x);
        columns[1].push(0.01 * y);
        codes.push((i % 2) as u32);
        numbers.push(x * x + y * y);
    }
    let levels = Arc::new(Levels::new(vec!["inside".into(), "outside".into()]));
    let mut columns: Vec<Column> = columns
        .into_iter()
        .zip(["x", "y"])
        .map(|(values, name)| Column { name: name.into(), values: Values::Numeric(values) })
        .collect();
    columns.push(Column { name: "where".into(), values: Values::Categorical { codes, levels } });
    columns.push(Column { name: "far".into(), values: Values::Numeric(numbers) });
    Table::new(columns).unwrap()
}

fn features(table: &Table, map: &str, target: &str) -> Result<Features> {
    let fields = ["x", "y", target].map(Field::numeric).to_vec();
    let (features, _) = Features::plan(&Schema { fields }, Some(target), CategoryEncoding::Auto)?;
    features.fit(&Recipe::default().mapped(map)?, table, &Monitor::quiet())
}

fn trained(id: &str, map: &str, table: &Table, n_folds: usize) -> mercer::train::Outcome {
    let mut estimator = Estimator::from_id(id).unwrap();
    if id == "qda" {
        // Features of two columns are collinear, which is refused without regularization.
        estimator = estimator.set_from_str("reg_param", "0.001").unwrap();
    }
    let classes = Classes::from_names(["inside", "outside"]);
    let numbers = estimator.card().can(Capability::Regressor);
    let target = if numbers { "far" } else { "where" };
    let training = Training {
        features: features(table, map, target).unwrap(),
        estimator,
        task: if numbers { Task::Regression } else { Task::Classification(&classes) },
        n_rows: Some(table.n_rows() as u64),
        n_folds,
        seed: 1,
        recipe: mercer::preprocess::Recipe::default(),
    };
    train(training, table, &Monitor::quiet()).unwrap()
}

#[test]
fn every_estimator_of_numeric_rows_is_fitted_behind_every_map() {
    let table = table(240);
    for map in MAPS {
        for id in ["logistic", "linear-svc", "lda", "qda", "gaussian-nb"] {
            let outcome = trained(id, map, &table, 3);

            let model = Trained::from_bytes(&outcome.trained.to_bytes().unwrap()).unwrap();
            assert_eq!(model, outcome.trained, "{id} {map}");
            let rows = model.features.encode(&table, None).unwrap();
            let classifier = model.fitted.model.as_model().classifier().unwrap();
            let predicted = classifier.predict(&rows.rows()).unwrap();
            let right = predicted.iter().enumerate().filter(|(i, c)| **c == (i % 2) as u32).count();
            // A linear model does not separate a ring from its center; the chi-squared sampler needs nonnegative
            // features.
            assert!(map == "chi2" || right > 220, "{id} {map}: {right}");
            assert_eq!(outcome.evaluation.unwrap().n_rows(), 240);
        }
        for id in ["ridge", "ols", "linear-svr"] {
            // The columns of a sketch are collinear to the last bits: least squares find no finite coefficients, and
            // their predictions are refused.
            if (id, map) == ("ols", "sketch:32:2") {
                continue;
            }
            let outcome = trained(id, map, &table, 3);

            let metrics = outcome.regression.unwrap().report();
            let exact = map == "poly:2" && id != "linear-svr";
            assert!(!exact || metrics.r_squared > 0.99, "{id} {map}: {}", metrics.r_squared);
        }
    }
}

#[test]
fn single_rows_and_batches_are_mapped_alike() {
    let table = table(100);
    for map in MAPS {
        let features = features(&table, map, "where").unwrap();
        let all = features.encode(&table, None).unwrap();
        let mut rest = table.clone();
        let mut parts = Vec::new();
        for n in [1, 7, 92] {
            parts.push(features.encode(&rest.take_front(n), None).unwrap());
        }

        let joined = mercer::preprocess::Encoded::join(parts).unwrap();

        for i in 0..100 {
            assert_eq!(joined.rows().row(i), all.rows().row(i), "{map}");
        }
        assert_eq!(all.rows().n_columns(), features.n_features());
        assert_eq!(features.names().len(), features.n_features());
        let mut written = Matrix::zeros((100, features.n_features()));
        features.encode_into(&table, &mut written.view_mut()).unwrap();
        assert_eq!(written.row(3).to_vec(), all.rows().row(3));
        assert!(features.map.as_ref().unwrap().description().contains(map));
    }
}

#[test]
fn a_map_does_not_depend_on_the_batches_of_rows() {
    let table = table(9000);
    let one = features(&table, "nystroem:12", "where").unwrap();
    let two = features(&table, "nystroem:12", "where").unwrap();

    assert_eq!(one, two);
    let map = one.map.as_ref().unwrap();
    assert!(map.description().contains("fitted to 4096 of 9000 rows"), "{}", map.description());
    assert_eq!(one.common(&two), Some(two.clone()));
    assert_eq!(one.common(&features(&table, "nystroem:13", "where").unwrap()), None);
}

#[test]
fn models_behind_one_map_merge() {
    let table = table(200);
    let whole = trained("ridge", "rff:10", &table, 0).trained;
    let mut rest = table.clone();
    let front = rest.take_front(90);
    let half = |part: &Table| {
        let training = Training {
            estimator: whole.estimator.clone(),
            features: whole.features.clone(),
            task: Task::Regression,
            n_rows: None,
            n_folds: 0,
            seed: 1,
            recipe: mercer::preprocess::Recipe::default(),
        };
        train(training, part, &Monitor::quiet()).unwrap().trained
    };

    let merged = half(&front).merge(&half(&rest)).unwrap();

    let rows = whole.features.encode(&table, None).unwrap();
    let answer =
        |t: &Trained| t.fitted.model.as_model().regressor().unwrap().predict(&rows.rows()).unwrap();
    for (a, b) in answer(&merged).iter().zip(answer(&whole)) {
        assert!((a - b).abs() < 1e-6 * b.abs().max(1.0));
    }
}

#[test]
fn time_and_memory_limits_apply_before_the_map() {
    let table = table(50);
    let fields = ["x", "y"].map(Field::numeric).to_vec();
    let plan = || {
        Features::plan(&Schema { fields: fields.clone() }, None, CategoryEncoding::Auto).unwrap().0
    };
    let recipe = Recipe::default().mapped("rff:1000000").unwrap();

    let tight = Monitor::quiet().memory_limit(1 << 20);
    assert!(matches!(plan().fit(&recipe, &table, &tight), Err(Error::Memory { .. })));
    let late = Monitor::quiet().time_limit(std::time::Duration::ZERO);
    assert_eq!(late.stop(), Some(Stop::Deadline));
    assert_eq!(plan().fit(&recipe, &table, &late), Err(Error::Stopped));
}

#[test]
fn a_damaged_map_is_refused() {
    let table = table(60);
    let mut model = trained("logistic", "rff:8", &table, 0).trained;
    assert!(Trained::from_bytes(&model.to_bytes().unwrap()).is_ok());
    // A map of three columns behind a preprocessing with two.
    let wide = Matrix::zeros((10, 3));
    let other = FeatureMapRecipe::parse("rff:8").unwrap();
    model.features.map = Some(Arc::new(other.fit(&Rows::from(&wide), &Monitor::quiet()).unwrap()));

    let error = Trained::from_bytes(&model.to_bytes().unwrap()).unwrap_err();

    assert!(error.to_string().contains("map"), "{error}");
}

#[test]
fn a_kernel_formula_fits_every_kernel_method_and_is_saved() {
    let mut random = Random::new(2);
    let x = Matrix::from_shape_simple_fn((40, 3), || random.normal().abs());
    let codes: Vec<u32> = x.outer_iter().map(|r| u32::from(r[0] * r[1] > 0.4)).collect();
    let numbers: Vec<f64> = x.outer_iter().map(|r| r.sum()).collect();
    let classes = Classes::from_names(["a", "b"]);
    let formula = "rbf(gamma=0.1)+2*linear*chi2+0.5*poly(degree=2)";
    let kernel: Kernel = formula.parse().unwrap();
    let ids = [
        "svc",
        "nu-svc",
        "svr",
        "nu-svr",
        "one-class-svm",
        "kernel-ridge",
        "kernel-pca",
        "nystroem",
        "kernel-k-means",
        "kernel-perceptron",
    ];
    for id in ids {
        let mut estimator =
            Estimator::from_id(id).unwrap().set_from_str("kernel", formula).unwrap();
        for (name, word) in
            [("nu", "0.3"), ("n_components", "10"), ("n_clusters", "3"), ("tol", "1e-9")]
        {
            estimator = estimator.set_from_str(name, word).unwrap_or(estimator);
        }
        let card = estimator.card();
        let data = match card {
            card if card.can(Capability::Classifier) => {
                Dataset::classes(&x, &codes, &classes).unwrap()
            }
            card if card.can(Capability::Regressor) => Dataset::regression(&x, &numbers).unwrap(),
            _ => Dataset::unlabeled(&x),
        };

        let fitted = estimator.fit(&data, &Monitor::quiet()).unwrap();
        // The same from precomputed values of the same kernel.
        let function = kernel.with(gamma_of(&estimator), coef0_of(&estimator), 3, &data);
        let gram = Matrix::from_shape_fn((40, 40), |(i, j)| {
            function.value(&x.row(i).to_vec(), &x.row(j).to_vec())
        });

        let names = (0..3).map(|j| format!("x{j}"));
        let saved = Trained::new(estimator.clone(), Features::plain(names), fitted, None);
        let loaded = Trained::from_bytes(&saved.to_bytes().unwrap()).unwrap();
        let expected = crate::cases::predictions(&loaded.fitted.model, &x);
        assert_eq!(expected, crate::cases::predictions(&saved.fitted.model, &x), "{id}");
        if ["nystroem", "kernel-k-means", "kernel-pca"].contains(&id) {
            continue;
        }
        let given = estimator.set_from_str("kernel", "precomputed").unwrap();
        let data = match card {
            card if card.can(Capability::Classifier) => {
                Dataset::classes(&gram, &codes, &classes).unwrap()
            }
            card if card.can(Capability::Regressor) => {
                Dataset::regression(&gram, &numbers).unwrap()
            }
            _ => Dataset::unlabeled(&gram),
        };
        let given = given.fit(&data, &Monitor::quiet()).unwrap();
        let found = crate::cases::predictions(&given, &gram);
        let off = (&found - &expected).iter().fold(0.0f64, |a, v| a.max(v.abs()));
        assert!(off < 1e-5, "{id}: {off}");
    }
    assert!(
        check_kernel(kernel.with(None, 1.0, 3, &Dataset::unlabeled(&x)), &Rows::from(&x))
            .unwrap()
            .positive
    );
}

/// The `gamma` that was set, or `None` for the default of the kernel.
fn gamma_of(estimator: &Estimator) -> Option<mercer::kernel::Gamma> {
    serde_json::from_value(estimator.params()["gamma"].clone()).unwrap()
}

fn coef0_of(estimator: &Estimator) -> f64 {
    estimator.params()["coef0"].as_f64().unwrap_or(1.0)
}

#[test]
fn an_invalid_formula_is_refused_with_the_reason() {
    let error = Estimator::from_id("svc").unwrap().set_from_str("kernel", "rbf+gauss").unwrap_err();

    assert!(error.to_string().contains("no kernel is called `gauss`"), "{error}");
    assert!(error.to_string().contains("rbf(gamma=0.1)+2*linear"), "{error}");
}

#[test]
fn a_custom_kernel_is_fitted_and_not_saved() {
    #[derive(Debug)]
    struct Cube;
    impl mercer::kernel::CustomKernel for Cube {
        fn value(&self, x: &[f64], z: &[f64]) -> f64 {
            Function::poly(3, 1.0, 1.0).value(x, z)
        }
    }
    let mut random = Random::new(3);
    let x = Matrix::from_shape_simple_fn((30, 2), || random.normal());
    let y: Vec<f64> = x.outer_iter().map(|r| r[0].powi(3) - r[1]).collect();
    let data = Dataset::regression(&x, &y).unwrap();
    let fit = |kernel: Kernel| {
        let params = mercer::kernelized::KernelRidge::new().kernel(kernel).gamma(Some(1.0.into()));
        params.fit(&data, &Monitor::quiet()).unwrap()
    };

    let (own, named) = (fit(Kernel::custom(Cube)), fit(Kernel::Poly));

    let (a, b) = (own.predict(&Rows::from(&x)).unwrap(), named.predict(&Rows::from(&x)).unwrap());
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-8));
    let estimator = Estimator::from(mercer::kernelized::KernelRidge::new());
    let names = ["a".to_owned(), "b".to_owned()];
    let trained = Trained::new(
        estimator,
        Features::plain(names),
        own.map(mercer::catalog::AnyModel::KernelRidge),
        None,
    );
    assert!(trained.to_bytes().unwrap_err().to_string().contains("code"));
}

// ---------------------------------------------------------------- reference values of scikit-learn, by make_maps.py

#[derive(Deserialize)]
struct Golden {
    source: String,
    x: Vec<Vec<f64>>,
    y: Vec<Vec<f64>>,
    products: Vec<Products>,
    ridge: GoldenRidge,
    k_means: GoldenMeans,
}

#[derive(Deserialize)]
struct Products {
    params: serde_json::Map<String, serde_json::Value>,
    new: Vec<Vec<f64>>,
    names: Vec<String>,
}

#[derive(Deserialize)]
struct GoldenRidge {
    gamma: f64,
    alpha: f64,
    coefficients: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct GoldenMeans {
    x: Vec<Vec<f64>>,
    labels: Vec<u32>,
    inertia: f64,
}

fn golden() -> Golden {
    let text = crate::cases::repository_file("testdata/golden/maps.json");
    let golden: Golden = serde_json::from_str(&text).unwrap();
    assert!(golden.source.starts_with("scikit-learn"));
    golden
}

fn matrix(rows: &[Vec<f64>]) -> Matrix {
    Matrix::from_shape_vec((rows.len(), rows[0].len()), rows.concat()).unwrap()
}

#[test]
fn polynomial_features_equal_scikit_learn_to_the_bit() {
    let golden = golden();
    let x = matrix(&golden.x);
    let names: Vec<String> = ["a", "b", "c", "d"].map(String::from).to_vec();
    for case in golden.products {
        let plain = Estimator::from_id("polynomial-features").unwrap();
        let requested = case.params.iter();
        let estimator =
            requested.fold(plain, |e, (name, value)| e.set(name, value.clone()).unwrap());

        let fitted = estimator.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

        let model = fitted.as_model().transformer().unwrap();
        assert_eq!(
            model.transform(&Rows::from(&x)).unwrap(),
            matrix(&case.new),
            "{:?}",
            case.params
        );
        assert_eq!(model.feature_names_out(&names), Some(case.names));
    }
}

#[test]
fn multi_output_ridge_has_the_coefficients_of_scikit_learn() {
    let golden = golden();
    let GoldenRidge { gamma, alpha, coefficients } = golden.ridge;
    let x = matrix(&golden.x);
    let params = mercer::kernelized::KernelRidge::new().kernel(Kernel::Rbf).alpha(alpha);
    let params = params.gamma(Some(gamma.into()));

    let y = matrix(&golden.y);
    let data = Dataset::multi_output(&x, y.view()).unwrap();
    let fitted = params.fit(&data, &Monitor::quiet());

    assert_near(&fitted.unwrap().expansion.coefficients, &matrix(&coefficients), 1e-10);
}

#[test]
fn a_linear_kernel_finds_the_clusters_of_k_means() {
    let GoldenMeans { x, labels, inertia } = golden().k_means;
    let x = matrix(&x);
    let params = mercer::kernelized::KernelKMeans::new().n_clusters(3).kernel(Kernel::Linear);

    let fitted =
        params.n_init(20).tol(0.0).fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

    assert!((fitted.inertia - inertia).abs() < 1e-9 * inertia, "{} {inertia}", fitted.inertia);
    // The clusters have other numbers there, and the same rows.
    let renamed: std::collections::BTreeSet<(u32, u32)> =
        fitted.labels.iter().copied().zip(labels).collect();
    assert_eq!(renamed.len(), 3);
}
