#!/usr/bin/env node
// Starts the binary of this platform, which a package of its own holds. Where node can replace its process, it does; else it
// passes signals on and ends as the server ends.
"use strict";

const isWindows = process.platform === "win32";
const name = `file-editor-${process.platform}-${process.arch}`;
let binary;
try {
  binary = require.resolve(`${name}/bin/file-editor${isWindows ? ".exe" : ""}`);
} catch {
  console.error(`file-editor: there is no package ${name}. Install with optional dependencies, or build from source with cargo.`);
  process.exit(1);
}
const args = process.argv.slice(2);
// Node has it from 22.15 on.
if (typeof process.execve === "function" && !isWindows) {
  process.execve(binary, [binary, ...args], process.env);
}
// Loaded only here: they cost 2 ms.
const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const child = spawn(binary, args, { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`file-editor: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
