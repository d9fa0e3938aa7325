//! Why a row is predicted as it is: contributions that sum to the score, predictions along a column, and the tokens of
//! a text.

use super::Message;
use super::changes;
use super::code::Snippets;
use super::run::Fit;
use super::session::Session;
use crate::error::{ApiError, ApiResult};
use mercer::data::{Field, Kind, Label, Levels, MISSING, Table, Values};
use mercer::explain::{Explanation, ScoreExplanation, SupportExplanation, TermExplanation, short};
use mercer::predict::{
    PredictOptions, Predicted, Predictions, RowExplanation, RowToExplain, check_explainable,
};
use mercer::text::{TextSpan, highlight};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Columns with a control.
pub(super) const MAX_COLUMNS: usize = 40;
/// Contributions that are listed one by one.
const MAX_CONTRIBUTIONS: usize = 16;
/// Levels of a column that can be chosen.
const MAX_LEVELS: usize = 200;
/// Coverage of prediction intervals.
const COVERAGE: f64 = 0.9;

/// A row of the table with changed cells.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// The row, counted from zero.
    #[serde(default)]
    row: usize,
    /// The changed cells: numbers, texts, booleans, or `null` for a missing value.
    #[serde(default)]
    cells: Map<String, Value>,
}

impl Asked {
    /// The row as a table with the columns of the model.
    pub fn table(&self, fit: &Fit) -> ApiResult<Table> {
        let schema = fit.trained.features.input_schema(None);
        let all = &fit.data.rows.table;
        if self.row >= all.n_rows() {
            let n = all.n_rows();
            return Err(ApiError::bad(format!("row {}: the table has {n} rows", self.row + 1)));
        }
        let mut columns = all.select(&schema)?.rows_at(&[self.row])?.into_columns();
        for (name, value) in &self.cells {
            let column = columns.iter_mut().find(|column| column.name == *name);
            let column =
                column.ok_or_else(|| ApiError::bad(format!("the model has no column `{name}`")))?;
            set_cell(&mut column.values, 0, name, value)?;
        }
        Ok(Table::new(columns)?)
    }
}

/// Changes a cell.
pub(super) fn set_cell(values: &mut Values, i: usize, name: &str, to: &Value) -> ApiResult<()> {
    let wrong = |expected: &str| {
        let shown = to.to_string();
        Err(ApiError::bad(format!("column `{name}`: found {shown}, expected {expected}")))
    };
    match (values, to) {
        (Values::Numeric(x), Value::Null) => x[i] = f64::NAN,
        (Values::Numeric(x), Value::Number(to)) => x[i] = to.as_f64().unwrap_or(f64::NAN),
        (Values::Numeric(_), _) => return wrong("a number"),
        (Values::Categorical { codes, .. }, Value::Null) => codes[i] = MISSING,
        (Values::Categorical { codes, levels }, Value::String(to)) => codes[i] = levels.code(to),
        (Values::Categorical { .. }, _) => return wrong("a category"),
        (Values::Boolean(x), Value::Null) => x[i] = None,
        (Values::Boolean(x), Value::Bool(to)) => x[i] = Some(*to),
        (Values::Boolean(_), _) => return wrong("true or false"),
        (Values::Text(x), Value::Null) => x[i] = None,
        (Values::Text(x), Value::String(to)) => x[i] = Some(to.clone()),
        (Values::Text(_), _) => return wrong("a text"),
        (Values::TokenCounts(_) | Values::Sparse(_), _) => {
            return wrong("a table whose columns are not sparse");
        }
    }
    Ok(())
}

/// `why`: the prediction of a row, its explanation, and the controls of its columns.
pub(super) fn explain(session: &Session, message: Message) -> ApiResult<Value> {
    let asked: Asked = message.parse()?;
    let fit = session.fit()?;
    let table = asked.table(&fit)?;
    let explanation = explanation(&fit, &table);
    let order = explanation.as_ref().map(|e| e.columns.clone()).unwrap_or_default();
    let (texts, explained) = match explanation {
        Ok(found) => (found.texts, found.value),
        Err(error) => (Vec::new(), json!({"problem": error.message})),
    };
    let number = fit.data.row_number(asked.row);
    Ok(json!({
        "model": fit.name,
        "row": asked.row,
        "number": number,
        "n_rows": fit.data.rows.table.n_rows(),
        "is_sample": fit.data.rows.is_partial,
        "target": fit.data.target()?.name,
        "truth": truth(&fit, asked.row),
        "prediction": prediction(&fit, &table)?,
        "explanation": explained,
        "texts": texts,
        "columns": controls(&fit, &table, &order),
        "n_columns": fit.trained.features.schema.fields.len(),
        "code": Snippets::of_row(&fit.data, &fit.candidate, number),
    }))
}

