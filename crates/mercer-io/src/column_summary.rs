//! Summaries of the cells of a column, block by block: counts that merge to a profile.
//!
//! Each block gives one summary; summaries are merged in the order of the file and turned into a profile by `profile`.
//! Levels are collected from the first cell that is not a number on. If earlier cells were skipped, the summary says
//! so, and a second pass collects the levels of those columns.

use crate::cell_cache::CachedBlock;
use crate::error::{At, Error, shown};
use crate::missing::Missing;
use crate::number::{self, Number};
use crate::options::{ColumnType, Limits, Options};
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use mercer::data::{Kind, Notation, NotationCounts};
use mercer::train::CellCounts;
use std::sync::atomic::{AtomicI64, Ordering};

/// Distinct numbers are counted up to this limit.
const MAX_DISTINCT_NUMBERS: usize = 16;
/// A column whose levels take more memory than this is text.
const MAX_LEVEL_BYTES: usize = 16 << 20;

/// What a profile pass collects.
#[derive(Debug)]
pub(crate) struct ProfileRequest<'a> {
    pub file: &'a str,
    pub missing: Missing,
    pub limits: Limits,
    /// Columns whose levels are collected from the first cell on.
    pub exact_levels: HashSet<String, RandomState>,
    /// Columns that the user declared to be text; their levels are not collected.
    texts: HashSet<String, RandomState>,
    /// The columns whose cells are not plain numbers, with their notation.
    pub notations: HashMap<String, Notation, RandomState>,
    /// Bytes of cells that may still be cached; caching ends at zero.
    pub cache_left: AtomicI64,
}

impl<'a> ProfileRequest<'a> {
    pub fn new(file: &'a str, options: &Options) -> ProfileRequest<'a> {
        let declared = |kind| {
            let columns = options.types.iter().filter(move |(_, t)| *t == ColumnType::Kind(kind));
            columns.map(|(name, _)| name)
        };
        let notations =
            options.types.iter().filter_map(|(name, of)| Some((name.clone(), of.notation()?)));
        let exact_levels: HashSet<_, _> =
            declared(Kind::Categorical).chain(&options.target).cloned().collect();
        let texts =
            declared(Kind::Text).filter(|name| !exact_levels.contains(*name)).cloned().collect();
        ProfileRequest {
            file,
            missing: Missing::new(&options.missing),
            limits: options.limits,
            exact_levels,
            texts,
            notations: notations.collect(),
            cache_left: AtomicI64::new(options.cache_bytes.min(i64::MAX as u64) as i64),
        }
    }

    /// Whether cells are still cached.
    pub fn caches(&self) -> bool {
        self.cache_left.load(Ordering::Relaxed) > 0
    }

    /// An empty summary for a column.
    pub fn new_summary(&self, name: &str) -> ColumnSummary {
        let summary = match name {
            _ if self.exact_levels.contains(name) => ColumnSummary::exact(),
            _ if self.holds_texts(name) => ColumnSummary::of_texts(),
            _ => ColumnSummary::default(),
        };
        match self.notations.get(name) {
            Some(notation) => summary.written(notation.clone()),
            None => summary,
        }
    }

    /// Whether the user declared a column to be text.
    pub fn holds_texts(&self, name: &str) -> bool {
        self.texts.contains(name)
    }
}

/// The summaries of consecutive records.
#[derive(Debug, Default)]
pub(crate) struct ColumnSummaries {
    pub n_rows: u64,
    /// The line of the first record.
    pub first_line: u64,
    pub columns: Vec<ColumnSummary>,
    /// Names in the order of `columns`, for formats whose columns appear on the way.
    pub names: Names,
    /// Whether columns are matched by name rather than by position.
    pub named: bool,
    /// The cells, if the format caches them and the budget allows.
    pub cached: Vec<CachedBlock>,
}

/// Columns in the order of their first appearance.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub list: Vec<String>,
    positions: HashMap<String, usize, RandomState>,
}

