//! The analysis of one text.

use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use super::language::Language;
use super::report::{FileReport, Refusal};
use super::walker::Walker;

/// The largest text that is analysed, in bytes.
pub const MAX_BYTES: usize = 2 << 20;

/// How often the parser looks whether it is to stop, for a text of this many bytes. It looks at each hundredth operation; an
/// ordinary text takes about one operation for two bytes.
fn most_looks(bytes: usize) -> usize {
    10_000 + bytes / 10
}

/// Analyses texts one after the other: what a parser needs is kept.
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
        let tree = self.parse(language, text, stop)?;
        match self.walker.walk(language, text, &tree, stop) {
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
        let (mut looks, mut stopped) = (0, false);
        let most = most_looks(text.len());
        let mut progress = |_: &ParseState| {
            looks += 1;
            stopped = stopped || stop();
            stopped || looks > most
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let tree =
            parser.parse_with_options(&mut |at, _| text.get(at..).unwrap_or_default(), None, Some(options));
        tree.ok_or_else(|| {
            // Else the next text would go on with this one.
            parser.reset();
            if stopped { Refusal::Stopped } else { Refusal::TooHard }
        })
    }
}

impl std::fmt::Debug for Analyser {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Analyser").finish_non_exhaustive()
    }
}
