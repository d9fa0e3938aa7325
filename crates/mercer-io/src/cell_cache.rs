//! Cells kept from the first look, so that a table that fits in memory is parsed once.
//!
//! The pass that finds out what the columns hold has every cell in its hands anyway. As long as the
//! budget lasts, it keeps them: numbers as numbers, words as codes into the words of their block, and texts,
//! where somebody said that a column holds them, one behind the other. A later pass takes them from here instead
//! of the file. A column that is a mixture (numbers first,
//! then words) is not kept, since nobody knows any more how the numbers were written; then the file is
//! read again, as it is when the table is too large.

use crate::cells::Cells;
use crate::column_summary::truth;
use crate::decoder::{Decoder, PlannedField};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use mercer::data::{Kind, MISSING};

/// The cells of one block, by column of the file.
#[derive(Debug)]
pub(crate) struct KeptBlock {
    pub columns: Vec<KeptColumn>,
    pub n_rows: usize,
}

/// The cells of one column of a block.
#[derive(Debug)]
pub(crate) enum KeptColumn {
    Numbers(Vec<f64>),
    LevelCounts(KeptWords),
    Texts(KeptTexts),
    Lost,
}

/// CategoryCounts and what they stand for, in order of appearance.
#[derive(Debug, Default)]
pub(crate) struct KeptWords {
    codes: Vec<u32>,
    words: Vec<Box<[u8]>>,
    places: HashMap<Box<[u8]>, u32, RandomState>,
}

/// Texts with the spaces their quotes kept.
#[derive(Debug, Default)]
pub(crate) struct KeptTexts {
    bytes: Vec<u8>,
    /// Where each text ends; nothing where it is missing.
    ends: Vec<Option<usize>>,
}

impl KeptTexts {
    fn push(&mut self, raw: &[u8]) {
        self.bytes.extend_from_slice(raw);
        self.ends.push(Some(self.bytes.len()));
    }

    /// The texts; whoever kept them has seen that they are UTF-8.
    fn texts(&self) -> Vec<Option<String>> {
        let mut start = 0;
        let text = |end: &Option<usize>| {
            let end = (*end)?;
            let bytes = &self.bytes[start..end];
            start = end;
            // Several times as fast as the lossy way, which no text here should need.
            Some(match std::str::from_utf8(bytes) {
                Ok(text) => text.to_owned(),
                Err(_) => String::from_utf8_lossy(bytes).into_owned(),
            })
        };
        self.ends.iter().map(text).collect()
    }
}

impl KeptColumn {
    /// No cells of a column, with room for `n_rows` of them, or for a block where it holds texts.
    pub fn new(holds_texts: bool, n_rows: usize, n_bytes: usize) -> KeptColumn {
        match holds_texts {
            true => KeptColumn::Texts(KeptTexts {
                bytes: Vec::with_capacity(n_bytes),
                ends: Vec::with_capacity(n_rows),
            }),
            false => KeptColumn::Numbers(Vec::with_capacity(n_rows)),
        }
    }

    #[inline(always)]
    pub fn value(&mut self, value: f64) {
        if let KeptColumn::Numbers(v) = self {
            v.push(value);
        }
    }

    pub fn missing(&mut self) {
        match self {
            KeptColumn::Numbers(v) => v.push(f64::NAN),
            KeptColumn::LevelCounts(w) => w.codes.push(MISSING),
            KeptColumn::Texts(t) => t.ends.push(None),
            KeptColumn::Lost => {}
        }
    }

    /// Takes a cell by its text, which is `raw` with the spaces its quotes kept; a column that had numbers
    /// before is lost.
    pub fn word(&mut self, text: &[u8], raw: &[u8]) {
        if let KeptColumn::Numbers(v) = self {
            *self = if v.iter().all(|x| x.is_nan()) {
                let codes = vec![MISSING; v.len()];
                KeptColumn::LevelCounts(KeptWords { codes, ..KeptWords::default() })
            } else {
                KeptColumn::Lost
            };
        }
        match self {
            KeptColumn::LevelCounts(w) => w.push(text),
            KeptColumn::Texts(t) => t.push(raw),
            KeptColumn::Numbers(_) | KeptColumn::Lost => {}
        }
    }

