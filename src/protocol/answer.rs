//! One answer: bytes that are ready, and excerpts of files that are escaped, or encoded, only when they are pulled.
//!
//! If a file changes while its excerpt is sent, the answer ends with an error or is cut: an incomplete answer
//! never looks complete (contract 8). Knows nothing of the content; no I/O.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use super::encoder::{Encoder, Encoding};
use super::report::Report;
use engine::Excerpt;
use text::escape::{Breaks, Escaper, MIN_BLOCK};

/// Size of one block of an answer, in bytes.
pub const BLOCK: usize = 64 * 1024;

/// What follows an excerpt if the file has changed.
#[derive(Debug)]
pub enum OnMismatch {
    /// This end of the excerpt's item, and what the observer says of it: made only then, because it is rare.
    Say(Cow<'static, str>),
    /// Nothing: the stream must be cut.
    Cut,
}

/// Is notified if a file changes while its excerpt is pulled.
pub trait StreamObserver: Send + Sync {
    /// The file has changed: the bytes that were pulled are not its content. Returns what tells the client so, behind the
    /// item, up to the end of the message.
    fn content_changed(&self) -> Vec<u8>;
}

/// By its name alone: otherwise each type behind it would bring all its texts for programmers into the binary.
impl Debug for dyn StreamObserver {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        out.write_str("StreamObserver")
    }
}

/// An excerpt inside a JSON string, and the bytes that follow it.
#[derive(Debug)]
struct Streamed {
    excerpt: Excerpt,
    sent: usize,
    encoder: Encoder,
    then: Vec<u8>,
    otherwise: OnMismatch,
    observer: Arc<dyn StreamObserver>,
}

#[derive(Debug)]
enum Part {
    Ready {
        bytes: Vec<u8>,
        sent: usize,
    },
    Streamed(Box<Streamed>),
    /// A text of the server inside a JSON string.
    Text {
        text: String,
        sent: usize,
        escaper: Escaper,
    },
    /// The rest of an array. Each answer is taken when the answers before it have been pulled.
    Array {
        rest: RemainingAnswers,
        first: bool,
    },
}

/// Answers that are not taken yet.
struct RemainingAnswers(Box<dyn Iterator<Item = Answer> + Send>);

impl std::fmt::Debug for RemainingAnswers {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str("RemainingAnswers(..)")
    }
}

/// The state of an answer after a pull.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pulled {
    /// There is more.
    More,
    /// The answer is complete.
    Done,
    /// The bytes sent so far are wrong, and the answer cannot say so: the stream must be cut.
    Cut,
}

/// See the module.
#[derive(Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// The entry for the log, if any.
    pub report: Option<Box<Report>>,
    /// The id of the session that it opens.
    pub session: Option<String>,
    parts: VecDeque<Part>,
}

impl Answer {
    /// An answer that is ready.
    pub fn ready(status: u16, bytes: Vec<u8>) -> Answer {
        Answer {
            status,
            report: None,
            session: None,
            parts: VecDeque::from([Part::Ready { bytes, sent: 0 }]),
        }
    }

    /// The same answer with a report for the log.
    pub(super) fn reported(self, report: Report) -> Answer {
        Answer { report: Some(Box::new(report)), ..self }
    }

    /// `head`, the excerpt inside a JSON string, and `then`. If the file has changed, `observer` is notified,
    /// and `otherwise` says what replaces `then`.
    pub fn streamed(
        head: Vec<u8>,
        excerpt: Excerpt,
        encoding: Encoding,
        then: Vec<u8>,
        otherwise: OnMismatch,
        observer: Arc<dyn StreamObserver>,
    ) -> Answer {
        let encoder = Encoder::new(encoding, excerpt.encoding());
        let streamed = Streamed { excerpt, sent: 0, encoder, then, otherwise, observer };
        let parts =
            VecDeque::from([Part::Ready { bytes: head, sent: 0 }, Part::Streamed(Box::new(streamed))]);
        Answer { status: 200, report: None, session: None, parts }
    }

    /// `head`, the text inside a JSON string, and `then`. The text is escaped when it is pulled, so that a long one is held
    /// only once.
    pub(super) fn text(status: u16, head: Vec<u8>, text: String, then: Vec<u8>) -> Answer {
        let ready = |bytes| Part::Ready { bytes, sent: 0 };
        let text = Part::Text { text, sent: 0, escaper: Escaper::new(Breaks::Kept) };
        Answer {
            status,
            report: None,
            session: None,
            parts: VecDeque::from([ready(head), text, ready(then)]),
        }
    }

    /// Several answers as one JSON array. Each answer is taken when those before it have been pulled, so only
    /// one of them holds memory at a time.
    pub fn array(answers: impl IntoIterator<Item = Answer, IntoIter: Send + 'static>) -> Answer {
        let rest = RemainingAnswers(Box::new(answers.into_iter()));
        Answer {
            status: 200,
            report: None,
            session: None,
            parts: VecDeque::from([Part::Array { rest, first: true }]),
        }
    }

