//! Cells cached by the profile pass, so that a table that fits in memory is parsed once.
//!
//! Within the budget of bytes, the profile pass stores every cell: numbers as numbers, strings as codes into the levels
//! of their block, and the documents of columns that the user declared to be text one after the other. Later passes
//! read from the cache instead of the file. A column that starts with numbers and goes on with strings is not cached,
//! because the spelling of its numbers is lost; then the file is parsed again.

use crate::cells::{Cells, any_bool};
use crate::decoder::{Decoder, FieldDecoder};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use mercer::data::{Kind, MISSING};

/// The cells of one block, by column of the file.
#[derive(Debug)]
pub(crate) struct CachedBlock {
    pub columns: Vec<CachedColumn>,
    pub n_rows: usize,
}

/// The cells of one column of a block.
#[derive(Debug)]
pub(crate) enum CachedColumn {
    Numeric(Vec<f64>),
    Categorical(CachedLevels),
    Text(CachedTexts),
    NotCached,
}

/// Codes and what they stand for, in order of appearance.
#[derive(Debug, Default)]
pub(crate) struct CachedLevels {
    codes: Vec<u32>,
    words: Vec<Box<[u8]>>,
    positions: HashMap<Box<[u8]>, u32, RandomState>,
}

/// Documents with the spaces inside their quotes.
#[derive(Debug, Default)]
pub(crate) struct CachedTexts {
    bytes: Vec<u8>,
    /// The end of each document; `None` if it is missing.
    ends: Vec<Option<usize>>,
}

impl CachedTexts {
    fn push(&mut self, raw: &[u8]) {
        self.bytes.extend_from_slice(raw);
        self.ends.push(Some(self.bytes.len()));
    }

    /// The documents; they were checked to be UTF-8 when they were cached.
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

impl CachedColumn {
    /// An empty column with the capacity for a block.
    pub fn new(holds_texts: bool, n_rows: usize, n_bytes: usize) -> CachedColumn {
        match holds_texts {
            true => CachedColumn::Text(CachedTexts {
                bytes: Vec::with_capacity(n_bytes),
                ends: Vec::with_capacity(n_rows),
            }),
            false => CachedColumn::Numeric(Vec::with_capacity(n_rows)),
        }
    }

    #[inline(always)]
    pub fn value(&mut self, value: f64) {
        if let CachedColumn::Numeric(v) = self {
            v.push(value);
        }
    }

    pub fn missing(&mut self) {
        match self {
            CachedColumn::Numeric(v) => v.push(f64::NAN),
            CachedColumn::Categorical(w) => w.codes.push(MISSING),
            CachedColumn::Text(t) => t.ends.push(None),
            CachedColumn::NotCached => {}
        }
    }

    /// Adds a cell by its trimmed text; `raw` has the spaces inside the quotes. A column with earlier numbers is no
    /// longer cached.
    pub fn string(&mut self, text: &[u8], raw: &[u8]) {
        if let CachedColumn::Numeric(v) = self {
            *self = if v.iter().all(|x| x.is_nan()) {
                let codes = vec![MISSING; v.len()];
                CachedColumn::Categorical(CachedLevels { codes, ..CachedLevels::default() })
            } else {
                CachedColumn::NotCached
            };
        }
        match self {
            CachedColumn::Categorical(w) => w.push(text),
            CachedColumn::Text(t) => t.push(raw),
            CachedColumn::Numeric(_) | CachedColumn::NotCached => {}
        }
    }

    fn bytes(&self) -> usize {
        match self {
            CachedColumn::Numeric(v) => 8 * v.capacity(),
            CachedColumn::Categorical(w) => {
                4 * w.codes.capacity()
                    + w.words.iter().map(|word| 64 + 2 * word.len()).sum::<usize>()
            }
            CachedColumn::Text(t) => t.bytes.capacity() + 16 * t.ends.capacity(),
            CachedColumn::NotCached => 0,
        }
    }

