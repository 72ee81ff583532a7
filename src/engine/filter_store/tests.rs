//! Stores that share a file, files that are damaged or foreign, and the file's bounds.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use folder::fs::lock::Locks;

/// A folder with texts, and one for filters.
struct Folders {
    dir: tempfile::TempDir,
}

type Text = (PathBuf, FileStamp, FileFilter);

impl Folders {
    fn new() -> Folders {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("texts")).unwrap();
        Folders { dir }
    }

    fn texts(&self) -> PathBuf {
        self.dir.path().join("texts")
    }

    fn filters(&self) -> PathBuf {
        self.dir.path().join("filters")
    }

    fn store(&self) -> FilterStore {
        FilterStore::open(&self.filters(), [self.texts().as_path()].into_iter()).unwrap()
    }

    /// Writes a text, and makes its filter.
    fn text(&self, name: &str) -> Text {
        self.text_of(name, 900)
    }

    fn text_of(&self, name: &str, words: usize) -> Text {
        let path = self.texts().join(name);
        let text: String = (0..words).map(|n| format!("{name} word{} ", n * 7 % 991)).collect();
        fs::write(&path, &text).unwrap();
        let stamp = FileStamp::of(&sys::fs::stat(&path).unwrap());
        (path, stamp, FileFilter::build(text.as_bytes()))
    }
}

fn control() -> Control {
    Control::new(Duration::from_secs(60))
}

fn add<'t>(store: &FilterStore, texts: impl IntoIterator<Item = &'t Text>) -> bool {
    let (locks, control) = (Locks::default(), control());
    let mut writer = Writer::new(store, &locks, &control);
    texts.into_iter().for_each(|(path, stamp, filter)| writer.add(stamp, path, filter));
    writer.flush();
    !writer.is_full()
}

/// Whether a store knows the filter of a text.
fn knows(store: &FilterStore, (_, stamp, filter): &Text) -> bool {
    store.refresh(&control());
    let known = store.get(stamp);
    assert!(known.as_ref().is_none_or(|known| known == filter), "a wrong filter");
    known.is_some() && store.has(stamp)
}

fn len(store: &FilterStore) -> u64 {
    store.path.metadata().map_or(0, |found| found.len())
}

#[test]
fn what_one_store_appends_another_one_finds_without_being_opened_again() {
    let folders = Folders::new();
    let (one, other) = (folders.store(), folders.store());
    let texts: Vec<Text> = (0..9).map(|n| folders.text(&n.to_string())).collect();
    assert!(!knows(&other, &texts[0]));
    for (number, text) in texts.iter().enumerate() {
        let (writer, reader) = if number % 2 == 0 { (&one, &other) } else { (&other, &one) };
        assert!(!knows(reader, text) && add(writer, [text]) && knows(reader, text));
        let other_state = FileStamp { ctime_ns: 1, ..text.1 };
        assert!(reader.get(&other_state).is_none() && !reader.has(&other_state));
    }
    let later = folders.store();
    assert!(texts.iter().all(|text| knows(&one, text) && knows(&later, text)));
}

#[test]
fn threads_of_several_stores_append_at_the_same_time() {
    let folders = Folders::new();
    let texts: Vec<Text> = (0..60).map(|n| folders.text(&n.to_string())).collect();
    std::thread::scope(|scope| {
        for part in texts.chunks(20) {
            let store = FilterStore { bounds: Bounds { max: 1 << 20, slack: 10_000 }, ..folders.store() };
            scope.spawn(move || part.iter().for_each(|text| assert!(add(&store, [text]))));
        }
    });
    let store = folders.store();
    assert!(texts.iter().all(|text| knows(&store, text)));
}

