//! `grep`: what ripgrep prints to a pipe. What a search left out is told on standard error.

use std::io;

use super::call::Place;
use super::grep_flags::GrepFlags;
use super::output::Streams;
use super::{ERROR, NOTHING};
use crate::cli::Stop;
use crate::tools::{PrintPath, PrintedSearch, print_search};
use folder::{Error, FilePath, NamePolicy};

/// Searches, and prints.
pub(super) fn run(
    flags: &GrepFlags,
    place: &Place,
    as_json: bool,
    streams: &mut Streams,
) -> Result<u8, Stop> {
    let mut request = flags.request(as_json)?;
    if flags.wants_nothing() {
        return Ok(NOTHING);
    }
    let words = flags.paths();
    let names_files = words.len() > 1 || words.first().is_none_or(|path| !place.is_file(path));
    request.head.path = flags.shows_paths(names_files);
    let (mut paths, mut failures) = (Vec::new(), Vec::new());
    let whole = (words.is_empty()).then_some((".", false, String::new()));
    let given =
        words.iter().map(|path| (path.as_str(), place.is_file(path), shown(path, place.is_file(path))));
    for (path, is_file, shown) in whole.into_iter().chain(given) {
        match FilePath::parse_sent(path, NamePolicy::Paths, place.workspace.folder_paths()) {
            Ok(path) => paths.push(PrintPath { path, shown, is_file }),
            Err(error) => failures.push(error),
        }
    }
    let done = match print_search(&place.workspace, &request, &paths, streams.out, &place.control) {
        Ok(done) => done,
        // Who reads no further is no error: as `head`.
        Err(Error::WriteFailed { source }) if source.kind() == io::ErrorKind::BrokenPipe => {
            return Ok(0);
        }
        Err(error) => PrintedSearch { failures: vec![error], ..PrintedSearch::default() },
    };
    failures.extend(done.failures);
    let flushed = streams.out.flush();
    done.balances.iter().for_each(|balance| _ = writeln!(streams.err, "{balance}"));
    failures.iter().for_each(|error| _ = writeln!(streams.err, "{}", place.told(error)));
    let code = match done.is_found {
        true if flags.is_quiet() => 0,
        _ if !failures.is_empty() => ERROR,
        true => 0,
        false => NOTHING,
    };
    Ok(streams.ended(flushed, code))
}

/// What stands before the paths that a search of this path prints.
fn shown(path: &str, is_file: bool) -> String {
    match path {
        _ if is_file => path.to_owned(),
        path if path.ends_with('/') => path.to_owned(),
        path => format!("{path}/"),
    }
}
