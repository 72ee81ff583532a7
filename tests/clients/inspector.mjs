// The Inspector's command line: node inspector.mjs legacy|modern stdio|http <binary or URL> <folder>.
//
// Each request is a process of its own, which connects anew.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { workflow } from "./workflow.mjs";

const [era, transport, target, folder] = process.argv.slice(2);
const home = join(process.env.NODE_MODULES, "@modelcontextprotocol/inspector");
const inspector = join(home, "clients/launcher/build/index.js");
const { version } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
const server = transport === "stdio" ? ["--", target, `--dir=${folder}`, "--transport=stdio"] : [];
const place = transport === "http" ? [target, "--transport", "http"] : [];

// Of fifty requests at once eight are under way at a time: each is a process with a runtime of its own.
let free = 8;
const waiting = [];

function run(args) {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, [inspector, "--cli", ...place, "--protocol-era", era, ...args, ...server], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [out, err] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (err += text));
    child.on("error", failed);
    child.on("close", (code) => done({ code, out, err }));
  });
}

async function limited(args) {
  if (free === 0) await new Promise((go) => waiting.push(go));
  else free -= 1;
  try {
    return await run(args);
  } finally {
    if (waiting.length > 0) waiting.shift()();
    else free += 1;
  }
}

async function call(name, args) {
  const pairs = Object.entries(args).flatMap(([key, value]) => {
    return ["--tool-arg", `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`];
  });
  return limited(["--method", "tools/call", "--tool-name", name, ...pairs]);
}

await workflow(
  {
    tools: async () => {
      const { code, out, err } = await limited(["--method", "tools/list"]);
      assert.equal(code, 0, err);
      return JSON.parse(out).tools.map((tool) => tool.name);
    },
    call: async (name, args) => {
      const { out, err } = await call(name, args);
      const result = JSON.parse(out || `{"content":[{"text":${JSON.stringify(err)}}]}`);
      return { text: result.content[0].text, isError: result.isError ?? false };
    },
    // It looks a tool up in the list before it calls it, and reports by its exit code.
    unknown: async (name) => {
      const { code, out, err } = await call(name, {});
      assert.ok(code !== 0 && /no_such_tool/.test(out + err), out + err);
      return -32602;
    },
  },
  folder,
);
console.log(`ok: Inspector ${version}, ${era}, ${transport}`);
