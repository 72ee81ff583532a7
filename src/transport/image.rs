//! The program's own code and constants in memory: those of a server that rests are let go of (SPEC 9, idle memory).
//!
//! The start alone touches most of the binary. Nothing is lost: these pages are the binary's own, are never written, and
//! come back from the system's cache when they are touched again.
#![allow(unsafe_code, reason = "advice about memory is a promise about who uses it")]

use rustix::mm::{Advice, madvise};

unsafe extern "C" {
    /// Where the image of the program begins, and where its code ends; names that the linker gives. Between them lie
    /// constants and code, behind them what is relocated or written.
    static __executable_start: u8;
    static etext: u8;
}

/// Lets go of all of them that are in memory now.
pub(super) fn let_go() {
    let (start, end) = (&raw const __executable_start, &raw const etext);
    let page = rustix::param::page_size();
    let len = end.addr().saturating_sub(start.addr()) / page * page;
    // SAFETY: the pages from `start` (page-aligned, as every image) up to the end of the code are a private map of the
    // binary that is only read and run, by us and by whatever thread there is. For such pages this advice changes what
    // is resident, not what is read: the next touch brings the same bytes from the file. If that is not so after all
    // (no such pages, or a system that does not take the advice) the call fails, and then nothing has changed.
    let _ = unsafe { madvise(start.cast_mut().cast(), len, Advice::LinuxDontNeed) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of the image that were written since it was mapped, which makes them anonymous; and bytes in memory at all.
    fn written_and_resident() -> (usize, usize) {
        let range = (&raw const __executable_start).addr()..(&raw const etext).addr();
        let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let (mut inside, mut written, mut resident) = (false, 0, 0);
        for line in smaps.lines() {
            let (first, rest) = line.split_once([' ', '-']).unwrap();
            match (first, usize::from_str_radix(first, 16)) {
                (_, Ok(start)) => inside = range.contains(&start),
                ("Anonymous:" | "Rss:", _) if inside => {
                    let bytes = rest.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024;
                    *(if first == "Rss:" { &mut resident } else { &mut written }) += bytes;
                }
                _ => {}
            }
        }
        (written, resident)
    }

    #[test]
    fn what_is_let_go_of_was_never_written_and_comes_back_the_same() {
        const TEXT: &str = include_str!("image.rs");
        let (written, before) = written_and_resident();
        assert_eq!(written, 0, "a page of the image was written: it would be lost");
        let_go();
        let (_, after) = written_and_resident();
        assert!(after < before, "{before} bytes before, {after} after");
        // While others run the code and read the constants that go.
        let sum = |text: &str| text.bytes().map(u64::from).sum::<u64>();
        let expected = sum(TEXT);
        let others: Vec<_> = (0..4)
            .map(|_| {
                std::thread::spawn(move || (0..2_000).all(|_| sum(std::hint::black_box(TEXT)) == expected))
            })
            .collect();
        while others.iter().any(|other| !other.is_finished()) {
            let_go();
        }
        assert!(others.into_iter().all(|other| other.join().unwrap()));
    }
}
