//! The processes of a session: all that a command has started, whatever groups it made of them. A program such as `timeout`
//! and a shell with job control make groups of their own; only a program that makes a session of its own is not found here.

use std::time::{Duration, Instant};

use sys::process::{
    Pid, ProcessInfo, Signal, all_processes, kill_process, kill_process_group, open_process, process_info,
    signal_open_process,
};

/// The longest time for killing processes that start others all the time.
const LONGEST: Duration = Duration::from_secs(1);

/// A session by its leader, the supervisor, which does not count as a member. Its number is that of no other session while
/// the leader was not waited for, also if it has ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Session(pub(super) Pid);

/// A process of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Member {
    process: Pid,
    group: i32,
    /// It was not waited for yet.
    has_ended: bool,
}

impl Session {
    /// Sends a signal to all members. SIGKILL reaches also those that they start meanwhile.
    pub(super) fn signal(self, group: Pid, signal: Signal) {
        let start = Instant::now();
        let mut before: Vec<Pid> = Vec::new();
        loop {
            let members = self.members();
            // At once, so that none of the group starts another in between. Only if the group still is what it was.
            let (in_group, others): (Vec<&Member>, Vec<&Member>) =
                members.iter().partition(|member| member.group == group.as_raw_pid());
            if !in_group.is_empty() {
                let _ = match switches::is_off("exec-group") {
                    true => kill_process(group, signal),
                    false => kill_process_group(group, signal),
                };
            }
            if !switches::is_off("exec-session") {
                others.iter().for_each(|member| self.send(member.process, signal));
            }
            // What a program starts to end well is not to be ended. What was killed starts nothing: if all that there is
            // was killed before, no more can come.
            let all_were_there = members.iter().all(|member| before.contains(&member.process));
            if signal != Signal::KILL || all_were_there || LONGEST < start.elapsed() {
                return;
            }
            before = members.iter().map(|member| member.process).collect();
        }
    }

    /// One of the members that have not ended.
    pub(super) fn any(self) -> Option<Pid> {
        self.members().into_iter().find(|member| !member.has_ended).map(|member| member.process)
    }

    /// Whether this process is a member that has not ended.
    pub(super) fn has(self, process: Pid) -> bool {
        self.member(process).is_some_and(|member| !member.has_ended)
    }

    fn members(self) -> Vec<Member> {
        all_processes().into_iter().filter_map(|process| self.member(process)).collect()
    }

    /// This process, if it is a member.
    fn member(self, process: Pid) -> Option<Member> {
        let ProcessInfo { session, group, has_ended } = process_info(process)?;
        let is_member = session == self.0.as_raw_pid() && process != self.0;
        is_member.then_some(Member { process, group, has_ended })
    }

    /// Sends a signal to a member.
    fn send(self, process: Pid, signal: Signal) {
        // Its number may be that of another process by now. That cannot happen to an open process.
        let _ = match open_process(process) {
            Ok(open) if self.member(process).is_some() => signal_open_process(&open, signal),
            Ok(_) => Ok(()),
            // An old system.
            Err(_) => kill_process(process, signal),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_the_leader_are_members_until_they_are_killed() {
        use std::io::{BufRead, BufReader};
        use std::process::{Command, Stdio};

        // The session of this test may have its leader in another namespace, where it has no number here.
        let script = "sleep 1000 & echo $!; wait";
        let command = Command::new("setsid").args(["sh", "-c", script]).stdout(Stdio::piped()).spawn();
        let mut leader_process = command.expect("setsid of util-linux");
        let mut number = String::new();
        BufReader::new(leader_process.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let sleeping = Pid::from_raw(number.trim().parse().unwrap()).unwrap();
        let leader = Pid::from_child(&leader_process);
        let session = Session(leader);

        assert!(!session.has(leader));
        assert!(session.has(sleeping));
        assert_eq!(session.any(), Some(sleeping));
        assert!(!session.has(sys::process::getpid()));

        // Its group is also the leader's, which ends with it.
        session.signal(leader, Signal::KILL);
        leader_process.wait().unwrap();
        // It has the signal, but may need a moment to end.
        let deadline = Instant::now() + Duration::from_secs(20);
        while session.has(sleeping) {
            assert!(Instant::now() < deadline, "it was killed and has not ended");
            std::thread::yield_now();
        }
    }
}
