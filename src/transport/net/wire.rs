//! The socket of one connection. hyper reads and writes it; a request in progress watches it for a
//! disconnect.
//!
//! A client may end its sending after its request and still wait for the answer (a half-closed connection).
//! The system reports the same event when a client has closed the whole connection. To tell the two apart,
//! the watch sends the first byte of the answer early, which is the same for all answers. A closed client
//! resets the connection; a half-closed one accepts the byte. While an answer is sent, the sender asks for the
//! client's end of input and tells the two apart with bytes of its own. Counts its bytes as it is told to, and says
//! whether writes make progress. Knows no requests.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

use super::connection_limit::Activity;
use super::traffic::Traffic;
use sys::net::wait_for_reset;

/// The first byte of every answer: `HTTP/1.1 200 OK`.
const FIRST_BYTE: &[u8] = b"H";

/// The socket for hyper.
#[derive(Debug)]
pub(in crate::transport) struct Wire {
    client: Arc<Client>,
    out: OwnedWriteHalf,
}

/// The client's side of the connection. Only the task of the connection uses the atomics, so they can be
/// relaxed.
#[derive(Debug)]
pub(in crate::transport) struct Client {
    stream: OwnedReadHalf,
    /// Everything that hyper wrote has been sent: the next byte begins an answer.
    all_written: AtomicBool,
    /// The first byte of the next answer has been sent.
    first_byte_sent: AtomicBool,
    /// What counts the bytes.
    traffic: Option<&'static Traffic>,
    activity: Arc<Activity>,
}

impl Wire {
    pub(in crate::transport) fn new(
        stream: TcpStream,
        traffic: Option<&'static Traffic>,
        activity: Arc<Activity>,
    ) -> (Wire, Arc<Client>) {
        let (stream, out) = stream.into_split();
        let (all_written, first_byte_sent) = (AtomicBool::new(true), AtomicBool::new(false));
        let client = Arc::new(Client { stream, all_written, first_byte_sent, traffic, activity });
        (Wire { client: client.clone(), out }, client)
    }

    /// Writes `bytes` without their first byte, which was already sent.
    fn poll_write_rest(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let Some(rest) = bytes.strip_prefix(FIRST_BYTE) else {
            return Poll::Ready(Err(io::Error::other("not the beginning of an answer")));
        };
        let written = match rest {
            [] => 0,
            rest => ready!(Pin::new(&mut self.out).poll_write(context, rest))?,
        };
        self.client.first_byte_sent.store(false, Ordering::Relaxed);
        self.client.written(Poll::Ready(Ok(FIRST_BYTE.len() + written)))
    }
}

