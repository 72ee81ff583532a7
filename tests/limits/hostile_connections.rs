//! Clients that hang, flood and disconnect (contract 8): memory stays within its bound, other clients are served in the
//! meantime, and the server ends in time.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use super::bounds::{A_CONNECTION, A_READER, IDLE, check_bound, others_are_served, peak, shaped, start};
use crate::support::{
    Connection, Direct, Folder, Http, MB, PATIENCE, anonymous_memory, command, descriptors, lock, ping,
    post_bytes, post_head, read_call, until, until_or, with_descriptors,
};

#[test]
fn two_hundred_half_open_connections_hold_little_memory_and_delay_no_other_client() {
    not_under_wine!("has more connections than the server of wine bears; no process starts for minutes then");
    let (folder, server) = start(&[]);
    let before = anonymous_memory(server.pid());
    let mut halves: Vec<Connection> = Vec::new();
    let most = peak(server.pid(), || {
        for n in 0..200 {
            let mut half = server.connect();
            match n % 5 {
                0 => {}
                1 => half.write(b"POST /mcp HT"),
                2 => half.write(
                    format!("POST /mcp HTTP/1.1\r\nX: {}", "x".repeat(300_000))
                        .get(..60_000)
                        .expect("so much")
                        .as_bytes(),
                ),
                3 => half.write(format!("{}{{", post_head("/edit_file", "", 5 * MB)).as_bytes()),
                _ => half.write(
                    format!("{}{}", post_head("/edit_file", "", 5 * MB), " ".repeat(60_000)).as_bytes(),
                ),
            }
            halves.push(half);
        }
        for _ in 0..20 {
            others_are_served(&server);
            server.direct(
                "edit_file",
                json!({ "name": "f", "edits": [{ "line": 1, "operation": "replace", "content": "a line" }] }),
            );
        }
    });
    check_bound("200 half-open connections", most.saturating_sub(before), IDLE + 200 * A_CONNECTION);
    assert_eq!(folder.text("f"), "a line\n");
    drop(halves);
    others_are_served(&server);
}

#[test]
fn senders_that_stop_in_the_middle_of_large_bodies_hold_up_only_each_other() {
    not_under_wine!("has more connections than the server of wine bears; no process starts for minutes then");
    let (_folder, server) = start(&["--max-size=2"]);
    let before = anonymous_memory(server.pid());
    let mut senders = Vec::new();
    let most = peak(server.pid(), || {
        for _ in 0..40 {
            let mut sender = server.connect();
            sender.write(post_head("/edit_file", "", 2 * MB).as_bytes());
            // All but the end. The server refuses the body and closes the connection where it may hold no more.
            let _ = sender.try_write(&vec![b' '; 2 * MB - 10]);
            senders.push(sender);
        }
        for _ in 0..20 {
            others_are_served(&server);
        }
    });
    check_bound(
        "40 bodies of 2 MB without their end",
        most.saturating_sub(before),
        IDLE + 3 * 8 * 2 * MB + 40 * A_CONNECTION,
    );
}

#[test]
fn past_the_memory_for_bodies_a_large_one_gets_503_with_retry_after_and_small_ones_are_taken() {
    not_under_wine!("has more connections than the server of wine bears; no process starts for minutes then");
    let (_folder, server) = start(&["--max-size=2"]);
    let mut senders: Vec<Connection> = Vec::new();
    let busy = (0..200).find_map(|_| {
        let mut sender = server.connect();
        sender.write(post_head("/edit_file", "", 2 * MB).as_bytes());
        let _ = sender.try_write(&vec![b' '; 2 * MB - 10]);
        // A body that is held is not answered before its end.
        let answer = sender.has_bytes_within(Duration::from_millis(20)).then(|| sender.read());
        senders.push(sender);
        answer
    });
    let busy = busy.expect("200 bodies of 2 MB are held at once");
    assert_eq!((busy.status, busy.header("retry-after")), (503, Some("1")));
    others_are_served(&server);
    drop(senders);
    let whole =
        json!({ "name": "f", "edits": [{ "line": 1, "operation": "replace", "content": "x".repeat(MB) }] });
    until("the memory for bodies is given back", || server.post("/edit_file", &whole).status == 200);
}

