//! Standard output and error, and the handles of all three streams. Bytes go out as they are: nothing makes CR LF of LF.
#![allow(unsafe_code)] // System calls.

use std::io;
use std::os::windows::io::BorrowedHandle;
use std::ptr::null_mut;
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use windows_sys::Win32::Storage::FileSystem::WriteFile;
use windows_sys::Win32::System::Console::{
    GetStdHandle, STD_ERROR_HANDLE, STD_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE,
};

/// How often a pipe that is full and does not block is tried again.
const TICK: Duration = Duration::from_millis(5);

/// How long a line of the log waits for standard error, once. After that, standard error counts as stuck until it has taken
/// the line.
const PATIENCE: Duration = Duration::from_millis(200);

/// The most bytes that are written by one call.
const MOST: usize = 1 << 20;

fn standard(which: STD_HANDLE) -> BorrowedHandle<'static> {
    // SAFETY: the call only tells a handle. Nothing in this program closes the standard handles. There may be none; then the
    // calls that use it fail.
    unsafe { BorrowedHandle::borrow_raw(GetStdHandle(which)) }
}

/// Standard input. While it is read, other calls with this handle wait, too.
pub fn stdin() -> BorrowedHandle<'static> {
    standard(STD_INPUT_HANDLE)
}

/// Standard error.
pub fn stderr() -> BorrowedHandle<'static> {
    standard(STD_ERROR_HANDLE)
}

/// Writes bytes, and waits until some are taken. Returns how many; 0 only for a pipe that does not block and is full.
fn write(to: STD_HANDLE, bytes: &[u8]) -> io::Result<usize> {
    use std::os::windows::io::AsRawHandle;

    let (len, mut written) = (bytes.len().min(MOST) as u32, 0);
    let handle = standard(to).as_raw_handle();
    // SAFETY: the call reads `len` bytes, which the slice has, and writes one number.
    match unsafe { WriteFile(handle, bytes.as_ptr(), len, &raw mut written, null_mut()) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(written as usize),
    }
}

/// The size of a pipe is that which its maker gave it.
pub fn grow_output(_: usize) {}

/// Writes bytes to standard output, and waits until it has taken some. Returns how many it has.
pub fn write_output(bytes: &[u8]) -> io::Result<usize> {
    loop {
        match write(STD_OUTPUT_HANDLE, bytes) {
            // The client made the pipe non-blocking. Nothing tells when it has room.
            Ok(0) if !bytes.is_empty() => thread::sleep(TICK),
            done => return done,
        }
    }
}

/// Writes bytes to standard error. Waits until it has taken them, and allocates nothing.
pub fn write_error(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match write(STD_ERROR_HANDLE, bytes) {
            Ok(written) if 0 < written => bytes = &bytes[written..],
            _ => return,
        }
    }
}

/// The thread that writes to standard error, because no call says whether a pipe has room.
struct ErrorWriter {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// What is being written; `None` if the thread has nothing to do.
    line: Option<Vec<u8>>,
    /// The line waits longer than [`PATIENCE`].
    is_stuck: bool,
}

/// Writes bytes to standard error. If it does not take them for [`PATIENCE`], they are lost, and so is what follows until it does.
pub fn write_error_if_ready(bytes: &[u8]) {
    static WRITER: OnceLock<Option<&ErrorWriter>> = OnceLock::new();
    match WRITER.get_or_init(ErrorWriter::start) {
        Some(writer) => writer.write(bytes),
        None => write_error(bytes),
    }
}

impl ErrorWriter {
    /// `None` if the system has no thread for it.
    fn start() -> Option<&'static ErrorWriter> {
        let writer: &ErrorWriter =
            Box::leak(Box::new(ErrorWriter { state: Mutex::default(), changed: Condvar::new() }));
        let thread = thread::Builder::new().name("stderr".into());
        thread.spawn(|| writer.run()).ok().map(|_| writer)
    }

    fn run(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match &state.line {
                None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(line) => {
                    let line = line.clone();
                    drop(state);
                    write_error(&line);
                    state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                    *state = State::default();
                    self.changed.notify_all();
                }
            }
        }
    }

    fn write(&self, bytes: &[u8]) {
        if !self.until_idle() {
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Of several threads at once, one is first; the others wait again.
        while state.line.is_some() {
            drop(state);
            if !self.until_idle() {
                return;
            }
            state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        }
        state.line = Some(bytes.into());
        drop(state);
        self.changed.notify_all();
        self.until_idle();
    }

    /// Waits until nothing is being written. False if that takes too long.
    fn until_idle(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_busy = |state: &mut State| state.line.is_some() && !state.is_stuck;
        let waited = self.changed.wait_timeout_while(state, PATIENCE, is_busy);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.is_stuck = state.line.is_some();
        !state.is_stuck
    }
}
