//! Reads figures of a process, a binary and the machine from the system.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Bytes in one MB (contract 2).
pub(crate) const MB: f64 = 1_048_576.0;

/// A figure of `/proc/<pid>/status`, in MB.
pub(crate) fn memory(pid: u32, figure: &str) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process lives");
    let line = status.lines().find_map(|line| line.strip_prefix(figure)?.strip_prefix(':'));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
    let kilobytes: f64 = kilobytes.unwrap_or_else(|| panic!("no {figure} in {status}"));
    kilobytes * 1_024.0 / MB
}

/// The growth of a process up to its peak, in MB.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Growth {
    /// All resident memory, with the mapped file; exact, because the kernel keeps the peak.
    pub(crate) resident: f64,
    /// The process's own memory in it; sampled, so a short peak may be missed.
    pub(crate) anonymous: f64,
}

/// The growth of the process `pid` during `work`.
pub(crate) fn growth(pid: u32, work: impl FnOnce()) -> Growth {
    // 5 resets the peak to the memory that is resident now.
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

/// A binary as it is released.
pub(crate) struct Shipped {
    /// Size in MB, without the symbols that the bench profile keeps and the release profile strips.
    pub(crate) size: f64,
    /// Needs no interpreter and no library.
    pub(crate) is_static: bool,
}

/// Reads the program headers of a 64-bit ELF file. The stripped file ends after the last loaded segment,
/// except for a few KB of section headers.
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

/// Cores, processor, kernel and load of the machine, in one line.
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
