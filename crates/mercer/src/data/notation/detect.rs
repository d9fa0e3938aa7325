//! Infers the notation of a column from how many of its cells each notation fits.

use super::number::Parts;
use super::{DateOrder, Notation, NumberNotation, date};

const ORDERS: [DateOrder; 3] = [DateOrder::Ymd, DateOrder::Dmy, DateOrder::Mdy];
const N_NUMBERS: usize = NumberNotation::SEPARATORS.len();
/// A column of which at least nine cells in ten have a notation has it; the others are invalid.
const CELLS_IN_TEN: u64 = 9;
/// Cells that suffice for that; of fewer, all must have the notation.
const MIN_CELLS: u64 = 10;

const TRUE_WORDS: [&str; 10] = ["true", "t", "yes", "y", "on", "1", "ja", "oui", "wahr", "si"];
const FALSE_WORDS: [&str; 9] = ["false", "f", "no", "n", "off", "0", "nein", "non", "falsch"];

/// The truth value of a cell in any of the usual spellings.
pub fn parse_boolean(text: &str) -> Option<bool> {
    let is = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match text.len() {
        1..=6 if is(&TRUE_WORDS) => Some(true),
        1..=6 if is(&FALSE_WORDS) => Some(false),
        _ => None,
    }
}

/// Whether the levels of a column are several spellings of true and false. Two levels that are spelled consistently
/// stay categories, which carry the same information under their own names.
pub fn is_boolean<'a>(levels: impl Iterator<Item = &'a str>) -> bool {
    let (mut n_true, mut n_false) = (0, 0);
    for level in levels {
        match parse_boolean(level) {
            Some(true) => n_true += 1,
            Some(false) => n_false += 1,
            None => return false,
        }
    }
    n_true > 0 && n_false > 0 && n_true + n_false > 2
}

/// How many cells of a column fit each notation; counts of parts of a column merge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NotationCounts {
    /// Cells that are no plain numbers.
    n_cells: u64,
    n_numbers: [u64; N_NUMBERS],
    n_dates: [u64; ORDERS.len()],
    /// Cells that only a decimal comma explains, such as `1,5`, and those that only a decimal point does.
    n_comma: u64,
    n_slashes: u64,
    unit: Option<&'static str>,
    /// Whether cells have different units.
    mixed_units: bool,
}

impl NotationCounts {
    /// Counts a cell that is not a plain number, `n` times.
    pub fn add(&mut self, text: &str, n: u64) {
        self.n_cells += n;
        let Some(first) = text.chars().next() else { return };
        if first.is_alphabetic() && !first.is_ascii_alphabetic() || text.len() > 40 {
            return;
        }
        if let Some(parts) = Parts::of(text) {
            let fits = NumberNotation::SEPARATORS
                .map(|(decimal, group)| parts.value(decimal, group).is_some());
            for (count, fits) in self.n_numbers.iter_mut().zip(fits) {
                *count += if fits { n } else { 0 };
            }
            self.n_comma += if fits[1] && !fits[0] { n } else { 0 };
            if fits.contains(&true)
                && let Some(unit) = parts.unit
            {
                self.mixed_units |= self.unit.is_some_and(|known| known != unit);
                self.unit = self.unit.or(Some(unit));
            }
        }
        for (count, order) in self.n_dates.iter_mut().zip(ORDERS) {
            *count += if date::parse(text, order).is_some() { n } else { 0 };
        }
        self.n_slashes += if text.contains('/') { n } else { 0 };
    }

    /// Takes the counts of other cells of the column.
    pub fn merge(&mut self, other: &NotationCounts) {
        self.n_cells += other.n_cells;
        let add = |mine: &mut [u64], theirs: &[u64]| {
            mine.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
        };
        add(&mut self.n_numbers, &other.n_numbers);
        add(&mut self.n_dates, &other.n_dates);
        self.n_comma += other.n_comma;
        self.n_slashes += other.n_slashes;
        self.mixed_units |= other.mixed_units
            || self.unit.zip(other.unit).is_some_and(|(mine, theirs)| mine != theirs);
        self.unit = self.unit.or(other.unit);
    }

    /// Whether some cells can only have a decimal comma.
    pub fn has_decimal_comma(&self) -> bool {
        self.n_comma > 0 && !self.mixed_units && self.is_enough(self.n_numbers[1], 0)
    }

    fn is_enough(&self, n_fitting: u64, n_plain: u64) -> bool {
        let all = n_fitting == self.n_cells;
        let most = n_fitting + n_plain >= MIN_CELLS
            && (n_fitting + n_plain) * 10 >= (self.n_cells + n_plain) * CELLS_IN_TEN;
        n_fitting > 0 && (all || most)
    }

