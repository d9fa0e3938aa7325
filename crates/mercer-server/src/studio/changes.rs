//! What a change of one column does to the prediction of a row: the prediction along the column, and the smallest change
//! that leads to another class.

use super::run::Fit;
use super::why::{MAX_COLUMNS, is_numeric, options, token_spans};
use crate::error::ApiResult;
use mercer::data::{Column, Field, Kind, Table, Values};
use mercer::predict::{Predicted, Predictions};
use serde_json::{Value, json};

/// Values of a column along which the prediction is drawn.
const N_CURVE_POINTS: usize = 41;
/// Values of a column among which a change of the class is searched.
const N_SCAN_POINTS: usize = 81;
/// Halvings of the interval in which the class changes.
const N_BISECTIONS: usize = 40;
/// Levels of a column that are tried.
const MAX_LEVELS: usize = 60;
/// Tokens that are struck together.
const MAX_STRIKES: usize = 40;
/// Significant digits of a change; more are added until the class changes.
const MIN_DIGITS: i32 = 2;
const MAX_DIGITS: i32 = 9;

/// The columns that are changed.
fn columns(fit: &Fit) -> impl Iterator<Item = &Field> {
    fit.trained.features.schema.fields.iter().take(MAX_COLUMNS)
}

/// The range of a numeric column in the table.
fn range(fit: &Fit, field: &Field) -> Option<(f64, f64)> {
    let profile = fit.data.profile.column(&field.name)?;
    profile.min.zip(profile.max).filter(|(low, high)| high > low)
}

/// Copies of the only row of a table with one cell changed in each: the column and its values in turn.
fn variants(table: &Table, changes: &[(&str, Values)]) -> ApiResult<Table> {
    let n: usize = changes.iter().map(|(_, values)| values.len()).sum();
    let mut columns = table.rows_at(&vec![0; n])?.into_columns();
    let mut first = 0;
    for (name, values) in changes {
        if let Some(column) = columns.iter_mut().find(|column| column.name == *name) {
            put(column, values, first);
        }
        first += values.len();
    }
    Ok(Table::new(columns)?)
}

/// Overwrites cells from an index on.
fn put(column: &mut Column, values: &Values, first: usize) {
    match (&mut column.values, values) {
        (Values::Numeric(all), Values::Numeric(new)) => {
            all[first..first + new.len()].copy_from_slice(new);
        }
        (Values::Categorical { codes, .. }, Values::Categorical { codes: new, .. }) => {
            codes[first..first + new.len()].copy_from_slice(new);
        }
        (Values::Boolean(all), Values::Boolean(new)) => {
            all[first..first + new.len()].copy_from_slice(new);
        }
        (Values::Text(all), Values::Text(new)) => {
            all[first..first + new.len()].clone_from_slice(new);
        }
        _ => {}
    }
}

/// The other values of a column that has few of them.
fn alternatives(table: &Table, field: &Field) -> Option<Values> {
    match &table.column(&field.name)?.values {
        Values::Categorical { codes, levels } => {
            let now = codes.first().copied();
            let n = levels.len().min(MAX_LEVELS) as u32;
            let codes: Vec<u32> = (0..n).filter(|code| Some(*code) != now).collect();
            Some(Values::Categorical { codes, levels: levels.clone() })
        }
        Values::Boolean(x) => {
            let now = x.first().copied().flatten();
            let others = [false, true].into_iter().filter(|other| Some(*other) != now);
            Some(Values::Boolean(others.map(Some).collect()))
        }
        _ => None,
    }
    .filter(|values| !values.is_empty())
}

fn spaced((low, high): (f64, f64), n: usize, integers: bool) -> Vec<f64> {
    if integers && high - low < n as f64 {
        return (0..=(high - low) as usize).map(|k| low + k as f64).collect();
    }
    let step = (high - low) / (n - 1) as f64;
    let at = |k: usize| if k + 1 == n { high } else { low + step * k as f64 };
    let values = (0..n).map(at);
    if integers { values.map(f64::round).collect() } else { values.collect() }
}

