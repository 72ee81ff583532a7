//! The threads of one search: they take files from the walk, search them, and put what they found in order.

use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use super::delivery::{Batch, Delivery};
use super::large::{self, LargeText};
use super::slots::Slot;
use super::source::{Candidate, Source};
use super::text::{Beginning, Opened, OpenedText};
use super::{FoundFile, HeldText, Receiver, SearchOptions, SearchStop, Searched};
use crate::engine::fs::view::FileView;
use crate::engine::search::{LineMatcher, line_at, whole_lines};
use crate::engine::workspace::Workspace;
use crate::engine::{Control, Error, FileStamp, Pattern, Result};

/// Files that a thread takes at a time.
const BATCH: usize = 16;

/// From this size on, several threads search one file. In bytes.
const LARGE: i64 = 4 << 20;

/// See the module.
pub(super) struct Workers<'s> {
    workspace: &'s Workspace,
    pattern: &'s Pattern,
    options: SearchOptions<'s>,
    control: &'s Control,
    work: Mutex<Work<'s>>,
    /// There is a large text to help with, or less work than before.
    changed: Condvar,
    delivery: Mutex<Delivery<'s>>,
    /// What waited for an earlier result was handed on.
    delivered: Condvar,
}

struct Work<'s> {
    source: Source<'s>,
    /// The number of the next batch.
    next: u64,
    /// Batches that threads are at.
    running: usize,
    /// Large texts that threads are at.
    large: Vec<Arc<LargeText>>,
    at_end: bool,
    stop: Option<SearchStop>,
    error: Option<Error>,
}

/// What a thread does next.
enum Job {
    Search(Box<Assigned>),
    Help(Arc<LargeText>),
    /// There is nothing more to do.
    End,
    /// A large file comes next, which the calling thread leaves to others.
    Large,
}

/// Files for one thread, and the number of their batch.
struct Assigned {
    number: u64,
    files: Vec<Candidate>,
    batch: Batch,
}

/// The memory of one thread.
struct Scratch<'s> {
    scan: LineMatcher<'s>,
    buffer: Vec<u8>,
    /// The thread is the calling one, which takes no slot: it searches for a moment only.
    alone: bool,
}

