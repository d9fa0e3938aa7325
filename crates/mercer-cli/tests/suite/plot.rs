//! `mercer plot`, and the figures of reports.

use super::{Folder, example};

/// Two classes that a line separates except for one row each.
const POINTS: &str = "u,v,side\n0,0,left\n1,0,left\n0,1,left\n1,2,left\n5,4,left\n\
                      4,3,right\n5,3,right\n4,5,right\n6,5,right\n0.5,0.5,right\n";

fn trained(data: &str, options: &[&str]) -> Folder {
    let folder = Folder::new();
    folder.write("points.csv", data);
    let start = ["train", "points.csv", "--folds", "0", "--out", "m.mercer", "--no-report"];
    folder.output(&[&start[..], options].concat());
    folder
}

fn plotted(folder: &Folder, more: &[&str]) -> (String, String) {
    let start = ["plot", "m.mercer", "points.csv", "--out", "plot.svg", "--json"];
    let printed = folder.json(&[&start[..], more].concat());
    let picture = std::fs::read_to_string(folder.path("plot.svg")).unwrap();
    (printed["kind"].as_str().unwrap().to_owned(), picture)
}

#[test]
fn a_support_vector_machine_has_its_street() {
    for model in [&["svc", "--set", "kernel=linear"][..], &["svc"], &["nu-svc"], &["linear-svc"]] {
        let folder = trained(POINTS, &[&["--target", "side", "--model"], model].concat());

        let (kind, picture) = plotted(&folder, &[]);

        assert_eq!(kind, "margin");
        // The margin of the linear SVM with a penalized intercept is wider than the picture.
        let in_view = |text: &&str| model[0] != "linear-svc" || !text.contains("margin");
        for text in ["boundary f = 0", "margin f = ±1", "support vectors (", "slack ξ", "left", "u"]
        {
            assert!(picture.contains(text) || !in_view(&text), "{model:?}: no {text}");
        }
    }
}

#[test]
fn rings_are_the_support_vectors_of_the_model() {
    // The margin between (1, 0) and (3, 0) has these two support vectors.
    let data = "u,v,side\n0,0,l\n1,0,l\n3,0,r\n4,1,r\n-1,1,l\n";
    let options =
        ["--target", "side", "--model", "svc", "--set", "kernel=linear", "--set", "margin=hard"];
    let folder = trained(data, &options);

    let (_, picture) = plotted(&folder, &[]);

    assert!(picture.contains("support vectors (2)"));
    assert!(!picture.contains("slack"));
}

#[test]
fn more_than_two_columns_have_decision_values_or_a_slice() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    folder.output(&["train", &iris, "--target", "species", "--model", "svc", "--out", "m.mercer"]);
    let run = ["plot", "m.mercer", &iris, "--json", "--out"];

    let values = folder.json(&[&run[..], &["values.svg"]].concat());
    let axes = ["slice.png", "--axis", "petal_length", "--axis", "petal_width"];
    let slice = folder.json(&[&run[..], &axes].concat());
    let missing = folder.failure(&[&run[..], &["x.svg", "--kind", "margin"]].concat(), 2);
    let unknown = folder.failure(&[&run[..], &["x.svg", "--axis", "a", "--axis", "b"]].concat(), 2);

    assert_eq!(values["kind"], "decisions");
    assert_eq!(slice["kind"], "margin");
    assert_eq!(&std::fs::read(folder.path("slice.png")).unwrap()[1..4], b"PNG");
    assert!(missing.contains("2 numeric columns, found 4"), "{missing}");
    assert!(unknown.contains("--axis a"), "{unknown}");
    // The report has the same figure.
    let page = std::fs::read_to_string(folder.path("m.html")).unwrap();
    assert!(page.contains("score of the true class") && page.contains("<svg"));
}

