#!/usr/bin/env python3
"""Compares file-editor with the reference file system server: random trees, random calls, equal texts and files.

Both servers work on their own copy of one tree. After each call, the answers and the two trees are compared. What may differ stands
in `rules.py`; anything else is a failure, which is reported with the smallest tree that shows it. Exit code 1 if there is one.
"""

import argparse
import collections
import json
import os
import random
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import edits  # noqa: E402
import trees  # noqa: E402
from calls import Calls, bound  # noqa: E402
from rules import ERROR_TEXTS, LENIENT, RULES, Case, Unsorted, names  # noqa: E402
from server import Careful, Faulty, Gone, Server  # noqa: E402
from trees import ROOT  # noqa: E402

ZONES = ["UTC", "UTC", "UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"]


class Pair:
    """Two servers, each with its own copy of a tree."""

    def __init__(self, folder, zone, settings):
        self.roots = [os.path.join(folder, side, "tree") for side in ("a", "b")]
        for root in self.roots:
            os.makedirs(root)
        self.zone, self.settings = zone, settings
        self.servers = []

    def start(self):
        one, other = self.roots
        self.servers.append(Server([*self.settings.reference, one], self.zone))
        if self.settings.careful:
            second = Careful([*self.settings.reference, other], self.zone, other)
        elif self.settings.fault:
            second = Faulty([*self.settings.reference, other], self.zone, other, self.settings.fault)
        elif self.settings.binary:
            flags = ["--transport=stdio", "--tools=filesystem", "--answer-limit=0", *self.settings.flag]
            second = Server([self.settings.binary, *flags, f"--dir={other}"], self.zone)
        else:
            second = Server([*self.settings.reference, other], self.zone)
        self.servers.append(second)

    def close(self):
        for server in self.servers:
            server.close()
        self.servers = []

    def fill(self, tree):
        for root in self.roots:
            trees.write(tree, root)

    def ask(self, side, tool, arguments):
        root = self.roots[side]
        return told(self.servers[side].call(tool, bound(arguments, root)), root)


def ours(settings):
    return bool(settings.binary or settings.careful)


def told(answer, root):
    """An answer as (whether it is a success, its content), with the root replaced."""
    if "error" in answer:
        return False, answer["error"]["message"].replace(root, ROOT)
    result = answer["result"]
    content = json.loads(json.dumps(result["content"], ensure_ascii=False).replace(root, ROOT))
    return (False, content[0]["text"]) if result.get("isError") else (True, content)


def turned(content, change):
    return [{**item, "text": change(item["text"])} if item.get("type") == "text" else item for item in content]


class Judge:
    """Compares the outcomes of one call. `used` counts the rules."""

    def __init__(self, allowed):
        self.rules = [rule for rule in RULES if not rule.open or rule.name in allowed]
        self.used = collections.Counter()

    def outcome(self, pair, case):
        """Makes the call on both sides. Returns what is wrong (None: nothing), both answers, and the rules used."""
        rules = [rule for rule in self.rules if rule.applies(case)]
        before = trees.read(pair.roots[1])
        first = pair.ask(0, case.tool, case.arguments)
        second = pair.ask(1, case.tool, case.arguments)
        used = []
        if case.meant is not None and not first[0] and second[0]:
            used.append(LENIENT)
            case.arguments = case.meant
            rules = [rule for rule in self.rules if rule.applies(case)]
            first = pair.ask(0, case.tool, case.arguments)
        one, other = (trees.read(root) for root in pair.roots)
        wrong = self.wrong(case, rules, first, second, before, one, other, used)
        free = next((rule for rule in rules if rule.free), None)
        if wrong and free:
            wrong, used = None, [free.name]
        return wrong, first, second, used

    def wrong(self, case, rules, first, second, before, one, other, used):
        if not second[0]:
            if before != other:
                return "a failed call changed files: " + changes(before, other)
            if not first[0]:
                used += [ERROR_TEXTS] if first[1] != second[1] else []
                return None if one == before else "the trees differ: " + changes(one, other)
            refusal = next((rule for rule in rules if rule.refuses), None)
            if not refusal:
                return "the reference server succeeds, the other one fails"
            used.append(refusal.name)
            return None
        if not first[0]:
            return "the reference server fails, the other one succeeds"
        try:
            if not self.same_text(case, rules, first[1], second[1], used):
                return "the answers differ"
        except Unsorted as why:
            return str(why)
        return self.trees(case, rules, one, other, used)

    def same_text(self, case, rules, one, other, used):
        for rule in rules:
            if rule.normal and (one != other or rule.name == "order-of-listings"):
                differed = one != other
                one = turned(one, lambda text: rule.normal(case, text, False))
                other = turned(other, lambda text: rule.normal(case, text, True))
                used += [rule.name] if differed and one == other else []
        return one == other

    def trees(self, case, rules, one, other, used):
        for rule in rules:
            if rule.files and one != other:
                one, other = ({path: (*entry[:2], rule.files(entry[2])) if entry[0] == "file" and path in trees.differences(one, other)
                               else entry for path, entry in tree.items()} for tree in (one, other))
                used.append(rule.name)
        return None if one == other else "the trees differ: " + changes(one, other)


