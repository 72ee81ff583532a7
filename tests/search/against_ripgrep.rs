//! The same lines as ripgrep's own library finds, in random trees with random patterns and options (contract 14).
//!
//! Not compared, because contract 3 differs: a lone CR ends a line here. Files that are not valid text are left out here.

use std::collections::BTreeSet;
use std::path::Path;

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::WalkBuilder;
use serde_json::{Value, json};

use super::serve;
use crate::support::{Folder, Mcp, Random};
use crate::trees::put;

/// A line of an answer: its file, number, whether it matches, and its text.
type Line = (String, u64, bool, String);

struct Lines<'l> {
    path: String,
    lines: &'l mut BTreeSet<Line>,
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches(['\n', '\r']).to_owned()
}

impl Sink for Lines<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch) -> Result<bool, std::io::Error> {
        let number = found.line_number().expect("numbers");
        self.lines.insert((self.path.clone(), number, true, text_of(found.bytes())));
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext) -> Result<bool, std::io::Error> {
        let number = context.line_number().expect("numbers");
        self.lines.insert((self.path.clone(), number, false, text_of(context.bytes())));
        Ok(true)
    }
}

/// One random call.
struct Call {
    pattern: String,
    ignore_case: bool,
    words: bool,
    fixed: bool,
    before: u64,
    after: u64,
    all: bool,
}

impl Call {
    fn random(random: &mut Random) -> Call {
        const PARTS: [&str; 16] = [
            "foo", "bar", "o+", "[a-f]", r"\w", r"\s", r"\d+", "Ä", "(foo|x)", "a.c", "^", "$", r"\b",
            "(?i)BAR", "[^o]", "日本",
        ];
        let count = 1 + random.below(3);
        let pattern: String = (0..count).map(|_| PARTS[random.below(16) as usize]).collect();
        let mut one_in = |n| random.below(n) == 0;
        let (ignore_case, words, fixed, all) = (one_in(3), one_in(4), one_in(6), one_in(3));
        let (before, after) = if one_in(2) { (random.below(3), random.below(3)) } else { (0, 0) };
        Call { pattern, ignore_case, words, fixed, before, after, all }
    }

    fn arguments(&self) -> Value {
        json!({
            "pattern": self.pattern, "output_mode": "content", "-i": self.ignore_case, "-w": self.words,
            "fixed_strings": self.fixed, "-B": self.before, "-A": self.after,
            "include_ignored": self.all, "include_hidden": self.all, "max_columns": 100_000,
        })
    }

    fn matcher(&self) -> RegexMatcher {
        RegexMatcherBuilder::new()
            .case_insensitive(self.ignore_case)
            .word(self.words)
            .fixed_strings(self.fixed)
            .multi_line(true)
            .crlf(true)
            .build(&self.pattern)
            .expect("a pattern")
    }

    /// What ripgrep's library finds.
    fn expected(&self, folder: &Path) -> BTreeSet<Line> {
        let mut lines = BTreeSet::new();
        let mut searcher = SearcherBuilder::new()
            .line_number(true)
            .before_context(self.before as usize)
            .after_context(self.after as usize)
            .bom_sniffing(true)
            .line_terminator(LineTerminator::crlf())
            .build();
        let mut walk = WalkBuilder::new(folder);
        walk.standard_filters(!self.all)
            .hidden(!self.all)
            .require_git(false)
            .parents(false)
            .git_global(false);
        for entry in walk.build().map(|entry| entry.expect("an entry")) {
            let path = entry.path().strip_prefix(folder).expect("below").to_string_lossy().into_owned();
            if path.split('/').any(|name| name == ".git")
                || !entry.file_type().is_some_and(|kind| kind.is_file())
            {
                continue;
            }
            let sink = Lines { path, lines: &mut lines };
            searcher.search_path(self.matcher(), entry.path(), sink).expect("a search");
        }
        lines
    }
}

/// The lines of an answer.
fn told(text: &str) -> BTreeSet<Line> {
    let (mut lines, mut path) = (BTreeSet::new(), "");
    for line in text.lines().take_while(|line| !line.starts_with('[')) {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        match (digits, line.as_bytes().get(digits)) {
            (1.., Some(mark @ (b':' | b'-'))) => {
                let number = line[..digits].parse().expect("a number");
                lines.insert((path.to_owned(), number, *mark == b':', line[digits + 1..].to_owned()));
            }
            _ if line == "--" || line.is_empty() || line == "No matches found" => {}
            _ => path = line,
        }
    }
    lines
}

fn random_tree(folder: &Folder, random: &mut Random) {
    const WORDS: [&str; 14] =
        ["foo", "Foo", "bar", "BAR", "a c", "x", "123", "Ä", "ä", "日本語", "food", "_foo", "", "z-foo"];
    const NAMES: [&str; 8] = ["a", "b.rs", ".hidden", "c.log", "build", "d.md", "e", ".ignored"];
    const RULES: [&str; 8] = ["*.log", "build/", "!c.log", "/a", "e", "!.hidden", "x*/", "**/d.md"];
    let mut folders = vec![String::new()];
    for _ in 0..random.below(6) {
        let parent = folders[random.below(folders.len() as u64) as usize].clone();
        let name = format!("{parent}{}/", ["sub", "x1", "build", ".dot", "e"][random.below(5) as usize]);
        folders.push(name);
    }
    for parent in &folders {
        for _ in 0..random.below(6) {
            let name = format!("{parent}{}", NAMES[random.below(8) as usize]);
            if folders.iter().any(|folder| folder.starts_with(&format!("{name}/"))) {
                continue;
            }
            let line_break = if random.below(3) == 0 { "\r\n" } else { "\n" };
            let mut text = String::new();
            for _ in 0..random.below(30) {
                for _ in 0..random.below(4) {
                    text += WORDS[random.below(14) as usize];
                    text += [" ", "", "\t"][random.below(3) as usize];
                }
                text += line_break;
            }
            if random.below(2) == 0 {
                text = text.trim_end_matches(line_break).to_owned();
            }
            put(folder, &name, text);
        }
        for file in [".gitignore", ".ignore"] {
            if random.below(4) == 0 {
                let rules: Vec<&str> =
                    (0..1 + random.below(3)).map(|_| RULES[random.below(8) as usize]).collect();
                put(folder, &format!("{parent}{file}"), rules.join("\n"));
            }
        }
    }
}

#[test]
fn ripgrep_finds_the_same_lines() {
    not_under_wine!("has a limit of time that such a program does not keep");
    let mut random = Random::new();
    let mut found = 0;
    for _ in 0..25 {
        let folder = Folder::new();
        random_tree(&folder, &mut random);
        let server = serve(&folder, &["--answer-limit=0"]);
        for _ in 0..30 {
            let call = Call::random(&mut random);
            let text = server.ok("grep", call.arguments());
            let expected = call.expected(folder.path());
            assert_eq!(told(&text), expected, "{}\n{text}", call.arguments());
            found += expected.len();
        }
    }
    assert!(found > 1_000, "{found}");
}
