//! Numbers as people write them: `0.05`, `5%`, `1/20`.

/// A number, a percent or a fraction.
pub fn number(word: &str) -> Result<f64, String> {
    let word = word.trim();
    let plain = |w: &str| {
        let number = w.trim().parse::<f64>().ok().filter(|x| x.is_finite());
        number.ok_or_else(|| format!("`{word}` is not a number; write 0.05, 5% or 1/20"))
    };
    if let Some((part, whole)) = word.split_once('/') {
        let (part, whole) = (plain(part)?, plain(whole)?);
        return if whole == 0.0 {
            Err(format!("`{word}` divides by zero"))
        } else {
            Ok(part / whole)
        };
    }
    match word.strip_suffix('%') {
        Some(percent) => Ok(plain(percent)? / 100.0),
        None => plain(word),
    }
}

/// Several, with commas.
pub fn list(word: &str) -> Result<Vec<f64>, String> {
    word.split(',').map(number).collect()
}

/// `NAME=NUMBER`. The name may hold an equals sign, the number cannot.
pub fn named(word: &str) -> Result<(String, f64), String> {
    let (name, value) = word.rsplit_once('=').ok_or("write it as NAME=NUMBER")?;
    if name.trim().is_empty() {
        return Err("write it as NAME=NUMBER".into());
    }
    Ok((name.trim().to_owned(), number(value)?))
}

/// `NAME=NUMBER,NUMBER,…`
pub fn named_list(word: &str) -> Result<(String, Vec<f64>), String> {
    let (name, values) = word.rsplit_once('=').ok_or("write it as NAME=NUMBER,NUMBER,…")?;
    if name.trim().is_empty() {
        return Err("write it as NAME=NUMBER,NUMBER,…".into());
    }
    Ok((name.trim().to_owned(), list(values)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
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
