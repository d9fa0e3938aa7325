//! Vectorization of text columns: terms are mapped to features by a vocabulary or by hashing, counted and weighted.

use crate::data::{DocumentTermMatrix, TokenCounts};
use crate::error::{Error, Result};
use crate::model::{Cached, Monitor, Statistics};
use crate::text::{
    Accents, Analyzer, Bound, Case, DocumentFrequencies, Hashing, Idf, Language, Norm, Selection,
    Sign, StopWords, StreamingCounter, Tf, Unit, Weighting, count_vocabulary,
};
use serde::{Deserialize, Serialize};

/// The default size of the vocabulary; the terms with the highest document frequency are selected.
const MAX_TERMS: usize = 200_000;

/// The vectorization of text columns, as the user wants it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextRecipe {
    /// How documents are split into terms.
    pub analyzer: Analyzer,
    /// Which terms enter the vocabulary.
    pub selection: Selection,
    /// The weighting of term counts.
    pub weighting: Weighting,
    /// Whether the weighting is not set by the user.
    pub default_weighting: bool,
    /// The number of hashed features; `None` uses a vocabulary.
    pub hash: Option<usize>,
    /// The sign of hashed counts; `None` for positive counts.
    pub hash_sign: Option<Sign>,
}

impl Default for TextRecipe {
    fn default() -> TextRecipe {
        TextRecipe {
            analyzer: Analyzer::default(),
            selection: Selection { max_features: Some(MAX_TERMS), ..Selection::default() },
            weighting: Weighting::default(),
            default_weighting: true,
            hash: None,
            hash_sign: None,
        }
    }
}

/// The fitted vectorization of a text column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextStep {
    /// How documents are split into terms.
    pub analyzer: Analyzer,
    /// The terms that have a feature.
    pub terms: KnownTerms,
    /// The weighting of term counts.
    pub weighting: Weighting,
    /// The inverse document frequency of each term, computed on first use.
    #[serde(skip)]
    pub(crate) idf: Cached<Vec<f64>>,
}

/// The terms that have a feature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KnownTerms {
    /// The terms of a vocabulary.
    Vocabulary(DocumentFrequencies),
    /// All terms, by hashing.
    Hashed {
        /// The hash function.
        hashing: Hashing,
        /// The number of documents that were counted; 0 if the weighting has no idf.
        n_documents: u64,
        /// The document frequency of each hashed feature.
        document_frequencies: Vec<u64>,
    },
}

impl Default for KnownTerms {
    fn default() -> KnownTerms {
        KnownTerms::Vocabulary(DocumentFrequencies::default())
    }
}

impl TextRecipe {
    /// Sets an option by its name; `None` if it is not an option of text columns.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Option<Result<()>> {
        self.default_weighting &= !matches!(name, "text" | "tf" | "idf" | "norm");
        Some(match name {
            "text" => choose(name, value, &WEIGHTINGS).map(|w| self.weighting = w),
            "tf" => choose(name, value, &TFS).map(|tf| self.weighting.tf = tf),
            "idf" => choose(name, value, &IDFS).map(|idf| self.weighting.idf = idf),
            "norm" => choose(name, value, &NORMS).map(|norm| self.weighting.norm = norm),
            "case" => choose(name, value, &CASES).map(|case| self.analyzer.case = case),
            "accents" => choose(name, value, &ACCENTS).map(|a| self.analyzer.accents = a),
            "terms" => choose(name, value, &UNITS).map(|unit| self.analyzer.unit = unit.clone()),
            "pattern" => {
                self.analyzer.unit = Unit::Pattern(value.to_owned());
                self.analyzer.reader().map(drop)
            }
            "ngrams" => ngrams(value).map(|ngrams| self.analyzer.ngrams = ngrams),
            "stem" => Language::parse(value).map(|l| self.analyzer.stem = Some(l)),
            "stop-words" => {
                let own = || value.split(',').map(|word| word.trim().to_owned()).collect();
                self.analyzer.stop_words =
                    if value == "english" { StopWords::English } else { StopWords::Own(own()) };
                Ok(())
            }
            "min-df" => bound(name, value).map(|bound| self.selection.min_df = bound),
            "max-df" => bound(name, value).map(|bound| self.selection.max_df = bound),
            "max-terms" => whole(name, value).map(|most| self.selection.max_features = Some(most)),
            "hash" => columns(name, value).map(|n| self.hash = Some(n)),
            "hash-sign" => choose(name, value, &SIGNS).map(|sign| self.hash_sign = Some(sign)),
            _ => return None,
        })
    }

    /// The step of a column before it is fitted.
    pub(crate) fn step(&self) -> Result<TextStep> {
        self.analyzer.reader()?;
        self.check_hash()?;
        let terms = match self.hash {
            Some(n_features) => {
                let sign = self.hash_sign.unwrap_or(Sign::Positive);
                let hashing = Hashing { n_features, sign };
                hashing.check()?;
                KnownTerms::Hashed { hashing, n_documents: 0, document_frequencies: Vec::new() }
            }
            None => KnownTerms::default(),
        };
        let (analyzer, weighting) = (self.analyzer.clone(), self.weighting);
        Ok(TextStep { analyzer, terms, weighting, idf: Cached::default() })
    }

    /// The same recipe with another default weighting.
    #[must_use]
    pub fn weighted_by_default(mut self, weighting: Weighting) -> TextRecipe {
        if self.default_weighting {
            self.weighting = weighting;
        }
        self
    }

    /// Whether counts may be negative.
    pub fn is_signed(&self) -> bool {
        self.hash_sign == Some(Sign::Alternate)
    }

    /// Refuses combinations of hashing options that contradict each other.
    fn check_hash(&self) -> Result<()> {
        let usual = TextRecipe::default().selection;
        match self.hash {
            None if self.hash_sign.is_some() => {
                let found = if self.is_signed() { "alternate" } else { "positive" };
                Err(refuse("hash-sign", found, "used together with `hash=N`"))
            }
            Some(n) if self.selection != usual => Err(refuse(
                "hash",
                &n.to_string(),
                "used without min-df, max-df and max-terms, which need a vocabulary",
            )),
            Some(_) if self.is_signed() && self.weighting.tf == Tf::Log => Err(refuse(
                "hash-sign",
                "alternate",
                "`positive` together with `tf=log`: negative counts have no logarithm",
            )),
            _ => Ok(()),
        }
    }
}

