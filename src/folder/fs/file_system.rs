//! Which file system a file is on, and what it keeps of what the server needs (contract 8): the one table of that.
//!
//! Two questions are asked of it. For each read: does it show other programs' writes? The numbers of statfs(2) tell the
//! Linux kernel's own file systems. On any other, a write by another program may leave no trace, so nothing that was
//! read from a file is cached. NFS, SMB, 9p and FUSE have writers on another machine or in another process that the
//! kernel does not see; tmpfs does not set a file's times on a write through a map; overlayfs does not count a program
//! that has a file mapped, and changes of its lower folders are told to nobody who watches. Once for each mount: who shares its locks, and what does its client keep too long? That goes
//! by the type in the list of mounts, because the numbers tell all file systems in user space alike.
//!
//! Asks the system; writes nothing. [`probe`](super::probe) tries things out.

use sys::fd::AsFd;
use sys::fs::{Mount, TELLS_OPTIONS};

/// How to wait for the end of a running write(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteBarrier {
    /// A search for data takes the lock that a write holds.
    Seek,
    /// A read takes the lock that a write holds.
    Read,
    /// No way is known.
    None,
}

/// The kernel's guarantees for files on one file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSystem {
    /// How to wait for a running write(2).
    pub write_barrier: WriteBarrier,
    /// All access goes through this kernel, so leases count every program that has a file open or mapped for
    /// writing. A write through a map first changes the file's times, for each page that was clean.
    pub shows_writers: bool,
    /// All changes of folders go through this kernel, which tells them to whoever watches (inotify(7)).
    pub tells_changes: bool,
}

/// Whom a lock of a file keeps out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockScope {
    /// All that can change the files: only this machine can.
    Machine,
    /// Other machines, too.
    Shared,
    /// Only this machine, but other machines can change the files.
    Unshared,
    /// This machine; of others nothing is known.
    Unknown,
}

/// One type of file system.
#[derive(Debug)]
pub struct Row {
    /// Its names in the list of mounts.
    kinds: &'static [&'static str],
    /// Its type in statfs(2). 0: by name only.
    number: u32,
    kernel: FileSystem,
    /// Whom its locks keep out, with its usual mount options.
    pub(crate) locks: LockScope,
    /// How long its client uses names and attributes without asking, by default, in milliseconds.
    pub(crate) stale_ms: u32,
    /// What prevents that: mount options, and more where these are not enough.
    pub(crate) fresh_options: &'static str,
    /// The unit of its files' times, in nanoseconds.
    pub time_unit_ns: u32,
}

/// A file system of this machine's disks or memory.
const fn local(kinds: &'static [&'static str], number: u32, write_barrier: WriteBarrier, shows: bool) -> Row {
    let kernel = FileSystem { write_barrier, shows_writers: shows, tells_changes: shows };
    Row { kinds, number, kernel, locks: LockScope::Machine, stale_ms: 0, fresh_options: "", time_unit_ns: 1 }
}

/// A file system that others may reach.
const fn remote(kinds: &'static [&'static str], locks: LockScope) -> Row {
    Row { locks, ..local(kinds, 0, WriteBarrier::None, false) }
}

impl Row {
    const fn stale(self, stale_ms: u32, fresh_options: &'static str) -> Row {
        Row { stale_ms, fresh_options, ..self }
    }

    const fn tells_changes(mut self) -> Row {
        self.kernel.tells_changes = true;
        self
    }

    const fn time_unit(self, time_unit_ns: u32) -> Row {
        Row { time_unit_ns, ..self }
    }
}

/// A second, in nanoseconds.
const SECOND: u32 = 1_000_000_000;

