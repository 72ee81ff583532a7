//! Definitions by their names: which lines of a file they have (contract 19, 22).
//!
//! A server that was built without the toolkit knows none.

use super::span::Span;
use engine::Workspace;
use folder::{Control, Error, FilePath, Result};

/// The lines of a definition in a text, and how many places of the text are none of its language.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) span: Span,
    pub(super) errors: u32,
}

#[cfg(feature = "toolkit")]
mod known {
    use super::{Control, FilePath, Found, Result, Span, Workspace, refuse};
    use crate::tools::shortened;
    use ::toolkit::outlines::{Outline, Place, neighbour, outline_of_file, outline_of_text, places};

    /// Names and places that an error tells.
    const TOLD: usize = 8;

    /// The longest name that is compared with one that is not found, in bytes.
    const MOST_NEAR: usize = 200;

    /// The lines of a definition in a file, with the comments and attributes above it.
    pub(in crate::tools::agent) fn in_file(
        workspace: &Workspace,
        path: &FilePath,
        symbol: &str,
        control: &Control,
    ) -> Result<Span> {
        Ok(span(&one(&outline_of_file(workspace, path, control)?, symbol, path.sent())?))
    }

    /// The same in a text, by the name of its file. Its lines hold nothing else.
    pub(in crate::tools::agent) fn in_text(
        name: &str,
        text: &[u8],
        symbol: &str,
        control: &Control,
    ) -> Result<Found> {
        let outline = outline_of_text(name, text, control)?;
        let place = one(&outline, symbol, name)?;
        if let Some(other) = neighbour(&outline, &place) {
            return Err(refuse(format!(
                "lines {}-{} of {name} hold {} as well; replace the text by old and new",
                place.first,
                place.last,
                shortened(&other.name)
            )));
        }
        Ok(Found { span: span(&place), errors: outline.errors })
    }

    /// The line of the first syntax error of a text that has more than so many.
    pub(in crate::tools::agent) fn new_error(
        name: &str,
        text: &[u8],
        errors: u32,
        control: &Control,
    ) -> Option<u32> {
        let outline = outline_of_text(name, text, control).ok()?;
        outline.error.filter(|_| outline.errors > errors).map(|error| error.line)
    }

    /// Its lines, 0-based.
    fn span(place: &Place) -> Span {
        let line = |line: u32| u64::from(line.saturating_sub(1));
        Span { first: line(place.first), last: line(place.last) }
    }

    fn one(outline: &Outline, symbol: &str, name: &str) -> Result<Place> {
        let mut found = places(outline, symbol);
        let lines = |place: &Place| format!("{}-{} {}", place.first, place.last, place.path);
        match &found[..] {
            [] => Err(refuse(missing(outline, symbol, name))),
            [_] => Ok(found.remove(0)),
            several => {
                let mut told: Vec<String> = several.iter().take(TOLD).map(lines).collect();
                if several.len() > TOLD {
                    told.push("…".into());
                }
                Err(refuse(format!(
                    "{name} defines '{}' {} times: {}; expected a longer path, or lines",
                    shortened(symbol),
                    several.len(),
                    told.join(", ")
                )))
            }
        }
    }

    fn missing(outline: &Outline, symbol: &str, name: &str) -> String {
        let own = shortened(symbol.rsplit(['.', ':', '#']).next().unwrap_or(symbol)).to_lowercase();
        let mut near: Vec<(usize, &str)> = outline
            .definitions
            .iter()
            .filter(|one| one.name.len() <= MOST_NEAR)
            .map(|one| (strsim::damerau_levenshtein(&own, &one.name.to_lowercase()), one.name.as_str()))
            .filter(|(distance, other)| *distance <= 2 || other.to_lowercase().contains(&own))
            .collect();
        text::order::sort_by_key(&mut near, |(distance, _)| *distance);
        near.dedup();
        let near: Vec<&str> = near.into_iter().map(|(_, name)| name).take(TOLD).collect();
        let near = if near.is_empty() { String::new() } else { format!("; near: {}", near.join(", ")) };
        format!("{name} does not define '{}'{near}", shortened(symbol))
    }
}

#[cfg(feature = "toolkit")]
pub(super) use known::{in_file, in_text, new_error};

#[cfg(not(feature = "toolkit"))]
pub(super) fn in_file(_: &Workspace, _: &FilePath, _: &str, _: &Control) -> Result<Span> {
    Err(refuse(UNKNOWN.into()))
}

#[cfg(not(feature = "toolkit"))]
pub(super) fn in_text(_: &str, _: &[u8], _: &str, _: &Control) -> Result<Found> {
    Err(refuse(UNKNOWN.into()))
}

#[cfg(not(feature = "toolkit"))]
pub(super) fn new_error(_: &str, _: &[u8], _: u32, _: &Control) -> Option<u32> {
    None
}

#[cfg(not(feature = "toolkit"))]
const UNKNOWN: &str = "this server was built without parsers of code; name lines in place of it";

fn refuse(problem: String) -> Error {
    Error::InvalidArguments { at: "symbol".into(), problem }
}
