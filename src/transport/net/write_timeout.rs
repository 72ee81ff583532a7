//! A stream with a write timeout and a lingering close.
//!
//! Disconnects a client that reads nothing for a while, so that its answer does not stay in memory for ever
//! (contract 8). If a client is still sending when its answer is complete, reads from it for a short time before
//! the close, because an early close resets the connection and destroys the answer. Knows no HTTP.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// The longest time and the most bytes of the lingering close.
const LINGER_TIME: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 16 << 20;

/// See the module.
#[derive(Debug)]
pub(in crate::transport) struct WriteTimeout<T> {
    stream: T,
    timeout: Duration,
    /// Runs while a write makes no progress.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Whether the request was answered before it was read to its end.
    unread: Arc<AtomicBool>,
    /// Runs during the lingering close. The number counts the bytes read.
    lingering: Option<(Pin<Box<Sleep>>, usize)>,
}

impl<T> WriteTimeout<T> {
    /// A write that makes no progress for `timeout` fails. Set `unread` if a request is answered before it
    /// was read to its end: then the close lingers.
    pub(in crate::transport) fn new(
        stream: T,
        timeout: Duration,
        unread: Arc<AtomicBool>,
    ) -> WriteTimeout<T> {
        WriteTimeout { stream, timeout, stalled: None, unread, lingering: None }
    }

    /// Returns `progress`, or an error if there was no progress for too long.
    fn limit<R>(&mut self, progress: Poll<io::Result<R>>, context: &mut Context<'_>) -> Poll<io::Result<R>> {
        if progress.is_ready() {
            self.stalled = None;
            return progress;
        }
        let timeout = self.timeout;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(timeout)));
        match switches::is_off("http-write-time") {
            true => Poll::Pending,
            false => stalled.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into())),
        }
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
        self.limit(progress, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.limit(progress, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let progress = Pin::new(&mut self.stream).poll_flush(context);
        self.limit(progress, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.lingering.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            if switches::is_off("http-linger") || !self.unread.load(Ordering::Relaxed) {
                return Poll::Ready(Ok(()));
            }
        }
        let WriteTimeout { stream, lingering, .. } = &mut *self;
        let (time, bytes) = lingering.get_or_insert_with(|| (Box::pin(sleep(LINGER_TIME)), 0));
        if time.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        let mut ignored = [0; 16 * 1024];
        while *bytes < LINGER_BYTES {
            let mut buffer = ReadBuf::new(&mut ignored);
            let read = ready!(Pin::new(&mut *stream).poll_read(context, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                break;
            }
            *bytes += buffer.filled().len();
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
    fn a_client_that_reads_nothing_is_disconnected() {
        run(async {
            let (inner, _other) = duplex(16);
            let mut stream = WriteTimeout::new(inner, Duration::from_millis(20), Arc::default());
            let failed = stream.write_all(&[0; 100]).await.unwrap_err();
            assert_eq!(failed.kind(), io::ErrorKind::TimedOut);
        });
    }

    #[test]
    fn a_client_that_is_still_sending_gets_its_answer() {
        run(async {
            let (inner, mut other) = duplex(16);
            let mut stream =
                WriteTimeout::new(inner, Duration::from_secs(60), Arc::new(AtomicBool::new(true)));
            let client = tokio::spawn(async move {
                other.write_all(&[1; 500]).await.expect("all sent");
                other.shutdown().await.expect("said");
                let mut answer = Vec::new();
                other.read_to_end(&mut answer).await.map(|_| answer)
            });
            stream.write_all(b"too large").await.unwrap();
            stream.shutdown().await.unwrap();
            drop(stream);
            assert_eq!(client.await.unwrap().unwrap(), b"too large");
        });
    }

    #[test]
    fn a_client_that_sends_nothing_more_and_stays_is_disconnected_after_a_short_time() {
        run(async {
            let (inner, _other) = duplex(16);
            let mut stream =
                WriteTimeout::new(inner, Duration::from_secs(60), Arc::new(AtomicBool::new(true)));
            stream.shutdown().await.unwrap();
        });
    }

    #[test]
    fn a_slow_client_that_reads_a_little_each_time_is_served() {
        run(async {
            let (inner, mut other) = duplex(16);
            let mut stream = WriteTimeout::new(inner, Duration::from_secs(60), Arc::default());
            let reader = tokio::spawn(async move {
                let mut all = Vec::new();
                let mut few = [0; 3];
                while let Ok(len @ 1..) = other.read(&mut few).await {
                    all.extend_from_slice(&few[..len]);
                    tokio::task::yield_now().await;
                }
                all
            });
            stream.write_all(&[7; 500]).await.unwrap();
            stream.shutdown().await.unwrap();
            drop(stream);
            assert_eq!(reader.await.unwrap(), [7; 500]);
        });
    }
}