const WEIGHTINGS: [(&str, Weighting); 4] = [
    ("counts", Weighting { tf: Tf::Count, idf: Idf::None, norm: Norm::None }),
    ("binary", Weighting { tf: Tf::Binary, idf: Idf::None, norm: Norm::None }),
    ("tf-idf", Weighting::TF_IDF),
    ("lecture", Weighting::LECTURE),
];
const TFS: [(&str, Tf); 4] =
    [("count", Tf::Count), ("log", Tf::Log), ("frequency", Tf::Frequency), ("binary", Tf::Binary)];
const IDFS: [(&str, Idf); 5] = [
    ("none", Idf::None),
    ("smooth", Idf::Smooth),
    ("plain", Idf::Plain),
    ("information", Idf::Information),
    ("information-plus-one", Idf::InformationPlusOne),
];
const NORMS: [(&str, Norm); 3] = [("none", Norm::None), ("l1", Norm::L1), ("l2", Norm::L2)];
const SIGNS: [(&str, Sign); 2] = [("positive", Sign::Positive), ("alternate", Sign::Alternate)];
const CASES: [(&str, Case); 2] = [("lower", Case::Lower), ("keep", Case::Keep)];
const ACCENTS: [(&str, Accents); 3] =
    [("keep", Accents::Keep), ("ascii", Accents::Ascii), ("unicode", Accents::Unicode)];
const UNITS: [(&str, Unit); 4] = [
    ("words", Unit::Words(2)),
    ("unicode-words", Unit::UnicodeWords),
    ("characters", Unit::Characters),
    ("characters-in-words", Unit::CharactersInWords),
];

fn refuse(name: &str, value: &str, expected: impl Into<String>) -> Error {
    Error::Parameter {
        name: name.to_owned(),
        found: format!("`{value}`"),
        expected: expected.into(),
    }
}

fn choose<T: Clone>(name: &str, value: &str, arms: &[(&str, T)]) -> Result<T> {
    let found = arms.iter().find(|(name, _)| *name == value);
    found.map(|(_, arm)| arm.clone()).ok_or_else(|| {
        let names: Vec<&str> = arms.iter().map(|(name, _)| *name).collect();
        refuse(name, value, format!("one of {}", names.join(", ")))
    })
}

fn whole(name: &str, value: &str) -> Result<usize> {
    let n = value.parse().ok().filter(|n| (1..=i32::MAX as usize).contains(n));
    n.ok_or_else(|| refuse(name, value, "an integer from 1 to 2147483647"))
}

/// A number of features, also written as a power of two.
fn columns(name: &str, value: &str) -> Result<usize> {
    match value.strip_prefix("2^").map(str::parse) {
        Some(Ok(power @ 0..=30)) => Ok(1 << power),
        Some(_) => Err(refuse(name, value, "a power of two from 2^0 to 2^30")),
        None => whole(name, value),
    }
}

