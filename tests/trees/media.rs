//! `read_media_file` tells what bytes are, whatever the name says; what is no media names the tool to call. Files that are no
//! text, and folders, are named as such by every tool that reads.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{make, on_all, put, serve};
use crate::support::{Folder, Mcp};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

/// The item of the answer to a call that must succeed.
fn item(server: &dyn Mcp, path: &str) -> Value {
    let answer =
        server.rpc("tools/call", json!({ "name": "read_media_file", "arguments": { "path": path } }));
    assert_eq!(answer["result"]["isError"], false, "{path}: {answer}");
    answer["result"]["content"][0].clone()
}

#[test]
fn the_media_type_is_that_of_the_bytes() {
    let files: [(&str, &[u8], &str, &str); 12] = [
        ("a.png", PNG, "image", "image/png"),
        ("b.jpg", PNG, "image", "image/png"),
        ("c", b"\xFF\xD8\xFF\xE0\0\x10JFIF\0", "image", "image/jpeg"),
        ("d.png", b"GIF89a\x01\0\x01\0\x80\0\0", "image", "image/gif"),
        ("e.bin", b"RIFF\x04\0\0\0WEBPVP8 ", "image", "image/webp"),
        ("f.png", b"BM\x1e\0\0\0\0\0\0\0\x1a\0\0\0", "resource", "image/bmp"),
        ("g.png", b"\0\x01\x02\x03", "resource", "application/octet-stream"),
        ("h.mp3", b"ID3\x04\0\0\0\0\0\0", "audio", "audio/mpeg"),
        ("i.txt", b"RIFF\x04\0\0\0WAVEfmt ", "audio", "audio/wav"),
        ("j.png", b"OggS\0\x02\0", "audio", "audio/ogg"),
        ("k.txt", b"%PDF-1.7\n%\xE2\xE3\xCF\xD3\n", "resource", "application/pdf"),
        ("l.jpeg", b"PK\x03\x04\x14\0\0\0", "resource", "application/zip"),
    ];
    let fill = |folder: &Folder| files.iter().for_each(|(name, bytes, ..)| put(folder, name, bytes));
    on_all(&[], fill, |server, folder| {
        for (name, bytes, kind, media_type) in files {
            let data = STANDARD.encode(bytes);
            let uri = format!("file://{}", folder.path().join(name).display());
            let expected = match kind {
                "resource" => {
                    json!({ "type": kind, "resource": { "uri": uri, "mimeType": media_type, "blob": data } })
                }
                kind => json!({ "type": kind, "mimeType": media_type, "data": data }),
            };
            assert_eq!(item(server, name), expected, "{name}");
        }
    });
}

#[test]
fn an_image_whose_base64_is_longer_than_clients_take_is_a_resource() {
    let folder = Folder::new();
    let most = (5 << 20) / 4 * 3;
    for (name, len) in [("fits.png", most), ("longer.png", most + 1)] {
        put(&folder, name, [PNG, &vec![0; len - PNG.len()]].concat());
    }
    let server = serve(&folder, &[]);
    assert_eq!(item(&server, "fits.png")["type"], "image");
    let longer = item(&server, "longer.png");
    assert_eq!((&longer["type"], &longer["resource"]["mimeType"]), (&json!("resource"), &json!("image/png")));
}

#[test]
fn what_is_no_media_names_the_tool_to_call() {
    let files: [(&str, &[u8], &str, bool); 8] = [
        ("empty.png", b"", "is empty", false),
        (
            "logo.svg",
            b"<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n",
            "is an SVG image, which is text",
            true,
        ),
        ("logo.png", b"<svg/>", "is an SVG image, which is text", true),
        (
            "big.png",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
            "is a Git LFS pointer",
            false,
        ),
        ("page.jpg", b"<!doctype html>\n<p>404</p>\n", "is text, not media", true),
        ("wide.png", b"\xFF\xFEa\0", "is text, not media", true),
        ("latin.txt", b"caf\xE9 au lait\n", "is text, not media", true),
        ("latin.svg", b"<svg><text>caf\xE9</text></svg>\n", "is an SVG image, which is text", true),
    ];
    let fill = |folder: &Folder| files.iter().for_each(|(name, bytes, ..)| put(folder, name, bytes));
    on_all(&[], fill, |server, _| {
        for (name, _, what, is_text) in files {
            let refused = server.tool("read_media_file", json!({ "path": name }));
            assert!(
                refused.is_error && refused.first_line().starts_with(&format!("Error: File '{name}' {what}")),
                "{}",
                refused.text
            );
            // A text that is not UTF-8 is read with its encoding only.
            let is_utf_8 = !matches!(name, "wide.png" | "latin.txt" | "latin.svg");
            let encoding = if is_utf_8 { "" } else { "\"encoding\":\"auto\"," };
            let call = format!("Read it with read_text_file {{{encoding}\"path\":\"{name}\"}}.");
            assert_eq!(refused.text.contains(&call), is_text, "{}", refused.text);
        }
    });
}

