//! Changes one file, completely or not at all (contract 8): queue, lock, read, plan, write, rename.
//!
//! The plan is the caller's. Knows no lines and no search.

use std::sync::Arc;
use std::time::Instant;

use super::excerpt::{loaded, unchanged};
use super::found::{Found, Freshness, Want};
use super::write::{NewContent, Stopped};
use super::{ATTEMPTS, Workspace};
use folder::fs::atomic::{ReplaceError, Replaces};
use folder::fs::parents::Parents;
use folder::fs::view::{FileView, OpenFile};
use folder::{Control, Error, FilePath, FileVersion, NotFound, Result};
use sys::fs::Mode;
use text::encoded_edit::InParts;
use text::lines::{BLOCK_SHIFT, IndexBuilder, LineIndex};
use text::splice::EditPlan;

/// What a change may do, and on which state of the file.
#[derive(Debug, Clone)]
pub struct ChangeOptions {
    /// Whether a missing file is created.
    pub create: bool,
    /// Whether missing folders of a created file are created.
    pub create_parents: bool,
    /// Whether a file that exists is an error.
    pub create_only: bool,
    /// Whether the file need not be text.
    pub any_bytes: bool,
    /// Whether the result may be bytes that are no text in UTF-8.
    pub makes_any_bytes: bool,
    /// Whether the file may be of any size: the change names parts of it, and adds at most [`WorkspaceOptions::max_bytes`].
    ///
    /// [`WorkspaceOptions::max_bytes`]: super::WorkspaceOptions::max_bytes
    pub any_size: bool,
    /// Whether it may also add any number of bytes: it makes what was there before.
    pub restores: bool,
    /// What kind of parts of the text are changed. `None`: the whole text is replaced, whatever its bytes mean.
    pub in_parts: Option<InParts>,
    /// The version that the file must have.
    pub expected: Option<FileVersion>,
    /// Whether the result tells the version of the file after the change.
    pub versioned: bool,
}

impl ChangeOptions {
    /// For a change of the file that has the version `expected`, if it is given.
    pub fn of_version(expected: Option<FileVersion>) -> ChangeOptions {
        ChangeOptions { expected, ..ChangeOptions::default() }
    }

    /// Makes a plan that the options allow for the bytes `old`.
    pub(super) fn checked<'p>(
        &self,
        old: &[u8],
        plan: impl FnOnce() -> Result<Option<EditPlan<'p>>>,
    ) -> Result<Option<EditPlan<'p>>> {
        let Some(in_parts) = &self.in_parts else { return plan() };
        let checked = in_parts.checked(old, || Ok::<_, Error>(plan()?.map(|edit| (edit, ()))))?;
        Ok(checked.map(|(edit, ())| edit))
    }

    /// Tells that the whole file was to be replaced, if it is too large for that.
    pub(super) fn of_whole(&self, path: &FilePath, error: Error) -> Error {
        match error {
            Error::TooLarge { size, max, is_result: false } if self.in_parts.is_none() => {
                Error::ReplacesTooLarge { name: path.sent().into(), size, max }
            }
            error => error,
        }
    }

    fn content<'c>(&self, edit: &'c EditPlan<'c>, old: Option<&'c FileView>) -> NewContent<'c> {
        let ChangeOptions { versioned, makes_any_bytes, any_size, .. } = *self;
        let makes_any_bytes = makes_any_bytes || edit.is_other_encoding();
        NewContent { edit, old, versioned, makes_any_bytes, any_size, restores: false }
    }
}

impl Default for ChangeOptions {
    fn default() -> ChangeOptions {
        ChangeOptions {
            create: false,
            create_parents: true,
            create_only: false,
            any_bytes: false,
            makes_any_bytes: false,
            restores: false,
            any_size: false,
            in_parts: Some(InParts::OF_TEXTS),
            expected: None,
            versioned: false,
        }
    }
}