impl Names {
    /// The position of a name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    /// Adds a name that is not there yet.
    pub fn add(&mut self, name: &str) {
        self.positions.insert(name.to_owned(), self.list.len());
        self.list.push(name.to_owned());
    }
}

impl ColumnSummaries {
    /// Takes the records that follow; `line` is the first line of their block.
    pub fn merge(&mut self, mut other: ColumnSummaries, line: u64, limits: &Limits) {
        if other.n_rows == 0 {
            return;
        }
        self.cached.append(&mut other.cached);
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
        for (name, summary) in other.names.list.iter().zip(other.columns) {
            let j = self.names.position(name).unwrap_or_else(|| {
                self.names.add(name);
                self.columns.push(ColumnSummary::absent(n_rows, self.first_line));
                present.push(false);
                self.columns.len() - 1
            });
            present[j] = true;
            self.columns[j].merge(summary, line, limits);
        }
        for (summary, _) in self.columns.iter_mut().zip(present).filter(|(_, present)| !present) {
            summary.merge(ColumnSummary::absent(other.n_rows, other_first), 0, limits);
        }
    }
}

/// The summary of one column.
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
    pub levels: LevelCounts,
    /// One more than the largest index of a sparse row.
    pub width: u64,
    /// The index of the first feature of a sparse file, once it is known.
    pub first_index: Option<u32>,
    /// Whether index zero occurs in a sparse row.
    pub index_zero: bool,
    /// The kind that the format declares.
    pub declared: Option<Kind>,
    /// How the cells are written, if they are not plain numbers; with the cells that are not written so.
    pub notation: Option<Notation>,
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
            levels: LevelCounts::new(false),
            width: 0,
            first_index: None,
            index_zero: false,
            declared: None,
            notation: None,
            note: None,
        }
    }
}

impl ColumnSummary {
    /// An empty summary that collects every level as it is written.
    pub fn exact() -> ColumnSummary {
        ColumnSummary { levels: LevelCounts::new(true), ..ColumnSummary::default() }
    }

    /// An empty summary that collects no levels.
    pub fn of_texts() -> ColumnSummary {
        ColumnSummary {
            levels: LevelCounts {
                begun: true,
                full: true,
                ignored: true,
                ..LevelCounts::new(false)
            },
            ..ColumnSummary::default()
        }
    }