#[test]
fn a_tube_has_the_width_of_the_model() {
    let data: String = (0..40)
        .map(|k| {
            let x = f64::from(k) / 8.0;
            format!("{x},{}\n", x.sin() + if k % 7 == 0 { 0.6 } else { 0.0 })
        })
        .collect();
    for model in ["svr", "linear-svr"] {
        let options = ["--target", "y", "--model", model, "--set", "epsilon=0.25"];
        let folder = trained(&format!("x,y\n{data}"), &options);

        let (kind, picture) = plotted(&folder, &[]);

        assert_eq!(kind, "tube");
        for text in ["tube f ± 0.25", "f(x)", "support vectors (", "slack ξ"] {
            assert!(picture.contains(text), "{model}: no {text}");
        }
    }
}

#[test]
fn every_model_has_a_plot_of_its_own() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let two = ["--ignore", "sepal_length", "--ignore", "sepal_width"];
    let one = ["--ignore", "sepal_length", "--ignore", "sepal_width", "--ignore", "petal_width"];
    for (model, ignored, expected_kind, expected_text) in [
        ("lda", &[][..], "projection", "discriminant axis 1 (99.1 %"),
        ("lda", &two, "gaussians", "Mahalanobis distance 1 and 2"),
        ("qda", &two, "gaussians", "boundary"),
        ("gaussian-nb", &two, "gaussians", "mean"),
        ("logistic", &one, "posterior", "P(class)"),
        ("logistic", &[], "coefficients", "petal_length"),
        ("gaussian-nb", &[], "densities", "p(petal_length | class)"),
        ("mlp", &two, "margin", "boundary"),
    ] {
        let train = ["train", &iris, "--target", "species", "--model", model, "--folds", "0"];
        let out = ["--no-report", "--out", "m.mercer"];
        folder.output(&[&train[..], &out, ignored].concat());

        let printed = folder.json(&["plot", "m.mercer", &iris, "--json", "--out", "plot.svg"]);

        let picture = std::fs::read_to_string(folder.path("plot.svg")).unwrap();
        assert_eq!(printed["kind"], expected_kind, "{model}");
        assert!(picture.contains(expected_text), "{model}: no {expected_text}");
    }
}

#[test]
fn feature_maps_are_plotted_against_their_kernel() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    for options in [
        &["--model", "rbf-sampler", "--ignore", "species"][..],
        &["--model", "nystroem", "--ignore", "species"],
        &["--model", "logistic", "--target", "species", "--features", "rff:50"],
    ] {
        let train = ["train", &iris, "--folds", "0", "--no-report", "--out", "m.mercer"];
        folder.output(&[&train[..], options].concat());

        let kind = ["--kind", "kernel-approximation", "--out", "plot.svg"];
        folder.output(&[&["plot", "m.mercer", &iris][..], &kind].concat());

        let picture = std::fs::read_to_string(folder.path("plot.svg")).unwrap();
        assert!(picture.contains("exact kernel") && picture.contains("distance of two rows"));
    }
}

#[test]
fn the_error_of_kernel_approximations_is_plotted_against_their_size() {
    let folder = trained(POINTS, &["--model", "rbf-sampler", "--ignore", "side"]);

    let (kind, picture) = plotted(&folder, &["--kind", "approximation-error"]);

    assert_eq!(kind, "approximation-error");
    for text in ["random Fourier features", "Nyström features", "∝ 1/√M", "number of features M"]
    {
        assert!(picture.contains(text), "no {text}");
    }
}

#[test]
fn a_quadratic_map_separates_what_no_threshold_does() {
    let line = std::fs::read_to_string(example("line.csv")).unwrap();
    let svm = ["--model", "svc", "--set", "kernel=linear", "--set", "C=1000"];
    let folder =
        trained(&line, &[&["--target", "side", "--features", "poly:2"], &svm[..]].concat());

    let (kind, picture) = plotted(&folder, &["--kind", "feature-map"]);
    let evaluated = folder.json(&["evaluate", "m.mercer", "points.csv", "--json"]);

    assert_eq!(kind, "feature-map");
    for text in ["one column", "after poly:2", "boundary f = 0", "margin f = ±1"] {
        assert!(picture.contains(text), "no {text}");
    }
    assert_eq!(evaluated["accuracy"]["value"], 1.0);
}

