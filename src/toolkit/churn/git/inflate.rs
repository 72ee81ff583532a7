//! Inflates zlib streams into buffers of a known size, so that no stream can take more memory than its header says.

use flate2::{Decompress, FlushDecompress, Status};

/// Why a stream cannot be inflated.
pub type Problem = &'static str;

/// The state of a stream, kept for the next one.
pub struct Inflater(Decompress);

impl Default for Inflater {
    fn default() -> Inflater {
        // The streams have zlib's header.
        Inflater(Decompress::new(true))
    }
}

impl Inflater {
    /// Inflates the stream at the beginning of `input`, which must have exactly `size` bytes.
    pub fn whole(&mut self, input: &[u8], size: usize) -> Result<Vec<u8>, Problem> {
        // One byte more, so that a longer stream is noticed.
        let mut output = vec![0; size + 1];
        let status = self.run(input, &mut output)?;
        if status != Status::StreamEnd || self.0.total_out() != size as u64 {
            return Err("its data does not have the size that its header says");
        }
        output.truncate(size);
        Ok(output)
    }

    /// Inflates the beginning of a stream into `output`. Returns the number of bytes, fewer if the stream ends before.
    pub fn beginning(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Problem> {
        self.run(input, output)?;
        Ok((self.0.total_out() as usize).min(output.len()))
    }

    fn run(&mut self, input: &[u8], output: &mut [u8]) -> Result<Status, Problem> {
        self.0.reset(true);
        loop {
            let (read, written) = (self.0.total_in() as usize, self.0.total_out() as usize);
            let (input, output) = (input.get(read..), output.get_mut(written..));
            let (Some(input), Some(output)) = (input, output) else { return Ok(Status::BufError) };
            let left = output.len();
            let status = self
                .0
                .decompress(input, output, FlushDecompress::None)
                .map_err(|_| "its data is no zlib stream")?;
            let moved = self.0.total_in() as usize != read || self.0.total_out() as usize != written;
            if status == Status::StreamEnd || !moved || left == self.0.total_out() as usize - written {
                return Ok(status);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    fn deflated(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_stream_of_the_said_size_is_inflated_and_any_other_refused() {
        let mut inflater = Inflater::default();
        for size in [0, 1, 100, 100_000] {
            let bytes: Vec<u8> = (0..size).map(|n| (n % 7) as u8).collect();
            let mut stream = deflated(&bytes);
            assert!(inflater.whole(&stream[..stream.len() - 1], size).is_err());
            stream.extend_from_slice(b"what follows");
            assert_eq!(inflater.whole(&stream, size).as_deref(), Ok(&bytes[..]));
            assert!(inflater.whole(&stream, size + 1).is_err());
            assert!(size == 0 || inflater.whole(&stream, size - 1).is_err());
        }
        assert!(inflater.whole(b"no stream", 3).is_err() && inflater.whole(b"", 0).is_err());
    }

    #[test]
    fn the_beginning_of_a_stream_is_read_without_the_rest() {
        let mut inflater = Inflater::default();
        let stream = deflated(&[b'x'; 5_000]);
        let mut output = [0; 32];
        assert_eq!(inflater.beginning(&stream, &mut output), Ok(32));
        assert_eq!(output, [b'x'; 32]);
        assert_eq!(inflater.beginning(&deflated(b"abc"), &mut output), Ok(3));
    }
}
