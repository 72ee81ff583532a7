//! Other programs that change files or hold them.

mod leases; // leases of other programs: only requests for the file wait
mod racy; // files that are written twice within one tick of the clock
mod truncate; // files that are cut, grown, rewritten, replaced and deleted under readers and editors
mod truth; // writes that take long, through maps, or with times set back: no stale answer