#[test]
fn what_a_dead_writer_left_is_cut_off_by_the_next() {
    let folders = Folders::new();
    // The record that is cut off is longer than the one that takes its place.
    let texts = [("a", 900), ("b", 9_000), ("c", 900)].map(|(name, words)| folders.text_of(name, words));
    let store = folders.store();
    add(&store, &texts[..1]);
    let whole = len(&store);
    add(&store, &texts[1..2]);
    let bytes = fs::read(&store.path).unwrap();
    // The length of the file with the records of these texts alone.
    let lens = [vec![&texts[2]], vec![&texts[0], &texts[2]]].map(|texts| {
        let folders = Folders::new();
        let store = folders.store();
        add(&store, texts);
        len(&store)
    });
    for torn in [0, 1, 20, whole as usize, whole as usize + 1, whole as usize + 90, bytes.len() - 1] {
        fs::write(&store.path, &bytes[..torn]).unwrap();
        let reader = folders.store();
        assert_eq!(knows(&reader, &texts[0]), torn >= whole as usize, "{torn}");
        assert!(!knows(&reader, &texts[1]) && add(&folders.store(), &texts[2..3]));
        assert_eq!(
            len(&reader),
            lens[usize::from(torn >= whole as usize)],
            "{torn}: nothing behind the last record"
        );
        assert!(knows(&reader, &texts[2]) && knows(&folders.store(), &texts[2]), "{torn}");
        assert_eq!(knows(&folders.store(), &texts[0]), torn >= whole as usize, "{torn}");
    }
}

#[test]
fn a_file_with_foreign_bytes_is_replaced_by_one_with_the_records_before_them() {
    let folders = Folders::new();
    let texts: Vec<Text> = (0..4).map(|n| folders.text(&n.to_string())).collect();
    let store = folders.store();
    add(&store, &texts[..2]);
    OpenOptions::new().append(true).open(&store.path).unwrap().write_all(&[0; 4096]).unwrap();
    let reader = folders.store();
    assert!(knows(&reader, &texts[1]) && add(&folders.store(), &texts[2..3]));
    assert!(texts[..3].iter().all(|text| knows(&reader, text)));
    fs::write(&store.path, "a note of the user, who took the file for something else").unwrap();
    assert!(!knows(&reader, &texts[0]) && add(&store, &texts[3..]) && knows(&reader, &texts[3]));
}

#[test]
fn a_file_that_is_cut_off_while_it_is_mapped_gives_no_filters_and_no_signal() {
    let folders = Folders::new();
    let texts: Vec<Text> = (0..200).map(|n| folders.text(&n.to_string())).collect();
    let store = folders.store();
    add(&store, &texts);
    assert!(len(&store) > 70_000 && texts.iter().all(|text| knows(&store, text)));
    File::options().write(true).open(&store.path).unwrap().set_len(30_000).unwrap();
    // Without a look at its length.
    assert!(texts.iter().filter(|text| store.get(&text.1).is_some()).count() < 150);
    assert!(texts.iter().filter(|text| knows(&store, text)).count() > 10);
    assert!(add(&folders.store(), &texts) && texts.iter().all(|text| knows(&store, text)));
}

#[test]
fn a_file_that_is_replaced_or_removed_is_noticed() {
    let folders = Folders::new();
    let texts: Vec<Text> = (0..3).map(|n| folders.text(&n.to_string())).collect();
    let store = folders.store();
    add(&store, &texts[..1]);
    assert!(knows(&store, &texts[0]));
    fs::remove_file(&store.path).unwrap();
    assert!(!knows(&store, &texts[0]) && add(&folders.store(), &texts[1..2]) && knows(&store, &texts[1]));
    fs::remove_file(&store.path).unwrap();
    assert!(add(&store, &texts[2..]) && !knows(&store, &texts[1]) && knows(&store, &texts[2]));
}

#[test]
fn what_is_no_file_of_this_user_alone_is_not_used_until_it_is_gone() {
    let folders = Folders::new();
    let text = folders.text("a");
    let store = folders.store();
    fs::create_dir(&store.path).unwrap();
    assert!(!knows(&store, &text) && !add(&store, [&text]));
    assert!(store.problem.lock().unwrap().is_some());
    fs::remove_dir(&store.path).unwrap();
    assert!(add(&store, [&text]) && knows(&store, &text));
}

