//! File systems of their own for single tests.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Folder;

/// A small file system in the place of a folder. Unmounted on drop.
pub(crate) struct Mount(PathBuf);

impl Mount {
    /// A tmpfs in the place of a folder. None, and a message, where mounting is impossible; the same for all others.
    pub(crate) fn at(path: &Path, options: &str) -> Option<Mount> {
        Mount::run(path, &["-t", "tmpfs", "-o", options, "file-editor-test"])
    }

    /// A ramfs in the place of a folder.
    pub(crate) fn ramfs(path: &Path) -> Option<Mount> {
        Mount::run(path, &["-t", "ramfs", "-o", "mode=755", "file-editor-test"])
    }

    /// The directory `what` at another place.
    pub(crate) fn bind(what: &Path, path: &Path) -> Option<Mount> {
        Mount::run(path, &["--bind", what.to_str().expect("a plain path")])
    }

    /// A file system of 512 MiB in a sparse file beside the folder, made by `mkfs.{kind}` with these arguments.
    /// None, and a message, where that is impossible.
    pub(crate) fn made_by(kind: &str, arguments: &[&str], folder: &Folder) -> Option<Mount> {
        let image = image(kind, arguments, folder, 512 << 20)?;
        Mount::run(folder.path(), &["-o", "loop", &image])
    }

    /// A file system that ignores case, in a file beside the folder.
    pub(crate) fn exfat(folder: &Folder) -> Option<Mount> {
        let image = image("exfat", &[], folder, 64 << 20)?;
        // In user space: not every kernel has it.
        Mount::run(folder.path(), &["-t", "exfat-fuse", "-o", "loop", &image])
    }

    /// An overlayfs whose files lie beside the folder.
    pub(crate) fn overlay(folder: &Folder) -> Option<Mount> {
        let layers = ["lower", "upper", "work"].map(|name| folder.outside(name));
        layers.iter().for_each(|layer| std::fs::create_dir(layer).expect("a folder"));
        let [lower, upper, work] = layers.map(|layer| layer.to_str().expect("a plain path").to_owned());
        let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
        Mount::run(folder.path(), &["-t", "overlay", "-o", &options, "file-editor-test"])
    }

    /// What is mounted at `path` already.
    pub(crate) fn adopt(path: &Path) -> Mount {
        Mount(path.to_owned())
    }

    fn run(path: &Path, arguments: &[&str]) -> Option<Mount> {
        match Command::new("mount").args(arguments).arg(path).output() {
            Ok(done) if done.status.success() => Some(Mount(path.to_owned())),
            Ok(done) => {
                println!("SKIPPED: cannot mount here: {}", String::from_utf8_lossy(&done.stderr));
                None
            }
            Err(error) => {
                println!("SKIPPED: cannot mount here: {error}");
                None
            }
        }
    }

    /// Mounts it again with other options.
    pub(crate) fn again(&self, options: &str) {
        let done = Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.0).output();
        let done = done.expect("mount runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

/// A file of so many bytes beside the folder, which holds a file system made by `mkfs.{kind}`. None, and a message, without that.
fn image(kind: &str, arguments: &[&str], folder: &Folder, bytes: u64) -> Option<String> {
    let image = folder.outside("image");
    std::fs::File::create(&image).and_then(|file| file.set_len(bytes)).expect("an image");
    let made = Command::new(format!("mkfs.{kind}")).args(arguments).arg(&image).output();
    if !made.is_ok_and(|made| made.status.success()) {
        println!("SKIPPED: no mkfs.{kind} here");
        return None;
    }
    Some(image.to_str().expect("a plain path").into())
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Lazily: a server that is still there holds it.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
