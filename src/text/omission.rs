//! Finds lines that stand for text that they leave out, such as `# ... existing code ...`.
//!
//! Models write such lines instead of text that they do not want to repeat, in the text to find and in the text to put in. Pure; knows
//! no edits and no messages.

use crate::encoding::Encoding;
use crate::{Stop, Stopped};

/// What a comment begins with, in many languages.
const COMMENTS: [&str; 9] = ["#", "//", "/*", "{/*", "<!--", "--", ";", "%", "*"];

/// Words of a comment that speaks of text left out.
const WORDS: [&str; 12] = [
    "existing",
    "rest",
    "unchanged",
    "remain",
    "remains",
    "remaining",
    "remainder",
    "same",
    "omitted",
    "previous",
    "other",
    "others",
];

/// Those that say so without dots before them.
const CERTAIN: [&str; 7] =
    ["existing", "unchanged", "remain", "remains", "remaining", "remainder", "omitted"];

/// The other words of such comments. A comment with dots at one end only stands for text if it has no further words: `# Load the rest...`
/// does not.
const AROUND: &str = " a all and are as before body class classes code content contents definitions document fields file for function \
    functions here implementation import imports in is items its keep kept lines list logic method methods no of props stay stays tests \
    text that the this to unmodified with your ";

/// Most different lines of a new text that are looked for in the file. A text with more of them that the file has is one about such
/// lines.
const LOOKED_FOR: usize = 16;

/// Bytes of a file between two looks whether the search goes on.
const WINDOW: usize = 1 << 20;

/// Whether a line is only dots, or a comment with dots that speaks of text left out.
pub(crate) fn is_placeholder(line: &str) -> bool {
    let Comment { inner, starts, ends, is_comment } = Comment::of(line);
    let speaks = || WORDS.iter().any(|word| inner.to_lowercase().contains(word));
    matches!(inner, "..." | "…") || is_comment && (starts || ends && speaks())
}

/// The first line of `new_text` that says that text of the file is left out there, if `old`, the bytes of the file in this encoding, holds
/// no such line, with or without its dots: what it stands for would be lost. Dots alone are code, or a comment like others.
pub fn omission<'t>(
    new_text: &'t str,
    old: &[u8],
    encoding: Encoding,
    control: &dyn Stop,
) -> Result<Option<&'t str>, Stopped> {
    if old.is_empty() || switches::is_off("omission") {
        return Ok(None);
    }
    let mut lines: Vec<&str> = Vec::new();
    for line in new_text.lines().map(str::trim).filter(|line| is_omission(line)) {
        if lines.len() < LOOKED_FOR && !lines.contains(&line) {
            lines.push(line);
        }
    }
    for line in lines {
        if !holds(old, line, encoding, control)? && !holds(old, &undotted(line), encoding, control)? {
            return Ok(Some(line));
        }
    }
    Ok(None)
}

/// Whether a line of a new text says so.
pub fn has_omission(new_text: &str) -> bool {
    new_text.lines().any(|line| is_omission(line.trim()))
}

/// What is wrong with such a line of a new text, and what to do.
pub fn omission_problem(line: &str) -> String {
    let first: String = line.chars().take(200).collect();
    format!(
        "its line `{first}` stands for text that is left out, but the file has no such line and would get it as it is; write that text \
         out, or change only the parts that differ, each by an edit of its own. To write this very line, write `{}` first and put in the \
         dots by another edit",
        undotted(line)
    )
}