#[test]
fn a_feature_map_of_two_columns_shows_two_of_its_features() {
    let folder =
        trained(POINTS, &["--target", "side", "--model", "logistic", "--features", "poly:2"]);

    let (_, picture) = plotted(&folder, &["--kind", "feature-map"]);
    let error = folder.failure(
        &[
            "plot",
            "m.mercer",
            "points.csv",
            "--out",
            "plot.svg",
            "--kind",
            "feature-map",
            "--axis",
            "w",
        ],
        2,
    );

    assert!(picture.contains("two columns") && picture.contains("boundary"));
    assert!(error.contains("two mapped features"), "{error}");
}

#[test]
fn images_show_means_deviations_and_both_in_color() {
    let folder = Folder::new();
    let rows: String =
        (0..20).map(|k| format!("{},{},{},0,{}\n", k % 2 * 9, k % 5, 9, k % 2)).collect();
    folder.write("pixels.csv", &format!("a,b,c,d,y\n{rows}"));
    folder.output(&[
        "train",
        "pixels.csv",
        "--target",
        "y",
        "--model",
        "gaussian-nb",
        "--no-report",
        // Pixels that never vary would be dropped.
        "--keep-columns",
    ]);

    folder.output(&["plot", "pixels.mercer", "--image", "2x2", "--out", "both.svg"]);
    let without =
        folder.failure(&["plot", "pixels.mercer", "--kind", "images", "--out", "x.svg"], 2);
    let rows = folder.failure(&["plot", "pixels.mercer", "--kind", "margin", "--out", "x.svg"], 2);

    let picture = std::fs::read_to_string(folder.path("both.svg")).unwrap();
    assert!(picture.contains("standard deviation") && picture.contains("both"));
    // A pixel with a large mean that never varies has red and blue and no green.
    assert!(picture.contains("#ff00ff") || picture.contains("rgb(255,0,255)"));
    assert!(without.contains("--image ROWSxCOLUMNS"), "{without}");
    assert!(rows.contains("needs rows"), "{rows}");
}

#[test]
fn reports_have_the_figure_of_their_model() {
    let folder = Folder::new();
    folder.write("points.csv", POINTS);
    let iris = example("iris.csv");
    let train = |options: &[&str]| {
        folder.output(&[&["train"][..], options, &["--folds", "0", "--out", "m.mercer"]].concat());
        std::fs::read_to_string(folder.path("m.html")).unwrap()
    };

    let svc = train(&["points.csv", "--target", "side", "--model", "svc"]);
    let svr = train(&[&iris, "--target", "petal_width", "--ignore", "species", "--model", "svr"]);
    let logistic = train(&[&iris, "--target", "species", "--model", "logistic"]);
    let linear =
        train(&[&iris, "--target", "petal_width", "--ignore", "species", "--model", "ridge"]);
    let perceptron = train(&[&iris, "--ignore", "species", "--model", "kernel-k-means"]);

    assert!(svc.contains("margin f = ±1"));
    assert!(svr.contains("tube f ± 0.1") && svr.contains("prediction f(x)"));
    assert!(logistic.contains("Coefficients"));
    assert!(linear.contains("Coefficients"));
    // Without plots there is no empty heading.
    assert!(!perceptron.contains("<h2>Plots</h2>"));
}

#[test]
fn models_do_not_have_the_color_of_a_class() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let models = "lda,qda,gaussian-nb,logistic,svc,linear-svc,perceptron";
    let run = ["compare", &iris, "--target", "species", "--models", models, "--plot", "all.svg"];
    let two = ["--use", "petal_length", "--use", "petal_width"];

    folder.output(&[&run[..], &two].concat());

    let picture = std::fs::read_to_string(folder.path("all.svg")).unwrap().to_lowercase();
    let lines: Vec<&str> = picture
        .split('<')
        .filter(|tag| tag.starts_with("path") && tag.contains("fill=\"none\""))
        .collect();
    assert!(!lines.is_empty());
    // The first three colors are those of the species.
    for color in ["#0072b2", "#d55e00", "#009e73"] {
        let stroke = format!("stroke=\"{color}\"");
        assert!(lines.iter().all(|line| !line.contains(&stroke)), "{color}");
    }
}