    /// The summary of cells that are written in a notation.
    fn written(mut self, notation: Notation) -> ColumnSummary {
        self.notation = Some(notation);
        // Every cell is needed as it is written.
        self.levels.begun = true;
        self
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
    pub fn number(
        &mut self,
        number: &Number,
        text: &[u8],
        line: u64,
        request: &ProfileRequest,
    ) -> Fallible {
        if self.notation.is_some() {
            return self.written_cell(text, line, request);
        }
        if !number.is_exact() && self.is_inside(number) {
            self.n_numbers += 1;
            return Ok(());
        }
        let value = number.value(text);
        if !value.is_finite() {
            return self.other(text, line, request);
        }
        self.value(value, number.is_plain_integer());
        if self.levels.collected() { self.levels.add(text, line, request) } else { Ok(()) }
    }

    /// Whether an inexact number changes only the count: it lies strictly between the minimum and the maximum.
    fn is_inside(&self, number: &Number) -> bool {
        let settled =
            !self.integers && self.numbers.len() > MAX_DISTINCT_NUMBERS && !self.levels.collected();
        let low = self.min * (1.0 + 1e-12 * self.min.signum());
        let high = self.max * (1.0 - 1e-12 * self.max.signum());
        settled && number.estimate().is_some_and(|x| low < x && x < high)
    }

    /// Counts a finite value.
    #[inline]
    pub fn value(&mut self, value: f64, whole: bool) {
        self.n_numbers += 1;
        self.levels.skipped |= !self.levels.begun;
        self.min = if value < self.min { value } else { self.min };
        self.max = if value > self.max { value } else { self.max };
        self.integers = self.integers && (whole || value.fract() == 0.0);
        if self.numbers.len() <= MAX_DISTINCT_NUMBERS && !self.numbers.contains(&value.to_bits()) {
            self.numbers.push(value.to_bits());
        }
    }

    /// Counts a trimmed cell of a format without types.
    pub fn cell(&mut self, text: &[u8], line: u64, request: &ProfileRequest) -> Fallible {
        if request.missing.contains(text) {
            self.missing(line);
            return Ok(());
        }
        if self.notation.is_some() {
            return self.written_cell(text, line, request);
        }
        match number::scan(text, 0) {
            Some(n) if n.end == text.len() => self.number(&n, text, line, request),
            _ if parse_bool(text).is_some() => self.boolean(text, line, request),
            _ => self.other(text, line, request),
        }
    }

    /// Counts a cell by the notation of the column.
    fn written_cell(&mut self, text: &[u8], line: u64, request: &ProfileRequest) -> Fallible {
        let notation = self.notation.as_ref();
        let value = std::str::from_utf8(text).ok().and_then(|text| notation?.parse(text));
        match value {
            Some(value) => self.value(value, false),
            None => {
                self.n_others += 1;
                self.first_other.get_or_insert_with(|| (line, shown(text)));
            }
        }
        if self.levels.always { self.levels.add(text, line, request) } else { Ok(()) }
    }

    /// Collects the spelling of a value of a typed format, if it is needed.
    #[cfg(feature = "all-formats")]
    pub fn spelled(&mut self, text: &[u8], line: u64, request: &ProfileRequest) -> Fallible {
        if self.levels.always { self.levels.add(text, line, request) } else { Ok(()) }
    }

    /// Whether every value must be spelled.
    #[cfg(feature = "all-formats")]
    pub fn wants_spelling(&self) -> bool {
        self.levels.always
    }

    /// Counts a boolean.
    pub fn boolean(&mut self, text: &[u8], line: u64, request: &ProfileRequest) -> Fallible {
        self.n_booleans += 1;
        self.levels.add(text, line, request)
    }

    /// Counts a cell that is neither missing nor numeric nor boolean.
    pub fn other(&mut self, text: &[u8], line: u64, request: &ProfileRequest) -> Fallible {
        if self.notation.is_some() {
            return self.written_cell(text, line, request);
        }
        self.n_others += 1;
        self.first_other.get_or_insert_with(|| (line, shown(text)));
        self.levels.add(text, line, request)
    }

    /// Cells that are not missing.
    pub fn n_present(&self) -> u64 {
        self.n_numbers + self.n_booleans + self.n_others
    }

    /// The counts that decide the kind of the column.
    pub fn cell_counts(&self) -> CellCounts {
        CellCounts { n_numeric: self.n_numbers, n_boolean: self.n_booleans, n_other: self.n_others }
    }

    /// The number of distinct values, and whether there may be more.
    pub fn n_distinct(&self) -> (u64, bool) {
        let by_levels = self.levels.collected() && (self.notation.is_none() || self.levels.always);
        if self.n_others + self.n_booleans > 0 || by_levels {
            let capped = self.levels.full || self.levels.skipped;
            return (self.levels.counts.len() as u64, capped);
        }
        let n = self.numbers.len().min(MAX_DISTINCT_NUMBERS);
        (n as u64, self.numbers.len() > MAX_DISTINCT_NUMBERS)
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
            if self.numbers.len() <= MAX_DISTINCT_NUMBERS && !self.numbers.contains(&bits) {
                self.numbers.push(bits);
            }
        }
        self.levels.merge(other.levels, limits);
        self.width = self.width.max(other.width);
        self.index_zero |= other.index_zero;
        self.declared = self.declared.or(other.declared);
        self.notation = self.notation.take().or(other.notation);
        self.note = self.note.take().or(other.note);
    }
}

/// The result of reading one cell. The error is boxed because this is returned for every cell: one register, not five.
pub(crate) type Fallible = std::result::Result<(), Box<Fault>>;

