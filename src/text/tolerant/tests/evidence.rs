//! What shows how new lines are indented, and what does not.

use super::edited;

#[test]
fn a_line_without_indentation_shows_no_other_one_where_comments_and_strings_are_indented_otherwise() {
    const NESTED: &str = "if x:\n    if y:\n        a()\n        # k1\n        # k2\nz = 1\n";
    const YAML: &str = "a:\n  b:\n    c: 1\n    # k1\n    # k2\nz: 1\n";
    const CLASS: &str =
        "class A:\n    def f(self):\n        \"\"\"D.\n\n        more\n        \"\"\"\n\nz = 1\n";
    const DOC: &str = "def f(x):\n  \"\"\"Doc.\n\n  Args:\n    x: y\n  \"\"\"\n\n\ndef g():\n  pass\n";
    for (text, old, line, before) in [
        (NESTED, "    # k1\n    # k2\nz = 1", "    b()\n", "z = 1"),
        (NESTED, "    # k1\n    # k2\nz = 1", "    # k3\n", "z = 1"),
        (YAML, "  # k1\n  # k2\nz: 1", "  d: 2\n", "z: 1"),
        (CLASS, "    more\n    \"\"\"\n\nz = 1", "    y = 1\n", "\nz = 1"),
        (DOC, "    Args:\n        x: y\n    \"\"\"\n\n\ndef g():", "    return x\n", "\n\ndef g"),
        (
            "def f():\n        # one\n        # two\n        a()\nz()\n",
            "def f():\n    # one\n    # two\n",
            "    b()\n",
            "",
        ),
        ("if x:\n\ta()\n\t# c\nz = 1\n", "    # c\nz = 1\n", "    b()\n", "z = 1"),
        ("a:\n    # one\n    # two\n    b: 1\n", "a:\n  # one\n  # two\n", "  c: 3\n", ""),
        ("all:\n\tcc a\n\t# c\nx:\n", "    # c\nx:\n", "    cc b\n", "x:"),
        // In a block comment of another language.
        (
            "f() {\n        /* one\n           two */\n        a();\n}\n",
            "f() {\n    /* one\n       two */\n",
            "    b();\n",
            "",
        ),
        // The line without indentation is deeper in the file.
        ("if x:\n    a()\n    # c\n    if y:\n        b()\n", "a()\n  # c\nif y:", "  d()\n", "if y:"),
    ] {
        let at = if before.is_empty() { old.len() } else { old.find(before).expect("it is in it") };
        let new = [&old[..at], line, &old[at..]].concat();
        assert_eq!(edited(text, old, &new), None, "{text:?} {old:?} {new:?}");
    }
    // Nor does one behind a line that begins behind its blanks.
    assert_eq!(edited("if x:\n  a()\nz = 1 \n", "a()\nz = 1", "a()\n    b()\nz = 1"), None);
    let as_file = edited("if x:\n  a()\nz = 1 \n", "a()\nz = 1", "a()\n  b()\nz = 1");
    assert_eq!(as_file.as_deref(), Some("if x:\n  a()\n  b()\nz = 1 \n"));
    // Where they are indented as in the file, and where code shows the indentation.
    for (text, old, new, expected) in [
        (
            "if x:\n    # k1\nz = 1 \n",
            "    # k1\nz = 1\n",
            "    # k1\n    b()\nz = 1\n",
            "if x:\n    # k1\n    b()\nz = 1 \n",
        ),
        (
            "if x:\n        # k1\n    a()\nz = 1\n",
            "  # k1\n  a()\nz = 1\n",
            "  # k1\n  a()\n  b()\nz = 1\n",
            "if x:\n        # k1\n    a()\n    b()\nz = 1\n",
        ),
        (NESTED, "    # k1\n    # k2\nz = 1", "    # k1\n    # k2\nz = 2", &NESTED.replace("z = 1", "z = 2")),
    ] {
        assert_eq!(edited(text, old, new).as_deref(), Some(expected), "{text:?} {old:?}");
    }
}

#[test]
fn what_hangs_below_a_line_does_not_show_how_deep_a_block_is() {
    const ALIGNED: &str =
        "if q0:\n    if q1:\n        ab(1,\n           2)\n        while z:\n            r()\n";
    const TABS: &str = "def f(x):\n\tfoo(a,\n\t    b)\n\tif x:\n\t\tr()\n";
    const FAR: &str = "def f(x):\n    foo(\n            a)\n    if x:\n        r()\n";
    for (text, old) in [
        (ALIGNED, "    ab(1,\n        2)\n    while z:"),
        (ALIGNED, "ab(1,\n  2)\nwhile z:"),
        // The call begins above the place.
        (ALIGNED, "        2)\n    while z:"),
        (TABS, "    foo(a,\n        b)\n    if x:"),
        (FAR, "  foo(\n    a)\n  if x:"),
    ] {
        let last = old.lines().next_back().unwrap_or_default();
        let unit = if last.starts_with(' ') { &last[..last.len() - last.trim_start().len()] } else { "  " };
        let new = format!("{old}\n{}{unit}q()", &last[..last.len() - last.trim_start().len()]);
        let next = text.find("r()").map(|at| &text[text[..at].rfind('\n').map_or(0, |at| at + 1)..at]);
        let exact = text.replace("r()", &format!("q()\n{}r()", next.unwrap_or_default()));
        let found = edited(text, old, &new);
        assert!(found.is_none() || found.as_ref() == Some(&exact), "{old:?}: {found:?}");
    }
    // What stands on a level that the old text shows is put in.
    let old = "    ab(1,\n        2)\n    while z:";
    let found = edited(ALIGNED, old, "    ab(1,\n        2)\n    c()\n    while y:");
    assert_eq!(found, Some(ALIGNED.replace("while z", "c()\n        while y")));
}

#[test]
fn a_line_is_not_put_into_a_string_that_the_file_indents_otherwise_than_the_code_around_it() {
    const TEXT: &str = "def f():\n    q = \"\"\"\n  SELECT a\n  FROM b\n    \"\"\"\n    run(q)\n";
    let old = "    q = \"\"\"\n    SELECT a\n    FROM b\n    \"\"\"\n";
    for line in ["    WHERE c\n", "      WHERE c\n"] {
        assert_eq!(
            edited(TEXT, old, &old.replace("    FROM b\n", &format!("    FROM b\n{line}"))),
            None,
            "{line}"
        );
    }
    // The code around it shows where code belongs.
    let behind = edited(TEXT, old, &format!("{old}    more()\n"));
    assert_eq!(behind, Some(TEXT.replace("    run", "    more()\n    run")));
    let without = edited(TEXT, old, &old.replace("    FROM b\n", ""));
    assert_eq!(without, Some(TEXT.replace("  FROM b\n", "")));
}