#[test]
fn a_connection_whose_answer_is_on_its_way_stays_open_however_many_come() {
    not_under_wine!("has more connections than the server of wine bears; no process starts for minutes then");
    let folder = Folder::new();
    folder.write("large", "some text in a line\n".repeat(20 * MB / 20));
    let binary = command(&folder, "http", &["--port=0", "--max-size=100"]);
    let server = Http::run(with_descriptors(&binary, 64));
    let mut reader = server.connect();
    reader.write(&post_bytes("/read_file", "", br#"{"name":"large"}"#));
    reader.wait_for_bytes();
    for _ in 0..200 {
        assert_eq!(server.connect().post("/mcp", &ping("ping")).status, 200);
    }
    // Some of them wait to be accepted.
    let idle: Vec<_> = (0..100).map(|_| server.connect()).collect();
    assert_eq!(reader.read().json()["content"].as_str().map(str::len), Some(20 * MB / 20 * 20 - 1));
    drop(idle);
}

#[test]
fn a_head_that_never_ends_is_refused_before_it_holds_much() {
    not_under_wine!("has more connections than the server of wine bears; no process starts for minutes then");
    let (_folder, server) = start(&[]);
    let mut connection = server.connect();
    let most = peak(server.pid(), || {
        connection.write(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n");
        for n in 0..100_000 {
            if connection.try_write(format!("X-{n}: {}\r\n", "x".repeat(100)).as_bytes()).is_err() {
                break;
            }
        }
        others_are_served(&server);
    });
    check_bound("a head without end", most, IDLE);
    let came = connection.read_what_comes(PATIENCE);
    assert!(came.is_empty() || came.starts_with(b"HTTP/1.1 431"), "{}", String::from_utf8_lossy(&came));
}

#[test]
fn readers_that_take_nothing_of_a_large_answer_hold_a_few_blocks_each() {
    not_under_wine!("has more connections than the server of wine bears; no process starts for minutes then");
    const READERS: usize = 100;
    let (folder, server) = start(&["--max-size=100"]);
    folder.write("large", "some text in a line\n".repeat(50 * MB / 20));
    let call = read_call(1, "large");
    // The index of the file is made before the measurement.
    assert_eq!(server.post("/read_file", &json!({ "name": "large", "end_line": 1 })).status, 200);
    let before = anonymous_memory(server.pid());
    let mut readers = Vec::new();
    let most = peak(server.pid(), || {
        for n in 0..READERS {
            let mut reader = server.connect();
            match n % 2 {
                0 => reader.write(&post_bytes("/read_file", "", br#"{"name":"large"}"#)),
                _ => reader.write(&post_bytes("/mcp", "", call.to_string().as_bytes())),
            }
            readers.push(reader);
        }
        for reader in &mut readers {
            reader.wait_for_bytes();
        }
        for _ in 0..20 {
            others_are_served(&server);
        }
    });
    check_bound("100 slow readers of 50 MB", most.saturating_sub(before), IDLE + READERS * A_READER);
    // One reader takes the whole answer; the others disconnect.
    let whole = readers.swap_remove(0).read();
    assert_eq!(whole.json()["content"].as_str().map(str::len), Some(50 * MB / 20 * 20 - 1));
    drop(readers);
    others_are_served(&server);
}

#[test]
fn calls_that_wait_though_their_clients_have_gone_hold_little() {
    not_under_wine!("has more connections than the server of wine bears; no process starts for minutes then");
    let (folder, server) = start(&["--sync=none", "--timeout=60"]);
    folder.write("locked", "a line\n");
    let locked = lock(&folder, "locked");
    let edit = json!({ "name": "locked", "append": "x".repeat(60 * 1024) }).to_string();
    let mut refused = false;
    let most = peak(server.pid(), || {
        for _ in 0..2_500 {
            server.connect().write(&post_bytes("/edit_file", "", edit.as_bytes()));
        }
        // One more finds no room.
        let mut last = server.connect();
        last.write(&post_bytes("/edit_file", "", edit.as_bytes()));
        refused = last.read().status == 503;
    });
    assert!(refused);
    check_bound("calls without clients", most, IDLE + 128 * MB);
    drop(locked);
    // Their bodies are held until they have had their turn.
    until("there is room for other calls", || server.call("list_files", json!({})).is_ok());
    others_are_served(&server);
}

#[test]
fn clients_that_vanish_in_the_middle_of_an_upload_or_an_answer_leave_nothing_behind() {
    not_under_wine!("has more connections than the server of wine bears; no process starts for minutes then");
    let (folder, server) = start(&["--sync=none"]);
    folder.write("large", "some text in a line\n".repeat(5 * MB / 20));
    let body = json!({ "name": "g", "append": "x".repeat(MB), "create_if_missing": true }).to_string();
    let descriptors = || descriptors(server.pid());
    others_are_served(&server);
    let before = descriptors();
    for n in 0..300 {
        let mut client = server.connect();
        match n % 3 {
            0 => client.write(&post_bytes("/edit_file", "", body.as_bytes())[..MB / 2]),
            1 => client.write(&post_bytes("/read_file", "", br#"{"name":"large"}"#)),
            _ => {
                client.write(&post_bytes("/read_file", "", br#"{"name":"large"}"#));
                client.wait_for_bytes();
            }
        }
    }
    others_are_served(&server);
    assert_eq!(folder.names(), ["f", "large"]);
    // Each connection and each map holds a descriptor.
    until_or(
        || format!("{} descriptors are still open, {before} before", descriptors()),
        || descriptors() <= before + 5,
    );
}

#[test]
fn bodies_over_the_limit_are_refused_however_their_length_is_told_and_hold_nothing() {
    not_under_wine!("has more connections than the server of wine bears; no process starts for minutes then");
    let (folder, server) = start(&["--max-size=1"]);
    let most = peak(server.pid(), || {
        for _ in 0..20 {
            let mut announced = server.connect();
            announced.write(post_head("/edit_file", "", 2 * MB).as_bytes());
            let _ = announced.try_write(&vec![b' '; 2 * MB]);
            assert!(announced.try_read().map_or(true, |response| response.status == 413));
            let mut lying = server.connect();
            lying.write(post_head("/edit_file", "", usize::MAX / 4).as_bytes());
            assert_eq!(lying.read().status, 413);
            let mut chunked = server.connect();
            chunked.write(&shaped("Transfer-Encoding: chunked\r\n", ""));
            let chunk = [format!("{MB:x}\r\n").as_bytes(), &vec![b' '; MB], b"\r\n"].concat();
            let _ = (0..3).try_for_each(|_| chunked.try_write(&chunk));
            match chunked.try_read() {
                Ok(response) => assert_eq!(response.status, 413),
                Err(error) => assert_ne!(
                    error.kind(),
                    std::io::ErrorKind::WouldBlock,
                    "the server reads all of the body"
                ),
            }
        }
    });
    check_bound("bodies over the limit", most, IDLE);
    others_are_served(&server);
    assert_eq!(folder.names(), ["f"]);
}

#[test]
fn a_thousand_connections_hold_little_others_are_served_and_the_end_comes_in_time() {
    not_under_wine!("has more connections than the server of wine bears; no process starts for minutes then");
    const CONNECTIONS: usize = 1_000;
    let (folder, server) = start(&["--timeout=30", "--max-size=100"]);
    folder.write("large", "some text in a line\n".repeat(50 * MB / 20));
    folder.write("locked", "a\n");
    let _locked = lock(&folder, "locked");
    let before = anonymous_memory(server.pid());
    let mut connections = Vec::new();
    let most = peak(server.pid(), || {
        for n in 0..CONNECTIONS {
            let mut connection = server.connect();
            match n % 10 {
                0..5 => {}
                5 => connection.write(b"POST /mcp HTTP/1.1\r\nHost:"),
                6 => connection.write(format!("{}{{", post_head("/mcp", "", 100)).as_bytes()),
                7 => connection.write(&post_bytes("/edit_file", "", br#"{"name":"locked","append":"x"}"#)),
                8 if n < 200 => connection.write(&post_bytes("/read_file", "", br#"{"name":"large"}"#)),
                _ => connection.write(&post_bytes("/mcp", "", ping("ping").to_string().as_bytes())),
            }
            connections.push(connection);
        }
        for _ in 0..20 {
            others_are_served(&server);
        }
    });
    check_bound(
        "1,000 connections",
        most.saturating_sub(before),
        IDLE + CONNECTIONS * A_CONNECTION + 20 * A_READER,
    );
    server.signal(Signal::TERM);
    // Long before the timeout of the edits that wait for the lock. http/requests.rs checks the bound of 2 s.
    assert_eq!(server.wait(Duration::from_secs(5)).code(), Some(0));
    assert_eq!(
        (folder.text("locked"), folder.names()),
        ("a\n".into(), vec!["f".into(), "large".into(), "locked".into()])
    );
}

#[test]
fn more_connections_than_there_may_be_wait_until_others_end_and_hold_up_no_stop() {
    not_under_wine!("has more connections than the server of wine bears; no process starts for minutes then");
    let folder = Folder::new();
    folder.write("f", "a line\n");
    let binary = command(&folder, "http", &["--port=0"]);
    let server = Http::run(with_descriptors(&binary, 200));
    for _ in 0..3 {
        let all: Vec<_> = (0..200).map(|_| server.connect()).collect();
        drop(all);
        others_are_served(&server);
    }
    let _all: Vec<_> = (0..200).map(|_| server.connect()).collect();
    server.signal(Signal::TERM);
    assert_eq!(server.wait(Duration::from_secs(5)).code(), Some(0));
}
