//! How columns of text become features: terms by a vocabulary or by their hash, counted and weighed.

use crate::data::{DocumentTermMatrix, TokenCounts};
use crate::error::{Error, Result};
use crate::model::{Cached, Monitor, Statistics};
use crate::text::{
    Accents, Analyzer, Bound, Case, DocumentFrequencies, Hashing, Idf, Language, Norm, Selection,
    Sign, StopWords, StreamingCounter, Tf, Unit, Weighting, count_vocabulary,
};
use serde::{Deserialize, Serialize};

/// Terms that are told apart unless the user says otherwise; of more, those in most texts.
const MOST_TERMS: usize = 200_000;

/// What is done to columns of text, by the user's wish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextRecipe {
    /// How texts are read as terms.
    pub analyzer: Analyzer,
    /// Which terms are told apart.
    pub selection: Selection,
    /// How counts become weights.
    pub weighting: Weighting,
    /// How many columns terms are hashed to; `None` finds a vocabulary first.
    pub hash: Option<usize>,
    /// What the sign of a hash does; `None` counts every term positive.
    pub hash_sign: Option<Sign>,
}

impl Default for TextRecipe {
    fn default() -> TextRecipe {
        TextRecipe {
            analyzer: Analyzer::default(),
            selection: Selection { max_features: Some(MOST_TERMS), ..Selection::default() },
            weighting: Weighting::default(),
            hash: None,
            hash_sign: None,
        }
    }
}

/// A column of text on its way to features.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextStep {
    /// How texts are read as terms.
    pub analyzer: Analyzer,
    /// Which terms have a feature.
    pub terms: KnownTerms,
    /// How counts become weights.
    pub weighting: Weighting,
    /// What the rarity of each term weighs, worked out once for all texts.
    #[serde(skip)]
    pub(crate) idf: Cached<Vec<f64>>,
}

/// Which terms have a feature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KnownTerms {
    /// Those of a vocabulary.
    Vocabulary(DocumentFrequencies),
    /// All, by their hash.
    Hashed {
        /// How terms become columns.
        hashing: Hashing,
        /// How many texts were looked at; none where rarity has no say.
        n_texts: u64,
        /// In how many of them each column occurred.
        documents: Vec<u64>,
    },
}

impl Default for KnownTerms {
    fn default() -> KnownTerms {
        KnownTerms::Vocabulary(DocumentFrequencies::default())
    }
}

impl TextRecipe {
    /// Sets one thing by its name and a word; `None` if it is not about text.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Option<Result<()>> {
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

    /// The step of a column before anything is known of its texts.
    pub(crate) fn step(&self) -> Result<TextStep> {
        self.analyzer.reader()?;
        self.check_hash()?;
        let terms = match self.hash {
            Some(n_features) => {
                let sign = self.hash_sign.unwrap_or(Sign::Positive);
                let hashing = Hashing { n_features, sign };
                hashing.check()?;
                KnownTerms::Hashed { hashing, n_texts: 0, documents: Vec::new() }
            }
            None => KnownTerms::default(),
        };
        let (analyzer, weighting) = (self.analyzer.clone(), self.weighting);
        Ok(TextStep { analyzer, terms, weighting, idf: Cached::default() })
    }

    /// Whether counts may be below zero.
    pub fn is_signed(&self) -> bool {
        self.hash_sign == Some(Sign::Alternate)
    }

