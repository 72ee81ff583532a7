//! What changes did, in pieces, each of which is done or taken back.

use std::collections::{BTreeSet, HashMap};

use super::lines::{Region, place, replace};
use super::tree::{Chain, Gone, Id, Node, Nodes, is_within, joined};
use super::*;

/// What a change did to one entry.
#[derive(Debug, Clone)]
pub(super) enum What {
    Edited(Vec<Region>),
    Moved {
        from: Chain,
    },
    Made(Option<Vec<String>>),
    Gone(Gone),
    /// There was nothing to do.
    Nothing,
}

#[derive(Debug, Clone)]
pub(super) struct Effect {
    /// A number that it keeps when it is taken back and done again.
    pub(super) piece: usize,
    pub(super) is_done: bool,
    pub(super) id: Id,
    pub(super) what: What,
    /// The step of the change. What has the same is done in the order of the effects, also backwards.
    pub(super) step: usize,
    /// The paths by which the change knows the entry.
    pub(super) named: Vec<String>,
}

/// A change that is in the journal.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) number: ChangeNumber,
    /// The change that it takes back.
    pub(super) undoes: Option<ChangeNumber>,
    pub(super) effects: Vec<Effect>,
}

impl std::fmt::Display for Made {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        writeln!(out, "c{}{}", self.number, if self.undoes.is_some() { ", an undo" } else { "" })?;
        self.effects.iter().try_for_each(|effect| writeln!(out, "    {effect:?}"))
    }
}

/// So many changes are known at most.
const MOST_MADE: usize = 400;

/// All changes.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) made: Vec<Made>,
    /// The last effect of each piece: the indexes of the change and of the effect.
    last: HashMap<usize, (usize, usize)>,
    pieces: usize,
}

/// What an undo has to do.
#[derive(Debug)]
pub(super) enum Undo {
    /// There is nothing to take back.
    Nothing,
    /// It cannot be told what that would be, so it must be refused.
    Refused,
    Done(Nodes, Vec<Effect>),
}

impl History {
    /// A piece that no change has named.
    pub(super) fn new_piece(&mut self) -> usize {
        self.pieces += 1;
        self.pieces
    }

    pub(super) fn push(&mut self, made: Made) {
        if self.made.len() == MOST_MADE {
            let rest = self.made.split_off(MOST_MADE / 2);
            (self.made, self.last) = (Vec::new(), HashMap::new());
            rest.into_iter().for_each(|made| self.push(made));
        }
        for (at, effect) in made.effects.iter().enumerate() {
            self.last.insert(effect.piece, (self.made.len(), at));
        }
        self.made.push(made);
    }

    fn last(&self, piece: usize) -> (usize, &Effect) {
        let (made, at) = self.last[&piece];
        (made, &self.made[made].effects[at])
    }

    /// The last change of which something is left to take back.
    pub(super) fn last_left(&self) -> Option<ChangeNumber> {
        let is_left = |made: &&Made| {
            made.undoes.is_none() && made.effects.iter().any(|effect| self.last(effect.piece).1.is_done)
        };
        self.made.iter().rev().find(is_left).map(|made| made.number)
    }

    /// What changes that can still be taken back know.
    pub(super) fn known(&self, most: usize) -> BTreeSet<Id> {
        let mut known = BTreeSet::new();
        for effect in self.made.iter().rev().take(most).flat_map(|made| &made.effects) {
            known.insert(effect.id);
            match &effect.what {
                What::Moved { from } => known.extend(from.iter().map(|(id, _)| *id)),
                What::Gone(gone) => {
                    known.extend(gone.chain.iter().map(|(id, _)| *id).chain(gone.same.clone()))
                }
                _ => {}
            }
        }
        known
    }