#[test]
fn old_records_and_those_of_files_that_are_gone_take_no_more_than_the_others() {
    let folders = Folders::new();
    let bounds = Bounds { max: 1 << 20, slack: 5_000 };
    let store = FilterStore { bounds, ..folders.store() };
    let reader = folders.store();
    let kept: Vec<Text> = (0..5).map(|n| folders.text(&format!("kept{n}"))).collect();
    add(&store, &kept);
    let of_kept = len(&store);
    for round in 0..200 {
        let text = folders.text(if round % 2 == 0 { "same" } else { "gone" });
        assert!(add(&store, [&text]) && knows(&reader, &text));
        fs::remove_file(text.0).unwrap();
        let most = 2 * (of_kept + bounds.slack);
        assert!(len(&store) <= most, "{round}: {} of {most}", len(&store));
    }
    assert!(kept.iter().all(|text| knows(&reader, text)));
}

#[test]
fn the_file_keeps_to_its_largest_size_and_what_is_known_stays() {
    let folders = Folders::new();
    let store = FilterStore { bounds: Bounds { max: 20_000, slack: 1_000 }, ..folders.store() };
    let texts: Vec<Text> = (0..100).map(|n| folders.text(&n.to_string())).collect();
    let mut added = texts.iter().take_while(|text| add(&store, [*text])).count();
    assert!((10..90).contains(&added) && len(&store) <= 20_000, "{added}");
    assert!(texts[..added].iter().all(|text| knows(&store, text)));
    // There is room again when files are gone.
    texts[..added].iter().for_each(|text| fs::remove_file(&text.0).unwrap());
    let more: Vec<Text> = (100..200).map(|n| folders.text(&n.to_string())).collect();
    added = more.iter().take_while(|text| add(&store, [*text])).count();
    assert!(added == 0 || more[..added].iter().all(|text| knows(&store, text)));
}

#[test]
fn files_of_other_runs_of_the_kernel_are_removed_unread() {
    let folders = Folders::new();
    let (text, store) = (folders.text("a"), folders.store());
    add(&store, [&text]);
    let boot = sys::param::boot_id().unwrap();
    let name = store.name.to_str().unwrap();
    assert!(name.ends_with(boot.trim_end()));
    let other = folders.filters().join(name.replace(boot.trim_end(), "00000000-0000-0000-0000-000000000000"));
    fs::rename(&store.path, &other).unwrap();
    fs::write(folders.filters().join("notes"), "of the user").unwrap();
    assert!(!knows(&folders.store(), &text) && !other.exists());
    assert!(folders.filters().join("notes").exists());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn whatever_becomes_of_the_file_no_wrong_filter_is_found_and_right_ones_can_be_added(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3u8), 1..6),
    ) {
        let folders = Folders::new();
        let texts: Vec<Text> = (0..30).map(|n| folders.text(&n.to_string())).collect();
        let (store, reader) = (folders.store(), folders.store());
        for (at, byte, kind) in damage {
            add(&store, texts.iter().filter(|text| !knows(&store, text)).collect::<Vec<_>>());
            knows(&reader, &texts[0]);
            let mut bytes = fs::read(&store.path).unwrap();
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] ^= byte | 1,
                1 => bytes.truncate(at),
                _ => drop(bytes.splice(at..at, vec![byte; usize::from(byte) + 1])),
            }
            // In place, as the file is mapped.
            File::options().write(true).truncate(kind == 1).open(&store.path).unwrap().write_all(&bytes).unwrap();
            for text in &texts {
                knows(&reader, text);
                knows(&store, text);
            }
        }
        // A store that knows records behind the damage goes on; the first one that does not begins anew.
        for store in [&store, &reader, &folders.store()] {
            add(store, texts.iter().filter(|text| !knows(store, text)).collect::<Vec<_>>());
        }
        let later = folders.store();
        prop_assert!(texts.iter().all(|text| knows(&later, text)));
    }
}