/// The result of a change.
#[derive(Debug)]
pub struct Changed<T> {
    /// The report of the plan.
    pub report: T,
    /// Whether the file is new.
    pub created: bool,
    /// The version of the file after the change, if it was wanted. It is that of the content that was written, whatever
    /// another program has written since.
    pub version: Option<FileVersion>,
}

/// Plans a change, as often as the file has changed meanwhile.
pub(super) type FilePlan<'c, 'p> = dyn FnMut(&LineIndex, &[u8]) -> Result<Option<EditPlan<'p>>> + 'c;

/// The result of `change` with the report of the last plan that it got from `plan`.
pub(super) fn reporting<'p, T>(
    path: &FilePath,
    mut plan: impl FnMut(&LineIndex, &[u8]) -> Result<Option<(EditPlan<'p>, T)>>,
    change: impl FnOnce(&mut FilePlan<'_, 'p>) -> Result<Changed<()>>,
) -> Result<Changed<T>> {
    let mut report = None;
    let Changed { created, version, report: () } = change(&mut |index, old| {
        Ok(plan(index, old)?.map(|(edit, told)| {
            report = Some(told);
            edit
        }))
    })?;
    let report = report.ok_or_else(|| Error::Changed { name: path.sent().into() })?;
    Ok(Changed { report, created, version })
}

impl Workspace {
    /// Changes one file, completely or not at all (contract 8).
    ///
    /// `plan` gets the index and the bytes of the file (both empty if the file is to be created). It may
    /// fail; it returns `None` if the bytes do not match the index. Without [`ChangeOptions::any_bytes`], the bytes
    /// are text.
    pub fn change<'p, T>(
        &self,
        path: &FilePath,
        options: &ChangeOptions,
        control: &Control,
        plan: impl FnMut(&LineIndex, &[u8]) -> Result<Option<(EditPlan<'p>, T)>>,
    ) -> Result<Changed<T>> {
        reporting(path, plan, |plan| self.change_as_planned(path, options, control, plan))
    }