#[test]
fn what_is_no_text_is_named_and_no_encoding_is_advised() {
    let files: [(&str, &[u8], &str); 4] = [
        ("paper", b"%PDF-1.7\n%\xE2\xE3\xCF\xD3\n\xE4\xF6\xFC\xDF and so on\n", "a PDF document"),
        ("pack", b"PK\x03\x04\x14\0\0\0\x08\0", "a ZIP archive"),
        ("prog", b"\x7fELF\x02\x01\x01\0\0\0\0\0", "an ELF program or library"),
        ("photo", b"\xFF\xD8\xFF\xE0\x10\x4A\x46\x49", "a JPEG image"),
    ];
    let fill = |folder: &Folder| files.iter().for_each(|(name, bytes, _)| put(folder, name, bytes));
    on_all(&[], fill, |server, _| {
        for (name, _, what) in files {
            for encoding in ["utf-8", "auto"] {
                let call = json!({ "path": name, "encoding": encoding });
                let refused = server.tool("read_text_file", call.clone());
                let expected = format!(
                    "It is {what}, not text. Get its bytes with read_media_file {{\"path\":\"{name}\"}}."
                );
                assert!(refused.is_error && refused.text.contains(&expected), "{call}: {}", refused.text);
                assert!(!refused.text.contains("likely"), "{}", refused.text);
            }
            let many = server.ok("read_multiple_files", json!({ "paths": [name] }));
            assert!(many.contains(&format!("It is {what}, not text.")), "{many}");
        }
    });
}

#[test]
fn a_folder_is_named_as_one_by_every_tool_that_wants_a_file() {
    on_all(
        &[],
        |folder| make(folder, "src"),
        |server, _| {
            let edits = json!([{ "oldText": "a", "newText": "b" }]);
            for (tool, arguments) in [
                ("read_text_file", json!({ "path": "src" })),
                ("read_file", json!({ "path": "src/" })),
                ("read_media_file", json!({ "path": "src" })),
                ("edit_file", json!({ "path": "src", "edits": edits })),
                ("write_file", json!({ "path": "src", "content": "x" })),
                ("copy_file", json!({ "source": "src", "destination": "lib" })),
            ] {
                let refused = server.tool(tool, arguments);
                let expected =
                    "\nIt is a folder, not a file. See what is in it with list_directory {\"path\":\"src";
                assert!(refused.is_error && refused.text.contains(expected), "{tool}: {}", refused.text);
            }
            let many = server.ok("read_multiple_files", json!({ "paths": ["src"] }));
            assert!(
                many.contains("It is a folder, not a file. See what is in it with list_directory"),
                "{many}"
            );
        },
    );
    for (set, tool, arguments) in [
        ("lines", "read_file", json!({ "name": "src" })),
        ("exact", "file_edit", json!({ "path": "src", "edits": [{ "old_text": "a", "new_text": "b" }] })),
        ("text", "read_file", json!({ "filename": "src" })),
        ("text", "edit_file", json!({ "filename": "src", "new_text": "b" })),
        ("text", "write_file", json!({ "filename": "src", "content": "b" })),
    ] {
        let folder = Folder::new();
        make(&folder, "src");
        let server = crate::support::Stdio::start(&folder, &[&format!("--tools={set}")]).ready();
        let refused = server.tool(tool, arguments);
        assert!(
            refused.is_error && refused.text.contains("It is a folder, not a file."),
            "{set} {tool}: {}",
            refused.text
        );
        let lists = refused.text.contains("See what is in it with view {\"filename\":\"src\"}.");
        assert_eq!(lists, set == "text", "{set} {tool}: {}", refused.text);
    }
}

#[test]
fn a_file_that_hides_its_size_is_refused_and_not_told_as_empty() {
    let path = std::path::Path::new("/proc/sys/kernel");
    if !std::fs::read(path.join("ostype")).is_ok_and(|bytes| !bytes.is_empty()) {
        return;
    }
    let dir = format!("--dir={}", path.display());
    for (set, calls) in [
        ("filesystem", vec![("read_text_file", "path"), ("read_media_file", "path")]),
        ("text", vec![("read_file", "filename"), ("view", "filename")]),
    ] {
        let folder = Folder::new();
        let server =
            crate::support::Stdio::start(&folder, &[&format!("--tools={set}"), &dir, "--read-only"]).ready();
        for (tool, argument) in calls {
            let refused = server.tool(tool, json!({ argument: "ostype" }));
            assert!(
                refused.is_error && refused.text.contains("it says that it has 0 bytes but holds some"),
                "{set} {tool}: {}",
                refused.text
            );
        }
    }
}

#[test]
fn a_file_that_hides_its_size_is_no_proof_of_absence_and_has_no_number_of_lines() {
    let path = std::path::Path::new("/proc/sys/kernel");
    if !std::fs::read(path.join("ostype")).is_ok_and(|bytes| !bytes.is_empty()) {
        return;
    }
    let serve = |tools: &str| {
        let mut bare = crate::support::bare_command();
        bare.args([tools, "--transport=stdio", "--read-only", &format!("--dir={}", path.display())]);
        crate::support::Stdio::run(bare).ready()
    };
    let text = serve("--tools=search").ok("grep", json!({ "pattern": "Linux", "path": "ostype" }));
    assert!(text.contains("left out: 1 file that cannot be read"), "{text}");
    let listed = serve("--tools=lines").ok("list_files", json!({ "match": "ostype" }));
    assert!(listed.contains("ostype") && !listed.contains("0 lines"), "{listed}");
}

#[test]
fn a_file_of_sys_is_read_as_far_as_it_goes() {
    let path = std::path::Path::new("/sys/kernel/mm/transparent_hugepage");
    let Ok(content) = std::fs::read_to_string(path.join("defrag")) else { return };
    let folder = Folder::new();
    let dir = format!("--dir={}", path.display());
    let server = crate::support::Stdio::start(&folder, &["--tools=filesystem", &dir, "--read-only"]).ready();
    for arguments in [
        json!({ "path": "defrag" }),
        json!({ "path": "defrag", "start_line": 1 }),
        json!({ "path": "defrag", "tail": 2 }),
    ] {
        assert_eq!(server.ok("read_text_file", arguments).trim_end(), content.trim_end());
    }
    assert!(server.ok("read_multiple_files", json!({ "paths": ["defrag"] })).contains(content.trim()));
}
