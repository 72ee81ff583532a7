// The TypeScript SDK: node typescript.mjs stdio|http <binary or URL> <folder>. It always asks for 2025-11-25.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { workflow } from "./workflow.mjs";

// Installed outside the sources: NODE_MODULES says where.
const require = createRequire(`${process.env.NODE_MODULES}/`);
const load = (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${name}`)));
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");

const { version: sdkVersion } = JSON.parse(
  readFileSync(join(process.env.NODE_MODULES, "@modelcontextprotocol/sdk/package.json"), "utf8"),
);
const [transport, target, folder] = process.argv.slice(2);
const client = new Client({ name: "typescript-client", version: "1" });
const connection =
  transport === "stdio"
    ? new StdioClientTransport({ command: target, args: [`--dir=${folder}`, "--transport=stdio"] })
    : new StreamableHTTPClientTransport(new URL(target));
let spoken;
// The SDK tells its transport what was agreed on, and nobody else.
const tell = connection.setProtocolVersion?.bind(connection);
connection.setProtocolVersion = (version) => {
  spoken = version;
  tell?.(version);
};
await client.connect(connection);
assert.equal(spoken, "2025-11-25");
await workflow(
  {
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: async (name, args) => {
      const result = await client.callTool({ name, arguments: args });
      return { text: result.content[0].text, isError: result.isError ?? false };
    },
    unknown: (name) => client.callTool({ name }).then(() => "no error", (error) => error.code),
  },
  folder,
);
await client.close();
console.log(`ok: TypeScript SDK ${sdkVersion}, ${transport}: spoke ${spoken}`);
