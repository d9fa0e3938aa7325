//! `mercer inspect`: the contents of a model file.

use super::{inspect_svm, unsupervised};
use crate::args::Inspect;
use crate::failure::Result;
use crate::input;
use crate::report::linear_functions::LinearFunctions;
use crate::report::plot::{self, class_distributions};
use crate::report::projection::{Posterior, Projection};
use crate::report::terminal::{table, wrap};
use crate::session::Session;
use mercer::data::{Classes, Kind, Label};
use mercer::explain::short;
use mercer::model::{LinearModel, Tree};
use mercer::preprocess::{FittedFeatureMap, Step};
use mercer::train::Trained;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::Path;

/// The coverage of the confidence intervals of coefficients.
const CONFIDENCE: f64 = 0.95;
/// The fraction of training rows below the outlier threshold that is printed.
const OUTLIER_FRACTION: f64 = 0.01;

pub fn run(args: Inspect, session: &Session) -> Result<()> {
    let model = input::load(&args.model)?;
    if let Some(path) = &args.plot {
        session.check_output(path)?;
        return plot_model(&model, path, &args, session);
    }
    if session.json {
        return session.print_json(&description(&model));
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{}: {} by {}", args.model.display(), model.estimator.id(), model.made_by)?;
    for (name, value) in model.estimator.params().as_object().into_iter().flatten() {
        writeln!(out, "  {name} = {value}")?;
    }
    print_target(&mut out, &model)?;
    if let Some(weights) = &model.features.weights {
        writeln!(out, "sample weights: column `{weights}`")?;
    }
    print_columns(&mut out, &model)?;
    print_coefficients(&mut out, &model)?;
    print_linear(&mut out, &model, args.sort)?;
    if let Some(counts) = parameter_counts(&model) {
        writeln!(out, "{}", wrap(&counts, 2))?;
    }
    inspect_svm::print(&mut out, &model)?;
    if let Some(rule) = &model.decision {
        writeln!(out, "decision rule:")?;
        for line in super::decide::description(rule, &classes(&model)) {
            writeln!(out, "  {line}")?;
        }
    }
    if let Some(densities) = &model.densities {
        let threshold = short(densities.threshold(OUTLIER_FRACTION)?);
        writeln!(
            out,
            "outliers: 1% of the held-out training rows have log p(row) below {threshold}"
        )?;
    }
    let certificate = &model.fitted.certificate;
    writeln!(out, "{}", wrap(&format!("certificate: {certificate}"), 2))?;
    if let Some(plan) = &certificate.plan {
        writeln!(out, "plan: {plan}")?;
    }
    writeln!(out, "{}", storage(&model))?;
    Ok(())
}

fn plot_model(model: &Trained, path: &Path, args: &Inspect, session: &Session) -> Result<()> {
    let scene = match args.image {
        Some(shape) => class_distributions::images(model, shape)?,
        None => class_distributions::distributions(model, &args.columns, None)?,
    };
    plot::save(path, scene)?;
    session.message(&format!("saved {}", path.display()));
    if session.json {
        session.print_json(&json!({"plot": path}))?;
    }
    Ok(())
}

/// The contents of a model as JSON.
fn description(model: &Trained) -> Value {
    let features = &model.features;
    let summary = interpretable_linear_model(model)
        .and_then(|linear| linear.summary(&features.names(), CONFIDENCE));
    let factorized = model.fitted.model.as_model().factorized_likelihood();
    json!({
        "made_by": model.made_by, "estimator": model.estimator.id(),
        "params": model.estimator.params(),
        "target": features.target, "sample_weights": features.weights, "classes": classes(model).labels(),
        "columns": features.schema.fields, "steps": features.steps,
        "features": features.names(),
        "feature_map": features.map.as_ref().map(|map| json!({
            "spec": map.spec, "inputs": map.n_inputs(), "outputs": map.n_outputs(),
            "certificate": map.certificate,
        })),
        "certificate": model.fitted.certificate,
        "n_parameters": factorized.and_then(|m| m.n_parameters()),
        "n_joint_parameters": factorized.and_then(|m| m.n_joint_parameters()),
        "support_vectors": inspect_svm::description(model),
        "summary": summary, "linear_functions": LinearFunctions::of(model),
        "posterior": Posterior::of(model), "projection": Projection::of(model), "mergeable": model.stats.is_some(),
        "holds_training_rows": statistics_hold_rows(model) || model_holds_rows(model),
        "decision": model.decision,
        "outliers": model.densities.as_ref().map(|densities| json!({
            "rows": densities.n_rows(),
            "log_density_of_lowest_percent": densities.threshold(OUTLIER_FRACTION).ok(),
        })),
    })
}

fn print_target(out: &mut impl Write, model: &Trained) -> Result<()> {
    let target = model.features.target.as_deref().unwrap_or("target");
    if model.fitted.model.as_model().regressor().is_some() {
        writeln!(out, "\n{target}: regression target")?;
    } else if let Some(columns) = mercer::predict::output_columns(model) {
        writeln!(out, "\nunsupervised: {}", unsupervised::summarized(&columns))?;
    } else {
        let classes = classes(model);
        let labels: Vec<String> = classes.labels().iter().map(Label::to_string).collect();
        writeln!(out, "\n{target}: {} classes ({})", labels.len(), labels.join(", "))?;
    }
    Ok(())
}

/// The columns, the features that they are encoded as, and their likelihoods.
fn print_columns(out: &mut impl Write, model: &Trained) -> Result<()> {
    let features = &model.features;
    let (origins, likelihoods) = (features.origins(), likelihoods(model));
    let mut rows = table(&["column", "type", "encoded as"]);
    for (field, step) in features.schema.fields.iter().zip(&features.steps) {
        let encoding = match step {
            Step::Numeric(step) => step.names(&field.name).join(", "),
            Step::Date(step) => step.names(&field.name).join(", "),
            Step::OneHot(step) if step.own.is_some() => {
                let n = step.width(&field.levels);
                format!(
                    "one-hot ({} levels in {n} indicators, rare ones share)",
                    field.levels.len()
                )
            }
            Step::OneHot(_) => format!("one-hot ({})", field.levels.names().join(", ")),
            Step::Code if field.kind == Kind::Boolean => "true or false".to_owned(),
            Step::Code => format!("one of {} levels", field.levels.len()),
            Step::Text(step) => step.description(),
            Step::Sparse => format!("{} sparse features", field.width),
        };
        let feature = origins.iter().position(|k| features.schema.fields[*k] == *field);
        let encoding = match feature.and_then(|feature| likelihoods.get(feature)) {
            Some(likelihood) if *likelihood != field.kind.to_string() => {
                format!("{encoding}: {likelihood}")
            }
            _ => encoding,
        };
        let kind = match field.notation.is_date() {
            true => "date".to_owned(),
            false => field.kind.to_string(),
        };
        rows.add_row([field.name.clone(), kind, encoding]);
    }
    writeln!(out, "{rows}")?;
    for line in features.summary() {
        writeln!(out, "{}", wrap(&line, 2))?;
    }
    for field in features.schema.fields.iter().filter(|field| !field.notation.is_plain()) {
        writeln!(out, "column `{}`: {}", field.name, field.notation)?;
    }
    for column in &features.dropped {
        let line = format!("dropped column `{}`: {}", column.name, column.reason);
        writeln!(out, "{}", wrap(&line, 2))?;
    }
    if let Some(map) = &features.map {
        writeln!(out, "{}", wrap(&format!("feature map: {}", map.description()), 2))?;
    }
    Ok(())
}

/// The coefficients of a linear regressor with their standard errors, if it has them.
fn print_coefficients(out: &mut impl Write, model: &Trained) -> Result<()> {
    let Some(linear) = interpretable_linear_model(model) else { return Ok(()) };
    let names = model.features.names();
    if let Some(summary) = linear.summary(&names, CONFIDENCE) {
        writeln!(out, "\n{summary}\n")?;
    }
    Ok(())
}

/// The linear functions of the model, the posterior of a ridge regression, and Fisher's axes of a discriminant.
fn print_linear(out: &mut impl Write, model: &Trained, sorted: bool) -> Result<()> {
    let summary = interpretable_linear_model(model)
        .and_then(|linear| linear.summary(&model.features.names(), CONFIDENCE));
    if summary.is_none()
        && let Some(functions) = LinearFunctions::of(model)
    {
        functions.print(out, sorted)?;
    }
    if let Some(posterior) = Posterior::of(model) {
        posterior.print(out)?;
    }
    if let Some(projection) = Projection::of(model) {
        projection.print(out)?;
    }
    Ok(())
}

/// The number of parameters of a naive Bayes model against the full joint table of its columns.
fn parameter_counts(model: &Trained) -> Option<String> {
    let factorized = model.fitted.model.as_model().factorized_likelihood()?;
    let n = factorized.n_parameters()?;
    let (m, d) = (factorized.classes().len(), factorized.n_columns());
    let joint = match factorized.n_joint_parameters() {
        Some(joint) => format!("; the full joint table of the same columns has {}", count(joint)),
        None => String::new(),
    };
    Some(format!("parameters: {n} for {m} classes and {d} columns{joint}"))
}

/// A number of parameters: all digits, as long as they are exact.
fn count(n: f64) -> String {
    if n < 1e15 { format!("{n:.0}") } else { short(n) }
}

/// What the file stores besides the model.
fn storage(model: &Trained) -> String {
    let statistics = match model.stats.is_some() {
        true => "sufficient statistics (the model can be merged and can forget rows)",
        false => "no sufficient statistics",
    };
    let rows = match (statistics_hold_rows(model), model_holds_rows(model)) {
        (true, _) => "they contain joint counts, from which training rows can be reconstructed",
        (false, true) => "it contains preprocessed training rows (support vectors or landmarks)",
        (false, false) => "no training rows",
    };
    format!("stores {statistics}; {rows}")
}

fn classes(model: &Trained) -> Classes {
    let classifier = model.fitted.model.as_model().classifier();
    classifier.map(|classifier| classifier.classes().clone()).unwrap_or_default()
}

/// Whether training rows can be reconstructed from the statistics.
fn statistics_hold_rows(model: &Trained) -> bool {
    model.stats.as_ref().is_some_and(|stats| stats.holds_rows())
}

/// Whether the model stores training rows, as support vectors or as landmarks of a feature map.
fn model_holds_rows(model: &Trained) -> bool {
    let map = model.features.map.as_ref().map(|map| &map.map);
    model.fitted.model.fields().get("expansion").is_some()
        || matches!(map, Some(FittedFeatureMap::Nystroem(_)))
}

/// The model as a linear regressor, if its features have a meaning.
fn interpretable_linear_model(model: &Trained) -> Option<&dyn LinearModel> {
    let interpretable = model.features.map.as_ref().is_none_or(|map| map.is_interpretable());
    model.fitted.model.as_model().linear_model().filter(|_| interpretable)
}

/// The likelihood of each feature, if the model has one per feature.
fn likelihoods(model: &Trained) -> Vec<String> {
    let Some(Tree::List(all)) = model.fitted.model.fields().get("likelihoods").cloned() else {
        return Vec::new();
    };
    let name = |likelihood: Tree| match likelihood {
        Tree::Map(tagged) => tagged.into_iter().next().map(|(name, _)| name).unwrap_or_default(),
        _ => String::new(),
    };
    all.into_iter().map(name).collect()
}
