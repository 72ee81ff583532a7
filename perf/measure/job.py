"""Runs the load generator: sends a job, checks the first answers, reads the results."""

import json
import os
import statistics
import subprocess


class Load:
    def __init__(self, binary, rounds, quick=False):
        self.binary, self.rounds, self.quick = binary, rounds, quick

    def time(self, runs, check, **limits):
        """The times of each run in nanoseconds, by name. A run whose first answer is wrong has a reason instead.

        A run has a name, a command, a mode, requests and a file for its first answer."""
        job = {"rounds": self.rounds, "turn_ms": 60, "turn_requests": 40, "most_ms": 2500, **limits, "runs": runs}
        with subprocess.Popen([self.binary, "time"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            say(process, job)
            results, right = {}, []
            for name, failed in hear(process):
                failed = failed or checked(check, name)
                results[name] = {"failed": failed} if failed else {}
                right += [] if failed else [name]
            say(process, right)
            for report in hear(process):
                results[report["name"]] = {"failed": report["failed"]} if report["failed"] else figures(**report)
        return results

    def memory(self, runs, later_ms):
        process = subprocess.run([self.binary, "memory"], check=True, stdout=subprocess.PIPE,
                                 input=json.dumps({"runs": runs, "later_ms": later_ms}).encode() + b"\n")
        return {report["name"]: report for report in json.loads(process.stdout)}

    def floor(self, what, answer, *arguments):
        return [self.binary, "floor", what, answer, *map(str, arguments)]


def checked(check, name):
    """Why the first result is wrong; None if it is right."""
    try:
        return None if check(name) else "the outcome is not what was asked"
    except (KeyError, ValueError, IndexError, TypeError) as why:
        return f"the answer is not what the tool promises: {type(why).__name__} {why}"[:200]


def figures(samples, asked, **_):
    """The statistics of all answers; with two to four different requests, also the median of each."""
    ordered = sorted(samples)
    low, high = (ordered[int(len(ordered) * part)] for part in (0.1, 0.9))
    found = {"median_ns": statistics.median(ordered), "p10_ns": low, "p90_ns": high, "samples": len(ordered)}
    if 1 < len(set(asked)) <= 4:
        found["each_ns"] = [statistics.median(sample for sample, nth in zip(samples, asked) if nth == one)
                            for one in sorted(set(asked))]
    return found


def say(process, what):
    process.stdin.write(json.dumps(what).encode() + b"\n")
    process.stdin.flush()


def hear(process):
    line = process.stdout.readline()
    if not line:
        raise SystemExit("the load generator ended")
    return json.loads(line)


def answer(path):
    """A first answer as JSON. Raises ValueError with the error text if the tool failed."""
    with open(path, "rb") as file:
        data = json.load(file)
    if "error" in data or data["result"].get("isError"):
        raise ValueError(json.dumps(data.get("error") or data["result"]["content"])[:160])
    return data


def ready(folder, name):
    return os.path.join(folder, f"answer-{name.replace(' ', '-')}")
