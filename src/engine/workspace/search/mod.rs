//! The search for a pattern in the files of the served folders (contract 14).
//!
//! One walk gives the files; several threads search them; what is found comes in the order of the walk. A short search runs
//! on the calling thread alone. Knows no texts for clients.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

pub(super) use self::analysis::Analyses;
pub use self::analysis::{
    AnalysedFile, AnalysedFiles, Analysis, AnalysisKind, AnalysisOptions, FileAnalyser, FileOutcome,
    NewAnalyser, Unanalysed,
};
pub(super) use self::slots::SearchSlots;
use self::source::Source;
pub(super) use self::warm::WarmUp;
use self::warm::Warming;
use self::workers::Workers;
use super::Workspace;
use ::text::encoding::{EncodingChoice, TextEncoding};
use ::text::lines::LineIndex;
use folder::fs::version::FileStamp;
use folder::fs::view::FileView;
use folder::{Control, FilePath, LeftOut, LiveFolders, Result};
use search::Hit;
use search::Pattern;

mod analysis;
mod believer;
mod best_reading;
mod delivery;
mod large;
mod one_file;
mod slots;
mod source;
mod text;
mod warm;
mod work;
mod workers;

/// How long the calling thread searches before further threads start. Most searches in few files are over by then.
const ALONE: Duration = Duration::from_millis(2);

/// What a search looks at and how much it keeps.
#[derive(Clone, Copy)]
pub struct SearchOptions<'s> {
    /// The folder or file to search. `None`: all served folders.
    pub path: Option<&'s FilePath>,
    /// Only this file, by its path below its served folder, as an earlier search gave it.
    pub only: Option<SearchPlace<'s>>,
    /// Whether a file is searched, or a folder entered, by its path below the served folder and below the first folder
    /// of the walk.
    pub wants: &'s (dyn Fn(&Path, &Path, bool) -> bool + Sync),
    /// Whether files that git ignores are left out.
    pub skip_ignored: bool,
    /// Whether names that begin with a dot are left out.
    pub skip_hidden: bool,
    /// What the files are decoded from. Files with a mark of UTF-16 always are.
    pub encoding: EncodingChoice,
    /// Files up to this one were searched before.
    pub after: Option<SearchPlace<'s>>,
    /// How many hits of one file are kept; all are counted.
    pub keep: usize,
}

/// A file among those of a search.
#[derive(Debug, Clone, Copy)]
pub struct SearchPlace<'s> {
    /// The number of its served folder, 0-based.
    pub folder: usize,
    /// Its path below the first folder of the walk.
    pub path: &'s [u8],
    /// Where its first line begins that is still to be searched, in its text. `None`: all of it was.
    pub byte: Option<usize>,
}

/// A file with hits.
#[derive(Debug)]
pub struct FoundFile {
    /// The number of its served folder, 0-based.
    pub folder: usize,
    /// Its path below the served folder.
    pub path: Vec<u8>,
    /// Bytes of the path of the folder in which the walk began, with its slash.
    pub base: usize,
    /// Its state.
    pub stamp: FileStamp,
    /// Where the search began in its text.
    pub start: usize,
    /// An earlier search ended in it.
    pub is_resumed: bool,
    /// Where the search ended in its text: before the end if the time was up.
    pub end: usize,
    /// The first hits, in order; bytes of [`FoundFile::text`].
    pub hits: Vec<Hit>,
    /// Number of hits.
    pub count: u64,
    /// Number of their matches.
    pub matches: u64,
    /// Other programs wrote to it all the while: its lines may be of different moments.
    pub is_changing: bool,
    /// How its bytes were read.
    pub read_as: TextEncoding,
    text: HeldText,
    /// The index of its lines, if it is large and known.
    index: Option<Arc<LineIndex>>,
}

/// The bytes of a file with hits.
#[derive(Debug)]
enum HeldText {
    /// A copy.
    Copy(Vec<u8>, Range<usize>),
    /// A map of a large file.
    Map(Arc<FileView>, Range<usize>),
    /// Nothing, because no hits are kept.
    None,
}

impl FoundFile {
    /// The text, without a byte order mark. It may change while it is read if the file is large.
    pub fn text(&self) -> &[u8] {
        match &self.text {
            HeldText::Copy(bytes, range) => &bytes[range.clone()],
            HeldText::Map(view, range) => &view.bytes()[range.clone()],
            HeldText::None => &[],
        }
    }

    /// The number of the line at the byte `at` of the text, 0-based, if that need not be counted.
    pub fn line_at(&self, at: usize) -> Option<u64> {
        let (index, HeldText::Map(view, range)) = (self.index.as_ref()?, &self.text) else { return None };
        (index.len_bytes() == view.bytes().len())
            .then(|| index.line_at(range.start + at, view.bytes()) as u64)
    }

    /// Whether all bytes read so far are those of its state.
    pub fn unchanged(&self) -> bool {
        match &self.text {
            HeldText::Copy(..) | HeldText::None => true,
            HeldText::Map(view, _) => view.unchanged(),
        }
    }

    /// Bytes of memory that it holds.
    fn held(&self) -> usize {
        let text = match &self.text {
            HeldText::Copy(bytes, _) => bytes.capacity(),
            HeldText::Map(..) | HeldText::None => 0,
        };
        text + self.hits.capacity() * size_of::<Hit>() + self.path.capacity() + size_of::<FoundFile>()
    }
}

