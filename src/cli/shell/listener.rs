//! Answers commands for a shell that work in a served folder, with what the server knows of it (contract 23).
//!
//! A command in the served folder itself, with the server's own options, works on the server's workspace; one in a folder below, or with
//! other options, on a workspace of its own, which is kept for the next one. What a command may do is what it may do without a server:
//! it is a program of the same user.

use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::net::Shutdown;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::arguments::Shell;
use super::call::{self, Place};
use super::output::{AT_ONCE, Streams};
use super::socket::{self, Hello, PROTOCOL, Part, PartWriter, Request, send};
use crate::cli::settings::View;
use engine::Workspace;
use folder::fs::private::PrivateFolder;
use sys::net::UnixStream;
use sys::process::helpers;

/// Commands at once. Further ones do their work themselves.
const MOST_COMMANDS: usize = 8;

/// Workspaces of other folders and options that are kept.
const MOST_KEPT: usize = 4;

/// The longest command line, in bytes of JSON, and what it may carry as input.
const MAX_REQUEST: u64 = 8 * call::MAX_INPUT;

/// Bytes of stack of the threads, as of a main thread: expressions nest.
const STACK: usize = 8 << 20;

/// The sockets of a server. They are gone with it.
#[derive(Debug)]
pub struct Listener(Vec<PathBuf>);

#[derive(Debug)]
struct Served {
    workspace: Arc<Workspace>,
    view: View,
    running: AtomicUsize,
    /// Of other folders, or with other options; the last used first.
    others: Mutex<Vec<(PathBuf, View, Arc<Workspace>)>>,
}

impl Listener {
    /// Listens for commands in the folders of `workspace`, which is seen as `view`. Where that cannot be, commands do their work themselves.
    pub fn start(workspace: &Arc<Workspace>, view: View) -> Listener {
        let mut listener = Listener(Vec::new());
        let Some(folder) = socket::folder() else { return listener };
        let served = Served {
            workspace: workspace.clone(),
            view,
            running: AtomicUsize::new(0),
            others: Mutex::default(),
        };
        let served = Arc::new(served);
        if let Err(error) = listener.listen(&folder, &served) {
            tracing::debug!("commands for a shell are not answered: {error}");
        }
        listener
    }

    fn listen(&mut self, folder: &Path, served: &Arc<Served>) -> io::Result<()> {
        PrivateFolder::open(folder, std::iter::empty())?;
        for root in served.workspace.folder_paths().folders() {
            let path = folder.join(format!("{}{}", socket::start_of_name(root), std::process::id()));
            // Of a dead process of this number.
            let _ = fs::remove_file(&path);
            let listener = sys::net::listen_alone(&path)?;
            self.0.push(path);
            let (served, root) = (served.clone(), root.clone());
            let accept =
                move || listener.incoming().flatten().for_each(|stream| served.accept(stream, &root));
            thread::Builder::new().name("commands".into()).stack_size(128 << 10).spawn(accept)?;
        }
        Ok(())
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.iter().for_each(|path| _ = fs::remove_file(path));
    }
}

impl Served {
    /// Answers one command on a thread of its own.
    fn accept(self: &Arc<Served>, stream: UnixStream, root: &Path) {
        if self.running.fetch_add(1, Ordering::AcqRel) >= helpers(MOST_COMMANDS) {
            self.running.fetch_sub(1, Ordering::AcqRel);
            return;
        }
        let (served, root) = (self.clone(), root.to_owned());
        let answer = move || {
            let done =
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| served.answer(&stream, &root)));
            if let Ok(Err(error)) = done {
                tracing::debug!("a command was not answered: {error}");
            }
            // Who waits for the end of the command waits no longer.
            let _ = stream.shutdown(Shutdown::Both);
            served.running.fetch_sub(1, Ordering::AcqRel);
        };
        let thread = thread::Builder::new().name("command".into()).stack_size(STACK);
        if thread.spawn(answer).is_err() {
            self.running.fetch_sub(1, Ordering::AcqRel);
        }
    }

    fn answer(&self, mut stream: &UnixStream, root: &Path) -> io::Result<()> {
        if !sys::net::is_own_user(stream)? {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let (version, protocol) = PROTOCOL;
        send(&mut stream, &Hello { version: version.into(), protocol, folder: root.into() })?;
        let request: Request = socket::receive(&mut stream, MAX_REQUEST)?;
        tracing::debug!(client = request.client, folder = %request.folder.display(), "command");
        let part = |part| BufWriter::with_capacity(AT_ONCE, PartWriter { stream, part });
        let (mut out, mut err) = (part(Part::Out), part(Part::Err));
        let code = {
            let streams = Streams { out: &mut out, err: &mut err };
            self.carry_out(request, stream, root, streams)?
        };
        out.flush()?;
        err.flush()?;
        PartWriter { stream, part: Part::End }.write_all(&[code])
    }

    fn carry_out(
        &self,
        request: Request,
        stream: &UnixStream,
        root: &Path,
        streams: Streams,
    ) -> io::Result<u8> {
        let refused = |_| io::Error::from(io::ErrorKind::InvalidInput);
        let words = request.words.into_iter().map(Into::into).collect();
        let Shell { command, mut common } = super::parse(words).map_err(refused)?;
        common.work_in(&request.folder, &request.journal);
        let config = common.config().map_err(refused)?;
        let workspace = match request.folder == root && config.view() == self.view {
            true => self.workspace.clone(),
            false => self.other(&request.folder, config.view(), || {
                let options = config.workspace_options().map_err(refused)?;
                Workspace::open(&config.folders(), options).map_err(|_| io::ErrorKind::InvalidInput.into())
            })?,
        };
        workspace.repair();
        let place = Place::new(workspace, &config, request.client).map_err(refused)?;
        let control = place.control.clone();
        when_gone(stream.try_clone()?, move || _ = control.cancel())?;
        super::carry_out(command, &place, (common.json, request.input), streams).map_err(refused)
    }

    /// The workspace of another folder, or with other options.
    fn other(
        &self,
        folder: &Path,
        view: View,
        open: impl FnOnce() -> io::Result<Workspace>,
    ) -> io::Result<Arc<Workspace>> {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |(of, seen, _): &(PathBuf, View, _)| of == folder && *seen == view;
        let workspace = match others.iter().position(is_same) {
            Some(at) => others.remove(at).2,
            None => Arc::new(open()?),
        };
        others.insert(0, (folder.to_owned(), view, workspace.clone()));
        others.truncate(MOST_KEPT);
        Ok(workspace)
    }
}

/// Calls `stop` when the command that is on the other side has gone.
fn when_gone(mut stream: UnixStream, stop: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let wait = move || {
        // A command sends nothing more.
        let _ = stream.read(&mut [0]);
        stop();
    };
    thread::Builder::new().name("command ends".into()).stack_size(64 << 10).spawn(wait).map(drop)
}
