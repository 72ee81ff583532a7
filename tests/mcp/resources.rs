//! Resources, prompts and the cursors of all lists (contract 6.5).

use serde_json::{Value, json};

use crate::support::{Folder, file_uri, on_both, on_both_with};

#[test]
fn files_are_resources_that_can_be_listed_and_read() {
    on_both(|server, folder| {
        folder.write("a b", "");
        folder.write("crlf.txt", "\u{FEFF}a\r\nb\r\n");
        folder.write("empty", "");
        folder.write("zero", "\0");
        server.begin("2025-11-25");
        let list = server.rpc("resources/list", json!({}))["result"]["resources"].clone();
        let list = list.as_array().expect("resources");
        let uri = |name: &str| file_uri(&folder.path().join(name));
        let listed: Vec<(&Value, &Value)> =
            list.iter().map(|resource| (&resource["uri"], &resource["name"])).collect();
        let (crlf, empty) = (json!(uri("crlf.txt")), json!(uri("empty")));
        assert_eq!(listed, [(&crlf, &json!("crlf.txt")), (&empty, &json!("empty"))]);
        assert_eq!(list[0]["size"], 9);
        // The bytes as they are, so that the size is right.
        let read = server.rpc("resources/read", json!({ "uri": crlf }));
        let contents = &read["result"]["contents"];
        assert_eq!(
            (&contents[0]["uri"], &contents[0]["text"]),
            (&crlf, &json!("\u{FEFF}a\r\nb\r\n")),
            "{read}"
        );
        let read = server.rpc("resources/read", json!({ "uri": empty }));
        assert_eq!(read["result"]["contents"][0]["text"], "", "{read}");
        assert!(server.rpc("resources/templates/list", json!({}))["result"]["resourceTemplates"].is_array());
    });
}

#[test]
fn a_resource_that_is_missing_outside_or_no_text_is_not_found() {
    on_both(|server, folder| {
        std::fs::write(folder.outside("secret"), "secret\n").expect("a file");
        folder.write("zero", "\0");
        server.begin("2025-11-25");
        let inside = file_uri(folder.path());
        for uri in [
            format!("{inside}/missing"),
            format!("{inside}/zero"),
            format!("{inside}/../secret"),
            format!("{inside}/%2e%2e/secret"),
            format!("{inside}/..%2Fsecret"),
            "file:///etc/passwd".to_owned(),
            "test://x".to_owned(),
            inside.clone(),
        ] {
            let error = server.rpc("resources/read", json!({ "uri": uri }))["error"].clone();
            assert_eq!(
                (&error["code"], &error["data"]["uri"]),
                (&json!(-32002), &json!(uri)),
                "{uri}: {error}"
            );
        }
        for params in [json!({}), json!({ "uri": 5 })] {
            assert_eq!(server.rpc("resources/read", params)["error"]["code"], -32602);
        }
    });
}

#[test]
fn a_resource_that_is_too_large_is_listed_and_its_refusal_names_what_reads_it() {
    for (flags, way) in [
        (&["--max-size=1"][..], "The operator can raise the limit with --max-file."),
        (
            &["--max-size=1", "--tools=filesystem"],
            "by read_text_file with head, tail, or start_line and end_line",
        ),
        (&["--max-size=1", "--tools=agent"], "by read with lines or tail; grep;"),
    ] {
        let fill = |folder: &Folder| {
            folder.write("large.txt", "a line\n".repeat(1 << 18));
            folder.write("video", [&b"a\0b"[..], &vec![b'x'; 2 << 20]].concat());
        };
        on_both_with(flags, fill, |server, folder| {
            server.begin("2025-11-25");
            let list = server.rpc("resources/list", json!({}))["result"]["resources"].clone();
            let uri = file_uri(&folder.path().join("large.txt"));
            assert_eq!((list.as_array().map(Vec::len), &list[0]["uri"]), (Some(1), &json!(uri)), "{list}");
            assert_eq!(list[0]["size"], 7 << 18);
            let error = server.rpc("resources/read", json!({ "uri": uri }))["error"].clone();
            let message = error["message"].as_str().expect("a message");
            assert!(
                message.starts_with("File size ") && message.contains("exceeds maximum limit 1"),
                "{error}"
            );
            assert!(message.contains(way), "{flags:?}: {error}");
            assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32602), &json!(uri)));
        });
    }
}

#[test]
fn many_resources_come_in_pages() {
    not_under_wine!("looks up a thousand names slower than an answer may take");
    on_both(|server, folder| {
        for n in 0..1_500 {
            folder.write(&format!("f{n:04}"), "x\n");
        }
        let (mut names, mut params) = (Vec::new(), json!({}));
        loop {
            let page = server.rpc("resources/list", params)["result"].clone();
            let resources = page["resources"].as_array().expect("resources");
            names.extend(
                resources.iter().map(|resource| resource["name"].as_str().expect("a name").to_owned()),
            );
            assert!(names.len() <= 1_500 && !resources.is_empty(), "{}", names.len());
            match page.get("nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor.as_str().expect("a string") }),
                None => break,
            }
        }
        assert_eq!(names, (0..1_500).map(|n| format!("f{n:04}")).collect::<Vec<_>>());
    });
}

#[test]
fn an_invalid_cursor_is_refused_by_every_list() {
    on_both(|server, _| {
        for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
            for cursor in [json!("no such cursor"), json!(5), json!("")] {
                let answer = server.rpc(method, json!({ "cursor": cursor }));
                assert_eq!(answer["error"]["code"], -32602, "{method} {cursor}: {answer}");
            }
        }
    });
}

#[test]
fn prompts_are_listed_and_can_be_got_and_an_unknown_one_is_refused() {
    on_both(|server, _| {
        let list = server.rpc("prompts/list", json!({}))["result"]["prompts"].clone();
        for prompt in list.as_array().expect("prompts") {
            assert!(prompt["name"].is_string() && prompt["description"].is_string(), "{prompt}");
        }
        for params in [json!({ "name": "no such prompt" }), json!({})] {
            assert_eq!(server.rpc("prompts/get", params)["error"]["code"], -32602);
        }
    });
}
