use proptest::prelude::*;

use super::*;
use crate::lines::LineIndex;

mod evidence;
mod nesting;

fn look(text: &str, old: &str, new: &str, most: usize) -> Tolerant {
    let kinds = LineIndex::build(text.as_bytes()).map(|index| index.break_kinds()).unwrap_or_default();
    tolerant(text.as_bytes(), old, new, kinds, most)
}

/// The text after the edit, if one place fits.
fn edited(text: &str, old: &str, new: &str) -> Option<String> {
    match look(text, old, new, 100_000) {
        Tolerant::One { range, new_text } => {
            let new_text = String::from_utf8(new_text).expect("text");
            Some([&text[..range.start], &new_text, &text[range.end..]].concat())
        }
        _ => None,
    }
}

const PYTHON: &str = "def f():\n    a() \n    if x:\n        b()\n";

#[test]
fn the_indentation_of_a_block_is_mapped_as_a_whole() {
    for (text, old, new, expected) in [
        // A blank at the end of a line that stays.
        (
            PYTHON,
            "def f():\n    a()\n    if x:\n        b()",
            "def f():\n    a()\n    if x:\n        b()\n        c()",
            "def f():\n    a() \n    if x:\n        b()\n        c()\n",
        ),
        // Wrapped, so that lines stand in the new text by chance as in the file.
        (
            PYTHON,
            "a()\nif x:\n    b()",
            "try:\n    a()\n    if x:\n        b()\nfinally:\n    c()",
            "def f():\n    try:\n        a() \n        if x:\n            b()\n    finally:\n        c()\n",
        ),
        // 2 for 4.
        (
            PYTHON,
            "def f():\n  a()\n  if x:\n    b()",
            "def f():\n  a()\n  if x:\n    b()\n    while y:\n      c()\n  d()",
            "def f():\n    a() \n    if x:\n        b()\n        while y:\n            c()\n    d()\n",
        ),
        // One level too shallow.
        (
            PYTHON,
            "a()\nif x:\n    b()",
            "a()\nif x:\n    b()\nelse:\n    if y:\n        c()",
            "def f():\n    a() \n    if x:\n        b()\n    else:\n        if y:\n            c()\n",
        ),
        // Tabs in the file, blanks sent, and the other way round.
        (
            "def f():\n\ta()\n\tif x:\n\t\tb()\n",
            "def f():\n    a()\n    if x:\n        b()",
            "def f():\n    a()\n    if x:\n        if y:\n            b()",
            "def f():\n\ta()\n\tif x:\n\t\tif y:\n\t\t\tb()\n",
        ),
        (
            PYTHON,
            "\ta()\n\tif x:",
            "\ta()\n\tc()\n\tif x:",
            "def f():\n    a() \n    c()\n    if x:\n        b()\n",
        ),
        // What goes on with a call, a level deeper.
        (
            "func f() {\n\ta() \n\tif x {\n\t\tb()\n\t}\n}\n",
            "    a()\n    if x {\n        b()",
            "    a()\n    call(c,\n        d)\n    if x {\n        b()",
            "func f() {\n\ta() \n\tcall(c,\n\t\td)\n\tif x {\n\t\tb()\n\t}\n}\n",
        ),
        // As in an exact edit, with tabs above blanks.
        (
            "a:\nb = f(c,\n       d)",
            "       d) ",
            "e:\n\tg = f(h,\n       i)\n       d) ",
            "a:\nb = f(c,\ne:\n\tg = f(h,\n       i)\n       d)",
        ),
        // The unit of a level is that of the texts, where the old text has one level only.
        (PYTHON, "\tif x:", "\tif x:\n\t\tc()", "def f():\n    a() \n    if x:\n        c()\n        b()\n"),
        // Comments further out show no level.
        (
            "def f():\n    if a:\n# c\n        y()\n# d\n        z()\n    if b:\n# e\n        y()\n",
            "\tif b:",
            "\tg()\n\tif c:\n\t\tz()",
            "def f():\n    if a:\n# c\n        y()\n# d\n        z()\n    g()\n    if c:\n        z()\n# e\n        y()\n",
        ),
        // What hangs below a bracket or a backslash may be deeper than a level.
        (
            "def f():\n  if a:\n    x = b(\n        c)\n    y = b(\n        c)\n    z = b(\n        c)\n    for i in x:\n        # note\n      g()\n",
            "\tfor i in x:\n",
            "\tfor i in y:\n\t\th()\n",
            "def f():\n  if a:\n    x = b(\n        c)\n    y = b(\n        c)\n    z = b(\n        c)\n    for i in y:\n      h()\n        # note\n      g()\n",
        ),
        (
            "def f():\n  x = b + \\\n      c\n  y = b + \\\n      c\n  z = b + \\\n      c\n  if x:\n      # note\n    g()\n",
            "\tif x:\n",
            "\tif y:\n\t\th()\n",
            "def f():\n  x = b + \\\n      c\n  y = b + \\\n      c\n  z = b + \\\n      c\n  if y:\n    h()\n      # note\n    g()\n",
        ),
        // A bracket in a comment is not open.
        (
            PYTHON,
            "\tif x:",
            "\tif y:  # (as it was\n\t\tc()\n\tif x:",
            "def f():\n    a() \n    if y:  # (as it was\n        c()\n    if x:\n        b()\n",
        ),
        // The old text begins behind the blanks of its line.
        (
            "class A:\n    def f():\n        a() \n    x = 1\n",
            "def f():\n        a()\n    x = 1",
            "def f():\n        if x:\n            a()\n    x = 2",
            "class A:\n    def f():\n        if x:\n            a() \n    x = 2\n",
        ),
        (
            "class A:\n    def f():\n        x = g(a,\n              b)\n        return x\n",
            "def f():\n        x = g(a,\n              b)\n",
            "def f():\n        y = 1\n        x = g(a,\n              b)\n",
            "class A:\n    def f():\n        y = 1\n        x = g(a,\n              b)\n        return x\n",
        ),
        (
            "class A:\n    def f():\n        x = g(a,\n              b)\n    y = 1\n",
            "def f():\n        x = g(a,\n              b)\n    y = 1",
            "def f():\n        if c:\n            h()\n        x = g(a,\n              b)\n    y = 1",
            "class A:\n    def f():\n        if c:\n            h()\n        x = g(a,\n              b)\n    y = 1\n",
        ),
        // A line of blanks, and one that is not blank where there was none.
        ("  a\n   \n  b\n", "a\n\nb", "a\n\nc", "  a\n   \n  c\n"),
        ("  a\n   \n  b\n", "a\n\nb", "a\n \nb\n", "  a\n \n  b\n\n"),
        // Text inside of a string keeps its bytes.
        (
            "def f():\n    \"\"\"Sums.\n\n      x:  one \n    \"\"\"\n    a()\n",
            "def f():\n    \"\"\"Sums.\n\n      x:  one\n    \"\"\"\n    a()",
            "def f():\n    \"\"\"Sums.\n\n      x:  one\n    \"\"\"\n    b()",
            "def f():\n    \"\"\"Sums.\n\n      x:  one \n    \"\"\"\n    b()\n",
        ),
        // Lists: one level too shallow.
        (
            "a:\n  b:\n    - c: 1\n      d: 2\n",
            "b:\n  - c: 1\n    d: 2",
            "b:\n  - c: 1\n    d: 3\n  - c: 2\n    e:\n      f: 1",
            "a:\n  b:\n    - c: 1\n      d: 3\n    - c: 2\n      e:\n        f: 1\n",
        ),
        // A break of Markdown stays at the end of a line that is not changed, and is put in and taken away as asked.
        ("one  \ntwo\n", "one\ntwo", "one\nthree", "one  \nthree\n"),
        (" one\ntwo \n", "one\ntwo", "one  \ntwo", " one  \ntwo \n"),
        (" one  \ntwo \n", "one \ntwo", "one\ntwo", " one\ntwo \n"),
        ("    a\n    b", "  a\n  b", "  A\n  B\n  C", "    A\n    B\n    C"),
        ("  a \n", " a", "", "\n"),
    ] {
        assert_eq!(edited(text, old, new).as_deref(), Some(expected), "{text:?} {old:?} {new:?}");
    }
}

