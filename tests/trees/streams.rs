//! Long answers that are written while they are sent: a media file as base64, a long list.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::{on_all, put};

#[test]
fn a_media_file_of_any_length_is_told_byte_for_byte_with_its_version() {
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
    let bytes = |len: usize| (0..len).map(|n| (n * 31 % 251) as u8).collect::<Vec<u8>>();
    let image = |len: usize| [PNG, &bytes(len - PNG.len())].concat();
    let lengths = [8, 9, 10, 11, 65_535, 65_536, 65_537, 300_001];
    let fill = |folder: &_| lengths.iter().for_each(|len| put(folder, &format!("{len}.png"), image(*len)));
    on_all(&[], fill, |server, folder| {
        put(folder, "large.bin", bytes(300_002));
        for len in lengths {
            let arguments = json!({ "path": format!("{len}.png") });
            let answer =
                server.rpc("tools/call", json!({ "name": "read_media_file", "arguments": arguments }));
            let result = &answer["result"];
            let item =
                json!({ "type": "image", "mimeType": "image/png", "data": STANDARD.encode(image(len)) });
            assert_eq!(result["content"], json!([item]), "{len}");
            assert_eq!(result["isError"], false);
            assert!(result["_meta"]["file-editor/version"].is_string(), "{answer}");
        }
        let arguments = json!({ "path": "large.bin" });
        let answer = server.rpc("tools/call", json!({ "name": "read_media_file", "arguments": arguments }));
        let resource = &answer["result"]["content"][0]["resource"];
        assert_eq!(resource["blob"], STANDARD.encode(bytes(300_002)));
        assert_eq!(resource["mimeType"], "application/octet-stream");
    });
}

#[test]
fn a_long_list_has_every_name_in_order_and_escaped() {
    let names: Vec<String> = (0..3_000).map(|n| format!("common \"start\" ü {n:05}")).collect();
    let fill = |folder: &_| names.iter().rev().for_each(|name| put(folder, name, ""));
    on_all(&["--answer-limit=0"], fill, |server, _| {
        let list = server.tool("list_directory", json!({ "path": "." })).text;
        let told: Vec<&str> =
            list.lines().map(|line| line.strip_prefix("[FILE] ").expect("a file")).collect();
        assert!(told == names);
    });
}
