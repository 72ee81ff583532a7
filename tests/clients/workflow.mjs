// The workflow that every JavaScript client goes through, whatever carries its requests.
//
// A client is {spoken, tools(), call(name, arguments) -> {text, isError}, unknown(name) -> error code}.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const NUMBERS = 50;

/** Over 2 MiB, with everything that JSON and UTF-8 make hard. */
export function largeText() {
  const line = (n) => `${n} "quoted" \\ back \t tab ü 漢字 😀 \u0001\u007f\u2028`;
  const text = Array.from({ length: 60_000 }, (_, n) => line(n)).join("\n");
  assert.ok(Buffer.byteLength(text) >= 2 << 20);
  return text;
}

export async function workflow(client, folder) {
  const expect = async (tool, args, wanted) =>
    assert.deepEqual(await client.call(tool, args), { text: wanted, isError: false });

  assert.deepEqual(await client.tools(), ["list_files", "read_file", "edit_file"]);
  await expect("list_files", {}, "Files in directory:\n\nTotal files: 0");
  await expect(
    "edit_file",
    { name: "notes.txt", append: "one\ntwo\nthree" },
    "File edited successfully: notes.txt\nLines modified: 3\nTotal lines: 3\nFile created: true",
  );
  await expect("read_file", { name: "notes.txt" }, "File: notes.txt (3 lines)\n\none\ntwo\nthree");
  await expect(
    "read_file",
    { name: "notes.txt", start_line: 1, end_line: 1 },
    "File: notes.txt (lines 1-1 of 3 total)\n\ntwo",
  );
  const edit = { line: 1, operation: "replace", content: "TWO", expect: "two" };
  await expect(
    "edit_file",
    { name: "notes.txt", edits: [edit] },
    "File edited successfully: notes.txt\nLines modified: 1\nTotal lines: 3\nFile created: false",
  );
  assert.equal(readFileSync(join(folder, "notes.txt"), "utf8"), "one\nTWO\nthree\n");

  const missing = await client.call("read_file", { name: "missing.txt" });
  assert.ok(missing.isError && missing.text.startsWith("Error: File 'missing.txt' not found"), missing.text);
  assert.equal(await client.unknown("no_such_tool"), -32602);

  const numbers = Array.from({ length: NUMBERS }, (_, n) => `number ${n}`);
  writeFileSync(join(folder, "numbers.txt"), numbers.join("\n"));
  const read = (n) =>
    expect(
      "read_file",
      { name: "numbers.txt", start_line: n, end_line: n },
      `File: numbers.txt (lines ${n}-${n} of ${NUMBERS} total)\n\nnumber ${n}`,
    );
  await Promise.all(numbers.map((_, n) => read(n)));

  const text = largeText();
  writeFileSync(join(folder, "large.txt"), text);
  const large = await client.call("read_file", { name: "large.txt" });
  // Not assert.equal: a difference of megabytes takes it minutes to print.
  assert.ok(large.text === `File: large.txt (60000 lines)\n\n${text}`, "the large file came back changed");
}