/// How many files a search looked at, and why it left others out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SearchCounts {
    /// Files that were taken from the walk: searched, or left out for what they are.
    pub(super) handled: u64,
    /// Files that were searched.
    pub files: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Files with hits, and hits, as far as they were delivered.
    pub found: u64,
    /// See `found`.
    pub hits: u64,
    /// Files that the globs and types of the call leave out.
    pub not_wanted: u64,
    /// The same for folders: what is in them was not met.
    pub not_wanted_folders: u64,
    /// Files with NUL in their first 64 KiB.
    pub binary: u64,
    /// Files that would have to be copied to be searched, and are too large for that.
    pub too_large_to_copy: u64,
    /// Files that are not text in the encoding that was given.
    pub not_text: u64,
    /// Files that are not UTF-8, although no other encoding was given: they were searched as what they likely are.
    pub guessed: u64,
    /// Those of them without a hit for a pattern that can match more than ASCII, if their encoding may be another one than the likely.
    pub unsure: u64,
    /// The same for files with characters of sets of ISO-2022 that are not decoded.
    pub undecoded: u64,
    /// Files with bytes that are no character of the encoding that was given, which were searched as U+FFFD.
    pub replaced: u64,
    /// The same as [`SearchCounts::guessed`] of files too large to copy: they were searched as UTF-8, with bytes that are no character.
    pub as_bytes: u64,
    /// Files that cannot be read.
    pub unreadable: u64,
    /// Links, which are not followed.
    pub links: u64,
    /// FIFOs, sockets and devices.
    pub special: u64,
    /// Files that other programs wrote to all the while; they are searched, too.
    pub changing: u64,
}

/// Why a search ended before its last file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchStop {
    /// Its receiver wanted no more.
    Enough,
    /// Its time was up.
    Time,
}

/// What a search did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Searched {
    /// The files.
    pub counts: SearchCounts,
    /// What the walk left out.
    pub left_out: LeftOut,
    /// Why it ended early, if it did.
    pub stop: Option<SearchStop>,
    /// If the time was up: the files that were met and not searched.
    pub not_searched: u64,
    /// If the time was up: whether there may be files that were not met.
    pub has_unseen: bool,
    /// The last file that was searched, with all before it. `None`: none was.
    pub last: Option<LastFile>,
    /// If the time was up: the file behind `last` in which it was, if one had been begun.
    pub late_in: Option<LateFile>,
    /// The state of the file in which [`SearchOptions::after`] lies, if it was searched.
    pub resumed: Option<FileStamp>,
    /// Whether the rest of that file has hits.
    pub is_resumed_found: bool,
}

/// The last file of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastFile {
    /// The number of its served folder, 0-based.
    pub folder: usize,
    /// Its path below the first folder of the walk.
    pub path: Vec<u8>,
    /// Where its first line begins that was not searched, if there is one, and its state.
    pub rest: Option<(usize, FileStamp)>,
}

/// A file that was being searched when the time was up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateFile {
    /// The number of its served folder, 0-based.
    pub folder: usize,
    /// Its path below the served folder.
    pub path: Vec<u8>,
    /// Bytes of the path of the folder in which the walk began, with its slash.
    pub base: usize,
}

impl LateFile {
    /// Its path below the first folder of the walk.
    pub fn path_from_start(&self) -> &[u8] {
        self.path.get(self.base..).unwrap_or_default()
    }
}

/// Takes the files with hits, in the order of the walk. Returns whether it wants more.
pub type Receiver<'r> = dyn FnMut(FoundFile) -> bool + Send + 'r;

impl Workspace {
    /// Searches files for `pattern`. When the time is up, it ends with what it has found.
    pub fn search(
        &self,
        pattern: &Pattern,
        options: SearchOptions,
        receiver: &mut Receiver,
        control: &Control,
    ) -> Result<Searched> {
        if let Some(store) = &self.filter_store {
            store.refresh(control);
        }
        // The last file may be found when the search has no time left.
        let mut receiver = |file: FoundFile| control.taking_share(|| receiver(file));
        let workers = control.leaving_time(workers::SEARCH_LEAVES, || -> Result<Workers<'_>> {
            let source = Source::new(self, options, control)?;
            let mut workers = Workers::new(self, pattern, options, source, &mut receiver, control);
            if !workers.run_alone(ALONE) {
                match self.search_slots().take_search(control) {
                    Ok(_slot) => self.search_on_threads(&workers),
                    Err(error) => workers.end_with(error),
                }
            }
            Ok(workers)
        })?;
        let (searched, mut worth) = workers.finish()?;
        // The next search in this folder need not read or look at what cannot match.
        worth.looks |= self.live().is_some_and(LiveFolders::wants_check);
        self.warming.want(Warming::of(&options), worth);
        Ok(searched)
    }

    /// The slots for the threads of all searches.
    fn search_slots(&self) -> &SearchSlots {
        self.search_slots.get_or_init(SearchSlots::default)
    }

    /// Goes on with a search on several threads, in favour of other calls.
    fn search_on_threads(&self, workers: &Workers) {
        let started = thread::scope(|scope| {
            let work = || {
                slots::lower_priority();
                workers.run();
            };
            let start = |_| thread::Builder::new().name("search".into()).spawn_scoped(scope, work).is_ok();
            (0..workers.threads()).map(start).filter(|started| *started).count()
        });
        // Without a thread to be had, the calling one goes on.
        if started == 0 {
            workers.run();
        }
    }
}