#[test]
fn an_edit_whose_indentation_has_no_one_mapping_is_refused() {
    for (text, old, new) in [
        // Two indentations for one, one for two, and levels nested in another way.
        ("    a\n        b", "a\nb", "a\nc"),
        ("    a\n    b \n    c", "a\n  b\nc", "a\n  b\nd"),
        ("  a\n\tb", " a\n  b", " a\n  c"),
        ("    a\n    b\n  c", "a\nb\n  c", "a\nb\n  d"),
        // Not whole levels.
        (PYTHON, "def f():\n  a()\n  if x:\n    b()", "def f():\n  a()\n  if x:\n    b()\n     c()"),
        // Nothing tells what a level of the new text is in the file.
        ("    a \n", "a", "a:\n  b"),
        // Levels less than the file has there.
        ("x:\n  a \ny:\n  b\n", "    a", "    a\n  c:\n    d\ne"),
        // What is in an item is indented by its mark, which is not a level here.
        ("a:\n    - b: 1\n      c: 2\n", "a:\n  - b: 1\n    c: 2", "a:\n  - b: 1\n    c: 3"),
        ("a:\n    - b: 1\n      c: 2\n", "  - b: 1\n    c: 2", "  - b: 1\n    c: 2\nd:\n  e: 1"),
        ("a:\n    - b:\n          c: 2\n", "      c: 2 ", "      c: 2\n    d:\n      e: 1"),
        // A line further out in front, where nothing tells what a level of the old text is.
        ("a:\n  b:\n    c: 1\n", "        c: 1", "d:\n        c: 1"),
        ("a:\n  b:\n    c: 1\n", "        c: 1", "        c: 1\nd:"),
        ("a:\n  b:\n    c: 1\n", "        c: 1\n", "d:\n    e:\n        c: 1\n"),
        (
            "def g():\n  if a:\n    x = \"\"\"\n      in\n          deep\n    \"\"\"\n",
            "      \"\"\"\n",
            "NEW0()\n      \"\"\"\n",
        ),
        // The old text is too deep or not deep enough, and the new one stands as the file does.
        ("def f():\n  a()\n  b()\n", "    a()\n    b()", "  a()\n  c()\n  b()"),
        ("x:\n  a: 1\n  b: 2\n", "    a: 1\n    b: 2", "  a: 1"),
        ("def f():\n    a()\n    b()\n", "a()\nb()", "    a()\n    b()\nc()"),
        ("def f():\n  if x:\n    b()\n", "if x:\n  b()", "  if x:\n    b()\n  c()"),
        // The levels are longer than those of the file, and the second one begins there by chance.
        (
            "k1:\n    k2:\n        k3 = f(a,\n               b3)\n    k4:\n    k5:",
            "k2:\n        k3 = f(a,\n               b3)",
            "k2:\n        k6:\n                k7:\n        k3 = f(a,\n               b3)",
        ),
        (
            "class A:\n  def f():\n    x = g(a,\n          b)\n    return x\n",
            "def f():\n    x = g(a,\n          b)\n",
            "def f():\n    if c:\n        h()\n    x = g(a,\n          b)\n",
        ),
        // What is aligned below an open bracket is as deep as a level of the old text by chance.
        ("m:\n\ta:\n\t\tb:\n\t\t\tc: \n\td:\n", "      c:\n  d:\n", "      c:\n  e_f(g,\n      h)\n  d:\n"),
        (
            "def f():\n\ta() \n\tif x:\n\t\tb()\n",
            "def f():\n    a()\n    if x:\n        b()",
            "def f():\n    a()\n    fgh(c,\n        d)\n    if x:\n        b()",
        ),
        // What is aligned below an open bracket, or goes on with a value, tells nothing of a level.
        (
            "if y:\n    x = g(a,\n          b)\n    if z:\n        h()\n",
            "\tx = g(a,\n\t      b)\n\tif z:",
            "\tx = g(a,\n\t      b)\n\tif z:\n\t\tk()",
        ),
        ("a: q\nf: x\n   y\n", "  a: q\n  f: x", "  d:\n    a: q\n    f: x"),
        ("x = g(a,\n      b)\ny = 1\n", "  y = 1", "  if z:\n    y = 1"),
        (
            "a:\n  b:\n    c:\n        k = f(a,\n               b)\n        m = f(a,\n               d)\n",
            "          b) \n   m = f(a,\n          d)",
            "p:\n q = f(a,\n        r)\n          b) \n   m = f(a,\n          d)",
        ),
        // Comments and what is inside strings show no indentation of code, and no level.
        (
            "class C:\n    def f(self):\n        if x:\n            g = \"\"\"d\n  c\n\"\"\"\n",
            "        g = \"\"\"d\n      c\n",
            "      g = \"\"\"d\n      c\n",
        ),
        (
            "class C:\n    def f(self):\n        if x:\n            g()\n# c\n            h()\n",
            "      g()\n    # c\n      h()\n",
            "      g()\n    # c\n    h()\n",
        ),
        // Only blank lines.
        ("x\n\ny", "  ", "z"),
    ] {
        assert_eq!(edited(text, old, new), None, "{text:?} {old:?} {new:?}");
    }
}