fn ngrams(value: &str) -> Result<(usize, usize)> {
    let (low, high) = value.split_once('-').unwrap_or((value, value));
    match (low.parse(), high.parse()) {
        (Ok(low), Ok(high)) if (1..=high).contains(&low) && high <= 100 => Ok((low, high)),
        _ => Err(refuse("ngrams", value, "a length like 2 or a range like 1-2, from 1 to 100")),
    }
}

/// A number of documents, or a fraction of them if there is a decimal point.
fn bound(name: &str, value: &str) -> Result<Bound> {
    let share = || value.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    let bound = match value.contains('.') {
        true => share().map(Bound::Fraction),
        false => value.parse().ok().filter(|n| *n >= 1).map(Bound::Documents),
    };
    bound.ok_or_else(|| refuse(name, value, "a number of documents like 5, or a fraction like 0.1"))
}

impl TextStep {
    /// The number of features.
    pub fn width(&self) -> usize {
        match &self.terms {
            KnownTerms::Vocabulary(counts) => counts.vocabulary.len(),
            KnownTerms::Hashed { hashing, .. } => hashing.n_features,
        }
    }

    /// The names of the features: terms, or numbers if they are hashed.
    pub fn names(&self) -> Vec<String> {
        match &self.terms {
            KnownTerms::Vocabulary(counts) => {
                counts.vocabulary.terms().map(str::to_owned).collect()
            }
            KnownTerms::Hashed { hashing, .. } => {
                (0..hashing.n_features).map(|j| format!("hash {j}")).collect()
            }
        }
    }

    /// The feature of a term, relative to the first feature of the column.
    pub fn feature(&self, term: &str) -> Option<usize> {
        match &self.terms {
            KnownTerms::Vocabulary(counts) => counts.vocabulary.find(term),
            KnownTerms::Hashed { hashing, .. } => Some(hashing.column(term.as_bytes()).0 as usize),
        }
    }

    /// A short description.
    pub fn description(&self) -> String {
        let weighting = match (self.weighting.tf, self.weighting.idf) {
            (Tf::Count, Idf::None) => "counts".to_owned(),
            (Tf::Binary, Idf::None) => "presence".to_owned(),
            (_, Idf::None) => "frequencies".to_owned(),
            _ => "tf-idf weights".to_owned(),
        };
        match &self.terms {
            KnownTerms::Vocabulary(counts) => {
                format!("{weighting} of {} terms", counts.vocabulary.len())
            }
            KnownTerms::Hashed { hashing, .. } => {
                let signed =
                    if hashing.sign == Sign::Alternate { " with random signs" } else { "" };
                format!("{weighting} of terms hashed to {} features{signed}", hashing.n_features)
            }
        }
    }

    /// Whether the step depends on the data.
    pub(crate) fn needs_fit(&self) -> bool {
        match self.terms {
            KnownTerms::Vocabulary(_) => true,
            KnownTerms::Hashed { .. } => self.weighting.idf != Idf::None,
        }
    }

    /// The term weights of documents, and the number of their tokens that are not in the vocabulary; a missing document
    /// has no terms.
    pub(crate) fn rows(&self, texts: &[Option<String>]) -> Result<(DocumentTermMatrix, u64)> {
        let texts: Vec<&str> = texts.iter().map(|t| t.as_deref().unwrap_or_default()).collect();
        let quiet = Monitor::quiet();
        let rows = match &self.terms {
            KnownTerms::Vocabulary(counts) => {
                count_vocabulary(&texts, &self.analyzer, &counts.vocabulary, &quiet)?
            }
            KnownTerms::Hashed { hashing, .. } => {
                let rows = hashing.count(&texts, &self.analyzer, &quiet)?;
                return Ok((self.weighted(rows), 0));
            }
        };
        let n_tokens: u64 = rows.lengths.iter().map(|n| u64::from(*n)).sum();
        let n_known = rows.values.iter().sum::<f64>() as u64;
        Ok((self.weighted(rows), n_tokens.saturating_sub(n_known)))
    }

    /// The term weights of documents whose tokens were counted when the step was fitted.
    pub(crate) fn rows_of_counted(&self, texts: &TokenCounts) -> Result<DocumentTermMatrix> {
        if texts.n_columns() != self.width() {
            let (found, expected) = (texts.n_columns(), self.width());
            return Err(Error::Columns { found, expected });
        }
        Ok(self.weighted(texts.matrix()))
    }

