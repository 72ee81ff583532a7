//! Brings what the threads found back into the order of the walk, and hands it on.

use super::source::Candidate;
use super::{FoundFile, LastFile, LateFile, Receiver, SearchCounts, Searched};
use folder::LeftOut;
use folder::fs::version::FileStamp;
use text::in_turn::InTurn;

/// How many bytes of results may wait for an earlier one. A thread that is further ahead waits.
const MAX_WAITING: usize = 1 << 20;

/// What one thread found in a few files that follow each other in the walk.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) counts: SearchCounts,
    /// Files that were read because no filter is known for them.
    pub(super) unknown: u64,
    /// Files with filters that were looked at because they are not believed yet.
    pub(super) unbelieved: u64,
    /// What the walk had left out when it gave these files.
    pub(super) left_out: LeftOut,
    pub(super) found: Vec<Found>,
    /// The last of the files: see [`Searched::last`].
    pub(super) last: Option<LastFile>,
    /// See [`Searched::resumed`].
    pub(super) resumed: Option<FileStamp>,
    /// See [`Searched::late_in`].
    pub(super) late_in: Option<LateFile>,
    /// The search had to end before all of the files were searched. Nothing comes behind them.
    pub(super) is_cut: bool,
}

/// A file with hits, and the counts of the batch up to it.
#[derive(Debug)]
pub(super) struct Found {
    file: FoundFile,
    counts: SearchCounts,
    left_out: LeftOut,
}

impl Batch {
    /// Adds what was found in a file.
    pub(super) fn add_found(&mut self, file: Option<FoundFile>) {
        let (counts, left_out) = (self.counts, self.left_out);
        self.found.extend(file.map(|file| Found { file, counts, left_out }));
    }

    /// Counts a file that was searched.
    pub(super) fn count_file(&mut self, file: &Candidate, stamp: &FileStamp) {
        self.counts.files += 1;
        self.counts.bytes += stamp.len;
        if file.is_resumed {
            self.resumed = Some(*stamp);
        }
    }

    fn held(&self) -> usize {
        size_of::<Batch>() + self.found.iter().map(|found| found.file.held()).sum::<usize>()
    }
}

/// See the module.
pub(super) struct Delivery<'r> {
    receiver: &'r mut Receiver<'r>,
    waiting: InTurn<Batch>,
    held: usize,
    wants_more: bool,
    /// Threads that wait until less is held.
    pub(super) waiting_threads: usize,
    /// See [`Batch::unknown`].
    pub(super) unknown: u64,
    /// See [`Batch::unbelieved`].
    pub(super) unbelieved: u64,
    pub(super) done: Searched,
}

impl<'r> Delivery<'r> {
    pub(super) fn new(receiver: &'r mut Receiver<'r>) -> Delivery<'r> {
        let done = Searched {
            counts: SearchCounts::default(),
            left_out: LeftOut::default(),
            stop: None,
            not_searched: 0,
            has_unseen: false,
            last: None,
            late_in: None,
            resumed: None,
            is_resumed_found: false,
        };
        Delivery {
            receiver,
            waiting: InTurn::default(),
            held: 0,
            wants_more: true,
            waiting_threads: 0,
            unknown: 0,
            unbelieved: 0,
            done,
        }
    }

    /// Takes the batch of this number, and hands on all whose turn it is. Returns whether more is wanted.
    pub(super) fn put(&mut self, number: usize, batch: Batch) -> bool {
        self.held += batch.held();
        self.waiting.put(number, batch);
        while self.wants_more
            && let Some(batch) = self.waiting.take()
        {
            self.held -= batch.held();
            self.hand_on(batch);
        }
        self.wants_more
    }

    /// Whether a thread should wait before it takes further files.
    pub(super) fn is_full(&self) -> bool {
        self.wants_more && self.held > MAX_WAITING
    }

    /// Number of files that were handed on or searched without a hit.
    pub(super) fn files(&self) -> u64 {
        self.done.counts.files
    }

    fn hand_on(&mut self, batch: Batch) {
        let Batch { counts, unknown, unbelieved, left_out, found, last, late_in, resumed, is_cut } = batch;
        self.unknown += unknown;
        self.unbelieved += unbelieved;
        self.done.resumed = self.done.resumed.or(resumed);
        for Found { file, counts, left_out } in found {
            let hits = file.matches;
            let mut place =
                LastFile { folder: file.folder, path: file.path[file.base..].to_vec(), rest: None };
            self.done.counts.found += 1;
            self.done.counts.hits += hits;
            self.done.is_resumed_found |= file.is_resumed;
            if !(self.receiver)(file) {
                self.wants_more = false;
                self.count(&counts, left_out);
                let is_same = |last: &LastFile| (last.folder, &last.path) == (place.folder, &place.path);
                place.rest = last.filter(is_same).and_then(|last| last.rest);
                self.done.last = Some(place);
                return;
            }
        }
        self.count(&counts, left_out);
        self.done.last = last.or(self.done.last.take());
        self.wants_more &= !is_cut;
        self.done.late_in = late_in.filter(|_| is_cut);
    }

    fn count(&mut self, counts: &SearchCounts, left_out: LeftOut) {
        self.done.counts.add(counts);
        // Of a batch in which no file was searched, nothing was told.
        self.done.left_out = self.done.left_out.combined(left_out, usize::max);
    }
}

impl SearchCounts {
    /// Adds the counts of other files.
    pub(super) fn add(&mut self, more: &SearchCounts) {
        let SearchCounts {
            handled,
            files,
            bytes,
            found,
            hits,
            not_wanted,
            not_wanted_folders,
            binary,
            too_large_to_copy,
            not_text,
            guessed,
            unsure,
            undecoded,
            replaced,
            as_bytes,
            unreadable,
            links,
            special,
            changing,
        } = more;
        for (sum, more) in [
            (&mut self.handled, handled),
            (&mut self.files, files),
            (&mut self.bytes, bytes),
            (&mut self.found, found),
            (&mut self.hits, hits),
            (&mut self.not_wanted, not_wanted),
            (&mut self.not_wanted_folders, not_wanted_folders),
            (&mut self.binary, binary),
            (&mut self.too_large_to_copy, too_large_to_copy),
            (&mut self.not_text, not_text),
            (&mut self.guessed, guessed),
            (&mut self.unsure, unsure),
            (&mut self.undecoded, undecoded),
            (&mut self.replaced, replaced),
            (&mut self.as_bytes, as_bytes),
            (&mut self.unreadable, unreadable),
            (&mut self.links, links),
            (&mut self.special, special),
            (&mut self.changing, changing),
        ] {
            *sum += more;
        }
    }
}
