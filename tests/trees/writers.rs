//! Several server processes and writers in nested folders at once: no acknowledged edit is lost (contract 8, 12).

use serde_json::json;

use super::{SET, leftovers, put, serve};
use crate::support::{Folder, Http, Mcp, Stdio};

const FILES: [&str; 3] = ["a/f", "a/b/f", "a/b/c d/f"];
const EDITS: usize = 120;

/// Adds a line after the first, as an edit of exact text.
fn edit(server: &dyn Mcp, path: &str, line: &str) -> bool {
    let edits = json!([{ "oldText": "first\n", "newText": format!("first\n{line}\n") }]);
    let result = server.tool("edit_file", json!({ "path": path, "edits": edits }));
    let may_fail = ["was changed by another program", "is locked by another process"];
    assert!(!result.is_error || may_fail.iter().any(|words| result.text.contains(words)), "{}", result.text);
    !result.is_error
}

#[test]
fn three_servers_and_five_writers_lose_no_acknowledged_edit() {
    let folder = Folder::new();
    FILES.iter().for_each(|path| put(&folder, path, "first\n"));
    let flags = ["--sync=none", "--timeout=60"];
    let (one, two) = (serve(&folder, &flags), Http::start(&folder, &[&[SET][..], &flags].concat()));
    let lines = Stdio::start(&folder, &[&["--tools=lines", "--names=paths"][..], &flags].concat()).ready();
    let exact = |server: &(dyn Mcp + Sync), writer: usize| -> Vec<(usize, String)> {
        let line = |n: usize| format!("writer {writer} line {n}");
        let done = (0..EDITS).filter(|n| edit(server, FILES[(n + writer) % 3], &line(*n)));
        done.map(|n| ((n + writer) % 3, line(n))).collect()
    };
    let appends = || -> Vec<(usize, String)> {
        let line = |n: usize| format!("appended {n}");
        let append = |n: &usize| {
            let result = lines.tool("edit_file", json!({ "name": FILES[n % 3], "append": line(*n) }));
            !result.is_error
        };
        (0..EDITS).filter(append).map(|n| (n % 3, line(n))).collect()
    };
    // Two writers on one server would take each other's answers on stdio, so two go over HTTP.
    let acknowledged: Vec<(usize, String)> = std::thread::scope(|scope| {
        let (one, two, exact, appends) = (&one, &two, &exact, &appends);
        let third = serve(&folder, &flags);
        let threads = [
            scope.spawn(move || exact(one, 0)),
            scope.spawn(move || exact(two, 1)),
            scope.spawn(move || exact(two, 2)),
            scope.spawn(move || exact(&third, 3)),
            scope.spawn(appends),
        ];
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    println!("{} edits acknowledged of {}", acknowledged.len(), 5 * EDITS);
    assert!(acknowledged.len() > EDITS, "{}", acknowledged.len());
    let texts = FILES.map(|path| folder.text(path));
    for (file, line) in &acknowledged {
        let count = texts[*file].lines().filter(|found| found == line).count();
        assert_eq!(count, 1, "{line} in {}", FILES[*file]);
    }
    let all: usize = texts.iter().map(|text| text.lines().count() - 1).sum();
    assert_eq!(all, acknowledged.len(), "a refused edit is in a file");
    assert_eq!(leftovers(&folder), [""; 0]);
}

#[test]
fn of_several_moves_to_one_place_by_several_servers_exactly_one_happens() {
    const PLACES: usize = 60;
    let folder = Folder::new();
    put(&folder, "to/f", "");
    #[allow(clippy::needless_range_loop)]
    for n in 0..PLACES {
        (0..3).for_each(|server| put(&folder, &format!("from/{server}/{n}"), format!("{server}")));
    }
    let servers = [(); 3].map(|()| serve(&folder, &["--sync=none"]));
    let moved: Vec<Vec<bool>> = std::thread::scope(|scope| {
        let move_all = |number: usize, server: &Stdio| -> Vec<bool> {
            let call = |n: usize| {
                let arguments =
                    json!({ "source": format!("from/{number}/{n}"), "destination": format!("to/{n}") });
                let result = server.tool("move_file", arguments);
                let first = result.first_line();
                assert!(!result.is_error || first.contains("exists already"), "{}", result.text);
                !result.is_error
            };
            (0..PLACES).map(call).collect()
        };
        let threads: Vec<_> = servers
            .iter()
            .enumerate()
            .map(|(number, server)| scope.spawn(move || move_all(number, server)))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    #[allow(clippy::needless_range_loop)]
    for n in 0..PLACES {
        let winners: Vec<usize> = (0..3).filter(|server| moved[*server][n]).collect();
        assert_eq!(winners.len(), 1, "{n}: {winners:?}");
        assert_eq!(folder.text(&format!("to/{n}")), winners[0].to_string());
        for server in 0..3 {
            let is_there = folder.path().join(format!("from/{server}/{n}")).exists();
            assert_eq!(is_there, server != winners[0], "{server} {n}");
        }
    }
}
