//! The chain rule and the law of total probability, step by step.

use super::{Event, JointTable};
use crate::error::Result;
use crate::probability::Fraction;
use serde::Serialize;

/// `P(A₁, A₂, …) = P(A₁) P(A₂ | A₁) …`
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chain {
    /// One factor per condition of the event.
    pub steps: Vec<ChainStep>,
    /// Their product, computed from the table directly.
    pub probability: Fraction,
}

/// A factor of the chain rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChainStep {
    /// The formula: `P(weather=rainy | temp=hot)`.
    pub formula: String,
    /// Its value.
    pub probability: Fraction,
}

/// `P(A) = Σ P(A | B = b) P(B = b)`
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Total {
    /// One term per value of the other variable with positive probability.
    pub terms: Vec<TotalTerm>,
    /// Their sum, computed from the table directly.
    pub probability: Fraction,
}

/// A term of the law of total probability.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TotalTerm {
    /// The value `b`.
    pub value: String,
    /// `P(A | B = b)`.
    pub conditional: Fraction,
    /// `P(B = b)`.
    pub weight: Fraction,
}

impl JointTable {
    /// The chain rule for an event, in the order of its conditions. It ends at a factor of zero.
    ///
    /// # Errors
    /// If the event has a variable or value that the table does not have.
    pub fn chain_rule(&self, event: &Event) -> Result<Chain> {
        let mut steps = Vec::new();
        let mut so_far = Event::certain();
        for condition in event.conditions() {
            let part = Event::certain().with(condition.clone());
            let probability = self.conditional(&part, &so_far)?;
            let formula = match so_far.is_certain() {
                true => format!("P({part})"),
                false => format!("P({part} | {so_far})"),
            };
            steps.push(ChainStep { formula, probability });
            so_far = so_far.and(&part);
            if probability.value() == 0.0 {
                break;
            }
        }
        Ok(Chain { steps, probability: self.probability(event)? })
    }

    /// The law of total probability: an event, by the values of a variable.
    ///
    /// # Errors
    /// If the table does not have the variable or the event.
    pub fn total_probability(&self, event: &Event, by: &str) -> Result<Total> {
        let mut terms = Vec::new();
        for value in &self.variable(by)?.values {
            let case = Event::is(by, value);
            let weight = self.probability(&case)?;
            if weight.value() > 0.0 {
                let conditional = self.conditional(event, &case)?;
                terms.push(TotalTerm { value: value.clone(), conditional, weight });
            }
        }
        Ok(Total { terms, probability: self.probability(event)? })
    }
}