    /// Refuses wishes about hashes that cannot be met together.
    fn check_hash(&self) -> Result<()> {
        let usual = TextRecipe::default().selection;
        match self.hash {
            None if self.hash_sign.is_some() => {
                let found = if self.is_signed() { "alternate" } else { "positive" };
                Err(refuse("hash-sign", found, "beside `hash=N`: only hashes have a sign"))
            }
            Some(n) if self.selection != usual => Err(refuse(
                "hash",
                &n.to_string(),
                "without min-df, max-df and max-terms: hashed terms are not told apart",
            )),
            Some(_) if self.is_signed() && self.weighting.tf == Tf::Log => Err(refuse(
                "hash-sign",
                "alternate",
                "`positive` beside `tf=log`: counts below zero have no logarithm",
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
    let found = arms.iter().find(|(word, _)| *word == value);
    found.map(|(_, arm)| arm.clone()).ok_or_else(|| {
        let words: Vec<&str> = arms.iter().map(|(word, _)| *word).collect();
        refuse(name, value, format!("one of {}", words.join(", ")))
    })
}

fn whole(name: &str, value: &str) -> Result<usize> {
    let n = value.parse().ok().filter(|n| (1..=i32::MAX as usize).contains(n));
    n.ok_or_else(|| refuse(name, value, "a whole number from 1 to 2147483647"))
}

/// A number of columns, also written as a power of two.
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
        _ => Err(refuse("ngrams", value, "written as 2 or 1-2, from 1 to 100")),
    }
}

/// A whole number of texts, or a share where there is a decimal point.
fn bound(name: &str, value: &str) -> Result<Bound> {
    let share = || value.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    let bound = match value.contains('.') {
        true => share().map(Bound::Fraction),
        false => value.parse().ok().filter(|n| *n >= 1).map(Bound::Documents),
    };
    bound.ok_or_else(|| refuse(name, value, "a number of texts like 5, or a share like 0.1"))
}

impl TextStep {
    /// How many features it makes.
    pub fn width(&self) -> usize {
        match &self.terms {
            KnownTerms::Vocabulary(counts) => counts.vocabulary.len(),
            KnownTerms::Hashed { hashing, .. } => hashing.n_features,
        }
    }

    /// The names of the features: terms, or numbered columns where they are hashed.
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

    /// The feature of a term, counted from the first of the column.
    pub fn feature(&self, term: &str) -> Option<usize> {
        match &self.terms {
            KnownTerms::Vocabulary(counts) => counts.vocabulary.find(term),
            KnownTerms::Hashed { hashing, .. } => Some(hashing.column(term.as_bytes()).0 as usize),
        }
    }

    /// What it does, in words.
    pub fn description(&self) -> String {
        let weighting = match (self.weighting.tf, self.weighting.idf) {
            (Tf::Count, Idf::None) => "counts".to_owned(),
            (Tf::Binary, Idf::None) => "presence".to_owned(),
            (_, Idf::None) => "frequencies".to_owned(),
            _ => "tf-idf weights".to_owned(),
        };
        match &self.terms {
            KnownTerms::Vocabulary(counts) => {
                format!("{weighting} of {} words", counts.vocabulary.len())
            }
            KnownTerms::Hashed { hashing, .. } => {
                let signed =
                    if hashing.sign == Sign::Alternate { ", half of them negative" } else { "" };
                format!("{weighting} of words in {} hashed columns{signed}", hashing.n_features)
            }
        }
    }

    /// Whether texts must be looked at before it can be used.
    pub(crate) fn needs_fit(&self) -> bool {
        match self.terms {
            KnownTerms::Vocabulary(_) => true,
            KnownTerms::Hashed { .. } => self.weighting.idf != Idf::None,
        }
    }

    /// The rows of texts; a missing one has no terms.
    pub(crate) fn rows(&self, texts: &[Option<String>]) -> Result<DocumentTermMatrix> {
        let texts: Vec<&str> = texts.iter().map(|t| t.as_deref().unwrap_or_default()).collect();
        let quiet = Monitor::quiet();
        let rows = match &self.terms {
            KnownTerms::Vocabulary(counts) => {
                count_vocabulary(&texts, &self.analyzer, &counts.vocabulary, &quiet)?
            }
            KnownTerms::Hashed { hashing, .. } => hashing.count(&texts, &self.analyzer, &quiet)?,
        };
        Ok(self.weighed(rows))
    }

    /// The rows of texts that were counted when this step was made.
    pub(crate) fn rows_of_counted(&self, texts: &TokenCounts) -> Result<DocumentTermMatrix> {
        if texts.n_columns() != self.width() {
            let (found, expected) = (texts.n_columns(), self.width());
            return Err(Error::Columns { found, expected });
        }
        Ok(self.weighed(texts.matrix()))
    }

    fn weighed(&self, mut rows: DocumentTermMatrix) -> DocumentTermMatrix {
        if self.weighting != Weighting::default() {
            self.weighting.apply(&mut rows, self.idf.get(|| self.rarity()));
        }
        rows
    }

    /// What the rarity of each term weighs.
    fn rarity(&self) -> Vec<f64> {
        let idf = self.weighting.idf;
        match &self.terms {
            KnownTerms::Vocabulary(counts) => idf.weights(&counts.frequencies, counts.n_documents),
            KnownTerms::Hashed { n_texts, documents, .. } => {
                // A column no text came to weighs as one that a single text came to.
                let met: Vec<u64> = documents.iter().map(|n| (*n).max(1)).collect();
                idf.weights(&met, *n_texts)
            }
        }
    }

    /// Refuses a step that no recipe could have made; for those that come from a file.
    pub(crate) fn check(&self) -> Result<()> {
        self.analyzer.reader().map_err(|e| Error::File(e.to_string()))?;
        match &self.terms {
            KnownTerms::Vocabulary(counts) => counts.check(),
            KnownTerms::Hashed { hashing, n_texts, documents } => {
                hashing.check().map_err(|e| Error::File(e.to_string()))?;
                let wanted = if self.weighting.idf == Idf::None { 0 } else { hashing.n_features };
                if documents.len() == wanted && documents.iter().all(|n| n <= n_texts) {
                    Ok(())
                } else {
                    Err(Error::File("counts of texts that no texts could have given".into()))
                }
            }
        }
    }
}

/// What is gathered about a column of text while it is looked at.
pub(crate) enum TextLook {
    CategoryEncoding(StreamingCounter),
    Columns { hashing: Hashing, analyzer: Analyzer, n_texts: u64, documents: Vec<u64> },
    Nothing,
}

impl TextLook {
    /// Looks at the texts of a step, with room for so many bytes of what is found.
    pub fn new(step: &TextStep, room: u64) -> Result<TextLook> {
        Ok(match &step.terms {
            _ if !step.needs_fit() => TextLook::Nothing,
            KnownTerms::Vocabulary(_) => {
                TextLook::CategoryEncoding(StreamingCounter::new(&step.analyzer, room)?)
            }
            KnownTerms::Hashed { hashing, .. } => TextLook::Columns {
                hashing: *hashing,
                analyzer: step.analyzer.clone(),
                n_texts: 0,
                documents: vec![0; hashing.n_features],
            },
        })
    }

    /// Takes the texts of a wave of tables.
    pub fn take(&mut self, batches: &[&[Option<String>]], monitor: &Monitor<'_>) -> Result<()> {
        match self {
            TextLook::CategoryEncoding(gathering) => {
                gathering.observe(batches);
                let reserve = |bytes| monitor.reserve("finding the words of texts", bytes);
                if reserve(gathering.size()).is_err() {
                    gathering.drop_cache();
                }
                reserve(gathering.size())
            }
            TextLook::Columns { hashing, analyzer, n_texts, documents } => {
                for batch in batches {
                    let texts: Vec<&str> = batch.iter().flatten().map(String::as_str).collect();
                    let rows = hashing.count(&texts, analyzer, monitor)?;
                    *n_texts += texts.len() as u64;
                    rows.columns.iter().for_each(|j| documents[*j as usize] += 1);
                }
                Ok(())
            }
            TextLook::Nothing => Ok(()),
        }
    }

    /// The step with what was learned, and the texts if there was room.
    pub fn finish(
        self,
        mut step: TextStep,
        selection: &Selection,
    ) -> Result<(TextStep, Option<TokenCounts>)> {
        let mut texts = None;
        match self {
            TextLook::CategoryEncoding(gathering) => {
                let (counts, counted) = gathering.finish(selection)?;
                step.terms = KnownTerms::Vocabulary(counts);
                texts = counted;
            }
            TextLook::Columns { hashing, n_texts, documents, .. } => {
                step.terms = KnownTerms::Hashed { hashing, n_texts, documents };
            }
            TextLook::Nothing => {}
        }
        Ok((step, texts))
    }
}
