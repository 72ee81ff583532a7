//! What a server holds that nobody asks (contract 9).

use serde_json::json;

use crate::support::{Direct, Folder, Http, Stdio, mapped_memory, until};

/// Asserts that the pages of the program's code leave the memory of the process, and that the code still runs.
fn rests(server: &impl Direct, pid: u32) {
    let read = json!({ "name": "f" });
    server.direct("read_file", read.clone());
    let asked = mapped_memory(pid);
    until("half of the program's pages are given back", || mapped_memory(pid) < asked / 2);
    server.direct("read_file", read);
}

#[test]
fn a_server_at_rest_gives_the_pages_of_its_code_back() {
    not_under_wine!("Windows drops pages of code itself");
    let folder = Folder::new();
    folder.write("f", "a line\n");
    let stdio = Stdio::start(&folder, &[]);
    rests(&stdio, stdio.pid());
    let http = Http::start(&folder, &[]);
    rests(&http, http.pid());
}
