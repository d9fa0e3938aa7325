//! A trained model: estimator, preprocessing, fitted model and certificate, with what merging and saving need.

use crate::calibrate::Conformal;
use crate::catalog::{AnyModel, AnyStats, Estimator};
use crate::decision::{DecisionRule, Densities};
use crate::error::{Error, Result};
use crate::file;
use crate::model::Fitted;
use crate::model::tree::Tree;
use crate::preprocess::Features;
use crate::train::Reference;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;

/// Statistics of at least so many bytes replace the model in a file, if the model follows from them.
const MIN_LARGE_BYTES: u64 = 1 << 20;

/// An estimator with its fitted model and the preprocessing from tables to rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    /// The version of Mercer that trained the model.
    pub made_by: String,
    /// The estimator with its parameters.
    pub estimator: Estimator,
    /// The preprocessing from tables to rows.
    pub features: Features,
    /// The fitted model and its certificate.
    pub fitted: Fitted<AnyModel>,
    /// The sufficient statistics, if the estimator learns by them: merging and forgetting need them.
    pub stats: Option<AnyStats>,
    /// Costs, new priors and the reject option of predictions, if any were set.
    pub decision: Option<DecisionRule>,
    /// Held-out log-densities of the training rows, the reference for detecting outliers.
    pub densities: Option<Densities>,
    /// The nonconformity scores of held-out training rows, for prediction intervals and sets.
    pub conformal: Option<Conformal>,
    /// The distributions of the columns of the training data, which new tables are compared with.
    pub reference: Option<Reference>,
}

/// The contents of a model file; the model is left out if it follows from the statistics.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct InFile<'a> {
    made_by: Cow<'a, str>,
    estimator: Cow<'a, Estimator>,
    features: Cow<'a, Features>,
    fitted: Fitted<Option<Cow<'a, AnyModel>>>,
    stats: Option<Cow<'a, AnyStats>>,
    #[serde(default)]
    decision: Option<Cow<'a, DecisionRule>>,
    #[serde(default)]
    densities: Option<Cow<'a, Densities>>,
    #[serde(default)]
    conformal: Option<Cow<'a, Conformal>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference: Option<Cow<'a, Reference>>,
}

impl Trained {
    /// A trained model without decision rule and densities.
    pub fn new(
        estimator: Estimator,
        features: Features,
        fitted: Fitted<AnyModel>,
        stats: Option<AnyStats>,
    ) -> Trained {
        let made_by = format!("mercer {}", env!("CARGO_PKG_VERSION"));
        Trained {
            made_by,
            estimator,
            features,
            fitted,
            stats,
            decision: None,
            densities: None,
            conformal: None,
            reference: None,
        }
    }

    /// The model trained on the rows of both.
    ///
    /// # Errors
    /// If the two were not trained alike, or do not learn by statistics.
    pub fn merge(&self, other: &Trained) -> Result<Trained> {
        let differ = |why: &str| Err(Error::Merge { why: why.to_owned() });
        if self.estimator != other.estimator {
            return differ("the estimators or their parameters differ");
        }
        let Some(features) = self.features.common(&other.features) else {
            return differ("the columns differ; train both with the same columns and levels");
        };
        let (Some(mine), Some(theirs)) = (&self.stats, &other.stats) else {
            return Err(self.estimator.unable("be merged: it keeps no statistics"));
        };
        let mut stats = mine.clone();
        stats.merge(theirs)?;
        let rows = self.fitted.certificate.rows + other.fitted.certificate.rows;
        let mut merged = self.refinished(stats, rows)?;
        // If the training of a part was stopped early, the whole is marked too.
        let stopped = self.fitted.certificate.stopped().or(other.fitted.certificate.stopped());
        merged.fitted.certificate = merged.fitted.certificate.stopped_by(stopped);
        merged.features = features;
        Ok(merged)
    }

