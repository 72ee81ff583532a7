use super::*;
use crate::Unstopped;
use proptest::prelude::*;

fn of<'t>(new_text: &'t str, old: &[u8]) -> Option<&'t str> {
    omission(new_text, None, old, Encoding::Utf8, &Unstopped).unwrap()
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
        "# [... 12 lines omitted ...]",
        ";; ... rest unchanged",
        "# ... keep existing ...",
        "# ... truncated ...",
        "# [existing code]",
        "# ... (rest of the class stays as is)",
        "[... rest of the document unchanged ...]",
        "... rest of function ...",
        "(* ... existing code ... *)",
        "{{!-- ... existing items ... --}}",
        "# ... same as above",
        "# ... no changes here ...",
        "# .. existing code ..",
        "//..rest of the file..",
        "// ... keep existing code",
        "# ... restlicher Code unverändert ...",
        "// ... der Rest bleibt unverändert",
        "# ... resto del código ...",
        "// ... reste du code inchangé ...",
        "// … остальной код без изменений …",
        "# ... 其余代码保持不变 ...",
        "// …… 现有代码 ……",
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
        "# Keep existing tests ...",
        "# ... then handle the rest ...",
        "# ... existing users keep their password ...",
        "// Existing tests ...",
        "# Remaining items...",
        "# Same as above ...",
        "// ...rest",
        "# ../existing code",
        "# see ../rest of the code/..",
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
        let of = |old: &str| omission(line, None, &bytes(old), encoding, &Unstopped).unwrap();
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
        assert_eq!(omission(line, None, &old, Encoding::Utf8, &Now), Err(Stopped::Cancelled));
    }
    // Many different lines that the file has cost no more than a few looks.
    let many: String = (0..5_000).map(|n| format!("# ... existing code {n} ...\n")).collect();
    assert_eq!(of(&many, many.as_bytes()), None);
}

/// Comments that people write: no line of them stands for text.
const ORDINARY: [&str; 60] = [
    "# Keep existing tests ...",
    "# ... then handle the rest ...",
    "# Load the rest of the items...",
    "// Reading existing files ...",
    "# keep the rest for later...",
    "// ... and the rest follows",
    "// ... the rest is handled by the caller ...",
    "# Existing users keep their password ...",
    "# ... existing users keep their password",
    "// Keep the existing order ...",
    "// Keep existing ids, or links break...",
    "# Rest of the day is free ...",
    "# The rest of the arguments is passed through...",
    "/* Keep what is existing ... */",
    "/* ... or keep the existing file if there is one ... */",
    "-- drop existing rows first ...",
    "-- ... then keep the rest of them",
    "; Existing entries win ...",
    "# If nothing is existing yet ...",
    "# Existing tests...",
    "// Existing imports...",
    "# Remaining items...",
    "// Remaining time in seconds ...",
    "# Other imports...",
    "// Other methods may be added ...",
    "# Same as before...",
    "# Same as above, but faster ...",
    "// ... the same as above but for the last row ...",
    "// Loading ...",
    "# Wait for the rest ...",
    "# wait ... for the rest",
    "// keep ... existing",
    "# TODO: keep existing behaviour ...",
    "# XXX ... the rest of the code is not checked",
    "// ... which is why the rest of the file is skipped ...",
    "// ...rest",
    "// ...existing.map(keep)",
    "# e.g. existing, rest, ...",
    "# a, b, ... and the rest",
    "# 1, 2, ..., rest",
    "// REST API ...",
    "// ... REST calls are retried ...",
    "# ../existing/code",
    "# ..rest",
    "// Restart existing workers ...",
    "// ... restores the existing state ...",
    "# Previous value ...",
    "# ... previous runs are kept ...",
    "# Nothing changes here...",
    "# No changes here means no write ...",
    "# ... no changes are lost here ...",
    "# Code that is unchanged since then ...",
    "# ... unchanged files are skipped ...",
    "// Unchanged files ...",
    "// Omitted fields get defaults ...",
    "// ... omitted fields get defaults ...",
    "<!-- Keep existing links ... -->",
    "<!-- ... keep the rest of this page short ... -->",
    "% Rest and keep ...",
    " * ... and the rest of the text.",
];

proptest! {
    #[test]
    fn a_text_with_ordinary_comments_is_not_refused(
        lines in proptest::collection::vec((0..ORDINARY.len(), 0..3_usize, any::<bool>()), 1..12),
        old in "[a-c\n ]{1,40}",
        replaced in proptest::option::of("[a-c\n ]{0,40}"),
    ) {
        let mut text = String::new();
        for (number, depth, code) in lines {
            text.push_str(&"    ".repeat(depth));
            text.push_str(ORDINARY[number]);
            text.push_str(if code { "\nx = f(a)\n" } else { "\n" });
        }
        let found = omission(&text, replaced.as_deref(), old.as_bytes(), Encoding::Utf8, &Unstopped);
        prop_assert_eq!(found, Ok(None));
    }
}
