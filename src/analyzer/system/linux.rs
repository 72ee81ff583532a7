//! Landlock and seccomp.

use std::collections::BTreeMap;
use std::env::consts::ARCH;

use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetError, RulesetStatus};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter_all_threads};

/// What an analysis calls: pipes, memory, threads that wait for each other, the clock, and the end of the process. Any other
/// call fails: the C library tries some that it can do without.
const CALLS: &[i64] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_brk,
    libc::SYS_madvise,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_clock_gettime,
    libc::SYS_getrandom,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_tgkill,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Forbids every use of the file system and of TCP, as far as the kernel knows it.
pub(super) fn forbid_files() -> bool {
    let restrict = || -> Result<RulesetStatus, RulesetError> {
        let all = ABI::V5;
        let rules = Ruleset::default().handle_access(AccessFs::from_all(all))?;
        let rules = rules.handle_access(AccessNet::from_all(all))?;
        Ok(rules.create()?.restrict_self()?.ruleset)
    };
    matches!(restrict(), Ok(RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced))
}

/// Forbids all system calls but [`CALLS`], for all threads of the process.
pub(super) fn forbid_calls() -> bool {
    let Ok(arch) = ARCH.try_into() else { return false };
    let rules: BTreeMap<_, _> = CALLS.iter().map(|call| (*call, Vec::new())).collect();
    let filter =
        SeccompFilter::new(rules, SeccompAction::Errno(libc::EPERM as u32), SeccompAction::Allow, arch);
    let program = filter.and_then(BpfProgram::try_from);
    program.is_ok_and(|program| apply_filter_all_threads(&program).is_ok())
}
