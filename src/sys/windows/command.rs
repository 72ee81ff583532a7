//! What the tool `exec` needs of a system that runs commands. This one does not ([`RUNS_COMMANDS`]): the server refuses
//! `--allow-exec` at its start. So every call here fails, and types of what could never be had have no values.
//!
//! [`RUNS_COMMANDS`]: super::process::RUNS_COMMANDS

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::windows::io::{AsHandle, BorrowedHandle, OwnedHandle};
use std::path::PathBuf;
use std::process::{Child, Command};

use crate::io::Errno;
use crate::process::ProcessInfo;

type Result<T> = std::result::Result<T, Errno>;

fn never<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A socket between two processes: a handle of something, which is none.
#[derive(Debug)]
pub struct UnixStream(OwnedHandle);

impl UnixStream {
    pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
        never()
    }

    pub fn try_clone(&self) -> io::Result<UnixStream> {
        never()
    }
}

impl Read for UnixStream {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        never()
    }
}

impl Write for UnixStream {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        never()
    }

    fn flush(&mut self) -> io::Result<()> {
        never()
    }
}

impl Write for &UnixStream {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        never()
    }

    fn flush(&mut self) -> io::Result<()> {
        never()
    }
}

impl AsHandle for UnixStream {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.0.as_handle()
    }
}

impl From<UnixStream> for OwnedHandle {
    fn from(stream: UnixStream) -> OwnedHandle {
        stream.0
    }
}

impl From<OwnedHandle> for UnixStream {
    fn from(handle: OwnedHandle) -> UnixStream {
        UnixStream(handle)
    }
}

/// The number of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pid(i32);

impl Pid {
    pub fn from_raw(number: i32) -> Option<Pid> {
        (number != 0).then_some(Pid(number))
    }

    pub fn from_child(child: &Child) -> Pid {
        Pid(child.id().cast_signed())
    }

    pub fn as_raw_pid(self) -> i32 {
        self.0
    }
}

/// A signal, which no process gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signal;

impl Signal {
    pub const CONT: Signal = Signal;
    pub const KILL: Signal = Signal;
    pub const TERM: Signal = Signal;
}

/// How [`wait`] waits.
#[derive(Debug, Clone, Copy)]
pub struct WaitOptions;

impl WaitOptions {
    pub const NOHANG: WaitOptions = WaitOptions;
}

/// How a process ended.
#[derive(Debug)]
pub enum WaitStatus {}

impl WaitStatus {
    pub fn terminating_signal(&self) -> Option<i32> {
        match *self {}
    }

    pub fn exit_status(&self) -> Option<i32> {
        match *self {}
    }
}

/// What a handle is waited for.
#[derive(Debug, Clone, Copy)]
pub struct PollFlags;

impl PollFlags {
    pub const IN: PollFlags = PollFlags;

    pub fn is_empty(self) -> bool {
        true
    }
}

/// A handle that is waited for.
#[derive(Debug)]
pub struct PollFd;

impl PollFd {
    pub fn new(_: &impl AsHandle, _: PollFlags) -> PollFd {
        PollFd
    }

    pub fn from_borrowed_fd(_: BorrowedHandle<'_>, _: PollFlags) -> PollFd {
        PollFd
    }

    pub fn revents(&self) -> PollFlags {
        PollFlags
    }
}

/// A time to wait.
#[derive(Debug, Clone, Copy)]
#[allow(dead_code)] // Nothing waits for it.
pub struct Timespec {
    /// Seconds.
    pub tv_sec: i64,
    /// Nanoseconds.
    pub tv_nsec: i64,
}

/// What the start of a process can be told elsewhere.
pub trait CommandExt {
    fn arg0(&mut self, _: impl AsRef<OsStr>) -> &mut Command;
    fn process_group(&mut self, _: i32) -> &mut Command;
}

impl CommandExt for Command {
    fn arg0(&mut self, _: impl AsRef<OsStr>) -> &mut Command {
        self
    }

    fn process_group(&mut self, _: i32) -> &mut Command {
        self
    }
}

pub fn poll(_: &mut [PollFd], _: Option<&Timespec>) -> Result<usize> {
    Err(Errno::NOSYS)
}

pub fn dup2_stdin(_: impl AsHandle) -> Result<()> {
    Err(Errno::NOSYS)
}

pub fn dup2_stdout(_: impl AsHandle) -> Result<()> {
    Err(Errno::NOSYS)
}

pub fn dup2_stderr(_: impl AsHandle) -> Result<()> {
    Err(Errno::NOSYS)
}

pub fn memory_file(_: &str) -> io::Result<File> {
    never()
}

/// The file of the running program.
pub fn own_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

pub fn start_in(_: &mut Command, _: &OwnedHandle) -> io::Result<()> {
    never()
}

pub fn close_on_exec() -> io::Result<()> {
    never()
}

pub fn tell_before_exec(_: &mut Command, _: impl Fn(Pid) -> io::Result<()> + Send + Sync + 'static) {}

pub fn restore_signals() {}

pub fn setsid() -> Result<Pid> {
    Err(Errno::NOSYS)
}

pub fn getpid() -> Pid {
    Pid(std::process::id().cast_signed())
}

pub fn go_on_without_parent() -> Result<()> {
    Err(Errno::NOSYS)
}

pub fn adopt_orphans() -> Result<()> {
    Err(Errno::NOSYS)
}

pub fn open_process(_: Pid) -> Result<OwnedHandle> {
    Err(Errno::NOSYS)
}

pub fn signal_open_process(_: &OwnedHandle, _: Signal) -> Result<()> {
    Err(Errno::NOSYS)
}

pub fn kill_process(_: Pid, _: Signal) -> Result<()> {
    Err(Errno::NOSYS)
}

pub fn kill_process_group(_: Pid, _: Signal) -> Result<()> {
    Err(Errno::NOSYS)
}

pub fn wait(_: WaitOptions) -> Result<Option<(Pid, WaitStatus)>> {
    Err(Errno::CHILD)
}

pub fn waitpid(_: Option<Pid>, _: WaitOptions) -> Result<Option<(Pid, WaitStatus)>> {
    Err(Errno::CHILD)
}

pub fn waitpgid(_: Pid, _: WaitOptions) -> Result<Option<(Pid, WaitStatus)>> {
    Err(Errno::CHILD)
}

pub fn all_processes() -> Vec<Pid> {
    Vec::new()
}

pub fn process_info(_: Pid) -> Option<ProcessInfo> {
    None
}
