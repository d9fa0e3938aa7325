//! Dates and timestamps as days since 1970-01-01, and the parts of a date.
//!
//! The calendar is the proleptic Gregorian one; the number of days of a date follows Hinnant (2021,
//! "chrono-compatible low-level date algorithms"), which counts years from March, so that the leap day is the last one.

use serde::{Deserialize, Serialize};
use std::fmt;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
/// Two-digit years up to this one belong to the 21st century, as in POSIX.
const LAST_SHORT_YEAR: i64 = 68;

/// The order of year, month and day in a date of three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateOrder {
    /// 2024-12-31.
    Ymd,
    /// 31.12.2024.
    Dmy,
    /// 12/31/2024.
    Mdy,
}

impl fmt::Display for DateOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            DateOrder::Ymd => "year-month-day",
            DateOrder::Dmy => "day-month-year",
            DateOrder::Mdy => "month-day-year",
        })
    }
}

/// A part of a date that is a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DatePart {
    /// The days since the first date of the training data.
    Elapsed,
    /// The month, from 1 to 12.
    Month,
    /// The day of the month, from 1 to 31.
    Day,
    /// The day of the week, from 0 (Monday) to 6.
    Weekday,
    /// The hour of the day, with its fraction.
    Hour,
}

impl DatePart {
    /// All parts.
    pub const ALL: [DatePart; 5] =
        [DatePart::Elapsed, DatePart::Month, DatePart::Day, DatePart::Weekday, DatePart::Hour];

    /// The part of a date, which is given in days since 1970-01-01; NaN if the date is missing. `origin` is the date
    /// that elapsed days are counted from.
    pub fn of(self, days: f64, origin: f64) -> f64 {
        if days.is_nan() {
            return days;
        }
        match self {
            DatePart::Elapsed => days - origin,
            DatePart::Month => f64::from(calendar(days).1),
            DatePart::Day => f64::from(calendar(days).2),
            // 1970-01-01 was a Thursday.
            DatePart::Weekday => (days.floor() + 3.0).rem_euclid(7.0),
            // Rounded to a second, which a date near today has as its precision.
            DatePart::Hour => ((days - days.floor()) * 86_400.0).round() / 3600.0,
        }
    }

    /// The name of the feature of a column.
    pub fn feature(self, column: &str) -> String {
        format!("{column}.{self}")
    }
}

impl fmt::Display for DatePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            DatePart::Elapsed => "days",
            DatePart::Month => "month",
            DatePart::Day => "day",
            DatePart::Weekday => "weekday",
            DatePart::Hour => "hour",
        })
    }
}

/// Year, month and day of a number of days since 1970-01-01.
pub fn calendar(days: f64) -> (i64, u32, u32) {
    // Days since 0000-03-01; the eras of 400 years have equally many.
    let z = days.floor() as i64 + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month as u32, day as u32)
}

/// Days since 1970-01-01 of a date; `None` if there is no such day.
fn days_of(year: i64, month: u32, day: u32) -> Option<f64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = *DAYS.get(month.checked_sub(1)? as usize)? + u32::from(leap && month == 2);
    if day == 0 || day > longest {
        return None;
    }
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = i64::from((month + 9) % 12);
    let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some((era * 146_097 + day_of_era - 719_468) as f64)
}

