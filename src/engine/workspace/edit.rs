//! Edits the text of one file: by lines, by a plan of the caller, or as a whole.

use std::borrow::Cow;

use super::change::{ChangeOptions, Changed, FilePlan, reporting};
use super::excerpt::unchanged;
use super::{ATTEMPTS, Workspace};
use folder::{Control, Error, FilePath, Result};
use sys::fs::Access;
use text::encoded_edit::{InParts, Rewrite, Rewritten, rewrite};
use text::encoding::EncodingChoice;
use text::line_edit::{self, LineEdits};
use text::lines::{BLOCK_SHIFT, IndexBuilder, LineIndex};
use text::omission::{numbered_file, omission, omission_problem};
use text::splice::{EditPlan, Splice};

/// Edits by lines. Their tool writes no text in another encoding than UTF-8.
const OF_LINES: InParts =
    InParts { at: "name", of_lines: true, instead: "convert the file to UTF-8 with another program first" };

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
        let options = ChangeOptions { create, in_parts: Some(OF_LINES), ..ChangeOptions::default() };
        let changed = self.change(path, &options, control, |index, old| {
            let Some(planned) = line_edit::plan(index, old, edits)? else { return Ok(None) };
            let described = describe(index, old, &planned.plan);
            Ok(Some((planned.plan, (planned.lines_modified, planned.total_lines, described))))
        })?;
        let (lines_modified, total_lines, described) = changed.report;
        Ok((Edited { lines_modified, total_lines, created: changed.created }, described))
    }

    /// Replaces the whole content of the file at `path`, which need not be text, or creates the file. Without a choice, the
    /// encoding of the file is kept. Reports what else is kept and what is not (contract 25).
    pub fn write_text(
        &self,
        path: &FilePath,
        content: &str,
        choice: Option<EncodingChoice>,
        options: &ChangeOptions,
        control: &Control,
    ) -> Result<Changed<Rewritten>> {
        let options = ChangeOptions { create: true, any_bytes: true, in_parts: None, ..options.clone() };
        self.change(path, &options, control, |_, old| {
            let Rewrite { content, was, report } = rewrite(choice, path.sent(), old, content)?;
            let lacking = match was {
                Some(encoding) => omission(&content, None, old, encoding, control)?,
                None => None,
            };
            let wrong =
                lacking.map(omission_problem).or_else(|| numbered_file(&content, old).map(str::to_owned));
            if let Some(problem) = wrong {
                return Err(Error::InvalidArguments { at: "content".into(), problem });
            }
            let encoding = report.encoding.encoding;
            let bytes = report.encoding.encode_whole(&content);
            let bytes = bytes.map_err(|lacking| Error::Unencodable { encoding, lacking, in_part: false })?;
            let plan = EditPlan::new(vec![Splice { at: 0..old.len(), text: Cow::Owned(bytes) }], old);
            Ok(plan.map(|plan| (plan.into_encoding(encoding), report)))
        })
    }

    /// Plans and reports like [`Workspace::change`], but takes no lock and changes nothing on the disk.
    pub fn dry_run<'p, T>(
        &self,
        path: &FilePath,
        options: &ChangeOptions,
        control: &Control,
        plan: impl FnMut(&LineIndex, &[u8]) -> Result<Option<(EditPlan<'p>, T)>>,
    ) -> Result<Changed<T>> {
        reporting(path, plan, |plan| self.rehearse(path, options, control, plan))
    }

    /// The same for a plan that reports nothing else.
    fn rehearse<'p>(
        &self,
        path: &FilePath,
        options: &ChangeOptions,
        control: &Control,
        plan: &mut FilePlan<'_, 'p>,
    ) -> Result<Changed<()>> {
        let name = path.sent();
        let done = |created, version| Changed { report: (), created, version };
        for _ in 0..ATTEMPTS {
            control.check()?;
            let found = self.find_to_change(path, options, control)?;
            if !found.exists() {
                let index = IndexBuilder::new(BLOCK_SHIFT).finish();
                let Some(edit) = plan(&index, b"")? else { continue };
                self.check_size(&edit, 0, false)?;
                return Ok(done(true, None));
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
            let planned = options.checked(view.bytes(), || plan(&index, view.bytes()));
            // The plan, or its error, is valid only if the bytes that it read were valid.
            if switches::is_off("rehearse-true") || unchanged(&view, name)? {
                let Some(edit) = planned? else { continue };
                self.check_size(&edit, view.bytes().len(), options.any_size)?;
                let version = match options.versioned {
                    false => None,
                    true => match self.version(view.file(), name, control)? {
                        None => continue,
                        version => version,
                    },
                };
                return Ok(done(false, version));
            }
        }
        Err(Error::Changed { name: name.into() })
    }
}
