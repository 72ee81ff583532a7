//! Old-style casts of TypeScript, `<T>x`: blanks them, because the grammar that is used takes them for JSX.
//!
//! Looks at tokens alone: it tells texts, templates, comments and regular expressions from code, and knows after which tokens
//! an operand may stand. Knows no tree.

use std::ops::Range;

/// The longest type of a cast, in bytes.
const LONGEST_TYPE: usize = 2_000;

/// How many `<` may be looked at that begin no cast: each look may take as long as a type.
const MOST_OTHERS: usize = 10_000;

/// The words behind which an operand stands.
const BEFORE_OPERANDS: [&[u8]; 13] = [
    b"return",
    b"throw",
    b"case",
    b"in",
    b"of",
    b"instanceof",
    b"delete",
    b"void",
    b"typeof",
    b"await",
    b"yield",
    b"else",
    b"default",
];

/// The text with blanks in place of its casts, so that all places stay. `None` if it has no cast.
pub(super) fn blanked(text: &[u8]) -> Option<Vec<u8>> {
    let casts = Scanner { text, at: 0, before_operand: true, braces: Vec::new(), others: 0 };
    let mut copy: Option<Vec<u8>> = None;
    for cast in casts {
        let bytes = &mut copy.get_or_insert_with(|| text.to_vec())[cast];
        bytes.iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    }
    copy
}

/// What an opening brace begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Brace {
    Block,
    /// `${` in a template.
    Template,
}

struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    /// Whether an operand may stand here, or the whole is an operator's place.
    before_operand: bool,
    braces: Vec<Brace>,
    /// How many `<` began no cast.
    others: usize,
}

impl Iterator for Scanner<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        while let Some(&byte) = self.text.get(self.at) {
            if byte == b'<' && self.before_operand && self.others < MOST_OTHERS {
                if let Some(end) = cast_end(self.text, self.at) {
                    let cast = self.at..end;
                    self.at = end;
                    return Some(cast);
                }
                self.others += 1;
            }
            self.token(byte);
        }
        None
    }
}

impl Scanner<'_> {
    fn token(&mut self, byte: u8) {
        let rest = &self.text[self.at..];
        match byte {
            b'/' if rest.starts_with(b"//") => self.at = behind_line(self.text, self.at),
            b'/' if rest.starts_with(b"/*") => {
                self.at += memchr::memmem::find(&rest[2..], b"*/").map_or(rest.len(), |len| len + 4);
            }
            b'/' if self.before_operand => {
                self.at = regex_end(self.text, self.at).unwrap_or(self.at + 1);
                self.before_operand = false;
            }
            b'\'' | b'"' => {
                self.at = string_end(self.text, self.at);
                self.before_operand = false;
            }
            b'`' => self.template(),
            b'{' => self.open(Brace::Block),
            b'}' => match self.braces.pop() {
                Some(Brace::Template) => self.template(),
                Some(Brace::Block) | None => self.operator(true),
            },
            b')' | b']' => self.operator(false),
            // Behind an operand these are operators of their own.
            b'+' | b'-' if rest.get(1) == Some(&byte) => self.at += 2,
            b'!' if !self.before_operand && rest.get(1) != Some(&b'=') => self.at += 1,
            byte if byte.is_ascii_whitespace() => self.at += 1,
            byte if is_word(byte) => self.word(),
            _ => self.operator(true),
        }
    }

    fn operator(&mut self, before_operand: bool) {
        self.at += 1;
        self.before_operand = before_operand;
    }

    fn open(&mut self, brace: Brace) {
        self.braces.push(brace);
        self.operator(true);
    }

    fn word(&mut self) {
        let start = self.at;
        self.at += self.text[start..].iter().take_while(|byte| is_word(**byte)).count();
        let is_member = start > 0 && self.text[start - 1] == b'.';
        self.before_operand = !is_member && BEFORE_OPERANDS.contains(&&self.text[start..self.at]);
    }

    /// Goes on behind a template or behind the next `${` in it. Stands at its first quote, or at the brace that ends an
    /// expression in it.
    fn template(&mut self) {
        self.at += 1;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'\\' => self.at += 1,
                b'`' => return self.operator(false),
                b'$' if self.text.get(self.at + 1) == Some(&b'{') => {
                    self.at += 1;
                    return self.open(Brace::Template);
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#') || byte >= 0x80
}

fn behind_line(text: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |len| at + len + 1)
}

/// The end of the text in quotes at `at`; it ends with its line at the latest.
fn string_end(text: &[u8], at: usize) -> usize {
    let quote = text[at];
    let mut end = at + 1;
    while let Some(&byte) = text.get(end) {
        end += if byte == b'\\' { 2 } else { 1 };
        if byte == quote || byte == b'\n' {
            break;
        }
    }
    end.min(text.len())
}