    /// The bytes that the answer holds itself, and the number of files that it keeps open.
    pub fn holds(&self) -> (usize, usize) {
        self.parts.iter().fold((0, 0), |(bytes, files), part| match part {
            Part::Ready { bytes: ready, .. } => (bytes + ready.len(), files),
            Part::Text { text, .. } => (bytes + text.len(), files),
            Part::Streamed(_) => (bytes, files + 1),
            Part::Array { .. } => (bytes, files),
        })
    }

    /// The same answer without an open file if it has about `most` bytes or fewer; else unchanged. `None` if
    /// the answer must be cut.
    pub fn settled(self, most: usize) -> Option<Answer> {
        if self.holds().1 == 0 || self.room(usize::MAX) > most {
            return Some(self);
        }
        let status = self.status;
        self.collect().map(|bytes| Answer::ready(status, bytes))
    }

    /// The size of a block for the rest of the answer, at most `most`. An estimate: escaped text may need
    /// more.
    pub fn room(&self, most: usize) -> usize {
        let left = self.parts.iter().map(|part| match part {
            Part::Ready { bytes, sent } => bytes.len() - sent,
            Part::Text { text, sent, .. } => (text.len() - sent) / 8 * 9,
            Part::Streamed(streamed) => streamed.room(),
            Part::Array { .. } => BLOCK,
        });
        (left.sum::<usize>() + MIN_BLOCK).min(most)
    }

    /// Writes the next bytes to the front of `block`, which has at least [`MIN_BLOCK`] bytes. Returns their
    /// number.
    pub fn pull(&mut self, block: &mut [u8]) -> (usize, Pulled) {
        let mut len = 0;
        while len + MIN_BLOCK <= block.len() {
            let out = &mut block[len..];
            match self.parts.front_mut() {
                None => return (len, Pulled::Done),
                Some(Part::Ready { bytes, sent }) => {
                    let next = &bytes[*sent..bytes.len().min(*sent + out.len())];
                    out[..next.len()].copy_from_slice(next);
                    len += next.len();
                    *sent += next.len();
                    if *sent == bytes.len() {
                        self.parts.pop_front();
                    }
                }
                Some(Part::Text { text, sent, escaper }) => {
                    let rest = &text.as_bytes()[*sent..];
                    // Cannot fail: it is a `str`.
                    let (taken, ready) = escaper.fill(rest, out).unwrap_or((rest.len(), 0));
                    (*sent, len) = (*sent + taken, len + ready);
                    if taken == rest.len() {
                        self.parts.pop_front();
                    }
                }
                Some(Part::Array { rest, first }) => {
                    let separator = if std::mem::take(first) { b'[' } else { b',' };
                    out[0] = separator;
                    len += 1;
                    match rest.0.next() {
                        Some(answer) => {
                            for part in answer.parts.into_iter().rev() {
                                self.parts.push_front(part);
                            }
                        }
                        None if separator == b'[' => {
                            out[1] = b']';
                            len += 1;
                            self.parts.pop_front();
                        }
                        None => {
                            out[0] = b']';
                            self.parts.pop_front();
                        }
                    }
                }
                Some(Part::Streamed(streamed)) => {
                    let (filled, ending) = streamed.pull(out);
                    len += filled;
                    match ending {
                        None => {}
                        Some(Some(bytes)) => self.parts[0] = Part::Ready { bytes, sent: 0 },
                        Some(None) => return (len, Pulled::Cut),
                    }
                }
            }
        }
        (len, if self.parts.is_empty() { Pulled::Done } else { Pulled::More })
    }

    /// Pulls the whole answer into one buffer, so that it is checked before it is sent. `None` if it must be
    /// cut.
    pub fn collect(mut self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        loop {
            let start = out.len();
            out.resize(start + self.room(BLOCK), 0);
            let (len, pulled) = self.pull(&mut out[start..]);
            out.truncate(start + len);
            match pulled {
                Pulled::More => {}
                Pulled::Done => return Some(out),
                Pulled::Cut => return None,
            }
        }
    }
}

impl Streamed {
    fn room(&self) -> usize {
        let rest = self.excerpt.bytes().len() - self.sent;
        self.encoder.room(rest) + self.then.len()
    }

    /// Encodes into `out`. Returns the number of bytes written and, at the end of the excerpt, what follows:
    /// bytes, or `None` for a cut.
    fn pull(&mut self, out: &mut [u8]) -> (usize, Option<Option<Vec<u8>>>) {
        let rest = &self.excerpt.bytes()[self.sent..];
        let filled = self.encoder.fill(rest, out);
        let (taken, ready) = *filled.as_ref().unwrap_or(&(0, 0));
        self.sent += taken;
        let broken = filled.is_err();
        if !broken && taken < rest.len() {
            return (ready, None);
        }
        let true_to_the_end = !broken
            && self.encoder.finish().is_ok()
            && (switches::is_off("answer-true") || self.excerpt.unchanged());
        if true_to_the_end {
            return (ready, Some(Some(std::mem::take(&mut self.then))));
        }
        let said = self.observer.content_changed();
        let ending = match &self.otherwise {
            OnMismatch::Say(item_end) => Some([item_end.as_bytes(), &said].concat()),
            OnMismatch::Cut => None,
        };
        (ready, Some(ending))
    }
}