/// The line without its dots.
fn undotted(line: &str) -> String {
    let line = line.replace("...", "").replace('…', "");
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_omission(line: &str) -> bool {
    let Comment { inner, starts, ends, is_comment } = Comment::of(line);
    if !(starts && ends || is_comment && (starts || ends)) {
        return false;
    }
    let lower = inner.to_lowercase();
    let words: Vec<&str> =
        lower.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_usual = |word: &&str| AROUND.contains(&format!(" {word} ")) || WORDS.contains(word);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
    let is_certain = || has(&CERTAIN) || words.windows(2).any(|words| words == ["rest", "of"]);
    match (starts, ends) {
        (true, true) => has(&WORDS) && (is_comment || words.iter().all(is_usual)),
        // A star may be the mark of a list or of a line of a longer comment.
        _ if line.starts_with('*') => false,
        (true, false) => has(&WORDS) && words.iter().all(is_usual),
        _ => is_certain() && words.iter().all(is_usual),
    }
}

fn holds(old: &[u8], line: &str, encoding: Encoding, control: &dyn Stop) -> Result<bool, Stopped> {
    let mut bytes = Vec::new();
    if encoding.encode(line, &mut bytes).is_err() || bytes.is_empty() {
        return Ok(false);
    }
    let finder = memchr::memmem::Finder::new(&bytes);
    for from in (0..old.len()).step_by(WINDOW) {
        control.check()?;
        let end = old.len().min(from + WINDOW + bytes.len());
        if finder.find_iter(&old[from..end]).any(|at| is_whole_line(old, from + at, bytes.len())) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a line of `text` has these bytes and blanks, and nothing else. In UTF-16, a half of a character may be 0.
fn is_whole_line(text: &[u8], at: usize, len: usize) -> bool {
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | 0);
    let ends = |byte: Option<&u8>| byte.is_none_or(|byte| matches!(byte, b'\n' | b'\r'));
    ends(text[..at].iter().rev().find(|byte| !is_blank(byte)))
        && ends(text[at + len..].iter().find(|byte| !is_blank(byte)))
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
    use crate::Unstopped;

    fn of<'t>(new_text: &'t str, old: &[u8]) -> Option<&'t str> {
        omission(new_text, old, Encoding::Utf8, &Unstopped).unwrap()
    }

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
            "[... rest of the document unchanged ...]",
            "... rest of function ...",
            "(* ... existing code ... *)",
            "{{!-- ... existing items ... --}}",
        ] {
            let text = format!("fn a() {{\n{line}\n}}\n");
            assert_eq!(of(&text, b"fn a() {}"), Some(line.trim()), "{line}");
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
            " * ... and the rest of the text.",
            "# Other imports...",
            "// Same as before...",
            "* Existing tests...",
            "/* ... restart ... */",
            "// ... of interest ...",
            "[... the other day, he said ...]",
        ] {
            assert_eq!(of(line, b"fn a() {}"), None, "{line}");
        }
    }

    #[test]
    fn a_line_that_the_file_has_or_a_new_file_leaves_nothing_out() {
        let line = "# ... existing code ...";
        assert_eq!(of(line, b""), None);
        for encoding in [Encoding::Utf8, Encoding::Utf16Le, Encoding::Utf16Be] {
            let bytes = |text: &str| {
                let mut bytes = Vec::new();
                encoding.encode(text, &mut bytes).unwrap();
                bytes
            };
            let of = |old: &str| omission(line, &bytes(old), encoding, &Unstopped).unwrap();
            assert_eq!(of("a\n  # ... existing code ...\nb"), None);
            // Its dots can be put in.
            assert_eq!(of("a\n  # existing code \r\nb"), None);
            assert_eq!(of("# existing codebase is old\nx # ... existing code ...y"), Some(line));
            assert_eq!(of("a\nb"), Some(line));
        }
    }

    #[test]
    fn a_line_is_found_wherever_it_is_in_a_large_file_and_the_search_can_be_stopped() {
        struct Now;
        impl Stop for Now {
            fn check(&self) -> Result<(), Stopped> {
                Err(Stopped::Cancelled)
            }
        }
        let line = "# ... existing code ...";
        for at in [0, WINDOW - 40, WINDOW - 5, WINDOW, 2 * WINDOW - 10] {
            let mut old = vec![b' '; 2 * WINDOW + 20];
            old[at..at + line.len()].copy_from_slice(line.as_bytes());
            assert_eq!(of(line, &old), None, "{at}");
            assert_eq!(omission(line, &old, Encoding::Utf8, &Now), Err(Stopped::Cancelled));
        }
        // Many different lines that the file has cost no more than a few looks.
        let many: String = (0..5_000).map(|n| format!("# ... existing code {n} ...\n")).collect();
        assert_eq!(of(&many, many.as_bytes()), None);
    }
}
