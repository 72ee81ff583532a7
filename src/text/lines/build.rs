//! Checks that bytes are text, and indexes them: in one pass, long ones in parts on several threads.
//!
//! The result does not depend on the number of threads. The bytes may be those of a mapped file that another
//! program truncates: a fault is handled on any thread.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::builder::shift_for;
use super::{BLOCK_SHIFT, IndexBuilder, LineIndex, NotText, char_boundary};
use crate::in_turn::InTurn;

/// Bytes scanned at once: they stay in the second-level cache for all three scans.
pub(super) const CHUNK: usize = 64 * 1024;

/// Bytes that a thread takes at once. A multiple of all block sizes for texts below 16 TiB.
const PART: usize = 16 << 20;

/// Gets the number of bytes read so far, now and then. The build stops if it returns false.
pub type Watch<'w> = &'w (dyn Fn(usize) -> bool + Sync);

/// Why a scan ended early.
enum Stop {
    Nul,
    /// The bytes from here on are not valid UTF-8.
    Invalid(usize),
    /// The caller does not want the result any more.
    CalledOff,
}

impl LineIndex {
    /// Texts from this length on, in bytes, are worth more than one thread.
    pub const WORTH_THREADS: usize = PART;

    /// Checks that `bytes` are text (valid UTF-8 without NUL) and indexes them, in one pass.
    pub fn build(bytes: &[u8]) -> Result<LineIndex, NotText> {
        LineIndex::build_with(bytes, BLOCK_SHIFT)
    }

    /// Like [`LineIndex::build`], with blocks of `1 << shift` bytes, so that tests can use small ones.
    pub fn build_with(bytes: &[u8], shift: u32) -> Result<LineIndex, NotText> {
        let builder = IndexBuilder::of_part(shift, None, bytes.len());
        // It is called off only by its watch.
        build_alone(bytes, builder, &|_| true).unwrap_or(Err(NotText::InvalidUtf8))
    }

    /// Like [`LineIndex::build`], on `threads` threads if the text is long. `None` if `watch` has stopped it.
    pub fn build_watched(bytes: &[u8], threads: usize, watch: Watch) -> Option<Result<LineIndex, NotText>> {
        let shift = shift_for(bytes.len());
        if threads < 2 || bytes.len() < LineIndex::WORTH_THREADS || !PART.is_multiple_of(1 << shift) {
            let done = AtomicUsize::new(0);
            return build_alone(bytes, IndexBuilder::of_len(bytes.len()), &|len| {
                watch(done.fetch_add(len, Ordering::Relaxed) + len)
            });
        }
        LineIndex::build_in_parts(bytes, shift, PART, threads, watch)
    }

    /// The same, in parts of `part` bytes, which must be whole blocks of `1 << shift` bytes.
    #[doc(hidden)]
    pub fn build_in_parts(
        bytes: &[u8],
        shift: u32,
        part: usize,
        threads: usize,
        watch: Watch,
    ) -> Option<Result<LineIndex, NotText>> {
        let build = Build {
            bytes,
            shift,
            part,
            watch,
            next: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            is_invalid: AtomicBool::new(false),
            has_nul: AtomicBool::new(false),
            is_called_off: AtomicBool::new(false),
            parts: Mutex::new(Parts {
                index: IndexBuilder::of_part(shift, None, bytes.len()),
                ready: InTurn::default(),
            }),
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                // If the system refuses a thread, the others do its work.
                let _ = thread::Builder::new().spawn_scoped(scope, || build.work());
            }
            build.work();
        });
        build.result()
    }
}

fn build_alone(
    bytes: &[u8],
    mut builder: IndexBuilder,
    go_on: &dyn Fn(usize) -> bool,
) -> Option<Result<LineIndex, NotText>> {
    match add_text(&mut builder, bytes, 0..bytes.len(), go_on) {
        Ok(()) => Some(Ok(builder.finish())),
        Err(Stop::Nul) => Some(Err(NotText::Nul)),
        Err(Stop::Invalid(at)) => match find_nul(bytes, at..bytes.len(), go_on) {
            Ok(()) => Some(Err(NotText::InvalidUtf8)),
            Err(Stop::CalledOff) => None,
            Err(_) => Some(Err(NotText::Nul)),
        },
        Err(Stop::CalledOff) => None,
    }
}

/// Adds the part `range` of `bytes` to its index. Checks whole characters: those that begin in the part.
fn add_text(
    builder: &mut IndexBuilder,
    bytes: &[u8],
    range: Range<usize>,
    go_on: &dyn Fn(usize) -> bool,
) -> Result<(), Stop> {
    let checked = whole_chars(bytes, &range);
    let mut at = checked.start;
    while at < checked.end {
        let chunk = &bytes[at..checked.end];
        let chunk = &chunk[..char_boundary(chunk, CHUNK)];
        if memchr::memchr(0, chunk).is_some() {
            return Err(Stop::Nul);
        }
        if simdutf8::basic::from_utf8(chunk).is_err() {
            return Err(Stop::Invalid(at));
        }
        // The first bytes may belong to a character that began in the part before.
        let before = range.start.saturating_sub(at).min(chunk.len());
        builder.push(&chunk[before..]);
        at += chunk.len();
        if !go_on(chunk.len()) {
            return Err(Stop::CalledOff);
        }
    }
    builder.push(&bytes[at.max(range.start)..range.end]);
    Ok(())
}

