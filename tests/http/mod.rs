//! HTTP: paths, access, connections.

mod access; // Host, Origin, token, and the order of all checks
mod admin; // the admin port: health, figures, the end of a server behind a proxy
mod half_close; // clients that end their sending and wait for the answer
mod patience; // how long the server waits for a client that stops sending or reading
mod requests; // paths, methods, statuses, connections, the end of the server
mod strangers; // what strangers and proxies send
mod wire; // Expect, HEAD, codings, pipelines, IPv6
