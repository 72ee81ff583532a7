//! Groups the calls of a batch: calls in different groups share no file, so they may run at the same time.
//!
//! Knows of a call only which files it names.

use std::collections::HashMap;

/// Groups what shares files, directly or through others, each group in order.
pub(super) fn groups<M>(members: Vec<M>, files_of: impl Fn(&M) -> Vec<String>) -> Vec<Vec<M>> {
    // For each member another one of its group, or itself: then it stands for the group.
    let mut joined: Vec<usize> = (0..members.len()).collect();
    let mut last_of_file: HashMap<String, usize> = HashMap::new();
    for (number, member) in members.iter().enumerate() {
        for file in files_of(member) {
            if let Some(other) = last_of_file.insert(file, number) {
                let other = root_of(&mut joined, other);
                joined[other] = root_of(&mut joined, number);
            }
        }
    }
    let mut groups: Vec<Vec<M>> = members.iter().map(|_| Vec::new()).collect();
    for (number, member) in members.into_iter().enumerate() {
        groups[root_of(&mut joined, number)].push(member);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// The member that stands for the group of `number`. Shortens the way to it.
fn root_of(joined: &mut [usize], mut number: usize) -> usize {
    while joined[number] != number {
        joined[number] = joined[joined[number]];
        number = joined[number];
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shares_a_file_directly_or_through_others_is_one_group_in_order() {
        let members = vec!["a", "b", "", "c a", "d", "b d", "", "e e", "c"];
        let files_of = |member: &&str| member.split_whitespace().map(str::to_owned).collect();
        let mut groups = groups(members, files_of);
        groups.sort_unstable();
        assert_eq!(groups, [vec![""], vec![""], vec!["a", "c a", "c"], vec!["b", "d", "b d"], vec!["e e"]]);
    }
}