/// Ends with [`Stop::Nul`] if there is a NUL in the part `range` of `bytes`.
fn find_nul(bytes: &[u8], range: Range<usize>, go_on: &dyn Fn(usize) -> bool) -> Result<(), Stop> {
    for chunk in bytes[range].chunks(CHUNK) {
        if memchr::memchr(0, chunk).is_some() {
            return Err(Stop::Nul);
        }
        if !go_on(chunk.len()) {
            return Err(Stop::CalledOff);
        }
    }
    Ok(())
}

/// The bytes of all characters that begin in `range`, if the bytes are valid: up to three bytes more at the start,
/// and less at the end. Those of adjacent parts are adjacent, so all bytes are valid if those of each part are.
fn whole_chars(bytes: &[u8], range: &Range<usize>) -> Range<usize> {
    let boundary = |at: usize| {
        if switches::is_off("index-characters") {
            return at;
        }
        let starts = |back: &usize| bytes.get(at - back).is_none_or(|byte| byte & 0xC0 != 0x80);
        at - (0..=at.min(3)).find(starts).unwrap_or(0)
    };
    boundary(range.start)..boundary(range.end)
}

/// A build that threads share.
struct Build<'b> {
    bytes: &'b [u8],
    shift: u32,
    /// Bytes of a part.
    part: usize,
    watch: Watch<'b>,
    /// The next part to take.
    next: AtomicUsize,
    /// Bytes read.
    done: AtomicUsize,
    is_invalid: AtomicBool,
    has_nul: AtomicBool,
    is_called_off: AtomicBool,
    parts: Mutex<Parts>,
}

/// The parts that are ready.
struct Parts {
    index: IndexBuilder,
    /// Parts that are ready; those that were given are in `index`.
    ready: InTurn<IndexBuilder>,
}

impl Build<'_> {
    /// Takes parts until there are no more, or until the result is known.
    fn work(&self) {
        while !self.is_decided() {
            let nth = self.next.fetch_add(1, Ordering::Relaxed);
            let start = nth.saturating_mul(self.part);
            if start >= self.bytes.len() {
                return;
            }
            match self.read(start..self.bytes.len().min(start + self.part)) {
                Ok(Some(part)) => self.put(nth, part),
                Ok(None) => {}
                Err(Stop::Nul) => self.has_nul.store(true, Ordering::Release),
                Err(_) => self.is_called_off.store(true, Ordering::Release),
            }
        }
    }

    fn is_decided(&self) -> bool {
        self.has_nul.load(Ordering::Acquire) || self.is_called_off.load(Ordering::Acquire)
    }

    /// The index of one part. `None` if the text is invalid; then the part is only searched for a NUL.
    fn read(&self, range: Range<usize>) -> Result<Option<IndexBuilder>, Stop> {
        let go_on = |len: usize| {
            let done = self.done.fetch_add(len, Ordering::Relaxed) + len;
            !self.has_nul.load(Ordering::Acquire) && (self.watch)(done)
        };
        if self.is_invalid.load(Ordering::Acquire) {
            let start = whole_chars(self.bytes, &range).start;
            return find_nul(self.bytes, start..range.end, &go_on).map(|()| None);
        }
        let before = range.start.checked_sub(1).map(|at| self.bytes[at]);
        let mut builder = IndexBuilder::of_part(self.shift, before, range.len());
        match add_text(&mut builder, self.bytes, range.clone(), &go_on) {
            Err(Stop::Invalid(at)) => {
                self.is_invalid.store(true, Ordering::Release);
                find_nul(self.bytes, at..range.end, &go_on).map(|()| None)
            }
            added => added.map(|()| Some(builder)),
        }
    }

    /// Appends a part, and those behind it that are ready.
    fn put(&self, nth: usize, part: IndexBuilder) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let Parts { index, ready } = &mut *parts;
        ready.put(nth, part);
        while let Some(part) = ready.take() {
            index.append(&part, self.bytes[(ready.given() - 1) * self.part]);
        }
    }

    fn result(self) -> Option<Result<LineIndex, NotText>> {
        if self.has_nul.into_inner() {
            return Some(Err(NotText::Nul));
        }
        if self.is_called_off.into_inner() {
            return None;
        }
        if self.is_invalid.into_inner() {
            return Some(Err(NotText::InvalidUtf8));
        }
        Some(Ok(self.parts.into_inner().unwrap_or_else(PoisonError::into_inner).index.finish()))
    }
}
