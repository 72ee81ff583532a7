//! The analysis of one text.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use analyzer_wire::{Answer, Language, MAX_BYTES, Made, Refusal, Wanted};
use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use super::grammar::{GRAMMARS, grammar, grammar_number};
use super::outline;
use super::system::thread_time;
use super::walker::Walker;

/// How many progress callbacks a text of this many bytes may take; tree-sitter makes one for each hundredth operation. Real
/// files need up to 0.026 a byte.
fn most_callbacks(bytes: usize) -> usize {
    2_000 + bytes / 25
}

/// The longest time of a processor for one parse. Where a text is not understood, a single operation may take long.
const LONGEST: Duration = Duration::from_secs(3);

/// How many bytes the parser reads at most of a text of this many bytes: some are read again to decide what a token is.
fn most_bytes(bytes: usize) -> usize {
    (4 << 20) + 64 * bytes
}

/// Bytes that the parser is given at a time, so that it can be stopped in a token, too.
const CHUNK: usize = 8 << 10;

/// What the parser may still do.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    callbacks: usize,
    bytes: usize,
    is_late: bool,
}

impl Bounds {
    fn goes_on(&self) -> bool {
        !self.is_late && self.callbacks > 0 && self.bytes > 0
    }
}

/// Analyses texts one after the other: what a parser needs is kept.
///
/// The library frees its memory by recursion, as deep as there are tokens in a text that it does not understand. Memory is
/// bounded by the limits of the process alone: the library aborts when it gets none.
#[derive(Default)]
pub struct Analyser {
    parsers: [Option<Parser>; GRAMMARS],
    walker: Walker,
}

impl Analyser {
    /// Analyses a text. One with syntax errors is analysed as far as it is understood.
    ///
    /// # Errors
    ///
    /// See [`Refusal`].
    pub fn analyse(&mut self, wanted: Wanted, language: Language, text: &[u8]) -> Answer {
        if text.len() > MAX_BYTES {
            return Err(Refusal::TooLarge);
        }
        if memchr::memchr(0, text).is_some() || simdutf8::basic::from_utf8(text).is_err() {
            return Err(Refusal::NotText);
        }
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        let text = &*if wanted == Wanted::Outline { with_line_feeds(text) } else { Cow::Borrowed(text) };
        if language == Language::Markdown {
            return match wanted {
                Wanted::Outline => Ok(Made::Outline(outline::of_markdown(text))),
                Wanted::Figures => Err(Refusal::TooHard),
            };
        }
        let tree = self.parse(language, text)?;
        Ok(match wanted {
            Wanted::Figures => Made::Figures(self.walker.walk(language, text, &tree)),
            Wanted::Outline => Made::Outline(outline::outline(language, text, &tree)),
        })
    }

    fn parse(&mut self, language: Language, text: &[u8]) -> Result<Tree, Refusal> {
        let parser = self.parsers[grammar_number(language)].get_or_insert_with(Parser::new);
        if parser.language().is_none() {
            // Fails only for a grammar of another version of the library.
            parser.set_language(&grammar(language)).map_err(|_| Refusal::TooHard)?;
        }
        let (callbacks, bytes) = (most_callbacks(text.len()), most_bytes(text.len()));
        let bounds = Cell::new(Bounds { callbacks, bytes, is_late: false });
        let start = thread_time();
        let goes_on = |take: fn(&mut Bounds)| {
            let mut now = bounds.get();
            take(&mut now);
            now.is_late |= thread_time().saturating_sub(start) > LONGEST;
            bounds.set(now);
            now.goes_on()
        };
        let mut progress =
            |_: &ParseState| !goes_on(|bounds| bounds.callbacks = bounds.callbacks.saturating_sub(1));
        // An end of the text is what ends a token that is read.
        let mut read =
            |at: usize, _| match goes_on(|bounds| bounds.bytes = bounds.bytes.saturating_sub(CHUNK)) {
                true => text.get(at..text.len().min(at + CHUNK)).unwrap_or_default(),
                false => &[],
            };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let tree = parser.parse_with_options(&mut read, None, Some(options));
        let bounds = bounds.get();
        tree.filter(|_| bounds.goes_on()).ok_or_else(|| {
            // Else the next text would go on with this one.
            parser.reset();
            if bounds.is_late { Refusal::TooSlow } else { Refusal::TooHard }
        })
    }
}

/// A text in which each break that is a mere carriage return is a line feed, so that its lines count as those of the server.
fn with_line_feeds(text: &[u8]) -> Cow<'_, [u8]> {
    let is_lone = |at: &usize| text.get(at + 1) != Some(&b'\n');
    let mut lone = memchr::memchr_iter(b'\r', text).filter(is_lone).peekable();
    if lone.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut own = text.to_vec();
    lone.for_each(|at| own[at] = b'\n');
    Cow::Owned(own)
}

impl Debug for Analyser {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.debug_struct("Analyser").finish_non_exhaustive()
    }
}
