//! Parses numbers, percentages and fractions: `0.05`, `5%`, `1/20`.

/// A number, a percentage or a fraction.
pub fn number(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let plain = |w: &str| {
        let number = w.trim().parse::<f64>().ok().filter(|x| x.is_finite());
        number.ok_or_else(|| format!("`{text}` is not a number; write 0.05, 5% or 1/20"))
    };
    if let Some((part, whole)) = text.split_once('/') {
        let (part, whole) = (plain(part)?, plain(whole)?);
        return if whole == 0.0 {
            Err(format!("`{text}` divides by zero"))
        } else {
            Ok(part / whole)
        };
    }
    match text.strip_suffix('%') {
        Some(percent) => Ok(plain(percent)? / 100.0),
        None => plain(text),
    }
}

/// Several numbers, separated by commas.
pub fn list(text: &str) -> Result<Vec<f64>, String> {
    text.split(',').map(number).collect()
}

/// `NAME=NUMBER`. The name may hold an equals sign, the number cannot.
pub fn named(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.rsplit_once('=').ok_or("expected NAME=NUMBER")?;
    if name.trim().is_empty() {
        return Err("expected NAME=NUMBER".into());
    }
    Ok((name.trim().to_owned(), number(value)?))
}

/// `NAME=NUMBER,NUMBER,…`
pub fn named_list(text: &str) -> Result<(String, Vec<f64>), String> {
    let (name, values) = text.rsplit_once('=').ok_or("expected NAME=NUMBER,NUMBER,…")?;
    if name.trim().is_empty() {
        return Err("expected NAME=NUMBER,NUMBER,…".into());
    }
    Ok((name.trim().to_owned(), list(values)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_percentages_and_fractions_are_parsed() {
        assert_eq!(number("1/50000"), Ok(1.0 / 50000.0));
        assert_eq!(number("5%"), Ok(0.05));
        assert_eq!(number(" 1e-3 "), Ok(0.001));
        assert_eq!(list("0,1/4,50%"), Ok(vec![0.0, 0.25, 0.5]));
        assert_eq!(named("spam=0.8"), Ok(("spam".into(), 0.8)));
        for wrong in ["", "half", "1/0", "nan", "1/2/3", "%"] {
            assert!(number(wrong).is_err(), "{wrong}");
        }
    }
}