/// A date in ISO 8601, with the time of day if it is not midnight.
pub(super) fn format(days: f64) -> String {
    if days.is_nan() {
        return "missing".to_owned();
    }
    let seconds = ((days - days.floor()) * 86_400.0).round() as i64;
    let (year, month, day) = calendar(days);
    let date = format!("{year:04}-{month:02}-{day:02}");
    match seconds % 86_400 {
        0 => date,
        s => format!("{date} {:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60),
    }
}

/// The value of a trimmed cell in days since 1970-01-01.
pub(super) fn parse(text: &str, order: DateOrder) -> Option<f64> {
    let begins = text.bytes().next()?;
    if text.len() < 6
        || text.len() > 40
        || !(begins.is_ascii_digit() || begins.is_ascii_alphabetic())
    {
        return None;
    }
    let (date, time) = split_time(text);
    let days = parse_date(date, order)?;
    Some(days + time.map_or(Some(0.0), parse_time)?)
}

/// The date and the time of day, which begins with the hour before the first colon.
fn split_time(text: &str) -> (&str, Option<&str>) {
    let Some(colon) = text.find(':') else { return (text.trim_end_matches('T'), None) };
    match text[..colon].rfind([' ', 'T', 't']) {
        Some(at) => (text[..at].trim_end().trim_end_matches(','), Some(&text[at + 1..])),
        None => (text, None),
    }
}

fn parse_date(text: &str, order: DateOrder) -> Option<f64> {
    let mut parts = text.split(['-', '/', '.', ' ', ',']).filter(|part| !part.is_empty());
    let (a, b, c) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    if let Some(month) = month_named(a) {
        return days_of(year(c)?, month, number(b, 2)?);
    }
    if let Some(month) = month_named(b) {
        let year_first = a.len() == 4;
        let (y, d) = if year_first { (a, c) } else { (c, a) };
        return days_of(year(y)?, month, number(d, 2)?);
    }
    if text.contains([' ', ',']) {
        return None;
    }
    let (y, m, d) = match order {
        DateOrder::Ymd if a.len() == 4 => (a, b, c),
        DateOrder::Dmy if a.len() < 3 => (c, b, a),
        DateOrder::Mdy if a.len() < 3 => (c, a, b),
        _ => return None,
    };
    days_of(year(y)?, number(m, 2)?, number(d, 2)?)
}

fn number(text: &str, max_digits: usize) -> Option<u32> {
    let digits = text.bytes().all(|b| b.is_ascii_digit()) && text.len() <= max_digits;
    text.parse().ok().filter(|_| digits)
}

fn year(text: &str) -> Option<i64> {
    let year = i64::from(number(text, 4)?);
    match text.len() {
        4 => Some(year),
        2 => Some(if year <= LAST_SHORT_YEAR { 2000 + year } else { 1900 + year }),
        _ => None,
    }
}

/// The month of an English name or its first three letters.
fn month_named(text: &str) -> Option<u32> {
    let name = text.get(..3)?.to_ascii_lowercase();
    let letters = text.bytes().all(|b| b.is_ascii_alphabetic()) && text.len() <= 9;
    let month = MONTHS.iter().position(|month| *month == name).filter(|_| letters)?;
    Some(month as u32 + 1)
}

/// The fraction of a day of a time such as `14:05`, `2:05:30.5 PM` or `14:05:30Z`; an offset is subtracted.
fn parse_time(text: &str) -> Option<f64> {
    let text = text.trim();
    let end =
        text.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(text.len());
    let (clock, rest) = text.split_at(end);
    let mut parts = clock.split(':');
    let mut hours = number(parts.next()?, 2)?;
    let minutes = number(parts.next()?, 2)?;
    let seconds: f64 = match parts.next() {
        Some(seconds) => seconds.parse().ok()?,
        None => 0.0,
    };
    let suffix = rest.trim().to_ascii_uppercase();
    let afternoon = suffix == "PM";
    if parts.next().is_some() || hours > 23 || minutes > 59 || !(0.0..61.0).contains(&seconds) {
        return None;
    }
    if afternoon || suffix == "AM" {
        if hours == 0 || hours > 12 {
            return None;
        }
        hours = hours % 12 + if afternoon { 12 } else { 0 };
    }
    let offset = match suffix.as_str() {
        "" | "AM" | "PM" | "Z" | "UTC" => 0.0,
        offset => parse_offset(offset)?,
    };
    Some((f64::from(hours) - offset) / 24.0 + f64::from(minutes) / 1440.0 + seconds / 86_400.0)
}

/// The hours of an offset from UTC such as `+02:00`.
fn parse_offset(text: &str) -> Option<f64> {
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    let digits: String = text.strip_prefix(['+', '-'])?.chars().filter(|c| *c != ':').collect();
    let hours = number(digits.get(..2)?, 2)?;
    let minutes = match &digits[2..] {
        "" => 0,
        minutes => number(minutes, 2)?,
    };
    Some(sign * (f64::from(hours) + f64::from(minutes) / 60.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_four_centuries_comes_back() {
        for day in -80_000..80_000 {
            let (year, month, date) = calendar(f64::from(day));
            assert_eq!(days_of(year, month, date), Some(f64::from(day)));
        }
    }

    #[test]
    fn dates_are_parsed_by_their_order() {
        let first = days_of(2024, 2, 29);

        assert_eq!(first, Some(19_782.0));
        assert_eq!(parse("2024-02-29", DateOrder::Ymd), first);
        assert_eq!(parse("29.2.2024", DateOrder::Dmy), first);
        assert_eq!(parse("02/29/24", DateOrder::Mdy), first);
        assert_eq!(parse("29-Feb-2024", DateOrder::Ymd), first);
        assert_eq!(parse("February 29, 2024", DateOrder::Dmy), first);
        assert_eq!(parse("2024-02-29T12:00:00Z", DateOrder::Ymd), Some(19_782.5));
        assert_eq!(parse("2024-02-29 06:00 PM", DateOrder::Ymd), Some(19_782.75));
        assert_eq!(parse("2024-02-29 02:00:00+02:00", DateOrder::Ymd), first);
    }

    #[test]
    fn days_that_do_not_exist_are_refused() {
        for text in
            ["2023-02-29", "2024-13-01", "2024-00-10", "2024-01-32", "1.2.3", "12-34-56789", "2024"]
        {
            assert_eq!(parse(text, DateOrder::Ymd), None, "{text}");
        }
        assert_eq!(parse("31/12/2024", DateOrder::Mdy), None);
    }

    #[test]
    fn parts_of_a_date_are_those_of_the_calendar() {
        // 2024-02-29 was a Thursday.
        let days = parse("2024-02-29 18:30", DateOrder::Ymd).unwrap();

        let parts = DatePart::ALL.map(|part| part.of(days, 19_780.0));

        assert_eq!(parts, [days - 19_780.0, 2.0, 29.0, 3.0, 18.5]);
        assert_eq!(format(days), "2024-02-29 18:30:00");
        assert!(DatePart::Month.of(f64::NAN, 0.0).is_nan());
    }
}
