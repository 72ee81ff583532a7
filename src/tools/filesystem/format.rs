//! Numbers and times as the reference server writes them.

use std::sync::LazyLock;

use tz::TimeZone;

use crate::tools::timestamp;

const UNITS: [&str; 5] = ["B", "KB", "MB", "GB", "TB"];

/// A size in bytes, such as `1023 B` or `1.50 KB`.
pub(super) fn size(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let unit = ((bytes as f64).log2() / 10.0).floor().min((UNITS.len() - 1) as f64) as usize;
    // JavaScript rounds a half up; the formatting of floats here rounds it to the even digit.
    let hundredths = (u128::from(bytes) * 100 + (1 << (10 * unit - 1))) >> (10 * unit);
    format!("{}.{:02} {}", hundredths / 100, hundredths % 100, UNITS[unit])
}

/// `name`, filled with blanks to `width` UTF-16 units.
pub(super) fn padded(name: &str, width: usize) -> String {
    let units = name.encode_utf16().count();
    let mut padded = name.to_owned();
    padded.extend(std::iter::repeat_n(' ', width.saturating_sub(units)));
    padded
}

/// A time in milliseconds since 1970, as JavaScript writes a date, in the time zone of this process.
pub(super) fn date(milliseconds: i64) -> String {
    static ZONE: LazyLock<TimeZone> = LazyLock::new(zone_of_this_process);
    let seconds = milliseconds.div_euclid(1_000);
    match ZONE.find_local_time_type(seconds) {
        Ok(zone) => date_in(milliseconds, zone.ut_offset().into(), zone.time_zone_designation()),
        Err(_) => date_in(milliseconds, 0, ""),
    }
}

/// The zone that `TZ` names, else that of the system, else UTC.
fn zone_of_this_process() -> TimeZone {
    let named = std::env::var("TZ").ok().and_then(|name| TimeZone::from_posix_tz(&name).ok());
    named.or_else(|| TimeZone::local().ok()).unwrap_or(TimeZone::utc())
}

/// The same, at this number of seconds east of UTC. The zone's name is its abbreviation, where JavaScript has words.
fn date_in(milliseconds: i64, offset: i64, zone: &str) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let seconds = milliseconds.div_euclid(1_000) + offset;
    // `2026-11-22T16:26:09Z`
    let text = timestamp(seconds);
    let number = |at: std::ops::Range<usize>| text.get(at).and_then(|part| part.parse::<usize>().ok());
    let month = number(5..7).and_then(|month| MONTHS.get(month.checked_sub(1)?)).unwrap_or(&"");
    let day = DAYS[seconds.div_euclid(86_400).rem_euclid(7) as usize];
    let (date, year, time) = (&text[8..10], &text[..4], &text[11..19]);
    let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs() / 60);
    let zone = if matches!(zone, "" | "UTC") { "Coordinated Universal Time" } else { zone };
    format!("{day} {month} {date} {year} {time} GMT{sign}{:02}{:02} ({zone})", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_two_decimals_and_do_not_carry_into_the_next_unit() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KB"),
            (10_239, "10.00 KB"),
            (1_048_575, "1024.00 KB"),
            (1_048_576, "1.00 MB"),
            (1_048_576_000, "1000.00 MB"),
            (1 << 30, "1.00 GB"),
            (1 << 50, "1024.00 TB"),
            (5_248, "5.13 KB"),
            (4_736, "4.63 KB"),
            (5_247, "5.12 KB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn names_are_padded_by_utf16_units() {
        assert_eq!(
            (padded("ab", 4), padded("😀", 4), padded("long", 2)),
            ("ab  ".into(), "😀  ".into(), "long".into())
        );
    }

    #[test]
    fn dates_are_those_of_javascript() {
        for (milliseconds, offset, zone, text) in [
            (1_795_364_769_999, 0, "UTC", "Sun Nov 22 2026 16:26:09 GMT+0000 (Coordinated Universal Time)"),
            (0, 0, "", "Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)"),
            (-500, 0, "UTC", "Wed Dec 31 1969 23:59:59 GMT+0000 (Coordinated Universal Time)"),
            (1_795_364_769_000, -5 * 3_600, "EST", "Sun Nov 22 2026 11:26:09 GMT-0500 (EST)"),
            (1_795_364_769_000, 19_800, "IST", "Sun Nov 22 2026 21:56:09 GMT+0530 (IST)"),
        ] {
            assert_eq!(date_in(milliseconds, offset, zone), text);
        }
    }
}
