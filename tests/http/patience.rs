//! How long the server waits for an HTTP client (contract 6.3, 8): for a limited time if the client stops in the middle, and
//! long enough if the client still sends a request that was refused.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use crate::support::{Connection, Folder, Http, MB, PATIENCE, ping, post_bytes, post_head, sockets};

/// Longer than every timeout of the server; the longest is a minute.
const LONG: Duration = Duration::from_secs(100);

/// All that comes until the server closes the connection, which it must do.
fn until_the_end(mut connection: Connection, what: &str) -> String {
    let since = Instant::now();
    let came = connection.read_what_comes(LONG);
    assert!(since.elapsed() < LONG, "{what}: the connection stays open");
    String::from_utf8_lossy(&came).into_owned()
}

/// The server closes the connection of a client that does not read a long answer, and drops the rest of the answer.
fn a_reader_that_takes_nothing() {
    let folder = Folder::new();
    folder.write("large", "some text in a line\n".repeat(50 * MB / 20));
    let server = Http::start(&folder, &["--max-size=100"]);
    let before = sockets(server.pid());
    let mut reader = server.connect();
    reader.write(&post_bytes("/read_file", "", br#"{"name":"large"}"#));
    reader.wait_for_bytes();
    assert_eq!(sockets(server.pid()), before + 1);
    let since = Instant::now();
    while sockets(server.pid()) > before {
        assert!(since.elapsed() < LONG, "the connection of a client that does not read stays open");
        // Half a minute of polling: the system reports no event for a socket of another process.
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(reader.try_read().is_err(), "the server kept the whole answer");
}

/// A body that comes byte by byte is refused at its timeout.
fn a_body_that_trickles(server: &Http) {
    let mut slow = TcpStream::connect(("127.0.0.1", server.port())).expect("a connection");
    slow.write_all(post_head("/mcp", "", 10_000).as_bytes()).expect("sent");
    slow.set_read_timeout(Some(Duration::from_secs(1))).expect("a timeout");
    let since = Instant::now();
    let mut answer = [0; 12];
    while slow.read_exact(&mut answer).is_err() {
        assert!(since.elapsed() < LONG, "the server still waits for a body that comes byte by byte");
        if slow.write_all(b" ").is_err() {
            return;
        }
    }
    assert_eq!(&answer, b"HTTP/1.1 408");
}

#[test]
fn clients_that_stop_half_way_are_hung_up_on_each_in_its_time() {
    not_under_wine!("has a limit of time or takes long");
    let folder = Folder::new();
    let server = Http::start(&folder, &[]);
    std::thread::scope(|scope| {
        let server = &server;
        scope.spawn(|| {
            let mut connection = server.connect();
            connection.write(b"POST /mcp HTTP/1.1\r\nHost:");
            let came = until_the_end(connection, "half a head");
            assert!(came.is_empty() || came.starts_with("HTTP/1.1 408"), "{came}");
        });
        scope.spawn(|| {
            let mut connection = server.connect();
            assert_eq!(connection.post("/mcp", &ping(1)).status, 200);
            let came = until_the_end(connection, "no next request");
            assert!(came.is_empty() || came.starts_with("HTTP/1.1 408"), "{came}");
        });
        scope.spawn(|| {
            let mut connection = server.connect();
            connection.write((post_head("/mcp", "", 100) + "{").as_bytes());
            // Long before the timeout of a whole body.
            let came = String::from_utf8_lossy(&connection.read_what_comes(PATIENCE)).into_owned();
            assert!(came.starts_with("HTTP/1.1 408"), "half a body: {came:?}");
        });
        scope.spawn(|| a_body_that_trickles(server));
        scope.spawn(a_reader_that_takes_nothing);
    });
}

/// The answer to a client that sends the whole request before it reads. None if the connection broke.
fn answer_behind(server: &Http, request: &[u8]) -> Option<String> {
    let mut client = TcpStream::connect(("127.0.0.1", server.port())).expect("a connection");
    client.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    client.write_all(request).ok()?;
    client.shutdown(Shutdown::Write).ok()?;
    let mut answer = String::new();
    client.read_to_string(&mut answer).ok()?;
    Some(answer)
}

#[test]
fn a_client_that_sends_all_of_what_is_refused_half_way_gets_its_answer() {
    let folder = Folder::new();
    let server = Http::start(&folder, &["--max-size=1"]);
    let body = vec![b' '; 8 * MB];
    let too_large = [post_head("/edit_file", "", body.len()).as_bytes(), &body].concat();
    let not_found = [post_head("/nowhere", "", MB).as_bytes(), &body[..MB]].concat();
    for (request, status) in [(too_large, "HTTP/1.1 413"), (not_found, "HTTP/1.1 404")] {
        let got =
            |_: &usize| answer_behind(&server, &request).is_some_and(|answer| answer.starts_with(status));
        // The server reads on for a short time only, and a busy machine may be late now and then.
        let had = (0..10).filter(got).count();
        assert!(had >= 7, "{had} of 10 got their {status}");
    }
}
