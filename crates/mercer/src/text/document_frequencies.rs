//! Document frequencies: the number of documents that contain each term.

use super::analyzer::Analyzer;
use super::counter::{Counter, workers};
use super::counts::TermCounts;
use super::vocabulary::Vocabulary;
use crate::data::token_counts::DocumentBlock;
use crate::error::{Error, Result};
use crate::model::{Monitor, Statistics};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// The document frequency of every term of a vocabulary: the statistic of IDF weights, mergeable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentFrequencies {
    /// The number of documents.
    pub n_documents: u64,
    /// Their terms in order.
    pub vocabulary: Vocabulary,
    /// The number of documents that contain each term.
    pub frequencies: Vec<u64>,
}

impl DocumentFrequencies {
    /// The document frequencies of all terms of some documents.
    ///
    /// # Errors
    /// If the analyzer is not usable, or [`Error::Stopped`].
    ///
    /// ```
    /// use mercer::prelude::*;
    /// use mercer::text::{Analyzer, DocumentFrequencies};
    /// let of = |text| DocumentFrequencies::of(&[text], &Analyzer::default(), &Monitor::quiet());
    /// let mut df = of("an apple")?;
    /// df.merge(&of("an egg")?)?;
    /// assert_eq!(df.vocabulary.terms().collect::<Vec<_>>(), ["an", "apple", "egg"]);
    /// assert_eq!((df.n_documents, df.frequencies), (2, vec![2, 1, 1]));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn of(documents: &[&str], analyzer: &Analyzer, monitor: &Monitor<'_>) -> Result<Self> {
        let reader = analyzer.reader()?;
        let counters = workers(documents, monitor, |next| {
            let mut counter = Counter::default();
            while let Some((_, documents)) = next() {
                counter.observe(&reader, documents.iter().copied());
            }
            counter
        })?;
        let counts = TermCounts::new(counters, Vec::new());
        let keep = vec![true; counts.n_terms()];
        Ok(DocumentFrequencies::select(counts, &keep, documents.len() as u64).0)
    }

    /// The document frequencies of the selected terms, and the blocks by their columns.
    pub(super) fn select(
        counts: TermCounts,
        keep: &[bool],
        n_documents: u64,
    ) -> (Self, Vec<DocumentBlock>) {
        let selected = counts.document_frequencies().iter().zip(keep).filter(|(_, keep)| **keep);
        let frequencies = selected.map(|(n, _)| *n).collect();
        let (vocabulary, blocks) = counts.select_blocks(keep);
        (DocumentFrequencies { n_documents, vocabulary, frequencies }, blocks)
    }
}

impl Statistics for DocumentFrequencies {
    fn merge(&mut self, other: &Self) -> Result<()> {
        let (mut i, mut j) = (0, 0);
        let mut terms = Vec::with_capacity(self.vocabulary.len().max(other.vocabulary.len()));
        let mut frequencies = Vec::with_capacity(terms.capacity());
        while i < self.frequencies.len() || j < other.frequencies.len() {
            let mine = (i < self.frequencies.len()).then(|| self.vocabulary.term(i));
            let theirs = (j < other.frequencies.len()).then(|| other.vocabulary.term(j));
            let order = match (mine, theirs) {
                (Some(a), Some(b)) => a.cmp(b),
                (Some(_), None) => Ordering::Less,
                _ => Ordering::Greater,
            };
            let (mut n, mut term) = (0, "");
            if let (Some(mine), Ordering::Less | Ordering::Equal) = (mine, order) {
                (n, term) = (n + self.frequencies[i], mine);
                i += 1;
            }
            if let (Some(theirs), Ordering::Greater | Ordering::Equal) = (theirs, order) {
                (n, term) = (n + other.frequencies[j], theirs);
                j += 1;
            }
            terms.push(term);
            frequencies.push(n);
        }
        let vocabulary = Vocabulary::new(terms)?;
        let n_documents = self.n_documents + other.n_documents;
        *self = DocumentFrequencies { n_documents, vocabulary, frequencies };
        Ok(())
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        let refuse = |why: String| Error::Forget { why };
        let n_documents = (self.n_documents.checked_sub(other.n_documents)).ok_or_else(|| {
            refuse(format!("{} of {} documents", other.n_documents, self.n_documents))
        })?;
        let mut frequencies = self.frequencies.clone();
        for (term, n) in other.vocabulary.terms().zip(&other.frequencies) {
            let left = self.vocabulary.find(term).and_then(|id| {
                frequencies[id] = frequencies[id].checked_sub(*n)?;
                Some(())
            });
            left.ok_or_else(|| {
                refuse(format!("the term `{term}` in more documents than were observed"))
            })?;
        }
        let left = || (0..frequencies.len()).filter(|id| frequencies[*id] > 0);
        let vocabulary = Vocabulary::new(left().map(|id| self.vocabulary.term(id)))?;
        let frequencies = left().map(|id| frequencies[id]).collect();
        *self = DocumentFrequencies { n_documents, vocabulary, frequencies };
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let sorted = self.vocabulary.terms().is_sorted_by(|a, b| a < b);
        let fits = self.frequencies.len() == self.vocabulary.len()
            && self.frequencies.iter().all(|n| (1..=self.n_documents).contains(n));
        if sorted && fits {
            Ok(())
        } else {
            Err(Error::File("the document frequencies are inconsistent".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENTS: [&str; 4] = ["The cat sat, the cat ran.", "", "A dog ran", "cat & dog & cat!"];

    #[test]
    fn frequencies_of_parts_merge_and_forget() {
        let of = |texts: &[&str]| {
            DocumentFrequencies::of(texts, &Analyzer::default(), &Monitor::quiet()).unwrap()
        };
        let whole = of(&DOCUMENTS);
        let mut sum = of(&DOCUMENTS[2..]);
        sum.merge(&of(&DOCUMENTS[..2])).unwrap();
        assert_eq!(sum, whole);
        whole.check().unwrap();

        sum.forget(&of(&DOCUMENTS[..2])).unwrap();

        assert_eq!(sum, of(&DOCUMENTS[2..]));
        assert!(sum.forget(&of(&["zebra"])).is_err());
    }
}
