//! Standard input. A thread reads it, because the system cannot wait for the bytes of a pipe and for something else at once.
//!
//! The thread reads one buffer ahead. While nobody takes that, it waits, so a fast client fills no memory.
#![allow(unsafe_code)] // System calls.

use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle};
use std::ptr::null_mut;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use windows_sys::Win32::Foundation::WAIT_OBJECT_0;
use windows_sys::Win32::Foundation::WAIT_TIMEOUT;
use windows_sys::Win32::Storage::FileSystem::{FILE_TYPE_PIPE, GetFileType, ReadFile};
use windows_sys::Win32::System::Pipes::PeekNamedPipe;
use windows_sys::Win32::System::Threading::{INFINITE, WaitForMultipleObjects};

use super::event::{Event, Wake};
use super::stdio::stdin;
use crate::stdio::InputWait;

/// Bytes read at once.
const BUFFER: usize = 64 * 1024;

/// What the thread has read.
struct Input {
    state: Mutex<State>,
    /// The bytes were taken.
    taken: Condvar,
    /// Set while there are bytes to take, and from the end of input on.
    arrived: Event,
}

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    /// How many of them were taken.
    taken: usize,
    has_ended: bool,
}

static INPUT: OnceLock<Input> = OnceLock::new();

/// Starts to read. Call it once, before [`wait_for_input`].
pub fn start_input() -> io::Result<()> {
    let input = Input { state: Mutex::default(), taken: Condvar::new(), arrived: Event::new()? };
    if INPUT.set(input).is_ok()
        && let Some(input) = INPUT.get()
    {
        thread::Builder::new().name("stdin".into()).spawn(|| input.read_all())?;
    }
    Ok(())
}

/// Waits until standard input has bytes or has ended, somebody has called [`Wake::wake`], or the time is over; without one,
/// for ever. If several are true, the wake-up counts.
pub fn wait_for_input(wake: &Wake, time: Option<Duration>) -> InputWait {
    let Some(input) = INPUT.get() else { return InputWait::Ready };
    let time = time.map_or(INFINITE, |time| u32::try_from(time.as_millis()).unwrap_or(INFINITE - 1));
    // The first counts if both are ready.
    let events = [wake.as_handle().as_raw_handle(), input.arrived.as_handle().as_raw_handle()];
    // SAFETY: both handles are open during the call, which reads two of them.
    match unsafe { WaitForMultipleObjects(2, events.as_ptr(), 0, time) } {
        WAIT_OBJECT_0 => InputWait::Woken,
        WAIT_TIMEOUT => InputWait::TimedOut,
        _ => InputWait::Ready,
    }
}

/// Takes the bytes of standard input that have arrived, at most as many as the buffer has. 0 at the end of input; `None` if
/// there are none yet.
pub fn read_input(buffer: &mut [u8]) -> Option<usize> {
    match INPUT.get() {
        Some(input) => input.take(buffer),
        None => Some(0),
    }
}

impl Input {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, buffer: &mut [u8]) -> Option<usize> {
        let mut state = self.lock();
        let rest = &state.bytes[state.taken..];
        if rest.is_empty() {
            return state.has_ended.then_some(0);
        }
        let len = rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        state.taken += len;
        if state.taken == state.bytes.len() {
            if !state.has_ended {
                self.arrived.reset();
            }
            self.taken.notify_one();
        }
        Some(len)
    }

    /// Reads to the end of input. An error is an end, too.
    fn read_all(&self) {
        let mut buffer = Vec::with_capacity(BUFFER);
        loop {
            let is_end = !read(&mut buffer);
            let mut state = self.lock();
            while state.taken < state.bytes.len() {
                state = self.taken.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            std::mem::swap(&mut state.bytes, &mut buffer);
            state.taken = 0;
            state.has_ended = is_end;
            // It fails for no event that is open.
            let _ = self.arrived.set();
            if is_end {
                return;
            }
        }
    }
}

/// Fills the buffer with the next bytes. False, and no bytes, at the end of input.
fn read(buffer: &mut Vec<u8>) -> bool {
    buffer.resize(BUFFER, 0);
    let handle = stdin().as_raw_handle();
    loop {
        let mut len = 0;
        // SAFETY: the call writes at most `BUFFER` bytes, which the vector has, and one number.
        let done = unsafe { ReadFile(handle, buffer.as_mut_ptr(), BUFFER as u32, &raw mut len, null_mut()) };
        if done != 0 && len == 0 && is_open_pipe() {
            // The client wrote nothing, with a call.
            continue;
        }
        buffer.truncate(if done == 0 { 0 } else { len as usize });
        return !buffer.is_empty();
    }
}

/// Whether standard input is a pipe whose other end somebody has. The end of a file looks like a write of no bytes to a pipe.
fn is_open_pipe() -> bool {
    let handle = stdin().as_raw_handle();
    // SAFETY: the first call only tells the kind of the handle. The second reads no bytes, and writes to no null pointer.
    unsafe {
        GetFileType(handle) == FILE_TYPE_PIPE
            && PeekNamedPipe(handle, null_mut(), 0, null_mut(), null_mut(), null_mut()) != 0
    }
}
