//! Changes of files and folders, by the server and by other programs.

use super::tree::Gone;
use super::*;

/// A job that is being made up.
struct Job {
    plans: Vec<(String, Plan)>,
    effects: Vec<Effect>,
    /// The tree before it.
    start: Nodes,
    /// What it has made, changed or moved.
    touched: Vec<Id>,
    steps: usize,
}

impl Job {
    fn new(start: &Nodes) -> Job {
        Job { plans: Vec::new(), effects: Vec::new(), start: start.clone(), touched: Vec::new(), steps: 0 }
    }

    /// Notes what it does to an entry, by a step of its own.
    fn note(&mut self, history: &mut History, id: Id, what: What, named: Vec<String>) {
        self.steps += 1;
        self.note_more(history, id, what, named);
    }

    /// Notes what else its last step does.
    fn note_more(&mut self, history: &mut History, id: Id, what: What, named: Vec<String>) {
        let (piece, step) = (history.new_piece(), self.steps);
        self.effects.push(Effect { piece, is_done: true, id, what, step, named });
    }
}

impl Model {
    /// A change of one to four entries.
    pub(super) fn job(&mut self) {
        let mut job = Job::new(&self.nodes);
        for _ in 0..=self.below(4) {
            let all = self.nodes.there(|_| true);
            match self.one_of(&all).filter(|_| self.nodes.files().len() > 2 && self.below(8) > 0) {
                None => self.make(&mut job),
                Some(id) if !job.touched.contains(&id) => self.change(id, &mut job),
                Some(_) => {}
            }
        }
        for effect in job.effects.iter_mut().filter(|effect| matches!(effect.what, What::Edited(_))) {
            effect.named = vec![job.start.path(effect.id), self.nodes.path(effect.id)];
        }
        self.run(job.start, job.plans, job.effects);
    }

    fn name(&mut self, letter: char) -> String {
        self.last[0] += 1;
        format!("{letter}{}", self.last[0])
    }

    /// The path of a folder that is there, or of a new one.
    fn any_folder(&mut self) -> String {
        let folders = self.nodes.there(|node| node.lines.is_none());
        let nth = self.below(folders.len() + 2);
        match folders.get(nth) {
            Some(id) => self.nodes.path(*id),
            None if nth == folders.len() && folders.len() < MOST_FOLDERS => self.name('d'),
            None => String::new(),
        }
    }

    /// Notes the folders that a step makes first.
    fn note_folders(&mut self, new: Vec<Id>, job: &mut Job) {
        for id in new {
            let path = self.nodes.path(id);
            job.touched.push(id);
            job.note(&mut self.history, id, What::Made(None), vec![path]);
        }
    }

    /// A new file.
    fn make(&mut self, job: &mut Job) {
        if self.nodes.files().len() >= MOST_FILES {
            return;
        }
        let (folder, name, lines) = (self.any_folder(), self.name('f'), self.new_lines(8));
        let (parent, new) = self.nodes.folder(&folder).unwrap();
        self.note_folders(new, job);
        let id = self.nodes.add(parent, &name, Some(lines.clone()));
        job.touched.extend([parent, id]);
        let path = joined(&folder, &name);
        job.plans.push((path.clone(), Plan::Content(text(&lines))));
        job.note(&mut self.history, id, What::Made(Some(lines)), vec![path]);
    }

    fn change(&mut self, id: Id, job: &mut Job) {
        let is_folder = self.nodes.get(id).unwrap().lines.is_none();
        let kinds = if is_folder { 4 } else { self.kinds };
        match self.below(kinds) {
            0 => self.move_entry(id, job),
            1 => self.copy(id, job),
            2 => self.delete(id, job),
            _ if is_folder => self.move_entry(id, job),
            kind => {
                let path = self.nodes.path(id);
                let (plan, regions) = self.edit(id, kind < 5);
                job.touched.push(id);
                if !regions.is_empty() {
                    job.plans.push((path, plan));
                    job.note(&mut self.history, id, What::Edited(regions), Vec::new());
                }
            }
        }
    }

