"""A project of 60 text files in memory, the same at each run: code of four languages, docs, settings and a log.

The places that the jobs of `perf/day` look for are planted in it, and words that nearly are what they look for."""

import random

DEFINITION = "quay_depth"  # A Rust function, and `quay_depth_limit` beside it.
TYPO, MENDED = "recieve", "receive"
OLD_NAME, NEW_NAME = "parse_berth", "parse_mooring"  # A Python function, and `parse_berth_list` beside it.
WORDS = ("tidal", "ledger")
LOG, MOMENT = "logs/harbour.log", "2026-11-20T14:02:37.412Z"
SETTINGS, SECTION, SETTING = "config/harbour.toml", "gateway", "retry_limit"
RELATED = ["gateway/router.go", "gateway/router_test.go", "docs/routing.md"]
RULES, RULE = "berth_rules.yaml", "max_draft"
LICENCE = "# SPDX-License-Identifier: MIT"

NOUNS = ("anchor berth cargo crane depth dock draft fender ferry gate harbour hull jetty lane lock manifest mooring pilot "
         "port quota region report route schedule sensor signal slot tariff tide tug vessel voyage weather window").split()
VERBS = "assign check close count filter find fold join load mark merge open plan read refresh release send sort store sum track".split()
LINKS = "for the next of each before this while that is free within a known after every one with an older".split()