    fn weighted(&self, mut rows: DocumentTermMatrix) -> DocumentTermMatrix {
        if self.weighting != Weighting::default() {
            self.weighting.apply(&mut rows, self.idf.get(|| self.inverse_document_frequencies()));
        }
        rows
    }

    /// The inverse document frequency of each term.
    fn inverse_document_frequencies(&self) -> Vec<f64> {
        let idf = self.weighting.idf;
        match &self.terms {
            KnownTerms::Vocabulary(counts) => idf.weights(&counts.frequencies, counts.n_documents),
            KnownTerms::Hashed { n_documents, document_frequencies, .. } => {
                // A hashed feature that occurs in no document is weighted as if it occurred in one.
                let met: Vec<u64> = document_frequencies.iter().map(|n| (*n).max(1)).collect();
                idf.weights(&met, *n_documents)
            }
        }
    }

    /// Whether the features are plain counts of terms with names.
    pub fn has_vocabulary_of_counts(&self) -> bool {
        matches!(self.terms, KnownTerms::Vocabulary(_)) && self.weighting == Weighting::default()
    }

    /// Checks a step that was read from a file.
    pub(crate) fn check(&self) -> Result<()> {
        self.analyzer.reader().map_err(|e| Error::File(e.to_string()))?;
        match &self.terms {
            KnownTerms::Vocabulary(counts) => counts.check(),
            KnownTerms::Hashed { hashing, n_documents, document_frequencies } => {
                hashing.check().map_err(|e| Error::File(e.to_string()))?;
                let wanted = if self.weighting.idf == Idf::None { 0 } else { hashing.n_features };
                if document_frequencies.len() == wanted
                    && document_frequencies.iter().all(|n| n <= n_documents)
                {
                    Ok(())
                } else {
                    Err(Error::File(
                        "the document frequencies of a text column are inconsistent".into(),
                    ))
                }
            }
        }
    }
}

/// Accumulates what the step of a text column depends on.
pub(crate) enum TextFit {
    Vocabulary(StreamingCounter),
    Hashed {
        hashing: Hashing,
        analyzer: Analyzer,
        n_documents: u64,
        document_frequencies: Vec<u64>,
    },
    /// The step does not depend on the data.
    Fixed,
}

impl TextFit {
    /// Starts the fit of a step; at most `cache_bytes` of token counts are cached.
    pub fn new(step: &TextStep, cache_bytes: u64) -> Result<TextFit> {
        Ok(match &step.terms {
            _ if !step.needs_fit() => TextFit::Fixed,
            KnownTerms::Vocabulary(_) => {
                TextFit::Vocabulary(StreamingCounter::new(&step.analyzer, cache_bytes)?)
            }
            KnownTerms::Hashed { hashing, .. } => TextFit::Hashed {
                hashing: *hashing,
                analyzer: step.analyzer.clone(),
                n_documents: 0,
                document_frequencies: vec![0; hashing.n_features],
            },
        })
    }

    /// Adds documents.
    pub fn observe(&mut self, batches: &[&[Option<String>]], monitor: &Monitor<'_>) -> Result<()> {
        match self {
            TextFit::Vocabulary(gathering) => {
                gathering.observe(batches);
                let reserve = |bytes| monitor.reserve("counting the terms of text columns", bytes);
                if reserve(gathering.size()).is_err() {
                    gathering.drop_cache();
                }
                reserve(gathering.size())
            }
            TextFit::Hashed { hashing, analyzer, n_documents, document_frequencies } => {
                for batch in batches {
                    let texts: Vec<&str> = batch.iter().flatten().map(String::as_str).collect();
                    let rows = hashing.count(&texts, analyzer, monitor)?;
                    *n_documents += texts.len() as u64;
                    rows.columns.iter().for_each(|j| document_frequencies[*j as usize] += 1);
                }
                Ok(())
            }
            TextFit::Fixed => Ok(()),
        }
    }

    /// The fitted step, and the token counts if they were cached.
    pub fn finish(
        self,
        mut step: TextStep,
        selection: &Selection,
    ) -> Result<(TextStep, Option<TokenCounts>)> {
        let mut texts = None;
        match self {
            TextFit::Vocabulary(gathering) => {
                let (counts, counted) = gathering.finish(selection)?;
                step.terms = KnownTerms::Vocabulary(counts);
                texts = counted;
            }
            TextFit::Hashed { hashing, n_documents, document_frequencies, .. } => {
                step.terms = KnownTerms::Hashed { hashing, n_documents, document_frequencies };
            }
            TextFit::Fixed => {}
        }
        Ok((step, texts))
    }
}
