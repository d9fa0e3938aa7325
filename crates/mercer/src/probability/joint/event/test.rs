//! The membership test of a cell in an event.

use super::super::JointTable;
use super::{Condition, Event, Relation, Sum};
use crate::error::Result;

/// Numbers this close, relative to the larger one, are equal: sums of decimal values are rounded.
const EQUAL: f64 = 1e-12;

/// A condition with the names replaced by the codes of a table.
pub(in super::super) enum Test {
    OneOf {
        index: usize,
        codes: Vec<usize>,
    },
    /// The values of two variables have the same name: `equal[a]` is the code of the second.
    Same {
        indices: [usize; 2],
        equal: Vec<Option<usize>>,
    },
    Compare {
        left: Value,
        relation: Relation,
        right: Value,
    },
    Any(Vec<Vec<Test>>),
    Not(Vec<Test>),
}

/// A sum with the values of its variables.
pub(in super::super) struct Value {
    constant: f64,
    terms: Vec<(f64, usize, Vec<f64>)>,
}

impl Test {
    /// The tests of an event, all of which a cell must pass.
    ///
    /// # Errors
    /// If the event has a variable or value that the table does not have, or compares values that are not numeric.
    pub(in super::super) fn of(event: &Event, table: &JointTable) -> Result<Vec<Test>> {
        event.conditions().iter().map(|condition| Test::condition(condition, table)).collect()
    }

    fn condition(condition: &Condition, table: &JointTable) -> Result<Test> {
        Ok(match condition {
            Condition::OneOf { variable, values } => Test::one_of(variable, values, table)?,
            Condition::Compare { left, relation, right } => Test::Compare {
                left: Value::of(left, table)?,
                relation: *relation,
                right: Value::of(right, table)?,
            },
            Condition::Any(events) => {
                Test::Any(events.iter().map(|e| Test::of(e, table)).collect::<Result<_>>()?)
            }
            Condition::Not(event) => Test::Not(Test::of(event, table)?),
        })
    }

    fn one_of(variable: &str, values: &[String], table: &JointTable) -> Result<Test> {
        let names: Vec<String> = table.variables.iter().map(|v| v.name.clone()).collect();
        let Some(index) = names.iter().position(|name| name == variable) else {
            // Not a variable, so it has to be a sum of some: `die1+die2=2|12`.
            let left = || Value::of(variable, table);
            let equal = |value: &String| {
                let (left, right) = (left()?, Value::of(value, table)?);
                Ok(vec![Test::Compare { left, relation: Relation::Equal, right }])
            };
            left()?;
            return Ok(Test::Any(values.iter().map(equal).collect::<Result<_>>()?));
        };
        let known = &table.variables[index].values;
        if let [value] = values
            && !known.contains(value)
        {
            if let Some(other) = names.iter().position(|name| name == value) {
                let others = &table.variables[other].values;
                let equal = known.iter().map(|v| others.iter().position(|o| o == v)).collect();
                return Ok(Test::Same { indices: [index, other], equal });
            }
            // `die1 = die2 + 1`.
            if value.contains(['+', '-', '*'])
                && let Ok(right) = Value::of(value, table)
                && !right.terms.is_empty()
            {
                let left = Value::of(variable, table)?;
                return Ok(Test::Compare { left, relation: Relation::Equal, right });
            }
        }
        let codes = values.iter().map(|value| table.code(index, value)).collect::<Result<_>>()?;
        Ok(Test::OneOf { index, codes })
    }

    /// Whether a cell with these codes passes.
    pub(in super::super) fn passes(&self, codes: &[usize]) -> bool {
        match self {
            Test::OneOf { index, codes: allowed } => allowed.contains(&codes[*index]),
            Test::Same { indices: [a, b], equal } => equal[codes[*a]] == Some(codes[*b]),
            Test::Compare { left, relation, right } => {
                compare(left.at(codes), *relation, right.at(codes))
            }
            Test::Any(events) => events.iter().any(|tests| tests.iter().all(|t| t.passes(codes))),
            Test::Not(tests) => !tests.iter().all(|t| t.passes(codes)),
        }
    }
}

impl Value {
    fn of(text: &str, table: &JointTable) -> Result<Value> {
        let names: Vec<String> = table.variables.iter().map(|v| v.name.clone()).collect();
        let sum = Sum::parse(text, &names)?;
        let values = |(coefficient, index): &(f64, usize)| {
            Ok((*coefficient, *index, table.numeric_values(&names[*index])?))
        };
        let terms = sum.terms.iter().map(values).collect::<Result<_>>()?;
        Ok(Value { constant: sum.constant, terms })
    }

    fn at(&self, codes: &[usize]) -> f64 {
        let value =
            |(factor, index, values): &(f64, usize, Vec<f64>)| factor * values[codes[*index]];
        self.constant + self.terms.iter().map(value).sum::<f64>()
    }
}

fn compare(a: f64, relation: Relation, b: f64) -> bool {
    let equal = (a - b).abs() <= EQUAL * a.abs().max(b.abs());
    match relation {
        Relation::Equal => equal,
        Relation::Less => a < b && !equal,
        Relation::AtMost => a < b || equal,
        Relation::Greater => a > b && !equal,
        Relation::AtLeast => a > b || equal,
    }
}
