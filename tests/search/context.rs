//! Lines around matches: pages put together are the whole.

use serde_json::{Value, json};

use super::serve;
use crate::support::{Folder, Mcp};
use crate::trees::next_of;

/// Numbers without an order.
struct Random(u64);

impl Random {
    fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// The lines of an answer, each behind its file, without what is said of the answer itself. Lines that it says are left out
/// are `None`.
fn lines(text: &str) -> Vec<Option<String>> {
    let (mut lines, mut file, mut begins) = (Vec::new(), String::new(), true);
    for line in text.lines() {
        let left_out = line.strip_prefix('[').and_then(|line| line.split_once(" lines before are left out"));
        if let Some((number, _)) = left_out {
            (0..number.parse().expect("a number")).for_each(|_| lines.push(None));
        } else if line.is_empty() {
            begins = true;
        } else if line.starts_with('[') || line.starts_with("No ") {
        } else if std::mem::take(&mut begins) {
            file = line.to_owned();
        } else {
            // A gap, too.
            lines.push(Some(format!("{file} {line}")));
        }
    }
    lines
}

#[track_caller]
fn pages(server: &dyn Mcp, arguments: &Value) -> (Vec<Option<String>>, u64) {
    let (mut next, mut found, mut shown, mut count) = (Some(arguments.clone()), Vec::new(), 0, 0);
    while let Some(arguments) = next {
        let page = server.tool("grep", arguments.clone());
        assert!(!page.is_error && count < 3_000, "{arguments}: {}", page.text);
        let truncated = &page.result["_meta"]["file-editor/truncated"];
        let told = lines(&page.text);
        let matches = told.iter().flatten().filter(|line| is_match(line)).count() as u64;
        shown += truncated["shown"].as_u64().unwrap_or(matches);
        found.extend(told);
        next = next_of(&page);
        count += 1;
    }
    (found, shown)
}

/// Whether the first sign behind the number of a line says that it matches.
fn is_match(line: &str) -> bool {
    line.split_once(' ')
        .is_some_and(|(_, line)| line.trim_start_matches(|char: char| char.is_ascii_digit()).starts_with(':'))
}

/// The longest line that is told whole. With its path, it fits into the smallest answer.
const MAX_COLUMNS: u64 = 200;

/// Files of random lines, of which some are about as long as those that are told whole; one in some holds an `x`.
fn fill(folder: &Folder, random: &mut Random) {
    for name in ["a", "b", "c", "d"] {
        let (count, rare) = (random.below(120), 1 + random.below(30));
        let mut text = String::new();
        for _ in 0..count {
            if random.below(rare) == 0 {
                text.push('x');
            }
            let most = if random.below(4) == 0 { MAX_COLUMNS + 30 } else { 60 };
            let len = random.below(most);
            (0..len).for_each(|_| text.push('y'));
            text.push_str(["\n", "\n", "\n", "\r\n", "\r"][random.below(5) as usize]);
        }
        folder.write(name, text);
    }
}

#[test]
fn pages_with_lines_around_matches_are_together_the_whole() {
    let mut random = Random(7);
    for round in 0..40 {
        let folder = Folder::new();
        fill(&folder, &mut random);
        let whole = serve(&folder, &["--answer-limit=0"]);
        let limited = serve(&folder, &[&format!("--answer-limit={}", 1 + random.below(3))]);
        for _ in 0..4 {
            let mut arguments =
                json!({ "pattern": "xy*", "output_mode": "content", "max_columns": MAX_COLUMNS });
            if random.below(2) == 0 {
                arguments["-o"] = json!(true);
            }
            for name in ["-A", "-B"] {
                arguments[name] = json!([0, 1, 2, 5, 40][random.below(5) as usize]);
            }
            arguments["sort"] = json!(["path", "modified"][random.below(2) as usize]);
            let (expected, count) = pages(&whole, &arguments);
            assert!(expected.iter().all(Option::is_some), "{arguments}");
            for head_limit in [0, 1 + random.below(9)] {
                let mut arguments = arguments.clone();
                if head_limit > 0 {
                    arguments["head_limit"] = json!(head_limit);
                }
                for server in [&whole, &limited] {
                    let (found, shown) = pages(server, &arguments);
                    let is_same = |(found, expected): (&Option<String>, &Option<String>)| {
                        found.is_none() || found == expected
                    };
                    let differs = found.iter().zip(&expected).position(|both| !is_same(both));
                    assert!(
                        differs.is_none() && found.len() == expected.len(),
                        "round {round} {arguments}: {differs:?} of {} and {}: {found:#?} {expected:#?}",
                        found.len(),
                        expected.len()
                    );
                    assert_eq!(shown, count, "{arguments}");
                }
            }
        }
    }
}

#[test]
fn a_match_is_told_though_the_lines_before_it_are_more_than_an_answer() {
    let folder = Folder::new();
    let filler = |name: &str| (0..400).map(|n| format!("{name} {n}\n")).collect::<String>();
    folder.write("f", format!("{}needle\n{}", filler("before"), filler("behind")));
    let server = serve(&folder, &["--answer-limit=1"]);
    let call = json!({ "pattern": "needle", "output_mode": "content", "context": 400 });
    let page = server.tool("grep", call);
    assert!(page.text.contains("\n401:needle\n"), "{}", page.text);
    assert!(page.text.contains("-before 399\n401:"), "{}", page.text);
    assert!(page.text.contains(" lines before are left out: the answer is full]"), "{}", page.text);
    assert_eq!(page.result["_meta"]["file-editor/truncated"]["shown"], 1, "{}", page.text);
    let (mut next, mut last) = (next_of(&page), String::new());
    while let Some(arguments) = next {
        let page = server.tool("grep", arguments);
        assert!(!page.text.contains("401:"), "{}", page.text);
        (next, last) = (next_of(&page), page.text);
    }
    assert!(last.contains("801-behind 399"), "{last}");
}

#[test]
fn the_matches_of_one_line_go_on_in_the_next_answer() {
    let folder = Folder::new();
    folder.write("f", (0..900).map(|n| format!("x{n} ")).collect::<String>());
    let server = serve(&folder, &["--answer-limit=1"]);
    let call = json!({ "pattern": r"x\d+", "output_mode": "content", "-o": true });
    let expected: Vec<_> = (0..900).map(|n| Some(format!("f 1:x{n}"))).collect();
    assert!(pages(&server, &call).0 == expected);
    assert_eq!(server.tool("grep", call).result["_meta"]["file-editor/truncated"]["shown"], 1);
}
