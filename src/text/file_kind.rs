//! What a file is by its first bytes. Its name may say anything.
//!
//! Pure over bytes.

/// A kind of file that is known by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A PNG image.
    Png,
    /// A JPEG image.
    Jpeg,
    /// A GIF image.
    Gif,
    /// A WebP image.
    WebP,
    /// An image of another format.
    OtherImage(&'static str),
    /// Sound in the WAV format.
    Wav,
    /// Sound in the MP3 format.
    Mp3,
    /// Sound in an Ogg container.
    Ogg,
    /// Sound in the FLAC format.
    Flac,
    /// A PDF document.
    Pdf,
    /// An archive, a program, or the like.
    Other(&'static str, &'static str),
}

use FileKind::{Flac, Gif, Jpeg, Mp3, Ogg, Other, OtherImage, Pdf, Png, Wav, WebP};

/// First bytes and what they say. None of them is text in any encoding, but PDF's.
const SIGNATURES: [(&[u8], FileKind); 21] = [
    (b"\x89PNG\r\n\x1a\n", Png),
    (b"\xFF\xD8\xFF", Jpeg),
    (b"GIF87a", Gif),
    (b"GIF89a", Gif),
    (b"ID3\x02", Mp3),
    (b"ID3\x03", Mp3),
    (b"ID3\x04", Mp3),
    (b"OggS\0", Ogg),
    (b"fLaC\0", Flac),
    (b"%PDF-", Pdf),
    (b"II*\0", OtherImage("image/tiff")),
    (b"MM\0*", OtherImage("image/tiff")),
    (b"\0\0\x01\0", OtherImage("image/x-icon")),
    (b"PK\x03\x04", Other("a ZIP archive", "application/zip")),
    (b"PK\x05\x06", Other("a ZIP archive", "application/zip")),
    (b"\x1F\x8B\x08", Other("gzip data", "application/gzip")),
    (b"\x28\xB5\x2F\xFD", Other("Zstandard data", "application/zstd")),
    (b"\xFD7zXZ\0", Other("XZ data", "application/x-xz")),
    (b"7z\xBC\xAF\x27\x1C", Other("a 7z archive", "application/x-7z-compressed")),
    (b"\x7FELF", Other("an ELF program or library", "application/x-elf")),
    (b"SQLite format 3\0", Other("an SQLite database", "application/vnd.sqlite3")),
];

/// What the bytes of a file begin as; `None` if that is not known: it may be text.
pub fn kind_of(bytes: &[u8]) -> Option<FileKind> {
    let riff = |form: &[u8]| bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(form);
    let is_bmp = || bytes.starts_with(b"BM") && bytes.get(6..10) == Some(b"\0\0\0\0");
    // The third byte is no letter in the encodings in which the first two are.
    let is_mp3_frame = || matches!(bytes, [0xFF, 0xFA | 0xFB | 0xF2 | 0xF3, 0x40..=0xBF, ..]);
    let by_start = SIGNATURES.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, kind)| *kind);
    by_start
        .or_else(|| riff(b"WEBP").then_some(WebP))
        .or_else(|| riff(b"WAVE").then_some(Wav))
        .or_else(|| is_mp3_frame().then_some(Mp3))
        .or_else(|| is_bmp().then_some(OtherImage("image/bmp")))
}

impl FileKind {
    /// Its media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Png => "image/png",
            Jpeg => "image/jpeg",
            Gif => "image/gif",
            WebP => "image/webp",
            Wav => "audio/wav",
            Mp3 => "audio/mpeg",
            Ogg => "audio/ogg",
            Flac => "audio/flac",
            Pdf => "application/pdf",
            OtherImage(media_type) | Other(_, media_type) => media_type,
        }
    }

    /// Its name in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Png => "a PNG image",
            Jpeg => "a JPEG image",
            Gif => "a GIF image",
            WebP => "a WebP image",
            OtherImage(_) => "an image",
            Wav | Mp3 | Ogg | Flac => "a sound file",
            Pdf => "a PDF document",
            Other(name, _) => name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_its_first_bytes_say() {
        for (bytes, kind) in [
            (&b"\x89PNG\r\n\x1a\n\0\0"[..], Some(Png)),
            (b"RIFF\x10\0\0\0WEBPVP8 ", Some(WebP)),
            (b"RIFF\x10\0\0\0WAVEfmt ", Some(Wav)),
            (b"RIFF\x10\0\0\0AVI LIST", None),
            (b"BM\x36\0\0\0\0\0\0\0", Some(OtherImage("image/bmp"))),
            (b"BM is a word\n", None),
            (b"%PDF-1.7\n", Some(Pdf)),
            (b"GIF is a format\n", None),
            (b"ID3 is a tag\n", None),
            (b"PK\n", None),
            (b"", None),
            (b"<svg xmlns", None),
            (b"\xFF\xFEa\0", None),
        ] {
            assert_eq!(kind_of(bytes), kind, "{bytes:?}");
        }
    }
}
