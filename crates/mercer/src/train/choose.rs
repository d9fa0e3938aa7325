//! Chooses an estimator and the preprocessing that fits it.
//!
//! The defaults are fast baselines that take the columns as they are: least squares or ridge regression for a
//! regression target, naive Bayes with a likelihood for each kind of column for classes.

use super::SupervisedTask;
use crate::bayes::{GaussianNb, MixedNb, MultinomialNb};
use crate::catalog::{Capability, Card, Estimator, Input};
use crate::data::{ColumnProfile, Kind, Profile};
use crate::error::{Error, Result};
use crate::linear::{AlphaFrom, LinearRegression, LogisticRegression, Ridge};
use crate::preprocess::{
    CategoryEncoding, Impute, MissingIndicator, NumericValues, Reads, Recipe, Scale, TargetScale,
    TextRecipe,
};
use crate::text::Weighting;

/// Ordinary least squares needs at least this many rows per column; ridge regression is chosen below it.
const MIN_ROWS_PER_COLUMN: u64 = 3;
/// An estimator and why it was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The estimator.
    pub estimator: Estimator,
    /// The reason, as a sentence that begins with a verb ("chosen because ...").
    pub reason: String,
}

impl Choice {
    fn new(estimator: impl Into<Estimator>, reason: impl Into<String>) -> Choice {
        Choice { estimator: estimator.into(), reason: reason.into() }
    }
}

/// Chooses an estimator for a table and its target. `text` names the text columns to learn from, if the features
/// are restricted to them; `feature_map` tells whether the features pass through a kernel map.
pub fn choose_estimator(
    profile: &Profile,
    (target, task): (&ColumnProfile, SupervisedTask),
    text: &[String],
    feature_map: bool,
) -> Choice {
    match (task, feature_map) {
        (task, true) => {
            let reason = format!("chosen because a linear {task} model is fast on mapped features");
            match task {
                SupervisedTask::Classification => {
                    Choice::new(LogisticRegression::default(), reason)
                }
                SupervisedTask::Regression => Choice::new(Ridge::default(), reason),
            }
        }
        (SupervisedTask::Regression, false) => choose_regressor(profile, target, !text.is_empty()),
        (SupervisedTask::Classification, false) => choose_classifier(profile, &target.name, text),
    }
}

/// Least squares, or ridge regression if rows are few or the columns are terms of texts.
fn choose_regressor(profile: &Profile, target: &ColumnProfile, text: bool) -> Choice {
    let features = profile.columns.iter().filter(|column| column.name != target.name);
    let width: usize = features.map(|c| c.width.max(c.levels.len()).max(1)).sum();
    let regression = format!(
        "chosen because `{}` is numeric with {} distinct values (regression)",
        target.name,
        target.distinct_values()
    );
    let few = profile.n_rows < MIN_ROWS_PER_COLUMN * width as u64;
    if !few && !text {
        return Choice::new(
            LinearRegression::default(),
            format!("{regression} and there are enough rows for the {width} columns"),
        );
    }
    let why = match text {
        true => "text has many terms".to_owned(),
        false => format!("{} rows are few for {width} columns", profile.n_rows),
    };
    Choice::new(
        Ridge::default().alpha_from(AlphaFrom::Evidence),
        format!("{regression} and {why}; the regularization strength maximizes the evidence"),
    )
}

/// Naive Bayes: Gaussian for numeric columns, multinomial for text, and a likelihood for each column if the kinds
/// are mixed.
fn choose_classifier(profile: &Profile, target: &str, text: &[String]) -> Choice {
    let used = |name: &str| name != target && (text.is_empty() || text.iter().any(|n| n == name));
    let columns = || profile.columns.iter().filter(|c| used(&c.name));
    let count = |kind: Kind| columns().filter(|c| c.kind == kind).count();
    let missing = columns().any(|c| c.n_missing > 0);
    let (n_numeric, n_text) = (count(Kind::Numeric), count(Kind::Text));
    let n_categorical = count(Kind::Categorical) + count(Kind::Boolean);
    let mut choice = if count(Kind::Sparse) > 0 {
        Choice::new(
            GaussianNb::default(),
            "chosen because the features are sparse: it fits them in one pass and keeps them sparse",
        )
    } else if n_text > 0 && n_numeric + n_categorical == 0 {
        return Choice::new(
            MultinomialNb::default(),
            "chosen because all features are text: it models token counts",
        );
    } else if n_categorical + n_text == 0 {
        Choice::new(
            GaussianNb::default(),
            format!("chosen because all {n_numeric} features are numeric"),
        )
    } else {
        let kinds = [(n_numeric, "numeric"), (n_categorical, "categorical"), (n_text, "text")];
        let kinds = kinds.iter().filter(|(n, _)| *n > 0).map(|(n, kind)| format!("{n} {kind}"));
        let kinds = kinds.collect::<Vec<_>>().join(", ");
        Choice::new(
            MixedNb::default(),
            format!("chosen because the columns are of different kinds ({kinds})"),
        )
    };
    if missing {
        choice.reason += "; missing values are left out of the likelihood";
    }
    choice
}

