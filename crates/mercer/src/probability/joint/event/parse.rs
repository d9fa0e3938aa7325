//! The grammar of events.
//!
//! ```text
//! event       = conjunction { "or" conjunction }
//! conjunction = factor { "and" factor }
//! factor      = "not" factor | "(" event ")" | operand relation operand { "|" operand }
//! relation    = "=" | "!=" | "<" | "<=" | ">" | ">="
//! ```
//!
//! An operand is any text up to the next keyword or symbol, or a text in quotes.

use super::{Condition, Event, Relation};
use crate::error::{Error, Result};

/// The deepest nesting of parentheses and negations; more would exhaust the stack.
const MAX_DEPTH: usize = 100;

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Operand(String),
    Relation(Relation),
    Different,
    Either,
    And,
    Or,
    Not,
    Open,
    Close,
}

/// Reads an event.
pub(super) fn event(text: &str) -> Result<Event> {
    let tokens = tokens(text).ok_or_else(|| refused(text, "a quote that is not closed"))?;
    let mut parser = Parser { text, tokens: &tokens, depth: 0 };
    let event = parser.union()?;
    match parser.tokens.first() {
        None => Ok(event),
        Some(rest) => Err(refused(text, &format!("{} after a complete event", describe(rest)))),
    }
}

fn refused(text: &str, why: &str) -> Error {
    Error::Parameter {
        name: "event".into(),
        found: format!("`{text}` ({why})"),
        expected: "VARIABLE=VALUE, VARIABLE=VALUE|VALUE for one of several, or a comparison such as \
                   X+Y<=4, combined by and, or, not and parentheses; quote names and values that contain these"
            .into(),
    }
}

fn describe(token: &Token) -> String {
    match token {
        Token::Operand(text) => format!("`{text}`"),
        Token::Relation(relation) => format!("`{}`", relation.symbol()),
        Token::Different => "`!=`".into(),
        Token::Either => "`|`".into(),
        Token::And => "`and`".into(),
        Token::Or => "`or`".into(),
        Token::Not => "`not`".into(),
        Token::Open => "`(`".into(),
        Token::Close => "`)`".into(),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    depth: usize,
}

impl Parser<'_> {
    fn union(&mut self) -> Result<Event> {
        let mut event = self.conjunction()?;
        while self.accept(&Token::Or) {
            event = event.or(self.conjunction()?);
        }
        Ok(event)
    }

    fn conjunction(&mut self) -> Result<Event> {
        let mut event = self.factor()?;
        while self.accept(&Token::And) {
            event = event.and(&self.factor()?);
        }
        Ok(event)
    }

    fn factor(&mut self) -> Result<Event> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let why = format!("parentheses nested more than {MAX_DEPTH} deep");
            return Err(refused("…", &why));
        }
        let event = if self.accept(&Token::Not) {
            self.factor()?.complement()
        } else if self.accept(&Token::Open) {
            let inner = self.union()?;
            if !self.accept(&Token::Close) {
                return Err(refused(self.text, "a parenthesis that is not closed"));
            }
            inner
        } else {
            self.condition()?
        };
        self.depth -= 1;
        Ok(event)
    }

    fn condition(&mut self) -> Result<Event> {
        let left = self.operand()?;
        let (relation, negated) = match self.next() {
            Some(Token::Relation(relation)) => (relation, false),
            Some(Token::Different) => (Relation::Equal, true),
            _ => return Err(refused(self.text, &format!("no relation after `{left}`"))),
        };
        let mut values = vec![self.operand()?];
        while relation == Relation::Equal && self.accept(&Token::Either) {
            values.push(self.operand()?);
        }
        let event = match relation {
            Relation::Equal => Event::one_of(left, values),
            _ => Event(vec![Condition::Compare { left, relation, right: values.remove(0) }]),
        };
        Ok(if negated { event.complement() } else { event })
    }

    fn operand(&mut self) -> Result<String> {
        match self.next() {
            Some(Token::Operand(text)) => Ok(text),
            Some(other) => {
                let why = format!("{} where a name or value belongs", describe(&other));
                Err(refused(self.text, &why))
            }
            None => Err(refused(self.text, "it ends where a name or value belongs")),
        }
    }

    fn next(&mut self) -> Option<Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first.clone())
    }

    fn accept(&mut self, token: &Token) -> bool {
        let found = self.tokens.first() == Some(token);
        if found {
            self.tokens = &self.tokens[1..];
        }
        found
    }
}

