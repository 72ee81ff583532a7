//! The checks of the system: what its kernel has, and what this process may use.

use super::Finding;
use sys::Feature;
use sys::process::open_file_limit;

/// With fewer descriptors than this, few clients can be served at once.
const ENOUGH_DESCRIPTORS: u64 = 1024;

/// With less memory than this, in bytes, large calls may fail.
const ENOUGH_MEMORY: u64 = 64 << 20;

/// Checks the kernel and the limits of this process.
pub fn check_machine() -> Vec<Finding> {
    sys::features().into_iter().map(feature).chain([descriptors(), memory()]).collect()
}

/// The name of a feature, and what is done without it.
fn feature((feature, there): (Feature, bool)) -> Finding {
    let (name, without) = match feature {
        Feature::OpenBeneath => ("openat2", "paths are looked up step by step, which is slower"),
        Feature::Statx => {
            ("statx", "files do not tell when they were created, and old kernels not their mount")
        }
        Feature::CacheState => {
            ("cachestat", "files that another program has open for writing are not kept in the cache")
        }
        Feature::Leases => ("leases", "files are kept in the cache only if it is certain otherwise"),
        Feature::MemoryFiles => ("memfd_create", "the tool exec cannot run commands with an input"),
        Feature::ProcessHandles => ("pidfd_open", "commands are ended by the numbers of their processes"),
    };
    match there {
        true => Finding::ok("kernel", name),
        false => Finding::warning("kernel", format!("no {name}: {without}")),
    }
}

fn descriptors() -> Finding {
    match open_file_limit() {
        u64::MAX => Finding::ok("descriptors", "no limit"),
        most if most < ENOUGH_DESCRIPTORS => Finding::warning(
            "descriptors",
            format!("at most {most} open files and connections; raise the limit with ulimit -n"),
        ),
        most => Finding::ok("descriptors", format!("at most {most} open files and connections")),
    }
}

fn memory() -> Finding {
    match sys::memory::limit() {
        Some(bytes) if bytes < ENOUGH_MEMORY => Finding::warning(
            "memory",
            format!("at most {} MB; large files and requests may fail", bytes >> 20),
        ),
        Some(bytes) => Finding::ok("memory", format!("at most {} MB", bytes >> 20)),
        None => Finding::ok("memory", "no limit is known"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[test]
    fn what_the_kernel_lacks_is_a_warning_that_says_what_is_done_without_it() {
        assert_eq!(feature((Feature::Statx, true)), Finding::ok("kernel", "statx"));
        let lacking = feature((Feature::OpenBeneath, false));
        assert!(lacking.level == Level::Warning && lacking.text.contains("step by step"), "{lacking:?}");
    }

    #[test]
    fn this_machine_can_run_the_server() {
        let found = check_machine();
        assert!(found.iter().all(|finding| finding.level != Level::Failed), "{found:?}");
        assert!(found.iter().any(|finding| finding.what == "memory"));
    }
}