#[test]
fn a_new_text_that_is_indented_like_the_file_is_not_moved_with_the_old_one() {
    const F: &str = "def f():\n    a()\n    b()\n    c()\n";
    for (text, old, new) in [
        // The first line begins behind its blanks, the new ones stand as the file does.
        (F, "a() \n", "a()\n    d()\n"),
        (F, "a() ", "d()\n    a()"),
        (F, "  a()", "  a()\n    d()"),
        (F, "a() \nb()", "a()\n    d()\nb()"),
        (F, "a() \n", "a()\n    if x:\n        d()\n"),
        ("def f():\n    a()  \n    b()\n", "a()\n", "a()\n    c()\n"),
        ("def f():\n\tb()  \n\td()\n", "b()\n", "b()\n\tc()\n"),
        ("m:\n  a: 1  \n  b: 2\n", "a: 1\n", "a: 1\n  c: 3\n"),
        ("m:\n  a: 1  \n  b: 2\n", "a: 1 ", "a: 1\n  c: 3"),
        ("m:\n  a: 1\n  b: 2\n", "    a: 1", "    a: 1\n  c: 3"),
        // Its first line is one of the old text, and stands as in the file.
        (
            "def f():\n    if x:\n        y()\n    g(a,\n        b)\n",
            "if x:\n    y()\ng(a,",
            "    if x:\n        z()\n    g(a,",
        ),
        (
            "a:\n    - b:\n          - x\n      c:\n          - d: 1\n    - e: 2\n",
            "c:\n    - d: 1\n",
            "      c:\n          - d: 9\n",
        ),
        (
            "s:\n  - m:\n      k: 1\n    n:\n      p: 2\n    q: 3\n  - r: 4\n",
            "  n:\n    p: 2\n  q: 3\n- r: 4\n",
            "    n:\n      p: 9\n    q: 3\n  - r: 4\n",
        ),
        (
            "def f():\n  def g():\n    p()\n  b = 1\n  a()\n\n",
            "b = 1\na()\n\n",
            "  b = 1\n  if n:\n    a()\nnew()\n\n",
        ),
        // Wrapped.
        (F, "b()\nc()\n", "    if x:\n        b()\n        c()\n"),
        (F, "        b()\n", "    if x:\n        b()\n"),
    ] {
        assert_eq!(edited(text, old, new), None, "{text:?} {old:?} {new:?}");
    }
    // Lines of the new text do not nest once mapped, or not with those around the place, and do as they were sent.
    const G: &str = "def g():\n    if x:\n        a()\n        b()\n    c()\n";
    const STRING: &str = "def g():\n    \"\"\"Sum\n    of:\n    \"\"\"\n    if x:\n        b() \n";
    for (text, old, new) in [
        (G, "        if x:\n            a()\n", "    d()\n        if x:\n        e()\n            a()\n"),
        (G, "    a()\n    b()\n", "        d()\n    a()\n    b()\n"),
        (G, "    a()\n    b()\n", "        if y:\n            a()\n            b()\n"),
        (G, "a()\n    b()\n    c()\n", "def d():\n    e()\n"),
        ("x\nif y:\n    a()\n", "  if y:\n    a()\n", "  if y:\n    d()\n    if z:\n        e()\n    a()\n"),
        (
            STRING,
            "    if x:\n      b()\n",
            "    if z:\n        if x:\n            b()\n    d = \"of:\n    \"\n",
        ),
        (STRING, "# \n", "# \n"),
    ] {
        assert_eq!(edited(text, old, new), None, "{text:?} {old:?} {new:?}");
    }
    // Both texts are moved alike.
    for (old, new, expected) in [
        ("a() \n", "a()\nd()\n", "    a()\n    d()\n"),
        ("a() \n", "if x:\n    a()\n", "    if x:\n        a()\n"),
        ("a() \n", "a()\nif x:\n    d()\n", "    a()\n    if x:\n        d()\n"),
        ("a() \n", "if x\n    a()\nend\n", "    if x\n        a()\n    end\n"),
        ("        a()\n", "        if x:\n            a()\n", "    if x:\n        a()\n"),
    ] {
        let expected = F.replace("    a()\n", expected);
        assert_eq!(edited(F, old, new), Some(expected), "{old:?} {new:?}");
    }
}

