//! The figures of the server, gathered from the layers that count them. A new figure is added here and in
//! `docs/several-servers.md`.

use std::time::{Duration, UNIX_EPOCH};

use super::Pages;
use super::exposition::Exposition;
use crate::exec::{BOUNDS, METRICS, OperationCounts};
use crate::transport::net::traffic::TRAFFIC;
use folder::WaitCounts;
use sys::memory;
use sys::process::cpu_time;

/// All figures as text.
pub(super) fn text(pages: &Pages) -> String {
    let mut out = Exposition::default();
    calls(&mut out);
    failures(&mut out);
    traffic(&mut out, pages);
    engine(&mut out, pages);
    process(&mut out, pages);
    out.into_text()
}

fn calls(out: &mut Exposition) {
    let operations: Vec<_> = METRICS.operations().map(|one| (one.name, one.counts())).collect();
    out.family("file_editor_requests_total", "counter", "Answered calls of tools, by tool and outcome.");
    for (tool, counts) in &operations {
        let succeeded = counts.answered().saturating_sub(counts.failed);
        out.sample("file_editor_requests_total", &[("tool", tool), ("outcome", "ok")], succeeded);
        out.sample("file_editor_requests_total", &[("tool", tool), ("outcome", "failed")], counts.failed);
    }
    let help = "From the end of a request to its answer, in seconds.";
    out.family("file_editor_request_duration_seconds", "histogram", help);
    operations.iter().for_each(|(tool, counts)| histogram(out, tool, counts));
}

fn histogram(out: &mut Exposition, tool: &str, counts: &OperationCounts) {
    let mut below = 0;
    for (place, count) in counts.buckets.iter().enumerate() {
        below += count;
        let bound = BOUNDS.get(place).map_or("+Inf".into(), |bound| (*bound as f64 / 1e6).to_string());
        out.sample("file_editor_request_duration_seconds_bucket", &[("tool", tool), ("le", &bound)], below);
    }
    let labels = [("tool", tool)];
    out.sample("file_editor_request_duration_seconds_sum", &labels, counts.time.as_secs_f64());
    out.sample("file_editor_request_duration_seconds_count", &labels, below);
}

fn failures(out: &mut Exposition) {
    let help = "Failed and refused requests, by what failed and whether the client, the server or the system caused it.";
    out.family("file_editor_failures_total", "counter", help);
    for (key, count) in METRICS.failures() {
        let labels = [("tool", key.operation), ("kind", key.kind), ("cause", key.category.as_str())];
        out.sample("file_editor_failures_total", &labels, count);
    }
}

fn traffic(out: &mut Exposition, pages: &Pages) {
    let counts = TRAFFIC.counts();
    out.single("file_editor_bytes_read_total", "counter", "Bytes read from clients.", counts.read);
    out.single("file_editor_bytes_sent_total", "counter", "Bytes sent to clients.", counts.sent);
    out.single("file_editor_connections", "gauge", "Open HTTP connections of clients.", counts.open);
    let help = "HTTP connections of clients since the start.";
    out.single("file_editor_connections_total", "counter", help, counts.accepted);
    let in_progress = pages.executor.in_progress().count();
    out.single("file_editor_in_progress", "gauge", "Calls that wait or run on a thread.", in_progress);
    let draining = u8::from(pages.draining.has_begun());
    out.single("file_editor_draining", "gauge", "1: the server is about to stop.", draining);
}

fn engine(out: &mut Exposition, pages: &Pages) {
    let help = "Served folders that are not there, or whose file system does not answer.";
    let unreachable = pages.workspace.unreachable_folders();
    out.single("file_editor_unreachable_folders", "gauge", help, unreachable);
    let counts = pages.workspace.counts();
    let hits = "Times that a file was known in its present state, by cache.";
    let misses = "Times that a file was not known in its present state, by cache.";
    out.family("file_editor_cache_hits_total", "counter", hits);
    counts.caches.iter().for_each(|(cache, counts)| {
        out.sample("file_editor_cache_hits_total", &[("cache", cache)], counts.hits);
    });
    out.family("file_editor_cache_misses_total", "counter", misses);
    counts.caches.iter().for_each(|(cache, counts)| {
        out.sample("file_editor_cache_misses_total", &[("cache", cache)], counts.misses);
    });
    if let Some(live) = pages.workspace.live_counts() {
        let help =
            "Folders that are watched for changes, and those of them whose names are known without a look.";
        out.family("file_editor_live_folders", "gauge", help);
        out.sample("file_editor_live_folders", &[("state", "watched")], live.watched);
        out.sample("file_editor_live_folders", &[("state", "known")], live.known);
        out.single(
            "file_editor_live_entries",
            "gauge",
            "Entries of folders that are known without a look.",
            live.entries,
        );
        let help = "Files with filters that are believed without a look, and those that are not, by why.";
        out.family("file_editor_live_files", "gauge", help);
        live.files.by_state().iter().for_each(|(state, files)| {
            out.sample("file_editor_live_files", &[("state", state)], files);
        });
    }
    let waits = [("this_server", counts.turns + METRICS.queue.counts()), ("other_process", counts.locks)];
    let help = "Waits of changes for a file that is being changed, by who changes it.";
    out.family("file_editor_lock_waits_total", "counter", help);
    waits.iter().for_each(|(holder, WaitCounts { waits, .. })| {
        out.sample("file_editor_lock_waits_total", &[("holder", holder)], waits);
    });
    out.family("file_editor_lock_wait_seconds_total", "counter", "The time of these waits.");
    waits.iter().for_each(|(holder, WaitCounts { time, .. })| {
        out.sample("file_editor_lock_wait_seconds_total", &[("holder", holder)], time.as_secs_f64());
    });
}

fn process(out: &mut Exposition, pages: &Pages) {
    out.family("file_editor_build_info", "gauge", "The version that runs.");
    out.sample("file_editor_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    let cpu = cpu_time().as_secs_f64();
    out.single("process_cpu_seconds_total", "counter", "User and system CPU time.", cpu);
    if let Some(used) = memory::used() {
        out.single("process_resident_memory_bytes", "gauge", "Resident memory.", used.resident);
        let help = "Resident memory that belongs to no file.";
        out.single("file_editor_anonymous_memory_bytes", "gauge", help, used.anonymous);
    }
    let started = pages.started.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs_f64();
    out.single("process_start_time_seconds", "gauge", "Start, in seconds since 1970.", started);
}