impl Client {
    /// What the connection does.
    pub(in crate::transport) fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }

    /// Waits until the client has disconnected. Call it for a request that was read to its end and has no
    /// answer yet.
    pub(in crate::transport) async fn gone(&self) {
        let stream: &TcpStream = self.stream.as_ref();
        match stream.peek(&mut [0]).await {
            Ok(0) => self.send_first_byte(),
            // The next request. The end of the client's data is visible only after it is read.
            Ok(_) => {}
            Err(_) => return,
        }
        self.reset().await;
    }

    /// Waits until the client has ended its sending, or closed the connection. Sends nothing. For ever, if it
    /// sends more: the end is visible only after that is read.
    pub(in crate::transport) async fn end_of_input(&self) {
        let stream: &TcpStream = self.stream.as_ref();
        if stream.peek(&mut [0]).await.is_ok_and(|len| len > 0) {
            std::future::pending::<()>().await;
        }
    }

    /// Waits until the client has reset the connection.
    pub(in crate::transport) async fn reset(&self) {
        wait_for_reset(self.stream.as_ref()).await;
    }

    fn send_first_byte(&self) {
        if self.all_written.load(Ordering::Relaxed) && !self.first_byte_sent.load(Ordering::Relaxed) {
            let stream: &TcpStream = self.stream.as_ref();
            let sent = stream.try_write(FIRST_BYTE).is_ok_and(|sent| sent > 0);
            self.first_byte_sent.store(sent, Ordering::Relaxed);
        }
    }

    /// Counts the bytes that were written.
    fn written(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        self.activity.wrote(written.is_ready());
        if let (Some(traffic), Poll::Ready(Ok(len))) = (self.traffic, &written) {
            traffic.sent(*len);
        }
        written
    }

    /// Counts bytes that were read.
    fn read(&self, len: usize) {
        self.traffic.into_iter().for_each(|traffic| traffic.read(len));
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let stream: &TcpStream = self.client.stream.as_ref();
        loop {
            ready!(stream.poll_read_ready(context))?;
            match stream.try_read_buf(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return Poll::Ready(read.map(|len| self.client.read(len))),
            }
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.client.all_written.store(false, Ordering::Relaxed);
        if self.client.first_byte_sent.load(Ordering::Relaxed) {
            return self.poll_write_rest(context, bytes);
        }
        let written = Pin::new(&mut self.out).poll_write(context, bytes);
        self.client.written(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.client.all_written.store(false, Ordering::Relaxed);
        if self.client.first_byte_sent.load(Ordering::Relaxed) {
            let first = bytes.iter().find(|bytes| !bytes.is_empty());
            return self.poll_write_rest(context, first.map_or(&[], |first| &first[..]));
        }
        let written = Pin::new(&mut self.out).poll_write_vectored(context, bytes);
        self.client.written(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.out.is_write_vectored()
    }

    /// hyper calls this when it has written everything.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.client.all_written.store(true, Ordering::Relaxed);
        Pin::new(&mut self.out).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.out).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpListener};
    use std::time::Duration;

    use tokio::io::AsyncWriteExt;
    use tokio::time::timeout;

    use super::*;
    use crate::transport::net::connection_limit::ConnectionLimit;

    const SOON: Duration = Duration::from_millis(50);
    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n";

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
    }

    /// The server's and the client's side of a connection.
    fn pair() -> (Wire, Arc<Client>, std::net::TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let theirs = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let ours = listener.accept().unwrap().0;
        ours.set_nonblocking(true).unwrap();
        let here = std::net::Ipv4Addr::LOCALHOST.into();
        let place = ConnectionLimit::new(1).free_place(here).unwrap();
        let (wire, client) = Wire::new(TcpStream::from_std(ours).unwrap(), None, place.activity().clone());
        (wire, client, theirs)
    }

    fn all(mut theirs: std::net::TcpStream) -> Vec<u8> {
        let mut bytes = Vec::new();
        theirs.read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn one_that_only_ends_its_sending_is_there_and_gets_each_byte_of_its_answer_once() {
        for pieces in [1, 2, 5, ANSWER.len()] {
            run(async {
                let (mut wire, client, theirs) = pair();
                theirs.shutdown(Shutdown::Write).unwrap();
                // Twice, because a request may be watched again.
                assert!(timeout(SOON, client.gone()).await.is_err());
                assert!(timeout(SOON, client.gone()).await.is_err());
                for piece in ANSWER.chunks(pieces) {
                    wire.write_all(piece).await.unwrap();
                }
                wire.flush().await.unwrap();
                wire.write_all(ANSWER).await.unwrap();
                drop((wire, client));
                assert_eq!(all(theirs), [ANSWER, ANSWER].concat());
            });
        }
    }

    #[test]
    fn an_answer_in_several_slices_is_sent_without_the_byte_that_is_out_already() {
        run(async {
            let (mut wire, client, theirs) = pair();
            theirs.shutdown(Shutdown::Write).unwrap();
            assert!(timeout(SOON, client.gone()).await.is_err());
            let slices = [IoSlice::new(b""), IoSlice::new(b"H"), IoSlice::new(b"TTP")];
            assert_eq!(wire.write_vectored(&slices).await.unwrap(), 1);
            assert_eq!(wire.write_vectored(&slices[2..]).await.unwrap(), 3);
            drop((wire, client));
            assert_eq!(all(theirs), b"HTTP");
        });
    }

    #[test]
    fn one_that_has_closed_all_is_gone_and_one_that_sends_more_is_not() {
        run(async {
            let (_wire, client, theirs) = pair();
            assert!(timeout(SOON, client.gone()).await.is_err());
            drop(theirs);
            assert!(timeout(Duration::from_secs(20), client.gone()).await.is_ok());

            let (wire, client, mut theirs) = pair();
            theirs.write_all(b"POST").unwrap();
            theirs.shutdown(Shutdown::Write).unwrap();
            assert!(timeout(SOON, client.gone()).await.is_err());
            drop((wire, client));
            // The connection is reset, because its bytes were not read. No byte was sent.
            assert!(!theirs.read(&mut [0]).is_ok_and(|read| read > 0));
        });
    }

    #[test]
    fn nothing_is_sent_early_while_an_earlier_answer_is_not_written() {
        run(async {
            let (mut wire, client, theirs) = pair();
            wire.write_all(b"HTTP/1.1 ").await.unwrap();
            theirs.shutdown(Shutdown::Write).unwrap();
            assert!(timeout(SOON, client.gone()).await.is_err());
            wire.write_all(b"200 OK").await.unwrap();
            drop((wire, client));
            assert_eq!(all(theirs), b"HTTP/1.1 200 OK");
        });
    }

    #[test]
    fn what_cannot_follow_the_byte_that_is_out_is_never_sent() {
        run(async {
            let (mut wire, client, theirs) = pair();
            theirs.shutdown(Shutdown::Write).unwrap();
            assert!(timeout(SOON, client.gone()).await.is_err());
            assert!(wire.write_all(b"the rest of something else").await.is_err());
            drop((wire, client));
            assert_eq!(all(theirs), b"H");
        });
    }
}