/// Types that are not here: in user space, nothing is known of them; else they are of this machine.
static TABLE: [Row; 34] = [
    local(&["ext4", "ext3", "ext2"], 0x0000_ef53, WriteBarrier::Seek, true),
    local(&["xfs"], 0x5846_5342, WriteBarrier::Read, true),
    local(&["btrfs"], 0x9123_683e, WriteBarrier::Seek, true),
    local(&["f2fs"], 0xf2f5_2010, WriteBarrier::Seek, true),
    local(&["tmpfs"], 0x0102_1994, WriteBarrier::Seek, false).tells_changes(),
    local(&["overlay"], 0x794c_7630, WriteBarrier::Seek, false),
    local(&["vfat", "msdos"], 0, WriteBarrier::None, false).time_unit(2 * SECOND),
    local(&["exfat"], 0, WriteBarrier::None, false).time_unit(10_000_000),
    local(&["ntfs", "ntfs3", "fuseblk", "fuse.ntfs-3g"], 0, WriteBarrier::None, false).time_unit(100),
    local(&["hfs", "hfsplus"], 0, WriteBarrier::None, false).time_unit(SECOND),
    // On top of another file system, which may be that of another machine.
    remote(
        &["fuse.gocryptfs", "fuse.encfs", "fuse.mergerfs", "fuse.fuse-overlayfs", "fuse.unionfs", "ecryptfs"],
        LockScope::Unknown,
    ),
    // Locks of NFS 4 and of lockd hold for all clients; flock(2) is a lock of the whole file there.
    remote(&["nfs", "nfs4"], LockScope::Shared).stale(30_000, "lookupcache=none,actimeo=0"),
    remote(&["ceph"], LockScope::Shared),
    remote(&["fuse.ceph-fuse", "fuse.ceph"], LockScope::Shared),
    remote(&["fuse.mfs", "fuse.mfsmount", "fuse.moosefs"], LockScope::Shared)
        .stale(1_000, "mfsattrcacheto=0,mfsentrycacheto=0,mfsdirentrycacheto=0")
        .time_unit(SECOND),
    // The mount options alone do not prevent stale reads: tests/shared/run on a volume with its defaults.
    remote(&["fuse.glusterfs"], LockScope::Shared)
        .stale(1_000, "attribute-timeout=0,entry-timeout=0,auto-invalidation=on and its volume has performance.stat-prefetch off"),
    remote(&["fuse.juicefs"], LockScope::Shared)
        .stale(1_000, "--attr-cache=0 --entry-cache=0 --dir-entry-cache=0"),
    remote(&["gfs2"], LockScope::Shared),
    remote(&["ocfs2"], LockScope::Shared),
    remote(&["gpfs"], LockScope::Shared),
    remote(&["lustre"], LockScope::Unknown),
    remote(&["beegfs"], LockScope::Unknown),
    remote(&["cifs", "smb3", "smbfs"], LockScope::Unknown).stale(1_000, "actimeo=0").time_unit(100),
    remote(&["9p"], LockScope::Unknown),
    remote(&["wekafs", "panfs", "cvfs", "vxfs", "acfs", "aufs"], LockScope::Unknown),
    remote(&["virtiofs"], LockScope::Unknown),
    remote(&["vboxsf", "fuse.vmhgfs-fuse", "prl_fs", "fakeowner"], LockScope::Unknown),
    remote(&["afs", "coda", "orangefs", "pvfs2", "afpfs"], LockScope::Unknown),
    remote(&["fuse.sshfs"], LockScope::Unshared).stale(20_000, "dir_cache=no").time_unit(SECOND),
    remote(&["fuse.rclone"], LockScope::Unshared),
    remote(&["fuse.s3fs", "fuse.goofys", "fuse.mountpoint-s3"], LockScope::Unshared),
    remote(&["fuse.gcsfuse", "fuse.blobfuse", "fuse.blobfuse2"], LockScope::Unshared),
    remote(&["fuse.davfs", "webdav", "fuse.curlftpfs"], LockScope::Unshared),
    remote(&["fuse.smbnetfs", "fuse.gvfsd-fuse"], LockScope::Unshared),
];

