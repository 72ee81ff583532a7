//! A list of globs in one text: a comma separates them.

use std::ops::Range;

/// The parts between commas that are in no braces, brackets or groups. What opens and is not closed, and what stands behind a
/// backslash, a comma too, is a character like others.
pub(super) fn split(text: &str) -> Vec<&str> {
    let closed = closed(text);
    let mut within = closed.iter().peekable();
    let (mut parts, mut start) = (Vec::new(), 0);
    for (at, _) in text.match_indices(',') {
        while within.next_if(|range| range.end < at).is_some() {}
        if within.peek().is_none_or(|range| at < range.start) {
            parts.push(text[start..at].trim());
            start = at + 1;
        }
    }
    parts.push(text[start..].trim());
    parts
}

/// The outermost braces, brackets and groups that are closed, from the byte of the first sign to that of the last one, and commas
/// behind a backslash, from the backslash.
fn closed(text: &str) -> Vec<Range<usize>> {
    let (mut closed, mut open): (Vec<Range<usize>>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
    let (mut bytes, mut has_class, mut numbers) = (text.bytes().enumerate(), true, [0_usize; 2]);
    while let Some((at, byte)) = bytes.next() {
        let kind = usize::from(matches!(byte, b'(' | b')'));
        match byte {
            b'\\' => {
                closed.extend(bytes.next().filter(|(_, byte)| *byte == b',').map(|(comma, _)| at..comma))
            }
            b'[' if has_class => {
                let mut rest = bytes.clone();
                has_class = end_of_class(&mut rest).map(|end| closed.push(at..end)).is_some();
                if has_class {
                    bytes = rest;
                }
            }
            b'{' | b'(' => {
                open.push((at, kind));
                numbers[kind] += 1;
            }
            b'}' | b')' if numbers[kind] > 0 => {
                // What was opened inside and not closed is a character like others.
                while let Some((start, other)) = open.pop() {
                    numbers[other] -= 1;
                    if other == kind {
                        while closed.pop_if(|inner| inner.start > start).is_some() {}
                        closed.push(start..at);
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    closed
}

/// Where the brackets end of which this is the rest.
fn end_of_class(rest: &mut impl Iterator<Item = (usize, u8)>) -> Option<usize> {
    while let Some((at, byte)) = rest.next() {
        match byte {
            b'\\' => _ = rest.next(),
            b']' => return Some(at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn a_comma_separates_globs_outside_of_braces() {
        assert_eq!(split("*.{a,b}, c,[,]d,@(x,|y)"), ["*.{a,b}", "c", "[,]d", "@(x,|y)"]);
        assert_eq!(split("{a,{b,c},(d,e)},f"), ["{a,{b,c},(d,e)}", "f"]);
        assert_eq!(split("{a,[}],b},c"), ["{a,[}],b}", "c"]);
    }

    #[test]
    fn what_opens_and_is_not_closed_or_is_taken_as_it_is_holds_no_comma() {
        for first in ["[slug", "{a", "@(a", r"\{a", r"\[a", r"a\(", "a}", "a]", "({a)", r"[a\]"] {
            assert_eq!(split(&format!("{first},*.ts")), [first, "*.ts"], "{first}");
            assert_eq!(split(&format!("{{x,y}},{first},*.ts")), ["{x,y}", first, "*.ts"], "{first}");
        }
        assert_eq!(split("[slug,{a,b},*.ts"), ["[slug", "{a,b}", "*.ts"]);
    }

    #[test]
    fn a_comma_behind_a_backslash_is_a_character() {
        assert_eq!(split(r"a\,b.txt, *.rs"), [r"a\,b.txt", "*.rs"]);
        assert_eq!(split(r"a\\,b"), [r"a\\", "b"]);
        assert_eq!(split(r"{a\,b,c},(\,d,[\,e\,"), [r"{a\,b,c}", r"(\,d", r"[\,e\,"]);
    }

    #[test]
    fn a_long_text_is_split_in_linear_time() {
        for text in ["[", "{", "(", "{}", "[a]", "{[", "({"].map(|part| part.repeat(1 << 18) + ",a\\]") {
            assert_eq!(split(&text).len(), 2);
        }
    }
}