#[test]
fn what_stands_behind_the_mark_of_a_list_item_is_indented_by_the_mark() {
    const UNIT_4: &str = "a:\n    b: 1 \n    c:\n        d: 2\n";
    let old = "  a:\n    b: 1\n    c:\n      d: 2";
    for new in ["  e:\n    - f: 1\n      g: 2\n", "  e:\n  - f: 1\n    g: 2\n"] {
        assert_eq!(edited(UNIT_4, old, &format!("{new}{old}")), None, "{new:?}");
    }
    let new = "  e:\n    - f: 1\n    - g: 2\n";
    let expected = format!("e:\n    - f: 1\n    - g: 2\n{UNIT_4}");
    assert_eq!(edited(UNIT_4, old, &format!("{new}{old}")), Some(expected));
}

#[test]
fn lines_that_stay_keep_their_breaks_where_there_are_several_kinds() {
    assert_eq!(edited("a \r\nb\nc\rd", "a\nb\nc", "a\nx\nb\nc").as_deref(), Some("a \r\nx\nb\nc\rd"));
}

#[test]
fn any_break_ends_a_line_and_the_last_one_stays() {
    for brk in ["\n", "\r\n", "\r"] {
        let text = ["x", " a ", " b ", "y", ""].join(brk);
        for old in ["a\nb", "a\r\nb", "a\rb"] {
            let expected = format!("x{brk} A{brk} B{brk}y{brk}");
            assert_eq!(edited(&text, old, "A\r\nB"), Some(expected), "{text:?} {old:?}");
        }
    }
}