/// The predictions along every numeric column: the probability of the class that is predicted now, or the value.
pub(super) fn curves(fit: &Fit, table: &Table) -> ApiResult<Value> {
    let numeric: Vec<(&Field, Vec<f64>)> = columns(fit)
        .filter(|field| is_numeric(field))
        .filter_map(|field| {
            let range = range(fit, field)?;
            let integers = fit.data.profile.column(&field.name)?.integers;
            Some((field, spaced(range, N_CURVE_POINTS, integers)))
        })
        .collect();
    let options = options(fit);
    let now = Predictions::of(&fit.trained, table, &options)?;
    let changes: Vec<(&str, Values)> = numeric
        .iter()
        .map(|(field, values)| (field.name.as_str(), Values::Numeric(values.clone())))
        .collect();
    let all = variants(table, &changes)?;
    let found = match all.n_rows() {
        0 => None,
        _ => Some(Predictions::of(&fit.trained, &all, &options)?),
    };
    let class = match &now.predicted {
        Predicted::Classes(codes) => codes.first().copied().flatten(),
        _ => None,
    };
    let value = |found: &Predictions, i: usize| match (&found.predicted, &found.proba, class) {
        (Predicted::Values(values), _, _) => values[i],
        (_, Some(proba), Some(class)) => proba[[i, class as usize]],
        (Predicted::Classes(codes), None, class) => f64::from(u8::from(codes[i] == class)),
        _ => f64::NAN,
    };
    let mut first = 0;
    let mut curves = Vec::new();
    for (field, values) in &numeric {
        if let Some(found) = &found {
            let points: Vec<(f64, f64)> =
                values.iter().enumerate().map(|(k, x)| (*x, value(found, first + k))).collect();
            curves.push(json!({"column": field.name, "points": points}));
        }
        first += values.len();
    }
    let name = class.map(|class| fit.trained.class_names()[class as usize].clone());
    let measure = match (&name, &now.proba) {
        (Some(name), Some(_)) => format!("P({name})"),
        (Some(name), None) => format!("1 where the class is {name}, else 0,"),
        (None, _) => "the prediction".into(),
    };
    Ok(json!({
        "curves": curves,
        "measure": measure,
        "of": name,
    }))
}

/// A change of one column that changes the class.
struct Change {
    column: String,
    from: String,
    to: String,
    /// The new cell.
    cell: Value,
    class: u32,
    /// The size in standard deviations of the column; `None` for categories.
    size: Option<f64>,
}

/// The smallest changes of single columns that change the class, the smallest first.
pub(super) fn smallest(fit: &Fit, table: &Table) -> ApiResult<Value> {
    let classes = fit.trained.class_names();
    let Some(now) = classes_of(fit, table)?.and_then(|codes| codes.first().copied()) else {
        return Ok(json!({"changes": [], "is_classifier": false}));
    };
    let mut changes = numeric_changes(fit, table, now)?;
    changes.sort_by(|a, b| {
        a.size.unwrap_or(f64::INFINITY).total_cmp(&b.size.unwrap_or(f64::INFINITY))
    });
    changes.extend(category_changes(fit, table, now)?);
    let described: Vec<Value> = changes
        .iter()
        .map(|change| {
            json!({
                "column": change.column,
                "from": change.from,
                "to": change.to,
                "cell": change.cell,
                "class": classes[change.class as usize],
                "size": change.size,
            })
        })
        .collect();
    Ok(json!({
        "changes": described,
        "strikes": fewest_strikes(fit, table, now)?,
        "is_classifier": true,
        "class": classes[now as usize],
        "n_columns": columns(fit).filter(|field| field.kind != Kind::Text).count(),
    }))
}

/// How many of the strongest tokens of a text must be struck until the class changes; `Value::Null` if the row has no text,
/// the model does not explain tokens, or no number of them suffices.
fn fewest_strikes(fit: &Fit, table: &Table, now: u32) -> ApiResult<Value> {
    let Ok(Some(spans)) = token_spans(fit, table) else { return Ok(Value::Null) };
    let text_field = fit.trained.features.schema.fields.iter().find(|f| f.kind == Kind::Text);
    let Some(field) = text_field else { return Ok(Value::Null) };
    let strength = |k: usize| spans[k].log_odds.unwrap_or(0.0);
    let mut strongest: Vec<usize> = (0..spans.len()).filter(|k| strength(*k) > 0.0).collect();
    strongest.sort_by(|a, b| strength(*b).total_cmp(&strength(*a)));
    strongest.truncate(MAX_STRIKES);
    let without = |struck: &[usize]| -> String {
        let kept = spans.iter().enumerate().filter(|(k, _)| !struck.contains(k));
        kept.map(|(_, span)| span.text.as_str()).collect()
    };
    let texts: Vec<Option<String>> =
        (1..=strongest.len()).map(|n| Some(without(&strongest[..n]))).collect();
    let changes = [(field.name.as_str(), Values::Text(texts))];
    let codes = classes_of(fit, &variants(table, &changes)?)?.unwrap_or_default();
    let Some(first) = codes.iter().position(|code| *code != now) else { return Ok(Value::Null) };
    let struck: Vec<&str> = strongest[..=first].iter().map(|k| spans[*k].text.as_str()).collect();
    Ok(json!({
        "column": field.name,
        "tokens": struck,
        "class": fit.trained.class_names()[codes[first] as usize],
    }))
}

