//! Makes the filters and line indexes of files ahead of the next search, on one thread of low priority.
//!
//! A search asks for it when it had to read files. The filters tell later searches which bytes cannot match.

use std::ffi::OsStr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::SearchOptions;
use super::believer::Believer;
use super::slots::lowest_priority;
use super::source::{Candidate, Source};
use super::text::{Beginning, Opened, OpenedText};
use crate::cache::CachedText;
use crate::filter_store::Writer;
use crate::workspace::Workspace;
use crate::workspace::read::Cacheable;
use folder::fs::version::FileStamp;
use folder::fs::view::FileView;
use folder::{Belief, Control, FilePath, LiveFolders, Result};
use search::Pattern;
use search::{FileFilter, FilterBuilder};
use sys::ffi::OsStrExt;
use sys::fs::Stat;
use text::encoding::{EncodingChoice, is_utf_8};
use text::lines::LineIndex;

/// The longest time of one warm-up.
const LONGEST: Duration = Duration::from_secs(600);

/// Bytes of a map that are read at a time, while they are in the processor's cache.
const STEP: usize = 64 << 10;

/// From this size on, the index of a file's lines is made as well, in bytes. In smaller files lines are counted quickly.
const WORTH_INDEX: usize = 1 << 20;

/// Larger files than `--max-file` have filters, if these take no more than about a sixth of the memory for filters: their size
/// as a multiple of that memory.
const LARGEST: u64 = 4;

/// Smaller files are read as quickly as a filter is asked. In bytes.
const WORTH_FILTER: usize = 1 << 10;

/// A smaller filter from the disk is not kept in memory: it is taken from the map again as quickly. In bytes.
const WORTH_MEMORY: usize = 64 << 10;

/// How long nothing is warmed up after a warm-up that filled the memory for filters: the next one would push out its result.
const REST: Duration = Duration::from_secs(600);

/// What is to be warmed up: the files that a search looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Warming {
    path: Option<FilePath>,
    skip_ignored: bool,
    skip_hidden: bool,
    what: Wish,
}

/// What is to be done with the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    /// They get filters, and are believed.
    Filters,
    /// Those that have filters are believed.
    Belief,
    /// Those that are believed are looked at again.
    Check,
}

impl Warming {
    pub(super) fn of(options: &SearchOptions) -> Warming {
        let SearchOptions { path, skip_ignored, skip_hidden, .. } = *options;
        Warming { path: path.cloned(), skip_ignored, skip_hidden, what: Wish::Filters }
    }
}

/// What a warm-up would save the next search.
#[derive(Debug, Clone, Copy)]
pub(super) struct Worth {
    /// Reading files, because they have filters then.
    pub(super) filters: bool,
    /// Looking at files that have filters, because they are believed then.
    pub(super) looks: bool,
}

/// What is wanted, and whether a thread is at it.
#[derive(Debug, Default)]
pub(in crate::workspace) struct WarmUp(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    wanted: Option<Warming>,
    is_running: bool,
    /// Until then, there is no room for more.
    is_full_until: Option<Instant>,
}

impl WarmUp {
    /// Asks for a warm-up, if it is worth anything. Only the last wish counts.
    pub(super) fn want(&self, warming: Warming, worth: Worth) {
        let mut state = self.state();
        let has_room = state.is_full_until.is_none_or(|until| until < Instant::now());
        if worth.looks || worth.filters && has_room {
            let what = if has_room { Wish::Filters } else { Wish::Belief };
            state.wanted = Some(Warming { what, ..warming });
        }
    }

    /// Asks for a look at what is known, unless more is wanted.
    fn want_check(&self) {
        let check = Warming { path: None, skip_ignored: true, skip_hidden: true, what: Wish::Check };
        self.state().wanted.get_or_insert(check);
    }

    /// Records that there is no room for more.
    fn set_full(&self) {
        self.state().is_full_until = Some(Instant::now() + REST);
    }

