//! Examples of an estimator: in its docstring, and on its reference page with data of the repository.

use super::parameters::float;
use super::python_name;
use mercer::catalog::{Capability, Card, Estimator, Input};
use mercer::data::Dataset;
use mercer::model::Monitor;
use mercer_num::{Matrix, Rows};

/// The example of a docstring, which doctest runs.
pub fn doctest(card: &Card) -> String {
    let (module, name) = python_name(card);
    let import = format!(
        "\n    Examples\n    --------\n\
         \x20   >>> from mercer.{module} import {name}\n"
    );
    if card.can(Capability::Regressor) {
        // The digits of one of many local minima depend on the processor.
        let value = value_at_midpoint(card);
        let (digits, printed) = match card.can(Capability::NonConvex) {
            true => ("", format!("{value:.0}")),
            false => (", 6", float(value)),
        };
        return import
            + &format!(
                "\x20   >>> X = [[1], [2], [3], [4]]\n\
                 \x20   >>> y = [20, 30, 40, 50]\n\
                 \x20   >>> model = {name}({}).fit(X, y)\n\
                 \x20   >>> print(round(model.predict([[2.5]])[0]{digits}))\n\
                 \x20   {printed}\n",
                arguments(card)
            );
    }
    if card.can(Capability::Classifier) {
        // Counts, which every classifier accepts; three rows per class allow three folds.
        let folds = if card.has_parameter("cv") { "cv=3" } else { arguments(card) };
        return import
            + &format!(
                "\x20   >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]\n\
                 \x20   >>> y = [\"a\", \"a\", \"a\", \"b\", \"b\", \"b\"]\n\
                 \x20   >>> model = {name}({folds}).fit(X, y)\n\
                 \x20   >>> print(*model.predict([[3, 0], [0, 3]]))\n\
                 \x20   a b\n"
            );
    }
    let call = match card {
        card if card.can(Capability::Clusterer) => "fit_predict(X).shape",
        card if card.can(Capability::OutlierDetector) => "fit(X).predict(X).shape",
        _ => "fit_transform(X).shape[0]",
    };
    let printed = if call.ends_with("[0]") { "4" } else { "(4,)" };
    import
        + &format!(
            "\x20   >>> X = [[0, 1], [1, 0], [4, 5], [5, 4]]\n\
             \x20   >>> print({name}().{call})\n\
             \x20   {printed}\n"
        )
}

/// The arguments of an example: the few rows of one need a solver that converges on few rows.
fn arguments(card: &Card) -> &'static str {
    if card.can(Capability::NonConvex) { "solver=\"lbfgs\"" } else { "" }
}

/// The prediction of a regressor in the example: 35 with an intercept.
fn value_at_midpoint(card: &Card) -> f64 {
    let x = Matrix::from_shape_fn((4, 1), |(i, _)| i as f64 + 1.0);
    let y = [20.0, 30.0, 40.0, 50.0];
    let at = Matrix::from_elem((1, 1), 2.5);
    let predicted = Estimator::from_id(card.id)
        .and_then(|estimator| estimator.fit(&Dataset::regression(&x, &y)?, &Monitor::quiet()))
        .and_then(|fitted| match fitted.as_model().regressor() {
            Some(model) => model.predict(&Rows::from(&at)),
            None => Ok(Vec::new()),
        });
    predicted.map_or(f64::NAN, |y| y.iter().map(|y| (1e6 * y).round() / 1e6).sum())
}

/// A table of the repository that suits an estimator.
struct Data {
    file: &'static str,
    target: Option<&'static str>,
    ignored: &'static [&'static str],
}

fn data(card: &Card) -> Data {
    let (file, target, ignored): (_, _, &[_]) = match card {
        card if card.is_unsupervised() => ("iris", None, &["species"]),
        card if card.can(Capability::Regressor) => ("iris", Some("petal_width"), &["species"]),
        card if card.accepts(Input::Categories) => ("mammals", Some("class"), &["name"]),
        card if card.accepts(Input::Counts) || card.accepts(Input::Binary) => {
            ("documents", Some("class"), &[])
        }
        card if card.accepts(Input::Mixed) => ("penguins", Some("species"), &["year"]),
        _ => ("iris", Some("species"), &[]),
    };
    Data { file, target, ignored }
}

/// The Python example of a reference page, which a test runs in the root of the repository.
pub fn python(card: &Card) -> String {
    let (module, name) = python_name(card);
    let Data { file, target, ignored } = data(card);
    let mut dropped: Vec<String> = ignored.iter().map(|column| format!("\"{column}\"")).collect();
    dropped.extend(target.map(|column| format!("\"{column}\"")));
    let mut text = format!(
        "import pandas as pd\n\nfrom mercer.{module} import {name}\n\n\
         table = pd.read_csv(\"examples/data/{file}.csv\")\n\
         X = table.drop(columns=[{}])\n",
        dropped.join(", ")
    );
    if let Some(target) = target {
        text += &format!("y = table[\"{target}\"]\n");
    }
    let y = if target.is_some() { ", y" } else { "" };
    text += &format!("model = {name}().fit(X{y})\nprint(model.certificate_[\"text\"])\n");
    text + match card {
        card if target.is_none() && card.can(Capability::Transformer) => {
            "print(model.transform(X)[:3])\n"
        }
        _ => "print(model.predict(X)[:3])\n",
    }
}

/// The commands of a reference page.
pub fn commands(card: &Card) -> String {
    let Data { file, target, ignored } = data(card);
    let target = target.map(|column| format!(" --target {column}")).unwrap_or_default();
    let ignored: String = ignored.iter().map(|column| format!(" --ignore {column}")).collect();
    format!(
        "mercer train examples/data/{file}.csv{target}{ignored} --model {} --out {file}.mercer\n\
         mercer predict {file}.mercer examples/data/{file}.csv\n",
        card.id
    )
}
