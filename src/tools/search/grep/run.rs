//! Runs a `grep`: searches, and puts the answer together.

use std::path::Path;
use std::time::Instant;

use super::content::Content;
use super::files::MatchedFile;
use super::hints::{Fruitless, hints};
use super::place::Place;
use super::relevance::Relevance;
use super::searched::{balance, hit};
use super::started::Started;
use super::wanted_files::WantedFiles;
use super::{Grep, Sort, TOOL};
use crate::tools::balance::plural;
use crate::tools::cursor::{Cursor, state_of};
use crate::tools::limited::{LimitedText, Room};
use crate::tools::search::best::Best;
use crate::tools::walking::{TIME, path_line_in};
use crate::tools::{OutputKinds, Reply, wrong_cursor};
use engine::{FoundFile, LastFile, Receiver, SearchOptions, SearchPlace, SearchStop, Searched, Workspace};
use folder::{Control, Result};
use search::{LineMatcher, Pattern};

/// Room for the last lines of an answer, in bytes: the balance and the call that goes on.
const LAST_LINES: usize = 2_048;

/// Hits of one file that are kept at most.
const KEPT: usize = 4_096;

/// Shares of the time for the second look at the files whose lines are told.
const SHARES_OF_LINES: u32 = 4;

/// What an answer says if it ends before the last match.
const FULL: &str = "there are more";
const MORE: &str = "there are more lines";
const UNTOLD: &str = "There are matches, and the time was up before one was told";

/// A call that runs.
#[derive(Clone, Copy)]
pub(super) struct Run<'r> {
    pub(super) grep: &'r Grep,
    pub(super) workspace: &'r Workspace,
    pub(super) pattern: &'r Pattern,
    pub(super) wants: &'r WantedFiles,
    /// Ranks files, if they come by relevance.
    pub(super) relevance: Option<&'r Relevance>,
    pub(super) control: &'r Control,
    pub(super) started: Instant,
}

/// What a search for the files of the largest ranks has found.
struct RankedFound {
    /// Those of the largest ranks first, as many as an answer can hold.
    files: Vec<MatchedFile>,
    /// Number of all.
    ahead: u64,
    searched: Searched,
}

/// Where the next call goes on, and the state of the file there.
pub(super) type Next = Option<(Place, u64)>;

impl<'r> Run<'r> {
    /// Lines, by the paths of their files.
    pub(super) fn content(self, wanted: OutputKinds) -> Result<Reply> {
        let place = self.place(false)?;
        let stop = Started::new(self.control);
        let mut content = self.new_content(&stop);
        let mut searched = self.search(self.keep(), place, &mut |file| {
            let (path, state) = (self.shown(&file), state_of(&file.stamp));
            let wants_more = content.push(&file, &path, state);
            self.control.early().send(content.text.strip_suffix('\n').unwrap_or_default());
            wants_more
        })?;
        let mut next = last_of(&searched, content.skip);
        // An earlier answer counted them.
        searched.counts.hits = searched.counts.hits.saturating_sub(content.told_again);
        if let Some(end) = &content.end {
            // The next answer counts what this one does not tell.
            let counts = &mut searched.counts;
            if !switches::is_off("search-page-hits") {
                counts.hits = counts.hits.saturating_sub(end.matches_behind);
            }
            counts.found -= u64::from(end.is_before_all);
            searched.late_in = content.is_late.then(|| end.late());
            next = Some((Place { skip: content.skip, ..Place::inside(end) }, end.state));
        }
        // A file of which nothing was told counts with its first line.
        searched.is_resumed_found &= place.is_some_and(|place| place.is_told);
        let has_changed = place.is_some_and(|place| self.has_changed(place, &searched));
        self.content_reply(content, &searched, next, has_changed, wanted)
    }

