"""MooseFS on one machine: a master, a chunk server and two mounts, in a network namespace of their own, because MooseFS
refuses 127.0.0.0/8 for its servers. Needs root, /dev/fuse, iproute2 and Debian's moosefs-master, -chunkserver, -client and -cli."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import time

NAMESPACE = "file-editor-shared"
ADDRESS = "198.51.100.1"
PORTS = {"MATOML": 29419, "MATOCS": 29420, "MATOCL": 29421, "CSSERV": 29422}

MASTER = """WORKING_USER = root
WORKING_GROUP = root
DATA_PATH = {base}/master
EXPORTS_FILENAME = {base}/exports.cfg
TOPOLOGY_FILENAME = {base}/topology.cfg
MATOML_LISTEN_HOST = {address}
MATOCS_LISTEN_HOST = {address}
MATOCL_LISTEN_HOST = {address}
MATOML_LISTEN_PORT = {ports[MATOML]}
MATOCS_LISTEN_PORT = {ports[MATOCS]}
MATOCL_LISTEN_PORT = {ports[MATOCL]}
REPLICATIONS_DELAY_INIT = 0
"""

CHUNKS = """WORKING_USER = root
WORKING_GROUP = root
DATA_PATH = {base}/chunks
HDD_CONF_FILENAME = {base}/hdd.cfg
HDD_LEAVE_SPACE_DEFAULT = 64MiB
BIND_HOST = {address}
MASTER_HOST = {address}
MASTER_PORT = {ports[MATOCS]}
CSSERV_LISTEN_HOST = {address}
CSSERV_LISTEN_PORT = {ports[CSSERV]}
"""


def run(*command, check=True):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout}")
    return done.stdout


class Moosefs:
    """`mounts` are the two folders. What was started is ended by `down`."""

    def __init__(self, base):
        self.base = pathlib.Path(base)
        self.mounts = [self.base / "a", self.base / "b"]

    def inside(self, *command):
        # `ip netns exec` would hide the mounts from other processes.
        return run("nsenter", f"--net=/run/netns/{NAMESPACE}", *command)

    def up(self):
        for folder in ["master", "chunks", "hdd", "a", "b"]:
            (self.base / folder).mkdir(parents=True)
        (self.base / "master" / "metadata.mfs").write_text("MFSM NEW")
        (self.base / "exports.cfg").write_text(f"{ADDRESS}/24 / rw,alldirs,admin,maproot=0:0\n{ADDRESS}/24 . rw\n")
        (self.base / "topology.cfg").write_text("")
        (self.base / "hdd.cfg").write_text(f"{self.base}/hdd\n")
        values = {"base": self.base, "address": ADDRESS, "ports": PORTS}
        (self.base / "master.cfg").write_text(MASTER.format(**values))
        (self.base / "chunks.cfg").write_text(CHUNKS.format(**values))
        run("ip", "netns", "del", NAMESPACE, check=False)
        run("ip", "netns", "add", NAMESPACE)
        run("ip", "-n", NAMESPACE, "link", "set", "lo", "up")
        run("ip", "-n", NAMESPACE, "addr", "add", f"{ADDRESS}/32", "dev", "lo")
        self.start_master()
        self.start_chunkserver()
        for mount in self.mounts:
            self.mount(mount)

    def start_master(self):
        # -a: also after a kill, from the changes that it has logged.
        self.inside("mfsmaster", "-a", "-c", str(self.base / "master.cfg"), "start")

    def start_chunkserver(self):
        self.inside("mfschunkserver", "-c", str(self.base / "chunks.cfg"), "start")

    def mount(self, mount):
        end = time.monotonic() + 30
        while True:
            try:
                return self.inside("mfsmount", str(mount), "-H", ADDRESS, "-P", str(PORTS["MATOCL"]))
            except RuntimeError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    def remove_dead_sessions(self):
        """What an operator does when a client is gone for good: until then the master keeps its locks, by default for a day."""
        ask = ["mfscli", "-H", ADDRESS, "-P", str(PORTS["MATOCL"])]
        dead = re.findall(r"^inactive mounts.*?:\s*(\d+)\s", self.inside(*ask, "-SMS"), re.MULTILINE)
        for session in dead:
            self.inside(*ask, f"-CRS/{session}")
        return dead

    def daemons(self, name, part=""):
        """The processes of this name whose command line holds `part` and this folder."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if pathlib.Path(line.split(" ")[0]).name == name and f"{self.base}{part}" in line:
                    found.append(int(entry.name))
        return found

    def signal(self, number, name, part=""):
        found = self.daemons(name, part)
        for pid in found:
            os.kill(pid, number)
        if not found:
            raise RuntimeError(f"no process {name} {part}")

    @contextlib.contextmanager
    def frozen(self, name, part=""):
        self.signal(signal.SIGSTOP, name, part)
        try:
            yield
        finally:
            self.signal(signal.SIGCONT, name, part)

    def kill(self, name, part=""):
        self.signal(signal.SIGKILL, name, part)
        end = time.monotonic() + 10
        while self.daemons(name, part) and time.monotonic() < end:
            time.sleep(0.02)

    def unmount(self, mount):
        run("umount", "-l", str(mount))

    def down(self):
        for mount in self.mounts:
            run("umount", "-l", str(mount), check=False)
        for name in ["mfsmount", "mfschunkserver", "mfsmaster"]:
            for pid in self.daemons(name):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
                    os.kill(pid, signal.SIGKILL)
        run("ip", "netns", "del", NAMESPACE, check=False)
