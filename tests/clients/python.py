"""The Python SDK, 1.x or 2.x: python.py handshake|stateless|auto stdio|http <binary or URL> <folder>."""

import asyncio
import importlib.metadata
import sys
from contextlib import asynccontextmanager
from pathlib import Path

VERSION = importlib.metadata.version("mcp")
WANTED = {"handshake": "2025-11-25", "stateless": "2026-07-28", "auto": "2026-07-28"}


@asynccontextmanager
async def connect_1(transport, target, folder):
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client

    if transport == "stdio":
        parameters = StdioServerParameters(command=target, args=[f"--dir={folder}", "--transport=stdio"])
        streams = stdio_client(parameters)
    else:
        streams = streamable_http_client(target)
    async with streams as (read, write, *_), ClientSession(read, write) as session:
        yield session, (await session.initialize()).protocolVersion


@asynccontextmanager
async def connect_2(mode, transport, target, folder):
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    if transport == "stdio":
        target = StdioServerParameters(command=target, args=[f"--dir={folder}", "--transport=stdio"])
    mode = {"handshake": "legacy", "stateless": "2026-07-28", "auto": "auto"}[mode]
    async with Client(target, mode=mode) as client:
        yield client, client.protocol_version


async def call(session, tool, arguments):
    result = await session.call_tool(tool, arguments)
    is_error = result.isError if hasattr(result, "isError") else result.is_error
    return result.content[0].text, bool(is_error)


async def expect(session, tool, arguments, wanted):
    found = await call(session, tool, arguments)
    assert found == (wanted, False), found


async def unknown_tool(session):
    try:
        result = await session.call_tool("no_such_tool", {})
    except Exception as error:  # each version of the SDK has its own
        return getattr(error, "error", error).code
    return f"no error: {result}"


async def workflow(session, folder):
    tools = [tool.name for tool in (await session.list_tools()).tools]
    assert tools == ["list_files", "read_file", "edit_file"], tools
    await expect(session, "list_files", {}, "Files in directory:\n\nTotal files: 0")
    created = "File edited successfully: notes.txt\nLines modified: 3\nTotal lines: 3\nFile created: true"
    await expect(session, "edit_file", {"name": "notes.txt", "append": "one\ntwo\nthree"}, created)
    whole = "File: notes.txt (3 lines)\n\none\ntwo\nthree"
    await expect(session, "read_file", {"name": "notes.txt"}, whole)
    one = {"name": "notes.txt", "start_line": 1, "end_line": 1}
    await expect(session, "read_file", one, "File: notes.txt (lines 1-1 of 3 total)\n\ntwo")
    edit = {"line": 1, "operation": "replace", "content": "TWO", "expect": "two"}
    edited = "File edited successfully: notes.txt\nLines modified: 1\nTotal lines: 3\nFile created: false"
    await expect(session, "edit_file", {"name": "notes.txt", "edits": [edit]}, edited)
    assert (folder / "notes.txt").read_bytes() == b"one\nTWO\nthree\n"

    text, is_error = await call(session, "read_file", {"name": "missing.txt"})
    assert is_error and text.startswith("Error: File 'missing.txt' not found"), text
    assert await unknown_tool(session) == -32602

    (folder / "numbers.txt").write_text("".join(f"number {n}\n" for n in range(50)))
    reads = [
        expect(
            session,
            "read_file",
            {"name": "numbers.txt", "start_line": n, "end_line": n},
            f"File: numbers.txt (lines {n}-{n} of 50 total)\n\nnumber {n}",
        )
        for n in range(50)
    ]
    await asyncio.gather(*reads)

    lines = [f'{n} "quoted" \\ back \t tab ü 漢字 😀 \x01\x7f\u2028' for n in range(60_000)]
    text = "\n".join(lines)
    assert len(text.encode()) >= 2 << 20
    (folder / "large.txt").write_bytes(text.encode())
    read, is_error = await call(session, "read_file", {"name": "large.txt"})
    assert read == f"File: large.txt (60000 lines)\n\n{text}" and not is_error, "the large file came back changed"


async def main(mode, transport, target, folder):
    if VERSION.startswith("1."):
        connection = connect_1(transport, target, folder)
    else:
        connection = connect_2(mode, transport, target, folder)
    async with connection as (session, spoken):
        assert spoken == WANTED[mode], spoken
        await asyncio.wait_for(workflow(session, Path(folder)), 60)
    print(f"ok: Python SDK {VERSION}, {mode}, {transport}: spoke {spoken}")


asyncio.run(main(*sys.argv[1:]))
