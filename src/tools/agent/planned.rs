//! The edits of one call, each with its path.

use std::sync::Arc;

use super::one_edit::{Kind, OneEdit};
use super::patched::PatchEdit;
use crate::tools::arguments::{Count, Text};
use engine::Workspace;
use folder::{Error, FilePath, Result};
use text::encoding::EncodingChoice;
use text::text_edit::TextEdit;

/// Maximum number of edits in one call.
pub(super) const MAX_EDITS: usize = 1_000;

/// One edit of a call.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    pub(super) path: FilePath,
    /// The path is that of the edit before.
    is_inherited: bool,
    /// The path that is meant if nothing is at the first.
    other: Option<FilePath>,
    pub(super) kind: Arc<Kind>,
    pub(super) encoding: Option<EncodingChoice>,
    /// A call with `retry` gave the lines that it changes.
    pub(super) has_new_lines: bool,
}

impl Planned {
    /// The edit of this number in a list. Without a path of its own, it has `last`, that of the edit before; `last` becomes the path of
    /// the next one, or `None` if this is none.
    pub(super) fn of(mut edit: OneEdit, number: usize, last: &mut Option<FilePath>) -> Result<Planned> {
        let at = format!("edits[{number}]");
        if edit.skip {
            let problem = "it leaves out an edit of a call that failed: give retry, and the number n of the edit; or do not send the edit".into();
            return Err(Error::InvalidArguments { at: format!("{at}.skip"), problem });
        }
        let (own, before) = (edit.path.take(), last.take());
        let is_inherited = own.is_none();
        let path = own.or(before).ok_or_else(|| Error::InvalidArguments {
            at: format!("{at}.path"),
            problem: "it is missing; expected the path of a file".into(),
        })?;
        let kind = Arc::new(edit.kind(&at)?);
        let encoding = edit.encoding;
        let edit = Planned { path, is_inherited, other: None, kind, encoding, has_new_lines: false };
        *last = edit.path_behind();
        Ok(edit)
    }

    /// The path that it means.
    pub(super) fn meant(&self, workspace: &Workspace) -> FilePath {
        let is_there = |path: &FilePath| workspace.info(path).is_ok();
        let other = self.other.as_ref().filter(|other| !is_there(&self.path) && is_there(other));
        other.unwrap_or(&self.path).clone()
    }

    /// The same edit behind one that leaves this path, which it has if it has none of its own.
    pub(super) fn behind(&self, last: Option<FilePath>) -> Planned {
        let mut edit = self.clone();
        if let Some(path) = last.filter(|last| self.is_inherited && *last != self.path) {
            (edit.path, edit.other) = (path, None);
        }
        edit
    }

    /// The path of the next edit, if that has none.
    pub(super) fn path_behind(&self) -> Option<FilePath> {
        match &*self.kind {
            Kind::Move(to) => Some(to.clone()),
            Kind::Delete { .. } => None,
            _ => Some(self.path.clone()),
        }
    }

    /// The same edit with what is given of another one in its place.
    pub(super) fn corrected(&self, mut edit: OneEdit, at: &str) -> Result<Planned> {
        let path = edit.path.take();
        let is_inherited = self.is_inherited && path.is_none();
        let encoding = edit.encoding.take().or(self.encoding);
        let has_new_lines = edit.has_lines();
        let kind = match edit.says_nothing() {
            true => self.kind.clone(),
            false => {
                edit.complete(&self.kind);
                Arc::new(edit.kind(at)?)
            }
        };
        let (other, path) = match path {
            Some(path) => (None, path),
            None => (self.other.clone(), self.path.clone()),
        };
        Ok(Planned { path, is_inherited, other, kind, encoding, has_new_lines })
    }

    /// The same edit at another path.
    pub(super) fn at(&self, path: FilePath) -> Planned {
        Planned { path, other: None, ..self.clone() }
    }

    /// Gets the path of another edit.
    pub(super) fn take_path_of(&mut self, other: &Planned) {
        (self.path, self.other) = (other.path.clone(), other.other.clone());
    }

    /// Bytes of memory, about.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Planned>() + size_of::<Kind>() + self.path.as_str().len() + self.kind.bytes()
    }
}

impl From<PatchEdit> for Planned {
    fn from(PatchEdit { path, is_inherited, other, kind }: PatchEdit) -> Planned {
        Planned { path, is_inherited, other, kind: Arc::new(kind), encoding: None, has_new_lines: false }
    }
}

impl OneEdit {
    /// Whether it has nothing but a path and an encoding.
    pub(super) fn says_nothing(&self) -> bool {
        let texts = [&self.old, &self.new, &self.expect, &self.content, &self.append];
        let flags = [self.all, self.create_only, self.delete, self.recursive];
        texts.iter().all(|text| text.is_none())
            && !flags.contains(&true)
            && self.count.is_none()
            && !self.has_lines()
            && !self.has_symbol()
            && self.move_to.is_none()
            && self.copy_to.is_none()
    }

    /// Whether it is of another kind than the replacing of a text or of lines.
    fn is_other(&self) -> bool {
        let full = |text: &Option<Text>| text.as_ref().is_some_and(|text| !text.0.is_empty());
        let is_moved = self.move_to.is_some() || self.copy_to.is_some();
        full(&self.content) || full(&self.append) || self.delete || is_moved
    }

    /// Whether it says what is replaced.
    fn replaces(&self) -> bool {
        self.old.as_ref().is_some_and(|old| !old.0.is_empty()) || self.has_lines() || self.has_symbol()
    }

    /// Takes what is not given from what was sent before.
    pub(super) fn complete_by(&mut self, sent: Option<OneEdit>) {
        let Some(sent) = sent else { return };
        let (path, encoding) = (self.path.take(), self.encoding);
        if self.says_nothing() {
            *self = sent;
        } else {
            if !self.is_other() && !self.replaces() {
                (self.old, self.lines, self.symbol) = (sent.old, sent.lines, sent.symbol);
                (self.all, self.count) = (self.all || sent.all, self.count.take().or(sent.count));
            }
            if !self.is_other() {
                self.new = self.new.take().or(sent.new);
            }
            (self.path, self.encoding) = (sent.path, sent.encoding);
        }
        self.path = path.or(self.path.take());
        self.encoding = encoding.or(self.encoding);
    }

    /// Takes what is not given from the edit that it corrects: what is replaced if it names nothing, and the new text if it has none.
    fn complete(&mut self, kept: &Kind) {
        let replaces = self.replaces();
        if self.is_other() {
            return;
        }
        match kept {
            Kind::Text(edits) => {
                let [TextEdit { old_text, new_text, occurrences }] = edits.edits() else { return };
                if !replaces {
                    self.old = Some(Text(old_text.clone()));
                    if !self.all && self.count.is_none() {
                        self.all = *occurrences == TextEdit::ALL;
                        self.count = (!self.all).then_some(Count(*occurrences));
                    }
                }
                self.new.get_or_insert_with(|| Text(new_text.clone()));
            }
            Kind::Symbol { symbol, new } => {
                if !replaces {
                    self.symbol = Some(symbol.clone());
                }
                self.new.get_or_insert_with(|| Text(new.clone()));
            }
            Kind::Lines(edits) if replaces && !edits.edits.is_empty() => {
                let new = kept.texts().get(1).map(|new| Text((*new).to_owned()));
                self.new = self.new.take().or(new);
            }
            Kind::Delete { .. } => self.delete = true,
            _ => {}
        }
    }
}
