//! The chain rule and the law of total probability, with every step.

use super::{Event, JointTable};
use crate::error::Result;
use crate::probability::Fraction;
use serde::Serialize;

/// `P(A₁, A₂, …) = P(A₁) P(A₂ | A₁) …`
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chain {
    /// One factor a part of the event.
    pub steps: Vec<ChainStep>,
    /// Their product, taken from the table itself.
    pub probability: Fraction,
}

/// A factor of the chain rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChainStep {
    /// `P(weather=rainy | temp=hot)`.
    pub formula: String,
    /// What it is.
    pub probability: Fraction,
}

/// `P(A) = Σ P(A | B = b) P(B = b)`
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Total {
    /// One term a value of the other variable that can happen.
    pub terms: Vec<TotalTerm>,
    /// Their sum, taken from the table itself.
    pub probability: Fraction,
}

/// A term of total probability.
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
    /// The chain rule for an event, in the order of its parts. A part of probability zero ends the chain.
    ///
    /// # Errors
    /// If the event names what the table does not have.
    pub fn chain_rule(&self, event: &Event) -> Result<Chain> {
        let mut steps = Vec::new();
        let mut so_far = Event::certain();
        for (name, values) in event.parts() {
            let part = Event::one_of(name, values.iter().cloned());
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

    /// The law of total probability: an event by the values of a variable.
    ///
    /// # Errors
    /// If the table lacks what is named.
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
