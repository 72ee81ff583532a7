//! Analyses of files: what a program makes of each text of a project, kept by the state of the file.
//!
//! One walk gives the files, several threads read them, as in a search. Knows nothing of what is made of a text.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt::{self, Debug, Formatter};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

pub(in crate::workspace) use self::known::Analyses;
use super::source::{Candidate, Source};
use super::text::Opened;
use super::workers::{COUNTING_LEAVES, SEARCH_LEAVES};
use super::{SearchCounts, SearchOptions};
use crate::workspace::read::Cacheable;
use crate::workspace::{ATTEMPTS, Workspace};
use folder::fs::version::FileStamp;
use folder::{Control, Error, FilePath, LeftOut, Lookups, Result, looks_at_once};
use sys::fs::Stat;
use text::encoding::EncodingChoice;
use text::order;

/// Texts up to this size are analysed without waiting for a processor: it takes longer to wait for one. In bytes.
const SMALL: usize = 16 << 10;

/// Of files from this size on, only one is analysed at a time, because it may need much memory. In bytes.
const LARGE: i64 = 256 << 10;

/// What was made of a text.
pub trait Analysis: Any + Send + Sync {
    /// Bytes on the heap.
    fn heap_bytes(&self) -> usize;

    /// A copy.
    fn copied(&self) -> Arc<dyn Analysis>;

    /// Whether the same text gives the same analysis again, so that it can be kept.
    fn is_certain(&self) -> bool;
}

/// By its name alone: otherwise each type behind it would bring all its texts for programmers into the binary.
impl Debug for dyn Analysis {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        out.write_str("Analysis")
    }
}

/// Makes analyses, on one thread.
pub trait FileAnalyser {
    /// Whether what is known of the file at `path` is what this analyser would make of it.
    fn makes(&self, path: &Path, known: &dyn Analysis) -> bool;

    /// Analyses a text. An error ends the analysis of all files.
    fn analyse(&mut self, path: &Path, text: &[u8], control: &Control) -> Result<Arc<dyn Analysis>>;
}

/// Makes an analyser for each thread.
pub type NewAnalyser<'a> = dyn Fn() -> Box<dyn FileAnalyser + 'a> + Sync + 'a;

/// What is made of files. What is kept of one kind does not displace the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnalysisKind {
    /// Figures and names of contents, which are small.
    Figures,
    /// What files define.
    Outlines,
}

/// Which files are analysed.
#[derive(Clone, Copy)]
pub struct AnalysisOptions<'s> {
    /// What is made of them.
    pub kind: AnalysisKind,
    /// A folder, or one file. `None`: all served folders.
    pub path: Option<&'s FilePath>,
    /// Whether a file is analysed, or a folder entered, as in [`SearchOptions::wants`].
    pub wants: &'s (dyn Fn(&Path, &Path, bool) -> bool + Sync),
    /// Whether what git ignores is left out.
    pub skip_ignored: bool,
    /// Whether names that begin with a dot are left out.
    pub skip_hidden: bool,
    /// The largest file, in bytes.
    pub max_bytes: u64,
}

/// What became of a file.
#[derive(Debug, Clone)]
pub enum FileOutcome {
    /// It was analysed, now or before.
    Analysed(Arc<dyn Analysis>),
    /// It is larger than [`AnalysisOptions::max_bytes`].
    TooLarge,
    /// It cannot be read.
    Unreadable,
    /// Other programs wrote to it all the while.
    Changing,
}

/// A file that was met.
#[derive(Debug, Clone)]
pub struct AnalysedFile {
    /// The number of its served folder, 0-based.
    pub folder: usize,
    /// Its path below the served folder.
    pub path: Vec<u8>,
    /// Bytes of the path of the folder in which the walk began, with its slash.
    pub base: usize,
    /// What became of it.
    pub outcome: FileOutcome,
}

/// The files in the order of the walk, and what was left out.
#[derive(Debug, Default)]
pub struct AnalysedFiles {
    /// See [`AnalysedFile`].
    pub files: Vec<AnalysedFile>,
    /// Entries that are no files, or not wanted.
    pub counts: SearchCounts,
    /// What the walk left out.
    pub left_out: LeftOut,
    /// If the time was up: what was not analysed.
    pub late: Option<Unanalysed>,
}

/// The files that were not analysed because the time was up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unanalysed {
    /// Those that were met.
    pub files: u64,
    /// There may be files that were not met.
    pub has_unseen: bool,
}

