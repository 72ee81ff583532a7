//! A connection whose other side must keep reading: a client that takes nothing for a while is hung up on, so that it
//! cannot hold an answer in memory for ever (SPEC 8). One that still sends what nobody will read is heard out for a moment
//! at the end: hung up on at once, it would not see its answer. Knows no HTTP.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How long a client that still sends is heard out, and how many bytes of it.
const MOMENT: Duration = Duration::from_secs(1);
const HEARD: usize = 16 << 20;

/// See the module.
#[derive(Debug)]
pub(super) struct WriteTimeout<T> {
    stream: T,
    patience: Duration,
    /// Runs while a write makes no progress.
    waiting: Option<Pin<Box<Sleep>>>,
    /// Whether the other side was left unheard.
    unheard: Arc<AtomicBool>,
    /// Runs while it is heard out at the end, with the bytes heard.
    ending: Option<(Pin<Box<Sleep>>, usize)>,
}

impl<T> WriteTimeout<T> {
    /// Waits at most `patience` for the other side to take some bytes. Whoever answers it before it has said all sets
    /// `unheard`.
    pub(super) fn new(stream: T, patience: Duration, unheard: Arc<AtomicBool>) -> WriteTimeout<T> {
        WriteTimeout { stream, patience, waiting: None, unheard, ending: None }
    }

    /// Passes progress on; turns too long a wait into an error.
    fn judge<R>(&mut self, progress: Poll<io::Result<R>>, context: &mut Context<'_>) -> Poll<io::Result<R>> {
        if progress.is_ready() {
            self.waiting = None;
            return progress;
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(patience)));
        waiting.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for WriteTimeout<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncWrite for WriteTimeout<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(progress, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.judge(progress, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let progress = Pin::new(&mut self.stream).poll_flush(context);
        self.judge(progress, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.ending.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            if !self.unheard.load(Ordering::Relaxed) {
                return Poll::Ready(Ok(()));
            }
        }
        let WriteTimeout { stream, ending, .. } = &mut *self;
        let (moment, heard) = ending.get_or_insert_with(|| (Box::pin(sleep(MOMENT)), 0));
        if moment.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        let mut ignored = [0; 16 * 1024];
        while *heard < HEARD {
            let mut buffer = ReadBuf::new(&mut ignored);
            let read = ready!(Pin::new(&mut *stream).poll_read(context, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                break;
            }
            *heard += buffer.filled().len();
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(test);
    }

    #[test]
    fn a_client_that_takes_nothing_is_hung_up_on() {
        run(async {
            let (stream, _other) = duplex(16);
            let mut patient = WriteTimeout::new(stream, Duration::from_millis(20), Arc::default());
            let failed = patient.write_all(&[0; 100]).await.unwrap_err();
            assert_eq!(failed.kind(), io::ErrorKind::TimedOut);
        });
    }

    #[test]
    fn a_client_that_still_sends_when_it_has_its_answer_is_heard_out() {
        run(async {
            let (stream, mut other) = duplex(16);
            let mut patient =
                WriteTimeout::new(stream, Duration::from_secs(60), Arc::new(AtomicBool::new(true)));
            let client = tokio::spawn(async move {
                other.write_all(&[1; 500]).await.expect("all sent");
                other.shutdown().await.expect("said");
                let mut answer = Vec::new();
                other.read_to_end(&mut answer).await.map(|_| answer)
            });
            patient.write_all(b"too large").await.unwrap();
            patient.shutdown().await.unwrap();
            drop(patient);
            assert_eq!(client.await.unwrap().unwrap(), b"too large");
        });
    }

    #[test]
    fn a_client_that_says_no_more_and_stays_is_left_after_a_moment() {
        run(async {
            let (stream, _other) = duplex(16);
            let mut patient =
                WriteTimeout::new(stream, Duration::from_secs(60), Arc::new(AtomicBool::new(true)));
            patient.shutdown().await.unwrap();
        });
    }

    #[test]
    fn a_slow_client_that_takes_a_little_each_time_is_waited_for() {
        run(async {
            let (stream, mut other) = duplex(16);
            let mut patient = WriteTimeout::new(stream, Duration::from_secs(60), Arc::default());
            let reader = tokio::spawn(async move {
                let mut all = Vec::new();
                let mut few = [0; 3];
                while let Ok(len @ 1..) = other.read(&mut few).await {
                    all.extend_from_slice(&few[..len]);
                    tokio::task::yield_now().await;
                }
                all
            });
            patient.write_all(&[7; 500]).await.unwrap();
            patient.shutdown().await.unwrap();
            drop(patient);
            assert_eq!(reader.await.unwrap(), [7; 500]);
        });
    }
}