    /// Lines, those of the files of the largest ranks first.
    pub(super) fn content_by_rank(self, wanted: OutputKinds) -> Result<Reply> {
        let place = self.place(true)?;
        // The lines are looked for again.
        let ranked = self.control.leaving_time(SHARES_OF_LINES, || self.ranked(None, place));
        let RankedFound { files, mut searched, .. } = ranked?;
        let stop = Started::new(self.control);
        let (mut content, mut next) = (self.new_content(&stop), None);
        let has_changed = place.is_some_and(|place| {
            let file = files.iter().find(|file| place.is_in(file.folder, &file.path));
            place.byte.is_some() && searched.stop.is_none() && file.map(|file| file.state) != self.state()
        });
        for file in files {
            let again = self.push_again(&mut content, &file, place)?;
            if again.stop == Some(SearchStop::Time) {
                (searched.stop, searched.last) = (again.stop, again.last);
                content.is_late = true;
            }
            if again.stop.is_some() {
                let rank = Some(file.rank);
                let end = content.end.as_ref();
                let skip = content.skip;
                next = end.map(|end| (Place { rank, skip, ..Place::inside(end) }, end.state));
                break;
            }
        }
        self.content_reply(content, &searched, next, has_changed, wanted)
    }

    /// Searches for the files with matches at a place of a list by rank, or behind it: those of the largest ranks, at most `most`.
    fn ranked(self, most: Option<u64>, place: Option<&Place>) -> Result<RankedFound> {
        let room = if self.grep.offset > 0 { None } else { self.grep.limit.bytes };
        let mut first = Best::new(room, most);
        let searched = self.search(0, None, &mut |file| {
            let file = MatchedFile::new(&file, self.rank(&file), self.shown(&file), state_of(&file.stamp));
            if is_ahead(place, &file) {
                first.offer(|last| file > *last, || file.clone());
            }
            true
        })?;
        Ok(RankedFound { ahead: first.total(), files: first.into_sorted(), searched })
    }

    /// Searches one file again, and tells its lines.
    fn push_again(
        self,
        content: &mut Content,
        file: &MatchedFile,
        place: Option<&Place>,
    ) -> Result<Searched> {
        let begin = place.filter(|place| place.is_in(file.folder, &file.path));
        let only = SearchPlace {
            folder: file.folder,
            path: &file.whole_path,
            byte: Some(begin.and_then(|place| place.byte).unwrap_or(0)),
        };
        let options = SearchOptions {
            path: None,
            only: Some(only),
            wants: &|_, _, _| true,
            skip_ignored: false,
            skip_hidden: false,
            encoding: self.grep.scope.encoding,
            after: None,
            keep: self.keep(),
        };
        let mut receiver = |mut found: FoundFile| {
            found.base = found.path.len().saturating_sub(file.path.len());
            content.push(&found, &file.shown, state_of(&found.stamp))
        };
        self.workspace.search(self.pattern, options, &mut receiver, self.control)
    }

    /// Files and numbers of lines, by path.
    pub(super) fn files_by_path(self, wanted: OutputKinds) -> Result<Reply> {
        let place = self.place(false)?;
        let mut list = LimitedText::new(self.grep.limit).at_most(self.grep.most.unwrap_or(u64::MAX));
        let (mut skip, mut last) = (self.grep.offset, None);
        let searched = self.search(0, place, &mut |file| {
            if skip > 0 {
                skip -= 1;
            } else if list.push_line(&line_of(&self.shown(&file), file.matches)) {
                last = Some((Place::behind(file.folder, &file.path[file.base..]), state_of(&file.stamp)));
                self.control.early().send(list.text_mut());
            }
            true
        })?;
        let next = if list.is_full() { last } else { last_of(&searched, skip) };
        let has_changed = place.is_some_and(|place| self.has_changed(place, &searched));
        self.list_reply(list, &searched, next, has_changed, wanted)
    }

    /// Files and numbers of lines, the files of the largest ranks first.
    pub(super) fn files_by_rank(self, wanted: OutputKinds) -> Result<Reply> {
        let place = self.place(true)?;
        let needed = self.grep.most.map(|most| most.saturating_add(self.grep.offset));
        let RankedFound { files, ahead, searched } = self.ranked(needed, place)?;
        let mut list = LimitedText::new(self.grep.limit).at_most(self.grep.most.unwrap_or(u64::MAX));
        let (mut last, skipped) = (None, self.grep.offset.min(ahead));
        for file in files.iter().skip(skipped as usize) {
            if list.push_line(&line_of(&file.shown, file.count)) {
                last = Some((Place::behind_by_rank(file), file.state));
            }
        }
        list.count_more((ahead - skipped).saturating_sub(list.total()));
        self.list_reply(list, &searched, last, false, wanted)
    }

