//! `mercer inspect`: what is inside a model file.

use super::unsupervised;
use crate::args::Inspect;
use crate::failure::Result;
use crate::input;
use crate::report::terminal::table;
use crate::report::{class_means, plot};
use crate::session::Session;
use mercer::data::{Kind, Label};
use mercer::explain::short;
use mercer::model::Tree;
use mercer::preprocess::{FittedFeatureMap, Step};
use mercer::train::Trained;
use serde_json::json;
use std::io::{self, Write};

/// Coefficients that are shown one by one; words may have very many.
const MOST_TERMS: usize = 100;

pub fn run(args: Inspect, session: &Session) -> Result<()> {
    let model = input::load(&args.model)?;
    if let Some(path) = &args.plot {
        let scene = match args.image {
            Some(shape) => class_means::images(&model, shape)?,
            None => class_means::curves(&model, &args.columns)?,
        };
        plot::save(path, scene)?;
        session.message(&format!("saved {}", path.display()));
        if session.json {
            return session.print_json(&json!({"picture": path}));
        }
        return Ok(());
    }
    let able = model.fitted.model.as_model();
    let classes = able.classifier().map(|m| m.classes().clone()).unwrap_or_default();
    let names = model.features.names();
    let summary =
        able.linear_model().filter(|_| tells(&model)).and_then(|m| m.summary(&names, 0.95));
    let readable = model.stats.as_ref().is_some_and(|stats| stats.holds_rows());
    let inside = keeps_rows(&model);
    let holds_rows = readable || inside;
    let params = model.estimator.params();
    let certificate = &model.fitted.certificate;
    if session.json {
        return session.print_json(&json!({
            "made_by": model.made_by, "estimator": model.estimator.id(), "params": params,
            "target": model.features.target, "classes": classes.labels(),
            "columns": model.features.schema.fields, "steps": model.features.steps,
            "features": names, "map": model.features.map.as_ref().map(|map| json!({
                "asked": map.asked, "inputs": map.n_inputs(), "outputs": map.n_outputs(),
                "certificate": map.certificate,
            })), "certificate": certificate,
            "summary": summary, "mergeable": model.stats.is_some(), "holds_training_rows": holds_rows,
            "decision": model.decision,
            "outliers": model.densities.as_ref().map(|known| json!({
                "rows": known.n_rows(), "log_density_of_lowest_percent": known.threshold(0.01).ok(),
            })),
        }));
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{}: {} by {}", args.model.display(), model.estimator.id(), model.made_by)?;
    for (name, value) in params.as_object().into_iter().flatten() {
        writeln!(out, "  {name} = {value}")?;
    }
    let target = model.features.target.as_deref().unwrap_or("target");
    if able.regressor().is_some() {
        writeln!(out, "\n{target}: a number")?;
    } else if let Some(columns) = unsupervised::columns(&model) {
        writeln!(out, "\nrows alone: {}", unsupervised::summarized(&columns))?;
    } else {
        let labels: Vec<String> = classes.labels().iter().map(Label::to_string).collect();
        writeln!(out, "\n{target}: {} classes ({})", labels.len(), labels.join(", "))?;
    }
    let (origins, curves) = (model.features.origins(), likelihoods(&model));
    let mut rows = table(&["column", "kind", "becomes"]);
    for (field, step) in model.features.schema.fields.iter().zip(&model.features.steps) {
        let becomes = match step {
            Step::Numeric(step) => step.names(&field.name).join(", "),
            Step::OneHot => format!("one indicator each for {}", field.levels.names().join(", ")),
            Step::Code if field.kind == Kind::Boolean => "true or false".to_owned(),
            Step::Code => format!("one of {} words", field.levels.len()),
            Step::Text(step) => step.description(),
            Step::Sparse => format!("{} numbers", field.width),
        };
        let curve = origins.iter().position(|k| model.features.schema.fields[*k] == *field);
        let becomes = match curve.and_then(|feature| curves.get(feature)) {
            Some(curve) if *curve != field.kind.to_string() => format!("{becomes}: {curve}"),
            _ => becomes,
        };
        rows.add_row([field.name.clone(), field.kind.to_string(), becomes]);
    }
    writeln!(out, "{rows}")?;
    if let Some(map) = &model.features.map {
        writeln!(out, "map: {}", map.description())?;
    }
    if let Some(summary) = summary {
        writeln!(out, "\n{summary}\n")?;
    } else if let Some(additive) = able.linear_model().filter(|_| tells(&model)) {
        let terms = additive.terms();
        let mut rows = table(&["term", "coefficient"]);
        rows.add_row(["(intercept)".to_owned(), short(terms.intercept)]);
        let mut shown: Vec<(&String, f64)> =
            names.iter().zip(terms.coefficients.iter().copied()).collect();
        let rest = shown.len().saturating_sub(MOST_TERMS);
        if rest > 0 {
            shown.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
            shown.truncate(MOST_TERMS);
        }
        for (name, b) in shown {
            rows.add_row([name.clone(), short(b)]);
        }
        if rest > 0 {
            rows.add_row([format!("{rest} smaller ones"), String::new()]);
        }
        writeln!(out, "\n{rows}\n")?;
    }
    if let Some(rule) = &model.decision {
        writeln!(out, "decides:")?;
        for line in super::decide::told(rule, &classes) {
            writeln!(out, "  {line}")?;
        }
    }
    if let Some(known) = &model.densities {
        let threshold = known.threshold(0.01)?;
        writeln!(out, "outliers: 1 % of the rows have log p(row) below {}", short(threshold))?;
    }
    writeln!(out, "certificate: {certificate}")?;
    if let Some(plan) = &certificate.plan {
        writeln!(out, "plan: {plan}")?;
    }
    let keeps = if model.stats.is_some() {
        "summaries: it can be merged and can forget"
    } else {
        "no summaries"
    };
    let rows = match (readable, inside) {
        (true, _) => {
            "they tell which codes came together, so training rows can be read out of them"
        }
        (false, true) => {
            "some training rows are inside, as prepared: the kernel is asked with them"
        }
        (false, false) => "no training rows are inside",
    };
    writeln!(out, "keeps {keeps}; {rows}")?;
    Ok(())
}

/// Whether rows learned from are kept, as support vectors or as the centers of a map.
fn keeps_rows(model: &Trained) -> bool {
    let centers = model.features.map.as_ref().map(|map| &map.map);
    model.fitted.model.fields().get("expansion").is_some()
        || matches!(centers, Some(FittedFeatureMap::Nystroem(_)))
}

/// Whether features say something by themselves.
fn tells(model: &Trained) -> bool {
    model.features.map.as_ref().is_none_or(|map| map.is_interpretable())
}

/// What the likelihood of each feature is, where the model has one a feature.
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