/// The target of a row, as text.
fn truth(fit: &Fit, row: usize) -> Option<String> {
    let target = fit.data.target.as_ref()?;
    let column = fit.data.rows.table.column(&target.name)?;
    super::shown_rows::cell(&fit.data, column, row)
}

/// What to compute of a row.
pub(super) fn options(fit: &Fit) -> PredictOptions {
    let able = fit.trained.fitted.model.as_model();
    PredictOptions {
        proba: able.probabilistic().is_some(),
        interval: (able.regressor().is_some() && fit.trained.conformal.is_some())
            .then_some(COVERAGE),
        ..PredictOptions::default()
    }
}

/// The prediction of the only row of a table.
fn prediction(fit: &Fit, table: &Table) -> ApiResult<Value> {
    let predictions = Predictions::of(&fit.trained, table, &options(fit))?;
    let classes = fit.trained.class_names();
    let class = |code: &Option<u32>| code.map(|c| classes[c as usize].as_str());
    let mut answer = match &predictions.predicted {
        Predicted::Classes(codes) => json!({"class": codes.first().and_then(class)}),
        Predicted::Values(values) => json!({"value": values.first()}),
        _ => return Err(ApiError::bad("the model predicts no target")),
    };
    if let Some(proba) = &predictions.proba {
        let mut all: Vec<(&str, f64)> =
            classes.iter().map(String::as_str).zip(proba.row(0).iter().copied()).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all.truncate(12);
        answer["proba"] = json!(all);
    }
    if let Some((low, high)) = predictions.intervals.as_ref().and_then(|all| all.first()) {
        answer["interval"] = json!({"low": low, "high": high, "coverage": COVERAGE});
    }
    answer["n_unseen"] = json!(predictions.n_unseen);
    answer["n_unknown_tokens"] = json!(predictions.n_unknown_tokens);
    Ok(answer)
}

/// An explanation for the page.
struct Explained {
    value: Value,
    /// The texts as spans with contributions.
    texts: Vec<Value>,
    /// The columns, those of the largest contributions first.
    columns: Vec<String>,
}

/// One part of a sum.
struct Part {
    name: String,
    value: String,
    contribution: f64,
    /// The number of features that it sums.
    n_features: usize,
}

fn explanation(fit: &Fit, table: &Table) -> ApiResult<Explained> {
    check_explainable(&fit.trained)?;
    let row = RowToExplain::new(&fit.trained, table, 0)?;
    let explained = row.explain()?;
    let texts = texts(&explained, &row)?;
    let grouped = |parts: Vec<(String, String, f64)>| by_column(fit, &row, table, parts);
    let found = match &explained {
        RowExplanation::Scores(e) => of_scores(e, &row, grouped),
        RowExplanation::Factors(e) => of_factors(e, &row, grouped),
        RowExplanation::Terms(e) => of_terms(e, &row, grouped, fit)?,
        RowExplanation::SupportVectors(e) => of_support_vectors(e, fit),
    };
    let (value, columns) = found;
    Ok(Explained { value, texts, columns })
}

/// Sums the contributions of the features of each column. Features of a map belong to several columns and stay alone.
fn by_column(
    fit: &Fit,
    row: &RowToExplain<'_>,
    table: &Table,
    parts: Vec<(String, String, f64)>,
) -> Vec<Part> {
    let features = &fit.trained.features;
    let origins = features.origins();
    let fields = &features.schema.fields;
    let mut sums: Vec<Part> = Vec::new();
    for (k, (name, value, contribution)) in parts.into_iter().enumerate() {
        let origin = row.present.get(k).and_then(|j| origins.get(*j));
        let origin = origin.filter(|_| features.map.is_none());
        // The tokens of a text are shown one by one.
        let field = origin.and_then(|f| fields.get(*f)).filter(|field| field.kind != Kind::Text);
        let Some(field) = field else {
            sums.push(Part { name, value, contribution, n_features: 1 });
            continue;
        };
        match sums.iter_mut().find(|part| part.name == field.name) {
            Some(part) => {
                part.contribution += contribution;
                part.n_features += 1;
            }
            None => sums.push(Part {
                name: field.name.clone(),
                value: shown(fit, table, field),
                contribution,
                n_features: 1,
            }),
        }
    }
    sums
}

/// The cell of a column as the file would write it.
fn shown(fit: &Fit, table: &Table, field: &Field) -> String {
    let cell = table.column(&field.name).and_then(|c| super::shown_rows::cell(&fit.data, c, 0));
    cell.map_or_else(|| "missing".into(), |text| super::shown_rows::shortened(&text, 40))
}