const TWO: &str = "def pay(u):\n    if ok:\n        charge()\n        log()\n    done()\n\ndef refund(u):\n    if ok:\n        charge()\n        log()\n\nX = 1\n";

#[test]
fn a_break_at_an_end_of_the_old_text_does_not_tell_a_place_from_another() {
    for brk in ["\n", "\r\n", "\r"] {
        for (text, old, new, expected) in [
            (TWO, "      charge()\n      log()\n", "      charge()\n      NEW()\n      log()\n", [2, 8]),
            (TWO, "      charge()\n      log()", "      charge()\n      NEW()\n      log()", [2, 8]),
            (TWO, "      charge()\n      log()\n    ", "      log()\n    ", [2, 8]),
            (TWO, "\tcharge()\n\tlog()\n", "", [2, 8]),
            ("a: \n  b: 1\nc:\n  b: 1\n", "    b: 1\n", "    b: 2\n", [1, 3]),
            ("def a():\n    x()\n\ndef b():\n\n    x()\n", "\n\tx()", "\n\ty()", [1, 5]),
            ("def a():\n    x()\n\ndef b():\n\n    x()\n", "  \n\tx()\n", "  \n\ty()\n", [1, 5]),
            ("x\n\ny\n\n", " \n", "", [1, 3]),
        ] {
            let found = look(&text.replace('\n', brk), &old.replace('\n', brk), new, 1_000);
            assert_eq!(found, Tolerant::Several { lines: expected.to_vec(), total: 2 }, "{text:?} {old:?}");
        }
    }
}

#[test]
fn a_break_at_an_end_of_both_texts_stays_and_one_of_the_old_text_alone_goes() {
    for brk in ["\n", "\r\n", "\r"] {
        for (text, old, new, expected) in [
            (
                "def f():\n    a() \n    b()\n    c()\n",
                "    a()\n    b()\n",
                "    a()\n    d()\n    b()\n",
                Some("def f():\n    a() \n    d()\n    b()\n    c()\n"),
            ),
            (" a\nb", "a\n", "x\n", Some(" x\nb")),
            (" a\n", "a\n", "x\n", Some(" x\n")),
            (" a\n \nb", "a\n", "x\n", Some(" x\n \nb")),
            (" a\n \nb", "a\n\n", "x\n", Some(" x\nb")),
            (" a\n  b", "a\n ", "x\n ", Some(" x\n  b")),
            ("c\n a\nb", "\n  a", "\n  x", Some("c\n x\nb")),
            ("c \n a\nb", " \n  a\n", " \n  x\n  y\n", Some("c \n x\n y\nb")),
            (" a\nb", "a\n", "", Some("b")),
            ("c\n a\nb", "\n  a", "", Some("c\nb")),
            ("c\n a\nb", "\n  a\n", "\n", Some("c\nb")),
            // The place has no such break, or a line around it would be joined with it.
            (" a", "a\n", "x\n", None),
            (" a", "\na", "\nx", None),
            (" a\nb", "a\n", "x", None),
            ("c\n a", "\na", "x", None),
            (" a\n  b", "a\n ", "x\n", None),
            ("c\n a\nb", "\n  a\n", "", None),
        ] {
            let expected = expected.map(|text| text.replace('\n', brk));
            let (text, old) = (text.replace('\n', brk), old.replace('\n', brk));
            assert_eq!(edited(&text, &old, new), expected, "{text:?} {old:?} {new:?}");
        }
    }
    // A `\r` and a `\n` of two lines do not become one break.
    assert_eq!(edited(" a\n\nb", "a\n", "x\r").as_deref(), Some(" x\n\nb"));
    assert_eq!(edited(" a\n\nb\r", "a\n", "x\r").as_deref(), Some(" x\r\n\nb\r"));
}

