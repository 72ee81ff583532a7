//! As which of the encodings that a text may have a search reads it.

use folder::{Error, Result};
use search::LineMatcher;
use text::encoding::{Encoding, Readings, unmarked};

/// The encoding as which a text that is not UTF-8 has the most matches, if it has any. All of it counts wherever the search begins, so
/// that the next search, which begins at a byte of the decoded text, takes the same one.
pub(super) fn best_reading(
    readings: &Readings,
    bytes: &[u8],
    scan: &mut LineMatcher,
) -> Result<Option<Encoding>> {
    let (mut most, mut best) = ((0, 0), None);
    for encoding in readings.encodings.iter().copied() {
        let text = encoding.decode_lossy(unmarked(encoding, bytes));
        let lines = scan.scan(text.as_bytes(), 0..text.len(), 0, &mut Vec::new())?.matches;
        let mut places = 0;
        // Of the matches in a line, a wrong reading may miss some.
        if lines > 0 && readings.encodings.len() > 1 && !switches::is_off("reading-by-places") {
            scan.places(text.as_bytes(), false, &mut |_| {
                places += 1;
                Ok::<(), Error>(())
            })?;
        }
        if (lines, places) > most {
            (most, best) = ((lines, places), Some(encoding));
        }
    }
    Ok(best)
}
