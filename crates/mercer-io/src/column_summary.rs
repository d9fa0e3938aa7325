//! What the cells of a column look like, block by block: counts that add up to a profile.
//!
//! A tally is made from one block, merged with the tallies before it in the order of the file, and
//! judged in `profile`. LevelCounts are collected from the first cell that is not a number; where earlier
//! cells went uncollected the tally says so, and the driver asks once more for those columns.

use crate::cell_cache::KeptBlock;
use crate::error::{At, Error, shown};
use crate::missing::Missing;
use crate::number::{self, Number};
use crate::options::{Limits, Options};
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use mercer::data::Kind;
use std::sync::atomic::{AtomicI64, Ordering};

/// Distinct numbers are counted this far: enough to tell codes from measurements, at no cost.
const MAX_NUMBERS: usize = 16;
/// The words of one column may take this much memory; beyond, it is text.
const MAX_WORD_BYTES: usize = 16 << 20;

/// What a profile pass wants to know.
#[derive(Debug)]
pub(crate) struct Ask<'a> {
    pub file: &'a str,
    pub missing: Missing,
    pub limits: Limits,
    /// Columns whose words are collected from the first cell on.
    pub words: HashSet<String, RandomState>,
    /// Columns that somebody said hold texts, whose words nobody asks for.
    texts: HashSet<String, RandomState>,
    /// Bytes of cells that may still be kept; below zero, none are.
    pub room: AtomicI64,
}

impl<'a> Ask<'a> {
    pub fn new(file: &'a str, options: &Options) -> Ask<'a> {
        let asked = |kind| {
            let columns = options.kinds.iter().filter(move |(_, k)| *k == kind);
            columns.map(|(name, _)| name)
        };
        let words: HashSet<_, _> =
            asked(Kind::Categorical).chain(&options.target).cloned().collect();
        let texts = asked(Kind::Text).filter(|name| !words.contains(*name)).cloned().collect();
        Ask {
            file,
            missing: Missing::new(&options.missing),
            limits: options.limits,
            words,
            texts,
            room: AtomicI64::new(options.keep.min(i64::MAX as u64) as i64),
        }
    }

    /// Whether cells are still kept.
    pub fn keeps(&self) -> bool {
        self.room.load(Ordering::Relaxed) > 0
    }

    /// An empty tally for a column of a name.
    pub fn tally(&self, name: &str) -> ColumnSummary {
        match name {
            _ if self.words.contains(name) => ColumnSummary::exact(),
            _ if self.holds_texts(name) => ColumnSummary::of_texts(),
            _ => ColumnSummary::default(),
        }
    }

    /// Whether somebody said that a column holds texts.
    pub fn holds_texts(&self, name: &str) -> bool {
        self.texts.contains(name)
    }
}

/// The tallies of some consecutive records.
#[derive(Debug, Default)]
pub(crate) struct ColumnSummaries {
    pub n_rows: u64,
    /// The line of the first record.
    pub first_line: u64,
    pub columns: Vec<ColumnSummary>,
    /// Names in the order of `columns`, for formats whose columns appear on the way.
    pub names: Names,
    /// Whether columns go by name rather than by place.
    pub named: bool,
    /// The cells themselves, where the format keeps them and there is room.
    pub kept: Vec<KeptBlock>,
}

/// Columns in the order of their first appearance.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub list: Vec<String>,
    places: HashMap<String, usize, RandomState>,
}

impl Names {
    /// The place of a name, if it has one.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// Adds a name that is not there yet.
    pub fn add(&mut self, name: &str) {
        self.places.insert(name.to_owned(), self.list.len());
        self.list.push(name.to_owned());
    }
}

impl ColumnSummaries {
    /// Takes the records that follow; `line` is the first line of their block.
    pub fn merge(&mut self, mut other: ColumnSummaries, line: u64, limits: &Limits) {
        if other.n_rows == 0 {
            return;
        }
        self.kept.append(&mut other.kept);
        let n_rows = self.n_rows;
        let other_first = other.first_line + line;
        if n_rows == 0 {
            self.first_line = other_first;
        }
        self.n_rows += other.n_rows;
        if !other.named {
            self.columns.resize_with(other.columns.len(), ColumnSummary::default);
            for (mine, theirs) in self.columns.iter_mut().zip(other.columns) {
                mine.merge(theirs, line, limits);
            }
            return;
        }
        let mut present = vec![false; self.columns.len()];
        for (name, tally) in other.names.list.iter().zip(other.columns) {
            let j = self.names.place(name).unwrap_or_else(|| {
                self.names.add(name);
                self.columns.push(ColumnSummary::absent(n_rows, self.first_line));
                present.push(false);
                self.columns.len() - 1
            });
            present[j] = true;
            self.columns[j].merge(tally, line, limits);
        }
        for (tally, _) in self.columns.iter_mut().zip(present).filter(|(_, present)| !present) {
            tally.merge(ColumnSummary::absent(other.n_rows, other_first), 0, limits);
        }
    }
}

