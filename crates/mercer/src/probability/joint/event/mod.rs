//! Events: sets of cells of a joint table, combined by `and`, `or` and `not`.

mod parse;
mod sum;
mod test;

pub(super) use test::Test;

use crate::error::Result;
use std::fmt;
use sum::Sum;

/// A conjunction of conditions on variables. The empty event is certain.
///
/// ```
/// use mercer::probability::Event;
/// let odd = Event::one_of("roll", ["1", "3", "5"]);
/// assert_eq!(odd.to_string(), "roll=1|3|5");
/// assert_eq!(Event::parse("roll=1|3|5")?, odd);
///
/// let event = Event::parse("temp=hot or not (weather=sunny and temp=cold)")?;
/// let parts = Event::is("weather", "sunny").and(&Event::is("temp", "cold"));
/// assert_eq!(event, Event::is("temp", "hot").or(parts.complement()));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event(Vec<Condition>);

/// A condition of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// A variable has one of several values.
    OneOf {
        /// The variable.
        variable: String,
        /// The values.
        values: Vec<String>,
    },
    /// A comparison of two sums of numeric variables: `die1 + die2 <= 4`.
    Compare {
        /// The sum on the left.
        left: String,
        /// The relation of the two.
        relation: Relation,
        /// The sum on the right.
        right: String,
    },
    /// The union: at least one of several events.
    Any(Vec<Event>),
    /// The complement of an event.
    Not(Event),
}

/// The relation of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `=`
    Equal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

impl Relation {
    fn symbol(self) -> &'static str {
        match self {
            Relation::Equal => "=",
            Relation::Less => "<",
            Relation::AtMost => "<=",
            Relation::Greater => ">",
            Relation::AtLeast => ">=",
        }
    }
}

impl Event {
    /// The certain event.
    pub fn certain() -> Event {
        Event::default()
    }

    /// A variable has a value.
    pub fn is(variable: impl Into<String>, value: impl Into<String>) -> Event {
        Event::one_of(variable, [value])
    }

    /// A variable has one of several values.
    pub fn one_of<V: Into<String>>(
        variable: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> Event {
        let values = values.into_iter().map(Into::into).collect();
        Event(vec![Condition::OneOf { variable: variable.into(), values }])
    }

    /// The conjunction of two events.
    #[must_use]
    pub fn and(mut self, other: &Event) -> Event {
        self.0.extend(other.0.iter().cloned());
        self
    }

    /// The conjunction with a condition.
    #[must_use]
    pub fn with(mut self, condition: Condition) -> Event {
        self.0.push(condition);
        self
    }

    /// The union of two events.
    #[must_use]
    pub fn or(self, other: Event) -> Event {
        match <[Condition; 1]>::try_from(self.0) {
            Ok([Condition::Any(mut events)]) => {
                events.push(other);
                Event(vec![Condition::Any(events)])
            }
            Ok([one]) => Event(vec![Condition::Any(vec![Event(vec![one]), other])]),
            Err(several) => Event(vec![Condition::Any(vec![Event(several), other])]),
        }
    }

    /// The complement.
    #[must_use]
    pub fn complement(self) -> Event {
        Event(vec![Condition::Not(self)])
    }

    /// Reads an expression: conditions `VARIABLE=VALUE`, `VARIABLE=VALUE|VALUE` (one of several), `!=`, and for numeric
    /// variables `<`, `<=`, `>`, `>=` and sums (`die1+die2=2`), combined by `and`, `or`, `not` and parentheses. `not`
    /// binds more tightly than `and`, and `and` more tightly than `or`. A name or value that contains one of these is
    /// written in quotes.
    ///
    /// # Errors
    /// If the expression is incomplete.
    pub fn parse(text: &str) -> Result<Event> {
        parse::event(text)
    }

    /// The conditions of the conjunction.
    pub fn conditions(&self) -> &[Condition] {
        &self.0
    }

    /// Whether the event is empty.
    pub fn is_certain(&self) -> bool {
        self.0.is_empty()
    }

    /// The variables that the event mentions, as indices into `names`, in order and without duplicates.
    ///
    /// # Errors
    /// If a variable is not among the names.
    pub fn variables(&self, names: &[String]) -> Result<Vec<usize>> {
        let mut found = Vec::new();
        self.collect_variables(names, &mut found)?;
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    fn collect_variables(&self, names: &[String], found: &mut Vec<usize>) -> Result<()> {
        let sum = |text: &str, found: &mut Vec<usize>| -> Result<()> {
            found.extend(Sum::parse(text, names)?.variables());
            Ok(())
        };
        for condition in &self.0 {
            match condition {
                Condition::OneOf { variable, values } => {
                    sum(variable, found)?;
                    // `die1=die2` compares two variables.
                    let index = |value: &String| names.iter().position(|name| name == value);
                    found.extend(values.iter().filter_map(index));
                }
                Condition::Compare { left, right, .. } => {
                    sum(left, found)?;
                    sum(right, found)?;
                }
                Condition::Any(events) => {
                    events.iter().try_for_each(|e| e.collect_variables(names, found))?;
                }
                Condition::Not(event) => event.collect_variables(names, found)?,
            }
        }
        Ok(())
    }

    /// Conditions joined by a word, with parentheses around unions of a longer conjunction.
    fn joined(&self, by: &str) -> String {
        if self.is_certain() {
            return "certain".into();
        }
        let parts: Vec<String> = (self.0.iter())
            .map(|condition| match condition {
                Condition::Any(_) if self.0.len() > 1 => format!("({condition})"),
                _ => condition.to_string(),
            })
            .collect();
        parts.join(by)
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&if self.is_certain() { String::new() } else { self.joined(", ") })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::OneOf { variable, values } => write!(f, "{variable}={}", values.join("|")),
            Condition::Compare { left, relation, right } => {
                write!(f, "{left}{}{right}", relation.symbol())
            }
            Condition::Any(events) => {
                let parts: Vec<String> = events.iter().map(|e| e.joined(" and ")).collect();
                f.write_str(&parts.join(" or "))
            }
            Condition::Not(event) => match &event.0[..] {
                [Condition::Any(_)] => write!(f, "not ({event})"),
                [_] => write!(f, "not {event}"),
                _ => write!(f, "not ({})", event.joined(" and ")),
            },
        }
    }
}
