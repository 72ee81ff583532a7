//! The events that stop the server. Nothing asks for its status here.

use std::future::pending;
use std::io;

use tokio::signal::windows::{
    CtrlBreak, CtrlC, CtrlClose, CtrlLogoff, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close, ctrl_logoff,
    ctrl_shutdown,
};

/// The events of a console that stop the server: Ctrl-C, Ctrl-Break, the end of the console, of the user's session, and of the
/// system. They are caught as long as this value exists. After the last three, the system ends the process some
/// seconds later.
#[derive(Debug)]
pub struct StopSignals {
    interrupt: CtrlC,
    stop: CtrlBreak,
    close: CtrlClose,
    logoff: CtrlLogoff,
    shutdown: CtrlShutdown,
}

impl StopSignals {
    /// Catches the events from now on. Call it within a runtime.
    pub fn listen() -> io::Result<StopSignals> {
        Ok(StopSignals {
            interrupt: ctrl_c()?,
            stop: ctrl_break()?,
            close: ctrl_close()?,
            logoff: ctrl_logoff()?,
            shutdown: ctrl_shutdown()?,
        })
    }

    /// Waits for one of them and returns its name.
    pub async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "CTRL_C",
            _ = self.stop.recv() => "CTRL_BREAK",
            _ = self.close.recv() => "CTRL_CLOSE",
            _ = self.logoff.recv() => "CTRL_LOGOFF",
            _ = self.shutdown.recv() => "CTRL_SHUTDOWN",
        }
    }
}

/// There is no signal that asks for the status.
#[derive(Debug)]
pub struct StatusSignal;

impl StatusSignal {
    pub fn listen() -> io::Result<StatusSignal> {
        Ok(StatusSignal)
    }

    /// Waits for ever.
    pub async fn next(&mut self) {
        pending().await
    }
}
