//! bindfs(1): a folder behind a file system in user space, as shared file systems have it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::{Folder, Mount, under_strace, until};

/// The file system and its process. Dropped, it is unmounted.
pub(crate) struct Bindfs {
    process: Child,
    log: PathBuf,
    _mount: Mount,
}

impl Bindfs {
    /// A folder beside `folder`, to be put in its place, with a file `f` that holds `text`.
    pub(crate) fn source(folder: &Folder, text: &str) -> PathBuf {
        let source = folder.outside("source");
        std::fs::create_dir(&source).expect("a folder");
        std::fs::write(source.join("f"), text).expect("a file");
        source
    }

    /// Puts `source`, which holds a file `f`, in the place of the folder. None, and a message, where that is impossible.
    pub(crate) fn at(folder: &Folder, source: &Path) -> Option<Bindfs> {
        Bindfs::with_options(folder, source, "attr_timeout=60,entry_timeout=60")
    }

    /// The same with these options of mount(8).
    pub(crate) fn with_options(folder: &Folder, source: &Path, options: &str) -> Option<Bindfs> {
        Bindfs::mounted_at(folder.path(), folder, source, options)
    }

    /// The same in the place of the folder at `path`.
    pub(crate) fn mounted_at(path: &Path, folder: &Folder, source: &Path, options: &str) -> Option<Bindfs> {
        let mut command = Command::new("bindfs");
        // -d: in the foreground, and each question of the kernel is logged before it is answered.
        command.args(["-d", "-o", options]).arg(source).arg(path);
        Bindfs::start(path, folder, command)
    }

    /// The same with faults: its own calls are tampered with as these options of strace say.
    pub(crate) fn faulty(folder: &Folder, source: &Path, faults: &[&str]) -> Option<Bindfs> {
        let mut command = Command::new("bindfs");
        command.args(["-d", "-o", "attr_timeout=60,entry_timeout=60"]).arg(source).arg(folder.path());
        let command = under_strace(&command, &[&["-o", "/dev/null"], faults].concat())?;
        Bindfs::start(folder.path(), folder, command)
    }

    fn start(path: &Path, folder: &Folder, mut command: Command) -> Option<Bindfs> {
        let log = folder.outside("bindfs.log");
        let into = std::fs::File::create(&log).expect("a file");
        let Ok(mut process) = command.stdout(into.try_clone().expect("a file")).stderr(into).spawn() else {
            println!("SKIPPED: no bindfs here");
            return None;
        };
        let mut ended = false;
        until("the folder is mounted", || {
            ended = process.try_wait().is_ok_and(|ended| ended.is_some());
            ended || path.join("f").exists()
        });
        if ended {
            println!("SKIPPED: bindfs cannot mount here");
            return None;
        }
        Some(Bindfs { process, log, _mount: Mount::adopt(path) })
    }

    /// What it was asked so far and somebody waited for, in order: `LOOKUP`, `OPEN`, `READ`, …
    pub(crate) fn asked(&self) -> Vec<String> {
        let log = std::fs::read(&self.log).expect("the log");
        let log = String::from_utf8_lossy(&log);
        let asked = log.lines().filter_map(|line| Some(line.split_once("opcode: ")?.1.split_once(' ')?.0));
        let waited_for =
            |name: &&str| !["FLUSH", "RELEASE", "RELEASEDIR", "FORGET", "BATCH_FORGET"].contains(name);
        asked.filter(waited_for).map(str::to_owned).collect()
    }

    /// Stops the process, so that nothing is answered, until [`Bindfs::thaw`].
    pub(crate) fn freeze(&self) {
        self.signal(Signal::STOP);
        // Not before it has stopped: a process whose request it has read is not even killed before there is an answer.
        let pid = Pid::from_child(&self.process);
        waitid(WaitId::Pid(pid), WaitIdOptions::STOPPED).expect("it stops");
    }

    pub(crate) fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.process);
        kill_process(pid, signal).expect("a signal sent");
    }

    /// Kills the process. The mount stays, dead, until this is dropped.
    pub(crate) fn kill(&mut self) {
        self.process.kill().and_then(|()| self.process.wait()).expect("killed");
    }
}

impl Drop for Bindfs {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