    /// A path where nothing is, outside of an entry: in any folder, or one that something had once.
    fn target(&mut self, id: Id) -> Option<(String, String)> {
        let former = self.one_of(&self.former.clone()).filter(|_| self.below(4) == 0);
        let path = match former {
            Some(path) => path,
            None => {
                let folder = self.any_folder();
                let is_folder = self.nodes.get(id)?.lines.is_none();
                let name = if self.below(2) == 0 {
                    self.nodes.get(id)?.name.clone()
                } else {
                    self.name(if is_folder { 'd' } else { 'f' })
                };
                joined(&folder, &name)
            }
        };
        let own = self.nodes.path(id);
        let is_in_the_way =
            |at: &str| self.nodes.find(at).is_some_and(|id| self.nodes.get(id).unwrap().lines.is_some());
        let above = path.match_indices('/').any(|(end, _)| is_in_the_way(&path[..end]));
        let is_free = !self.nodes.is_known(&path) && !above && !tree::is_within(&path, &own);
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        is_free.then(|| (folder.to_owned(), name.to_owned()))
    }

    fn move_entry(&mut self, id: Id, job: &mut Job) {
        let Some((folder, name)) = self.target(id) else { return };
        let (from, chain) = (self.nodes.path(id), self.nodes.chain(id));
        let (parent, new) = self.nodes.folder(&folder).unwrap();
        self.note_folders(new, job);
        self.nodes.relocate(id, parent, &name);
        self.former.push(from.clone());
        self.former.drain(..self.former.len().saturating_sub(MOST_FILES));
        job.touched.extend([parent, id]);
        let to = joined(&folder, &name);
        job.plans.push((from.clone(), Plan::Move(to.clone())));
        job.note(&mut self.history, id, What::Moved { from: chain }, vec![from, to]);
    }

    fn copy(&mut self, id: Id, job: &mut Job) {
        let all = self.nodes.below(id);
        let Some((folder, name)) = self.target(id) else { return };
        if self.nodes.files().len() + all.len() > MOST_FILES {
            return;
        }
        let path = self.nodes.path(id);
        let (parent, new) = self.nodes.folder(&folder).unwrap();
        self.note_folders(new, job);
        let mut copies = BTreeMap::from([(id, parent)]);
        for old in all {
            let node = self.nodes.get(old).unwrap().clone();
            let (parent, name) =
                if old == id { (copies[&id], &name) } else { (copies[&node.parent], &node.name) };
            let copy = self.nodes.add(parent, name, node.lines.clone());
            copies.insert(old, copy);
            job.touched.extend([parent, copy]);
            let path = self.nodes.path(copy);
            job.note(&mut self.history, copy, What::Made(node.lines), vec![path]);
        }
        job.plans.push((path, Plan::Copy(joined(&folder, &name))));
    }

    fn delete(&mut self, id: Id, job: &mut Job) {
        let all = self.nodes.below(id);
        if all.iter().any(|id| job.touched.contains(id)) {
            return;
        }
        let path = self.nodes.path(id);
        job.steps += 1;
        let gone: Vec<(Gone, String)> = self
            .nodes
            .remove(id)
            .into_iter()
            .map(|gone| {
                let path = tree::path_of(&gone.chain);
                (gone, path)
            })
            .collect();
        for (gone, path) in gone {
            job.note_more(&mut self.history, gone.id, What::Gone(gone), vec![path]);
        }
        job.plans.push((path, Plan::Delete));
    }