/// The predicted classes; `None` for a regressor. A rejected row has none either.
fn classes_of(fit: &Fit, table: &Table) -> ApiResult<Option<Vec<u32>>> {
    if table.n_rows() == 0 {
        return Ok(Some(Vec::new()));
    }
    let found = Predictions::of(&fit.trained, table, &options(fit))?;
    Ok(match found.predicted {
        Predicted::Classes(codes) => codes.into_iter().collect(),
        _ => None,
    })
}

/// An interval of a column in which the class changes: at `inside` it is that of now.
struct Bracket<'f> {
    field: &'f Field,
    from: f64,
    inside: f64,
    outside: f64,
    deviation: f64,
    integers: bool,
}

fn numeric_changes(fit: &Fit, table: &Table, now: u32) -> ApiResult<Vec<Change>> {
    let mut brackets = scan(fit, table, now)?;
    for _ in 0..N_BISECTIONS {
        let middles: Vec<f64> = brackets.iter().map(|b| 0.5 * (b.inside + b.outside)).collect();
        let codes = codes_at(fit, table, &brackets, &middles)?;
        for ((bracket, middle), code) in brackets.iter_mut().zip(middles).zip(codes) {
            match code == now {
                true => bracket.inside = middle,
                false => bracket.outside = middle,
            }
        }
    }
    // The shortest decimal that is beyond the boundary, tried with more and more digits.
    let mut found: Vec<Option<(f64, u32)>> = vec![None; brackets.len()];
    for digits in MIN_DIGITS..=MAX_DIGITS {
        let tried: Vec<f64> = brackets.iter().map(|b| rounded_outward(b, digits)).collect();
        let codes = codes_at(fit, table, &brackets, &tried)?;
        for ((found, tried), code) in found.iter_mut().zip(tried).zip(codes) {
            if found.is_none() && code != now {
                *found = Some((tried, code));
            }
        }
    }
    let changes = brackets.iter().zip(found).filter_map(|(bracket, found)| {
        let (to, class) = found?;
        let notation = &fit.data.profile.column(&bracket.field.name)?.notation;
        Some(Change {
            column: bracket.field.name.clone(),
            from: notation.format(bracket.from),
            to: notation.format(to),
            cell: json!(to),
            class,
            size: Some((to - bracket.from).abs() / bracket.deviation),
        })
    });
    // The nearer of the two directions of a column.
    let mut nearest: Vec<Change> = Vec::new();
    for change in changes {
        match nearest.iter_mut().find(|known| known.column == change.column) {
            Some(known) if known.size <= change.size => {}
            Some(known) => *known = change,
            None => nearest.push(change),
        }
    }
    Ok(nearest)
}

/// The next value away from now that has few digits, relative to the size of the change.
fn rounded_outward(bracket: &Bracket<'_>, digits: i32) -> f64 {
    if bracket.integers {
        return match bracket.outside > bracket.from {
            true => bracket.outside.ceil(),
            false => bracket.outside.floor(),
        };
    }
    let size = (bracket.outside - bracket.from).abs().max(f64::MIN_POSITIVE);
    let unit = 10f64.powi(size.log10().floor() as i32 + 1 - digits);
    let steps = bracket.outside / unit;
    let value = if bracket.outside > bracket.from { steps.ceil() } else { steps.floor() } * unit;
    // The product has rounding errors in its last digits; the decimal has not.
    let decimals = usize::try_from((-unit.log10().floor()) as i64).unwrap_or(0);
    format!("{value:.decimals$}").parse().unwrap_or(value)
}