/// What the cells of one column look like.
#[derive(Debug)]
pub(crate) struct ColumnSummary {
    pub n_missing: u64,
    pub first_missing: Option<u64>,
    pub n_numbers: u64,
    pub n_booleans: u64,
    /// Cells that are neither.
    pub n_others: u64,
    /// The first of them: line and text.
    pub first_other: Option<(u64, String)>,
    /// Whether every number is whole.
    pub integers: bool,
    pub min: f64,
    pub max: f64,
    numbers: Vec<u64>,
    pub words: LevelCounts,
    /// One more than the largest index of a sparse row.
    pub width: u64,
    /// What a sparse file calls its first feature, once that is settled.
    pub first_index: Option<u32>,
    /// Whether index zero occurs in a sparse row.
    pub index_zero: bool,
    /// What the format itself says the column is.
    pub declared: Option<Kind>,
    pub note: Option<String>,
}

impl Default for ColumnSummary {
    fn default() -> Self {
        ColumnSummary {
            n_missing: 0,
            first_missing: None,
            n_numbers: 0,
            n_booleans: 0,
            n_others: 0,
            first_other: None,
            integers: true,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            numbers: Vec::new(),
            words: LevelCounts::new(false),
            width: 0,
            first_index: None,
            index_zero: false,
            declared: None,
            note: None,
        }
    }
}

impl ColumnSummary {
    /// An empty tally that collects every word as it is written.
    pub fn exact() -> ColumnSummary {
        ColumnSummary { words: LevelCounts::new(true), ..ColumnSummary::default() }
    }

    /// An empty tally that counts cells and collects no word.
    pub fn of_texts() -> ColumnSummary {
        ColumnSummary {
            words: LevelCounts { begun: true, full: true, ..LevelCounts::new(false) },
            ..ColumnSummary::default()
        }
    }

    fn absent(n_rows: u64, line: u64) -> ColumnSummary {
        ColumnSummary {
            n_missing: n_rows,
            first_missing: (n_rows > 0).then_some(line),
            ..ColumnSummary::default()
        }
    }

    /// Counts a missing cell.
    #[inline]
    pub fn missing(&mut self, line: u64) {
        self.n_missing += 1;
        self.first_missing.get_or_insert(line);
    }

    /// Counts a number; `text` is how it is written.
    #[inline]
    pub fn number(&mut self, number: &Number, text: &[u8], line: u64, ask: &Ask) -> Fallible {
        if !number.is_exact() && self.is_inside(number) {
            self.n_numbers += 1;
            return Ok(());
        }
        let value = number.value(text);
        if !value.is_finite() {
            return self.other(text, line, ask);
        }
        self.value(value, number.is_plain_integer());
        if self.words.collected() { self.words.add(text, line, ask) } else { Ok(()) }
    }

    /// Whether a number that is slow to read exactly could not change anything but the count.
    fn is_inside(&self, number: &Number) -> bool {
        let settled = !self.integers && self.numbers.len() > MAX_NUMBERS && !self.words.collected();
        let low = self.min * (1.0 + 1e-12 * self.min.signum());
        let high = self.max * (1.0 - 1e-12 * self.max.signum());
        settled && number.estimate().is_some_and(|x| low < x && x < high)
    }

    /// Counts a finite value.
    #[inline]
    pub fn value(&mut self, value: f64, whole: bool) {
        self.n_numbers += 1;
        self.words.skipped |= !self.words.begun;
        self.min = if value < self.min { value } else { self.min };
        self.max = if value > self.max { value } else { self.max };
        self.integers = self.integers && (whole || value.fract() == 0.0);
        if self.numbers.len() <= MAX_NUMBERS && !self.numbers.contains(&value.to_bits()) {
            self.numbers.push(value.to_bits());
        }
    }

    /// Counts a trimmed cell of a format without types.
    pub fn cell(&mut self, text: &[u8], line: u64, ask: &Ask) -> Fallible {
        if ask.missing.contains(text) {
            self.missing(line);
            return Ok(());
        }
        match number::scan(text, 0) {
            Some(n) if n.end == text.len() => self.number(&n, text, line, ask),
            _ if truth(text).is_some() => self.boolean(text, line, ask),
            _ => self.other(text, line, ask),
        }
    }

    /// Remembers how a value of a typed format is written, where that is asked for.
    pub fn spelled(&mut self, text: &[u8], line: u64, ask: &Ask) -> Fallible {
        if self.words.always { self.words.add(text, line, ask) } else { Ok(()) }
    }

    /// Whether every value must be spelled.
    pub fn wants_spelling(&self) -> bool {
        self.words.always
    }

    /// Counts a truth value.
    pub fn boolean(&mut self, text: &[u8], line: u64, ask: &Ask) -> Fallible {
        self.n_booleans += 1;
        self.words.add(text, line, ask)
    }

    /// Counts a cell that is neither missing nor a number nor a truth value.
    pub fn other(&mut self, text: &[u8], line: u64, ask: &Ask) -> Fallible {
        self.n_others += 1;
        self.first_other.get_or_insert_with(|| (line, shown(text)));
        self.words.add(text, line, ask)
    }