    fn list_reply(
        self,
        mut list: LimitedText,
        searched: &Searched,
        next: Next,
        has_changed: bool,
        wanted: OutputKinds,
    ) -> Result<Reply> {
        if list.total() == 0 {
            list.text_mut().push_str(nothing(searched));
        }
        if searched.stop == Some(SearchStop::Time) {
            list.stop(TIME);
        }
        self.reply(list, "files", searched, next, [has_changed, false], wanted)
    }

    fn content_reply(
        self,
        content: Content,
        searched: &Searched,
        next: Next,
        has_changed: bool,
        wanted: OutputKinds,
    ) -> Result<Reply> {
        let mut list = LimitedText::new(self.grep.limit);
        let Content { text, matches_shown, end, is_late, changed, .. } = content;
        let has_more = is_late && (end.is_some() || searched.stop == Some(SearchStop::Time));
        list.text_mut().push_str(match (text.is_empty(), has_more || end.is_some()) {
            (true, true) => UNTOLD,
            (true, false) => nothing(searched),
            (false, _) => text.strip_suffix('\n').unwrap_or(&text),
        });
        list.count_shown(matches_shown);
        match (end, searched.stop) {
            (Some(end), _) => {
                list.count_more(end.matches_behind);
                list.stop(match end.matches_behind {
                    _ if is_late => TIME,
                    0 => MORE,
                    _ => FULL,
                });
            }
            (None, Some(SearchStop::Time)) => list.stop(TIME),
            (None, None) if is_late => list.stop(TIME),
            _ => {}
        }
        let mut searched = searched.clone();
        searched.counts.changing += changed;
        let several_hits = plural(hit(self.grep.scope.how));
        self.reply(list, &several_hits, &searched, next, [has_changed, has_more], wanted)
    }

    fn reply(
        self,
        list: LimitedText,
        unit: &str,
        searched: &Searched,
        next: Next,
        [has_changed, has_more]: [bool; 2],
        wanted: OutputKinds,
    ) -> Result<Reply> {
        let is_behind = self.grep.cursor.is_some() && self.grep.sort == Sort::Path;
        let mut notes = vec![self.balance(searched, [is_behind, has_more])];
        notes.extend(self.relevance.and_then(|relevance| relevance.note.clone()));
        if has_changed {
            notes.push("[The file has changed since the cursor was made, or is gone]".into());
        }
        let stuck = self.stuck(searched, &next);
        let next = stuck.as_ref().map_or(next, |stuck| stuck.next.clone());
        let is_stuck = stuck.is_some() && next.is_none();
        notes.extend(stuck.map(|stuck| stuck.note));
        if !has_more && self.grep.cursor.is_none() {
            notes.extend(self.hints(searched));
        }
        // Files that were not searched may be of a larger rank than all that were: only by path, a search can go on.
        let is_partial_by_rank = self.grep.sort != Sort::Path && searched.stop == Some(SearchStop::Time);
        let call = || {
            let mut arguments = self.grep.sent.clone();
            if is_partial_by_rank {
                arguments.insert("sort".into(), "path".into());
                return Ok(Some((TOOL.name, arguments.into())));
            }
            // A client that follows the calls would not end.
            if is_stuck {
                return Ok(None);
            }
            let cursor = match next {
                Some((place, state)) => {
                    let cursor = Cursor {
                        call: self.grep.key(self.workspace, self.relevance)?,
                        after: place.text(),
                        state,
                    };
                    Some(cursor)
                }
                None => self.grep.cursor.clone(),
            };
            cursor.iter().for_each(|cursor| drop(arguments.insert("cursor".into(), cursor.text().into())));
            Ok(Some((TOOL.name, arguments.into())))
        };
        list.reply(wanted, unit, call, Some(&notes.join("\n")))
    }

    /// How much was searched: see [`balance`].
    pub(super) fn balance(self, searched: &Searched, flags: [bool; 2]) -> String {
        balance(searched, Some(hit(self.grep.scope.how)), flags, self.grep.form.is_spaced)
    }

