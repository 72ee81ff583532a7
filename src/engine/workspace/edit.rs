//! Edits the text of one file: by lines, by a plan of the caller, or as a whole.

use std::borrow::Cow;

use super::change::{ChangeOptions, Changed};
use super::excerpt::unchanged;
use super::{ATTEMPTS, Workspace};
use crate::engine::encoding::{Encoding, EncodingChoice, Likely, TextEncoding};
use crate::engine::path::FilePath;
use crate::engine::text::line_edit::{self, LineEdits};
use crate::engine::text::lines::{BLOCK_SHIFT, BOM, IndexBuilder, LineIndex};
use crate::engine::text::splice::{EditPlan, Splice};
use crate::engine::{Control, Error, Result};
use crate::sys::fs::Access;

/// The result of an edit by lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edited {
    /// Lines inserted, deleted and appended; a replaced line counts as the number of its new lines.
    pub lines_modified: usize,
    /// Lines of the file after the edit.
    pub total_lines: usize,
    /// Whether the edit created the file.
    pub created: bool,
}

impl Workspace {
    /// Changes lines of the file at `path`. Creates a missing file if `create` is set (contract 4, `edit_file`).
    pub fn edit_lines(
        &self,
        path: &FilePath,
        edits: &LineEdits,
        create: bool,
        control: &Control,
    ) -> Result<Edited> {
        self.edit_lines_and(path, edits, create, control, |_, _, _| ()).map(|(edited, ())| edited)
    }

    /// The same. `describe` gets the index and the bytes of the file before the edit, and the plan.
    pub fn edit_lines_and<T>(
        &self,
        path: &FilePath,
        edits: &LineEdits,
        create: bool,
        control: &Control,
        describe: impl Fn(&LineIndex, &[u8], &EditPlan) -> T,
    ) -> Result<(Edited, T)> {
        let options = ChangeOptions { create, ..ChangeOptions::default() };
        let changed = self.change(path, &options, control, |index, old| {
            let Some(planned) = line_edit::plan(index, old, edits)? else { return Ok(None) };
            let described = describe(index, old, &planned.plan);
            Ok(Some((planned.plan, (planned.lines_modified, planned.total_lines, described))))
        })?;
        let (lines_modified, total_lines, described) = changed.report;
        Ok((Edited { lines_modified, total_lines, created: changed.created }, described))
    }

    /// Replaces the whole content of the file at `path`, which need not be text, or creates the file.
    pub fn write_file(
        &self,
        path: &FilePath,
        content: &str,
        options: &ChangeOptions,
        control: &Control,
    ) -> Result<Changed<()>> {
        let options = ChangeOptions { create: true, any_bytes: true, ..options.clone() };
        self.change(path, &options, control, |_, old| {
            let text = Cow::Borrowed(content.as_bytes());
            // A byte order mark belongs to the file (contract 3).
            let start = if old.starts_with(BOM) && !text.starts_with(BOM) { BOM.len() } else { 0 };
            Ok(EditPlan::new(vec![Splice { at: start..old.len(), text }], old).map(|plan| (plan, ())))
        })
    }

    /// The same in an encoding. A byte order mark of the file stays (contract 15). Reports the encoding, and that of the
    /// file before if its mark says another one.
    pub fn write_text(
        &self,
        path: &FilePath,
        content: &str,
        encoding: EncodingChoice,
        options: &ChangeOptions,
        control: &Control,
    ) -> Result<Changed<(TextEncoding, Option<Encoding>)>> {
        let is_utf_8 = encoding == EncodingChoice::Is(Encoding::Utf8);
        let options =
            ChangeOptions { create: true, any_bytes: true, makes_any_bytes: !is_utf_8, ..options.clone() };
        self.change(path, &options, control, |_, old| {
            let encoding = encoding.for_content(old).map_err(|likely| unknown_encoding(path, likely))?;
            let bytes = encoding.encode_whole(content);
            let text = Cow::Owned(bytes.map_err(|lacking| {
                let encoding = encoding.encoding;
                Error::Unencodable { encoding, lacking }
            })?);
            let plan = EditPlan::new(vec![Splice { at: 0..old.len(), text }], old);
            Ok(plan.map(|plan| (plan, (encoding, encoding.before(old)))))
        })
    }

    /// Plans and reports like [`Workspace::change`], but takes no lock and changes nothing on the disk.
    pub fn dry_run<'p, T>(
        &self,
        path: &FilePath,
        options: &ChangeOptions,
        control: &Control,
        mut plan: impl FnMut(&LineIndex, &[u8]) -> Result<Option<(EditPlan<'p>, T)>>,
    ) -> Result<Changed<T>> {
        let name = path.sent();
        let done = |report, created| Changed { report, created, version: None };
        for _ in 0..ATTEMPTS {
            control.check()?;
            let found = self.find_to_change(path, options, control)?;
            if !found.exists() {
                let index = IndexBuilder::new(BLOCK_SHIFT).finish();
                let Some((edit, report)) = plan(&index, b"")? else { continue };
                self.check_size(&edit, 0, false)?;
                return Ok(done(report, true));
            }
            let opened = match options.any_size {
                true => self.open_place(&found.place, name, control),
                false => self.open_whole(&found.place, name, control),
            };
            let Some(file) = opened? else { continue };
            match found.place.allows(Access::WRITE_OK).map_err(|errno| Error::write(name, errno))? {
                None => continue,
                Some(false) => return Err(Error::PermissionDenied { name: name.into() }),
                Some(true) => {}
            }
            self.check_version(&file, path, options, control)?;
            let Some((view, index)) = self.whole(file, name, control)? else { continue };
            let planned = plan(&index, view.bytes());
            // The plan, or its error, is valid only if the bytes that it read were valid.
            if unchanged(&view, name)? {
                let Some((edit, report)) = planned? else { continue };
                self.check_size(&edit, view.bytes().len(), options.any_size)?;
                return Ok(done(report, false));
            }
        }
        Err(Error::Changed { name: name.into() })
    }
}

/// The error for a file whose encoding is not found.
fn unknown_encoding(path: &FilePath, likely: Option<Likely>) -> Error {
    let name = || path.sent().to_owned();
    let error = Box::new(Error::NotText { name: name() });
    match likely {
        None => *error,
        likely => Error::OtherEncoding { name: name(), error, likely, takes_encoding: true },
    }
}