/// A type in user space that is not in the table.
static IN_USER_SPACE: Row = remote(&[], LockScope::Unknown);

/// A type of the kernel that is not in the table.
static OF_KERNEL: Row = local(&[], 0, WriteBarrier::None, false);

/// The file system of an open file or folder. May wait for another machine.
pub fn of(file: impl AsFd) -> FileSystem {
    known(file).map_or(OF_KERNEL.kernel, |row| row.kernel)
}

/// Whether an open file or folder is on a disk or in the memory of this machine, and nothing else has to answer for it. Reads the
/// list of mounts unless the number of the file system is in the table; where that does not tell either, as of a dead mount, no.
pub fn is_local(file: impl AsFd) -> bool {
    let by_mount = || sys::fs::mount_of(&file).map(|mount| row_of(&mount));
    known(&file).or_else(by_mount).is_some_and(|row| row.locks == LockScope::Machine)
}

/// Whether a mount is on a disk or in the memory of this machine.
pub(crate) fn is_local_mount(mount: &Mount) -> bool {
    row_of(mount).locks == LockScope::Machine
}

/// The row of an open file or folder, if the number of its file system is in the table.
fn known(file: impl AsFd) -> Option<&'static Row> {
    let number = sys::fs::file_system_number(file);
    TABLE.iter().find(|row| number != 0 && row.number == number)
}

/// The row of a mount.
pub fn row_of(mount: &Mount) -> &'static Row {
    let kind = kind_of(mount);
    let found = TABLE.iter().find(|row| row.kinds.contains(&kind.as_str()));
    found.unwrap_or(if kind.starts_with("fuse") || kind == "macfuse" { &IN_USER_SPACE } else { &OF_KERNEL })
}

/// The type of a mount. Some programs tell it only in the source.
fn kind_of(mount: &Mount) -> String {
    if mount.kind != "fuse" {
        return mount.kind.clone();
    }
    let starts = [
        ("sshfs#", "fuse.sshfs"),
        ("mfs#", "fuse.mfs"),
        ("JuiceFS:", "fuse.juicefs"),
        ("http", "fuse.davfs"),
    ];
    let by_source = starts.iter().find(|(start, _)| mount.source.starts_with(start));
    by_source.map_or("fuse", |(_, kind)| kind).into()
}

/// Whom the locks of a mount keep out, with the options that it has.
pub fn locks_of(mount: &Mount) -> LockScope {
    locks_by(mount, TELLS_OPTIONS)
}

/// The same, where the system tells the options of a mount or does not.
fn locks_by(mount: &Mount, tells_options: bool) -> LockScope {
    let has = |option: &str| mount.options.split(',').any(|given| given == option);
    match mount.kind.as_str() {
        // It may have an option by which its locks hold on this machine only.
        "nfs" | "nfs4" | "lustre" if !tells_options => LockScope::Unknown,
        "nfs" | "nfs4" if ["nolock", "local_lock=all", "local_lock=flock"].into_iter().any(has) => {
            LockScope::Unshared
        }
        "cifs" | "smb3" if has("nobrl") => LockScope::Unshared,
        "gfs2" | "ocfs2" if has("localflocks") => LockScope::Unshared,
        "lustre" if has("flock") => LockScope::Shared,
        "lustre" if has("localflock") => LockScope::Unshared,
        _ => row_of(mount).locks,
    }
}

/// How long the client of a mount uses names and attributes without asking, in milliseconds, as far as its options tell.
pub(crate) fn stale_ms(mount: &Mount) -> u32 {
    let has = |option: &str| mount.options.split(',').any(|given| given == option);
    match mount.kind.as_str() {
        // The list of mounts tells actimeo as its four parts.
        "nfs" | "nfs4"
            if has("lookupcache=none") && (has("noac") || has("actimeo=0") || has("acregmin=0")) =>
        {
            0
        }
        "cifs" | "smb3" if has("actimeo=0") => 0,
        _ => row_of(mount).stale_ms,
    }
}