    /// The model without some of its rows, given as their statistics.
    ///
    /// # Errors
    /// If the model was not trained on the rows.
    pub fn forget(&self, stats: &AnyStats, rows: u64) -> Result<Trained> {
        let Some(mine) = &self.stats else {
            return Err(self.estimator.unable("forget: it keeps no statistics"));
        };
        let mut left = mine.clone();
        left.forget(stats)?;
        let learned = self.fitted.certificate.rows;
        let Some(rows) = learned.checked_sub(rows) else {
            return Err(Error::Forget { why: format!("{rows} of {learned} rows") });
        };
        self.refinished(left, rows)
    }

    fn refinished(&self, stats: AnyStats, rows: u64) -> Result<Trained> {
        let mut fitted = self.estimator.finish(&stats, rows)?;
        fitted.certificate = fitted.certificate.stopped_by(self.fitted.certificate.stopped());
        let log_priors = |model: &AnyModel| {
            Some(model.as_model().factorized_likelihood()?.log_priors().to_vec())
        };
        let mut decision = self.decision.clone();
        if let (Some(old), Some(new)) = (log_priors(&self.fitted.model), log_priors(&fitted.model))
            && old.len() == new.len()
        {
            decision = decision.map(|rule| rule.with_model_priors(&old, &new));
        }
        // Costs are not defined for classes that were added.
        decision = decision.filter(|rule| rule.check(n_classes(&fitted.model)).is_ok());
        // Densities, nonconformity scores and distributions are of the rows before.
        let (stats, densities, conformal, reference) = (Some(stats), None, None, None);
        Ok(Trained { fitted, stats, decision, densities, conformal, reference, ..self.clone() })
    }

    /// The names of the classes; none for a model that is no classifier.
    pub fn class_names(&self) -> Vec<String> {
        let classifier = self.fitted.model.as_model().classifier();
        let labels = classifier.map(|model| model.classes().labels().to_vec()).unwrap_or_default();
        labels.iter().map(ToString::to_string).collect()
    }

