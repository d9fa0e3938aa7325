//! Parsers of option values.

use super::tune::SearchKind;
use mercer::train::SupervisedTask;
use mercer_io::{ColumnType, Format};
use std::time::Duration;

pub fn fraction(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(fraction) if (0.0..=1.0).contains(&fraction) => Ok(fraction),
        _ => Err("expected a fraction between 0 and 1".into()),
    }
}

/// A fraction of the rows that leaves rows on both sides.
pub fn hold_out(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(fraction) if fraction > 0.0 && fraction <= 0.5 => Ok(fraction),
        _ => Err("expected a fraction above 0 and up to 0.5".into()),
    }
}

pub fn search(text: &str) -> Result<SearchKind, String> {
    match text {
        "grid" => Ok(SearchKind::Grid),
        "random" => Ok(SearchKind::Random),
        "halving" => Ok(SearchKind::Halving),
        _ => Err("expected grid, random or halving".into()),
    }
}

pub fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected KEY=VALUE".into()),
    }
}

pub fn task(text: &str) -> Result<SupervisedTask, String> {
    match text {
        "classification" => Ok(SupervisedTask::Classification),
        "regression" => Ok(SupervisedTask::Regression),
        _ => Err("expected classification or regression".into()),
    }
}

pub fn column(text: &str) -> Result<(String, ColumnType), String> {
    // The name may hold an equals sign, the type cannot.
    let (name, of) = text.rsplit_once('=').ok_or("expected NAME=TYPE")?;
    Ok((name.to_owned(), of.parse()?))
}

pub fn format(text: &str) -> Result<Format, String> {
    match text {
        "csv" | "tsv" => Ok(Format::Csv),
        "jsonl" | "ndjson" => Ok(Format::JsonLines),
        "svmlight" | "libsvm" => Ok(Format::Svmlight),
        "parquet" => Ok(Format::Parquet),
        "arrow" | "feather" => Ok(Format::Arrow),
        "text" => Ok(Format::Text),
        "lines" => Ok(Format::Lines),
        "mail" | "eml" => Ok(Format::Mail),
        "mailbox" | "mbox" => Ok(Format::Mailbox),
        _ => {
            Err("expected csv, jsonl, svmlight, parquet, arrow, text, lines, mail or mailbox"
                .into())
        }
    }
}

pub fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        _ if text == "\\t" || text == "tab" => Ok(b'\t'),
        _ => Err("expected one character, or `tab`".into()),
    }
}

pub fn at_least_zero(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
        _ => Err("expected a number of at least 0".into()),
    }
}

/// `28x28`.
pub fn image(text: &str) -> Result<(usize, usize), String> {
    let parsed = text.split_once('x').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    match parsed {
        Some((rows, columns)) if rows > 0 && columns > 0 => Ok((rows, columns)),
        _ => Err("expected ROWSxCOLUMNS, like 28x28".into()),
    }
}

/// A probability strictly between zero and one.
pub fn level(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(level) if level > 0.0 && level < 1.0 => Ok(level),
        _ => Err("expected a probability between 0 and 1, like 0.95".into()),
    }
}

/// `4G`, `500M`, `64k`, `1000`.
pub fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1 << 10,
        "m" | "mb" => 1 << 20,
        "g" | "gb" => 1 << 30,
        "t" | "tb" => 1 << 40,
        _ => return Err("expected a size like 500M or 4G".into()),
    };
    let number: f64 = digits.parse().map_err(|_| "expected a size like 500M or 4G")?;
    let bytes = number * unit as f64;
    if bytes.is_finite() && bytes >= 1.0 {
        Ok(bytes as u64)
    } else {
        Err("expected a size above zero".into())
    }
}

/// `90`, `90s`, `5m`, `1.5h`, `200ms`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a duration like 30s, 5m or 2h".into()),
    };
    let number: f64 = digits.parse().map_err(|_| "expected a duration like 30s, 5m or 2h")?;
    Duration::try_from_secs_f64(number * unit)
        .map_err(|_| "expected a duration of at least 0".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_durations_have_units() {
        assert_eq!(bytes("1.5k"), Ok(1536));
        assert_eq!(bytes("300M"), Ok(300 << 20));
        assert!(bytes("lots").is_err() && bytes("-1G").is_err());
        assert_eq!(duration("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert!(duration("soon").is_err() && duration("-1").is_err());
    }
}
