//! POSIX ACLs (acl(5)), as Linux stores them; other systems have none.
//!
//! A mode is an ACL of three entries, so both are handled alike. Pure: opens and changes no files.

use sys::fs::Mode;

const VERSION: [u8; 4] = 2_u32.to_le_bytes();
const NO_ID: u32 = u32::MAX;

const OWNER: u16 = 0x01;
const NAMED_USER: u16 = 0x02;
const GROUP: u16 = 0x04;
const NAMED_GROUP: u16 = 0x08;
const MASK: u16 = 0x10;
const OTHERS: u16 = 0x20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Acl(Vec<AclEntry>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AclEntry {
    tag: u16,
    permissions: u16,
    id: u32,
}

impl Acl {
    /// The ACL that is equivalent to a mode.
    pub(crate) fn of_mode(mode: Mode) -> Acl {
        let bits = mode.as_raw_mode() as u16;
        let entry = |tag, shift: u16| AclEntry { tag, permissions: bits >> shift & 7, id: NO_ID };
        Acl(vec![entry(OWNER, 6), entry(GROUP, 3), entry(OTHERS, 0)])
    }

    /// Parses what the system stores. `None` if it is not a known form of ACL.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Acl> {
        let (entries, rest) = bytes.strip_prefix(&VERSION)?.as_chunks::<8>();
        let entry = |&[tag0, tag1, low, high, ref id @ ..]: &[u8; 8]| AclEntry {
            tag: u16::from_le_bytes([tag0, tag1]),
            permissions: u16::from_le_bytes([low, high]),
            id: u32::from_le_bytes(*id),
        };
        let acl = Acl(entries.iter().map(entry).collect());
        let is_whole = [OWNER, GROUP, OTHERS].iter().all(|&tag| acl.find(tag).is_some());
        (is_whole && rest.is_empty()).then_some(acl)
    }

    /// What the system stores.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = VERSION.to_vec();
        for entry in &self.0 {
            bytes.extend_from_slice(&entry.tag.to_le_bytes());
            bytes.extend_from_slice(&entry.permissions.to_le_bytes());
            bytes.extend_from_slice(&entry.id.to_le_bytes());
        }
        bytes
    }

    /// The mode of a file with this ACL. If there is a mask, it takes the place of the group.
    pub(crate) fn mode(&self) -> Mode {
        let group = if self.find(MASK).is_some() { MASK } else { GROUP };
        let bits = self.of(OWNER) << 6 | self.of(group) << 3 | self.of(OTHERS);
        Mode::from_raw_mode(bits.into())
    }

    /// Whether the mode alone expresses this ACL.
    pub(crate) fn is_mode(&self) -> bool {
        !self.0.iter().any(|entry| matches!(entry.tag, NAMED_USER | NAMED_GROUP | MASK))
    }

    /// The ACL of a new file that open(2) creates with `mode` in a folder with this default ACL.
    pub(crate) fn for_new_file(mut self, mode: Mode) -> Acl {
        let asked = Acl::of_mode(mode);
        let group = if self.find(MASK).is_some() { MASK } else { GROUP };
        for (tag, limit) in [(OWNER, OWNER), (group, GROUP), (OTHERS, OTHERS)] {
            self.limit(tag, asked.of(limit));
        }
        self
    }

    /// The ACL for a file whose group changes: no member of the old or new group may do more than before.
    pub(crate) fn for_another_group(mut self) -> Acl {
        let mask = self.find(MASK).map_or(7, |mask| mask.permissions);
        let both = self.of(GROUP) & mask & self.of(OTHERS);
        // A named entry may have kept out a member of the new group. The old group is now among the others.
        self.limit(GROUP, if self.is_mode() { both } else { 0 });
        self.limit(OTHERS, both);
        self
    }

    /// The ACL for a file whose owner changes: the old owner may not do more than before.
    pub(crate) fn for_another_owner(mut self) -> Acl {
        let owner = self.of(OWNER);
        // The owner's entry no longer decides for the old owner; one for that user or its groups would.
        for tag in [NAMED_USER, GROUP, NAMED_GROUP, OTHERS] {
            self.limit(tag, owner);
        }
        self
    }

    fn find(&self, tag: u16) -> Option<&AclEntry> {
        self.0.iter().find(|entry| entry.tag == tag)
    }

    fn of(&self, tag: u16) -> u16 {
        self.find(tag).map_or(0, |entry| entry.permissions & 7)
    }

    fn limit(&mut self, tag: u16, limit: u16) {
        for entry in self.0.iter_mut().filter(|entry| entry.tag == tag) {
            entry.permissions &= limit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acl(entries: &[(u16, u16, u32)]) -> Acl {
        Acl(entries.iter().map(|&(tag, permissions, id)| AclEntry { tag, permissions, id }).collect())
    }

    fn named() -> Acl {
        acl(&[
            (OWNER, 7, NO_ID),
            (NAMED_USER, 6, 1000),
            (GROUP, 5, NO_ID),
            (NAMED_GROUP, 0, 1001),
            (MASK, 6, NO_ID),
            (OTHERS, 4, NO_ID),
        ])
    }

    #[test]
    fn bytes_lead_back_to_the_same_entries_and_what_is_no_acl_is_none() {
        let bytes = named().to_bytes();
        assert_eq!((bytes.len(), Acl::parse(&bytes)), (4 + 6 * 8, Some(named())));
        assert_eq!(&bytes[..12], [2, 0, 0, 0, 1, 0, 7, 0, 255, 255, 255, 255]);
        for broken in [&bytes[..3], &bytes[..bytes.len() - 1], &bytes[..4], &[1, 0, 0, 0], &[]] {
            assert_eq!(Acl::parse(broken), None, "{broken:?}");
        }
    }

    #[test]
    fn a_mode_and_an_acl_of_three_entries_say_the_same() {
        for mode in [0, 0o640, 0o755, 0o777, 0o124] {
            let mode = Mode::from_raw_mode(mode);
            let acl = Acl::of_mode(mode);
            assert!(acl.is_mode() && acl.mode() == mode, "{mode:?}");
        }
        assert!(!named().is_mode());
        assert_eq!(named().mode(), Mode::from_raw_mode(0o764), "the mask stands for the group");
    }

    #[test]
    fn a_default_acl_is_cut_to_what_open_asks_for() {
        let new = named().for_new_file(Mode::from_raw_mode(0o640));
        let expected = acl(&[
            (OWNER, 6, NO_ID),
            (NAMED_USER, 6, 1000),
            (GROUP, 5, NO_ID),
            (NAMED_GROUP, 0, 1001),
            (MASK, 4, NO_ID),
            (OTHERS, 0, NO_ID),
        ]);
        assert_eq!(new, expected);
        let plain = Acl::of_mode(Mode::from_raw_mode(0o773)).for_new_file(Mode::from_raw_mode(0o666));
        assert_eq!(plain, Acl::of_mode(Mode::from_raw_mode(0o662)));
    }

    #[test]
    fn with_another_owner_or_group_nobody_may_do_more() {
        let mode = |mode| Acl::of_mode(Mode::from_raw_mode(mode));
        for (before, after) in [(0o640, 0o600), (0o664, 0o644), (0o646, 0o644), (0o604, 0o600)] {
            assert_eq!(mode(before).for_another_group(), mode(after), "{before:o}");
        }
        for (before, after) in [(0o664, 0o664), (0o466, 0o444), (0o077, 0o000)] {
            assert_eq!(mode(before).for_another_owner(), mode(after), "{before:o}");
        }
        let other = named().for_another_group();
        assert_eq!((other.of(GROUP), other.of(OTHERS), other.of(NAMED_USER)), (0, 4, 6));
        let all = acl(&[(OWNER, 6, NO_ID), (GROUP, 6, NO_ID), (MASK, 0, NO_ID), (OTHERS, 6, NO_ID)]);
        assert_eq!(all.for_another_group().of(OTHERS), 0, "the mask kept the old group out");
    }
}
