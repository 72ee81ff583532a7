//! Finds a line of dots that has taken the place of lines of the text that it replaces.
//!
//! Dots alone may be code (`...` is a statement in Python), a mark (YAML) or prose. They leave text out if the lines around them are the
//! old ones and real lines stood between those.

use std::collections::HashSet;

use super::{Comment, LOOKED_FOR};

/// The first line of `new_text` that is only dots in place of lines of `replaced`, and is no line of that itself.
pub(super) fn dots_for_lines<'t>(new_text: &'t str, replaced: &str) -> Option<&'t str> {
    let new: Vec<&str> = new_text.lines().filter(|line| !line.trim().is_empty()).collect();
    let at = |number: &usize| new.get(*number).is_some_and(|line| is_dots(line));
    let mut places = (0..new.len()).filter(at).peekable();
    places.peek()?;
    let old: Vec<&str> = replaced.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let kept: HashSet<&str> = new.iter().map(|line| line.trim()).collect();
    let stand_for = |number: &usize| {
        let line = new.get(*number).copied().unwrap_or_default();
        let before = number.checked_sub(1).and_then(|number| new.get(number));
        let behind = new.get(number + 1);
        if !Comment::of(line.trim()).is_comment && !may_be_no_code(line, before, behind) {
            return false;
        }
        let [before, behind] = [before, behind].map(|line| line.map(|line| line.trim()));
        let left_out = between(&old, before, behind);
        !old.contains(&line.trim()) && left_out.iter().any(|old| !kept.contains(old))
    };
    // Each is looked for in all old lines. A text with more of them is one about such lines.
    places.take(LOOKED_FOR).find(stand_for).and_then(|number| new.get(number)).map(|line| line.trim())
}

/// Whether a line is only dots, in a comment or not.
fn is_dots(line: &str) -> bool {
    matches!(Comment::of(line.trim()).inner, "..." | "…") && !line.contains(['[', '(', '{'])
        || line.trim() == "{/* ... */}"
}

/// Whether dots that are no comment are no code, mark or prose: they are indented within other lines, and begin no block of Python.
fn may_be_no_code(line: &str, before: Option<&&str>, behind: Option<&&str>) -> bool {
    line.starts_with([' ', '\t'])
        && behind.is_some()
        && before.is_some_and(|before| !before.trim_end().ends_with(':'))
}

/// The old lines between the line before the dots and the one behind them, each of which is one line there; the text may begin or end with
/// the dots.
fn between<'l, 'o>(old: &'l [&'o str], before: Option<&str>, behind: Option<&str>) -> &'l [&'o str] {
    let only = |line: &str| {
        let mut places = old.iter().enumerate().filter(|(_, old)| **old == line).map(|(at, _)| at);
        places.next().filter(|_| places.next().is_none())
    };
    let range = match (before, behind) {
        (None, None) => None,
        (None, Some(behind)) => only(behind).map(|end| 0..end),
        (Some(before), None) => only(before).map(|start| start + 1..old.len()),
        (Some(before), Some(behind)) => only(before).and_then(|start| {
            let lines = old.get(start + 1..)?;
            lines.iter().position(|old| *old == behind).map(|len| start + 1..start + 1 + len)
        }),
    };
    range.and_then(|range| old.get(range)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_between_old_lines_stand_for_the_lines_that_were_there() {
        let old = "def f():\n    a()\n    b()\n\n    c()\n    return 1\n";
        for (new, line) in [
            ("def f():\n    a()\n    # ...\n    return 1\n", Some("# ...")),
            ("def f():\n    a()\n    ...\n    return 1\n", Some("...")),
            ("# ...\n    c()\n    return 2\n", Some("# ...")),
            ("def f():\n    a()\n    // …\n", Some("// …")),
            ("def f():\n    # ...\n    return 1\n", Some("# ...")),
            // A stub of Python, and lines that take the place of no others.
            ("def f():\n    ...\n    return 1\n", None),
            ("def f():\n    ...\n", None),
            ("def f():\n    a()\n    # ...\n    b()\n    c()\n    return 1\n", None),
            ("def g():\n    # ...\n    d()\n", None),
            ("# ...\n", None),
            ("x = [...]\n", None),
            // A mark of YAML or an ellipsis of a text.
            ("    a()\n...\n    return 1\n", None),
        ] {
            assert_eq!(dots_for_lines(new, old), line, "{new}");
        }
        let has_them = "a\n# ...\nb\nc\nd\n";
        assert_eq!(dots_for_lines("a\n# ...\nb\n# ...\nd\n", has_them), None);
        assert_eq!(dots_for_lines("a\n# ...\na\n", "a\nb\na\n"), None);
    }
}
