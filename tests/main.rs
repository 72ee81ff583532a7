//! The real binary over real stdio and HTTP, black box: every module here is written from SPEC.md alone.

// What a run drew and saw goes to the test's own output, which is shown when it fails.
#![allow(clippy::print_stdout)]

mod support; // folders, server processes, clients: the one place that starts anything

mod acceptance; // the acceptance criteria of S0 and S3, one test each
mod batches; // batches: order, locks, limits, cancelling, what they hold
mod cli; // flags and their ranges, exit codes, what a start says and what is logged
mod concurrency; // threads, connections and processes on one file; kills and files cut while they are read
mod confine; // names, links and special files: no way out of the folder; --read-only
mod durability; // system calls of an edit: flushes and the rename, in their order
mod each_revision; // what holds in every revision of MCP on both transports
mod edit; // edit_file: which lines change, and what is refused
mod edit_bytes; // edit_file byte for byte: breaks, BOM, the end of the file, modes
mod errors; // SPEC 7 row by row, over MCP, REST and the direct methods
mod errors_arguments; // wrong arguments, and which of several errors is reported
mod errors_hints; // the lines behind the first one of an error, in each interface's numbers
mod errors_system; // locks, other programs, full disks, a folder that goes, time
mod escape_attempts; // every way out of the folder that was thought of, on every tool and interface
mod faults; // system calls that fail or hang: errors, late answers, the end
mod file_edit; // file_edit: S1's test list by name, and its fixtures
mod file_edit_answers; // what it answers: dry runs, errors, one retry from the error alone
mod file_edit_diagnosis; // what a miss says: the mistakes that models make
mod file_edit_diff; // the diff, fed to GNU patch
mod file_edit_memory; // the memory of exact-text edits with very many replacements
mod file_edit_model; // exact-text edits against the naive model
mod hostile; // clients that lie, hang, flood and vanish: bounded memory, others served, an end in time
mod http; // paths, statuses, connections, the end
mod http_access; // Host, Origin, token, and the order of all checks
mod http_half_close; // clients that end their sending and wait for the answer
mod http_wire; // Expect, HEAD, pipelines, streams, IPv6
mod kill; // kill -9 at random moments of real edits
mod leases; // leases of other programs: waited for, by those alone who want the file
mod limits; // rate, requests in flight, locked files, cancelling: what harms only its own request
mod list; // list_files to the letter
mod log_lines; // one record of the log is one line, and JSON where that was asked for
mod mounts; // links into file systems mounted below the folder
mod operator; // the lines of the log, SIGUSR1, and what is never logged
mod patience; // clients that stop half way, and those that still send when they are refused
mod racy; // files written twice within one tick of the clock
mod read; // read_file: ranges, breaks, names
mod readme; // what the README names: tests and flags
mod resources; // resources, prompts, cursors
mod rest; // S3's interface: results that count from 1
mod revisions; // negotiation, batches, the stateless revision beside the others
mod rights; // ACLs, owner, group, mode: an edit gives nobody more rights
mod schemas; // the tools' schemas: valid, plain, small, true
mod shortage; // too few descriptors, too little memory, no threads at start
mod stateless; // the revision without a handshake, to the letter
mod stateless_clients; // the same between its requests: nothing remembered, clients that go away
mod stdio; // framing, ids, order, the end of input
mod system; // full and read-only disks, folders that go, no descriptors, permissions, strangers' locks, clocks
mod tools; // tools/list, the form of tools/call, --tools, --structured
mod truncate; // files cut, grown, rewritten, replaced and deleted under readers and editors
mod truth; // writes that take long, through maps, or with times set back: nothing stale is ever answered
mod turns; // edits of one file under several names
mod wire; // buffers, back-pressure, order and states on stdio (S2)
mod workflow; // S0's integration test and its list of test cases

mod corpus; // hundreds of real files over both transports, against the model
mod file_edit_bench; // a folder with one file, every call of file_edit made dry and real
mod layers; // the arrows of the architecture, by the sources
mod model; // the naive reading of SPEC 3 and 4
mod oracle; // random files, edits and ranges, against the model
mod text_model; // the naive reading of SPEC 5
