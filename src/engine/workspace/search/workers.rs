//! The threads of one search: they take files from the walk, search them, and put what they found in order.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::delivery::{Batch, Delivery};
use super::large::{LargeHits, LargeText};
use super::slots::Slot;
use super::source::{Candidate, Source};
use super::warm::Worth;
use super::work::{Assigned, Job, Work};
use super::{LastFile, Receiver, SearchOptions, SearchStop, Searched};
use crate::workspace::Workspace;
use folder::fs::version::FileStamp;
use folder::{Belief, Control, Error, Lookups, Result, looks_at_once};
use search::LineMatcher;
use search::Pattern;
use text::encoding::{Encoding, EncodingChoice};

/// Shares of the time that a search leaves, to count what it did not search and for the answer; and that the counting leaves.
pub(super) const SEARCH_LEAVES: u32 = 2;
pub(super) const COUNTING_LEAVES: u32 = 1;

/// Files that a thread takes at a time.
const BATCH: usize = 16;

/// How often a thread that waits looks whether the search goes on.
const BETWEEN_CHECKS: Duration = Duration::from_millis(20);

/// From this size on, several threads search one file. In bytes.
const LARGE: i64 = 4 << 20;

/// See the module.
pub(super) struct Workers<'s> {
    pub(super) workspace: &'s Workspace,
    pub(super) pattern: &'s Pattern,
    pub(super) options: SearchOptions<'s>,
    pub(super) control: &'s Control,
    /// Only one file is searched: progress counts its bytes.
    is_single: bool,
    work: Mutex<Work<'s>>,
    /// There is a large text to help with, or less work than before.
    changed: Condvar,
    delivery: Mutex<Delivery<'s>>,
    /// What waited for an earlier result was handed on.
    delivered: Condvar,
    /// Looks at files wait, for a disk or another machine.
    waits: bool,
}

/// The memory of one thread.
pub(super) struct Scratch<'s> {
    pub(super) scan: LineMatcher<'s>,
    pub(super) buffer: Vec<u8>,
    /// The thread is the calling one, which takes no slot: it searches for a moment only.
    alone: bool,
    /// What the calling thread knows of looks at files.
    lookups: Lookups,
}

impl<'s> Scratch<'s> {
    /// Looks at a file.
    fn look<T>(&mut self, look: impl FnOnce(&mut Scratch<'s>) -> T) -> T {
        if !self.alone {
            return look(self);
        }
        let lookups = std::mem::take(&mut self.lookups);
        let found = lookups.one(|| look(self));
        self.lookups = lookups;
        found
    }
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
        let is_single = source.is_single();
        let work = Work {
            source,
            next: 0,
            taken: 0,
            running: 0,
            waiting: 0,
            given_back: None,
            large: Vec::new(),
            at_end: false,
            stop: None,
            error: None,
        };
        Workers {
            workspace,
            pattern,
            options,
            control,
            is_single,
            work: Mutex::new(work),
            changed: Condvar::new(),
            delivery: Mutex::new(Delivery::new(receiver)),
            delivered: Condvar::new(),
            waits: false,
        }
    }

    /// Searches on the calling thread until nothing is left, or for this time. Returns whether nothing is left.
    pub(super) fn run_alone(&mut self, time: Duration) -> bool {
        let (is_done, waits) = self.search(Some(Instant::now() + time));
        self.waits = waits;
        is_done
    }

    /// Searches until nothing is left.
    pub(super) fn run(&self) {
        self.search(None);
    }

    /// How many threads the search is worth: as many as there are processors, or as many looks as may wait at once.
    pub(super) fn threads(&self) -> usize {
        if self.waits { looks_at_once() } else { self.workspace.search_slots().count() }
    }

