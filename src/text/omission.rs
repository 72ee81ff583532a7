//! Finds lines that stand for text that they leave out, such as `# ... existing code ...`.
//!
//! Models write such lines instead of text that they do not want to repeat, in the text to find and in the text to put in. Pure; knows
//! no edits and no messages.

use crate::encoding::Encoding;

/// What a comment begins with, in many languages.
const COMMENTS: [&str; 9] = ["#", "//", "/*", "{/*", "<!--", "--", ";", "%", "*"];

/// Words of a comment that speaks of text left out.
const WORDS: [&str; 8] = ["existing", "rest", "unchanged", "remain", "same", "omitted", "previous", "other"];

/// The other words of such comments. A comment with dots at one end only stands for text if it has no further words: `# Load the rest...`
/// does not.
const AROUND: &str = " a all and are as before body class classes code content contents definitions fields file for function functions \
    here implementation import imports in is items its keep kept lines logic method methods no of props stay stays tests text that \
    the this to unmodified with your ";

/// Whether a line is only dots, or a comment with dots that speaks of text left out.
pub(crate) fn is_placeholder(line: &str) -> bool {
    let Comment { inner, starts, ends, is_comment } = Comment::of(line);
    matches!(inner, "..." | "…") || is_comment && (starts || ends && speaks(inner))
}

/// The first line of `new_text` that says by a comment that text of the file is left out there, if `old`, the bytes of the file in this
/// encoding, holds no such line: what it stands for would be lost. Dots alone are code, or a comment like others.
pub fn omission<'t>(new_text: &'t str, old: &[u8], encoding: Encoding) -> Option<&'t str> {
    let mut omissions = new_text.lines().map(str::trim).filter(|line| is_omission(line));
    omissions.find(|line| !switches::is_off("omission") && !old.is_empty() && !holds(old, line, encoding))
}

/// Whether a line of a new text says so.
pub fn has_omission(new_text: &str) -> bool {
    new_text.lines().any(|line| is_omission(line.trim()))
}

/// What is wrong with such a line of a new text, and what to do.
pub fn omission_problem(line: &str) -> String {
    let line: String = line.chars().take(200).collect();
    format!(
        "its line `{line}` stands for text that is left out, but the file has no such line and would get it instead of that text; write \
         that text out, or change only the parts that differ, each by an edit of its own. To write this very line, write it without its \
         dots first and put them in by another edit"
    )
}

fn is_omission(line: &str) -> bool {
    let Comment { inner, starts, ends, is_comment } = Comment::of(line);
    if !is_comment || !(starts || ends) || !speaks(inner) {
        return false;
    }
    let lower = inner.to_lowercase();
    let mut words = lower.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_usual = |word: &str| {
        AROUND.contains(&format!(" {word} ")) || WORDS.iter().any(|known| word.starts_with(known))
    };
    starts && ends || words.all(is_usual)
}

fn speaks(inner: &str) -> bool {
    let lower = inner.to_lowercase();
    WORDS.iter().any(|word| lower.contains(word))
}

fn holds(old: &[u8], line: &str, encoding: Encoding) -> bool {
    let mut bytes = Vec::new();
    encoding.encode(line, &mut bytes).is_ok() && memchr::memmem::find(old, &bytes).is_some()
}

/// A line without the signs of a comment around it.
struct Comment<'l> {
    inner: &'l str,
    /// It starts, and ends, with dots.
    starts: bool,
    ends: bool,
    is_comment: bool,
}

impl Comment<'_> {
    fn of(line: &str) -> Comment<'_> {
        let inner = line.trim_start_matches(['#', '/', '*', '{', '<', '!', '-', ';', '%', '(', '[', ' ']);
        let inner = inner.trim_end_matches(['/', '*', '}', '-', '>', ')', ']', ' ']);
        Comment {
            inner,
            starts: inner.starts_with("...") || inner.starts_with('…'),
            ends: inner.ends_with("...") || inner.ends_with('…'),
            is_comment: COMMENTS.iter().any(|mark| line.starts_with(mark)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_stand_for_others_are_told_from_code() {
        for line in [
            "...",
            "…",
            "# ...",
            "// ...",
            "[...]",
            "{ ... }",
            "# ... existing code ...",
            "// ... rest of the code",
            "// rest of code ...",
            "/* ... */",
            "{/* ... other items ... */}",
            "<!-- ... -->",
            "-- ... unchanged",
            "; ...",
            "// … existing code …",
        ] {
            assert!(is_placeholder(line), "{line}");
        }
        for line in [
            "",
            "#",
            "...args,",
            "f(...x)",
            "print('...')",
            "# Loading...",
            "a = [...b]",
            "// the rest",
            "- item",
        ] {
            assert!(!is_placeholder(line), "{line}");
        }
    }

    #[test]
    fn a_new_text_leaves_out_by_a_comment_with_dots_that_says_so() {
        for line in [
            "# ... existing code ...",
            "    // ... rest of file\t",
            "// rest of the code remains the same...",
            "// ...existing imports...",
            "/* ... unchanged ... */",
            "{/* ... other items of the list ... */}",
            "<!-- ... rest of content ... -->",
            "-- ... remaining methods unchanged",
            "# … previous functions …",
            "# ... (rest of the class stays as is)",
        ] {
            let text = format!("fn a() {{\n{line}\n}}\n");
            assert_eq!(omission(&text, b"fn a() {}", Encoding::Utf8), Some(line.trim()), "{line}");
        }
        for line in [
            "...",
            "    ...",
            "# ...",
            "/* ... */",
            "# Load the rest of the items...",
            "// Reading existing files ...",
            "# unchanged",
            "// the rest",
            "def f(*args): ...",
            "let { a, ...rest } = props;",
            "print('... existing code ...')",
            "# ... and so on",
        ] {
            assert_eq!(omission(line, b"fn a() {}", Encoding::Utf8), None, "{line}");
        }
    }

    #[test]
    fn a_line_that_the_file_has_or_a_new_file_leaves_nothing_out() {
        let line = "# ... existing code ...";
        assert_eq!(omission(line, b"", Encoding::Utf8), None);
        for encoding in [Encoding::Utf8, Encoding::Utf16Le, Encoding::Utf16Be] {
            let bytes = |text: &str| {
                let mut bytes = Vec::new();
                encoding.encode(text, &mut bytes).unwrap();
                bytes
            };
            assert_eq!(omission(line, &bytes("a\n  # ... existing code ...\nb"), encoding), None);
            assert_eq!(omission(line, &bytes("a\nb"), encoding), Some(line));
        }
    }
}
