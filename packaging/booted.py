"""A second system on this machine, with a systemd of its own: it sees the files of this one, and what it writes is in memory. It has no network
but its own loopback. It knows nothing of packages.
"""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time

# Makes the root folder in a namespace of its own, and becomes systemd. $1: an empty folder.
START = r"""
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" overlay "$1/root"
cd "$1/root"
mount -t proc proc proc
mount -o bind,ro proc/sys proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
for folder in run tmp dev; do mount -t tmpfs -o mode=755 tmpfs $folder; done
chmod 1777 tmp
# Nothing that this machine starts of itself.
rm -rf etc/systemd/system/*.wants etc/systemd/system/*.requires
for device in null zero full random urandom tty; do touch dev/$device; mount --bind /dev/$device dev/$device; done
mkdir -p run/lock dev/shm dev/pts .before
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
pivot_root . .before
umount -l /.before
export container=other
exec /lib/systemd/systemd --system --unit=basic.target --log-target=journal --show-status=no </dev/null >/dev/null 2>&1
"""
PATIENCE = 60


def cgroups():
    """Where this machine has cgroups of the second version; None if it has none."""
    with open("/proc/self/mounts", encoding="utf-8") as file:
        found = [words[1] for words in map(str.split, file) if words[2] == "cgroup2"]
    return found[0] if found else None


def lacking():
    """What keeps a second system from being started here; None if nothing does."""
    if os.name != "posix" or os.getuid() != 0:
        return "this needs root"
    lacks = [name for name in ("unshare", "nsenter", "systemctl") if not shutil.which(name)]
    return f"there is no {lacks[0]}" if lacks else None if cgroups() else "there are no cgroups of the second version"


class System:
    """A second system that runs."""

    def __init__(self, first):
        self.first = first

    def run(self, *command, **more):
        """Runs a command in it. Returns what subprocess.run does."""
        enter = ["nsenter", f"--target={self.first}", "--mount", "--pid", "--net", "--ipc", "--uts", "--cgroup", "--root", "--wd"]
        return subprocess.run([*enter, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False, **more)


def only_child(process):
    with open(f"/proc/{process}/task/{process}/children", encoding="utf-8") as file:
        return int(file.read().split()[0])


@contextlib.contextmanager
def group():
    """A cgroup, which is removed when all processes in it have ended."""
    path = os.path.join(cgroups(), f"file-editor-{os.getpid()}")
    os.mkdir(path)
    try:
        yield path
    finally:
        deadline = time.monotonic() + PATIENCE
        for at, _, _ in os.walk(path, topdown=False):
            while time.monotonic() < deadline:
                with contextlib.suppress(OSError):  # its processes are just ending
                    os.rmdir(at)
                    break
                time.sleep(0.05)


@contextlib.contextmanager
def booted():
    """Starts a second system. Ends it, and all that runs in it, at the end."""
    with tempfile.TemporaryDirectory() as place, group() as path:
        # The group before the namespace: it is the root of the groups that the system sees.
        words = ["sh", "-euc", f'echo $$ >{path}/cgroup.procs; exec "$@"', "sh", "unshare", "--mount", "--pid", "--fork", "--kill-child", "--cgroup", "--net",
                 "--uts", "--ipc", "sh", "-euc", START, "sh", place]
        with subprocess.Popen(words) as outer:
            try:
                yield started(outer)
            finally:
                outer.kill()


def started(outer):
    """The system that a process has started, once it is up."""
    deadline = time.monotonic() + PATIENCE
    while outer.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError, IndexError):
            system = System(only_child(outer.pid))
            if system.run("systemctl", "is-active", "basic.target").stdout.strip() == "active":
                return system
        time.sleep(0.1)
    raise RuntimeError("systemd did not start")