    /// Searches until nothing is left, or until the given time. Returns whether nothing is left, and whether looks at files
    /// wait, if there is a time.
    fn search(&self, until: Option<Instant>) -> (bool, bool) {
        let _at_work = AtWork(self);
        let (scan, lookups) = (LineMatcher::new(self.pattern, self.control), Lookups::default());
        let mut scratch = Scratch { scan, buffer: Vec::new(), lookups, alone: until.is_some() };
        loop {
            if until.is_some_and(|until| scratch.lookups.are_known() && until <= Instant::now()) {
                return (false, self.work().source.looks_are_slow(&scratch.lookups));
            }
            match self.next_job() {
                Job::End => return (true, false),
                Job::Help(large) => self.search_parts(&large, &mut scratch),
                Job::Search(assigned) => {
                    if let Some(rest) = self.search_batch(*assigned, &mut scratch) {
                        self.work().give_back(rest);
                        return (false, self.work().source.looks_are_slow(&scratch.lookups));
                    }
                }
            }
        }
    }

    /// Searches a large text together with other threads.
    pub(super) fn search_large(&self, large: LargeText, scratch: &mut Scratch) -> LargeHits {
        let large = Arc::new(large);
        let mut work = self.work();
        work.large.push(large.clone());
        self.tell_changed(work);
        self.search_parts(&large, scratch);
        let found = large.finish();
        self.work().large.retain(|other| !Arc::ptr_eq(other, &large));
        found
    }

    /// Ends the search.
    pub(super) fn end_with(&self, error: Error) {
        self.work().end_with(error);
    }