    /// Takes what is wanted, unless a thread is at work.
    fn begin(&self) -> Option<Warming> {
        let mut state = self.state();
        if state.is_running {
            return None;
        }
        let wanted = state.wanted.take()?;
        state.is_running = true;
        Some(wanted)
    }

    /// Takes what was wanted meanwhile. `None` ends the work.
    fn next(&self) -> Option<Warming> {
        let mut state = self.state();
        let wanted = state.wanted.take();
        state.is_running = wanted.is_some();
        wanted
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenedText {
    /// Whether it is worth while to make a filter of the file, and its stamp can be trusted.
    pub(super) fn is_worth_filter(&self) -> bool {
        self.len() >= WORTH_FILTER && self.keep == Cacheable::Yes && !self.is_changing
    }
}

impl Workspace {
    /// The bytes of a file in this state where a match can be. `None`: nothing is known of it.
    pub(super) fn stretches(&self, pattern: &Pattern, stamp: &FileStamp) -> Option<Vec<Range<u64>>> {
        let filter = self.filters.get(stamp).or_else(|| self.stored_filter(stamp))?;
        Some(filter.candidates(pattern.query(), !pattern.is_multiline()))
    }

    /// The filter of a file in this state from the disk. A large one is in memory as well from now on.
    fn stored_filter(&self, stamp: &FileStamp) -> Option<Arc<FileFilter>> {
        let filter = Arc::new(self.filter_store.as_ref()?.get(stamp)?);
        if filter.bytes() >= WORTH_MEMORY {
            self.filters.put(stamp, filter.clone());
        }
        Some(filter)
    }

    /// The index of a file's lines, if it is known.
    pub(super) fn known_index(&self, stamp: &FileStamp) -> Option<Arc<LineIndex>> {
        match self.cache.get(stamp)? {
            CachedText::Text(index) => Some(index),
            CachedText::NotText(_) => None,
        }
    }

    /// Asks for the filters of all files.
    pub fn want_warm_up(&self) {
        let all = Warming { path: None, skip_ignored: true, skip_hidden: true, what: Wish::Filters };
        self.warming.want(all, Worth { filters: true, looks: false });
    }

    /// Has what is known without a look looked at again, if that is due: call it now and then, so that it stays known.
    pub fn keep_known(self: &Arc<Self>) {
        if self.live().is_some_and(LiveFolders::wants_check) {
            self.warming.want_check();
            self.start_warm_up();
        }
    }

    /// Starts what was asked for on a thread, unless one is at work.
    pub fn start_warm_up(self: &Arc<Self>) {
        if !self.filters.is_on() && self.filter_store.is_none() {
            return;
        }
        let Some(first) = self.warming.begin() else { return };
        let workspace = self.clone();
        let work = move || {
            lowest_priority();
            let mut wanted = Some(first);
            while let Some(warming) = wanted {
                // Files that cannot be read now are read by the next search.
                let _ = workspace.warm_up(&warming);
                wanted = workspace.warming.next();
            }
        };
        if thread::Builder::new().name("warm-up".into()).spawn(work).is_err() {
            self.warming.next();
        }
    }

    fn warm_up(&self, warming: &Warming) -> Result<()> {
        let control = Control::new(LONGEST);
        let options = SearchOptions {
            path: warming.path.as_ref(),
            only: None,
            wants: &|_, _, _| true,
            skip_ignored: warming.skip_ignored,
            skip_hidden: warming.skip_hidden,
            encoding: EncodingChoice::default(),
            after: None,
            keep: 0,
        };
        let check = || self.live().map(|live| live.check(|| control.check().is_ok()));
        check();
        if warming.what == Wish::Check {
            return Ok(());
        }
        let mut source = Source::new(self, options, &control)?;
        source.gives_places = true;
        let mut believer = Believer::new(self.live());
        let (mut builder, mut buffer, mut made) = (FilterBuilder::default(), Vec::new(), 0);
        let mut stored = self.filter_store.as_ref().map(|store| {
            store.refresh(&control);
            (store, Writer::new(store, &self.locks, &control))
        });
        let largest = self.options.max_bytes.max(self.options.filter_bytes as u64 * LARGEST);
        while let Some(mut file) = source.next()? {
            // To the state of a file that is believed belongs a filter, as long as there is room for it.
            if let Some(Belief::Stamp(stamp)) = file.belief
                && self.filters.has(&stamp)
                && stored.as_ref().is_none_or(|(store, _)| store.has(&stamp))
            {
                continue;
            }
            let Ok(Some(stat)) = file.stat() else { continue };
            let stamp = FileStamp::of(&stat);
            let known = self.filters.get(&stamp);
            let is_done = stored.as_ref().map_or(known.is_some(), |(store, _)| store.has(&stamp));
            if is_done {
                believer.look(&mut file, stat);
                continue;
            }
            if warming.what != Wish::Filters || !(WORTH_FILTER as u64..=largest).contains(&stamp.len) {
                continue;
            }
            let known = known.map(|filter| (stamp, filter));
            let kept = match known {
                Some(_) => known,
                None => self.warm(&file, stat, &mut builder, &mut buffer, &control)?,
            };
            let Some((stamp, filter)) = kept else { continue };
            made += filter.bytes();
            if stamp == FileStamp::of(&stat) {
                believer.look(&mut file, stat);
            }
            let has_room = stored.as_mut().is_some_and(|(_, writer)| {
                writer.add(&stamp, &self.path_of(&file), &filter);
                !writer.is_full()
            });
            // More would push out what was just made.
            if made > self.options.filter_bytes && !has_room {
                self.warming.set_full();
                break;
            }
        }
        believer.end();
        // It may have come to folders that were not watched.
        check();
        self.tell_known();
        Ok(())
    }

    /// The absolute path of a file.
    fn path_of(&self, file: &Candidate) -> PathBuf {
        let folder = self.folders.roots().get(file.number).map_or(Path::new("/"), |root| root.path());
        folder.join(OsStr::from_bytes(&file.path))
    }

    /// Makes the filter of one file, for the state in which it was read. `None`: that cannot be trusted, or it is no text.
    fn warm(
        &self,
        file: &Candidate,
        stat: Stat,
        builder: &mut FilterBuilder,
        buffer: &mut Vec<u8>,
        control: &Control,
    ) -> Result<Option<(FileStamp, Arc<FileFilter>)>> {
        let (opened, made) = match self.open_for_search(file, stat, buffer, control)? {
            Opened::Copied(opened) => {
                let made = add(builder, &buffer[..opened.len()], control);
                (opened, made)
            }
            Opened::Mapped(opened, view) => {
                let made = add(builder, view.bytes(), control)
                    && self.index_for_search(&opened, &view)
                    && view.unchanged();
                (opened, made)
            }
            Opened::Unreadable | Opened::Gone => return Ok(None),
        };
        let filter = Arc::new(builder.finish(opened.stamp.len));
        if !made || !opened.is_worth_filter() {
            return Ok(None);
        }
        self.filters.put(&opened.stamp, filter.clone());
        Ok(Some((opened.stamp, filter)))
    }

    /// Makes the index of a large file's lines. Returns whether the file is text.
    fn index_for_search(&self, opened: &OpenedText, view: &FileView) -> bool {
        if opened.len() < WORTH_INDEX || self.known_index(&opened.stamp).is_some() {
            return true;
        }
        let Ok(index) = LineIndex::build(view.bytes()) else { return false };
        if opened.keep == Cacheable::Yes && !opened.is_changing && view.unchanged() {
            self.cache.put(&opened.stamp, CachedText::Text(Arc::new(index)));
        }
        true
    }
}

/// Adds a text to a filter. Returns whether it is one, and was read to its end.
fn add(builder: &mut FilterBuilder, bytes: &[u8], control: &Control) -> bool {
    if Beginning::of(bytes) == Beginning::Binary || !is_utf_8(bytes) {
        return false;
    }
    bytes.chunks(STEP).all(|part| {
        builder.push(part);
        control.check().is_ok()
    })
}
