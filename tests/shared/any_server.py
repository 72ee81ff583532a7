"""What one server told holds on the others: versions and cursors. And on each server an idempotency key."""

import re
import threading

from servers import Failed

# Entries of a folder: several answers of a server with this limit, in KB.
ENTRIES, ANSWER_LIMIT = 750, 5

VERSION_REFUSED = "does not have the expected version"


def version_of(result):
    return result["_meta"]["file-editor/version"]


def pages(clients, tool, **arguments):
    """The texts of all answers of a list or search. Each cursor goes to another server than the one that gave it."""
    texts = []
    while True:
        result = clients[len(texts) % len(clients)].call(tool, **arguments)
        texts.append(result["content"][0]["text"])
        truncated = result["_meta"].get("file-editor/truncated")
        if truncated is None:
            return texts
        arguments = truncated["next"]


def refused_version(call):
    """None if the call was refused because of the version; else what came of it."""
    try:
        return call()
    except Failed as failure:
        return None if VERSION_REFUSED in str(failure) else str(failure)


def versions(setting):
    """A version holds on any server while the content is the same, and on none after that. All texts have the same length, and
    many changes are made within a second, so that neither size nor time of the file shows them."""
    clients, missed, rounds = setting.clients(), [], 12
    setting.write("versioned", "before\n")
    for turn in range(rounds):
        reader, editor = turn % 3, (turn + 1 + turn // 3 % 2) % 3
        read = version_of(clients[reader].call("read_text_file", path="versioned"))
        text = f"t{turn:05}\n"
        change = {"path": "versioned", "content": text, "expected_version": read}
        try:
            told = version_of(clients[editor].call("write_file", **change))
        except Failed as failure:
            missed.append(f"server {editor} refused the version that server {reader} told: {failure}")
            continue
        for place, client in enumerate(clients):
            seen = client.call("read_text_file", path="versioned")
            if (version_of(seen), seen["content"][0]["text"]) != (told, text):
                missed.append(f"server {place} shows {seen}, but server {editor} told {told} of {text!r}")
            old = {"path": "versioned", "expected_version": read}
            for what, call in [
                ("write_file", lambda: client.call("write_file", content="t-lost\n", **old)),
                ("edit_file", lambda: client.call("edit_file", edits=[{"oldText": "t", "newText": "l"}], **old)),
                ("move_file", lambda: client.call("move_file", source="versioned", destination="moved", expected_version=read)),
                ("delete_file", lambda: client.call("delete_file", **old)),
            ]:
                problem = refused_version(call)
                if problem:
                    missed.append(f"{what} with an old version on server {place}: {problem}")
        # A program that is no server writes over the content in place, on one mount after the other.
        with open(setting.folders[turn % 2] / "versioned", "r+", encoding="utf-8") as file:
            file.write(f"p{turn:05}\n")
        problem = refused_version(lambda: clients[editor].call("write_file", path="versioned", content=text, expected_version=told))
        if problem:
            missed.append(f"server {editor} did not notice another program's change: {problem}")
    return f"{rounds} versions told by one server and taken by another", missed


def version_races(setting):
    """Of edits with the same version, sent to all servers at once, one is made."""
    clients, missed, rounds = setting.clients(), [], 40
    setting.write("raced", "before\n")
    for turn in range(rounds):
        version = version_of(clients[turn % 3].call("read_text_file", path="raced"))
        barrier, results = threading.Barrier(3), [None] * 3

        def change(place):
            barrier.wait()
            try:
                clients[place].call("write_file", path="raced", content=f"{turn:03} {place}\n", expected_version=version)
                results[place] = True
            except Failed as failure:
                results[place] = str(failure)

        run_all([threading.Thread(target=change, args=(place,)) for place in range(3)])
        made = [place for place in range(3) if results[place] is True]
        texts = {client.text("read_text_file", path="raced") for client in clients}
        refusals = [result for result in results if result is not True]
        if len(made) != 1 or texts != {f"{turn:03} {made[0]}\n"} or not all(VERSION_REFUSED in text for text in refusals):
            missed.append(f"{results}, and there is {texts}")
    return f"{rounds} versions taken by three servers at once", missed


def run_all(threads):
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def cursors(setting):
    """A list and a search that begin on one server go on on the others. Servers of their own, whose answers are short."""
    missed, folder = [], setting.folders[0] / "listed"
    folder.mkdir()
    names = [f"entry-{number:04}" for number in range(ENTRIES)]
    for name in names:
        (folder / name).write_text("needle\n")
    servers = []
    counts = []
    try:
        for place in [0, 1, 1]:
            servers.append(setting.new_server(setting.folders[place], [f"--answer-limit={ANSWER_LIMIT}"]))
            servers[-1].start()
        clients = [setting.client_of(server) for server in servers]
        for tool, arguments in [
            ("list_directory", {"path": "listed"}),
            ("search_files", {"path": "listed", "pattern": "entry-*"}),
            ("grep", {"pattern": "needle", "path": "listed", "output_mode": "content"}),
        ]:
            # Two texts name each entry once: neither left out nor shown again.
            texts = pages(clients, tool, **arguments)
            seen = re.findall(r"entry-\d{4}", "\n".join(texts))
            if seen != names:
                missed.append(f"{tool} showed {len(seen)} entries, {len(set(seen))} different ones, of {len(names)}")
            if len(texts) < 3:
                missed.append(f"{tool} had only {len(texts)} pages")
            counts.append(f"{tool} {len(texts)}")
    finally:
        for server in servers:
            server.kill()
    return f"pages on three servers in turn: {', '.join(counts)}", missed


def keys(setting):
    """A change whose answer is lost, and that is sent again with its key, is made once, whatever the other servers change meanwhile."""
    missed, rounds = [], 20
    setting.write("keyed", "END\n")
    barrier = threading.Barrier(3)

    def change(place):
        client = setting.client(place)
        for turn in range(rounds):
            barrier.wait()
            edit = {"path": "keyed", "edits": [{"oldText": "END\n", "newText": f"<{place}-{turn}>\nEND\n"}],
                    "idempotency_key": f"key-{place}-{turn}"}
            client.drop("edit_file", **edit)
            try:
                first, second = client.text("edit_file", **edit), client.text("edit_file", **edit)
                if first != second:
                    missed.append(f"server {place} answered {first!r}, and then {second!r}")
            except Failed as failure:
                missed.append(f"server {place}: {failure}")

    run_all([threading.Thread(target=change, args=(place,)) for place in range(3)])
    lines = (setting.folders[1] / "keyed").read_text().split()
    wanted = sorted([f"<{place}-{turn}>" for place in range(3) for turn in range(rounds)] + ["END"])
    if sorted(lines) != wanted:
        missed.append(f"of {len(wanted)} lines there are {len(lines)}, {len(set(lines))} different ones")
    return f"{3 * rounds} changes, each sent three times", missed


ALL = [versions, version_races, cursors, keys]