    pub(super) fn slot(&self, scratch: &Scratch) -> Result<Option<Slot<'_>>> {
        let slots = self.workspace.search_slots();
        match scratch.alone {
            true => Ok(None),
            false if self.waits => slots.take_waiting(self.control).map(Some),
            false => slots.take(self.control).map(Some),
        }
    }

    /// Searches parts of a large text until none is left.
    fn search_parts(&self, large: &LargeText, scratch: &mut Scratch) {
        while large.search_part(&mut scratch.scan, self.workspace.search_slots(), self.control) {
            if self.is_single {
                let (done, total) = large.done();
                self.control.file_progress(done, total);
            }
        }
    }

    /// Files that a thread takes at a time. One where looks wait, because then more threads are to end at the same time; and one
    /// if the text of files with hits is kept, because what was found leaves when its batch is done.
    fn batch(&self) -> usize {
        if self.waits || self.options.keep > 0 { 1 } else { BATCH }
    }

    fn next_job(&self) -> Job {
        let mut work = self.work();
        loop {
            if !work.goes_on() {
                return Job::End;
            }
            if let Some(large) = work.large.iter().find(|large| large.has_parts()) {
                return Job::Help(large.clone());
            }
            if !work.at_end {
                match work.take_batch(self.batch()) {
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
            work.waiting += 1;
            work = self.changed.wait(work).unwrap_or_else(PoisonError::into_inner);
            work.waiting -= 1;
        }
    }

    /// Searches the files of a batch. An error ends the search. Returns the batch if the thread is the calling one and the rest is
    /// for several: a large file comes next, or looks wait.
    fn search_batch(&self, mut assigned: Assigned, scratch: &mut Scratch) -> Option<Assigned> {
        while let Some(file) = assigned.files.pop_front() {
            if scratch.alone && self.work().source.looks_are_slow(&scratch.lookups) {
                assigned.files.push_front(file);
                return Some(assigned);
            }
            let known = self.excluded(&file);
            let stat = if known.is_some() { Ok(None) } else { scratch.look(|_| file.stat()) };
            if scratch.alone && matches!(stat, Ok(Some(stat)) if stat.st_size >= LARGE) {
                assigned.files.push_front(file);
                return Some(assigned);
            }
            let batch = &mut assigned.batch;
            let place = LastFile { folder: file.number, path: file.path_from_start().to_vec(), rest: None };
            let before = (batch.counts, batch.left_out);
            batch.counts.add(&file.passed.0);
            batch.counts.handled += 1;
            batch.left_out = file.passed.1;
            let searched = self.control.check().and_then(|()| match (known, stat) {
                (Some(stamp), _) => {
                    batch.count_file(&file, &stamp);
                    Ok(())
                }
                (None, Ok(Some(stat))) => {
                    scratch.look(|scratch| self.search_file(file, stat, batch, scratch))
                }
                (None, Ok(None)) => Ok(()),
                (None, Err(_)) => {
                    batch.counts.unreadable += 1;
                    Ok(())
                }
            });
            match searched {
                Ok(()) => (batch.last, batch.late_in) = (Some(place), None),
                Err(error) => {
                    // The next call comes to this file again, unless it goes on in it.
                    if batch.last.as_ref().is_none_or(|last| last.rest.is_none()) {
                        (batch.counts, batch.left_out) = before;
                    }
                    self.end_early(assigned, error);
                    return None;
                }
            }
        }
        self.end_batch(assigned.number, assigned.batch);
        None
    }

    /// The stamp of a file that is believed and cannot match: it need not be looked at.
    fn excluded(&self, file: &Candidate) -> Option<FileStamp> {
        let Some(Belief::Stamp(stamp)) = file.belief else { return None };
        let is_known = self.asks_filters()
            && self.workspace.stretches(self.pattern, &stamp).is_some_and(|stretches| stretches.is_empty());
        is_known.then_some(stamp)
    }

    /// Whether what is known of UTF-8 counts: a file with a filter is such.
    pub(super) fn asks_filters(&self) -> bool {
        matches!(self.options.encoding, EncodingChoice::Is(Encoding::Utf8) | EncodingChoice::Auto)
    }

    /// Ends the search in the middle of a batch. What was found before in the batch counts.
    fn end_early(&self, assigned: Assigned, error: Error) {
        let is_late = matches!(error, Error::TimedOut);
        self.work().end_with(error);
        let batch = Batch { is_cut: true, ..assigned.batch };
        self.end_batch(assigned.number, if is_late { batch } else { Batch::default() });
    }

    /// Puts what was found in order.
    fn end_batch(&self, number: usize, batch: Batch) {
        self.deliver(number, batch);
        let mut work = self.work();
        work.running = work.running.saturating_sub(1);
        self.tell_changed(work);
    }

    /// Wakes the threads that wait for a change.
    fn tell_changed(&self, work: MutexGuard<'_, Work<'s>>) {
        let is_waited_for = work.waiting > 0;
        drop(work);
        if is_waited_for {
            self.changed.notify_all();
        }
    }

    fn deliver(&self, number: usize, batch: Batch) {
        let mut delivery = self.delivery();
        let wants_more = delivery.put(number, batch);
        if !self.is_single {
            self.control.progress(delivery.files(), None);
        }
        if delivery.waiting_threads > 0 {
            self.delivered.notify_all();
        }
        if !wants_more {
            drop(delivery);
            // The receiver may have ended because the time was up.
            let stop = self.control.check().map_or(SearchStop::Time, |()| SearchStop::Enough);
            self.work().stop.get_or_insert(stop);
            return;
        }
        // A batch that comes before what waits is at another thread, which does not wait here.
        while delivery.is_full() && self.work().goes_on() {
            delivery.waiting_threads += 1;
            let waited = self.delivered.wait_timeout(delivery, BETWEEN_CHECKS);
            delivery = waited.unwrap_or_else(PoisonError::into_inner).0;
            delivery.waiting_threads -= 1;
        }
    }

    /// The result, once no thread is at work, and what a warm-up would save the next search.
    pub(super) fn finish(self) -> Result<(Searched, Worth)> {
        let mut work = self.work.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = work.error {
            return Err(error);
        }
        let Delivery { mut done, unknown, unbelieved, .. } =
            self.delivery.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.stop = work.stop;
        if done.stop.is_none() {
            done.counts.add(&work.source.counts);
            done.left_out = work.source.left_out();
        }
        if done.stop == Some(SearchStop::Time) {
            let (rest, has_unseen) = self.control.leaving_time(COUNTING_LEAVES, || work.source.count_rest());
            done.has_unseen = has_unseen;
            if !switches::is_off("search-not-searched") {
                done.not_searched = (work.taken + rest).saturating_sub(done.counts.handled);
            }
        }
        if done.counts.unreadable > 0 {
            work.source.check_answers()?;
        }
        Ok((done, Worth { filters: unknown > 0, looks: unbelieved > 0 }))
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
