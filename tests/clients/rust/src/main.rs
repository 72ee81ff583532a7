//! The workflow of the client tests with the Rust SDK: `client <revision> stdio|http <binary or URL> <folder>`.
//!
//! A handshake revision is asked for by `initialize`, `default` leaves the choice to the SDK, `auto` probes.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use rmcp::model::{CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{RunningService, ServiceError};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;
type Client = RunningService<RoleClient, ClientConfig>;

/// What a call gave: the text, and whether it is an error.
async fn call(client: &Client, tool: &'static str, arguments: Value) -> Outcome<(String, bool)> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let result = client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await?;
    let text = result.content.first().and_then(|block| block.as_text()).ok_or("no text")?;
    Ok((text.text.clone(), result.is_error.unwrap_or(false)))
}

async fn expect(client: &Client, tool: &'static str, arguments: Value, wanted: &str) -> Outcome<()> {
    let (text, is_error) = call(client, tool, arguments).await?;
    assert_eq!((text.as_str(), is_error), (wanted, false), "{tool}");
    Ok(())
}

fn revision(name: &str) -> Outcome<ProtocolVersion> {
    Ok(serde_json::from_value(json!(name))?)
}

fn lifecycle(asked: &str) -> Outcome<ClientLifecycleMode> {
    let stateless = vec![revision("2026-07-28")?];
    Ok(match asked {
        "2026-07-28" => ClientLifecycleMode::Discover { preferred_versions: stateless },
        "auto" => ClientLifecycleMode::Auto { preferred_versions: stateless, legacy_version: None },
        _ => ClientLifecycleMode::Initialize,
    })
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [asked, transport, target, folder] = &arguments[..] else {
        return Err("usage: client <revision> stdio|http <binary or URL> <folder>".into());
    };
    let folder = PathBuf::from(folder);
    let mut info = ClientConfig::new(ClientCapabilities::default(), Implementation::new("rust-client", "1"));
    if asked.starts_with("20") && asked != "2026-07-28" {
        info = info.with_protocol_version(revision(asked)?);
    }
    let client = if transport == "stdio" {
        let mut command = tokio::process::Command::new(target);
        command.arg(format!("--dir={}", folder.display())).arg("--transport=stdio");
        info.serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle(asked)?).await?
    } else {
        let http = StreamableHttpClientTransport::from_uri(target.as_str());
        info.serve_with_lifecycle(http, lifecycle(asked)?).await?
    };
    let spoken = client.peer_info().ok_or("no server info")?.protocol_version.to_string();
    let wanted = match asked.as_str() {
        "default" => "2025-11-25",
        "auto" => "2026-07-28",
        revision => revision,
    };
    assert_eq!(spoken, wanted, "the revision agreed on");

    let tools: Vec<String> =
        client.list_all_tools().await?.into_iter().map(|tool| tool.name.into()).collect();
    assert_eq!(tools, ["list_files", "read_file", "edit_file"]);
    expect(&client, "list_files", json!({}), "Files in directory:\n\nTotal files: 0").await?;
    let created =
        "File edited successfully: notes.txt\nLines modified: 3\nTotal lines: 3\nFile created: true";
    let lines = json!({ "name": "notes.txt", "append": "one\ntwo\nthree" });
    expect(&client, "edit_file", lines, created).await?;
    let whole = "File: notes.txt (3 lines)\n\none\ntwo\nthree";
    expect(&client, "read_file", json!({ "name": "notes.txt" }), whole).await?;
    let range = json!({ "name": "notes.txt", "start_line": 1, "end_line": 1 });
    expect(&client, "read_file", range, "File: notes.txt (lines 1-1 of 3 total)\n\ntwo").await?;
    let edit = json!({ "line": 1, "operation": "replace", "content": "TWO", "expect": "two" });
    let edited =
        "File edited successfully: notes.txt\nLines modified: 1\nTotal lines: 3\nFile created: false";
    expect(&client, "edit_file", json!({ "name": "notes.txt", "edits": [edit] }), edited).await?;
    assert_eq!(fs::read_to_string(folder.join("notes.txt"))?, "one\nTWO\nthree\n");

    let (text, is_error) = call(&client, "read_file", json!({ "name": "missing.txt" })).await?;
    assert!(is_error && text.starts_with("Error: File 'missing.txt' not found"), "{text}");
    match client.call_tool(CallToolRequestParams::new("no_such_tool")).await {
        Err(ServiceError::McpError(error)) => assert_eq!(error.code.0, -32602, "{error:?}"),
        other => panic!("an unknown tool gave {other:?}"),
    }

    let numbers: String = (0..50).map(|n| format!("number {n}\n")).collect();
    fs::write(folder.join("numbers.txt"), numbers)?;
    let client = std::sync::Arc::new(client);
    let reads = (0..50).map(|n| {
        let client = client.clone();
        tokio::spawn(async move {
            let range = json!({ "name": "numbers.txt", "start_line": n, "end_line": n });
            let wanted = format!("File: numbers.txt (lines {n}-{n} of 50 total)\n\nnumber {n}");
            expect(&client, "read_file", range, &wanted).await
        })
    });
    for read in reads.collect::<Vec<_>>() {
        read.await??;
    }

    let line = |n: usize| format!("{n} \"quoted\" \\ back \t tab ü 漢字 😀 \u{1}\u{7f}\u{2028}");
    let lines: Vec<String> = (0..60_000).map(line).collect();
    let text = lines.join("\n");
    assert!(2 << 20 <= text.len());
    fs::write(folder.join("large.txt"), &text)?;
    let wanted = format!("File: large.txt (60000 lines)\n\n{text}");
    let (read, is_error) = call(&client, "read_file", json!({ "name": "large.txt" })).await?;
    assert!(read == wanted && !is_error, "the large file came back changed");

    let client = std::sync::Arc::into_inner(client).ok_or("still in use")?;
    client.cancel().await?;
    println!("ok: Rust SDK rmcp 3.9.0, {asked}, {transport}: spoke {spoken}");
    Ok(())
}
