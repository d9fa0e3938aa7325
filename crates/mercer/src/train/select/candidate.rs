//! A candidate of the selection: an estimator with its hyperparameters and the preprocessing in front of it.

use crate::catalog::Estimator;
use crate::data::Schema;
use crate::error::Result;
use crate::preprocess::{Features, Recipe};
use crate::train::{ColumnSelection, recipe_for};
use serde_json::Value;

/// An estimator with its hyperparameters and its preprocessing.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The estimator.
    pub estimator: Estimator,
    /// The hyperparameters that differ from the defaults, by name.
    pub settings: Vec<(String, Value)>,
    /// The preprocessing steps that differ from the defaults, as `--prepare` takes them.
    pub steps: Vec<String>,
    /// The feature map, as `--features` takes it.
    pub map: Option<String>,
    /// The kernel width `gamma` as a multiple of `1 / Σ var(x_j)`, to be resolved when the rows are encoded.
    pub(in crate::train) relative_gamma: Option<f64>,
}

impl Candidate {
    /// The estimator with an id and its default parameters.
    ///
    /// # Errors
    /// If there is no such estimator.
    pub fn new(id: &str) -> Result<Candidate> {
        Ok(Candidate {
            estimator: Estimator::from_id(id)?,
            settings: Vec::new(),
            steps: Vec::new(),
            map: None,
            relative_gamma: None,
        })
    }

    /// With a hyperparameter.
    ///
    /// # Errors
    /// If the estimator has no such parameter or refuses the value.
    pub fn set(mut self, name: &str, value: impl Into<Value>) -> Result<Candidate> {
        let value = value.into();
        self.estimator = self.estimator.set(name, value.clone())?;
        self.settings.retain(|(known, _)| known != name);
        self.settings.push((name.to_owned(), value));
        Ok(self)
    }

    /// With a hyperparameter from a string.
    ///
    /// # Errors
    /// If the estimator has no such parameter or refuses the value.
    pub fn set_from_str(self, name: &str, text: &str) -> Result<Candidate> {
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
        self.set(name, value)
    }

    /// With a preprocessing step.
    #[must_use]
    pub fn step(mut self, step: &str) -> Candidate {
        self.steps.push(step.to_owned());
        self
    }

    /// With a feature map.
    #[must_use]
    pub fn mapped(mut self, map: &str) -> Candidate {
        self.map = Some(map.to_owned());
        self
    }

    /// With a kernel width relative to the spread of the encoded rows.
    #[must_use]
    pub(in crate::train) fn relative_gamma(mut self, multiple: f64) -> Candidate {
        self.relative_gamma = Some(multiple);
        self
    }

    /// Resolves the kernel width, given the total variance of the encoded rows. Three digits are kept, so that the
    /// command that reproduces the model is short.
    pub(in crate::train) fn resolve_gamma(&mut self, total_variance: f64) -> Result<()> {
        let Some(multiple) = self.relative_gamma.take() else { return Ok(()) };
        let gamma = multiple / if total_variance > 0.0 { total_variance } else { 1.0 };
        let rounded: f64 = format!("{gamma:.2e}").parse().unwrap_or(gamma);
        *self = self.clone().set("gamma", rounded)?;
        Ok(())
    }

    /// The preprocessing recipe, with the steps that the user asked for after the candidate's own.
    ///
    /// # Errors
    /// If a step is not valid, or the estimator cannot use what the recipe makes.
    pub fn recipe(&self, user_steps: &[String]) -> Result<Recipe> {
        let steps = self.steps.iter().chain(user_steps);
        let mut recipe = steps.into_iter().try_fold(Recipe::default(), |r, step| r.with(step))?;
        if let Some(map) = &self.map {
            recipe = recipe.mapped(map)?;
        }
        recipe_for(&self.estimator, recipe)
    }

    /// The planned features and the recipe that fits them.
    ///
    /// # Errors
    /// As [`Candidate::recipe`] and [`ColumnSelection::plan`].
    pub(in crate::train) fn plan(
        &self,
        columns: ColumnSelection<'_>,
        schema: &Schema,
        target: &str,
        user_steps: &[String],
    ) -> Result<(Features, Recipe)> {
        let recipe = self.recipe(user_steps)?;
        let card = self.estimator.card();
        let selected = columns.plan(schema.clone(), Some(target), card, recipe.categories)?;
        Ok((selected.features, recipe))
    }

    /// The options of the command line that train exactly this candidate.
    pub fn options(&self) -> Vec<String> {
        let mut options = vec!["--model".to_owned(), self.estimator.id().to_owned()];
        for (name, value) in &self.settings {
            let value = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            options.extend(["--set".to_owned(), format!("{name}={value}")]);
        }
        for step in &self.steps {
            options.extend(["--prepare".to_owned(), step.clone()]);
        }
        if let Some(map) = &self.map {
            options.extend(["--features".to_owned(), map.clone()]);
        }
        options
    }

    /// The options of the command line that train exactly this candidate, as a shell reads them.
    pub fn command_options(&self) -> String {
        self.options().iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
    }

    /// A short name: the estimator, the hyperparameters and the preprocessing that differ from the defaults.
    pub fn name(&self) -> String {
        let settings = self.settings.iter().filter(|(name, _)| name != "probability");
        let mut parts: Vec<String> = settings
            .map(|(name, value)| match value {
                Value::String(text) => format!("{name}={text}"),
                other => format!("{name}={other}"),
            })
            .collect();
        parts.extend(self.relative_gamma.map(|multiple| format!("gamma={multiple}/var")));
        parts.extend(self.steps.iter().cloned());
        parts.extend(self.map.clone());
        if parts.is_empty() {
            return self.estimator.id().to_owned();
        }
        format!("{} {}", self.estimator.id(), parts.join(" "))
    }
}

/// A word as a shell reads it.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=./:,+@^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