impl<'s> Workers<'s> {
    pub(super) fn new(
        workspace: &'s Workspace,
        pattern: &'s Pattern,
        options: SearchOptions<'s>,
        source: Source<'s>,
        receiver: &'s mut Receiver<'s>,
        control: &'s Control,
    ) -> Workers<'s> {
        let work =
            Work { source, next: 0, running: 0, large: Vec::new(), at_end: false, stop: None, error: None };
        Workers {
            workspace,
            pattern,
            options,
            control,
            work: Mutex::new(work),
            changed: Condvar::new(),
            delivery: Mutex::new(Delivery::new(receiver)),
            delivered: Condvar::new(),
        }
    }

    /// Searches on the calling thread until nothing is left, or until the given time. Returns whether nothing is left.
    pub(super) fn run(&self, until: Option<Instant>) -> bool {
        let _at_work = AtWork(self);
        let alone = until.is_some();
        let mut scratch = Scratch { scan: LineMatcher::new(self.pattern), buffer: Vec::new(), alone };
        loop {
            if until.is_some_and(|until| until <= Instant::now()) {
                return false;
            }
            match self.next_job(alone) {
                Job::End => return true,
                Job::Large => return false,
                Job::Help(large) => self.search_parts(&large, &mut scratch),
                Job::Search(assigned) => {
                    let Assigned { number, files, batch } = *assigned;
                    let batch = self.search_batch(files, batch, &mut scratch);
                    self.end_batch(number, batch);
                }
            }
        }
    }

    fn slot(&self, scratch: &Scratch) -> Result<Option<Slot<'_>>> {
        match scratch.alone {
            true => Ok(None),
            false => self.workspace.search_slots.take(self.control).map(Some),
        }
    }

    /// Searches parts of a large text until none is left.
    fn search_parts(&self, large: &LargeText, scratch: &mut Scratch) {
        loop {
            // A match that may span lines is looked for in the whole text, which can take long.
            let slot = if self.pattern.is_multiline() { Ok(None) } else { self.slot(scratch) };
            if slot.is_err() || !large.search_part(&mut scratch.scan, self.control) {
                return;
            }
        }
    }

    fn next_job(&self, alone: bool) -> Job {
        let mut work = self.work();
        loop {
            if work.stop.is_some() || work.error.is_some() {
                return Job::End;
            }
            if let Some(large) = work.large.iter().find(|large| large.has_parts()) {
                return Job::Help(large.clone());
            }
            if !work.at_end {
                match work.take_batch(alone) {
                    Ok(Some(job)) => return job,
                    Ok(None) => work.at_end = true,
                    Err(error) => work.end_with(error),
                }
                continue;
            }
            if work.running == 0 {
                return Job::End;
            }
            // Another thread may come to a large text.
            work = self.changed.wait(work).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Searches the files of a batch. An error ends the search.
    fn search_batch(&self, files: Vec<Candidate>, mut batch: Batch, scratch: &mut Scratch) -> Result<Batch> {
        for file in files {
            self.control.check()?;
            let last = (file.number, file.path_from_start().to_vec());
            self.search_file(file, &mut batch, scratch)?;
            batch.last = Some(last);
        }
        Ok(batch)
    }

    fn search_file(&self, file: Candidate, batch: &mut Batch, scratch: &mut Scratch) -> Result<()> {
        let counts = &mut batch.counts;
        if file.stat.st_size as u64 > self.workspace.options.max_bytes {
            counts.too_large += 1;
            return Ok(());
        }
        let slot = self.slot(scratch)?;
        let stamp = FileStamp::of(&file.stat);
        let known = self.workspace.stretches(self.pattern, &stamp);
        if known.as_ref().is_some_and(Vec::is_empty) {
            counts.files += 1;
            counts.bytes += stamp.len;
            return Ok(());
        }
        let found = match self.workspace.open_for_search(&file, &mut scratch.buffer, self.control)? {
            Opened::Gone => return Ok(()),
            Opened::Unreadable => {
                counts.unreadable += 1;
                return Ok(());
            }
            Opened::Copied(opened) => {
                let known = known.filter(|_| opened.stamp == stamp);
                self.search_copy(file, opened, known, batch, scratch)
            }
            Opened::Mapped(opened, view) => {
                drop(slot);
                let known = known.filter(|_| opened.stamp == stamp);
                self.search_map(file, opened, view, known, batch, scratch)?
            }
        };
        batch.found.extend(found);
        Ok(())
    }

    /// Searches the text in the thread's buffer. `known`: the only bytes of the file where a match can be.
    fn search_copy(
        &self,
        file: Candidate,
        opened: OpenedText,
        known: Option<Vec<Range<u64>>>,
        batch: &mut Batch,
        scratch: &mut Scratch,
    ) -> Option<FoundFile> {
        let (bytes, counts) = (&scratch.buffer[..opened.len()], &mut batch.counts);
        let Beginning::Text(start) = Beginning::of(bytes) else {
            counts.binary += 1;
            return None;
        };
        // A file with a filter was found to be UTF-8.
        if known.is_none() && simdutf8::basic::from_utf8(bytes).is_err() {
            counts.not_text += 1;
            return None;
        }
        let text = &bytes[start..];
        let (mut hits, mut count) = (Vec::new(), 0);
        for stretch in stretches_of(text, known.as_deref(), start, file.start) {
            count += scratch.scan.scan(text, stretch, self.options.keep, &mut hits);
        }
        batch.unknown += u64::from(known.is_none() && opened.is_worth_filter());
        let held = match hits.is_empty() {
            true => HeldText::None,
            false => HeldText::Copy(bytes.to_vec(), start..bytes.len()),
        };
        found_file(file, opened, batch, hits, count, held)
    }

    /// Searches a mapped text together with other threads. `known`: as above.
    fn search_map(
        &self,
        file: Candidate,
        opened: OpenedText,
        view: Arc<FileView>,
        known: Option<Vec<Range<u64>>>,
        batch: &mut Batch,
        scratch: &mut Scratch,
    ) -> Result<Option<FoundFile>> {
        let bytes = view.bytes();
        let Beginning::Text(start) = Beginning::of(bytes) else {
            batch.counts.binary += 1;
            return Ok(None);
        };
        let range = start..bytes.len();
        let stretches = stretches_of(&bytes[start..], known.as_deref(), start, file.start);
        let part = if self.pattern.is_multiline() { usize::MAX } else { large::PART };
        let mut large = LargeText::new(view.clone(), range.clone(), &stretches, self.options.keep, part);
        large.is_known_text = known.is_some();
        let large = Arc::new(large);
        self.work().large.push(large.clone());
        self.changed.notify_all();
        self.search_parts(&large, scratch);
        let (hits, count, is_text) = large.finish();
        self.work().large.retain(|other| !Arc::ptr_eq(other, &large));
        self.control.check()?;
        if !is_text {
            batch.counts.not_text += 1;
            return Ok(None);
        }
        batch.unknown += u64::from(known.is_none() && opened.is_worth_filter());
        let is_changing = opened.is_changing || !view.unchanged();
        let held = if hits.is_empty() { HeldText::None } else { HeldText::Map(view, range) };
        let mut found = found_file(file, OpenedText { is_changing, ..opened }, batch, hits, count, held);
        if let Some(file) = &mut found {
            file.index = self.workspace.known_index(&file.stamp);
        }
        Ok(found)
    }

    /// Puts what was found in order, or ends the search.
    fn end_batch(&self, number: u64, batch: Result<Batch>) {
        match batch {
            Ok(batch) => self.deliver(number, batch),
            Err(error) => self.work().end_with(error),
        }
        let mut work = self.work();
        work.running = work.running.saturating_sub(1);
        drop(work);
        self.changed.notify_all();
        self.delivered.notify_all();
    }

    fn deliver(&self, number: u64, batch: Batch) {
        let mut delivery = self.delivery();
        let wants_more = delivery.put(number, batch);
        self.control.progress(delivery.files(), None);
        self.delivered.notify_all();
        if !wants_more {
            drop(delivery);
            self.work().stop.get_or_insert(SearchStop::Enough);
            return;
        }
        // A batch that comes before what waits is at another thread, which does not wait here.
        while delivery.is_full() && self.work().goes_on() {
            delivery = self.delivered.wait(delivery).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The result, once no thread is at work, and how many files were read because no filter is known for them.
    pub(super) fn finish(self) -> Result<(Searched, u64)> {
        let mut work = self.work.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = work.error {
            return Err(error);
        }
        let Delivery { mut done, unknown, .. } =
            self.delivery.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.stop = work.stop;
        if done.stop.is_none() {
            done.counts.add(&std::mem::take(&mut work.source.counts));
            done.left_out = work.source.left_out();
        }
        Ok((done, unknown))
    }

    fn work(&self) -> MutexGuard<'_, Work<'s>> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn delivery(&self) -> MutexGuard<'_, Delivery<'s>> {
        self.delivery.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread of the search. After a panic, the others do not wait for what it was at.
struct AtWork<'w, 's>(&'w Workers<'s>);

impl Drop for AtWork<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let mut work = self.0.work();
            work.running = 0;
            work.end_with(Error::Cancelled);
            drop(work);
            self.0.changed.notify_all();
            self.0.delivered.notify_all();
        }
    }
}

impl Work<'_> {
    fn goes_on(&self) -> bool {
        self.stop.is_none() && self.error.is_none()
    }

    /// Takes the next files. `None` at the end.
    fn take_batch(&mut self, alone: bool) -> Result<Option<Job>> {
        let mut files = Vec::with_capacity(BATCH);
        while files.len() < BATCH
            && let Some(file) = self.source.next()?
        {
            // The next thread may take what is behind a large file.
            let is_large = file.stat.st_size >= LARGE;
            if is_large && alone {
                self.source.put_back(file);
                break;
            }
            files.push(file);
            if is_large {
                break;
            }
        }
        if files.is_empty() {
            return Ok(self.source.has_more().then_some(Job::Large));
        }
        let counts = std::mem::take(&mut self.source.counts);
        let batch = Batch { counts, left_out: self.source.left_out(), ..Batch::default() };
        let number = self.next;
        self.next += 1;
        self.running += 1;
        Ok(Some(Job::Search(Box::new(Assigned { number, files, batch }))))
    }

    fn end_with(&mut self, error: Error) {
        match error {
            Error::TimedOut => drop(self.stop.get_or_insert(SearchStop::Time)),
            error => drop(self.error.get_or_insert(error)),
        }
    }
}

/// The stretches of `text` to search: whole lines around the known bytes of the file, or all lines. The text begins at the
/// byte `offset` of the file; what lies before the line at `from` is left out.
fn stretches_of(text: &[u8], known: Option<&[Range<u64>]>, offset: usize, from: usize) -> Vec<Range<usize>> {
    let in_text = |byte: u64| usize::try_from(byte).unwrap_or(usize::MAX).saturating_sub(offset);
    match known {
        Some(known) => {
            whole_lines(text, known.iter().map(|range| in_text(range.start)..in_text(range.end)), from)
        }
        None => vec![line_at(text, from)..text.len()],
    }
}

fn found_file(
    file: Candidate,
    opened: OpenedText,
    batch: &mut Batch,
    hits: Vec<crate::engine::search::Hit>,
    count: u64,
    text: HeldText,
) -> Option<FoundFile> {
    let OpenedText { stamp, is_changing, .. } = opened;
    batch.counts.files += 1;
    batch.counts.bytes += stamp.len;
    batch.counts.changing += u64::from(is_changing);
    let Candidate { number: folder, path, base, start, .. } = file;
    (count > 0).then_some(FoundFile {
        folder,
        path,
        base,
        stamp,
        start,
        hits,
        count,
        is_changing,
        text,
        index: None,
    })
}
