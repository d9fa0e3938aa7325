//! The joint table of two variables: marginal and conditional probabilities as fractions of counts.

use super::plane::read;
use crate::error::{ApiError, ApiResult};
use mercer::probability::{Event, JointTable, Variable};
use serde::Deserialize;
use serde_json::{Value, json};

/// The values of a variable.
const MAX_VALUES: usize = 12;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableMessage {
    /// The two variables.
    variables: [Values; 2],
    /// The counts, row by row: the second variable varies fastest.
    counts: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Values {
    name: String,
    values: Vec<String>,
}

/// Joint, marginal and conditional probabilities of a table of counts.
///
/// # Errors
/// If the message is not understood, or the counts are not those of a table.
pub(crate) fn joint_table(message: Value) -> ApiResult<Value> {
    let TableMessage { variables, counts } = read(message)?;
    if let Some(long) = variables.iter().find(|variable| variable.values.len() > MAX_VALUES) {
        let found = long.values.len();
        return Err(ApiError::bad(format!("values: found {found}, expected at most {MAX_VALUES}")));
    }
    let of = |Values { name, values }| Variable::new(name, values);
    let table = JointTable::from_counts(variables.into_iter().map(of).collect(), counts)?;
    let [a, b] = table.variables() else { return Err(ApiError::internal()) };
    // P(a | b) has one row per value of a, P(b | a) too; a condition that never occurs has no probabilities.
    let conditional = |event: Event, given: Event| match table.conditional(&event, &given) {
        Ok(fraction) => json!({"text": fraction.to_string(), "value": fraction.value()}),
        Err(_) => Value::Null,
    };
    let is = |variable: &Variable, k: usize| Event::is(&variable.name, &variable.values[k]);
    let cells = || (0..a.values.len()).flat_map(|i| (0..b.values.len()).map(move |j| (i, j)));
    let shown = |table: &JointTable| -> Vec<Value> {
        let cell = |k: usize| {
            let fraction = table.probability_of_cell(k);
            json!({"text": fraction.to_string(), "value": fraction.value()})
        };
        (0..table.cells().len()).map(cell).collect()
    };
    let independence = table.test_independence(&a.name, &b.name, &[])?;
    Ok(json!({
        "total": table.total(),
        "joint": shown(&table),
        "marginals": [shown(&table.marginal(&[&a.name])?), shown(&table.marginal(&[&b.name])?)],
        "first_given_second":
            cells().map(|(i, j)| conditional(is(a, i), is(b, j))).collect::<Vec<_>>(),
        "second_given_first":
            cells().map(|(i, j)| conditional(is(b, j), is(a, i))).collect::<Vec<_>>(),
        "independent": table.independent(&a.name, &b.name, &[])?,
        "test": independence,
        "parameters": table.pair_parameters(&a.name, &b.name, &[])?,
    }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn message(counts: &[f64]) -> Value {
        json!({
            "variables": [
                {"name": "temp", "values": ["hot", "cold"]},
                {"name": "weather", "values": ["sunny", "cloudy", "rainy"]},
            ],
            "counts": counts,
        })
    }

    #[test]
    fn the_weather_table_of_the_lecture() {
        let answer = joint_table(message(&[150.0, 40.0, 5.0, 50.0, 60.0, 60.0])).unwrap();

        assert_eq!(answer["marginals"][0][0]["text"], "195/365 = 0.5342");
        assert_eq!(answer["marginals"][1][0]["text"], "200/365 = 0.5479");
        assert_eq!(answer["joint"][2]["text"], "5/365 = 0.0137");
        // P(hot | rainy) = 5/65, P(rainy | hot) = 5/195.
        assert_eq!(answer["first_given_second"][2]["text"], "5/65 = 0.07692");
        assert_eq!(answer["second_given_first"][2]["text"], "5/195 = 0.02564");
        assert_eq!(answer["independent"], false);
        assert_eq!(answer["parameters"], json!({"joint": 5, "independent": 3}));
    }

    #[test]
    fn a_condition_that_never_occurs_has_no_probabilities() {
        let answer = joint_table(message(&[1.0, 1.0, 0.0, 2.0, 2.0, 0.0])).unwrap();

        assert_eq!(answer["first_given_second"][2], Value::Null);
        assert_eq!(answer["independent"], true);
    }

    #[test]
    fn bad_tables_are_refused() {
        for bad in [
            json!({}),
            message(&[1.0]),
            message(&[0.0; 6]),
            message(&[-1.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
            json!({"variables": [{"name": "a", "values": []}, {"name": "a", "values": ["x"]}], "counts": []}),
        ] {
            assert!(joint_table(bad.clone()).is_err(), "{bad}");
        }
        let many: Vec<String> = (0..1000).map(|i| i.to_string()).collect();
        let wide = json!({
            "variables": [{"name": "a", "values": many}, {"name": "b", "values": ["x"]}],
            "counts": [1.0],
        });
        assert!(joint_table(wide).unwrap_err().message.contains("at most 12"));
    }
}