    /// The same for a plan that reports nothing else.
    fn change_as_planned<'p>(
        &self,
        path: &FilePath,
        options: &ChangeOptions,
        control: &Control,
        plan: &mut FilePlan<'_, 'p>,
    ) -> Result<Changed<()>> {
        let name = path.sent();
        if !switches::is_off("edit-read-only") {
            self.check_not_read_only(path)?;
        }
        if self.recorded_for(control).is_some() {
            return self.change_recorded(path, options, control, plan);
        }
        let until = control.lock_deadline();
        let mut turn = None;
        let mut changed = 0;
        while changed < ATTEMPTS {
            let found = self.find_to_change(path, options, control)?;
            if !found.place.missing.is_empty() {
                return self.change_with_parents(&found, path, options, control, plan);
            }
            turn = Some(self.take_turn(turn, &found.place, name, until, control)?);
            let outcome = match found.place.restat() {
                // It was there when it was looked up.
                Ok(None) if options.expected.is_some() => return Err(other_version(path, options)),
                Ok(None) if options.create => self.change_missing(&found, path, options, control, plan),
                Ok(None) => return Err(self.not_found(&found, path, control)),
                Ok(Some(_)) if options.create_only => return Err(Error::exists(name)),
                Ok(Some(_)) => self.change_existing(&found, path, options, until, control, plan),
                Err(errno) => return Err(Error::read(name, errno)),
            };
            match outcome? {
                Attempt::Done(done) => return Ok(done),
                Attempt::Replaced => control.check()?,
                Attempt::Changed if switches::is_off("edit-attempts") => {}
                Attempt::Changed => changed += 1,
            }
        }
        Err(Error::Changed { name: name.into() })
    }

    /// Finds a file that may be changed, or the place for one if `create` is set.
    pub(super) fn find_to_change(
        &self,
        path: &FilePath,
        options: &ChangeOptions,
        control: &Control,
    ) -> Result<Found> {
        let find = || match options.create {
            true => self.find_place(path, Want::File),
            false => self.folders.find(path, Want::File, Freshness::Now),
        };
        let mut found = find()?;
        if self.has_put_back(&found, path) {
            found = find()?;
        }
        if options.create || found.exists() {
            // No advice to create the folder of what may not be written.
            found.check_not_excluded(path)?;
        }
        let may_create = options.create && (options.create_parents || found.place.missing.is_empty());
        if !found.exists() && !may_create {
            return Err(match options.create {
                true => self.no_parent(&found, path),
                false => self.not_found(&found, path, control),
            });
        }
        match options.expected {
            Some(_) if !found.exists() => Err(other_version(path, options)),
            _ => Ok(found),
        }
    }

    /// Creates the missing directories of `found`, then the file. Removes the directories if that fails.
    fn change_with_parents<'p>(
        &self,
        found: &Found,
        path: &FilePath,
        options: &ChangeOptions,
        control: &Control,
        plan: &mut FilePlan<'_, 'p>,
    ) -> Result<Changed<()>> {
        // A refused plan must not leave directories behind.
        let empty = IndexBuilder::new(BLOCK_SHIFT).finish();
        if let Some(edit) = plan(&empty, b"").map_err(|error| self.of_missing(found, path, error))? {
            self.check_size(&edit, 0, false)?;
        }
        control.check()?;
        if !switches::is_off("parents-after-locks") {
            self.check_locks(&found.place.dir, path.sent())?;
        }
        let parents = Parents::create(&found.place, self.new_folder_mode(), self.options.durability)
            .map_err(|error| Error::write_in_folder(path.sent(), error))?;
        let done = self.change_as_planned(path, options, control, plan);
        if done.is_err() {
            parents.remove();
        }
        done
    }

    /// Checks that the result of an edit of `len` bytes is within the size limit. Returns its size in bytes. With `any_size`,
    /// what it adds is limited.
    pub(super) fn check_size(&self, edit: &EditPlan, len: usize, any_size: bool) -> Result<u64> {
        let size = edit.len_after(len) as u64;
        let max = self.options.max_bytes + if any_size { len as u64 } else { 0 };
        let is_unbounded =
            switches::is_off("edit-size") || any_size && switches::is_off("edit-adds-too-much");
        let too_large = !is_unbounded && size > max && !edit.changes_nothing();
        if too_large { Err(Error::TooLarge { size, max, is_result: true }) } else { Ok(size) }
    }

    fn change_missing<'p>(
        &self,
        found: &Found,
        path: &FilePath,
        options: &ChangeOptions,
        control: &Control,
        plan: &mut FilePlan<'_, 'p>,
    ) -> Result<Attempt> {
        let index = IndexBuilder::new(BLOCK_SHIFT).finish();
        let planned = plan(&index, b"").map_err(|error| self.of_missing(found, path, error))?;
        let Some(edit) = planned else { return Ok(Attempt::Changed) };
        let masked = if switches::is_off("folder-umask") { Mode::empty() } else { self.umask };
        let replaces = Replaces::Nothing(Mode::from_raw_mode(0o666).difference(masked));
        match self.write(found, path, options.content(&edit, None), &replaces, control) {
            Ok(version) => Ok(Attempt::Done(Changed { report: (), created: true, version })),
            Err(Stopped::Failed(ReplaceError::Exists)) if found.exists_in_another_case() => {
                Err(Error::exists(path.sent()))
            }
            Err(Stopped::Failed(ReplaceError::Exists)) if !switches::is_off("edit-exists") => {
                Ok(Attempt::Replaced)
            }
            Err(stopped) if stopped.lost_its_folder() => Ok(Attempt::Changed),
            Err(stopped) => Err(stopped.into_error(path.sent())),
        }
    }

    /// Adds to the plan's error that the file does not exist.
    pub(super) fn of_missing(&self, found: &Found, path: &FilePath, error: Error) -> Error {
        match error {
            Error::LineOutOfRange { line, operation, total, .. } => {
                let similar = self.similar_names(found, path);
                let missing = NotFound { name: path.sent().into(), similar, ..NotFound::default() };
                Error::LineOutOfRange { line, operation, total, missing: Some(Box::new(missing)) }
            }
            error => error,
        }
    }

    fn change_existing<'p>(
        &self,
        found: &Found,
        path: &FilePath,
        options: &ChangeOptions,
        until: Instant,
        control: &Control,
        plan: &mut FilePlan<'_, 'p>,
    ) -> Result<Attempt> {
        let name = path.sent();
        let any_size = !switches::is_off("edit-any-size") && options.any_size;
        let locked = self.lock_file(found, path, any_size, until, control);
        let Some((_lock, file)) = locked.map_err(|error| options.of_whole(path, error))? else {
            return Ok(Attempt::Replaced);
        };
        self.check_version(&file, path, options, control)?;
        let read = match options.any_bytes {
            true => self.any_bytes(file, name)?,
            false => self.whole(file, name, control)?,
        };
        let Some((view, index)) = read else { return Ok(Attempt::Changed) };
        let planned = options.checked(view.bytes(), || plan(&index, view.bytes()));
        // An error, or "nothing changes", is valid only if the bytes that it was read from were valid.
        if planned.as_ref().map_or(true, |plan| plan.as_ref().is_none_or(EditPlan::changes_nothing))
            && !switches::is_off("edit-refusal-true")
            && !unchanged(&view, name)?
        {
            return Ok(Attempt::Changed);
        }
        let Some(edit) = planned? else { return Ok(Attempt::Changed) };
        if edit.changes_nothing() {
            let version = match options.versioned {
                false => None,
                true => match self.version(view.file(), name, control)? {
                    None => return Ok(Attempt::Changed),
                    version => version,
                },
            };
            return Ok(Attempt::Done(Changed { report: (), created: false, version }));
        }
        let content = options.content(&edit, Some(&view));
        let written = self.write(found, path, content, &Replaces::File(view.file()), control);
        match written {
            Ok(version) => {
                // The old file has lost this name, which usually was its only one. Its cache entry would only
                // displace others.
                if !switches::is_off("edit-forgets") {
                    self.cache.forget(view.file().stamp());
                }
                Ok(Attempt::Done(Changed { report: (), created: false, version }))
            }
            Err(stopped) if stopped.lost_its_folder() => Ok(Attempt::Changed),
            // What is in place has changed the old file itself, where that takes more than one rename.
            Err(Stopped::Failed(failed))
                if !matches!(failed, ReplaceError::InPlace(_))
                    && matches!(view.is_unchanged(), Ok(false)) =>
            {
                Err(Error::Changed { name: name.into() })
            }
            Err(stopped) => Err(stopped.into_error(name)),
        }
    }

    /// All bytes of a file that need not be text, with an empty index. `None` if the file is shorter now.
    pub(super) fn any_bytes(
        &self,
        file: Arc<OpenFile>,
        name: &str,
    ) -> Result<Option<(FileView, Arc<LineIndex>)>> {
        let whole = 0..file.len_bytes();
        let view = loaded(file.view(whole), name)?;
        Ok(view.map(|view| (view, Arc::new(IndexBuilder::new(BLOCK_SHIFT).finish()))))
    }
}

/// The error for a missing file that should have a version.
fn other_version(path: &FilePath, options: &ChangeOptions) -> Error {
    match options.expected {
        Some(expected) => Error::OtherVersion { name: path.sent().into(), expected, actual: None },
        None => Error::Changed { name: path.sent().into() },
    }
}

/// The result of one attempt.
enum Attempt {
    Done(Changed<()>),
    /// Another process or request replaced the file: start over with the new file.
    Replaced,
    /// A program that takes no lock wrote to the file while it was read.
    Changed,
}