#[test]
fn a_byte_order_mark_of_the_file_stays_in_front() {
    assert_eq!(edited("\u{FEFF} a\n b", "a\n b", "x\n y").as_deref(), Some("\u{FEFF} x\n y"));
}

#[test]
fn blanks_are_those_of_javascript() {
    let blanks =
        "\t\u{B}\u{C} \u{A0}\u{1680}\u{2000}\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}";
    for blank in blanks.chars() {
        assert_eq!(
            edited(&format!("x\n{blank}a{blank}"), "a", "b"),
            Some(format!("x\n{blank}b")),
            "{blank:?}"
        );
    }
    for other in "\u{85}\u{200B}\u{180E}\u{2060}\u{1F}\0é".chars() {
        assert_eq!(edited(&format!("{other}a"), "a", "b"), None, "{other:?}");
        assert_eq!(edited(&format!("a{other}"), "a", "b"), None, "{other:?}");
    }
}

#[test]
fn several_places_are_reported_and_may_overlap() {
    let found = look(" a\n a\n a\nb", "a\na", "", 100);
    assert_eq!(found, Tolerant::Several { lines: vec![0, 1], total: 2 });
    let found = look(&" a\n".repeat(50), "a", "", 100);
    assert_eq!(found, Tolerant::Several { lines: (0..20).collect(), total: 50 });
    assert_eq!(look("a\nb", "c", "", 100), Tolerant::None);
    assert_eq!(look("a", "a\nb", "", 100), Tolerant::None);
}

#[test]
fn a_new_text_too_long_is_refused() {
    assert_eq!(look("    a", "a", "abc", 6), Tolerant::TooLong);
    assert_eq!(look("    a", "a", "abc", 7), Tolerant::One { range: 0..5, new_text: "    abc".into() });
    assert_eq!(look(" a", "a", "b\nc\n", 4), Tolerant::TooLong);
    // Each line of the new text repeats the wide indentation.
    let wide = format!("{}a", " ".repeat(100_000));
    assert_eq!(look(&wide, "a", &"b\n".repeat(50_000), 1 << 20), Tolerant::TooLong);
    // So does each level.
    let deep = format!("a:\n{}b ", " ".repeat(100_000));
    let new = format!("a:\n b\n{}c", " ".repeat(100_000));
    assert_eq!(look(&deep, "a:\n b", &new, 1 << 20), Tolerant::None);
}

#[test]
fn blank_lines_take_linear_time() {
    let text = "\n".repeat(2_000_000);
    let old = "\n".repeat(1_000_000);
    assert!(matches!(look(&text, &old, "", 100), Tolerant::Several { total: 1_000_001, .. }));
    assert_eq!(look(&text, &(old + "x"), "", 100), Tolerant::None);
}

fn is_blank(c: char) -> bool {
    c == '\u{FEFF}' || (c.is_whitespace() && c != '\u{85}')
}

