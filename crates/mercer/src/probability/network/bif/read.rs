//! The BIF reader.

use super::lexer::{Token, tokens};
use crate::error::{Error, Result};
use crate::probability::network::{Network, Variable};
use std::collections::HashMap;

/// The tolerance for the sum of a row of rounded numbers.
const PRINTED: f64 = 0.011;
/// Rows closer to a sum of one are not normalized.
const NORMALIZED_TOLERANCE: f64 = 1e-9;
/// The maximum number of cells of a table: a text of a few lines can declare more than fits into memory.
const MAX_TABLE_CELLS: usize = 1 << 26;

/// Reads a network.
///
/// # Errors
/// [`Error::Bif`] with the line and what was expected there, or [`Error::Network`].
///
/// ```
/// use mercer::probability::network::bif::from_bif;
/// let network = from_bif(
///     "network coin { } variable coin { type discrete [2] { heads, tails }; }
///      probability ( coin ) { table 0.5, 0.5; }",
/// )?;
/// assert_eq!(network.variables()[0].states, ["heads", "tails"]);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn from_bif(text: &str) -> Result<Network> {
    let mut reader = Reader { tokens: tokens(text)?, at: 0 };
    let mut name = String::new();
    let mut variables = Vec::new();
    let mut indices = HashMap::new();
    let mut blocks = Vec::new();
    loop {
        let line = reader.line();
        match reader.next() {
            Token::Bare(word) if word == "network" => {
                name = reader.name("the name of the network")?;
                reader.mark('{')?;
                reader.skip_properties()?;
            }
            Token::Bare(word) if word == "variable" => {
                let variable = reader.variable()?;
                if indices.insert(variable.name.clone(), variables.len()).is_some() {
                    return Err(found(line, &variable.name, "a name that is not taken"));
                }
                variables.push(variable);
            }
            Token::Bare(word) if word == "probability" => {
                // Variables may be declared after their tables: tables are read in the end.
                blocks.push((reader.at, line));
                reader.skip_block()?;
            }
            Token::End => break,
            token => {
                let expected = "`network`, `variable` or `probability`";
                return Err(Error::Bif { line, found: token.shown(), expected: expected.into() });
            }
        }
    }
    let mut parts: Vec<Option<(Vec<usize>, Vec<f64>)>> = vec![None; variables.len()];
    for (at, line) in blocks {
        reader.at = at;
        let (v, parents, table) = reader.probability(&variables, &indices)?;
        if parts[v].replace((parents, table)).is_some() {
            return Err(found(line, &variables[v].name, "a variable without a table yet"));
        }
    }
    let end = reader.tokens.last().map_or(1, |(_, line)| *line);
    let mut parents = Vec::new();
    let mut tables = Vec::new();
    for (variable, part) in variables.iter().zip(parts) {
        let Some((of, table)) = part else {
            let expected = format!("`probability` of `{}`", variable.name);
            return Err(Error::Bif { line: end, found: Token::End.shown(), expected });
        };
        parents.push(of);
        tables.push(table);
    }
    Network::new(name, variables, parents, tables)
}

fn found(line: usize, word: &str, expected: &str) -> Error {
    Error::Bif { line, found: format!("`{word}`"), expected: expected.to_owned() }
}

struct Reader {
    tokens: Vec<(Token, usize)>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    /// The line of the next token.
    fn line(&self) -> usize {
        let last = self.tokens.len().saturating_sub(1);
        self.tokens.get(self.at.min(last)).map_or(1, |(_, line)| *line)
    }

    fn unexpected<T>(&self, expected: &str) -> Result<T> {
        let (line, found) = (self.line(), self.peek().shown());
        Err(Error::Bif { line, found, expected: expected.to_owned() })
    }

    fn take(&mut self, mark: char) -> bool {
        let there = *self.peek() == Token::Mark(mark);
        self.at += usize::from(there);
        there
    }

    fn mark(&mut self, mark: char) -> Result<()> {
        if self.take(mark) { Ok(()) } else { self.unexpected(&format!("`{mark}`")) }
    }

    fn keyword(&mut self, word: &str) -> bool {
        let there = matches!(self.peek(), Token::Bare(w) if w == word);
        self.at += usize::from(there);
        there
    }