    /// The bytes of a model file.
    ///
    /// # Errors
    /// If the description would be too large.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        file::to_bytes(self.tree()?)
    }

    /// The contents of a model file.
    fn tree(&self) -> Result<Tree> {
        let model = (!self.follows_from_stats()).then_some(Cow::Borrowed(&self.fitted.model));
        let certificate = self.fitted.certificate.clone();
        let file = InFile {
            made_by: Cow::Borrowed(&self.made_by),
            estimator: Cow::Borrowed(&self.estimator),
            features: Cow::Borrowed(&self.features),
            fitted: Fitted { model, certificate },
            stats: self.stats.as_ref().map(Cow::Borrowed),
            decision: self.decision.as_ref().map(Cow::Borrowed),
            densities: self.densities.as_ref().map(Cow::Borrowed),
            conformal: self.conformal.as_ref().map(Cow::Borrowed),
            reference: self.reference.as_ref().map(Cow::Borrowed),
        };
        Tree::of(&file).map_err(|e| Error::File(e.to_string()))
    }

    /// Whether the statistics are large and determine the model bit by bit. Then the model is not stored: a table of
    /// counts and the table of their logarithms have the same size.
    fn follows_from_stats(&self) -> bool {
        let Some(stats) = self.stats.as_ref().filter(|stats| !stats.holds_rows()) else {
            return false;
        };
        let n_columns = self.features.n_features();
        self.estimator.summary_bytes(n_classes(&self.fitted.model).max(1), n_columns)
            >= MIN_LARGE_BYTES
            && self.estimator.finish(stats, 0).is_ok_and(|again| again.model == self.fitted.model)
    }

    /// Reads the bytes of a model file.
    ///
    /// # Errors
    /// The first field that is not valid.
    pub fn from_bytes(bytes: &[u8]) -> Result<Trained> {
        let file: InFile<'_> = file::from_bytes(bytes)?
            .into_value()
            .map_err(|e| Error::File(format!("its description does not fit ({e})")))?;
        let (estimator, features) = (file.estimator.into_owned(), file.features.into_owned());
        let stats = file.stats.map(Cow::into_owned);
        estimator.check().map_err(|e| Error::File(e.to_string()))?;
        features.check()?;
        let is_stored = file.fitted.model.is_some();
        let model = match (file.fitted.model, &stats) {
            (Some(model), _) => model.into_owned(),
            (None, Some(stats)) if !stats.holds_rows() => finish_stats(&estimator, stats)?,
            (None, _) => return Err(Error::File("neither a model nor what makes one".into())),
        };
        let trained = Trained {
            made_by: file.made_by.into_owned(),
            estimator,
            features,
            fitted: Fitted { model, certificate: file.fitted.certificate },
            stats,
            decision: file.decision.map(Cow::into_owned),
            densities: file.densities.map(Cow::into_owned),
            conformal: file.conformal.map(Cow::into_owned),
            reference: file.reference.map(Cow::into_owned),
        };
        trained.check()?;
        if is_stored {
            trained.check_stats()?;
        }
        Ok(trained)
    }

    /// Writes a model file atomically.
    ///
    /// # Errors
    /// The error of the operating system.
    pub fn save(&self, path: &Path) -> Result<()> {
        file::save_tree(path, self.tree()?)
    }

    /// Reads a model file.
    ///
    /// # Errors
    /// The error of the operating system, or the first field that is not valid.
    pub fn load(path: &Path) -> Result<Trained> {
        let bytes = std::fs::read(path)
            .map_err(|e| Error::System { path: path.display().to_string(), why: e.to_string() })?;
        Trained::from_bytes(&bytes)
    }

    fn check(&self) -> Result<()> {
        let refuse = |why: &str| Err(Error::File(why.to_owned()));
        self.fitted.model.as_model().check()?;
        if self.fitted.model.id() != self.estimator.id() {
            return refuse("the model is another estimator's");
        }
        let width = self.features.n_features();
        if n_columns(&self.fitted.model).is_some_and(|n| n != width) {
            return refuse("the model and its features differ in width");
        }
        if self.reference.as_ref().is_some_and(|reference| !reference.is_valid()) {
            return refuse("the distributions of its training data are invalid");
        }
        if let Some(rule) = &self.decision {
            rule.check(n_classes(&self.fitted.model))?;
        }
        if let Some(densities) = &self.densities {
            densities.check()?;
        }
        if let Some(conformal) = &self.conformal {
            conformal.check()?;
        }
        Ok(())
    }

    fn check_stats(&self) -> Result<()> {
        let Some(stats) = &self.stats else { return Ok(()) };
        // Models made by merging and forgetting must have the same columns and classes.
        let shape = |model: &AnyModel| {
            let classifier = model.as_model().classifier();
            (n_columns(model), classifier.map(|model| model.classes().clone()))
        };
        let again = match stats.outline().filter(|_| stats.holds_rows()) {
            // A model that takes a search is not fitted again for a check.
            Some((n_columns, classes)) => {
                stats.check()?;
                (Some(n_columns), Some(classes))
            }
            None => shape(&finish_stats(&self.estimator, stats)?),
        };
        if again == shape(&self.fitted.model) {
            return Ok(());
        }
        Err(Error::File("the model and its statistics are of other columns or classes".into()))
    }
}

/// The model that follows from the statistics of a file.
fn finish_stats(estimator: &Estimator, stats: &AnyStats) -> Result<AnyModel> {
    stats.check()?;
    Ok(estimator.finish(stats, 0).map_err(|e| Error::File(e.to_string()))?.model)
}

/// The number of classes; 0 if the model is no classifier.
fn n_classes(model: &AnyModel) -> usize {
    model.as_model().classifier().map_or(0, |model| model.classes().len())
}

/// The number of columns of the model's rows, if it has rows.
fn n_columns(model: &AnyModel) -> Option<usize> {
    let model = model.as_model();
    let classifier = model.classifier().map(|m| m.n_columns());
    let regressor = || model.regressor().map(|m| m.n_columns());
    let detector = || model.outlier_detector().map(|m| m.n_columns());
    let clusterer = || model.clusterer().map(|m| m.n_columns());
    let transformer = || model.transformer().map(|m| m.n_inputs());
    classifier.or_else(regressor).or_else(detector).or_else(clusterer).or_else(transformer)
}