    /// Whether a field can have its cells from here.
    fn serves(&self, to: &FieldDecoder) -> bool {
        let (kind, plain) = (to.field.kind, to.field.notation.is_plain());
        match self {
            CachedColumn::Numeric(v) => {
                kind == Kind::Numeric && plain || v.iter().all(|x| x.is_nan())
            }
            CachedColumn::Categorical(w) if kind == Kind::Boolean => {
                w.words.iter().all(|w| any_bool(w).is_some())
            }
            CachedColumn::Categorical(w) if kind == Kind::Numeric && !plain => {
                w.words.iter().all(|w| to.parse(w).is_some())
            }
            CachedColumn::Categorical(_) => kind == Kind::Categorical,
            CachedColumn::Text(_) => kind == Kind::Text,
            CachedColumn::NotCached => false,
        }
    }

    /// The cells of a field that this column serves.
    fn cells(&self, to: &FieldDecoder) -> Cells {
        match (self, to.field.kind) {
            (CachedColumn::Numeric(v), Kind::Numeric) if to.field.notation.is_plain() => {
                Cells::Numeric(v.clone())
            }
            (CachedColumn::Categorical(w), Kind::Numeric) => {
                let values: Vec<f64> =
                    w.words.iter().map(|word| to.parse(word).unwrap_or(f64::NAN)).collect();
                let value = |c: &u32| values.get(*c as usize).copied().unwrap_or(f64::NAN);
                Cells::Written(w.codes.iter().map(value).collect())
            }
            (CachedColumn::Categorical(w), Kind::Categorical) => {
                let known: Vec<u32> = w.words.iter().map(|word| to.code(word)).collect();
                let code = |c: &u32| known.get(*c as usize).copied().unwrap_or(MISSING);
                Cells::Categorical(w.codes.iter().map(code).collect())
            }
            (CachedColumn::Categorical(w), Kind::Boolean) => {
                let known: Vec<Option<bool>> = w.words.iter().map(|word| any_bool(word)).collect();
                let answer = |c: &u32| known.get(*c as usize).copied().flatten();
                Cells::Boolean(w.codes.iter().map(answer).collect())
            }
            (CachedColumn::Text(t), Kind::Text) => Cells::Text(t.texts()),
            // A block of missing values fits any kind.
            _ => {
                let mut cells = Cells::new(&to.field, self.len());
                (0..self.len()).for_each(|_| cells.push_missing());
                cells
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            CachedColumn::Numeric(v) => v.len(),
            CachedColumn::Categorical(w) => w.codes.len(),
            CachedColumn::Text(t) => t.ends.len(),
            CachedColumn::NotCached => 0,
        }
    }
}

impl CachedLevels {
    fn push(&mut self, text: &[u8]) {
        let code = match self.positions.get(text) {
            Some(code) => *code,
            None => {
                let code = self.words.len() as u32;
                self.positions.insert(text.into(), code);
                self.words.push(text.into());
                code
            }
        };
        self.codes.push(code);
    }
}

impl CachedBlock {
    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(CachedColumn::bytes).sum()
    }

    /// Whether all fields of a decoder can be read from the cache; `names` are the columns of the file.
    pub fn serves(&self, decoder: &Decoder<'_>, names: &[String]) -> bool {
        names.iter().zip(&self.columns).all(|(name, cached)| {
            decoder.position(name).is_none_or(|k| cached.serves(&decoder.fields[k]))
        })
    }

    /// The cells of the fields of a decoder, in its order.
    pub fn decode(&self, decoder: &Decoder<'_>, names: &[String]) -> Vec<Cells> {
        let mut columns: Vec<(usize, Cells)> = names
            .iter()
            .zip(&self.columns)
            .filter_map(|(name, cached)| {
                decoder.position(name).map(|k| (k, cached.cells(&decoder.fields[k])))
            })
            .collect();
        columns.sort_by_key(|(k, _)| *k);
        columns.into_iter().map(|(_, cells)| cells).collect()
    }
}