    /// The notation of nearly all cells of a column, if there is one. `n_plain` further cells are plain numbers.
    /// Cells such as `1,234` are read with a decimal comma if the rest of the file suggests it.
    pub fn infer(&self, n_plain: u64, comma_is_decimal: bool) -> Option<Notation> {
        let date = self.best_date();
        if let Some((order, n)) = date
            && n_plain == 0
            && self.is_enough(n, 0)
        {
            return Some(Notation::Date(order));
        }
        if self.mixed_units {
            return None;
        }
        // Of equal counts the first pair of separators wins.
        let mut order: Vec<usize> = (0..N_NUMBERS).collect();
        if comma_is_decimal {
            order.swap(0, 1);
        }
        let best = order.into_iter().rev().max_by_key(|k| self.n_numbers[*k])?;
        if !self.is_enough(self.n_numbers[best], n_plain) {
            return None;
        }
        let (decimal, group) = NumberNotation::SEPARATORS[best];
        let unit = self.unit.map(str::to_owned);
        Some(Notation::Number(NumberNotation { decimal, group, unit }))
    }

    /// The order of most dates. Day and month of `1/2/2024` are ambiguous: slashes are American, dots and dashes are
    /// not.
    fn best_date(&self) -> Option<(DateOrder, u64)> {
        let [ymd, dmy, mdy] = self.n_dates;
        let american = mdy > dmy || mdy == dmy && self.n_slashes > 0;
        let best = match (ymd >= dmy.max(mdy), american) {
            (true, _) => (DateOrder::Ymd, ymd),
            (_, true) => (DateOrder::Mdy, mdy),
            _ => (DateOrder::Dmy, dmy),
        };
        (best.1 > 0).then_some(best)
    }

    /// Whether the dates of a column fit two orders equally well.
    pub fn is_ambiguous_date(&self) -> bool {
        let [ymd, dmy, mdy] = self.n_dates;
        dmy == mdy && dmy > ymd
    }

    /// The order of the dates, if a user declares the column to be one of dates.
    pub fn date_order(&self) -> Option<DateOrder> {
        self.best_date().map(|(order, _)| order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn infer(cells: &[&str], n_plain: u64, comma_is_decimal: bool) -> Option<Notation> {
        let mut counts = NotationCounts::default();
        cells.iter().for_each(|cell| counts.add(cell, 1));
        counts.infer(n_plain, comma_is_decimal)
    }

    fn number(decimal: char, unit: Option<&str>) -> Option<Notation> {
        let unit = unit.map(str::to_owned);
        Some(Notation::Number(NumberNotation { unit, ..NumberNotation::with_decimal(decimal) }))
    }

    #[test]
    fn separators_are_those_that_fit_every_cell() {
        assert_eq!(infer(&["1,234", "5,678,901"], 3, false), number('.', None));
        assert_eq!(infer(&["1,234", "5,678"], 0, true), number(',', None));
        assert_eq!(infer(&["1,5", "1.234,25"], 0, false), number(',', None));
        assert_eq!(infer(&["12 %", "3.5%"], 0, false), number('.', Some("%")));
        assert_eq!(infer(&["$5", "€6"], 0, false), None, "two currencies");
        assert_eq!(infer(&["1,5", "a"], 0, false), None);
    }

    #[test]
    fn dates_are_read_in_the_order_that_fits() {
        let date = |order| Some(Notation::Date(order));

        assert_eq!(infer(&["2024-01-02", "2024-12-31"], 0, false), date(DateOrder::Ymd));
        assert_eq!(infer(&["1.2.2024", "31.12.2024"], 0, false), date(DateOrder::Dmy));
        assert_eq!(infer(&["1/2/2024", "12/31/2024"], 0, false), date(DateOrder::Mdy));
        assert_eq!(infer(&["1/2/2024"], 0, false), date(DateOrder::Mdy), "slashes");
        assert_eq!(infer(&["1.2.2024"], 0, false), date(DateOrder::Dmy), "dots");
    }

    #[test]
    fn counts_of_parts_merge_to_those_of_the_whole() {
        let cells = ["1,5", "$3", "2024-01-02", "1/2/2024", "x"];
        let mut whole = NotationCounts::default();
        let mut merged = NotationCounts::default();

        for cell in cells {
            whole.add(cell, 2);
            let mut part = NotationCounts::default();
            part.add(cell, 2);
            merged.merge(&part);
        }

        assert_eq!(merged, whole);
    }

    #[test]
    fn several_spellings_of_two_truth_values_are_boolean() {
        assert!(is_boolean(["Yes", "no", "Y"].into_iter()));
        assert!(!is_boolean(["yes", "no"].into_iter()), "two levels stay categories");
        assert!(!is_boolean(["yes", "no", "maybe"].into_iter()));
    }
}