/// The sum as JSON, with the smaller parts together, and the names of the parts.
fn sum(
    measure: &str,
    (of, against): (Option<String>, Option<String>),
    (start_name, start): (&str, f64),
    mut parts: Vec<Part>,
    total: Option<f64>,
) -> (Value, Vec<String>) {
    parts.sort_by(|a, b| b.contribution.abs().total_cmp(&a.contribution.abs()));
    let names = parts.iter().map(|part| part.name.clone()).collect();
    let rest: f64 = parts.iter().skip(MAX_CONTRIBUTIONS).map(|part| part.contribution).sum();
    let n_rest = parts.len().saturating_sub(MAX_CONTRIBUTIONS);
    let listed: Vec<Value> = parts
        .iter()
        .take(MAX_CONTRIBUTIONS)
        .map(|part| {
            json!({
                "name": part.name,
                "value": part.value,
                "contribution": part.contribution,
                "n_features": part.n_features,
            })
        })
        .collect();
    let value = json!({
        "measure": measure,
        "of": of,
        "against": against,
        "start": {"name": start_name, "value": start},
        "contributions": listed,
        "rest": (n_rest > 0).then(|| json!({"n": n_rest, "contribution": rest})),
        "total": total,
    });
    (value, names)
}

fn between(classes: &[Label], winner: usize, other: usize) -> (Option<String>, Option<String>) {
    (Some(classes[winner].to_string()), Some(classes[other].to_string()))
}

type Grouped<'g> = &'g dyn Fn(Vec<(String, String, f64)>) -> Vec<Part>;

fn of_scores(
    e: &ScoreExplanation,
    row: &RowToExplain<'_>,
    grouped: impl Fn(Vec<(String, String, f64)>) -> Vec<Part>,
) -> (Value, Vec<String>) {
    let grouped: Grouped<'_> = &grouped;
    let parts = e.terms.iter().map(|term| {
        (term.column.clone(), row.shown_value(&term.column, term.value), term.contribution)
    });
    let start = match e.baseline.is_empty() {
        true => "intercept",
        false => "score of the mean training row",
    };
    let classes = between(&e.classes, e.winner, e.runner_up);
    let start = (start, e.intercept_contribution());
    sum(&e.measure.to_string(), classes, start, grouped(parts.collect()), Some(e.total()))
}

fn of_factors(
    e: &Explanation,
    row: &RowToExplain<'_>,
    grouped: impl Fn(Vec<(String, String, f64)>) -> Vec<Part>,
) -> (Value, Vec<String>) {
    let grouped: Grouped<'_> = &grouped;
    let parts = e.factors.iter().map(|factor| {
        let value = factor.value.map_or_else(
            || "missing: no factor".to_owned(),
            |value| row.shown_value(&factor.column, value),
        );
        let value = factor.level.clone().unwrap_or(value);
        (factor.column.clone(), value, factor.log_odds)
    });
    let classes = between(&e.classes, e.winner, e.runner_up);
    let start = ("prior", e.prior_log_odds());
    sum("log-odds", classes, start, grouped(parts.collect()), e.total_log_odds())
}

fn of_terms(
    e: &TermExplanation,
    row: &RowToExplain<'_>,
    grouped: impl Fn(Vec<(String, String, f64)>) -> Vec<Part>,
    fit: &Fit,
) -> ApiResult<(Value, Vec<String>)> {
    let grouped: Grouped<'_> = &grouped;
    let parts = e.terms.iter().map(|term| {
        (term.column.clone(), row.shown_value(&term.column, term.value), term.contribution)
    });
    let mut parts = grouped(parts.collect());
    let explained: f64 = parts.iter().map(|part| part.contribution).sum();
    let absent = e.prediction - e.average - explained;
    if absent.abs() > 1e-9 * e.prediction.abs().max(1e-300) {
        let (name, value) = ("terms that do not occur".to_owned(), String::new());
        parts.push(Part { name, value, contribution: absent, n_features: 1 });
    }
    let target = fit.data.target()?.name.clone();
    let start = ("mean prediction", e.average);
    Ok(sum("prediction", (Some(target), None), start, parts, Some(e.prediction)))
}

fn of_support_vectors(e: &SupportExplanation, fit: &Fit) -> (Value, Vec<String>) {
    let parts = e.support_vectors.iter().map(|vector| Part {
        name: format!("training row {}", vector.row + 1),
        value: format!("β = {}, K = {}", short(vector.coefficient), short(vector.kernel)),
        contribution: vector.term,
        n_features: 1,
    });
    let (of, against) = match &e.between {
        Some([first, second]) => (Some(first.to_string()), Some(second.to_string())),
        None => (fit.data.target.as_ref().map(|target| target.name.clone()), None),
    };
    let measure = if e.between.is_some() { "decision value" } else { "prediction" };
    let start = ("intercept b", e.intercept);
    let (mut value, _) = sum(measure, (of, against), start, parts.collect(), Some(e.sum));
    value["note"] = json!(format!(
        "f(x) = Σ β K(z, x) + b over the support vectors z, with K(z, x) = {}",
        e.kernel
    ));
    (value, Vec::new())
}

