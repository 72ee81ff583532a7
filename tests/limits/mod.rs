//! Limits, and many clients at once.

mod batch_client; // a client that sends batches
mod batch_limits; // limits on batches: requests in flight, the rate, memory, descriptors
mod batches; // batches: order, locks, cancelling
mod bounds; // what a server may hold in memory, and how a test measures it
mod busy; // one client with many slow searches
mod concurrency; // threads, connections and processes on one file
mod crowds; // thousands of hostile connections
mod hostile_connections; // clients that hang, flood and disconnect
mod hostile_requests; // requests that are garbage, huge, or ambiguous
mod requests; // the rate, requests in flight, locked files, cancelling
mod rest; // what a server holds that nobody asks
mod turns; // edits of one file under several names