/// Whether the server's promises hold on a file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Safety {
    /// They do.
    Safe,
    /// Perhaps not: why, and what to do.
    Doubtful(String),
    /// Edits of other machines can be lost: why.
    Unsafe(String),
}

/// Whether the server's promises hold in the folder `dir`, by the table alone. For a file system of the Linux kernel in
/// the table this is one system call.
pub(crate) fn safety_of(dir: impl AsFd) -> Safety {
    if known(&dir).is_some_and(|row| row.locks == LockScope::Machine) {
        return Safety::Safe;
    }
    let unknown = || {
        let why = "the system does not tell which file system this is, nor whether locks there keep out other machines";
        Safety::Doubtful(why.into())
    };
    sys::fs::mount_of(&dir).map_or_else(unknown, |mount| safety(&mount))
}

/// The same for a mount.
pub fn safety(mount: &Mount) -> Safety {
    safety_by(mount, TELLS_OPTIONS)
}

/// The same, where the system tells the options of a mount or does not.
fn safety_by(mount: &Mount, tells_options: bool) -> Safety {
    let Mount { kind, source, .. } = mount;
    let (name, row) = (format!("{kind} ({source})"), row_of(mount));
    let stale = stale_ms(mount);
    match locks_by(mount, tells_options) {
        LockScope::Unshared => Safety::Unsafe(format!(
            "locks on {name} hold on this machine only: if another machine changes the same file at the same time, one of \
             the two edits is lost"
        )),
        LockScope::Unknown => Safety::Doubtful(format!(
            "it is not known whether locks on {name} keep out other machines, or the host of this one: have only one \
             machine write there"
        )),
        _ if stale > 0 => {
            // The options are those of Linux.
            let unless = match tells_options {
                true => format!(", unless it is mounted with {}", row.fresh_options),
                false => String::new(),
            };
            Safety::Doubtful(format!(
                "{kind} uses names and attributes for up to {} s without asking: an edit of another machine in that time \
                 can be overwritten{unless}",
                stale.div_ceil(1_000),
            ))
        }
        _ => Safety::Safe,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(kind: &str, source: &str, options: &str) -> Mount {
        Mount { kind: kind.into(), source: source.into(), options: options.into() }
    }

    #[test]
    fn of_a_file_system_that_is_not_in_the_table_nothing_is_known() {
        let file = sys::testing::file_without_a_number();
        assert_eq!(
            of(&file),
            FileSystem { write_barrier: WriteBarrier::None, shows_writers: false, tells_changes: false }
        );
    }

    #[test]
    fn a_kernel_s_own_file_system_without_a_number_is_local_too() {
        assert!(is_local(sys::testing::file_without_a_number()));
    }

    #[test]
    fn each_type_is_in_one_row_and_says_how_to_be_fresh() {
        let mut kinds: Vec<&str> = TABLE.iter().flat_map(|row| row.kinds).copied().collect();
        kinds.sort_unstable();
        assert!(kinds.windows(2).all(|pair| pair[0] != pair[1]), "{kinds:?}");
        assert!(TABLE.iter().all(|row| (row.stale_ms > 0) != row.fresh_options.is_empty()));
        assert!(TABLE.iter().all(|row| !row.kernel.shows_writers || row.locks == LockScope::Machine));
    }

    #[test]
    fn locks_go_by_the_type_by_the_source_and_by_the_options() {
        for (kind, source, options, expected) in [
            ("ext4", "/dev/sda1", "rw", LockScope::Machine),
            ("zfs", "tank", "rw", LockScope::Machine),
            ("fuse.sshfs", "me@host:", "rw", LockScope::Unshared),
            ("fuse", "sshfs#me@host:", "rw", LockScope::Unshared),
            ("fuse", "JuiceFS:data", "rw", LockScope::Shared),
            ("fuse.mfs", "mfs#master:9421", "rw", LockScope::Shared),
            ("fuse.glusterfs", "host:/vol", "rw", LockScope::Shared),
            ("fuse.bindfs", "/srv", "rw", LockScope::Unknown),
            ("fuse", "thing", "rw", LockScope::Unknown),
            ("nfs4", "host:/x", "rw,vers=4.2,local_lock=none", LockScope::Shared),
            ("nfs", "host:/x", "rw,vers=3,nolock,local_lock=all", LockScope::Unshared),
            ("cifs", "//host/x", "rw,nobrl", LockScope::Unshared),
            ("ocfs2", "/dev/sdb", "rw,heartbeat=local", LockScope::Shared),
            ("ocfs2", "/dev/sdb", "rw,localflocks", LockScope::Unshared),
            ("fuse.gocryptfs", "/crypt", "rw", LockScope::Unknown),
            ("lustre", "a@tcp:/x", "rw,flock", LockScope::Shared),
            ("lustre", "a@tcp:/x", "rw,localflock", LockScope::Unshared),
        ] {
            assert_eq!(locks_by(&mount(kind, source, options), true), expected, "{kind} {source} {options}");
        }
    }

    #[test]
    fn where_the_system_does_not_tell_options_nothing_is_known_of_locks_that_hang_on_them_and_none_is_advised()
     {
        for kind in ["nfs", "nfs4", "lustre"] {
            let mount = mount(kind, "host:/x", "rw");
            assert_eq!(locks_by(&mount, false), LockScope::Unknown, "{kind}");
            let Safety::Doubtful(text) = safety_by(&mount, false) else { panic!("{kind}") };
            assert!(text.contains("only one machine") && !text.contains("mounted with"), "{text}");
        }
        let Safety::Doubtful(text) = safety_by(&mount("fuse.juicefs", "x", "rw"), false) else {
            panic!("juicefs")
        };
        assert!(text.contains("1 s without asking") && !text.contains("mounted with"), "{text}");
        assert_eq!(locks_by(&mount("ceph", "mon:/", "rw"), false), LockScope::Shared);
    }

    #[test]
    fn a_mount_is_safe_doubtful_or_unsafe_and_says_what_to_do() {
        let safety = |mount| safety_by(&mount, true);
        assert_eq!(safety(mount("xfs", "/dev/sda1", "rw")), Safety::Safe);
        assert_eq!(safety(mount("ceph", "mon:/", "rw")), Safety::Safe);
        for fresh in ["lookupcache=none,noac", "lookupcache=none,acregmin=0,acregmax=0,acdirmin=0,acdirmax=0"]
        {
            assert_eq!(safety(mount("nfs4", "host:/x", fresh)), Safety::Safe);
        }
        for stale in ["noac", "lookupcache=none"] {
            assert!(matches!(safety(mount("nfs4", "host:/x", stale)), Safety::Doubtful(_)), "{stale}");
        }
        for (kind, part) in [
            ("nfs4", "lookupcache=none"),
            ("fuse.juicefs", "1 s without asking"),
            ("fuse.juicefs", "--entry-cache=0"),
            ("fuse.glusterfs", "stat-prefetch off"),
            ("virtiofs", "only one machine"),
        ] {
            let Safety::Doubtful(text) = safety(mount(kind, "x", "rw")) else { panic!("{kind}") };
            assert!(text.contains(part), "{text}");
        }
        let Safety::Unsafe(text) = safety(mount("fuse.sshfs", "me@host:", "rw")) else { panic!("sshfs") };
        assert!(text.contains("fuse.sshfs (me@host:)") && text.contains("lost"), "{text}");
    }

    #[test]
    fn a_disk_of_this_machine_is_safe_without_a_look_at_the_mounts() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(safety_of(sys::testing::open_folder(dir.path())), Safety::Safe);
    }
}
