//! Server-sent events of one HTTP response, read one by one.

use serde_json::Value;

use super::http::{Connection, HttpResponse};

/// One event.
#[derive(Debug, PartialEq)]
pub(crate) enum Event {
    Comment,
    /// The data of an event `message`.
    Message(Value),
}

/// A response whose body is a stream of events.
pub(crate) struct EventStream {
    connection: Connection,
    bytes: Vec<u8>,
    ended: bool,
}

impl EventStream {
    /// Reads the head of the response, which must announce events.
    #[track_caller]
    pub(crate) fn begin(mut connection: Connection) -> EventStream {
        let head: HttpResponse = connection.head().expect("a head");
        let announced = ["content-type", "cache-control", "x-accel-buffering", "transfer-encoding"];
        let announced = announced.map(|name| head.header(name).unwrap_or_default());
        assert_eq!(head.status, 200);
        assert_eq!(announced, ["text/event-stream", "no-cache", "no", "chunked"]);
        EventStream { connection, bytes: Vec::new(), ended: false }
    }

    /// The next event; None at the end of the response. A stream that is cut is an error.
    pub(crate) fn try_next(&mut self) -> std::io::Result<Option<Event>> {
        loop {
            if let Some(end) = self.bytes.windows(2).position(|window| window == b"\n\n") {
                let event: Vec<u8> = self.bytes.drain(..end + 2).collect();
                return Ok(Some(self.event(std::str::from_utf8(&event[..end]).expect("UTF-8"))));
            }
            if self.ended {
                assert!(self.bytes.is_empty(), "half an event");
                return Ok(None);
            }
            self.ended = !self.connection.chunk(&mut self.bytes)?;
        }
    }

    /// The next message, which must come.
    #[track_caller]
    pub(crate) fn message(&mut self) -> Value {
        loop {
            match self.try_next().expect("an event").expect("another event") {
                Event::Comment => {}
                Event::Message(message) => return message,
            }
        }
    }

    /// The connection, after the end of the events.
    #[track_caller]
    pub(crate) fn end(mut self) -> Connection {
        assert_eq!(self.try_next().expect("the end"), None);
        self.connection
    }

    fn event(&self, event: &str) -> Event {
        if event == ":" {
            return Event::Comment;
        }
        let data = event.strip_prefix("event: message\ndata: ").unwrap_or_else(|| panic!("{event:.100}"));
        let message = serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data:.400}"));
        self.connection.received(&message);
        Event::Message(message)
    }

    /// The connection, to end its sending while events come.
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }
}
