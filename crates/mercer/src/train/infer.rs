//! Infers the kind of a column from counts of its cells: numeric, boolean, categorical or free text.
//!
//! A column is numeric if all its cells are numbers and boolean if all are `true` or `false`. Other columns hold
//! strings: free text if they are long and hardly repeat, categories otherwise.

use crate::data::Kind;

/// A column with at least nine numbers in ten cells is a numeric column with invalid cells,
const NUMERIC_CELLS_IN_TEN: u64 = 9;
/// if it has at least this many numbers.
const MIN_NUMERIC_CELLS: u64 = 10;

/// Free text needs more rows than this: fewer do not show whether strings repeat.
const MAX_ROWS_WITHOUT_TEXT: u64 = 20;
/// Free text has at least this many tokens per cell on average,
const MIN_TOKENS_OF_TEXT: f64 = 3.0;
/// or is longer than this on average.
const MAX_LENGTH_OF_CATEGORIES: f64 = 40.0;

/// Counts of the cells of a column that are not missing, by what they can be parsed as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellCounts {
    /// Finite numbers.
    pub n_numeric: u64,
    /// `true` and `false`.
    pub n_boolean: u64,
    /// Any other string.
    pub n_other: u64,
}

impl CellCounts {
    /// The number of cells that are not missing.
    pub fn n_present(&self) -> u64 {
        self.n_numeric + self.n_boolean + self.n_other
    }

    /// Whether nearly all cells are numbers, but not all. Such a column is numeric with invalid cells; reading
    /// it as categorical would hide the error.
    pub fn is_numeric_with_invalid_cells(&self) -> bool {
        self.n_other > 0
            && self.n_numeric >= MIN_NUMERIC_CELLS
            && self.n_numeric * 10 >= self.n_present() * NUMERIC_CELLS_IN_TEN
    }
}

/// Totals over the strings of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StringTotals {
    /// The number of strings.
    pub n_strings: f64,
    /// The number of tokens between spaces in all of them.
    pub n_tokens: f64,
    /// The length of all of them together.
    pub length: f64,
}

/// The kind of a column. `is_text` is asked only of columns of strings.
pub fn infer_kind(cells: &CellCounts, is_text: impl FnOnce() -> bool) -> Kind {
    match cells.n_present() {
        n if n == cells.n_numeric => Kind::Numeric,
        n if n == cells.n_boolean => Kind::Boolean,
        _ if is_text() => Kind::Text,
        _ => Kind::Categorical,
    }
}

/// Whether strings are free text rather than categories: more than half of the rows are distinct, and the
/// strings have several tokens or are long.
pub fn is_free_text(n_rows: u64, n_distinct: u64, totals: impl FnOnce() -> StringTotals) -> bool {
    if n_rows <= MAX_ROWS_WITHOUT_TEXT || n_distinct * 2 <= n_rows {
        return false;
    }
    let StringTotals { n_strings, n_tokens, length } = totals();
    n_tokens >= MIN_TOKENS_OF_TEXT * n_strings || length > MAX_LENGTH_OF_CATEGORIES * n_strings
}

/// Parts of a name that stand for the code of a category.
const CODE_NAMES: [&str; 14] = [
    "code",
    "type",
    "zip",
    "zipcode",
    "postcode",
    "postal",
    "plz",
    "category",
    "categorie",
    "kind",
    "region",
    "district",
    "sector",
    "group",
];
/// Parts of a name that stand for an identifier.
const IDENTIFIER_NAMES: [&str; 17] = [
    "id",
    "ids",
    "uuid",
    "guid",
    "key",
    "index",
    "idx",
    "row",
    "rowid",
    "number",
    "no",
    "nr",
    "num",
    "account",
    "serial",
    "reference",
    "unnamed",
];

/// The words of a name: `customerId` and `customer_id` are `customer` and `id`.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && after_lower {
            words.push(String::new());
        }
        after_lower = c.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words
}

/// Whether a column of whole numbers is named like the code of a category: `zip`, `region_code`, `productType`.
pub fn is_code_name(name: &str) -> bool {
    words_of(name).iter().any(|word| CODE_NAMES.contains(&word.as_str()))
}

/// Whether a column is named like an identifier: `id`, `customerId`, `account_number`.
pub fn is_identifier_name(name: &str) -> bool {
    words_of(name).iter().any(|word| IDENTIFIER_NAMES.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_invalid_cells_do_not_make_a_numeric_column_categorical() {
        let invalid = CellCounts { n_numeric: 99, n_boolean: 0, n_other: 1 };
        let mixed = CellCounts { n_numeric: 5, n_boolean: 0, n_other: 5 };

        assert!(invalid.is_numeric_with_invalid_cells());
        assert!(!mixed.is_numeric_with_invalid_cells());
        assert_eq!(infer_kind(&mixed, || false), Kind::Categorical);
    }

    #[test]
    fn names_of_codes_and_identifiers_are_recognized_by_their_words() {
        assert!(is_code_name("region_code") && is_code_name("productType") && is_code_name("zip"));
        assert!(!is_code_name("zipper") && !is_code_name("temperature"));
        assert!(is_identifier_name("customerId") && is_identifier_name("Unnamed: 0"));
        assert!(!is_identifier_name("width") && !is_identifier_name("humidity"));
    }

    #[test]
    fn long_strings_that_hardly_repeat_are_text() {
        let sentences = || StringTotals { n_strings: 30.0, n_tokens: 150.0, length: 900.0 };
        let names = || StringTotals { n_strings: 30.0, n_tokens: 30.0, length: 200.0 };

        assert!(is_free_text(30, 30, sentences));
        assert!(!is_free_text(30, 30, names));
        assert!(!is_free_text(30, 5, sentences), "they repeat");
        assert!(!is_free_text(20, 20, sentences), "too few rows to tell");
    }
}