def changes(one, other):
    return "; ".join(f"{path!r}: {str(one.get(path))[:300]} | {str(other.get(path))[:300]}" for path in trees.differences(one, other)[:5])


def smallest(pair, judge, call, tree):
    """The tree without all that the failure does not need."""
    tool, arguments, meant = call

    def fails(smaller):
        pair.fill(smaller)
        case = Case(tool, arguments, trees.read(pair.roots[0]), pair.roots[0], pair.zone, ours(pair.settings), meant)
        return judge.outcome(pair, case)[0] is not None
    if not fails(tree):
        return None
    for path in sorted(tree, reverse=True):
        smaller = {other: entry for other, entry in tree.items() if other != path and not other.startswith(path + "/")}
        if path in tree and fails(smaller):
            tree = smaller
    return tree


class Run:
    def __init__(self, settings):
        self.settings, self.judge = settings, Judge(settings.allow)
        self.calls, self.both = collections.Counter(), collections.Counter()
        self.failures = []

    def go(self):
        end = time.monotonic() + self.settings.seconds if self.settings.seconds else None
        for nth in range(self.settings.trees):
            if len(self.failures) >= self.settings.failures or end and time.monotonic() > end:
                break
            self.tree(nth)

    def tree(self, nth):
        chance = random.Random(f"{self.settings.seed}-{nth}")
        zone = chance.choice(ZONES)
        with tempfile.TemporaryDirectory(prefix="reference-") as folder:
            pair = Pair(os.path.realpath(folder), zone, self.settings)
            pair.fill(trees.make(chance))
            pair.start()
            try:
                draw = Calls(chance)
                for _ in range(self.settings.calls):
                    if len(self.failures) >= self.settings.failures:
                        break
                    tree = trees.timed(pair.roots[0])
                    call = draw.draw(tree)
                    self.one(nth, pair, tree, call)
            except Gone as why:
                self.fail(nth, pair, tree, call, str(why), None, None)
            finally:
                pair.close()

    def one(self, nth, pair, tree, call):
        tool, arguments, meant = call
        case = Case(tool, arguments, {path: entry[:3] for path, entry in tree.items()}, pair.roots[0], pair.zone,
                    ours(self.settings), meant)
        wrong, first, second, used = self.judge.outcome(pair, case)
        self.calls[tool] += 1
        self.both[tool] += first[0] and second[0]
        self.judge.used.update(set(used))
        if wrong:
            kept = {path: (*entry, os.stat(os.path.join(pair.roots[0], path)).st_mtime_ns) if entry[0] == "file" else entry
                    for path, entry in trees.read(pair.roots[0]).items()}
            small = smallest(pair, self.judge, call, tree) if self.settings.shrink else tree
            self.fail(nth, pair, small or tree, call, wrong + ("" if small else " (not again on a fresh tree: it needs the calls before)"), first, second)
            pair.fill(kept)
        trees.copy(*pair.roots)

    def fail(self, nth, pair, tree, call, wrong, first, second):
        tool, arguments, _ = call
        self.failures.append(tool)
        if self.settings.quiet:
            return
        print(f"\nFAILURE {len(self.failures)}: {wrong}\n  seed {self.settings.seed}, tree {nth}, TZ={pair.zone}\n  tree:\n{trees.told(tree)}\n"
              f"  call: {tool} {json.dumps(arguments, ensure_ascii=False)}")
        for name, answer in (("reference", first), ("other", second)):
            if answer:
                print(f"  {name}: {'success' if answer[0] else 'failure'} {shown(answer[1])}")

    def report(self):
        total = sum(self.calls.values())
        print(f"\n{total} calls, {sum(self.both.values())} with success on both sides: "
              + ", ".join(f"{tool} {self.both[tool]}/{count}" for tool, count in sorted(self.calls.items())))
        print("known differences, with the number of calls in which they were seen:")
        reasons = {}
        for rule in RULES:
            reasons.setdefault(rule.name, rule)
        for name, rule in reasons.items():
            state = "" if not rule.open else " [open, allowed]" if name in self.settings.allow else " [open, NOT allowed]"
            print(f"  {self.judge.used[name]:6} {name}{state}: {rule.reason}")
        print(f"{len(self.failures)} differences that no rule explains")