/// The first lines of all windows whose lines are those of `old`, but for blanks.
fn naive(text: &str, old: &str) -> Vec<usize> {
    let lines = |text: &str| -> Vec<String> {
        text.replace("\r\n", "\n").replace('\r', "\n").split('\n').map(str::to_owned).collect()
    };
    let bare = |line: &String| line.trim_matches(is_blank).to_owned();
    let (content, mut old) = (lines(text), lines(old));
    let (mut before, mut behind) = (0, 0);
    if old.len() > 1 && old.last().is_some_and(|line| bare(line).is_empty()) {
        old.pop();
        behind = 1;
    }
    if old.len() > 1 && bare(&old[0]).is_empty() {
        old.remove(0);
        before = 1;
    }
    let windows = content.windows(before + old.len() + behind).enumerate();
    let fits = |window: &[String]| window[before..][..old.len()].iter().map(bare).eq(old.iter().map(bare));
    windows.filter(|(_, window)| fits(window)).map(|(at, _)| at + before).collect()
}

/// A text of a few kinds of lines. It never starts with a byte order mark.
fn text(most: usize) -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "a", "b", "\n", "\n", "\n", "\r\n", "\r", " ", "  ", "\t", "\u{A0}", "\u{FEFF}", "\u{85}",
        "\u{3000}",
    ]);
    prop::collection::vec(piece, 0..most)
        .prop_map(|pieces| pieces.concat().trim_start_matches('\u{FEFF}').into())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn all_windows_are_found_as_by_a_naive_search(text in text(30), old in text(6), new in text(12)) {
        let expected = naive(&text, &old);
        match look(&text, &old, &new, 10_000) {
            Tolerant::None => prop_assert!(expected.len() < 2),
            Tolerant::One { range, new_text } => {
                let before = text[..range.start].replace("\r\n", "\n").replace('\r', "\n");
                let bare = old.trim_start_matches(|c: char| c != '\n' && c != '\r' && is_blank(c));
                let has_break = bare.starts_with(['\n', '\r']) && expected != [before.matches('\n').count()];
                prop_assert_eq!(expected, vec![before.matches('\n').count() + usize::from(has_break)]);
                let bare = |text: &str| text.chars().filter(|c| "ab\u{85}".contains(*c)).collect::<String>();
                prop_assert_eq!(bare(&String::from_utf8(new_text).expect("text")), bare(&new));
            }
            Tolerant::Several { lines, total } => {
                prop_assert_eq!(lines, expected.clone());
                prop_assert!(total == expected.len() && total > 1);
            }
            Tolerant::TooLong => prop_assert!(false),
        }
    }

    #[test]
    fn an_edit_that_repeats_the_old_text_changes_nothing(text in text(30), old in text(6)) {
        if let Some(edited) = edited(&text, &old, &old) {
            prop_assert_eq!(edited, text);
        }
    }
}

#[test]
fn a_key_among_the_items_of_a_list_that_the_file_indents_is_not_put_into_the_list() {
    const BRANCHES: &str = "on:\n  push:\n    branches:\n      - main\n      - dev\njobs: 1\n";
    let items = "    - main\n    - dev\n";
    for key in ["    tags:\n    - v1\n", "    tags: [v1]\n"] {
        assert_eq!(edited(BRANCHES, items, &format!("{items}{key}")), None);
    }
    let another = edited(BRANCHES, items, &format!("{items}    - test\n"));
    assert_eq!(another, Some(BRANCHES.replace("dev\n", "dev\n      - test\n")));
    // As the file has it.
    let exact = "      - main \n      - dev\n";
    let below = edited(BRANCHES, exact, &format!("{exact}jobs: 2\n"));
    assert_eq!(below, Some(BRANCHES.replace("dev\n", "dev\njobs: 2\n")));
}

#[test]
fn a_body_put_below_a_line_alone_has_the_level_of_the_one_that_follows() {
    for (text, old, new) in [
        ("def f(x): \n  return x\n", "def f(x):\n", "def f(x):\n    y = 1\n"),
        ("items: \n  - a\n", "items:\n", "items:\n    - z\n"),
        ("a: \n  x: 1\n", "a:\n", "a:\n    n: 2\n"),
        ("class A:  \n\tpass\n", "class A:\n", "class A:\n    def f(self): pass\n"),
    ] {
        assert_eq!(edited(text, old, new), None, "{text}");
    }
    for (text, old, new, expected) in [
        (
            "def f(x): \n  return x\n",
            "def f(x):\n",
            "def f(x):\n  y = 1\n",
            "def f(x): \n  y = 1\n  return x\n",
        ),
        ("def f(x): \n  return x\n", "def f(x):\n", "def g(x):\n", "def g(x):\n  return x\n"),
    ] {
        assert_eq!(edited(text, old, new).as_deref(), Some(expected), "{text}");
    }
}
