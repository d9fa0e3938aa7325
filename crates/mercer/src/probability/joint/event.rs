//! Events: sets of values of some variables.

use crate::error::{Error, Result};
use std::fmt;

/// A conjunction of conditions on variables, each with the values it allows. The empty event is certain.
///
/// ```
/// use mercer::probability::Event;
/// let odd = Event::one_of("roll", ["1", "3", "5"]);
/// assert_eq!(odd.to_string(), "roll=1|3|5");
/// assert_eq!(Event::parse("roll=1|3|5")?, odd);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event(Vec<(String, Vec<String>)>);

impl Event {
    /// The certain event.
    pub fn certain() -> Event {
        Event::default()
    }

    /// A variable has a value.
    pub fn is(variable: impl Into<String>, value: impl Into<String>) -> Event {
        Event(vec![(variable.into(), vec![value.into()])])
    }

    /// A variable has one of several values.
    pub fn one_of<V: Into<String>>(
        variable: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> Event {
        Event(vec![(variable.into(), values.into_iter().map(Into::into).collect())])
    }

    /// The conjunction of two events.
    #[must_use]
    pub fn and(mut self, other: &Event) -> Event {
        self.0.extend(other.0.iter().cloned());
        self
    }

    /// `temp=hot`, or `roll=1|3|5` for one of several values.
    ///
    /// # Errors
    /// If there is no equals sign.
    pub fn parse(words: &str) -> Result<Event> {
        match words.split_once('=') {
            Some((variable, values)) if !variable.is_empty() && !values.is_empty() => {
                Ok(Event::one_of(variable.trim(), values.split('|').map(str::trim)))
            }
            _ => Err(Error::Parameter {
                name: "event".into(),
                found: format!("`{words}`"),
                expected: "VARIABLE=VALUE, or VARIABLE=VALUE|VALUE for one of several".into(),
            }),
        }
    }

    /// The variables and their values.
    pub fn parts(&self) -> &[(String, Vec<String>)] {
        &self.0
    }

    /// Whether the event is empty.
    pub fn is_certain(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> =
            self.0.iter().map(|(name, values)| format!("{name}={}", values.join("|"))).collect();
        f.pad(&parts.join(", "))
    }
}
