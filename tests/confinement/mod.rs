//! Nothing outside the folder is read or changed, and no user gets more permissions.

mod attempts; // every known way out of the folder, on every tool and interface
mod excludes; // --exclude, with git as the oracle
mod git; // what clients read of folders .git
mod interfaces; // every interface that takes the name of a file
mod links; // names, links and special files; --read-only
mod mounts; // links into file systems that are mounted below the folder
mod repositories; // folders of git under other names than `.git`
mod rights; // owner, group, mode and ACLs: an edit gives no user more permissions
mod swaps; // files that are swapped for links and FIFOs during operations
mod switched; // a link that was given for the served folder
mod unseen; // what is excluded, and links to it, answer as what is not there