/// The texts of the row as spans, each with its contribution.
fn texts(explained: &RowExplanation, row: &RowToExplain<'_>) -> ApiResult<Vec<Value>> {
    let contributions = match explained {
        RowExplanation::Terms(e) => e.terms.iter().map(|term| term.contribution).collect(),
        other => other.contributions().unwrap_or_default(),
    };
    let contribution = |feature: usize| {
        let k = row.present.binary_search(&feature).ok()?;
        contributions.get(k).copied()
    };
    let mut texts = Vec::new();
    for text in &row.texts {
        let feature = |term: &str| text.step.feature(term);
        let log_odds = |j: usize| contribution(text.first + j);
        let spans = highlight(&text.text, &text.step.analyzer, feature, log_odds)?;
        let (unknown, n_terms) = text.unknown_terms();
        texts.push(json!({"spans": spans, "n_terms": n_terms, "n_unknown": unknown.len()}));
    }
    Ok(texts)
}

/// The columns with their values and ranges, those of the largest contributions first.
fn controls(fit: &Fit, table: &Table, order: &[String]) -> Vec<Value> {
    let mut fields: Vec<&Field> = fit.trained.features.schema.fields.iter().collect();
    let rank =
        |field: &&Field| order.iter().position(|name| *name == field.name).unwrap_or(usize::MAX);
    fields.sort_by_key(rank);
    fields.into_iter().take(MAX_COLUMNS).map(|field| control(fit, table, field)).collect()
}

fn control(fit: &Fit, table: &Table, field: &Field) -> Value {
    let profile = fit.data.profile.column(&field.name);
    let values = table.column(&field.name).map(|column| &column.values);
    let mut answer = json!({
        "name": field.name,
        "kind": field.kind,
        "shown": shown(fit, table, field),
        "has_missing": profile.is_some_and(|profile| profile.n_missing > 0),
    });
    match values {
        Some(Values::Numeric(x)) => {
            answer["value"] = json!(x.first().filter(|x| x.is_finite()));
            answer["min"] = json!(profile.and_then(|profile| profile.min));
            answer["max"] = json!(profile.and_then(|profile| profile.max));
            answer["integers"] = json!(profile.is_some_and(|profile| profile.integers));
        }
        Some(Values::Categorical { codes, levels }) => {
            answer["value"] = json!(codes.first().and_then(|code| levels.name(*code)));
            answer["levels"] = json!(level_names(levels));
        }
        Some(Values::Boolean(x)) => answer["value"] = json!(x.first()),
        Some(Values::Text(x)) => answer["value"] = json!(x.first()),
        _ => {}
    }
    answer
}

fn level_names(levels: &Levels) -> &[String] {
    &levels.names()[..levels.len().min(MAX_LEVELS)]
}

/// `why.curves`: the prediction along every column, the others unchanged.
pub(super) fn curves(session: &Session, message: Message) -> ApiResult<Value> {
    let asked: Asked = message.parse()?;
    let fit = session.fit()?;
    let table = asked.table(&fit)?;
    changes::curves(&fit, &table)
}

/// `why.flip`: the smallest change of one column that changes the class.
pub(super) fn flip(session: &Session, message: Message) -> ApiResult<Value> {
    let asked: Asked = message.parse()?;
    let fit = session.fit()?;
    let table = asked.table(&fit)?;
    changes::smallest(&fit, &table)
}

/// The tokens of the first text of a row with their contributions, and all its spans; `None` without a text.
pub(super) fn token_spans(fit: &Fit, table: &Table) -> ApiResult<Option<Vec<TextSpan>>> {
    check_explainable(&fit.trained)?;
    let row = RowToExplain::new(&fit.trained, table, 0)?;
    let Some(text) = row.texts.first() else { return Ok(None) };
    let contributions = row.explain()?.contributions().unwrap_or_default();
    let log_odds = |j: usize| {
        let k = row.present.binary_search(&(text.first + j)).ok()?;
        contributions.get(k).copied()
    };
    let feature = |term: &str| text.step.feature(term);
    Ok(Some(highlight(&text.text, &text.step.analyzer, feature, log_odds)?))
}

/// Whether a control changes a single number.
pub(super) fn is_numeric(field: &Field) -> bool {
    field.kind == Kind::Numeric
}
