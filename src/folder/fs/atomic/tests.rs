//! Tests of the steps by which a file is replaced or made.

use sys::testing::{MetadataExt, PermissionsExt};

use super::super::leftovers;
use super::*;
use crate::fs::resolve::LastLink;

struct Dir(tempfile::TempDir, Arc<OwnedFd>);

fn dir() -> Dir {
    let dir = tempfile::tempdir().unwrap();
    let handle = Arc::new(sys::testing::open_folder(dir.path()));
    Dir(dir, handle)
}

impl Dir {
    fn names(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.0.path()).unwrap();
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn place(&self, name: &str) -> ResolvedPath {
        ResolvedPath::find_entry(&self.1, name.as_ref(), LastLink::Follow).unwrap()
    }

    fn replace(&self, name: &str, text: &str) -> Result<Option<FileStamp>, ReplaceError> {
        let place = self.place(name);
        let old = place.open().unwrap().unwrap();
        let mut new = AtomicFile::create(&self.1).unwrap();
        new.write_all(text.as_bytes()).unwrap();
        new.commit(&place, &Replaces::File(&old), Durability::Full, || Ok(()))
    }
}

#[test]
fn a_replaced_file_keeps_its_mode_and_extended_attributes() {
    let dir = dir();
    let path = dir.0.path().join("a");
    std::fs::write(&path, "old").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let tagged = sys::testing::setxattr(&path, "user.tag", b"kept", sys::fs::XattrFlags::empty());
    dir.replace("a", "new").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o7777, 0o640);
    if tagged.is_ok() {
        let mut value = Vec::with_capacity(64);
        sys::testing::getxattr(&path, "user.tag", sys::buffer::spare_capacity(&mut value)).unwrap();
        assert_eq!(value, b"kept");
    }
    assert_eq!(dir.names(), ["a"]);
}

#[test]
fn a_path_that_changed_since_it_was_planned_on_is_left_alone() {
    let dir = dir();
    std::fs::write(dir.0.path().join("a"), "old").unwrap();
    let place = dir.place("a");
    let old = place.open().unwrap().unwrap();
    std::fs::write(dir.0.path().join("a"), "other program").unwrap();
    let mut new = AtomicFile::create(&dir.1).unwrap();
    new.write_all(b"new").unwrap();
    let failed = new.commit::<ReplaceError>(&place, &Replaces::File(&old), Durability::Full, || Ok(()));
    assert!(matches!(failed, Err(ReplaceError::Changed)), "{failed:?}");
    assert_eq!(std::fs::read(dir.0.path().join("a")).unwrap(), b"other program");
    assert_eq!(dir.names(), ["a"]);
}

#[test]
fn a_new_file_never_replaces_one_that_came_meanwhile() {
    let dir = dir();
    let place = dir.place("a");
    let create = |text: &str| {
        let mut new = AtomicFile::create(&dir.1).unwrap();
        new.write_all(text.as_bytes()).unwrap();
        let mode = Mode::from_raw_mode(0o644);
        new.commit::<ReplaceError>(&place, &Replaces::Nothing(mode), Durability::None, || Ok(()))
    };
    create("first").unwrap();
    assert!(matches!(create("second"), Err(ReplaceError::Exists)));
    assert_eq!(std::fs::read(dir.0.path().join("a")).unwrap(), b"first");
    assert_eq!(std::fs::metadata(dir.0.path().join("a")).unwrap().mode() & 0o7777, 0o644);
    assert_eq!(dir.names(), ["a"]);
}

#[test]
fn a_rename_that_is_carried_out_and_fails_is_no_failure() {
    let dir = dir();
    let place = dir.place("a");
    let lost = || ReplaceError::Io(Errno::NOTCONN.into());
    for by_link in [false, true] {
        let new = AtomicFile::create(&dir.1).unwrap();
        let new = new.prepare(&Replaces::Nothing(Mode::RUSR), Durability::None).unwrap();
        let (old, path) = (dir.0.path().join(&new.temporary.name), dir.0.path().join("a"));
        match by_link {
            true => {
                std::fs::remove_file(&path).unwrap();
                std::fs::hard_link(old, path).unwrap();
            }
            false => std::fs::rename(old, path).unwrap(),
        }
        assert!(new.settle(lost(), &place, &Replaces::Nothing(Mode::RUSR)).is_ok());
        assert_eq!(dir.names(), ["a"]);
    }
}