/// The tokens; `None` if a quote is not closed.
fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    // The operand that is being read, and the parentheses that are open inside it: `income ($)` is one name.
    let (mut operand, mut inner) = (String::new(), 0usize);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let starts = operand.trim().is_empty();
        if starts && let Some(quote) = Some(c).filter(|c| matches!(c, '"' | '\'' | '`')) {
            let (quoted, after) = rest[1..].split_once(quote)?;
            tokens.push(Token::Operand(quoted.to_owned()));
            (operand, rest) = (String::new(), after);
            continue;
        }
        let symbol = if inner > 0 { None } else { symbol(rest, &operand, tokens.last()) };
        if let Some((token, length)) = symbol {
            finish(&mut operand, &mut tokens);
            tokens.push(token);
            rest = &rest[length..];
            continue;
        }
        inner = match c {
            '(' => inner + 1,
            ')' => inner.saturating_sub(1),
            _ => inner,
        };
        operand.push(c);
        rest = &rest[c.len_utf8()..];
    }
    finish(&mut operand, &mut tokens);
    Some(tokens)
}

fn finish(operand: &mut String, tokens: &mut Vec<Token>) {
    let text = std::mem::take(operand);
    if !text.trim().is_empty() {
        tokens.push(Token::Operand(text.trim().to_owned()));
    }
}

/// The symbol or keyword at the start of a text, and its length. `not` and `(` are symbols where a condition begins,
/// `and` and `or` where one may end, so that `state=OR` needs no quotes.
fn symbol(rest: &str, operand: &str, last: Option<&Token>) -> Option<(Token, usize)> {
    const SYMBOLS: [(&str, Token); 9] = [
        ("!=", Token::Different),
        ("<=", Token::Relation(Relation::AtMost)),
        (">=", Token::Relation(Relation::AtLeast)),
        ("==", Token::Relation(Relation::Equal)),
        ("=", Token::Relation(Relation::Equal)),
        ("<", Token::Relation(Relation::Less)),
        (">", Token::Relation(Relation::Greater)),
        ("|", Token::Either),
        (")", Token::Close),
    ];
    let empty = operand.trim().is_empty();
    let begins =
        empty && matches!(last, None | Some(Token::And | Token::Or | Token::Not | Token::Open));
    let ends = !empty || matches!(last, Some(Token::Operand(_) | Token::Close));
    if begins && rest.starts_with('(') {
        return Some((Token::Open, 1));
    }
    if let Some((text, token)) = SYMBOLS.iter().find(|(text, _)| rest.starts_with(text)) {
        return Some((token.clone(), text.len()));
    }
    // A keyword is a whole word.
    if !empty && !operand.ends_with(char::is_whitespace) {
        return None;
    }
    let word: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let token = match word.to_lowercase().as_str() {
        "and" if ends => Token::And,
        "or" if ends => Token::Or,
        "not" if begins => Token::Not,
        _ => return None,
    };
    // `not-sure` and `or.1` are names.
    let after = rest[word.len()..].chars().next();
    after.is_none_or(|c| c.is_whitespace() || "(\"'`)".contains(c)).then_some((token, word.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        event(text).unwrap().to_string()
    }

    #[test]
    fn not_binds_before_and_before_or() {
        assert_eq!(shown("a=1 or b=2 and not c=3"), "a=1 or b=2 and not c=3");
        assert_eq!(shown("(a=1 or b=2) and c=3"), "(a=1 or b=2), c=3");
        assert_eq!(shown("not (a=1 or b=2)"), "not (a=1 or b=2)");
        assert_eq!(shown("NOT(a=1 AND b=2)"), "not (a=1 and b=2)");
        assert_eq!(shown("a!=1|2"), "not a=1|2");
        assert_eq!(shown("die1 + die2 >= 11"), "die1 + die2>=11");
    }

    #[test]
    fn names_keep_spaces_parentheses_and_quoted_keywords() {
        assert_eq!(event("marital status=not sure").unwrap(), {
            Event::is("marital status", "not sure")
        });
        assert_eq!(event("income ($)=low (poor)").unwrap(), Event::is("income ($)", "low (poor)"));
        assert_eq!(event("music='rock and roll'").unwrap(), Event::is("music", "rock and roll"));
        assert_eq!(event("oregon=android").unwrap(), Event::is("oregon", "android"));
        assert_eq!(event("(x=1)").unwrap(), Event::is("x", "1"));
        assert_eq!(shown("state=OR or state=(none)"), "state=OR or state=(none)");
    }

    #[test]
    fn incomplete_events_are_refused() {
        for wrong in ["", "hot", "=hot", "a=", "a=1 and ", "(a=1", "a=1)", "a='1", "a=1 b=2", "not"]
        {
            let error = event(wrong).unwrap_err().to_string();
            assert!(error.contains("VARIABLE=VALUE"), "{wrong}: {error}");
        }
        assert!(event(&format!("{}a=1{}", "(".repeat(5000), ")".repeat(5000))).is_err());
    }
}