    /// What to try if nothing was found.
    pub(super) fn hints(self, searched: &Searched) -> Vec<String> {
        if searched.counts.hits > 0 || searched.stop.is_some() {
            return Vec::new();
        }
        let Run { grep, workspace, wants, control, started, .. } = self;
        hints(Fruitless { scope: &grep.scope, workspace, wants, control, started }, searched)
    }

    pub(super) fn search(
        self,
        keep: usize,
        place: Option<&Place>,
        receiver: &mut Receiver,
    ) -> Result<Searched> {
        let wants =
            |path: &Path, from_start: &Path, is_folder: bool| self.wants.wants(path, from_start, is_folder);
        let after = place.map(Place::as_searched);
        let options = SearchOptions { after, keep, ..self.grep.scope.options(&wants) };
        self.workspace.search(self.pattern, options, receiver, self.control)
    }

    /// The place of the cursor, in a list by rank or not.
    fn place(self, by_rank: bool) -> Result<Option<&'r Place>> {
        let place = self.grep.place.as_ref();
        match place.is_none_or(|place| place.rank.is_some() == by_rank) {
            true => Ok(place),
            false => Err(wrong_cursor()),
        }
    }

    fn new_content<'c>(self, stop: &'c Started) -> Content<'c>
    where
        'r: 'c,
    {
        let (form, most) = (self.grep.form, self.grep.most.unwrap_or(u64::MAX));
        let scan = LineMatcher::new(self.pattern, stop);
        Content::new(
            scan,
            form,
            Room::new(self.grep.limit, LAST_LINES),
            most,
            self.grep.offset,
            self.grep.place.as_ref(),
        )
    }

    /// Hits of one file that are kept; the receiver looks for more where it needs them.
    fn keep(self) -> usize {
        self.grep.most.map_or(KEPT, |most| usize::try_from(most).unwrap_or(KEPT).clamp(1, KEPT))
    }

    /// The rank of a file: its relevance, or the time of its last change.
    fn rank(self, file: &FoundFile) -> i128 {
        self.relevance.map_or(file.stamp.mtime_ns, |relevance| relevance.rank(file))
    }

    /// The path of a file as other tools take it: absolute if there are several served folders.
    fn shown(self, file: &FoundFile) -> String {
        path_line_in(self.workspace.folder_paths().folders(), file.folder, &file.path)
    }

    /// Whether the file in which the cursor points was not searched as it was then.
    fn has_changed(self, place: &Place, searched: &Searched) -> bool {
        let is_searched = searched.stop.is_none() || searched.last.is_some() || searched.resumed.is_some();
        place.byte.is_some() && is_searched && searched.resumed.as_ref().map(state_of) != self.state()
    }

    /// The state of the file in which the cursor points, when it was made.
    fn state(self) -> Option<u64> {
        self.grep.cursor.as_ref().map(|cursor| cursor.state)
    }
}

/// Where a search that ended early goes on in the order of paths; `skip` entries there are still to be left out.
fn last_of(searched: &Searched, skip: u64) -> Next {
    let LastFile { folder, path, rest } = searched.last.as_ref()?;
    let byte = rest.as_ref().map(|(byte, _)| *byte);
    let rest = rest.as_ref().filter(|_| !switches::is_off("search-cursor-state"));
    let state = rest.map_or(0, |(_, stamp)| state_of(stamp));
    Some((Place { byte, skip, ..Place::behind(*folder, path) }, state))
}

/// The text if nothing is told.
fn nothing(searched: &Searched) -> &'static str {
    if searched.counts.hits > 0 { "No further matches" } else { "No matches found" }
}

/// Whether a file comes at the place of a cursor in a list by rank, or behind it.
fn is_ahead(place: Option<&Place>, file: &MatchedFile) -> bool {
    place.is_none_or(|place| {
        let Place { rank, folder, path, byte, .. } = place;
        byte.is_some() && place.is_in(file.folder, &file.path)
            || rank.is_some_and(|rank| file.is_behind(rank, *folder, path))
    })
}

fn line_of(path: &str, count: u64) -> String {
    format!("{path}: {count}")
}
