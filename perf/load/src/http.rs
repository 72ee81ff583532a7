//! A client over one kept connection: HTTP/1.1, bodies by length or in chunks.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::Outcome;
use crate::stdio::{Seen, says_failed};

pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// The bytes from `from` to `to` are not read yet.
    from: usize,
    to: usize,
}

impl Connection {
    pub(crate) fn new(port: u16) -> Outcome<Connection> {
        let stream =
            TcpStream::connect(("127.0.0.1", port)).map_err(|why| format!("no connection: {why}"))?;
        stream.set_nodelay(true).map_err(|why| why.to_string())?;
        Ok(Connection { stream, buffer: vec![0; 256 << 10], from: 0, to: 0 })
    }

    pub(crate) fn send(&mut self, body: &str) -> Outcome<()> {
        self.stream.write_all(&post(body)).map_err(|why| format!("does not take the request: {why}"))
    }

    pub(crate) fn receive(&mut self, mut keep: Option<&mut Vec<u8>>) -> Outcome<Seen> {
        let (length, chunked) = self.head()?;
        let mut seen = Seen { len: 0, failed: false };
        if !chunked {
            self.take(length, &mut seen, &mut keep)?;
            return Ok(seen);
        }
        loop {
            let size = self.line()?;
            let size = usize::from_str_radix(size.trim(), 16).map_err(|_| format!("a chunk of {size:?}"))?;
            self.take(size, &mut seen, &mut keep)?;
            self.line()?;
            if size == 0 {
                return Ok(seen);
            }
        }
    }

    /// The length of the body, and whether it comes in chunks.
    fn head(&mut self) -> Outcome<(usize, bool)> {
        let status = self.line()?;
        if !status.starts_with("http/1.1 200") {
            return Err(format!("answers {status}"));
        }
        let (mut length, mut chunked) = (0, false);
        loop {
            let header = self.line()?;
            if header.is_empty() {
                return Ok((length, chunked));
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().map_err(|_| format!("a length of {value:?}"))?;
            }
            chunked |= header.starts_with("transfer-encoding:") && header.contains("chunked");
        }
    }

    /// A line of a head, in lower case.
    fn line(&mut self) -> Outcome<String> {
        let mut line = Vec::new();
        loop {
            let block = self.block()?;
            let end = memchr::memchr(b'\n', block);
            let taken = end.map_or(block.len(), |end| end + 1);
            line.extend_from_slice(&block[..taken]);
            self.from += taken;
            if end.is_some() {
                return Ok(String::from_utf8_lossy(&line).trim_end().to_ascii_lowercase());
            }
        }
    }

    fn take(&mut self, length: usize, seen: &mut Seen, keep: &mut Option<&mut Vec<u8>>) -> Outcome<()> {
        let mut left = length;
        while left > 0 {
            let block = self.block()?;
            let block = &block[..left.min(block.len())];
            *seen = Seen { failed: seen.failed || says_failed(block), len: seen.len + block.len() };
            if let Some(keep) = keep {
                keep.extend_from_slice(block);
            }
            let taken = block.len();
            left -= taken;
            self.from += taken;
        }
        Ok(())
    }

    /// The received bytes that are not read yet; waits if there are none.
    fn block(&mut self) -> Outcome<&[u8]> {
        if self.from == self.to {
            self.from = 0;
            self.to = self.stream.read(&mut self.buffer).map_err(|why| format!("gives no answer: {why}"))?;
            if self.to == 0 {
                return Err("closed the connection".into());
            }
        }
        Ok(&self.buffer[self.from..self.to])
    }
}

pub(crate) fn post(body: &str) -> Vec<u8> {
    let head = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
                Accept: application/json, text/event-stream\r\nContent-Length";
    format!("{head}: {}\r\n\r\n{body}", body.len()).into_bytes()
}
