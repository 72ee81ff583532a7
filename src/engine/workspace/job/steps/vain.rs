//! Steps that a job need not take: it deletes what it has made.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::{Place, Step, Steps};

impl Steps {
    /// Takes out the making of files and links that a later step deletes, both steps, and the folders that were made for these alone.
    pub(in crate::workspace::job) fn take_out_vain(&mut self) {
        let mut vain = HashSet::new();
        for (number, step) in self.all.iter().enumerate() {
            let Step::Deleted { at, taken: None, .. } = step else { continue };
            let made = self.last_for(at, number).filter(|made| match &self.all[*made] {
                Step::New { at: new, .. } | Step::Link { at: new, .. } => new == at,
                _ => false,
            });
            let is_last = |made: &usize| self.first_for(at, made + 1..number).is_none();
            vain.extend(made.filter(is_last).into_iter().flat_map(|made| [made, number]));
        }
        if vain.is_empty() {
            return;
        }
        vain.extend(self.vain_folders(&vain));
        let steps = std::mem::take(&mut self.all).into_iter().enumerate();
        *self = steps.filter(|(number, _)| !vain.contains(number)).map(|(_, step)| step).collect();
    }

    /// The steps that make folders above what vain steps make, in which no other step does anything.
    fn vain_folders(&self, vain: &HashSet<usize>) -> Vec<usize> {
        // How many places at or below each are named by other steps.
        let mut named = HashMap::<Place, usize>::new();
        let mut for_vain = HashSet::<Place>::new();
        for (number, step) in self.all.iter().enumerate() {
            let (place, other) = step.places();
            for place in [Some(place), other].into_iter().flatten().flat_map(above) {
                if vain.contains(&number) {
                    for_vain.insert(place);
                } else {
                    *named.entry(place).or_default() += 1;
                }
            }
        }
        let is_for_vain = |(number, step): (usize, &Step)| match step {
            Step::Folder { at, mode: None, .. } if for_vain.contains(at) => Some((number, at.clone())),
            _ => None,
        };
        let mut folders: Vec<(usize, Place)> = self.all.iter().enumerate().filter_map(is_for_vain).collect();
        // What is inside comes first.
        text::order::sort_by_key(&mut folders, |(_, at)| Reverse(at.1.components().count()));
        folders.retain(|(_, at)| {
            let is_alone = named.get(at) == Some(&1);
            above(at).into_iter().filter(|_| is_alone).for_each(|place| {
                named.entry(place).and_modify(|named| *named -= 1);
            });
            is_alone
        });
        folders.into_iter().map(|(number, _)| number).collect()
    }
}

/// A place and the folders above it, without the served one.
fn above((number, path): &Place) -> Vec<Place> {
    let paths = path.ancestors().filter(|path| *path != Path::new(""));
    paths.map(|path| (*number, path.to_owned())).collect()
}
