//! The set `search` (contract 14).

mod against_ripgrep; // the same lines as ripgrep's own library finds
mod balance; // what an answer says that it left out
pub(crate) mod bounds; // hostile patterns, time, cancellation
mod context; // lines around matches, in pages
mod counts; // what grep counts
mod early; // answers that begin before their search has ended
mod filter_dir; // filters on disk: shared, damaged, foreign, cut off
mod fresh; // files that other programs change between and during searches
mod glob; // the tool glob: patterns, orders, arguments
mod globs; // one dialect of globs in all tools, and hints to what a glob may mean
mod grep; // the tool grep: what it finds and tells
mod grep_encodings; // files that are not UTF-8
mod grep_pages; // the balances of its pages, and files that change between them
mod grep_whole; // its pages are together the whole answer
mod live; // folders that are known without a look
mod mended; // patterns of grep that find something when a slip is mended
mod near; // what is said where nothing matches
mod out_of_time; // what an answer says whose time was up
mod pages; // limits and cursors
mod slips; // usual slips in globs, types and patterns
mod tokens; // answers that are few bytes and many tokens

use crate::support::{Folder, Http, Mcp, Stdio, on_both_with};
use crate::trees::{Posted, put};
use serde_json::Value;

const SET: &str = "--tools=search";

/// It has so many states that matching it in [`ab_letters`] is slow, and it is not found there. Its matches have no longest
/// length.
pub(crate) const SLOW: &str = "a[ab]{16}c*zq9";

/// One line of letters without an order.
pub(crate) fn ab_letters(len: usize) -> String {
    let mut random = 1_u32;
    let letters = std::iter::repeat_with(|| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if random >> 31 == 0 { 'a' } else { 'b' }
    });
    letters.take(len).collect()
}

/// Whether a thread of the process has this name.
fn has_thread(pid: u32, name: &str) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).expect("a process").flatten();
    // A thread may end meanwhile.
    threads
        .map(|thread| std::fs::read_to_string(thread.path().join("comm")))
        .any(|comm| comm.is_ok_and(|comm| comm.trim_end() == name))
}

/// A server of the set `search` on stdio that is ready.
fn serve(folder: &Folder, flags: &[&str]) -> Stdio {
    Stdio::start(folder, &[&[SET], flags].concat()).ready()
}

/// Runs `test` over stdio, over HTTP, and over `POST /tools/{name}`.
fn on_all(flags: &[&str], fill: impl Fn(&Folder) + Sync, test: impl Fn(&dyn Mcp, &Folder) + Sync) {
    let flags = [&[SET], flags].concat();
    on_both_with(&flags, &fill, &test);
    let folder = Folder::new();
    fill(&folder);
    test(&Posted(Http::start(&folder, &flags)), &folder);
}

/// The paths of an answer.
fn paths(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with('[') && !line.starts_with("No ")).collect()
}

/// The paths that a call of glob gives, sorted.
#[track_caller]
fn found(server: &dyn Mcp, arguments: Value) -> Vec<String> {
    let text = server.ok("glob", arguments);
    let mut paths: Vec<String> = paths(&text).into_iter().map(str::to_owned).collect();
    paths.sort();
    paths
}

/// The line of an answer that says what was left out.
fn balance(text: &str) -> &str {
    text.lines().find(|line| line.contains(" seen, ")).unwrap_or_else(|| panic!("no balance: {text}"))
}

/// Writes empty files.
fn touch(folder: &Folder, paths: &[&str]) {
    paths.iter().for_each(|path| put(folder, path, ""));
}
