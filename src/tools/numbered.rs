//! Lines with their numbers, for a model (contract 11).

/// The lines of `text`, joined by `\n`, each behind its number and a tab. The first has the number `first`. `is_cut`: the
/// text ends in the break of its last line, which starts no further one.
pub(super) fn numbered(text: &str, first: u64, is_cut: bool) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8 + 8);
    let (mut number, mut rest) = (first, text);
    loop {
        out.push_str(itoa::Buffer::new().format(number));
        out.push('\t');
        number += 1;
        let Some(at) = memchr::memchr2(b'\n', b'\r', rest.as_bytes()) else {
            out.push_str(rest);
            return out;
        };
        out.push_str(&rest[..at]);
        rest = &rest[at + if rest[at..].starts_with("\r\n") { 2 } else { 1 }..];
        if rest.is_empty() && is_cut {
            return out;
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::numbered;

    #[test]
    fn each_line_has_its_number_whatever_its_break() {
        assert_eq!(numbered("a\rb\r\n\nc", 9, false), "9\ta\n10\tb\n11\t\n12\tc");
        assert_eq!(numbered("", 0, false), "0\t");
        assert_eq!(numbered("a\n", 0, false), "0\ta\n1\t");
        assert_eq!(numbered("a\n", 0, true), "0\ta");
    }
}
