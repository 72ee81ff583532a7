//! The names of our temporary files, and of files that are set aside for one.
//!
//! Where a file cannot be replaced in one step, it is set aside for a moment, under a name that begins with that of the temporary
//! file which takes its place ([`SET_ASIDE`]). While its writer lives, it has locked the temporary file. Knows nothing of what
//! dead processes leave.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{failpoint, lock};
use sys::fd::AsFd;
use sys::ffi::OsStrExt;
use sys::fs::{AtFlags, Mode, OFlags, SET_ASIDE};
use sys::io::Errno;

/// The prefix of the names of temporary files; sixteen hexadecimal digits follow.
pub(super) const PREFIX: &str = ".file-editor-tmp-";
const DIGITS: usize = 16;

/// What stands behind the digits in the hidden name of an entry that a job replaces or deletes.
const HIDDEN: &[u8] = b"-kept";

/// What stands behind the digits in the name of a temporary file that is not locked, because too many are.
const UNLOCKED: &[u8] = b"-unlocked";

/// A random name for a temporary file that is not locked while its writer lives: it is a leftover only when it is old.
pub(super) fn new_unlocked_name() -> OsString {
    let mut name = new_name();
    name.push(OsStr::from_bytes(UNLOCKED));
    name
}

/// Whether this is the name of a temporary file that is not locked.
pub(super) fn is_unlocked(name: &[u8]) -> bool {
    name.ends_with(UNLOCKED) && is_temporary(name)
}

/// A random name for an entry that a job of several changes replaces or deletes, until the job is done. Its old content may be nowhere
/// else: unlike a temporary file, it is no leftover when its writer is dead, for the repair of the job needs it.
pub fn new_hidden_name() -> OsString {
    let mut name = new_name();
    name.push(OsStr::from_bytes(HIDDEN));
    name
}

/// Whether this is the hidden name of an entry of a job.
pub(super) fn is_hidden(name: &[u8]) -> bool {
    name.ends_with(HIDDEN) && is_temporary(name)
}

/// A random name for a temporary file.
pub fn new_name() -> OsString {
    let random = RandomState::new().hash_one(std::process::id());
    OsString::from(format!("{PREFIX}{random:016x}"))
}

/// Creates an empty temporary file in `dir`, accessible to its owner only, and locks it.
pub(super) fn create(dir: impl AsFd) -> io::Result<(OsString, File)> {
    create_named(dir, new_name)
}

/// The same with names of another kind.
pub(super) fn create_named(dir: impl AsFd, new_name: fn() -> OsString) -> io::Result<(OsString, File)> {
    let dir = dir.as_fd();
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = match switches::is_off("temporary-mode") {
        true => Mode::from_raw_mode(0o644),
        false => Mode::RUSR | Mode::WUSR,
    };
    loop {
        let name = new_name();
        let file = match sys::fs::openat(dir, &name, flags, mode) {
            Ok(fd) => File::from(fd),
            Err(Errno::EXIST) => continue,
            Err(errno) => return Err(errno.into()),
        };
        match failpoint::taken().and_then(|()| is_ours_alone(&file)) {
            Ok(true) => return Ok((name, file)),
            Ok(false) => {}
            Err(error) => {
                if !failpoint::crashed() {
                    remove(dir, &name);
                }
                return Err(error);
            }
        }
    }
}

/// Locks a new temporary file. False if another process that starts has taken it for a leftover before it was locked.
fn is_ours_alone(file: &File) -> io::Result<bool> {
    Ok((switches::is_off("temporary-lock") || lock::try_lock(file)?)
        && (switches::is_off("temporary-name") || sys::fs::fstat(file)?.st_nlink > 0))
}

/// Whether `name` has the form of our temporary files, of a file set aside for one, or of an entry that a job has hidden. Such names are hidden, and no policy
/// allows them.
pub fn is_temporary(name: &[u8]) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX.as_bytes()) else { return false };
    let Some((digits, rest)) = rest.split_at_checked(DIGITS) else { return false };
    let is_digit = |digit: &u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    digits.iter().all(is_digit)
        && (rest.is_empty() || rest == HIDDEN || rest == UNLOCKED || SetAside::parse(name).is_some())
}

/// The name of a file that was set aside.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SetAside<'n> {
    /// The name of the temporary file that takes its place.
    pub(super) temporary: &'n [u8],
    /// Its own name, unless that is too long.
    pub(super) own: Option<&'n [u8]>,
}

impl SetAside<'_> {
    /// `None`: the name is none of a file that was set aside.
    pub(super) fn parse(name: &[u8]) -> Option<SetAside<'_>> {
        let (temporary, rest) = name.split_at_checked(PREFIX.len() + DIGITS)?;
        match rest.strip_prefix(SET_ASIDE.as_bytes())? {
            [] => Some(SetAside { temporary, own: None }),
            [b'-', own @ ..] if !matches!(own, b"" | b"." | b"..") => {
                Some(SetAside { temporary, own: Some(own) })
            }
            _ => None,
        }
    }
}

/// Temporary files of this process that could not be removed.
static LEFT: AtomicU64 = AtomicU64::new(0);

/// How many temporary files of this process could not be removed so far.
pub(super) fn not_removed() -> u64 {
    LEFT.load(Ordering::Relaxed)
}

/// Removes a temporary file of this process. If that fails, as where a file system does not answer, the next edit in its folder
/// tries again. Returns whether it is gone.
pub fn remove(dir: impl AsFd, name: &OsStr) -> bool {
    let gone = matches!(sys::fs::unlinkat(dir, name, AtFlags::empty()), Ok(()) | Err(Errno::NOENT));
    if !gone {
        LEFT.fetch_add(1, Ordering::Relaxed);
    }
    gone
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The name of a temporary file whose digits are all this one.
    pub(crate) fn nth(digit: char) -> String {
        format!("{PREFIX}{}", digit.to_string().repeat(DIGITS))
    }

    #[test]
    fn only_the_exact_form_of_our_names_is_a_temporary() {
        assert!(is_temporary(new_name().as_encoded_bytes()) && is_temporary(nth('0').as_bytes()));
        assert!(is_hidden(new_hidden_name().as_encoded_bytes()) && !is_hidden(nth('0').as_bytes()));
        let unlocked = new_unlocked_name();
        assert!(is_unlocked(unlocked.as_encoded_bytes()) && is_temporary(unlocked.as_encoded_bytes()));
        assert!(!is_unlocked(nth('0').as_bytes()) && !is_hidden(unlocked.as_encoded_bytes()));
        for name in ["", PREFIX, ".file-editor-tmp-notes", ".file-editor-tmp-0123456789abcde"] {
            assert!(!is_temporary(name.as_bytes()), "{name}");
        }
        for name in [nth('g'), nth('A'), nth('0') + "0", nth('0') + ".txt", format!("x{}", nth('0'))] {
            assert!(!is_temporary(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn a_name_that_was_set_aside_tells_the_temporary_file_and_its_own() {
        let (name, long) = (nth('0') + "-old-a b.txt", nth('0') + "-old");
        let parsed = SetAside::parse(name.as_bytes()).unwrap();
        assert_eq!(parsed, SetAside { temporary: nth('0').as_bytes(), own: Some(b"a b.txt") });
        assert!(is_temporary(name.as_bytes()) && is_temporary(long.as_bytes()));
        for other in [
            nth('0') + "-old-",
            nth('0') + "-older",
            nth('g') + "-old-a",
            nth('0') + "-new",
            nth('0') + "-old-..",
        ] {
            assert!(!is_temporary(other.as_bytes()), "{other}");
        }
    }
}
