//! A running process as the system shows it: memory, descriptors, threads.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// The anonymous memory of a process in bytes, which excludes maps of files.
pub(crate) fn anonymous_memory(pid: u32) -> usize {
    memory(pid, "RssAnon:")
}

/// The resident pages of files that a process has mapped, its own program among them, in bytes.
pub(crate) fn mapped_memory(pid: u32) -> usize {
    memory(pid, "RssFile:")
}

/// The resident memory of a process, and the most that it ever had, in bytes; both with pages of mapped files.
fn resident_memory(pid: u32) -> (usize, usize) {
    (memory(pid, "VmRSS:"), memory(pid, "VmHWM:"))
}

/// The most memory in bytes that a process takes for `body`, beside `mapped` bytes of files. Pages of the program that it is
/// the first to touch do not count.
pub(crate) fn memory_taken(pid: u32, mapped: usize, body: impl FnOnce()) -> usize {
    let ((before, _), program) = (resident_memory(pid), mapped_memory(pid));
    body();
    let touched = mapped_memory(pid).saturating_sub(program);
    resident_memory(pid).1.saturating_sub(before + mapped + touched)
}

fn memory(pid: u32, kind: &str) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a running process");
    let line = status.lines().find_map(|line| line.strip_prefix(kind)).expect("a line of its kind");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") * 1024
}

/// How many read calls a process has made.
pub(crate) fn read_calls(pid: u32) -> u64 {
    let io = std::fs::read_to_string(format!("/proc/{pid}/io")).expect("/proc");
    let count = io.lines().find_map(|line| line.strip_prefix("syscr: ")).expect("a count");
    count.parse().expect("a number")
}

/// What the open descriptors of a process lead to.
fn targets(pid: u32) -> impl Iterator<Item = PathBuf> {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("a running process").flatten();
    descriptors.filter_map(|descriptor| std::fs::read_link(descriptor.path()).ok())
}

/// How many descriptors a process has open.
pub(crate) fn descriptors(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).expect("a running process").count()
}

/// How many sockets a process has open.
pub(crate) fn sockets(pid: u32) -> usize {
    targets(pid).filter(|target| target.to_string_lossy().starts_with("socket:")).count()
}

/// Whether a process has this file open.
pub(crate) fn has_open(pid: u32, path: &Path) -> bool {
    targets(pid).any(|target| target == path)
}

/// The name and the state of each thread of a process, as `stat` in proc(5) has them.
pub(crate) fn threads(pid: u32) -> Vec<(String, char)> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("a running process").flatten();
    let stats = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok());
    let thread = |stat: String| {
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(") ")?;
        Some((name.to_owned(), rest.chars().next()?))
    };
    stats.filter_map(thread).collect()
}

/// How often each thread of a process with this name has gone to sleep, the oldest thread first.
pub(crate) fn sleeps(pid: u32, name: &str) -> Vec<u64> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("a running process").flatten();
    let mut tasks: Vec<u64> = tasks.filter_map(|task| task.file_name().to_str()?.parse().ok()).collect();
    tasks.sort_unstable();
    let sleeps = |task: u64| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/task/{task}/status")).ok()?;
        let field =
            |key: &str| status.lines().find_map(|line| Some(line.strip_prefix(key)?.trim().to_owned()));
        let is_wanted = field("Name:")? == name;
        field("voluntary_ctxt_switches:").filter(|_| is_wanted)?.parse().ok()
    };
    tasks.into_iter().filter_map(sleeps).collect()
}

/// Whether a thread of the process waits in the system in a way that no signal ends, as for a lock of a file system.
pub(crate) fn waits_in_the_system(pid: u32) -> bool {
    threads(pid).iter().any(|(_, state)| *state == 'D')
}

/// Whether a process has used no processor time during 300 ms.
pub(crate) fn is_idle(pid: u32) -> bool {
    let used = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("a running process");
        let fields: Vec<String> =
            stat.rsplit_once(')').expect("a name").1.split_whitespace().map(str::to_owned).collect();
        (fields[11].clone(), fields[12].clone())
    };
    let before = used();
    // The time is the subject: idle means that nothing happens in it.
    std::thread::sleep(Duration::from_millis(300));
    used() == before
}