#[test]
fn a_rename_whose_answer_is_lost_is_a_failure_only_if_it_can_not_have_been_carried_out() {
    let dir = dir();
    let place = dir.place("a");
    let lost = || ReplaceError::Io(Errno::NOTCONN.into());
    let new = AtomicFile::create(&dir.1).unwrap();
    let new = new.prepare(&Replaces::Nothing(Mode::RUSR), Durability::None).unwrap();
    let undone = new.settle(lost(), &place, &Replaces::Nothing(Mode::RUSR));
    assert!(matches!(undone, Err(ReplaceError::Io(_))), "{undone:?}");
    assert!(dir.names().is_empty());
    // A cache of names still shows the old file: as if it were there, in the place of the new one.
    for by_link in [false, true] {
        let new = AtomicFile::create(&dir.1).unwrap();
        let new = new.prepare(&Replaces::Nothing(Mode::RUSR), Durability::None).unwrap();
        let (old, path) = (dir.0.path().join(&new.temporary.name), dir.0.path().join("b"));
        match by_link {
            true => std::fs::hard_link(old, &path).unwrap(),
            false => std::fs::rename(old, &path).unwrap(),
        }
        let doubt = new.settle(lost(), &place, &Replaces::Nothing(Mode::RUSR));
        assert!(matches!(doubt, Err(ReplaceError::InPlace(_))), "{doubt:?}");
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_temporary_that_another_program_cuts_or_extends_does_not_take_the_files_place() {
    for len in [1, 1_000] {
        let dir = dir();
        std::fs::write(dir.0.path().join("a"), "old").unwrap();
        let path = dir.0.path().to_owned();
        let meddle = move || {
            let names = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
            let temporary = names.into_iter().find(|path| !path.ends_with("a")).unwrap();
            File::options().write(true).open(temporary).unwrap().set_len(len).unwrap();
        };
        let mut replaced = None;
        // After the file was created, locked and written.
        assert!(failpoint::meddle_at(3, meddle, || replaced = Some(dir.replace("a", "new"))));
        assert!(matches!(replaced, Some(Err(ReplaceError::Io(_)))), "{replaced:?}");
        assert_eq!(
            (dir.names(), std::fs::read(dir.0.path().join("a")).unwrap()),
            (vec!["a".into()], b"old".into())
        );
    }
}

#[test]
fn a_replaced_file_keeps_its_owner_and_group() {
    let dir = dir();
    let path = dir.0.path().join("a");
    std::fs::write(&path, "old").unwrap();
    if sys::testing::chown(&path, Some(12), Some(34)).is_err() {
        // Only the superuser can change the owner.
        return;
    }
    dir.replace("a", "new").unwrap();
    let meta = std::fs::metadata(&path).unwrap();
    assert_eq!((meta.uid(), meta.gid(), std::fs::read(&path).unwrap()), (12, 34, b"new".to_vec()));
}

#[test]
fn a_commit_that_is_not_allowed_leaves_nothing_behind() {
    let dir = dir();
    let mut new = AtomicFile::create(&dir.1).unwrap();
    new.write_all(b"x").unwrap();
    assert_eq!(std::fs::metadata(dir.0.path().join(&new.temporary.name)).unwrap().mode() & 0o777, 0o600);
    let place = dir.place("a");
    let refused =
        new.commit(&place, &Replaces::Nothing(Mode::RUSR), Durability::None, || Err(ReplaceError::Changed));
    assert!(matches!(refused, Err(ReplaceError::Changed)));
    assert!(dir.names().is_empty());
}

#[test]
fn leftovers_of_the_dead_are_removed_and_those_of_the_living_stay() {
    let dir = dir();
    std::fs::write(dir.0.path().join(temporary::new_name()), "x").unwrap();
    let living = AtomicFile::create(&dir.1).unwrap();
    assert_eq!(leftovers::remove_leftovers(&dir.1).unwrap(), 1);
    assert_eq!(dir.names(), [living.temporary.name.to_str().unwrap()]);
    drop(living);
    assert!(dir.names().is_empty());
}

#[test]
fn a_start_that_takes_a_temporary_away_before_it_is_locked_costs_its_writer_nothing_but_a_new_name() {
    let dir = dir();
    let other = dir.1.clone();
    let meddle = move || assert_eq!(leftovers::remove_leftovers(&other).unwrap(), 1);
    let mut created = None;
    assert!(failpoint::meddle_at(1, meddle, || created = Some(AtomicFile::create(&dir.1).unwrap())));
    assert_eq!(dir.names(), [created.unwrap().temporary.name.to_str().unwrap()]);
}