/// The classes of the row with one column of each bracket at a value.
fn codes_at(
    fit: &Fit,
    table: &Table,
    brackets: &[Bracket<'_>],
    values: &[f64],
) -> ApiResult<Vec<u32>> {
    let changes: Vec<(&str, Values)> = brackets
        .iter()
        .zip(values)
        .map(|(bracket, x)| (bracket.field.name.as_str(), Values::Numeric(vec![*x])))
        .collect();
    Ok(classes_of(fit, &variants(table, &changes)?)?.unwrap_or_default())
}

/// The nearest intervals of every column, in both directions, in which the class changes.
fn scan<'f>(fit: &'f Fit, table: &Table, now: u32) -> ApiResult<Vec<Bracket<'f>>> {
    let mut scanned: Vec<(&Field, f64, Vec<f64>, bool)> = Vec::new();
    for field in columns(fit).filter(|field| is_numeric(field)) {
        let values = table.column(&field.name).map(|column| &column.values);
        let (Some(range), Some(Values::Numeric(x)), Some(profile)) =
            (range(fit, field), values, fit.data.profile.column(&field.name))
        else {
            continue;
        };
        // A missing value has no distance to others.
        let Some(from) = x.first().copied().filter(|x| x.is_finite()) else { continue };
        let values = spaced(range, N_SCAN_POINTS, profile.integers);
        scanned.push((field, from, values, profile.integers));
    }
    let changes: Vec<(&str, Values)> = scanned
        .iter()
        .map(|(field, _, values, _)| (field.name.as_str(), Values::Numeric(values.clone())))
        .collect();
    let codes = classes_of(fit, &variants(table, &changes)?)?.unwrap_or_default();
    let (mut brackets, mut first) = (Vec::new(), 0);
    for (field, from, values, integers) in scanned {
        let codes = &codes[first..first + values.len()];
        first += values.len();
        let Some(deviation) = deviation(fit, field) else { continue };
        let above = values.iter().zip(codes).filter(|(x, _)| **x > from);
        let below = values.iter().zip(codes).rev().filter(|(x, _)| **x < from);
        let sides: [Vec<(&f64, &u32)>; 2] = [above.collect(), below.collect()];
        for side in sides {
            let mut inside = from;
            for (x, code) in side {
                if *code != now {
                    let outside = *x;
                    brackets.push(Bracket { field, from, inside, outside, deviation, integers });
                    break;
                }
                inside = *x;
            }
        }
    }
    Ok(brackets)
}

/// The standard deviation of a column.
fn deviation(fit: &Fit, field: &Field) -> Option<f64> {
    let Values::Numeric(x) = &fit.data.rows.table.column(&field.name)?.values else { return None };
    let x = x.iter().copied().filter(|x| x.is_finite());
    let (n, sum) = x.clone().fold((0.0, 0.0), |(n, sum), x| (n + 1.0, sum + x));
    let variance = x.map(|x| (x - sum / n).powi(2)).sum::<f64>() / n;
    Some(variance.sqrt()).filter(|deviation| *deviation > 0.0)
}

fn category_changes(fit: &Fit, table: &Table, now: u32) -> ApiResult<Vec<Change>> {
    let tried: Vec<(&Field, Values)> = columns(fit)
        .filter(|field| matches!(field.kind, Kind::Categorical | Kind::Boolean))
        .filter_map(|field| Some((field, alternatives(table, field)?)))
        .collect();
    let changes: Vec<(&str, Values)> =
        tried.iter().map(|(field, values)| (field.name.as_str(), values.clone())).collect();
    let codes = classes_of(fit, &variants(table, &changes)?)?.unwrap_or_default();
    let (mut found, mut first) = (Vec::new(), 0);
    for (field, values) in &tried {
        let codes = &codes[first..first + values.len()];
        first += values.len();
        for (k, class) in codes.iter().enumerate().filter(|(_, class)| **class != now) {
            let cell = |values: &Values, i: usize| values.cell(i);
            let from = table.column(&field.name).and_then(|column| cell(&column.values, 0));
            let to = cell(values, k).unwrap_or_default();
            found.push(Change {
                column: field.name.clone(),
                from: from.unwrap_or_else(|| "missing".into()),
                cell: match values {
                    Values::Boolean(x) => json!(x[k]),
                    _ => json!(to),
                },
                to,
                class: *class,
                size: None,
            });
        }
    }
    Ok(found)
}