    fn bytes(&self) -> usize {
        match self {
            KeptColumn::Numbers(v) => 8 * v.capacity(),
            KeptColumn::LevelCounts(w) => {
                4 * w.codes.capacity()
                    + w.words.iter().map(|word| 64 + 2 * word.len()).sum::<usize>()
            }
            KeptColumn::Texts(t) => t.bytes.capacity() + 16 * t.ends.capacity(),
            KeptColumn::Lost => 0,
        }
    }

    /// Whether a field can have its cells from here.
    fn serves(&self, kind: Kind) -> bool {
        match self {
            KeptColumn::Numbers(v) => kind == Kind::Numeric || v.iter().all(|x| x.is_nan()),
            KeptColumn::LevelCounts(w) if kind == Kind::Boolean => {
                w.words.iter().all(|w| truth(w).is_some())
            }
            KeptColumn::LevelCounts(_) => kind == Kind::Categorical,
            KeptColumn::Texts(_) => kind == Kind::Text,
            KeptColumn::Lost => false,
        }
    }

    /// The cells as a field that is served wants them.
    fn cells(&self, to: &PlannedField) -> Cells {
        match (self, to.field.kind) {
            (KeptColumn::Numbers(v), Kind::Numeric) => Cells::Numbers(v.clone()),
            (KeptColumn::LevelCounts(w), Kind::Categorical) => {
                let known: Vec<u32> = w.words.iter().map(|word| to.code(word)).collect();
                let code = |c: &u32| known.get(*c as usize).copied().unwrap_or(MISSING);
                Cells::CategoryCounts(w.codes.iter().map(code).collect())
            }
            (KeptColumn::LevelCounts(w), Kind::Boolean) => {
                let known: Vec<Option<bool>> = w.words.iter().map(|word| truth(word)).collect();
                let answer = |c: &u32| known.get(*c as usize).copied().flatten();
                Cells::Booleans(w.codes.iter().map(answer).collect())
            }
            (KeptColumn::Texts(t), Kind::Text) => Cells::Text(t.texts()),
            // A block of nothing but gaps fits any kind.
            (_, kind) => {
                let mut cells = Cells::new(kind, self.len());
                (0..self.len()).for_each(|_| cells.push_missing());
                cells
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            KeptColumn::Numbers(v) => v.len(),
            KeptColumn::LevelCounts(w) => w.codes.len(),
            KeptColumn::Texts(t) => t.ends.len(),
            KeptColumn::Lost => 0,
        }
    }
}

impl KeptWords {
    fn push(&mut self, text: &[u8]) {
        let code = match self.places.get(text) {
            Some(code) => *code,
            None => {
                let code = self.words.len() as u32;
                self.places.insert(text.into(), code);
                self.words.push(text.into());
                code
            }
        };
        self.codes.push(code);
    }
}

impl KeptBlock {
    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(KeptColumn::bytes).sum()
    }

    /// Whether every cell of a plan can be had from here; `names` are the file's columns.
    pub fn serves(&self, plan: &Decoder<'_>, names: &[String]) -> bool {
        names.iter().zip(&self.columns).all(|(name, kept)| {
            plan.place(name).is_none_or(|k| kept.serves(plan.fields[k].field.kind))
        })
    }

    /// The cells of a plan that is served, in its order.
    pub fn decode(&self, plan: &Decoder<'_>, names: &[String]) -> Vec<Cells> {
        let mut columns: Vec<(usize, Cells)> = names
            .iter()
            .zip(&self.columns)
            .filter_map(|(name, kept)| plan.place(name).map(|k| (k, kept.cells(&plan.fields[k]))))
            .collect();
        columns.sort_by_key(|(k, _)| *k);
        columns.into_iter().map(|(_, cells)| cells).collect()
    }
}
