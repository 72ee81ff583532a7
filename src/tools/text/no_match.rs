//! What a read says if no line matches its pattern: patterns that may be meant and match some.
//!
//! Knows no files: its caller counts.

use std::time::Duration;

use serde_json::json;

use crate::tools::balance::several;
use crate::tools::near::LONGEST;
use crate::tools::near_patterns::NearPattern;
use folder::Control;
use search::{Pattern, PatternOptions};

/// The largest file, in bytes, whose further reads take little time: no clock ends them before the call's own.
const SMALL: u64 = 1 << 20;

/// Most patterns that are named.
const MOST: usize = 3;

/// The lines of the note. `size`: that of the file. `is_part`: not all its lines are wanted. `count`: how many of those that are a pattern matches.
pub(super) fn no_match(
    pattern: &str,
    size: u64,
    is_part: bool,
    count: &dyn Fn(&Pattern, &Control) -> u64,
    control: &Control,
) -> String {
    let short = control.briefly(if size <= SMALL { Duration::MAX } else { LONGEST });
    let hint = |near: NearPattern| {
        let text = near.inline().filter(|_| control.check().is_ok())?;
        let number = count(&Pattern::new(&text, PatternOptions::default()).ok()?, &short);
        let lines = several(number, "line");
        (number > 0).then(|| format!("[With {}: {lines}]", json!({ "pattern": text })))
    };
    let hints = NearPattern::all(pattern, PatternOptions::default()).into_iter().filter_map(hint);
    let none = match is_part {
        true => "[No line of those asked for matches the pattern]",
        false => "[No line matches the pattern]",
    };
    std::iter::once(none.to_owned()).chain(hints.take(MOST)).collect::<Vec<_>>().join("\n")
}