    /// Cells that are not missing.
    pub fn n_present(&self) -> u64 {
        self.n_numbers + self.n_booleans + self.n_others
    }

    /// How many distinct values there are, and whether there may be more.
    pub fn n_distinct(&self) -> (u64, bool) {
        if self.n_others + self.n_booleans > 0 || self.words.collected() {
            let capped = self.words.full || self.words.skipped;
            return (self.words.counts.len() as u64, capped);
        }
        let n = self.numbers.len().min(MAX_NUMBERS);
        (n as u64, self.numbers.len() > MAX_NUMBERS)
    }

    fn merge(&mut self, other: ColumnSummary, line: u64, limits: &Limits) {
        self.n_missing += other.n_missing;
        self.first_missing = self.first_missing.or(other.first_missing.map(|l| l + line));
        self.n_numbers += other.n_numbers;
        self.n_booleans += other.n_booleans;
        self.n_others += other.n_others;
        if self.first_other.is_none() {
            self.first_other = other.first_other.map(|(l, text)| (l + line, text));
        }
        self.integers &= other.integers;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        for bits in other.numbers {
            if self.numbers.len() <= MAX_NUMBERS && !self.numbers.contains(&bits) {
                self.numbers.push(bits);
            }
        }
        self.words.merge(other.words, limits);
        self.width = self.width.max(other.width);
        self.index_zero |= other.index_zero;
        self.declared = self.declared.or(other.declared);
        self.note = self.note.take().or(other.note);
    }
}

/// A cell is taken or refused. Boxed, since this is returned once a cell: one register, not five.
pub(crate) type Fallible = std::result::Result<(), Box<Fault>>;

/// Why a cell is refused; the caller knows the column.
#[derive(Debug)]
pub(crate) enum Fault {
    NotUtf8 { line: u64 },
    Cell { line: u64, found: String, expected: Kind },
}

impl Fault {
    /// The error of this fault, with the names its place has.
    #[cold]
    pub fn error(self, file: &str, column: &str, at: fn(u64) -> At) -> Error {
        let file = file.to_owned();
        match self {
            Fault::NotUtf8 { line } => {
                Error::NotUtf8 { file, at: at(line), place: format!("column `{column}`") }
            }
            Fault::Cell { line, found, expected } => {
                Error::Cell { file, at: at(line), column: column.to_owned(), found, expected }
            }
        }
    }
}

/// How often each word occurs, up to a limit.
#[derive(Debug)]
pub(crate) struct LevelCounts {
    pub counts: HashMap<Box<[u8]>, u64, RandomState>,
    n_bytes: usize,
    /// Collected from the first cell on, whatever it looks like.
    always: bool,
    /// Collected from here on.
    begun: bool,
    /// More words than the limit; the list is given up.
    pub full: bool,
    /// Some numbers went by before the first word, so the list has holes.
    pub skipped: bool,
}

impl LevelCounts {
    fn new(always: bool) -> LevelCounts {
        LevelCounts {
            counts: HashMap::default(),
            n_bytes: 0,
            always,
            begun: always,
            full: false,
            skipped: false,
        }
    }

    /// Whether the next cell is collected even if it is a number.
    #[inline]
    pub fn collected(&self) -> bool {
        self.begun
    }

    fn add(&mut self, word: &[u8], line: u64, ask: &Ask) -> Fallible {
        if let Some(n) = self.counts.get_mut(word) {
            *n += 1;
            return Ok(());
        }
        if std::str::from_utf8(word).is_err() {
            return Err(Fault::NotUtf8 { line }.into());
        }
        if self.full {
            return Ok(());
        }
        self.insert(word.into(), 1, &ask.limits);
        Ok(())
    }

    fn insert(&mut self, word: Box<[u8]>, n: u64, limits: &Limits) {
        if self.full {
            return;
        }
        self.begun = true;
        self.n_bytes += word.len();
        *self.counts.entry(word).or_insert(0) += n;
        if self.counts.len() > limits.levels || self.n_bytes > MAX_WORD_BYTES {
            self.full = true;
            self.counts = HashMap::default();
        }
    }

    fn merge(&mut self, other: LevelCounts, limits: &Limits) {
        self.always |= other.always;
        self.begun |= other.begun;
        self.skipped |= other.skipped;
        if other.full {
            self.full = true;
            self.counts = HashMap::default();
        }
        for (word, n) in other.counts {
            match self.counts.get_mut(&word) {
                Some(mine) => *mine += n,
                None => self.insert(word, n, limits),
            }
        }
    }
}

/// The truth value a word stands for, in any case.
#[inline]
pub(crate) fn truth(word: &[u8]) -> Option<bool> {
    match word.len() {
        4 if word.eq_ignore_ascii_case(b"true") => Some(true),
        5 if word.eq_ignore_ascii_case(b"false") => Some(false),
        _ => None,
    }
}