/// The recipe for an estimator: options that the user leaves open (`Auto`) are decided by what its card says that it
/// needs.
///
/// - Missing numeric values are replaced by the median, with an indicator feature, unless the estimator takes them.
/// - Categorical columns are one-hot encoded, unless the estimator reads category codes.
/// - Numeric columns are standardized if the model depends on their scale, and the regression target if parameters
///   depend on its scale. Indicators, terms and sparse features are never centered, so that zeros stay zeros.
/// - Numeric columns are discretized where an estimator reads codes, or counts and the values are negative.
/// - Terms of texts are weighted by tf-idf, or counted for naive Bayes; the vocabulary is limited for estimators whose
///   cost grows with more than the number of terms.
///
/// # Errors
/// [`Error::Parameter`] if the estimator cannot use what the recipe makes.
pub fn recipe_for(estimator: &Estimator, recipe: Recipe) -> Result<Recipe> {
    let card = estimator.card();
    if recipe.text.is_signed() && matches!(card.reads(), Reads::Counts | Reads::Mixed) {
        return Err(Error::Parameter {
            name: "hash-sign".into(),
            found: "`alternate`".into(),
            expected: format!(
                "`positive` for `{}`, which needs counts of at least 0; or choose an estimator for real-valued \
                 features, such as sgd, logistic or linear-svc",
                card.id
            ),
        });
    }
    if recipe.map.is_some() {
        check_feature_map(card)?;
    }
    let mut recipe = match card.reads() {
        Reads::Categorical | Reads::CategoricalAndText => recipe.for_codes(),
        Reads::Mixed => recipe.for_mixed(),
        _ => recipe,
    };
    // Kernel maps need finite values.
    let takes_missing = card.accepts(Input::MissingValues) && recipe.map.is_none();
    if recipe.impute == Impute::Auto {
        recipe.impute = if takes_missing { Impute::Keep } else { Impute::Median };
    }
    if recipe.missing == MissingIndicator::Auto {
        let indicated = recipe.imputes() && !takes_missing;
        recipe.missing =
            if indicated { MissingIndicator::Indicator } else { MissingIndicator::Keep };
    }
    if recipe.categories == CategoryEncoding::Auto
        && matches!(card.reads(), Reads::Numeric | Reads::NumericAndText | Reads::Counts)
        // Gaussian naive Bayes encodes categories only if there is no numeric column.
        && (card.reads() == Reads::Counts || !card.can(Capability::FactorizedLikelihood))
    {
        recipe.categories = CategoryEncoding::OneHot;
    }
    recipe.values = match card {
        _ if recipe.map.is_some() => NumericValues::Real,
        card if card.accepts(Input::Counts) => NumericValues::Counts,
        card if card.accepts(Input::Binary) => NumericValues::Presence,
        card if card.accepts(Input::Nonnegative) => NumericValues::Nonnegative,
        _ => NumericValues::Real,
    };
    if recipe.scale == Scale::Auto {
        recipe.scale = match card {
            card if card.accepts(Input::Nonnegative) => Scale::MinMax,
            card if card.can(Capability::ScaleDependent) => Scale::Standard,
            _ => Scale::Keep,
        };
    }
    if recipe.target == TargetScale::Auto {
        recipe.target = match card.can(Capability::TargetScaleDependent) {
            true => TargetScale::Standard,
            false => TargetScale::Keep,
        };
    }
    recipe.text = recipe.text.weighted_by_default(match card.reads() {
        Reads::Numeric | Reads::NumericAndText => Weighting::TF_IDF,
        Reads::Categorical | Reads::CategoricalAndText => Weighting::BINARY,
        Reads::Counts | Reads::Mixed => Weighting::default(),
    });
    recipe.dense_text = matches!(card.reads(), Reads::Categorical);
    if let Some(max_terms) = max_terms(estimator)
        && recipe.text.hash.is_none()
        && recipe.text.selection == TextRecipe::default().selection
    {
        recipe.text.selection.max_features = Some(max_terms);
    }
    Ok(recipe)
}

/// The size of the vocabulary for estimators whose cost grows with more than the number of terms, unless the user sets
/// another.
fn max_terms(estimator: &Estimator) -> Option<usize> {
    match estimator {
        // They store the cross product of every pair of columns,
        Estimator::LinearRegression(_)
        | Estimator::Ridge(_)
        | Estimator::RidgeCv(_)
        | Estimator::LinearDiscriminantAnalysis(_) => Some(1000),
        // once per class,
        Estimator::QuadraticDiscriminantAnalysis(_)
        | Estimator::RegularizedDiscriminantAnalysis(_) => Some(200),
        // or return it.
        Estimator::PolynomialFeatures(_) => Some(100),
        // The first layer has a weight for every pair of a term and a unit.
        Estimator::MlpClassifier(_) | Estimator::MlpRegressor(_) => Some(5000),
        // Dense columns, and for network learning a table for every pair of them.
        Estimator::CategoricalNb(_) | Estimator::TanNb(_) | Estimator::BayesNetwork(_) => Some(50),
        _ => None,
    }
}

/// Refuses a kernel map before an estimator that does not read real-valued features.
fn check_feature_map(card: &Card) -> Result<()> {
    if card.is_unsupervised() || matches!(card.reads(), Reads::Numeric | Reads::NumericAndText) {
        return Ok(());
    }
    let inputs: Vec<&str> = card.inputs.iter().map(|input| input.name()).collect();
    Err(Error::Parameter {
        name: "features".into(),
        found: format!("a map before `{}`, which reads {}", card.id, inputs.join(", ")),
        expected:
            "an estimator for real-valued features, such as logistic, linear-svc, ridge or lda"
                .into(),
    })
}
