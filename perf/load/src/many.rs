//! Many connections to one server from one thread, each with one request in flight.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::epoll;

use crate::Outcome;
use crate::http::post;
use crate::stdio::Pumped;

pub(crate) struct Many {
    poll: std::os::fd::OwnedFd,
    connections: Vec<One>,
    requests: Vec<Vec<u8>>,
}

struct One {
    stream: TcpStream,
    /// Bytes of the answer that have not arrived; 0: nothing is in flight.
    left: usize,
}

impl Many {
    /// Opens the connections.
    pub(crate) fn new(port: u16, count: usize, requests: &[String]) -> Outcome<Many> {
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(|why| why.to_string())?;
        let mut connections = Vec::new();
        for nth in 0..count {
            let stream =
                TcpStream::connect(("127.0.0.1", port)).map_err(|why| format!("no connection: {why}"))?;
            stream
                .set_nodelay(true)
                .and_then(|()| stream.set_nonblocking(true))
                .map_err(|why| why.to_string())?;
            let data = epoll::EventData::new_u64(nth as u64);
            epoll::add(&poll, &stream, data, epoll::EventFlags::IN).map_err(|why| why.to_string())?;
            connections.push(One { stream, left: 0 });
        }
        Ok(Many { poll, connections, requests: requests.iter().map(|body| post(body)).collect() })
    }

    /// Sends requests on all connections until the time is up. Every answer has `len` bytes, with its head.
    pub(crate) fn pump(&mut self, len: usize, time: Duration) -> Outcome<Pumped> {
        let start = Instant::now();
        let (mut asked, mut answered, mut bytes) = (0, 0, 0);
        let (mut events, mut block) = (Vec::with_capacity(256), vec![0; 64 << 10]);
        for one in &mut self.connections {
            one.ask(&self.requests[asked % self.requests.len()], len)?;
            asked += 1;
        }
        while answered < asked {
            events.clear();
            epoll::wait(&self.poll, spare_capacity(&mut events), None).map_err(|why| why.to_string())?;
            for event in &events {
                let one = &mut self.connections[event.data.u64() as usize];
                let count = one.take(&mut block)?;
                bytes += count;
                if count > 0 && one.left == 0 {
                    answered += 1;
                    if start.elapsed() < time {
                        one.ask(&self.requests[asked % self.requests.len()], len)?;
                        asked += 1;
                    }
                }
            }
        }
        Ok(Pumped { took: start.elapsed(), answered, bytes })
    }

    /// The length of an answer with its head. Sends one request and reads until its body is complete.
    pub(crate) fn len_of_one(&mut self, body: usize) -> Outcome<usize> {
        let one = &mut self.connections[0];
        one.stream.set_nonblocking(false).map_err(|why| why.to_string())?;
        one.stream.write_all(&self.requests[0]).map_err(|why| why.to_string())?;
        let (mut answer, mut block) = (Vec::new(), vec![0; 64 << 10]);
        loop {
            let count = one.stream.read(&mut block).map_err(|why| why.to_string())?;
            answer.extend_from_slice(&block[..count]);
            let head = memchr::memmem::find(&answer, b"\r\n\r\n").map(|end| end + 4);
            if count == 0 || head.is_some_and(|head| answer.len() >= head + body) {
                break;
            }
        }
        one.stream.set_nonblocking(true).map_err(|why| why.to_string())?;
        Ok(answer.len())
    }
}

impl One {
    fn ask(&mut self, request: &[u8], len: usize) -> Outcome<()> {
        self.left = len;
        // A small request always fits into the socket's buffer.
        self.stream.write_all(request).map_err(|why| format!("does not take the request: {why}"))
    }

    fn take(&mut self, block: &mut [u8]) -> Outcome<usize> {
        let fresh = self.left;
        match self.stream.read(block) {
            Ok(0) => Err("closed the connection".into()),
            Ok(count) if count > fresh => Err("answers more than was asked".into()),
            Ok(count) => {
                self.left -= count;
                Ok(count)
            }
            Err(why) if why.kind() == ErrorKind::WouldBlock => Ok(0),
            Err(why) => Err(format!("gives no answer: {why}")),
        }
    }
}
