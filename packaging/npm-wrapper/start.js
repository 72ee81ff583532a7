#!/usr/bin/env node
// Starts the binary of this platform, which a package of its own holds. Where node can replace its process, it does; else it
// passes signals on and ends as the server ends. Killed by SIGKILL, it cannot: a server over HTTP goes on.
"use strict";

const isWindows = process.platform === "win32";
// Windows on ARM64 runs programs for x64, and there is no package of its own for it.
const arch = isWindows && process.arch === "arm64" ? "x64" : process.arch;
const name = `file-editor-${process.platform}-${arch}`;
let binary;
try {
  binary = require.resolve(`${name}/bin/file-editor${isWindows ? ".exe" : ""}`);
} catch {
  console.error(`file-editor: there is no package ${name}. Install with optional dependencies, or build from source with cargo.`);
  process.exit(1);
}
const args = process.argv.slice(2);
let env = process.env;
if (args.some((arg) => arg.startsWith("--print-config"))) {
  const words = wordsOfNpx();
  // The binary prints them in place of its path.
  if (words) env = { ...env, FILE_EDITOR_STARTED_BY: JSON.stringify(words) };
}
// Node has it from 22.15 on. It would abort at a program that may not be executed; the start below fails with one line.
if (typeof process.execve === "function" && !isWindows && isExecutable()) {
  process.execve(binary, [binary, ...args], env);
}
// Loaded only here: they cost 2 ms.
const { spawn } = require("node:child_process");
const { constants } = require("node:os");
// On Windows the console tells the server itself of Ctrl-C, and kill() would end it at once: this program only waits for its end.
// Before the start, so that no signal in between ends this program alone.
const pass = isWindows ? () => {} : (signal) => child.kill(signal);
// SIGUSR1 asks the server for its status. Without a listener of this program, node would open its debugger.
for (const signal of isWindows ? ["SIGINT", "SIGBREAK", "SIGHUP"] : ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1"]) {
  process.on(signal, pass);
}
const child = spawn(binary, args, { stdio: "inherit", env });
child.on("error", (error) => {
  console.error(`file-editor: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));

function isExecutable() {
  const { accessSync, constants } = require("node:fs");
  try {
    accessSync(binary, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

// How npx starts this program, if it has installed it in its cache, which may be cleared: there it notes what it was asked for.
function wordsOfNpx() {
  let packages;
  try {
    packages = require("../../package.json")._npx.packages;
  } catch {
    return undefined;
  }
  if (!Array.isArray(packages) || packages.length === 0) return undefined;
  const { resolve } = require("node:path");
  const start = isWindows ? ["cmd", "/c", "npx", "--yes"] : ["npx", "--yes"];
  const one = packages.length === 1 && /^file-editor(@[^/:]*)?$/.test(packages[0]);
  if (one) return [...start, packages[0]];
  const named = packages.map((spec) => `--package=${spec.startsWith(".") ? resolve(spec) : spec}`);
  return [...start, ...named, "--", "file-editor"];
}
