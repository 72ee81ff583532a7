//! Thousands of hostile connections (contract 6.3): a small request of a well-behaved client is answered within 2 s.

use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::json;

use crate::support::{
    Connection, Folder, Http, MB, command, descriptors, lock, mostly_within, ping, post_bytes, post_head,
    until, while_others, with_descriptors,
};

/// The contract's number, and one over what the server holds, for kinds of which each connection costs time.
const CROWD: usize = 4_000;
const MORE_THAN_HELD: usize = 2_200;

/// Descriptors for everything else in this process.
const OTHERS: u64 = 1_000;

const TOKEN: &str = "Authorization: Bearer secret\r\n";

/// Raises the limit of this process. Returns how many connections it may open, which is told if it is not all.
fn crowd() -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
    let most = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX).saturating_sub(OTHERS);
    let crowd = usize::try_from(most).unwrap_or(CROWD).min(CROWD);
    if crowd < CROWD {
        println!("only {crowd} connections: ulimit -n");
    }
    crowd
}

fn start(flags: &[&str]) -> (Folder, Http) {
    started(flags, |binary| binary)
}

/// The server of a command that `limit` changes.
fn started(flags: &[&str], limit: impl FnOnce(Command) -> Command) -> (Folder, Http) {
    let folder = Folder::new();
    folder.write("f", "a line\n");
    folder.write("large", "some text in a line\n".repeat(5 * MB / 20));
    let token = folder.outside("token");
    std::fs::write(&token, "secret").expect("a token");
    let token = format!("--auth-token-file={}", token.display());
    let server = Http::run(limit(command(&folder, "http", &[flags, &["--port=0", &*token]].concat())));
    (folder, server)
}

/// A small request on a connection of its own.
fn small(server: &Http) -> Duration {
    let began = Instant::now();
    let mut connection = server.connect();
    connection.write(&post_bytes("/read_file", TOKEN, br#"{"name":"f"}"#));
    let answer = connection.read();
    assert_eq!(
        (answer.status, answer.json()["content"].as_str()),
        (200, Some("a line")),
        "{}",
        answer.text()
    );
    began.elapsed()
}

/// Checks that a client is served while connections stand that each began with `first`, and send `more` again and again.
/// Closed ones are not made anew.
fn among(server: &Http, crowd: usize, first: impl Fn(usize) -> Vec<u8>, more: &[u8]) {
    let mut known = server.connect();
    known.write(&post_bytes("/mcp", TOKEN, ping(1).to_string().as_bytes()));
    assert_eq!(known.read().status, 200);
    let mut all: Vec<Connection> = Vec::with_capacity(crowd);
    for n in 0..crowd {
        let mut connection = server.connect();
        // The server may have closed it.
        let _ = connection.try_write(&first(n));
        all.push(connection);
    }
    let dribble = || {
        all.iter_mut().for_each(|connection| drop(connection.try_write(more)));
        // A loop without a pause would take the processor from the server.
        std::thread::sleep(Duration::from_millis(1));
    };
    let served = || mostly_within(Duration::from_secs(2), || small(server));
    if more.is_empty() { served() } else { while_others(dribble, served) }
}

#[test]
fn silent_strangers_keep_nobody_out_who_has_the_token() {
    let (_folder, server) = start(&[]);
    among(&server, crowd(), |_| Vec::new(), b"");
}

#[test]
fn heads_that_arrive_a_byte_at_a_time_keep_nobody_out() {
    let (_folder, server) = start(&[]);
    let first = |_| b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: ".into();
    among(&server, crowd().min(MORE_THAN_HELD), first, b"x");
}

#[test]
fn bodies_that_arrive_a_byte_at_a_time_take_no_room_of_others() {
    let (_folder, server) = start(&[]);
    let first = |_| [post_head("/edit_file", TOKEN, 70 << 10).as_bytes(), &[b' '; 64 << 10]].concat();
    among(&server, crowd().min(1_100), first, b" ");
    // Requests that are not small get room, too, when the slow ones have had their time.
    let whole = json!({ "name": "f", "edits": [{ "line": 1, "operation": "replace", "content": " ".repeat(30 << 10) }] });
    until("there is room for a larger body", || {
        server.connect().post("/edit_file", &json!({})).status == 401
            && server.raw(&post_bytes("/edit_file", TOKEN, whole.to_string().as_bytes())).status != 503
    });
}

#[test]
fn answers_that_nobody_reads_keep_nobody_out() {
    // Fewer places, because each answer takes time to make until the system takes no more of it.
    let (_folder, server) = started(&[], |binary| with_descriptors(&binary, 600));
    let first = |_| post_bytes("/read_file", TOKEN, br#"{"name":"large"}"#);
    among(&server, 400, first, b"");
}

#[test]
fn idle_connections_that_were_served_keep_nobody_out() {
    let (_folder, server) = start(&[]);
    let ping = ping(1).to_string();
    let first = |_| post_bytes("/mcp", TOKEN, ping.as_bytes());
    among(&server, crowd().min(MORE_THAN_HELD), first, b"");
}

#[test]
fn calls_that_wait_keep_nobody_out() {
    let (folder, server) = start(&["--timeout=60", "--sync=none"]);
    folder.write("locked", "a line\n");
    let _locked = lock(&folder, "locked");
    let first = |_| post_bytes("/edit_file", TOKEN, br#"{"name":"locked","append":"x"}"#);
    among(&server, crowd().min(MORE_THAN_HELD), first, b"");
}

#[test]
fn a_mixed_crowd_keeps_nobody_out_and_its_connections_end() {
    let (_folder, server) = start(&[]);
    let before = descriptors(server.pid());
    let ping = ping(1).to_string();
    let first = |n: usize| match n % 5 {
        0 => Vec::new(),
        1 => b"POST /mcp HTTP/1.1\r\nX: ".into(),
        2 => [post_head("/edit_file", TOKEN, 64 << 10).as_bytes(), &[b' '; 60 << 10]].concat(),
        3 => post_bytes("/read_file", TOKEN, br#"{"name":"large"}"#),
        _ => post_bytes("/mcp", TOKEN, ping.as_bytes()),
    };
    among(&server, crowd(), first, b" ");
    until("all connections are closed", || descriptors(server.pid()) <= before + 5);
}

#[test]
fn a_connection_that_was_served_outlasts_a_crowd_of_strangers() {
    let (_folder, server) = start(&[]);
    let mut known = server.connect();
    let mut ask = || {
        known.write(&post_bytes("/mcp", TOKEN, ping(1).to_string().as_bytes()));
        known.read().status
    };
    assert_eq!(ask(), 200);
    let _all: Vec<_> = (0..crowd()).map(|_| server.connect()).collect();
    small(&server);
    assert_eq!(ask(), 200);
}

#[test]
fn askers_at_the_admin_port_that_stay_are_answered_and_closed() {
    let (_folder, server) = start(&["--admin-port=0"]);
    let port = server.admin_port();
    let ask = || {
        let mut asker = Connection::to("127.0.0.1", port);
        asker.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n");
        let answer = asker.read();
        assert_eq!((answer.status, answer.header("connection")), (200, Some("close")));
        assert!(asker.read_what_comes(Duration::from_secs(20)).is_empty(), "one request for each");
        asker
    };
    let _stay: Vec<_> = (0..200).map(|_| ask()).collect();
    let _silent: Vec<_> = (0..200).map(|_| Connection::to("127.0.0.1", port)).collect();
    mostly_within(Duration::from_secs(1), || {
        let began = Instant::now();
        ask();
        began.elapsed()
    });
}
