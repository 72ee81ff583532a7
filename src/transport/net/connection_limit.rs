//! Limits open connections, so that descriptors remain for files (contract 8, a stuck server).

use crate::sys::process::raise_open_file_limit;

/// Most connections if there are enough descriptors.
const MAX_CONNECTIONS: usize = 2_000;

/// The most connections: half of the descriptors that the process may have. The other half is for files.
pub(in crate::transport) fn max_connections() -> usize {
    usize::try_from(raise_open_file_limit() / 2).unwrap_or(MAX_CONNECTIONS).clamp(1, MAX_CONNECTIONS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::process::open_file_limit;

    #[test]
    fn half_of_the_descriptors_are_for_files() {
        let connections = max_connections();
        assert!(connections as u64 <= open_file_limit() / 2 && connections <= MAX_CONNECTIONS);
    }
}
