//! Tokens that mark missing values: `NA`, `?`, an empty cell.

use crate::number;

/// The tokens that mark missing values, prepared for one lookup per cell.
#[derive(Clone, Debug)]
pub(crate) struct Missing {
    tokens: Vec<Box<[u8]>>,
    empty: bool,
    longest: usize,
    /// Whether some token begins with this byte.
    first: [bool; 256],
    /// Whether some token is a number, such as -999, so that numbers must be compared too.
    pub numeric: bool,
}

impl Missing {
    pub fn new(tokens: &[String]) -> Missing {
        let mut missing = Missing {
            tokens: Vec::new(),
            empty: false,
            longest: 0,
            first: [false; 256],
            numeric: false,
        };
        for token in tokens.iter().map(|t| t.trim().as_bytes()) {
            let Some(first) = token.first() else {
                missing.empty = true;
                continue;
            };
            missing.first[usize::from(*first)] = true;
            missing.longest = missing.longest.max(token.len());
            missing.numeric |= number::parse(token).is_some();
            missing.tokens.push(token.into());
        }
        missing
    }

    /// Whether a trimmed cell is missing.
    #[inline]
    pub fn contains(&self, cell: &[u8]) -> bool {
        match cell.first() {
            None => self.empty,
            Some(first) => {
                self.first[usize::from(*first)]
                    && cell.len() <= self.longest
                    && self.tokens.iter().any(|t| **t == *cell)
            }
        }
    }
}
