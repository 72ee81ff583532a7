//! The program's own code and constants in memory: those of a server that rests are let go of (SPEC 9, idle memory).
//!
//! The start alone touches most of the binary. Nothing is lost: these pages are the binary's own, none was written, and
//! they come back from the system's cache when they are touched again. (What a debugger wrote there is left alone.)
#![allow(unsafe_code, reason = "advice about memory is a promise about what it holds")]

use std::fs;
use std::ops::Range;
use std::ptr::with_exposed_provenance_mut;

use rustix::mm::{Advice, madvise};

/// Lets go of all of them that are in memory now; of none where the system does not tell which they are.
pub(super) fn let_go() {
    for range in unwritten() {
        // SAFETY: the range is a private map of our own binary that cannot be written, and no page of it differs from
        // the file (it would be anonymous, or in swap). For such pages this advice, taken or not, in whole or in part, changes what
        // is resident and not what is read: whoever touches one next, on any thread, gets the same bytes from the file.
        let _ =
            unsafe { madvise(with_exposed_provenance_mut(range.start), range.len(), Advice::LinuxDontNeed) };
    }
}

/// The addresses of the program's maps that [`let_go`] may take.
fn unwritten() -> Vec<Range<usize>> {
    let program = fs::read_link("/proc/self/exe").unwrap_or_default();
    let maps = fs::read_to_string("/proc/self/smaps").unwrap_or_default();
    unwritten_of(&maps, &program.to_string_lossy())
}

/// Those maps of `program` in a text like `/proc/self/smaps` that are private, cannot be written, and never were.
fn unwritten_of(maps: &str, program: &str) -> Vec<Range<usize>> {
    let (mut ranges, mut current) = (Vec::new(), None);
    let none = |size: &str| size.trim() == "0 kB";
    for line in maps.lines() {
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        match first {
            // In this order for each map.
            "Anonymous:" => current = current.filter(|_| none(rest)),
            "Swap:" => ranges.extend(current.take().filter(|_| none(rest))),
            _ => {
                if let Some(range) = addresses(first) {
                    let kind = rest.as_bytes();
                    let is_private = kind.starts_with(b"r-") && kind.get(3) == Some(&b'p');
                    let path = rest.strip_suffix(program).filter(|_| !program.is_empty());
                    let is_ours = is_private && path.is_some_and(|before| before.ends_with(' '));
                    current = is_ours.then_some(range);
                }
            }
        }
    }
    ranges
}

/// `start-end` in hexadecimal, with which each map begins.
fn addresses(text: &str) -> Option<Range<usize>> {
    let (start, end) = text.split_once('-')?;
    Some(usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A constant of the program that can be told from all others.
    static TEXT: &str = include_str!("image.rs");

    fn sum() -> u64 {
        std::hint::black_box(TEXT).bytes().map(u64::from).sum()
    }

    #[test]
    fn only_maps_of_the_program_that_nobody_wrote_are_taken() {
        let map_with = |start: &str, kind: &str, path: &str, anonymous: u32, swap: u32| {
            let first = format!("{start}000-{start}fff {kind} 00000000 fe:00 7   {path}\nRss: 8 kB\n");
            format!("{first}Anonymous:   {anonymous} kB\nSwap:    {swap} kB\nVmFlags: rd mr mw me\n")
        };
        let map =
            |start: &str, kind: &str, path: &str, anonymous: u32| map_with(start, kind, path, anonymous, 0);
        let maps = [
            map("1", "r--p", "/bin/server", 0),
            map("2", "r-xp", "/bin/server", 0),
            map("3", "r--p", "/bin/server", 80),
            map("4", "rw-p", "/bin/server", 0),
            map("5", "r--s", "/bin/server", 0),
            map("6", "r--p", "/data/bin/server", 0),
            map("7", "r--p", "", 0),
            map_with("8", "r--p", "/bin/server", 0, 80),
        ];
        assert_eq!(unwritten_of(&maps.concat(), "/bin/server"), [0x1000..0x1fff, 0x2000..0x2fff]);
        for nothing in [unwritten_of(&maps.concat(), ""), unwritten_of("", "/bin/server")] {
            assert_eq!(nothing, []);
        }
    }

    #[test]
    fn what_is_let_go_of_comes_back_the_same_while_others_run_it_and_read_it() {
        let at = TEXT.as_ptr().addr();
        assert!(unwritten().iter().any(|range| range.contains(&at)), "the constants are not among the maps");
        let expected = sum();
        let others: Vec<_> =
            (0..4).map(|_| std::thread::spawn(move || (0..500).all(|_| sum() == expected))).collect();
        for _ in 0..50 {
            let_go();
            assert_eq!(sum(), expected);
        }
        assert!(others.into_iter().all(|other| other.join().unwrap()));
    }
}