def shown(content):
    text = json.dumps(content, ensure_ascii=False)
    return text if len(text) <= 3000 else text[:3000] + f" … {len(text)} characters"


def self_test(settings):
    """The reference server beside itself, plain and with the known differences: no failure. With each injected fault: at least one."""
    settings.binary, bad = None, [f"edits.py is wrong about {content!r}" for content in edits.wrong_examples()]
    for settings.careful, meaning in ((False, "itself"), (True, "itself with the known differences")):
        print(f"the reference server beside {meaning}")
        run = Run(settings)
        run.go()
        run.report()
        bad += [f"the reference server differs from {meaning}"] if run.failures else []
    settings.careful = False
    settings.quiet, settings.shrink, settings.failures = True, False, 1
    settings.trees, settings.calls = 12, 150
    for fault, meaning in Faulty.FAULTS.items():
        settings.fault = fault
        run = Run(settings)
        run.go()
        print(f"{'found' if run.failures else 'NOT FOUND'} after {sum(run.calls.values())} calls: {meaning}", flush=True)
        bad += [] if run.failures else [f"not found: {meaning}"]
    return bad


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--reference", required=True, help="the command of the reference server, as JSON: [\"node\", \"…/index.js\"]")
    options.add_argument("--binary", help="file-editor; without it, the reference server is compared with itself")
    options.add_argument("--flag", action="append", default=[], help="a further flag for file-editor")
    options.add_argument("--seed", default=str(random.SystemRandom().randrange(10**6)))
    options.add_argument("--trees", type=int, default=40)
    options.add_argument("--calls", type=int, default=100, help="calls a tree")
    options.add_argument("--seconds", type=float, help="starts no further tree after this time")
    options.add_argument("--failures", type=int, default=10, help="stops after so many")
    options.add_argument("--allow", action="append", default=[], choices=names(), help="accept an open difference")
    options.add_argument("--no-shrink", dest="shrink", action="store_false")
    options.add_argument("--self-test", action="store_true", help="the reference server beside itself, without and with injected faults")
    settings = options.parse_args()
    settings.reference = json.loads(settings.reference)
    settings.fault, settings.quiet, settings.careful = None, False, False
    os.umask(0o022)
    print(f"seed {settings.seed}", flush=True)
    if settings.self_test:
        bad = self_test(settings)
        sys.exit("\n".join(bad) if bad else 0)
    run = Run(settings)
    run.go()
    run.report()
    sys.exit(1 if run.failures else 0)


if __name__ == "__main__":
    main()