impl Workspace {
    /// Analyses files on several threads. What is known of a file in its present state is not made again. When the time is up,
    /// it ends with what it has analysed.
    ///
    /// # Errors
    ///
    /// Those of a search.
    pub fn analyse_files(
        &self,
        options: AnalysisOptions,
        new_analyser: &NewAnalyser,
        control: &Control,
    ) -> Result<AnalysedFiles> {
        let search = SearchOptions {
            path: options.path,
            only: None,
            wants: options.wants,
            skip_ignored: options.skip_ignored,
            skip_hidden: options.skip_hidden,
            encoding: EncodingChoice::Auto,
            after: None,
            keep: 0,
        };
        let source = Source::new(self, search, control)?;
        let work = Work { workspace: self, options, control, files: Mutex::new(Files::new(source)) };
        control.leaving_time(SEARCH_LEAVES, || {
            let lookups = Lookups::default();
            if work.take_known(new_analyser().as_ref(), &lookups) {
                return Ok(());
            }
            let slots = self.search_slots();
            let _slot = match slots.take_search(control) {
                Ok(slot) => slot,
                Err(error) => {
                    work.files().end_with(error);
                    return Ok(());
                }
            };
            let is_slow = work.files().source.looks_are_slow(&lookups);
            let threads = if is_slow { looks_at_once() } else { slots.count() };
            work.run_on_threads(new_analyser, threads)
        })?;
        work.finish()
    }
}

/// The work of one call.
struct Work<'s> {
    workspace: &'s Workspace,
    options: AnalysisOptions<'s>,
    control: &'s Control,
    files: Mutex<Files<'s>>,
}

/// The files ahead, and those that are done.
struct Files<'s> {
    source: Source<'s>,
    /// The number of the next file.
    next: u64,
    /// Files that were taken and left to the threads.
    given_back: VecDeque<(u64, Candidate)>,
    done: Vec<(u64, AnalysedFile)>,
    counts: SearchCounts,
    /// Files that were gone when they were looked at.
    gone: u64,
    is_late: bool,
    error: Option<Error>,
}

impl<'s> Files<'s> {
    fn new(source: Source<'s>) -> Files<'s> {
        Files {
            source,
            next: 0,
            given_back: VecDeque::new(),
            done: Vec::new(),
            counts: SearchCounts::default(),
            gone: 0,
            is_late: false,
            error: None,
        }
    }

    /// Ends the work: after an error, or because the time is up.
    fn end_with(&mut self, error: Error) {
        match error {
            Error::TimedOut => self.is_late = true,
            error => drop(self.error.get_or_insert(error)),
        }
    }

    /// The next file and its number. `None` at the end, and when the work has ended.
    fn take(&mut self) -> Option<(u64, Candidate)> {
        if self.error.is_some() || self.is_late {
            return None;
        }
        if let Some(given_back) = self.given_back.pop_front() {
            return Some(given_back);
        }
        match self.source.next() {
            Ok(file) => {
                let file = file?;
                self.counts.add(&file.passed.0);
                self.next += 1;
                Some((self.next - 1, file))
            }
            Err(error) => {
                self.end_with(error);
                None
            }
        }
    }
}

impl<'s> Work<'s> {
    /// Takes files until one is not known, or until looks at files wait; but so many that this is known. Returns whether none
    /// is left.
    fn take_known(&self, analyser: &dyn FileAnalyser, lookups: &Lookups) -> bool {
        let mut unknown = VecDeque::new();
        loop {
            let Some((number, file)) = self.files().take() else { break };
            let look = || self.known(&file, &file.stat().ok()??, analyser);
            match self.control.check().map(|()| lookups.one(look)) {
                Ok(Some(known)) => self.put(number, file, FileOutcome::Analysed(known)),
                Ok(None) => unknown.push_back((number, file)),
                Err(error) => {
                    let mut files = self.files();
                    files.end_with(error);
                    return true;
                }
            }
            if self.files().source.looks_are_slow(lookups) || lookups.are_known() && !unknown.is_empty() {
                break;
            }
        }
        let is_done = unknown.is_empty() && !self.files().source.looks_are_slow(lookups);
        self.files().given_back = unknown;
        is_done
    }

    /// Analyses files until none is left.
    fn run(&self, analyser: &mut dyn FileAnalyser) {
        let mut buffer = Vec::new();
        loop {
            let Some((number, file)) = self.files().take() else { return };
            match self.control.check().and_then(|()| self.outcome(&file, analyser, &mut buffer)) {
                Ok(None) => self.files().gone += 1,
                Ok(Some(outcome)) => self.put(number, file, outcome),
                Err(error) => self.files().end_with(error),
            }
        }
    }

    fn put(&self, number: u64, file: Candidate, outcome: FileOutcome) {
        let Candidate { number: folder, path, base, .. } = file;
        let mut files = self.files();
        files.done.push((number, AnalysedFile { folder, path, base, outcome }));
        self.control.progress(files.done.len() as u64, None);
    }

