//! How many files are believed without a look, and why the others are not: for the operator.

/// Why a file is not believed after a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A program has it open or mapped for writing.
    Open,
    /// It has several names.
    Names,
    /// It is another user's, of which this program may not know whether it is open.
    NoLease,
}

/// Numbers of files of which something may be known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileCounts {
    /// Believed without a look.
    pub believed: usize,
    /// Not looked at yet since something happened to them, or not worth it.
    pub unknown: usize,
    /// Looked at each time, because a program has them open or mapped for writing.
    pub open: usize,
    /// The same, because they have several names.
    pub several_names: usize,
    /// The same, because they are another user's, and this program may take no lease.
    pub no_lease: usize,
}

impl FileCounts {
    /// The same with the name of each.
    pub fn by_state(&self) -> [(&'static str, usize); 5] {
        let FileCounts { believed, unknown, open, several_names, no_lease } = *self;
        [
            ("believed", believed),
            ("unknown", unknown),
            ("open", open),
            ("several_names", several_names),
            ("no_lease", no_lease),
        ]
    }
}
