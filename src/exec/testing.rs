//! What the unit tests of this layer need.

use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};

use super::{Executor, configure};
use crate::transport::Shared;

pub(super) fn runtime() -> Runtime {
    configure(Builder::new_multi_thread().worker_threads(1), 4).build().unwrap()
}

pub(super) fn executor(shared: &Shared, runtime: &Runtime) -> Arc<Executor> {
    Executor::new(shared.limits(), shared.workspace.clone(), runtime.handle().clone())
}