    /// Replaces one to three ranges of lines that do not touch.
    fn edit(&mut self, id: Id, by_patch: bool) -> (Plan, Vec<lines::Region>) {
        let old = self.nodes.lines(id).unwrap().clone();
        let (mut at, mut ranges) = (0, Vec::new());
        for _ in 0..=self.below(3) {
            let start = at + self.below(6);
            if start > old.len() {
                break;
            }
            let len = self.below(3).min(old.len() - start);
            let most = if old.len() < MOST_LINES { 3 } else { 0 };
            let new = self.new_lines(most);
            if len + new.len() > 0 {
                ranges.push((start, len, new));
                at = start + len + 1;
            }
        }
        let plan = if by_patch && !ranges.is_empty() {
            Plan::Patch(patch(&self.nodes.path(id), &old, &ranges))
        } else {
            let offset = |line: usize| text(&old[..line]).len();
            let splice = |(start, len, new): &(usize, usize, Vec<String>)| Splice {
                at: offset(*start)..offset(start + len),
                text: Cow::Owned(text(new).into_bytes()),
            };
            Plan::Splices(ranges.iter().map(splice).collect())
        };
        let lines = self.nodes.lines(id).unwrap();
        let new = ranges.into_iter().rev().map(|(start, len, new)| replace(lines, start, len, new));
        (plan, new.collect())
    }

    /// Replaces a word in all files.
    pub(super) fn replace_word(&mut self) {
        let (from, to) =
            (format!("w{} ", self.below(WORDS as usize)), format!("w{} ", self.below(WORDS as usize)));
        let mut job = Job::new(&self.nodes);
        for id in self.nodes.files() {
            let (path, lines) = (self.nodes.path(id), self.nodes.lines(id).unwrap());
            let (mut regions, mut splices, mut at) = (Vec::new(), Vec::new(), 0);
            for number in 0..lines.len() {
                let line = lines[number].clone();
                if from != to
                    && let Some(rest) = line.strip_prefix(&from)
                {
                    let text = Cow::Owned(to.clone().into_bytes());
                    splices.push(Splice { at: at..at + from.len(), text });
                    regions.push(replace(lines, number, 1, vec![format!("{to}{rest}")]));
                }
                at += line.len() + 1;
            }
            if !regions.is_empty() {
                job.plans.push((path.clone(), Plan::Splices(splices)));
                job.note(&mut self.history, id, What::Edited(regions), vec![path]);
            }
        }
        self.run(job.start, job.plans, job.effects);
    }

    /// Another program writes to a file, makes one, or takes one or a folder away or elsewhere.
    pub(super) fn other_program(&mut self) {
        self.is_alone = false;
        let top = self.dirs.path().to_owned();
        let folders = self.nodes.there(|node| node.lines.is_none());
        match (self.one_of(&self.nodes.files()), self.one_of(&folders), self.below(16)) {
            (Some(id), _, 0) => {
                std::fs::remove_file(top.join(self.nodes.path(id))).unwrap();
                self.nodes.take_away(id);
            }
            (_, Some(id), 1) => {
                std::fs::remove_dir_all(top.join(self.nodes.path(id))).unwrap();
                self.nodes.take_away(id);
            }
            (_, Some(id), 2) => {
                let name = self.name('d');
                std::fs::rename(top.join(self.nodes.path(id)), top.join(&name)).unwrap();
                let all = self.nodes.below(id);
                let mut others = BTreeMap::from([(self.nodes.get(id).unwrap().parent, TOP)]);
                for old in &all {
                    let node = self.nodes.get(*old).unwrap().clone();
                    let name = if *old == id { &name } else { &node.name };
                    others.insert(*old, self.nodes.add(others[&node.parent], name, node.lines.clone()));
                }
                self.nodes.take_away(id);
            }
            (Some(id), _, 3..14) => {
                _ = self.edit(id, false);
                let lines = self.nodes.lines(id).unwrap().clone();
                std::fs::write(top.join(self.nodes.path(id)), text(&lines)).unwrap();
            }
            _ if self.nodes.files().len() < MOST_FILES => {
                let (folder, name, lines) = (self.any_folder(), self.name('f'), self.new_lines(8));
                std::fs::create_dir_all(top.join(&folder)).unwrap();
                std::fs::write(top.join(&folder).join(&name), text(&lines)).unwrap();
                let (parent, _) = self.nodes.folder(&folder).unwrap();
                self.nodes.add(parent, &name, Some(lines));
            }
            _ => {}
        }
        let known = self.history.known(2 * HISTORY);
        self.nodes.forget(&known);
    }
}
