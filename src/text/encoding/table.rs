//! The table of encodings: their names, their tables, and the bytes that they do not define.

use encoding_rs as web;

/// What is known of an encoding.
pub(super) struct Row {
    pub(super) encoding: Encoding,
    pub(super) name: &'static str,
    /// Names besides those of the web, as [`plain`](super::names::plain) makes them.
    pub(super) labels: &'static [&'static str],
    /// The tables; `None` if bytes are characters.
    pub(super) tables: Option<&'static web::Encoding>,
    /// Bytes that are no character. The tables of the web have controls there.
    pub(super) undefined: &'static [u8],
}

macro_rules! encodings {
    ($($(#[$doc:meta])* $encoding:ident $name:literal $tables:expr, $labels:expr, $undefined:expr;)*) => {
        /// An encoding.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Encoding {
            $($(#[$doc])* $encoding,)*
        }

        /// In the order of [`Encoding`].
        pub(super) static ROWS: &[Row] = &[$(Row {
            encoding: Encoding::$encoding,
            name: $name,
            labels: &$labels,
            tables: $tables,
            undefined: $undefined,
        },)*];

        impl Encoding {
            /// All of them.
            pub const ALL: &[Encoding] = &[$(Encoding::$encoding,)*];
        }
    };
}

#[rustfmt::skip]
encodings! {
    /// UTF-8.
    Utf8 "utf-8" Some(&web::UTF_8_INIT), ["ascii", "usascii", "ansix341968", "utf8bom", "utf8sig"], b"";
    /// UTF-16, the low byte first.
    Utf16Le "utf-16le" Some(&web::UTF_16LE_INIT), [], b"";
    /// UTF-16, the high byte first.
    Utf16Be "utf-16be" Some(&web::UTF_16BE_INIT), [], b"";
    /// Cyrillic of Windows.
    Windows1251 "windows-1251" Some(&web::WINDOWS_1251_INIT), ["win1251", "1251"], b"\x98";
    /// Western European of Windows.
    Windows1252 "windows-1252" Some(&web::WINDOWS_1252_INIT), ["win1252", "1252"], b"\x81\x8D\x8F\x90\x9D";
    /// The first 256 characters of Unicode. The web takes windows-1252 for it.
    Iso8859_1 "iso-8859-1" None, ["latin1", "l1", "88591", "cp819", "ibm819", "isoir100", "csisolatin1", "iso885911987"], b"";
    /// The same with the euro sign.
    Iso8859_15 "iso-8859-15" Some(&web::ISO_8859_15_INIT), ["latin9", "latin0", "885915"], b"";
    /// Central European of ISO.
    Iso8859_2 "iso-8859-2" Some(&web::ISO_8859_2_INIT), [], b"";
    /// South European of ISO.
    Iso8859_3 "iso-8859-3" Some(&web::ISO_8859_3_INIT), [], b"";
    /// North European of ISO.
    Iso8859_4 "iso-8859-4" Some(&web::ISO_8859_4_INIT), [], b"";
    /// Cyrillic of ISO.
    Iso8859_5 "iso-8859-5" Some(&web::ISO_8859_5_INIT), [], b"";
    /// Arabic of ISO.
    Iso8859_6 "iso-8859-6" Some(&web::ISO_8859_6_INIT), [], b"";
    /// Greek of ISO.
    Iso8859_7 "iso-8859-7" Some(&web::ISO_8859_7_INIT), [], b"";
    /// Hebrew of ISO.
    Iso8859_8 "iso-8859-8" Some(&web::ISO_8859_8_INIT), [], b"";
    /// Hebrew of ISO in logical order.
    Iso8859_8I "iso-8859-8-i" Some(&web::ISO_8859_8_I_INIT), [], b"";
    /// Nordic of ISO.
    Iso8859_10 "iso-8859-10" Some(&web::ISO_8859_10_INIT), [], b"";
    /// Baltic of ISO.
    Iso8859_13 "iso-8859-13" Some(&web::ISO_8859_13_INIT), ["latin7"], b"";
    /// Celtic of ISO.
    Iso8859_14 "iso-8859-14" Some(&web::ISO_8859_14_INIT), ["latin8"], b"";
    /// South-Eastern European of ISO.
    Iso8859_16 "iso-8859-16" Some(&web::ISO_8859_16_INIT), ["latin10"], b"";
    /// Thai of Windows.
    Windows874 "windows-874" Some(&web::WINDOWS_874_INIT), ["cp874"],
        b"\x81\x82\x83\x84\x86\x87\x88\x89\x8A\x8B\x8C\x8D\x8E\x8F\x90\x98\x99\x9A\x9B\x9C\x9D\x9E\x9F";
    /// Central European of Windows.
    Windows1250 "windows-1250" Some(&web::WINDOWS_1250_INIT), ["win1250", "1250"], b"\x81\x83\x88\x90\x98";
    /// Greek of Windows.
    Windows1253 "windows-1253" Some(&web::WINDOWS_1253_INIT), ["win1253", "1253"],
        b"\x81\x88\x8A\x8C\x8D\x8E\x8F\x90\x98\x9A\x9C\x9D\x9E\x9F";
    /// Turkish of Windows.
    Windows1254 "windows-1254" Some(&web::WINDOWS_1254_INIT), ["win1254", "1254"], b"\x81\x8D\x8E\x8F\x90\x9D\x9E";
    /// Hebrew of Windows.
    Windows1255 "windows-1255" Some(&web::WINDOWS_1255_INIT), ["win1255", "1255"],
        b"\x81\x8A\x8C\x8D\x8E\x8F\x90\x9A\x9C\x9D\x9E\x9F";
    /// Arabic of Windows.
    Windows1256 "windows-1256" Some(&web::WINDOWS_1256_INIT), ["win1256", "1256"], b"";
    /// Baltic of Windows.
    Windows1257 "windows-1257" Some(&web::WINDOWS_1257_INIT), ["win1257", "1257"],
        b"\x81\x83\x88\x8A\x8C\x90\x98\x9A\x9C\x9F";
    /// Vietnamese of Windows.
    Windows1258 "windows-1258" Some(&web::WINDOWS_1258_INIT), ["win1258", "1258"], b"\x81\x8A\x8D\x8E\x8F\x90\x9A\x9D\x9E";
    /// Russian of Unix.
    Koi8R "koi8-r" Some(&web::KOI8_R_INIT), [], b"";
    /// Ukrainian and Belarusian of Unix.
    Koi8U "koi8-u" Some(&web::KOI8_U_INIT), [], b"";
    /// Cyrillic of DOS.
    Ibm866 "ibm866" Some(&web::IBM866_INIT), [], b"";
    /// Western European of the Macintosh.
    Macintosh "macintosh" Some(&web::MACINTOSH_INIT), ["macroman"], b"";
    /// Cyrillic of the Macintosh.
    MacCyrillic "x-mac-cyrillic" Some(&web::X_MAC_CYRILLIC_INIT), ["maccyrillic"], b"";
    /// Simplified Chinese.
    Gbk "gbk" Some(&web::GBK_INIT), ["cp936", "windows936"], b"";
    /// Chinese, with all of Unicode.
    Gb18030 "gb18030" Some(&web::GB18030_INIT), [], b"";
    /// Traditional Chinese.
    Big5 "big5" Some(&web::BIG5_INIT), ["cp950"], b"";
    /// Japanese of Windows.
    ShiftJis "shift_jis" Some(&web::SHIFT_JIS_INIT), ["cp932"], b"";
    /// Japanese of Unix.
    EucJp "euc-jp" Some(&web::EUC_JP_INIT), [], b"";
    /// Japanese of mail. The only one with a state between characters.
    Iso2022Jp "iso-2022-jp" Some(&web::ISO_2022_JP_INIT), [], b"";
    /// Korean of Windows.
    EucKr "euc-kr" Some(&web::EUC_KR_INIT), ["cp949"], b"";
}
