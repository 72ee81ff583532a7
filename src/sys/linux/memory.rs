//! The allocator's options, and the memory that the process uses and may use.
//!
//! Only anonymous memory counts for the limit. Pages of mapped files are resident too, but the system can
//! free them at any time.
#![allow(unsafe_code)] // An option of the C library, and advice about the program's own pages.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use memmap2::MmapMut;
use rustix::mm::Advice;

use crate::memory::MemoryUse;

/// Asks for small pages, so that the first byte does not take 2 MB.
pub fn no_huge_pages(map: &MmapMut) {
    let _ = map.advise(memmap2::Advice::NoHugePage);
}

/// The allocator learns itself that a thread ends.
pub fn at_thread_end(_: fn()) {}

/// Limits the allocator of the C library to one arena. Call it once, before threads start.
pub fn limit_arenas() {
    #[cfg(target_env = "gnu")]
    // SAFETY: no other thread runs yet, and the call only sets an option of the C library's allocator.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Takes the pages of the program's code out of resident memory. They come back when they run: from the page cache, up to
/// 16 with one fault.
pub fn release_code() {
    static CODE: OnceLock<Option<Range<usize>>> = OnceLock::new();
    let find =
        || map_of_code(&fs::read_to_string("/proc/self/maps").ok()?, release_code as *const () as usize);
    let Some(code) = CODE.get_or_init(find) else { return };
    // SAFETY: the range is one map of a file that is not writable. So its pages hold what the file holds, and a page that is
    // dropped is read again from there. If the program's file system is gone by then, the process ends, as it does with any page
    // that the system has dropped itself.
    let _ = unsafe { rustix::mm::madvise(code.start as *mut _, code.len(), Advice::LinuxDontNeed) };
}

/// The map of `/proc/self/maps` that holds the address, if it is one of a file that can be run and not written.
fn map_of_code(maps: &str, address: usize) -> Option<Range<usize>> {
    let hex = |number| usize::from_str_radix(number, 16).ok();
    maps.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let map = hex(start)?..hex(end)?;
        let (access, inode) = (fields.next()?, fields.nth(2)?);
        (map.contains(&address) && access == "r-xp" && inode != "0").then_some(map)
    })
}

/// The memory in use now.
pub fn used() -> Option<MemoryUse> {
    statm(&fs::read_to_string("/proc/self/statm").ok()?, rustix::param::page_size() as u64)
}

/// The limit: the smallest limit of the process's control groups, or the machine's memory.
pub fn limit() -> Option<u64> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let groups = limit_files(&read("/proc/self/cgroup"));
    let of_groups = groups.iter().filter_map(|path| bytes(&fs::read_to_string(path).ok()?));
    of_groups.chain(total(&read("/proc/meminfo"))).min()
}

/// Parses `/proc/self/statm`, which counts pages. Anonymous is `resident` minus `shared`.
fn statm(text: &str, page: u64) -> Option<MemoryUse> {
    let mut fields = text.split_ascii_whitespace().skip(1).map(|field| field.parse::<u64>());
    let (resident, shared) = (fields.next()?.ok()?, fields.next()?.ok()?);
    Some(MemoryUse { resident: resident * page, anonymous: resident.saturating_sub(shared) * page })
}

/// A limit in bytes; `None` for `max`. In version 1, "no limit" is a number larger than any memory.
fn bytes(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// `MemTotal` of `/proc/meminfo`, in bytes.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// The files that may hold a limit: those of each group of the process and of all its parents. In a
/// container, the group's name may be valid only on the host; then the topmost file is the container's.
fn limit_files(groups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else { continue };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let group = Path::new(group.trim_start_matches('/'));
        files.extend(group.ancestors().map(|group| Path::new(root).join(group).join(file)));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_looked_for_in_every_group_up_to_the_topmost() {
        let files = |groups| {
            limit_files(groups).into_iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(
            files("0::/user.slice/a.scope\n"),
            [
                "/sys/fs/cgroup/user.slice/a.scope/memory.max",
                "/sys/fs/cgroup/user.slice/memory.max",
                "/sys/fs/cgroup/memory.max"
            ]
        );
        assert_eq!(files("0::/"), ["/sys/fs/cgroup/memory.max"]);
        assert_eq!(
            files("11:cpu,cpuacct:/x\n5:memory:/docker/abc\nnonsense\n"),
            [
                "/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes"
            ]
        );
        assert!(limit_files("").is_empty());
    }

    #[test]
    fn what_the_system_tells_is_read_and_what_it_does_not_is_left_open() {
        let held = statm("1000 100 30 1 0 50 0\n", 4096);
        assert_eq!(held, Some(MemoryUse { resident: 409_600, anonymous: 286_720 }));
        assert_eq!((statm("1000", 4096), statm("1 x 2", 4096), statm("", 4096)), (None, None, None));
        assert_eq!((bytes("max\n"), bytes("1048576\n"), bytes("")), (None, Some(1 << 20), None));
        assert_eq!(total("MemTotal:       24682924 kB\nMemFree: 1 kB\n"), Some(24_682_924 * 1024));
        assert_eq!((total(""), total("MemTotal: many kB"), total("MemTotal: 7")), (None, None, None));
    }

    #[test]
    fn code_is_the_map_of_a_file_that_runs_and_cannot_be_written() {
        let found = |access, inode| {
            let maps = format!(
                "1000-2000 r--p 00000000 fe:00 7 /bin/x\n2000-4000 {access} 00001000 fe:00 {inode} /bin/x\n"
            );
            map_of_code(&maps, 0x3fff)
        };
        assert_eq!(found("r-xp", "7"), Some(0x2000..0x4000));
        assert_eq!((found("rwxp", "7"), found("r--p", "7"), found("r-xp", "0")), (None, None, None));
        assert_eq!((map_of_code("1000-2000 r-xp 0 fe:00 7", 0x2000), map_of_code("x", 0)), (None, None));
    }

    #[test]
    fn this_machine_has_a_limit_and_this_process_is_below_it() {
        if cfg!(target_os = "linux") {
            let (used, limit) = (used().unwrap(), limit().unwrap());
            assert!(used.anonymous < limit && used.anonymous <= used.resident, "{used:?} {limit}");
        }
    }
}
