//! The edits of one call, each with its path; and those of a call that failed, of which a later one corrects some (contract 19, `retry`).

use std::collections::HashMap;
use std::sync::Arc;

use super::one_edit::{Kind, OneEdit};
use super::patched::PatchEdit;
use super::unread::Slot;
use crate::tools::ParseOptions;
use crate::tools::arguments::{Count, Text};
use engine::Workspace;
use folder::{Error, FilePath, Result};
use text::encoding::EncodingChoice;
use text::text_edit::TextEdit;

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
}

/// The edits of a call that failed.
#[derive(Debug)]
pub(super) struct FailedEdits {
    pub(super) edits: Vec<Slot>,
    /// The numbers of those that do not fit, from 0.
    pub(super) failed: Vec<usize>,
    pub(super) is_patch: bool,
    pub(super) message: String,
}

impl Planned {
    /// The edit of this number in a list. Without a path of its own, it has `last`, that of the edit before; `last` becomes the path of
    /// the next one, or `None` if this is none.
    pub(super) fn of(mut edit: OneEdit, number: usize, last: &mut Option<FilePath>) -> Result<Planned> {
        let at = format!("edits[{number}]");
        let (own, before) = (edit.path.take(), last.take());
        let is_inherited = own.is_none();
        let path = own.or(before).ok_or_else(|| Error::InvalidArguments {
            at: format!("{at}.path"),
            problem: "it is missing; expected the path of a file".into(),
        })?;
        let kind = Arc::new(edit.kind(&at)?);
        let edit = Planned { path, is_inherited, other: None, kind, encoding: edit.encoding };
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
    fn behind(&self, last: Option<FilePath>) -> Planned {
        let mut edit = self.clone();
        if let Some(path) = last.filter(|_| self.is_inherited) {
            edit.path = path;
        }
        edit
    }

    /// The path of the next edit, if that has none.
    fn path_behind(&self) -> Option<FilePath> {
        match &*self.kind {
            Kind::Move(to) => Some(to.clone()),
            Kind::Delete { .. } => None,
            _ => Some(self.path.clone()),
        }
    }

    /// The same edit with what is given of another one in its place.
    fn corrected(&self, mut edit: OneEdit, at: &str) -> Result<Planned> {
        let path = edit.path.take();
        let is_inherited = self.is_inherited && path.is_none();
        let encoding = edit.encoding.take().or(self.encoding);
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
        Ok(Planned { path, is_inherited, other, kind, encoding })
    }

    /// Bytes of memory, about.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Planned>() + size_of::<Kind>() + self.path.as_str().len() + self.kind.bytes()
    }
}

impl From<PatchEdit> for Planned {
    fn from(PatchEdit { path, other, kind }: PatchEdit) -> Planned {
        Planned { path, is_inherited: false, other, kind: Arc::new(kind), encoding: None }
    }
}

impl FailedEdits {
    /// Bytes of memory, about.
    pub(super) fn bytes(&self) -> usize {
        self.message.len() + self.edits.iter().map(Slot::bytes).sum::<usize>()
    }

    /// All of its edits, with the corrected ones in their places.
    pub(super) fn corrected(&self, given: Vec<OneEdit>, options: ParseOptions) -> Result<Vec<Planned>> {
        let mut by_number = HashMap::new();
        let is_in_order = given.len() == self.failed.len();
        for (at, mut edit) in given.into_iter().enumerate() {
            let refuse = |problem: String| Error::InvalidArguments { at: format!("edits[{at}].n"), problem };
            let number = match edit.n.take() {
                Some(Count(n)) => usize::try_from(n - 1).ok().filter(|number| *number < self.edits.len()),
                None => self.failed.get(at).copied().filter(|_| is_in_order),
            };
            let number = number.ok_or_else(|| {
                let last = self.edits.len();
                refuse(format!("expected the number of the edit that it corrects, from 1 to {last}"))
            })?;
            if by_number.insert(number, (edit, at)).is_some() {
                return Err(refuse(format!("the edit {} is corrected before it in the list", number + 1)));
            }
        }
        let (mut edits, mut last) = (Vec::with_capacity(self.edits.len()), None);
        for (number, slot) in self.edits.iter().enumerate() {
            let given = by_number.remove(&number);
            let edit = match (slot, given) {
                (Slot::Edit(edit), None) => edit.behind(last.take()),
                (Slot::Edit(edit), Some((given, at))) => {
                    edit.corrected(given, &format!("edits[{at}]"))?.behind(last.take())
                }
                (Slot::Unread(unread), given) => {
                    unread.corrected(given.map(|(given, _)| given), (number, &mut last), options)?
                }
            };
            last = edit.path_behind();
            edits.push(edit);
        }
        Ok(edits)
    }

    /// All of its edits, with those of a patch in the places of its edits of the same files.
    pub(super) fn patched(&self, patch: Vec<PatchEdit>) -> Result<Vec<Planned>> {
        let mut edits: Vec<Planned> = self.edits.iter().filter_map(Slot::edit).cloned().collect();
        let (mut done, mut behind) = (Vec::<FilePath>::new(), 0);
        for edit in patch {
            let path = edit.path.clone();
            if done.last() != Some(&path) {
                let is_same = |old: &Planned| old.path == path;
                let first = edits.iter().position(is_same).filter(|_| !done.contains(&path));
                behind = first.ok_or_else(|| Error::InvalidArguments {
                    at: "patch".into(),
                    problem: format!(
                        "with retry, it has only corrected files, each once; the failed call has no '{}'; send the other files in a call of their own",
                        path.sent()
                    ),
                })?;
                edits.retain(|old| old.path != path);
                done.push(path);
            }
            edits.insert(behind, edit.into());
            behind += 1;
        }
        Ok(edits)
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
        self.old.as_ref().is_some_and(|old| !old.0.is_empty()) || self.has_lines()
    }

    /// Takes what is not given from what was sent before.
    pub(super) fn complete_by(&mut self, sent: Option<OneEdit>) {
        let Some(sent) = sent else { return };
        let (path, encoding) = (self.path.take(), self.encoding);
        if self.says_nothing() {
            *self = sent;
        } else {
            if !self.is_other() && !self.replaces() {
                (self.old, self.lines) = (sent.old, sent.lines);
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
            Kind::Lines(edits) if replaces && !edits.edits.is_empty() => {
                let new = kept.texts().get(1).map(|new| Text((*new).to_owned()));
                self.new = self.new.take().or(new);
            }
            Kind::Delete { .. } => self.delete = true,
            _ => {}
        }
    }
}
