//! Limits open connections, so that descriptors remain for files (contract 8, a stuck server).

use crate::sys::process::{Resource, getrlimit, setrlimit};

/// Most connections if there are enough descriptors.
const MAX_CONNECTIONS: usize = 2_000;

/// The most connections: half of the descriptors that the process may have. The other half is for files.
pub(in crate::transport) fn max_connections() -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        limit.current = limit.maximum;
        // If the system refuses, there are fewer connections.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    let have = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(have / 2).unwrap_or(MAX_CONNECTIONS).clamp(1, MAX_CONNECTIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_descriptors_are_for_files() {
        let have = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
        assert!(max_connections() as u64 <= have / 2 && max_connections() <= MAX_CONNECTIONS);
    }
}
