// Writes what minimatch answers, with the options of the reference server, for patterns and paths that differ from other globs:
//     node globs.mjs <folder of node_modules> > globs.json
// The result is kept beside this file, so that tests need no npm. tests/reference/run checks that it is still right.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import path from "node:path";

const require = createRequire(path.join(path.resolve(process.argv[2]), "x.js"));
const { minimatch } = await import(pathToFileURL(require.resolve("minimatch")).href);

const paths = ["a.txt", "b.txt", "A.TXT", "ab.txt", "a", "x", "xb", "ba", ".env", ".config", ".config/x", "src", "src/a.txt", "src/.env", "src/deep/a.txt",
  "src/deep", "docs/a.txt", "a/b", "a/b/c", "a/c", "a/b/b/c", "node_modules", "node_modules/p/i.js", "src/node_modules/p", "!n.txt", "#c.txt", "[x].txt", "x.txt",
  "{a,b}.txt", "(a).txt", "*", "a*b", "?", "ü.txt", "😀.txt", "é.txt", "e\u0301.txt", "1.txt", "5.txt", "10.txt", "05.txt", "c.txt", "e.txt",
  "aa", "aaa", "abab", "a-b", "a b", "a b/c.txt", "-", "]", "^", "\\", "a\\b", "a|b", "a+b", "$x", "a.b.c", ".", "...", "..x", "x/..y", "_", "É.txt"];
const patterns = ["", "*", "**", "***", "**/*", "*/**", "**/**", "*/*", "*/*/*", "?", "??", "*.txt", "**/*.txt", "**.txt", "a**", "**a", "a**b", "src/**", "src/**/*", "src/*",
  "src", "src/", "/src", "./src", "src/.", "src/./a.txt", "src//a.txt", "src/../a.txt", "src/../*", "../a.txt", "**/src", "**/src/**", "**/../a.txt", "**/", "/**", "/",
  "**/a.txt", "**/deep/**", "**/deep", "src/**/a.txt", "a/**/c", "a/**/b/c", "**/b/**/c", "**/node_modules", "**/node_modules/**", "node_modules", ".*", "*env", ".env", "**/.*", "**/.env",
  ".config/*", "[a]*", "[ab].txt", "[!a].txt", "[^a].txt", "[a-c].txt", "[c-a].txt", "[a-]*", "[-a]*", "[]]", "[]a]", "[!]]", "[", "[a", "a]", "[]", "[!]", "[[]x].txt", "\\[x].txt", "\\[x\\].txt", "[x].txt",
  "[[:alpha:]].txt", "[[:digit:]].txt", "[[:upper:]].*", "[[:space:]]", "a[[:space:]]b", "[[:punct:]]*", "[![:alpha:]].txt", "[^[:alnum:]]*", "[[:foo:]].txt", "[é].txt", "[ü-😀].txt", "?.txt", "??.txt",
  "{a,b}.txt", "\\{a,b\\}.txt", "{a}.txt", "{,a}b.txt", "{a,}.txt", "{a,b", "a,b}", "{a..c}.txt", "{c..a}.txt", "{1..10}.txt", "{01..10}.txt", "{1..10..2}.txt", "{a..e..2}.txt", "{a,{b,c}}.txt", "{src,docs}/**", "{src/**,a.txt}",
  "{}", "{}.txt", "${x}", "*.{txt,js}", "{*,.*}", "{[ab],c}.txt",
  "!a.txt", "!*.txt", "!!a.txt", "!!!a.txt", "!", "!!", "\\!n.txt", "\\!*", "!(a).txt", "x!(a)", "@(a|b).txt", "+(a|b)", "+(ab)", "*(a|b)", "*(a|b).txt", "?(a)b.txt", "?(x)b", "@(src|docs)/*", "@(a|*).txt", "+([ab])", "@(a|b", "(a).txt", "(a|b).txt", "@(!(a)).txt",
  "@(a|@(b|c)).txt", "*(a|!(b))", "#c.txt", "\\#c.txt", "#", "\\*", "a\\*b", "a*b", "\\?", "\\a.txt", "a\\\\b", "\\\\", "a\\b", "a|b", "a+b", "$x", "^", "a.b.c", "a.*.c", "*.*", "*.*.*", "A.TXT", "a.TXT", "*.TXT",
  "ü.txt", "é.txt", "e\u0301.txt", "?\u0301.txt", "É.txt", "a b", "a b/*", "a\\ b", ".", "..", "...", "..*", ".?", "x/*", "x/..*", "**/*b*/**", "{a,b}/{b,c}", "a/*/c", "a/{b,b/b}/c", "_", "-", "*-*"];

const rows = patterns.map((pattern) => {
  const found = paths.filter((path) => minimatch(path, pattern, { dot: true }));
  return `    ${JSON.stringify(pattern)}: ${JSON.stringify(found)}`;
});
console.log(`{\n  "paths": ${JSON.stringify(paths)},\n  "matches": {\n${[...new Set(rows)].join(",\n")}\n  }\n}`);