    fn name(&mut self, what: &str) -> Result<String> {
        match self.peek().clone() {
            Token::Bare(word) | Token::Quoted(word) => {
                self.at += 1;
                Ok(word)
            }
            _ => self.unexpected(what),
        }
    }

    /// Skips `property … ;` up to the end of the block.
    fn skip_properties(&mut self) -> Result<()> {
        while !self.take('}') {
            if !self.keyword("property") {
                return self.unexpected("`property` or `}`");
            }
            self.skip_statement()?;
        }
        Ok(())
    }

    fn skip_statement(&mut self) -> Result<()> {
        while !self.take(';') {
            if *self.peek() == Token::End {
                return self.unexpected("`;`");
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Skips to the end of a block whose head is next.
    fn skip_block(&mut self) -> Result<()> {
        while !self.take('}') {
            if *self.peek() == Token::End {
                return self.unexpected("`}`");
            }
            self.at += 1;
        }
        Ok(())
    }

    fn variable(&mut self) -> Result<Variable> {
        let name = self.name("the name of a variable")?;
        let mut states = None;
        self.mark('{')?;
        while !self.take('}') {
            if self.keyword("property") {
                self.skip_statement()?;
            } else if self.keyword("type") {
                if !self.keyword("discrete") {
                    return self.unexpected("`discrete`");
                }
                states = Some(self.states()?);
            } else {
                return self.unexpected("`type`, `property` or `}`");
            }
        }
        match states {
            Some(states) => Ok(Variable { name, states }),
            None => {
                self.at -= 1;
                self.unexpected("`type discrete`")
            }
        }
    }

    /// `[ 2 ] { yes, no };`
    fn states(&mut self) -> Result<Vec<String>> {
        self.mark('[')?;
        let line = self.line();
        let word = self.name("the number of states")?;
        let Ok(n) = word.parse::<usize>() else {
            return Err(found(line, &word, "the number of states"));
        };
        self.mark(']')?;
        self.mark('{')?;
        let mut states: Vec<String> = Vec::new();
        while !self.take('}') {
            let line = self.line();
            let state = self.name("the name of a state")?;
            if states.contains(&state) {
                return Err(found(line, &state, "a state that is not taken"));
            }
            states.push(state);
            self.take(',');
        }
        if states.len() != n || n == 0 {
            let expected = format!("a list of {n} states");
            let expected = if n == 0 { "at least one state".into() } else { expected };
            return Err(Error::Bif { line, found: format!("{} states", states.len()), expected });
        }
        self.mark(';')?;
        Ok(states)
    }

    /// `( wet | rain, sprinkler ) { … }`: the variable, its parents, its table.
    fn probability(
        &mut self,
        variables: &[Variable],
        indices: &HashMap<String, usize>,
    ) -> Result<(usize, Vec<usize>, Vec<f64>)> {
        self.mark('(')?;
        let mut family: Vec<usize> = Vec::new();
        while !self.take(')') {
            let line = self.line();
            let name = self.name("the name of a variable")?;
            match indices.get(&name) {
                Some(v) if family.contains(v) => {
                    return Err(found(line, &name, "a variable that is not yet in the list"));
                }
                Some(v) => family.push(*v),
                None => return Err(found(line, &name, "the name of a variable")),
            }
            if !self.take('|') {
                self.take(',');
            }
        }
        let Some((v, parents)) = family.split_first() else {
            self.at -= 1;
            return self.unexpected("the name of a variable");
        };
        let size = variables[*v].states.len();
        let rows = parents
            .iter()
            .try_fold(1usize, |n, p| n.checked_mul(variables[*p].states.len()))
            .filter(|rows| rows.checked_mul(size).is_some_and(|cells| cells <= MAX_TABLE_CELLS));
        let Some(rows) = rows else {
            let expected = format!("a table of at most {MAX_TABLE_CELLS} numbers");
            return Err(found(self.line(), &variables[*v].name, &expected));
        };
        let mut table = RowsRead { rows: vec![None; rows], default: None, size };
        self.mark('{')?;
        while !self.take('}') {
            self.entry(variables, parents, &mut table)?;
        }
        self.at -= 1;
        let finished = self.finish(variables, parents, table)?;
        self.at += 1;
        Ok((*v, parents.to_vec(), finished))
    }

    /// One of `table …;`, `default …;`, `(yes, no) …;`, `property …;`.
    fn entry(
        &mut self,
        variables: &[Variable],
        parents: &[usize],
        table: &mut RowsRead,
    ) -> Result<()> {
        if self.keyword("property") {
            return self.skip_statement();
        }
        if self.keyword("table") {
            let line = self.line();
            let (n, size) = (table.rows.len(), table.size);
            let numbers = self.numbers(n * size)?;
            // Here the variable itself is the slowest index, before its parents.
            for row in 0..n {
                let cells = (0..size).map(|s| numbers[s * n + row]).collect();
                table.rows[row] = Some(normalized(cells, line)?);
            }
            return Ok(());
        }
        if self.keyword("default") {
            let line = self.line();
            table.default = Some(normalized(self.numbers(table.size)?, line)?);
            return Ok(());
        }
        let line = self.line();
        if !self.take('(') {
            return self.unexpected("`table`, `default`, `(`, `property` or `}`");
        }
        let mut row = 0;
        for (at, p) in parents.iter().enumerate() {
            let here = self.line();
            let name = self.name(&format!("a state of `{}`", variables[*p].name))?;
            let Some(state) = variables[*p].states.iter().position(|s| *s == name) else {
                let known = variables[*p].states.join(", ");
                let expected = format!("a state of `{}` ({known})", variables[*p].name);
                return Err(found(here, &name, &expected));
            };
            row = row * variables[*p].states.len() + state;
            if at + 1 < parents.len() {
                self.take(',');
            }
        }
        self.mark(')')?;
        let cells = normalized(self.numbers(table.size)?, line)?;
        if table.rows[row].replace(cells).is_some() {
            let found = "a second row for the same states".to_owned();
            return Err(Error::Bif { line, found, expected: "each row once".into() });
        }
        Ok(())
    }

    /// `n` numbers and a semicolon.
    fn numbers(&mut self, n: usize) -> Result<Vec<f64>> {
        let mut numbers = Vec::new();
        while !self.take(';') {
            let line = self.line();
            let word = self.name("a probability")?;
            match word.parse::<f64>() {
                Ok(p) if p.is_finite() && (0.0..=1.0).contains(&p) => numbers.push(p),
                _ => return Err(found(line, &word, "a probability from 0 to 1")),
            }
            self.take(',');
            if numbers.len() > n {
                break;
            }
        }
        if numbers.len() == n {
            return Ok(numbers);
        }
        let more = if numbers.len() > n { "more than " } else { "" };
        let found = format!("{more}{} numbers", numbers.len().min(n));
        Err(Error::Bif { line: self.line(), found, expected: n.to_string() })
    }

    /// All rows; those that are not given are the default.
    fn finish(
        &self,
        variables: &[Variable],
        parents: &[usize],
        table: RowsRead,
    ) -> Result<Vec<f64>> {
        let mut cells = Vec::with_capacity(table.rows.len() * table.size);
        for (row, given) in table.rows.iter().enumerate() {
            let Some(row_cells) = given.as_ref().or(table.default.as_ref()) else {
                let mut states = Vec::new();
                let mut rest = row;
                for p in parents.iter().rev() {
                    let names = &variables[*p].states;
                    states.push(names[rest % names.len()].as_str());
                    rest /= names.len();
                }
                states.reverse();
                return self.unexpected(&format!("a row for ({})", states.join(", ")));
            };
            cells.extend_from_slice(row_cells);
        }
        Ok(cells)
    }
}

struct RowsRead {
    rows: Vec<Option<Vec<f64>>>,
    default: Option<Vec<f64>>,
    size: usize,
}

/// A row that sums to one.
fn normalized(mut cells: Vec<f64>, line: usize) -> Result<Vec<f64>> {
    let sum: f64 = cells.iter().sum();
    if (sum - 1.0).abs() > PRINTED {
        let found = format!("numbers that sum to {sum}");
        return Err(Error::Bif { line, found, expected: "a sum of 1".into() });
    }
    if (sum - 1.0).abs() > NORMALIZED_TOLERANCE {
        cells.iter_mut().for_each(|p| *p /= sum);
    }
    Ok(cells)
}
