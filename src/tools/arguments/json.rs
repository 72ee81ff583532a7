//! JSON text: its depth, its raw values, strings that hold JSON, numbers.
//!
//! Knows no arguments and no tools.

use serde_json::value::RawValue;

/// Arrays and objects nested deeper are refused before a recursive parser reads them.
pub const MAX_DEPTH: usize = 128;

/// Whether brackets outside strings nest deeper than `most`. The JSON need not be valid.
pub fn depth_exceeds(json: &[u8], most: usize) -> bool {
    let (mut depth, mut at) = (0usize, 0);
    while let Some(&byte) = json.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => at = end_of_string(json, at),
            _ => {}
        }
        if depth > most {
            return true;
        }
    }
    false
}

/// The position after the closing quote of the string that starts at `at`.
fn end_of_string(json: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr::memchr2(b'"', b'\\', &json[at.min(json.len())..]) {
        at += found;
        if json[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    json.len()
}

/// The JSON text of a value, without spaces around it.
pub(super) fn raw<'a>(value: &sonic_rs::LazyValue<'a>) -> &'a str {
    match value.as_raw_cow() {
        std::borrow::Cow::Borrowed(text) => text,
        // sonic-rs borrows if the input is borrowed, as here.
        std::borrow::Cow::Owned(_) => unreachable!("a value borrowed from its input is never owned"),
    }
}

/// The text of a JSON string. `None` for another value, and for a lone surrogate.
pub(super) fn string(json: &str) -> Option<String> {
    json.starts_with('"').then(|| sonic_rs::from_str(json).ok()).flatten()
}

/// The JSON that a JSON string holds, without spaces around it, if it starts with `bracket`. `None` if the text
/// is not JSON or nests too deep.
pub(super) fn within_string(json: &str, bracket: char) -> Option<String> {
    let text = string(json)?;
    let trimmed = text.trim();
    let holds = trimmed.starts_with(bracket)
        && (switches::is_off("args-in-a-string") || !depth_exceeds(trimmed.as_bytes(), MAX_DEPTH))
        && (switches::is_off("args-whole-string") || serde_json::from_str::<&RawValue>(trimmed).is_ok());
    holds.then(|| trimmed.to_owned())
}

/// An integer, by its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Integer {
    /// One that is not negative. A number that is too large saturates.
    Natural(u64),
    /// A negative one, without its sign.
    Negative(u64),
}

/// Reads an integer: a number without a fraction, such as 5, 5.0 and 5e0, or a string that holds one.
pub(super) fn integer(json: &str) -> Option<Integer> {
    if json.starts_with('"') {
        let text = string(json)?;
        return number(text.trim());
    }
    number(json)
}

fn number(text: &str) -> Option<Integer> {
    // Rust also reads "+5", which is no number in JSON.
    if let Some(number) = text.parse::<u64>().ok().filter(|_| !text.starts_with('+')) {
        return Some(Integer::Natural(number));
    }
    let number = sonic_rs::from_str::<f64>(text).ok().filter(|number| number.fract() == 0.0)?;
    Some(if number < 0.0 { Integer::Negative(-number as u64) } else { Integer::Natural(number as u64) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_counted_outside_strings_only() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(!depth_exceeds(deep(128).as_bytes(), 128));
        assert!(depth_exceeds(deep(129).as_bytes(), 128));
        assert!(depth_exceeds("[".repeat(200_000).as_bytes(), 128));
        assert!(!depth_exceeds(format!(r#"{{"a":"{}\"[[["}}"#, "[".repeat(500)).as_bytes(), 128));
        assert!(!depth_exceeds(br#""\"#, 0));
    }

    #[test]
    fn integers_are_read_by_their_value_in_numbers_and_strings() {
        for (json, number) in
            [("5", 5), ("5.0", 5), ("5e0", 5), (r#""5""#, 5), (r#"" 5.0 ""#, 5), ("1e99", u64::MAX)]
        {
            assert_eq!(integer(json), Some(Integer::Natural(number)), "{json}");
        }
        for (json, number) in [("-1", 1), ("-1.0", 1), (r#""-7""#, 7), ("-1e99", u64::MAX)] {
            assert_eq!(integer(json), Some(Integer::Negative(number)), "{json}");
        }
        for json in
            ["1.5", r#""1.5""#, r#""+5""#, r#""""#, r#""five""#, r#""0x5""#, r#""nan""#, "true", "[5]"]
        {
            assert_eq!(integer(json), None, "{json}");
        }
    }

    #[test]
    fn a_string_may_hold_whole_json_and_nothing_beside_it() {
        assert_eq!(within_string(r#"" [1] ""#, '[').as_deref(), Some("[1]"));
        let deep = format!("\"{}{}\"", "[".repeat(200), "]".repeat(200));
        for json in [r#""[1] x""#, r#""[1""#, r#""{}""#, "[1]", r#""[\ud800]""#, &deep] {
            assert_eq!(within_string(json, '['), None, "{json}");
        }
    }
}
