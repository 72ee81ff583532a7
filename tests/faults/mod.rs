//! Faults of the system, and the end of the server at any moment.

mod disks; // full and read-only disks, and a limit on the size of files
mod durability; // the system calls of an edit: flushes and the rename, in order
mod folders; // a served folder that is removed, moved away or unmounted
mod frozen_mounts; // file systems that do not answer
mod kill; // kill -9 at random moments of edits
mod lost_answers; // changes whose answer a file system loses
mod shared_mounts; // file systems in user space, as those that several machines share
mod shortage; // a start with too few descriptors, too little memory, or no threads
mod system; // few descriptors, missing permissions, locks of other programs, clocks
mod system_calls; // system calls that fail or hang: errors, late answers, the end
mod untold; // file systems that do not tell kinds or states of entries
