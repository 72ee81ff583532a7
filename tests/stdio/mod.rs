//! Stdio: messages, order, buffers.

mod messages; // framing, ids, order, the end of input
mod wire; // buffers, back-pressure, the order of answers, states (S2)