class Words:
    """Names and sentences, chosen by a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def noun(self):
        return self.random.choice(NOUNS)

    def name(self):
        return f"{self.random.choice(VERBS)}_{self.noun()}"

    def camel(self):
        first, *rest = self.name().split("_")
        return first + "".join(word.title() for word in rest)

    def number(self):
        return self.random.choice([2, 3, 8, 12, 20, 48, 60, 96, 120, 400])

    def sentence(self):
        words = [self.random.choice(VERBS).title() + "s the"]
        for _ in range(self.random.randint(2, 4)):
            words += [self.noun(), self.random.choice(LINKS)]
        return " ".join([*words, self.noun()]) + "."

    def filled(self, template):
        """The template with a new word for each of its places."""
        names = {key: self.noun() for key in "abc"}
        return template.format(n=self.number(), name=self.name(), camel=self.camel(), sentence=self.sentence(), **names)

    def body(self, templates, least, most):
        return "".join(self.filled(self.random.choice(templates)) for _ in range(self.random.randint(least, most)))


RUST = ["    let {a} = {b}.iter().filter(|one| one.{c} > {n}).count();\n", "    // {sentence}\n",
        "    if {a} > {n} {{\n        return Err(Error::{name}({a}));\n    }}\n", "    log::debug!(\"{sentence} {{}}\", {a});\n",
        "    for one in &self.{a} {{\n        total += one.{b}.min({n});\n    }}\n",
        "    let {a} = self.{name}({b}, {n})?;\n    self.{c}.push({a});\n"]
GO = ["\t{a} := make([]{b}, 0, {n})\n", "\t// {sentence}\n", "\tif err := {camel}({a}, {n}); err != nil {{\n\t\treturn fmt.Errorf(\"{a}: %w\", err)\n\t}}\n",
      "\tfor _, one := range {a}.{camel}() {{\n\t\t{b} = append({b}, one.{c})\n\t}}\n", "\tlog.Printf(\"{sentence} %d\", {a})\n"]
PYTHON = ["    {a} = [one for one in {b} if one.{c} > {n}]\n", "    # {sentence}\n", "    if {a} > {n}:\n        raise ValueError(\"{sentence}\")\n",
          "    for one in {a}.{name}():\n        {b}[one.{c}] = one\n", "    {a} = {name}({b}, {c}, limit={n})\n"]
SCRIPT = ["  const {a} = {b}.filter((one) => one.{c} > {n});\n", "  // {sentence}\n", "  if ({a}.length > {n}) {{\n    throw new Error('{sentence}');\n  }}\n",
          "  {a}.forEach((one) => {{\n    {b}.set(one.id, one.{c});\n  }});\n", "  const {a} = await {camel}({b}, {n});\n"]


def rust(words):
    text = words.filled("//! {sentence}\n\nuse std::collections::BTreeMap;\n\nuse crate::{a}::{name};\nuse crate::error::Error;\n")
    for _ in range(words.random.randint(3, 7)):
        text += words.filled("\n/// {sentence}\npub fn {name}({a}: &[Slot], {b}: usize) -> Result<usize, Error> {{\n")
        text += words.body(RUST, 3, 11) + words.filled("    Ok({a})\n}}\n")
    return text


def go(words):
    text = "// Package gateway is the way in.\npackage gateway\n\nimport (\n\t\"fmt\"\n\t\"log\"\n)\n"
    text += words.filled("\n// {sentence}\ntype {camel}State struct {{\n\t{a} int\n\t{b} string\n}}\n")
    for _ in range(words.random.randint(4, 8)):
        text += words.filled("\n// {sentence}\nfunc (s *Server) {camel}({a} []Slot, {b} int) error {{\n")
        text += words.body(GO, 3, 11) + "\treturn nil\n}\n"
    return text


def python(words):
    text = words.filled('"""{sentence}"""\n\nimport json\nimport sys\n')
    for _ in range(words.random.randint(4, 8)):
        text += words.filled("\n\ndef {name}({a}, {b}, limit={n}):\n    \"\"\"{sentence}\"\"\"\n")
        text += words.body(PYTHON, 3, 11) + words.filled("    return {a}\n")
    return text


def script(words):
    text = words.filled("// {sentence}\nimport {{ {camel} }} from './{a}';\nimport type {{ Slot }} from './types';\n")
    for _ in range(words.random.randint(4, 8)):
        text += words.filled("\n/** {sentence} */\nexport async function {camel}({a}: Slot[], {b}: number): Promise<Slot[]> {{\n")
        text += words.body(SCRIPT, 3, 11) + words.filled("  return {a};\n}}\n")
    return text


def page(words):
    text = words.filled("# The {a} and the {b}\n")
    for _ in range(words.random.randint(4, 7)):
        text += words.filled("\n## {sentence}\n\n")
        for _ in range(words.random.randint(3, 9)):
            text += " ".join(words.sentence() for _ in range(words.random.randint(1, 2))) + "\n"
        text += "".join(f"- {words.sentence()}\n" for _ in range(words.random.randint(0, 4)))
    return text


def settings(words):
    """Sections of settings; the setting that is changed stands in two of them with one value."""
    text = "# Settings of all parts.\n"
    for section in ("server", SECTION, "archive", "web", "pilot", "weather"):
        keys = dict.fromkeys(words.name() for _ in range(9))
        lines = [f"{key} = {words.number()}" for key in keys]
        lines[4:4] = [f"{SETTING} = 3"] if section in (SECTION, "archive") else []
        text += f"\n[{section}]\n" + "\n".join(lines) + "\n"
    return text


def rules(words):
    names = dict.fromkeys(words.name() for _ in range(20))
    return "rules:\n" + "".join(f"  {name}: {words.number()}\n" for name in names) + f"  {RULE}: 14.5\n  min_depth: 9.0\n"


def log(words, count=2000):
    """Lines with times that grow, some followed by lines without one; the moment is near the end."""
    lines, at = [], 50_557_412 - 1_880 * 1_250  # Milliseconds of the day.
    while len(lines) < count:
        at = 50_557_412 if len(lines) == count - 140 else at + words.random.randint(200, 2_000)
        seconds, part = divmod(at, 1000)
        stamp = f"2026-11-20T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{part:03}Z"
        level = words.random.choice(["INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR"])
        lines.append(f"{stamp} {level:5} {words.noun()}: {words.name()} {words.noun()}={words.number()} took {words.number()} ms")
        if level == "ERROR" and len(lines) != count - 140:
            lines.append(f"    caused by: {words.name()}: {words.noun()} {words.number()}")
    return "\n".join(lines) + "\n"


def named(folder, ending, names):
    return [f"{folder}/{name}.{ending}" for name in names.split()]


KINDS = [
    (rust, named("server/src", "rs", "main depth error slot lock/mod lock/gate lock/level plan/mod plan/berth plan/crane plan/tide store/mod store/index store/file")),
    (go, named("gateway", "go", "router router_test server session limits health codec client retry")),
    (python, named("tools", "py", "berths importer exporter nightly report check_log plans/weekly plans/daily backup")),
    (script, named("web/src", "ts", "app map table api/client api/types panels/berths panels/cranes panels/weather")),
    (page, named("docs", "md", "overview install routing storage planning api operations weather faq changes guides/pilot guides/crane guides/office")),
    (page, ["README.md", "CONTRIBUTING.md"]),
    (settings, [SETTINGS]),
    (rules, ["deploy/regions/north/" + RULES, "deploy/regions/south/crane_rules.yaml"]),
    (page, ["deploy/README.md"]),
    (log, [LOG]),
]


def plant(files, path, lines, at=0.5):
    """Puts lines at a part of the file, before a function, a heading or a comment, or at the end."""
    text = files[path].split("\n")
    starts = [nth for nth, line in enumerate(text) if nth > 6 and line.startswith(("/// ", "// ", "def ", "## ", "/** "))] or [len(text) - 1]
    where = starts[int(at * len(starts)) % len(starts)]
    files[path] = "\n".join(text[:where] + lines + [""] + text[where:])


def of(kind):
    return next(paths for made, paths in KINDS if made is kind)


def make():
    """The files: path and text."""
    files = {}
    for kind, paths in KINDS:
        for path in paths:
            files[path] = kind(Words(path))
    plant_definition(files)
    for nth, path in enumerate([*of(rust)[2:5], *of(page)[3:7], of(python)[3]]):
        lead = "//" if path.endswith("rs") else "#" if path.endswith("py") else "-"
        line = f"The office must {TYPO} the plan, and what it {TYPO}s is kept." if nth % 3 else f"It is {TYPO}d once."
        plant(files, path, [f"{lead} {line}"], 0.3)
    plant_name(files)
    for nth, path in enumerate([*of(rust)[5:9], *of(page)[2:8], *of(go)[2:5]]):
        lead = "//" if path.endswith(("rs", "go")) else "-"
        both = [f"{lead} See the {WORDS[1]}."] if nth % 4 == 0 else []
        plant(files, path, [f"{lead} The {WORDS[nth % 2]} table is read once.", *both], 0.6)
    for nth, path in enumerate([*of(rust)[6:10], *of(go)[1:4], *of(python)[2:5], *of(script)[2:6]]):
        lead = "#" if path.endswith("py") else "//"
        plant(files, path, [f"{lead} TODO: {Words(nth).sentence().lower()}", f"{lead} Until then: {Words(nth + 50).noun()} first."], 0.8)
        if nth % 5 == 0:
            plant(files, path, [f"{lead} TODO: look at the {Words(nth + 90).noun()} again."], 0.1)
    return files


def plant_definition(files):
    body = [f"pub fn {DEFINITION}(berth: &Slot, tide: i32) -> i32 {{", "    berth.draft - tide.min(berth.depth)", "}"]
    near = [f"/// The least {DEFINITION} that a pilot takes.", f"pub fn {DEFINITION}_limit(berth: &Slot) -> i32 {{", "    berth.draft + 2", "}"]
    plant(files, "server/src/depth.rs", ["/// The water below the keel.", *body, "", *near])
    for nth, path in enumerate(of(rust)[6:12]):
        uses = [f"    let left = {DEFINITION}(berth, {nth}) - crate::depth::{DEFINITION}_limit(berth);"]
        uses += [f"    debug_assert!({DEFINITION}(berth, 0) > left);"] if nth % 2 else []
        plant(files, path, [f"/// Whether the vessel fits, by its `{DEFINITION}`." if nth == 3 else "/// Whether the vessel fits.",
                            f"pub fn fits_{nth}(berth: &Slot) -> bool {{", *uses, "    left > 0", "}"], 0.4)


def plant_name(files):
    first, *others = of(python)[:5]
    plant(files, first, [f"def {OLD_NAME}(line):", '    """One berth of a line."""', "    return line.split(';')", "", "",
                         f"def {OLD_NAME}_list(text):", f"    return [{OLD_NAME}(line) for line in text.splitlines()]", ""])
    for nth, path in enumerate(others):
        uses = [f"    return [{OLD_NAME}(one) for one in lines]"] + ([f"    # {OLD_NAME} takes one line."] if nth == 1 else [])
        plant(files, path, [f"from berths import {OLD_NAME}", "", "", f"def berths_{nth}(lines):", *uses, ""], 0.7)