    /// What it is to take the change with this index back, or what it did at a path.
    pub(super) fn undo(&mut self, index: usize, within: Option<&str>, nodes: &Nodes) -> Undo {
        let is_at = |effect: &Effect| {
            within.is_none_or(|within| {
                let now = if matches!(effect.what, What::Nothing) { None } else { present(effect, nodes) };
                effect.named.iter().chain(&now).any(|path| is_within(path, within))
            })
        };
        let mut wanted = BTreeSet::new();
        for effect in &self.made[index].effects {
            let (_, last) = self.last(effect.piece);
            if last.is_done == effect.is_done && (is_at(effect) || is_at(last)) {
                wanted.insert(effect.piece);
            }
        }
        if wanted.is_empty() {
            return Undo::Nothing;
        }
        let may_stay = self.made_for(&wanted);
        self.add_folders(&mut wanted, nodes);
        wanted.extend(&may_stay);
        let mut effects: Vec<(usize, Effect)> = wanted
            .iter()
            .map(|piece| self.last(*piece))
            .map(|(made, effect)| (made, effect.clone()))
            .collect();
        let is_name = |effect: &Effect| !matches!(effect.what, What::Edited(_));
        effects.sort_by_key(|(made, effect)| {
            let at = self.last[&effect.piece].1;
            (is_name(effect), usize::MAX - made, usize::MAX - effect.step, at)
        });
        let (mut nodes, mut done) = (nodes.clone(), Vec::new());
        for (_, effect) in effects {
            let Some((what, path, new)) = undone(&effect, &mut nodes) else { return Undo::Refused };
            if may_stay.contains(&effect.piece) && matches!(what, What::Nothing) {
                continue;
            }
            for id in new {
                let (piece, step, named) = (self.new_piece(), done.len(), vec![nodes.path(id)]);
                done.push(Effect { piece, is_done: true, id, what: What::Made(None), step, named });
            }
            let (step, named) = (done.len(), path);
            let id = if let What::Gone(gone) = &what { gone.id } else { effect.id };
            done.push(Effect { is_done: !effect.is_done, id, what, step, named, ..effect });
        }
        for (piece, effect) in self.left_folders(index, &done, &nodes) {
            if done.iter().any(|effect| effect.piece == piece) {
                continue;
            }
            let Some((What::Gone(gone), path, _)) = undone(&effect, &mut nodes) else { continue };
            let (step, id) = (done.len(), gone.id);
            done.push(Effect { is_done: false, id, what: What::Gone(gone), step, named: path, ..effect });
        }
        for effect in done.iter_mut().filter(|effect| matches!(effect.what, What::Edited(_))) {
            effect.named.push(nodes.path(effect.id));
        }
        Undo::Done(nodes, done)
    }

    /// The folders, what is in others first, that other changes have made that were taken back since, and in which something was until it
    /// was taken back now.
    fn left_folders(&self, index: usize, done: &[Effect], nodes: &Nodes) -> Vec<(usize, Effect)> {
        let named = self.made[index].number;
        let undone: BTreeSet<ChangeNumber> =
            self.made[index..].iter().filter_map(|made| made.undoes).collect();
        let is_left = |made: &&Made| {
            let is_folder = |effect: &Effect| effect.is_done && matches!(effect.what, What::Made(None));
            let is_back = |effect: &Effect| self.last(effect.piece).1.is_done != effect.is_done;
            made.number != named
                && undone.contains(&made.number)
                && made.effects.iter().all(|effect| is_folder(effect) || is_back(effect))
        };
        let stays = |effect: &&Effect| {
            let (_, last) = self.last(effect.piece);
            effect.is_done
                && matches!(effect.what, What::Made(None))
                && (last.is_done || matches!(last.what, What::Nothing))
                && nodes.get(nodes.real(effect.id)).is_some_and(|node| node.is_there)
        };
        let was_in = |effect: &&Effect| {
            let folder = nodes.path(nodes.real(effect.id));
            done.iter().any(|gone| match &gone.what {
                What::Gone(_) | What::Moved { .. } => {
                    gone.named[0] != folder && is_within(&gone.named[0], &folder)
                }
                _ => false,
            })
        };
        let of_made = self.made.iter().filter(is_left).flat_map(|made| &made.effects);
        let mut left: Vec<(usize, Effect)> =
            of_made.filter(stays).filter(was_in).map(|effect| (effect.piece, effect.clone())).collect();
        left.sort_by_key(|(_, effect)| std::cmp::Reverse(nodes.path(nodes.real(effect.id))));
        left
    }

    /// The folders that the last changes of these pieces have made for them: they go if nothing is left in them.
    fn made_for(&self, wanted: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut folders = BTreeSet::new();
        for piece in wanted {
            let (made, effect) = self.last(*piece);
            let paths = match &effect.what {
                What::Moved { .. } => &effect.named[1..],
                What::Made(_) | What::Edited(_) => &effect.named[..],
                What::Gone(_) | What::Nothing => continue,
            };
            let is_above = |folder: &&Effect| {
                matches!(folder.what, What::Made(None))
                    && paths.iter().any(|path| *path != folder.named[0] && is_within(path, &folder.named[0]))
                    && self.last(folder.piece).0 == made
            };
            folders.extend(self.made[made].effects.iter().filter(is_above).map(|folder| folder.piece));
        }
        &folders - wanted
    }

