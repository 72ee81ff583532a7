//! Mounted file systems, as /proc/self/mountinfo lists them: statfs(2) names all those in user space alike.

use std::fs;
use std::io::Read;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, StatxFlags};

use crate::fs::Mount;

/// Room for the list of mounts, in bytes.
const ROOM: usize = 16 * 1024;

/// Whether a mount tells all its options, and has those of mount(8) on Linux.
pub const TELLS_OPTIONS: bool = true;

/// The number of a file system's type in statfs(2); 0 if it is not known.
pub fn file_system_number(file: impl AsFd) -> u32 {
    rustix::fs::fstatfs(file).map_or(0, |statfs| statfs.f_type as u32)
}

/// The mount that an open file or folder is on. `None` if the system does not say. Reads one file of /proc.
pub fn mount_of(file: impl AsFd) -> Option<Mount> {
    let found = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
    // Before Linux 5.8 the number is missing.
    let number = (found.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(found.stx_mnt_id);
    find(&list()?, number, (found.stx_dev_major, found.stx_dev_minor))
}

/// All mounts, and where they are. None if the system does not say.
pub fn mounts() -> Vec<(PathBuf, Mount)> {
    chosen(&list().unwrap_or_default(), |_| true)
}

/// The mounts below the folder at `path`, which is canonical, and where they are. None if the system does not say.
pub fn mounts_below(path: &Path) -> Vec<(PathBuf, Mount)> {
    below(&list().unwrap_or_default(), path)
}

fn list() -> Option<String> {
    // The file does not tell its size: with room for most lists, it is read at once.
    let mut list = Vec::with_capacity(ROOM);
    fs::File::open("/proc/self/mountinfo").and_then(|mut file| file.read_to_end(&mut list)).ok()?;
    Some(String::from_utf8_lossy(&list).into_owned())
}

/// A line of the list.
struct Line<'l> {
    number: &'l str,
    device: &'l str,
    at: &'l str,
    /// Those of the mount.
    options: &'l str,
    kind: &'l str,
    source: &'l str,
    /// Those of the file system.
    of_system: &'l str,
}

impl<'l> Line<'l> {
    /// `None` if it is none.
    fn parse(line: &'l str) -> Option<Line<'l>> {
        let (left, right) = line.split_once(" - ")?;
        let (mut left, mut right) = (left.split(' '), right.split(' '));
        let (number, device) = (left.next()?, left.nth(1)?);
        let (at, options) = (left.nth(1)?, left.next()?);
        let (kind, source) = (right.next()?, right.next()?);
        let of_system = right.next().unwrap_or_default();
        Some(Line { number, device, at, options, kind, source, of_system })
    }

    fn mount(&self) -> Mount {
        let options = format!("{},{}", self.options, self.of_system);
        Mount { kind: self.kind.into(), source: unescaped(self.source), options }
    }
}

/// Finds a mount by its number, or without one by its device: the last that was mounted.
fn find(list: &str, number: Option<u64>, device: (u32, u32)) -> Option<Mount> {
    let device = format!("{}:{}", device.0, device.1);
    let number = number.map(|number| number.to_string());
    let is_it = |line: &Line| match &number {
        Some(number) => line.number == number,
        None => line.device == device,
    };
    list.lines().rev().filter_map(Line::parse).find(is_it).map(|line| line.mount())
}

fn below(list: &str, path: &Path) -> Vec<(PathBuf, Mount)> {
    chosen(list, |at| at != path && at.starts_with(path))
}

fn chosen(list: &str, is_wanted: impl Fn(&Path) -> bool) -> Vec<(PathBuf, Mount)> {
    let wanted = |line: Line| {
        let at = PathBuf::from(unescaped(line.at));
        is_wanted(&at).then(|| (at, line.mount()))
    };
    list.lines().filter_map(Line::parse).filter_map(wanted).collect()
}

/// A field whose blanks and the like are octal numbers behind a backslash.
fn unescaped(field: &str) -> String {
    let mut parts = field.split('\\');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(code) => {
                text.push(code.into());
                text.push_str(&part[3..]);
            }
            None => {
                text.push('\\');
                text.push_str(part);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro
30 22 0:40 / /data rw,nosuid - fuse.sshfs me@host:/my\\040data rw,user_id=0
31 22 0:40 / /again ro - fuse.sshfs me@host:/my\\040data rw
nonsense
";

    #[test]
    fn a_mount_is_found_by_its_number_and_without_one_by_its_device() {
        let kind = |number, device| find(LIST, number, device).map(|mount| mount.kind);
        assert_eq!(kind(Some(22), (9, 9)).as_deref(), Some("ext4"));
        assert_eq!(kind(None, (8, 1)).as_deref(), Some("ext4"));
        assert_eq!((kind(Some(7), (8, 1)), kind(None, (0, 4))), (None, None));
        let mount = find(LIST, Some(30), (0, 40)).unwrap();
        assert_eq!(
            (mount.source.as_str(), mount.options.as_str()),
            ("me@host:/my data", "rw,nosuid,rw,user_id=0")
        );
        assert!(
            find(LIST, None, (0, 40)).unwrap().options.starts_with("ro"),
            "the last one covers the others"
        );
    }

    #[test]
    fn the_mounts_below_a_folder_are_those_whose_path_continues_its_own() {
        let at = |path: &str| {
            below(LIST, Path::new(path)).into_iter().map(|(at, mount)| (at, mount.kind)).collect::<Vec<_>>()
        };
        assert_eq!(at("/"), [("/data".into(), "fuse.sshfs".into()), ("/again".into(), "fuse.sshfs".into())]);
        assert!(at("/data").is_empty() && at("/dat").is_empty());
    }

    #[test]
    fn what_is_no_octal_number_stays_as_it_is() {
        assert_eq!((unescaped("a\\134b\\011"), unescaped("a\\9\\")), ("a\\b\t".into(), "a\\9\\".into()));
    }

    #[test]
    fn the_mount_of_proc_is_known() {
        let file = fs::File::open("/proc/self/status").unwrap();
        assert_eq!(mount_of(&file).unwrap().kind, "proc");
    }
}
