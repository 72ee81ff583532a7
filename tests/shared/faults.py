"""Faults of the shared file system itself, whose daemons `run` has started, and what must hold."""

import os
import signal
import subprocess
import threading
import time

from servers import Failed, until
from setting import TIMEOUT, with_fault


def freeze(name, part=""):
    def fault(setting):
        with setting.system.frozen(name, part):
            time.sleep(TIMEOUT + 2)
    return fault


def kill_master(setting):
    setting.system.kill("mfsmaster")
    time.sleep(2)
    setting.system.start_master()


def kill_chunkserver(setting):
    setting.system.kill("mfschunkserver")
    time.sleep(2)
    setting.system.start_chunkserver()


def remount(setting):
    """The client of the second mount dies; some time later the operator removes its session, for its locks, and mounts again."""
    mount = setting.system.mounts[1]
    setting.system.kill("mfsmount", "/b")
    time.sleep(2)
    setting.system.unmount(mount)
    setting.system.remove_dead_sessions()
    setting.system.mount(mount)


def locks_of_a_dead_client(setting):
    """A lock of a client that died stays until its session is removed: edits say so within their deadline, then work."""
    mount, missed = setting.system.mounts[1], []
    setting.write("locked", "x\n")
    client = setting.client(0)
    with subprocess.Popen(["flock", setting.folders[1] / "locked", "sleep", "600"], start_new_session=True) as holder:
        until("the other machine has the lock", lambda: not can_lock(setting.folders[0] / "locked"))
        setting.system.kill("mfsmount", "/b")
        os.killpg(holder.pid, signal.SIGKILL)
    setting.system.unmount(mount)
    setting.system.mount(mount)
    try:
        client.call("write_file", path="locked", content="early\n")
        missed.append("an edit did not wait for the lock of a dead client")
    except Failed as failure:
        if "locked" not in str(failure):
            missed.append(f"while a dead client has the lock: {failure}")
    removed = setting.system.remove_dead_sessions()
    client.call("write_file", path="locked", content="late\n")
    if setting.clients()[1].text("read_text_file", path="locked") != "late\n":
        missed.append("the edit after the session was removed is not there")
    return f"{len(removed)} sessions removed", missed


def can_lock(path):
    return subprocess.run(["flock", "--nonblock", path, "true"], check=False).returncode == 0


def nothing_is_made_below_a_lost_mount(setting):
    """A server of the mount itself. While nothing is mounted, the path names an empty folder of the local disk."""
    mount, missed = setting.system.mounts[1], []
    server = setting.new_server(mount)
    try:
        client = setting.client_of(server.start())
        client.call("write_file", path="made-before", content="x\n")
        setting.system.kill("mfsmount", "/b")
        setting.system.unmount(mount)
        for turn in range(3):
            try:
                client.call("write_file", path=f"made-{turn}", content="x\n")
                missed.append("a file was made while nothing was mounted")
            except Failed:
                pass
        if any(mount.iterdir()):
            missed.append(f"below the mount there is {list(mount.iterdir())}")
        # A folder with the name of the one that the second server serves.
        below = setting.folders[1]
        below.mkdir()
        try:
            setting.client(1).call("write_file", path="made-below", content="x\n")
            missed.append("a file was made in a folder below the mount")
        except Failed:
            pass
        if any(below.iterdir()):
            missed.append(f"in the folder below the mount there is {list(below.iterdir())}")
        below.rmdir()
        setting.system.mount(mount)
        if client.text("read_text_file", path="made-before") != "x\n":
            missed.append("another file after the mount came back")
        client.call("write_file", path="made-after", content="x\n")
    finally:
        server.kill()
    return "a server of the mount itself, without its mount", missed


def remounted_within_a_call(setting):
    """A call that meets a dead mount succeeds if the mount is back within two seconds."""
    mount, results = setting.system.mounts[1], []
    setting.write("met", "met\n")
    clients = setting.clients()

    def read(place):
        try:
            results.append(clients[place].text("read_text_file", path="met"))
        except Failed as failure:
            results.append(str(failure))

    setting.system.kill("mfsmount", "/b")
    readers = [threading.Thread(target=read, args=(place,)) for place in range(3)]
    for reader in readers:
        reader.start()
    time.sleep(0.3)
    setting.system.unmount(mount)
    setting.system.mount(mount)
    for reader in readers:
        reader.join()
    return "3 reads", [f"a read gave {result!r}" for result in results if result != "met\n"]


def healthy_while_frozen(setting):
    """A mount that does not answer leaves the admin port and what needs no file alone."""
    missed = []
    with setting.system.frozen("mfsmount", "/b"):
        readers = [threading.Thread(target=ignored, args=(setting.client_of(server), "read_text_file", {"path": "written"}))
                   for server in setting.servers[1:] for _ in range(6)]
        for reader in readers:
            reader.start()
        time.sleep(0.5)
        for place, server in enumerate(setting.servers):
            since = time.monotonic()
            try:
                server.is_healthy()
                tools = setting.client_of(server).request("tools/list", {})
            except Failed as failure:
                tools = str(failure)
            took = time.monotonic() - since
            if "tools" not in tools or took > 2:
                missed.append(f"server {place}: {tools}, after {took:.1f} s")
        # Only the servers whose mount it is say so.
        health = lambda: [server.is_healthy() for server in setting.servers]
        try:
            until("only the servers of the mount are not healthy", lambda: health() == [True, False, False], 10)
        except TimeoutError as late:
            missed.append(f"{late}: {health()}")
    for reader in readers:
        reader.join()
    return "3 servers asked while a mount did not answer", missed


def ignored(client, tool, arguments):
    try:
        client.call(tool, **arguments)
    except Failed:
        pass


ALL = [healthy_while_frozen,
       nothing_is_made_below_a_lost_mount,
       remounted_within_a_call,
       locks_of_a_dead_client,
       with_fault("chunkserver_frozen", freeze("mfschunkserver"), keyed=True),
       with_fault("master_frozen", freeze("mfsmaster"), keyed=True),
       with_fault("client_frozen", freeze("mfsmount", "/b"), keyed=True),
       with_fault("master_killed", kill_master),
       with_fault("client_killed_and_remounted", remount, keyed=True)]

# Only if it is named. MooseFS with one copy of each chunk can lose what a killed chunk server had in memory: of 6 runs, 2 had a
# file then that no program could read.
BY_NAME = [with_fault("chunkserver_killed", kill_chunkserver)]