    /// Adds the folders of what comes back that the same change has deleted.
    fn add_folders(&self, wanted: &mut BTreeSet<usize>, nodes: &Nodes) {
        let mut folders = BTreeSet::new();
        for piece in wanted.iter() {
            let (made, effect) = self.last(*piece);
            let (What::Gone(Gone { chain, .. }) | What::Moved { from: chain }) = &effect.what else {
                continue;
            };
            let above = |folder: &&Effect| {
                chain[..chain.len() - 1].iter().any(|(id, _)| *id == folder.id && nodes.get(*id).is_none())
                    && matches!(folder.what, What::Gone(_))
                    && self.last(folder.piece).0 == made
            };
            folders.extend(self.made[made].effects.iter().filter(above).map(|folder| folder.piece));
        }
        wanted.extend(folders);
    }
}

/// Where an entry is now, or will be again.
fn present(effect: &Effect, nodes: &Nodes) -> Option<String> {
    match &effect.what {
        What::Gone(gone) => {
            let (_, name) = gone.chain.last()?;
            Some(joined(&nodes.again(&gone.chain[..gone.chain.len() - 1]), name))
        }
        _ => nodes.get(effect.id).map(|_| nodes.path(effect.id)),
    }
}

/// Takes an effect back. Returns what that does, the paths of the entry, and the folders that are made for it. `None`: it cannot be told
/// what that would be.
fn undone(effect: &Effect, nodes: &mut Nodes) -> Option<(What, Vec<String>, Vec<Id>)> {
    // Of a folder that came back where another one was, that one.
    let id = nodes.real(effect.id);
    let nothing = || Some((What::Nothing, Vec::new(), Vec::new()));
    let node = nodes.get(id);
    match &effect.what {
        What::Nothing => nothing(),
        What::Edited(regions) => {
            let path = nodes.path(id);
            let lines = nodes.lines(id)?;
            let mut back = Vec::new();
            for region in regions {
                let at = place(region, lines)?;
                back.push(replace(lines, at, region.new.len(), region.old.clone()));
            }
            Some((What::Edited(back), vec![path], Vec::new()))
        }
        // The making of it was taken back.
        What::Moved { .. } if node.is_none() => nothing(),
        What::Moved { from } => {
            node.filter(|node| node.is_there)?;
            let (now, chain) = (nodes.path(id), nodes.chain(id));
            let ((_, name), above) = from.split_last()?;
            let folder = nodes.again(above);
            let path = joined(&folder, name);
            if path == now {
                return nothing();
            }
            (nodes.find(&path).is_none() && !is_within(&path, &now)).then_some(())?;
            let (parent, new) = nodes.folder(&folder)?;
            nodes.relocate(id, parent, name);
            Some((What::Moved { from: chain }, vec![now, path], new))
        }
        What::Made(Some(lines)) => {
            node.filter(|node| node.is_there && node.lines.as_ref() == Some(lines))?;
            let path = nodes.path(id);
            nodes.remove(id).pop().map(|gone| (What::Gone(gone), vec![path], Vec::new()))
        }
        What::Made(None) => {
            if !node.is_some_and(|node| node.is_there) || nodes.below(id).len() > 1 {
                return nothing();
            }
            let path = nodes.path(id);
            nodes.remove(id).pop().map(|gone| (What::Gone(gone), vec![path], Vec::new()))
        }
        What::Gone(gone) => {
            node.is_none().then_some(())?;
            let ((_, name), above) = gone.chain.split_last()?;
            let folder = nodes.again(above);
            let path = joined(&folder, name);
            let occupant = nodes.find(&path);
            let is_folder = |id: Id| nodes.get(id).is_some_and(|node| node.lines.is_none());
            if occupant.is_some_and(|other| !is_folder(other) || gone.lines.is_some()) {
                return None;
            }
            let (parent, new) = nodes.folder(&folder)?;
            let node = |lines, is_there| Node { parent, name: name.clone(), lines, is_there };
            gone.same.iter().for_each(|same| nodes.put(*same, node(None, false)));
            nodes.put(effect.id, node(gone.lines.clone(), occupant.is_none()));
            match occupant {
                Some(_) => nothing(),
                None => Some((What::Made(gone.lines.clone()), vec![path], new)),
            }
        }
    }
}
