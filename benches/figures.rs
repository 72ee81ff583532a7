//! What the system tells of a process, a binary and the machine.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Bytes in one MB (SPEC 2).
pub(crate) const MB: f64 = 1_048_576.0;

/// A figure of `/proc/<pid>/status`, in MB.
pub(crate) fn memory(pid: u32, figure: &str) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process lives");
    let line = status.lines().find_map(|line| line.strip_prefix(figure)?.strip_prefix(':'));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
    let kilobytes: f64 = kilobytes.unwrap_or_else(|| panic!("no {figure} in {status}"));
    kilobytes * 1_024.0 / MB
}

/// How much a process grew at its peak.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Growth {
    /// All that was resident, the mapped file included; the kernel keeps the peak, so none is missed.
    pub(crate) resident: f64,
    /// Of that, memory of its own; looked at again and again, so a short peak may be missed.
    pub(crate) anonymous: f64,
}

/// The growth of the process `pid` while `work` goes on.
pub(crate) fn growth(pid: u32, work: impl FnOnce()) -> Growth {
    // 5 sets the peak back to what is resident now.
    fs::write(format!("/proc/{pid}/clear_refs"), "5").expect("the peak set back");
    let (resident, anonymous) = (memory(pid, "VmRSS"), memory(pid, "RssAnon"));
    let done = AtomicBool::new(false);
    let peak = thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut peak = anonymous;
            while !done.load(Ordering::Relaxed) {
                peak = peak.max(memory(pid, "RssAnon"));
                thread::sleep(Duration::from_micros(100));
            }
            peak
        });
        work();
        done.store(true, Ordering::Relaxed);
        watcher.join().expect("a peak")
    });
    Growth { resident: memory(pid, "VmHWM") - resident, anonymous: peak - anonymous }
}

/// A binary as it is shipped.
pub(crate) struct Shipped {
    /// In MB, without the symbols that the bench profile keeps and the release profile strips.
    pub(crate) size: f64,
    /// Neither an interpreter nor a needed library.
    pub(crate) is_static: bool,
}

/// Reads the program headers of a 64-bit ELF file: the stripped file ends behind the last loaded segment, but for a
/// few KB of section headers.
pub(crate) fn shipped(path: &str) -> Shipped {
    const LOAD: u64 = 1;
    const DYNAMIC: u64 = 2;
    const INTERPRETER: u64 = 3;
    const NEEDED: u64 = 1;
    let elf = fs::read(path).expect("the binary");
    assert_eq!(elf[..5], *b"\x7FELF\x02", "64-bit ELF");
    let number = |at: usize, len: usize| {
        elf[at..at + len].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
    };
    let (table, entry, count) = (number(32, 8), number(54, 2), number(56, 2));
    let (mut end, mut is_static) = (0, true);
    for nth in 0..count {
        let header = (table + nth * entry) as usize;
        let (offset, len) = (number(header + 8, 8), number(header + 32, 8));
        match number(header, 4) {
            LOAD => end = end.max(offset + len),
            INTERPRETER => is_static = false,
            DYNAMIC => {
                let mut tags = (offset..offset + len).step_by(16).map(|at| number(at as usize, 8));
                is_static &= tags.all(|tag| tag != NEEDED);
            }
            _ => {}
        }
    }
    Shipped { size: end as f64 / MB, is_static }
}

/// Cores, processor, kernel, and how busy the machine is, in one line.
pub(crate) fn machine() -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let (model, load) =
        (model.map_or("unknown", |(_, model)| model), load.split(' ').next().unwrap_or_default());
    format!("{cores} cores ({model}), kernel {}, load average {load}", kernel.trim())
}