    fn run_on_threads(&self, new_analyser: &NewAnalyser, threads: usize) -> Result<()> {
        thread::scope(|scope| {
            let work = || self.run(new_analyser().as_mut());
            let start = || {
                let thread = thread::Builder::new().name("analysis".into());
                thread.spawn_scoped(scope, work).map(drop)
            };
            start().map_err(|source| Error::ListingFailed { source })?;
            // With one thread the work is done, too.
            (1..threads).for_each(|_| drop(start()));
            Ok(())
        })
    }

    /// What is known of a file in the state that `stat` tells.
    fn known(&self, file: &Candidate, stat: &Stat, analyser: &dyn FileAnalyser) -> Option<Arc<dyn Analysis>> {
        let known = self.workspace.analyses.of(self.options.kind).get(&FileStamp::of(stat), Arc::clone)?;
        analyser.makes(Path::new(file.name()), known.as_ref()).then_some(known)
    }

    /// What is known of a file, or what is found when it is read now. `None` if there is no such file any more.
    fn outcome(
        &self,
        file: &Candidate,
        analyser: &mut dyn FileAnalyser,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<FileOutcome>> {
        let stat = match file.stat() {
            Ok(Some(stat)) => stat,
            Ok(None) => return Ok(None),
            Err(_) => return Ok(Some(FileOutcome::Unreadable)),
        };
        if let Some(known) = self.known(file, &stat, analyser) {
            return Ok(Some(FileOutcome::Analysed(known)));
        }
        self.read(file, stat, analyser, buffer)
    }

    /// Reads and analyses a file whose state `stat` tells. `None` if there is no such file any more.
    fn read(
        &self,
        file: &Candidate,
        stat: Stat,
        analyser: &mut dyn FileAnalyser,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<FileOutcome>> {
        let is_large = stat.st_size >= LARGE;
        let slots = self.workspace.search_slots();
        // One that reads a file may wait for another machine; one that analyses needs a processor.
        let _large = if is_large { Some(slots.take_long(self.control)?) } else { None };
        let mut seen = Some(stat);
        for _ in 0..ATTEMPTS {
            self.control.check()?;
            let stat = match seen.take().map_or_else(|| file.stat(), |seen| Ok(Some(seen))) {
                Ok(Some(stat)) => stat,
                Ok(None) => return Ok(None),
                Err(_) => return Ok(Some(FileOutcome::Unreadable)),
            };
            if stat.st_size as u64 > self.options.max_bytes {
                return Ok(Some(FileOutcome::TooLarge));
            }
            let opened = match self.workspace.open_for_search(file, stat, buffer, self.control)? {
                Opened::Gone => return Ok(None),
                Opened::Unreadable => return Ok(Some(FileOutcome::Unreadable)),
                Opened::Copied(opened) => opened,
                Opened::Mapped(opened, view) => {
                    buffer.clear();
                    buffer.extend_from_slice(view.bytes());
                    if !view.unchanged() {
                        continue;
                    }
                    opened
                }
            };
            // It may have grown since its size was looked at.
            if opened.is_changing || opened.len() as u64 > self.options.max_bytes {
                continue;
            }
            let text = &buffer[..opened.len()];
            let needs_slot = !is_large && text.len() > SMALL;
            let _slot = if needs_slot { Some(slots.take(self.control)?) } else { None };
            let made = analyser.analyse(Path::new(file.name()), text, self.control)?;
            if opened.keep == Cacheable::Yes && made.is_certain() {
                self.workspace.analyses.of(self.options.kind).put(&opened.stamp, made.clone());
            }
            return Ok(Some(FileOutcome::Analysed(made)));
        }
        Ok(Some(FileOutcome::Changing))
    }

    fn finish(self) -> Result<AnalysedFiles> {
        let Files { mut source, mut done, mut counts, next, gone, is_late, error, .. } =
            self.files.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = error {
            return Err(error);
        }
        let late = is_late.then(|| {
            let (rest, has_unseen) = self.control.leaving_time(COUNTING_LEAVES, || source.count_rest());
            let files = (next + rest).saturating_sub(done.len() as u64 + gone);
            Unanalysed { files, has_unseen }
        });
        counts.add(&source.counts);
        if done.iter().any(|(_, file)| matches!(file.outcome, FileOutcome::Unreadable)) {
            source.check_answers()?;
        }
        order::sort_by_key(&mut done, |(number, _)| *number);
        let files = done.into_iter().map(|(_, file)| file).collect();
        Ok(AnalysedFiles { files, counts, left_out: source.left_out(), late })
    }

    fn files(&self) -> MutexGuard<'_, Files<'s>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

mod known;
#[cfg(test)]
mod tests;
