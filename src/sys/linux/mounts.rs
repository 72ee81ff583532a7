//! Mounted file systems, as /proc/self/mountinfo lists them: statfs(2) names all those in user space alike.

use std::fs;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, StatxFlags};

use crate::sys::fs::Mount;

/// Whether a mount tells all its options, and has those of mount(8) on Linux.
pub(crate) const TELLS_OPTIONS: bool = true;

/// The number of a file system's type in statfs(2); 0 if it is not known.
pub(crate) fn file_system_number(file: impl AsFd) -> u32 {
    rustix::fs::fstatfs(file).map_or(0, |statfs| statfs.f_type as u32)
}

/// The mount that an open file or folder is on. `None` if the system does not say. Reads one file of /proc.
pub(crate) fn mount_of(file: impl AsFd) -> Option<Mount> {
    let found = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
    // Before Linux 5.8 the number is missing.
    let number = (found.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(found.stx_mnt_id);
    let list = String::from_utf8_lossy(&fs::read("/proc/self/mountinfo").ok()?).into_owned();
    parse(&list, number, (found.stx_dev_major, found.stx_dev_minor))
}

/// Finds a mount by its number, or without one by its device: the last that was mounted.
fn parse(list: &str, number: Option<u64>, device: (u32, u32)) -> Option<Mount> {
    let device = format!("{}:{}", device.0, device.1);
    let number = number.map(|number| number.to_string());
    list.lines().rev().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let left: Vec<&str> = left.split(' ').collect();
        let is_it = match &number {
            Some(number) => left.first() == Some(&number.as_str()),
            None => left.get(2) == Some(&device.as_str()),
        };
        let mut right = right.split(' ');
        let (kind, source, of_system) = (right.next()?, right.next()?, right.next().unwrap_or_default());
        let options = format!("{},{of_system}", left.get(5)?);
        is_it.then(|| Mount { kind: kind.into(), source: unescaped(source), options })
    })
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
        let kind = |number, device| parse(LIST, number, device).map(|mount| mount.kind);
        assert_eq!(kind(Some(22), (9, 9)).as_deref(), Some("ext4"));
        assert_eq!(kind(None, (8, 1)).as_deref(), Some("ext4"));
        assert_eq!((kind(Some(7), (8, 1)), kind(None, (0, 4))), (None, None));
        let mount = parse(LIST, Some(30), (0, 40)).unwrap();
        assert_eq!(
            (mount.source.as_str(), mount.options.as_str()),
            ("me@host:/my data", "rw,nosuid,rw,user_id=0")
        );
        assert!(
            parse(LIST, None, (0, 40)).unwrap().options.starts_with("ro"),
            "the last one covers the others"
        );
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
