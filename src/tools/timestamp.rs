//! Formats times: UTC, RFC 3339, whole seconds.

/// The first and the last second that RFC 3339 can express: its years have four digits.
const FIRST: i64 = -62_167_219_200;
const LAST: i64 = 253_402_300_799;

const DAY: i64 = 86_400;

/// Formats `seconds` since 1970. A time out of range becomes the nearest one in range.
pub fn timestamp(seconds: i64) -> String {
    let mut text = String::with_capacity(20);
    push_timestamp(&mut text, seconds);
    text
}

/// Like [`timestamp`], appended to `text`.
pub(super) fn push_timestamp(text: &mut String, seconds: i64) {
    let seconds = seconds.clamp(FIRST, LAST);
    let (year, month, day) = date(seconds.div_euclid(DAY));
    let second = seconds.rem_euclid(DAY);
    let parts = [(year / 100, ""), (year % 100, "-"), (month, "-"), (day, "T")];
    let clock = [(second / 3600, ":"), (second / 60 % 60, ":"), (second % 60, "Z")];
    for (two_digits, behind) in parts.into_iter().chain(clock) {
        text.push(char::from(b'0' + (two_digits / 10) as u8));
        text.push(char::from(b'0' + (two_digits % 10) as u8));
        text.push_str(behind);
    }
}

/// The milliseconds since 1970 of a time in RFC 3339. `None`: it is none.
pub(super) fn parse_timestamp(text: &str) -> Option<i64> {
    let (date, rest) = text.split_at_checked(10)?;
    let number =
        |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<i64>().ok()).flatten();
    let [year, month, day] = parts(date, '-').map(number);
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let (clock, zone) = rest.split_at(rest.find(['Z', 'z', '+', '-'])?);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let [hour, minute, second] = parts(clock, ':').map(number);
    let (hour, minute, second) = (hour?, minute?, second?);
    let offset = match zone.split_at_checked(1)? {
        ("Z" | "z", "") => 0,
        (sign, zone) => {
            let [hours, minutes, _] = parts(zone, ':').map(number);
            (hours? * 60 + minutes?) * if sign == "-" { -60 } else { 60 }
        }
    };
    let milliseconds = format!("{fraction:0<3}").get(..3).and_then(number)?;
    let days = days(
        year?,
        month.filter(|month| (1..=12).contains(month))?,
        day.filter(|day| (1..=31).contains(day))?,
    );
    let is_clock = hour < 24 && minute < 60 && second <= 60;
    is_clock.then(|| (days * DAY + hour * 3_600 + minute * 60 + second - offset) * 1_000 + milliseconds)
}

/// Three parts of a text; those that are missing are empty.
fn parts(text: &str, between: char) -> [&str; 3] {
    let mut parts = text.splitn(3, between);
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

/// The days from 1 January 1970 to a date of the Gregorian calendar. See [`date`].
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The Gregorian date `days` days after 1 January 1970. Years start in March here, so that a leap day is the
/// last day of a year and all months before it have fixed lengths. Eras of 400 years repeat.
fn date(days: i64) -> (i64, i64, i64) {
    const ERA: i64 = 146_097;
    // 1 March 0000 was 719,468 days before 1970.
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / (ERA - 1)) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // March to July and August to December have 153 days each.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc_in_whole_seconds_whatever_a_file_claims() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00Z");
        assert_eq!(timestamp(1_749_033_000), "2025-06-04T10:30:00Z");
        assert_eq!(timestamp(-1), "1969-12-31T23:59:59Z");
        assert_eq!(timestamp(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(timestamp(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(timestamp(i64::MAX), "9999-12-31T23:59:59Z");
        assert_eq!(timestamp(i64::MIN), "0000-01-01T00:00:00Z");
    }

    #[test]
    fn a_time_is_read_as_it_is_written_in_any_zone() {
        for seconds in [0, -1, 1_749_033_000, 951_782_399, 951_782_400, FIRST, LAST] {
            assert_eq!(parse_timestamp(&timestamp(seconds)), Some(seconds * 1_000), "{seconds}");
        }
        assert_eq!(parse_timestamp("2025-06-04T12:30:00.25+02:00"), Some(1_749_033_000_250));
        assert_eq!(parse_timestamp("2025-06-04 05:30:00-05:00"), Some(1_749_033_000_000));
        for wrong in [
            "",
            "2025-06-04",
            "2025-06-04T10:30",
            "2025-13-04T10:30:00Z",
            "2025-06-04T25:30:00Z",
            "2025-06-04T10:30:00",
        ] {
            assert_eq!(parse_timestamp(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn each_day_follows_the_one_before_in_the_calendar() {
        let (mut year, mut month, mut day) = (0, 1, 1);
        for nth in FIRST / DAY..=LAST / DAY {
            assert_eq!(date(nth), (year, month, day), "day {nth}");
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month {
                2 => 28 + i64::from(leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            (day, month) = if day < length { (day + 1, month) } else { (1, month + 1) };
            (month, year) = if month <= 12 { (month, year) } else { (1, year + 1) };
        }
        assert_eq!((year, month, day), (10_000, 1, 1));
    }
}
