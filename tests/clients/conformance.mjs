// The official conformance suite against a server: node conformance.mjs <URL> <folder for results>.
//
// Every scenario that applies to a server without the suite's own test tools. Within one scenario a few checks ask for
// such a tool all the same; these, and no others, may fail, and must say that they are not testable for that reason.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const SCENARIOS = {
  "2025-11-25": [
    "server-initialize",
    "server-session-lifecycle",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
  ],
  // The suite's client still negotiates 2025-11-25; its messages are held against the older schema.
  "2025-06-18": ["server-initialize", "ping", "tools-list", "resources-list", "prompts-list"],
  "2026-07-28": [
    "server-stateless",
    "tools-list",
    "server-sse-multiple-streams",
    "resources-list",
    "sep-2164-resource-not-found",
    "prompts-list",
    "dns-rebinding-protection",
    "caching",
    "http-header-validation",
    "input-required-result-unsupported-methods",
  ],
};

// Checks on tools that only a server made for the suite has.
const NEED_TEST_TOOLS = [
  "sep-2575-server-rejects-undeclared-capability",
  "sep-2575-missing-capability-http-400",
  "sep-2575-http-server-no-independent-requests-on-stream",
  "sep-2575-server-no-log-without-loglevel",
];

const [url, results] = process.argv.slice(2);
const suite = join(process.env.NODE_MODULES, "@modelcontextprotocol/conformance/dist/index.js");
const totals = { scenarios: 0, checks: 0, failures: 0, notApplicable: 0, warnings: 0 };

function count(where, check) {
  if (check.status === "FAILURE" && NEED_TEST_TOOLS.includes(check.id) && /^Not testable: .*'test_\w+'/.test(check.errorMessage)) {
    totals.notApplicable += 1;
  } else if (check.status === "FAILURE") {
    totals.failures += 1;
    console.log(`FAILED: ${where}: ${check.id}: ${check.errorMessage ?? check.description}`);
  } else if (check.status === "SUCCESS") {
    totals.checks += 1;
  } else if (check.status === "WARNING") {
    totals.warnings += 1;
  }
}

for (const [revision, scenarios] of Object.entries(SCENARIOS)) {
  for (const scenario of scenarios) {
    const where = `${revision} ${scenario}`;
    const out = join(results, revision, scenario);
    mkdirSync(out, { recursive: true });
    const args = ["server", "--url", url, "--scenario", scenario, "--spec-version", revision, "-o", out];
    const run = spawnSync(process.execPath, [suite, ...args], { encoding: "utf8", timeout: 60_000 });
    const found = readdirSync(out);
    if (found.length !== 1) {
      totals.failures += 1;
      console.log(`FAILED: ${where}: no results\n${run.stdout}${run.stderr}`);
      continue;
    }
    totals.scenarios += 1;
    for (const check of JSON.parse(readFileSync(join(out, found[0], "checks.json"), "utf8"))) count(where, check);
  }
}
console.log(
  `conformance: ${totals.scenarios} scenarios, ${totals.checks} checks passed, ${totals.failures} failed, ` +
    `${totals.warnings} warnings, ${totals.notApplicable} need the suite's own test tools`,
);
process.exit(totals.failures === 0 && totals.checks > 0 ? 0 : 1);
