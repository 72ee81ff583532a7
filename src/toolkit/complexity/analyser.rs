//! The analysis of one text.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use super::casts;
use super::language::Language;
use super::report::{FileReport, Refusal};
use super::walker::Walker;

/// The largest text that is analysed, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// How often the parser looks whether it is to stop, for a text of this many bytes. It looks at each hundredth operation. Real
/// files need up to 0.026 looks a byte.
fn most_looks(bytes: usize) -> usize {
    2_000 + bytes / 25
}

/// The longest time of one parse. Where a text is not understood, a single operation may take long.
const LONGEST: Duration = Duration::from_secs(3);

/// By how much the memory of the process may grow in one parse, in bytes. An ordinary text takes 160 times its size at most.
const MOST_MEMORY: u64 = 192 << 20;

/// Looks between two looks at the memory.
const BETWEEN_MEMORY: usize = 32;

/// How many bytes the parser reads at most of a text of this many bytes: some are read again to decide what a token is.
fn most_bytes(bytes: usize) -> usize {
    (4 << 20) + 64 * bytes
}

/// Bytes that the parser is given at a time, so that it can be stopped in a token, too.
const CHUNK: usize = 8 << 10;

/// Bytes of stack that an analysis may need.
pub const STACK_BYTES: usize = 256 << 20;

/// What the parser may still do.
#[derive(Debug, Clone, Copy, Default)]
struct Bounds {
    looks: usize,
    bytes: usize,
    stopped: bool,
    /// Over the time or the memory of a parse.
    is_over: bool,
}

impl Bounds {
    fn goes_on(&self) -> bool {
        !self.stopped && !self.is_over && self.looks > 0 && self.bytes > 0
    }
}

/// Analyses texts one after the other: what a parser needs is kept.
///
/// The library frees its memory by recursion, as deep as there are tokens in a text that it does not understand. So an
/// analyser must run on a thread with a stack of [`STACK_BYTES`].
#[derive(Default)]
pub struct Analyser {
    parsers: [Option<Parser>; Language::GRAMMARS],
    walker: Walker,
}

impl Analyser {
    /// Analyses a text. `stop` is asked often whether to stop.
    ///
    /// # Errors
    ///
    /// See [`Refusal`]. A text with syntax errors is analysed.
    pub fn analyse(
        &mut self,
        language: Language,
        text: &[u8],
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<FileReport, Refusal> {
        if text.len() > MAX_BYTES {
            return Err(Refusal::TooLarge);
        }
        if memchr::memchr(0, text).is_some() || simdutf8::basic::from_utf8(text).is_err() {
            return Err(Refusal::NotText);
        }
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        let mut tree = self.parse(language, text, stop)?;
        let mut text = Cow::Borrowed(text);
        if language == Language::TypeScript
            && tree.root_node().has_error()
            && let Some(blanked) = casts::blanked(&text)
        {
            tree = self.parse(language, &blanked, stop)?;
            text = Cow::Owned(blanked);
        }
        match self.walker.walk(language, &text, &tree, stop) {
            ControlFlow::Continue(report) => Ok(report),
            ControlFlow::Break(()) => Err(Refusal::Stopped),
        }
    }

    fn parse(
        &mut self,
        language: Language,
        text: &[u8],
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Tree, Refusal> {
        let slot = &mut self.parsers[language.grammar_number()];
        let parser = slot.get_or_insert_with(Parser::new);
        if parser.language().is_none() {
            // Fails only for a grammar of another version of the library.
            parser.set_language(&language.grammar()).map_err(|_| Refusal::TooHard)?;
        }
        let bounds = Cell::new(Bounds {
            looks: most_looks(text.len()),
            bytes: most_bytes(text.len()),
            ..Bounds::default()
        });
        // The memory is looked at only when the parser has worked for a while: the system takes longer for that than a small text.
        let (stop, start, memory) = (RefCell::new(stop), Instant::now(), OnceCell::new());
        let goes_on = |take: fn(&mut Bounds)| {
            let mut now = bounds.get();
            take(&mut now);
            now.stopped = now.stopped || (stop.borrow_mut())();
            now.is_over |= start.elapsed() > LONGEST;
            let looks = most_looks(text.len()) - now.looks;
            now.is_over |= looks > 0
                && looks.is_multiple_of(BETWEEN_MEMORY)
                && resident() > memory.get_or_init(resident) + MOST_MEMORY;
            bounds.set(now);
            now.goes_on()
        };
        let mut progress = |_: &ParseState| !goes_on(|bounds| bounds.looks = bounds.looks.saturating_sub(1));
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
            match bounds {
                Bounds { stopped: true, .. } => Refusal::Stopped,
                Bounds { is_over: true, .. } => Refusal::TooSlow,
                _ => Refusal::TooHard,
            }
        })
    }
}

/// Memory that the process has, in bytes. 0 if the system does not say: then memory is not bounded.
fn resident() -> u64 {
    crate::sys::memory::used().map_or(0, |used| used.resident)
}

impl std::fmt::Debug for Analyser {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Analyser").finish_non_exhaustive()
    }
}