/// The end of the regular expression at `at`. `None` if its line ends before.
fn regex_end(text: &[u8], at: usize) -> Option<usize> {
    let (mut end, mut in_class) = (at + 1, false);
    loop {
        match *text.get(end)? {
            b'\\' => end += 1,
            b'\n' => return None,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'/' if !in_class => return Some(end + 1),
            _ => {}
        }
        end += 1;
    }
}

/// The end of the cast that begins with the `<` at `at`. `None` if it is none: the type parameters of a function, say.
fn cast_end(text: &[u8], at: usize) -> Option<usize> {
    let end = type_end(text, at)?;
    let next = behind_blanks(text, end);
    match *text.get(next)? {
        b'(' => {
            let after = behind_blanks(text, behind_parentheses(text, next)?);
            let rest = &text[after.min(text.len())..];
            (!rest.starts_with(b"=>") && !rest.starts_with(b":") && !rest.starts_with(b"{")).then_some(end)
        }
        b'{' | b'[' | b'\'' | b'"' | b'`' | b'!' | b'-' | b'+' | b'~' | b'<' => Some(end),
        byte => is_word(byte).then_some(end),
    }
}

/// The end of the `<…>` at `at`, if a type may be in it.
fn type_end(text: &[u8], at: usize) -> Option<usize> {
    let (mut angles, mut brackets) = (0usize, 0usize);
    let mut end = at;
    while end < at + LONGEST_TYPE {
        match *text.get(end)? {
            b'<' => angles += 1,
            b'>' if text[end - 1] == b'=' => {}
            b'>' => {
                angles -= 1;
                if angles == 0 {
                    return (brackets == 0 && end > at + 1).then_some(end + 1);
                }
            }
            b'(' | b'[' | b'{' => brackets += 1,
            b')' | b']' | b'}' => brackets = brackets.checked_sub(1)?,
            b'\'' | b'"' => end = string_end(text, end) - 1,
            b';' if brackets == 0 => return None,
            b'/' | b'`' | b'+' | b'*' | b'%' | b'^' | b'!' | b'~' | b'@' => return None,
            byte @ (b'&' | b'|') if text.get(end + 1) == Some(&byte) => return None,
            _ => {}
        }
        end += 1;
    }
    None
}

fn behind_blanks(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// The end of the parentheses at `at`, if they end within the length of a type.
fn behind_parentheses(text: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut end = at;
    while end < at + LONGEST_TYPE {
        match *text.get(end)? {
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(end + 1);
                }
            }
            b'\'' | b'"' => end = string_end(text, end) - 1,
            _ => {}
        }
        end += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn after(text: &str) -> String {
        blanked(text.as_bytes()).map_or(text.into(), |copy| String::from_utf8(copy).unwrap())
    }

    #[test]
    fn casts_are_blanked() {
        for (text, expected) in [
            ("let a = <any>b;", "let a =      b;"),
            ("f(<Foo<Bar>>x, <T[]>[])", "f(          x,      [])"),
            ("return <any>(x + 1);", "return      (x + 1);"),
            ("x = <(a: T) => U>f", "x =              f"),
            ("g(<\n T>x)", "g( \n   x)"),
            ("a = `${<T>b}` + <T>c", "a = `${   b}` +    c"),
            ("a = b!; <T>c.d()", "a = b!;    c.d()"),
            ("(<any>window).a = /</.test(<string>b)", "(     window).a = /</.test(        b)"),
            ("x = <'>' | \"a\">y", "x =            y"),
            ("x = <A><B>y", "x =       y"),
        ] {
            assert_eq!(after(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_cast_stays() {
        for text in [
            "a < b && c > d",
            "for (let i = 0; i < n; i++) {}",
            "const f = <T>(x: T) => x;",
            "const f = <T,>(x: T): T => { return x; };",
            "type F = { <T>(x: T): T };",
            "let m = new Map<string, number>();",
            "function f<T>(x: T) {}",
            "class A<T> extends B<T> {}",
            "// = <T>x\n/* = <T>x */ '= <T>x' \"= <T>x\" `= <T>x`",
            "a = /<T>x/",
            "x! < y, z > (1)",
            "a++ < b, c > d",
            "x.return < y, z > (1)",
            "= <",
            "= <T",
            "= <T>",
            "= <>x",
            "= <a + b>c",
            "= <a && b>c",
            "`${",
            "'",
            "/*",
            "= /[",
            &"= <".repeat(2 * MOST_OTHERS),
        ] {
            assert_eq!(blanked(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_keeps_its_length_and_lines(text in "[<>a(){}\\[\\]'\"`$/\\\\= \n;.!+*]{0,60}") {
            let copy = after(&text);
            prop_assert_eq!(copy.len(), text.len());
            for (old, new) in text.bytes().zip(copy.bytes()) {
                prop_assert!(old == new || new == b' ' && old != b'\n');
            }
        }
    }
}