/// Why a cell is invalid; the caller adds the column.
#[derive(Debug)]
pub(crate) enum Fault {
    NotUtf8 { line: u64 },
    Cell { line: u64, found: String, expected: Kind },
    Notation { line: u64, found: String, notation: String },
}

impl Fault {
    /// The error of this fault, with file and column.
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
            Fault::Notation { line, found, notation } => {
                Error::Notation { file, at: at(line), column: column.to_owned(), found, notation }
            }
        }
    }
}

/// The frequency of each level, up to a limit.
#[derive(Debug)]
pub(crate) struct LevelCounts {
    pub counts: HashMap<Box<[u8]>, u64, RandomState>,
    n_bytes: usize,
    /// Whether numbers are collected too, from the first cell on.
    always: bool,
    /// Whether collecting has begun.
    begun: bool,
    /// Whether there are more levels than the limit; the list is then discarded.
    pub full: bool,
    /// Some numbers went by before the first level, so the list is incomplete.
    pub skipped: bool,
    /// Whether the levels do not matter, since the user declared the column to be text.
    ignored: bool,
    /// How the levels that were discarded are written.
    discarded: NotationCounts,
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
            ignored: false,
            discarded: NotationCounts::default(),
        }
    }

    /// Whether the next cell is collected even if it is a number.
    #[inline]
    pub fn collected(&self) -> bool {
        self.begun
    }

    fn add(&mut self, level: &[u8], line: u64, request: &ProfileRequest) -> Fallible {
        if let Some(n) = self.counts.get_mut(level) {
            *n += 1;
            return Ok(());
        }
        if std::str::from_utf8(level).is_err() {
            return Err(Fault::NotUtf8 { line }.into());
        }
        if self.full {
            self.discard(level, 1);
            return Ok(());
        }
        self.insert(level.into(), 1, &request.limits);
        Ok(())
    }

    /// Counts how a level is written that is not listed.
    fn discard(&mut self, level: &[u8], n: u64) {
        if !self.ignored
            && number::parse(level).is_none()
            && let Ok(text) = std::str::from_utf8(level)
        {
            self.discarded.add(text, n);
        }
    }

    fn discard_all(&mut self) {
        self.full = true;
        for (level, n) in std::mem::take(&mut self.counts) {
            self.discard(&level, n);
        }
    }

    /// How all levels that are no plain numbers are written.
    pub fn notations(&self) -> NotationCounts {
        let mut all = self.discarded.clone();
        for (level, n) in &self.counts {
            if let (None, Ok(text)) = (number::parse(level), std::str::from_utf8(level)) {
                all.add(text, *n);
            }
        }
        all
    }

    fn insert(&mut self, level: Box<[u8]>, n: u64, limits: &Limits) {
        if self.full {
            self.discard(&level, n);
            return;
        }
        self.begun = true;
        self.n_bytes += level.len();
        *self.counts.entry(level).or_insert(0) += n;
        if self.counts.len() > limits.levels || self.n_bytes > MAX_LEVEL_BYTES {
            self.discard_all();
        }
    }

    fn merge(&mut self, other: LevelCounts, limits: &Limits) {
        self.always |= other.always;
        self.begun |= other.begun;
        self.skipped |= other.skipped;
        self.ignored |= other.ignored;
        self.discarded.merge(&other.discarded);
        if other.full && !self.full {
            self.discard_all();
        }
        for (level, n) in other.counts {
            match self.counts.get_mut(&level) {
                Some(mine) => *mine += n,
                None => self.insert(level, n, limits),
            }
        }
    }
}

/// The truth value of `true` and `false`, in any case. Only cells that are spelled so make a column boolean; a column
/// that is boolean for another reason is decoded by [`mercer::data::parse_boolean`].
#[inline]
pub(crate) fn parse_bool(level: &[u8]) -> Option<bool> {
    match level.len() {
        4 if level.eq_ignore_ascii_case(b"true") => Some(true),
        5 if level.eq_ignore_ascii_case(b"false") => Some(false),
        _ => None,
    }
}
