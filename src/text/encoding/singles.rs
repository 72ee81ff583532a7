//! Whether the words of a text tell its encoding of single bytes from the others of that kind.
//!
//! Most such encodings give letters to the same bytes: `sıfır` in windows-1254 is `sýfýr` in windows-1252. What the detector says counts
//! only if the words in which another encoding differs are many, or are none in that encoding: they have signs or capitals inside,
//! letters of two scripts, or together letters that no language has. Encodings that read all of the text alike are no rivals. Pure over bytes.

use std::collections::HashSet;

use super::Encoding;
use super::alphabets::Cover;

/// Different words that are looked at. The few with letters that tell one encoding from another may stand far behind.
const MOST_WORDS: usize = 1_024;

/// Words in which two encodings differ, and both have words, from which on the detector is believed.
const MANY: usize = 6;

/// Words more of one language, from which on an encoding is likelier than another.
const LIKELIER: usize = 2;

/// Words to each that is none in the encoding that is believed.
const FEW_ODD: usize = 8;

/// Signs that stand at no end of a word.
const NOT_AT_WORDS: &str = "€¤¢¥¬±×÷¶¦√∫≈∆◊";

/// Letters that look alike, so that no word tells one from the other: those of Romanian.
const ALIKE: [(char, char); 4] = [('ş', 'ș'), ('Ş', 'Ș'), ('ţ', 'ț'), ('Ţ', 'Ț')];

/// Whether no other encoding of single bytes, as which the text has other characters, may be that of its words.
pub(super) fn is_told_by_words(encoding: Encoding, text: &[u8]) -> bool {
    let words = words(text);
    let own: Vec<Option<String>> = words.iter().map(|word| encoding.decode(word).ok()).collect();
    let is_rival = |other: &Encoding| {
        other.unit() == 1 && *other != Encoding::Utf8 && !other.is_multibyte() && *other != encoding
    };
    switches::is_off("told-by-words")
        || Encoding::ALL.iter().copied().filter(is_rival).all(|other| is_told_from(other, &words, &own))
}

/// Whether `own`, the readings of these words in the one encoding, tell that they are not in the other.
fn is_told_from(other: Encoding, words: &[&[u8]], own: &[Option<String>]) -> bool {
    let (mut differ, mut decide, mut own_odd, mut other_odd) = (0, 0, 0, 0);
    let (mut own_cover, mut other_cover) = (Cover::new(), Cover::new());
    for (word, own) in words.iter().zip(own) {
        let Some(own) = own else { return false };
        let Ok(others) = other.decode(word) else { return true };
        own_cover.add(own);
        other_cover.add(&others);
        if *own == others {
            continue;
        }
        differ += 1;
        if own.chars().zip(others.chars()).any(|(own, other)| is_decided(own, other)) {
            decide += 1;
            own_odd += usize::from(is_odd(own));
            other_odd += usize::from(is_odd(&others));
        }
    }
    let (own_most, other_most) = (own_cover.most(), other_cover.most());
    let is_likelier = own_most >= other_most + LIKELIER && own_odd * FEW_ODD <= decide;
    let are_many = decide >= MANY && own_most >= other_most && own_odd * FEW_ODD <= decide;
    differ == 0 || own_odd < other_odd || is_likelier || are_many
}

/// Whether a word tells which of two characters it has.
fn is_decided(one: char, other: char) -> bool {
    let is_letter = |c: char| c.is_alphabetic();
    one != other
        && (is_letter(one) || is_letter(other))
        && !ALIKE.iter().any(|pair| [(one, other), (other, one)].contains(pair))
}

/// Whether a word is hardly one: a sign, a control or a capital stands in it behind a letter, or it has letters of two scripts.
fn is_odd(word: &str) -> bool {
    let (mut before, mut script) = (' ', None);
    let letters_behind = |at: usize| word[at..].chars().nth(1).is_some_and(char::is_alphabetic);
    for (at, char) in word.char_indices() {
        let is_sign = !char.is_alphanumeric() && !is_mark(char);
        let is_inside = before.is_alphabetic() && (letters_behind(at) || NOT_AT_WORDS.contains(char));
        let is_beside_digit = char.is_alphabetic() && !char.is_ascii() && before.is_ascii_digit();
        if char.is_control()
            || is_sign && is_inside
            || before.is_lowercase() && char.is_uppercase()
            || is_beside_digit
        {
            return true;
        }
        if char.is_alphabetic() {
            let own = script_of(char);
            if script.is_some_and(|script| script != own) {
                return true;
            }
            script = Some(own);
        }
        before = if is_mark(char) { before } else { char };
    }
    false
}

/// Whether a character stands inside words: a mark of Thai, Hebrew, Arabic or Vietnamese, an apostrophe, a soft hyphen.
fn is_mark(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36F}' | '\u{591}'..='\u{5C7}' | '\u{64B}'..='\u{65F}' | '\u{E31}'..='\u{E4E}')
        || matches!(char, '’' | '\u{AD}' | '\'')
}

/// The number of the script of a letter.
fn script_of(char: char) -> u8 {
    match char {
        '\u{370}'..='\u{3FF}' => 1,
        '\u{400}'..='\u{52F}' => 2,
        '\u{590}'..='\u{5FF}' => 3,
        '\u{600}'..='\u{6FF}' => 4,
        '\u{E00}'..='\u{E7F}' => 5,
        _ => 0,
    }
}

/// The first different words of a text that are not ASCII.
fn words(text: &[u8]) -> Vec<&[u8]> {
    let is_between = |byte: &u8| byte.is_ascii() && !byte.is_ascii_alphanumeric();
    let mut known = HashSet::new();
    let new = text.split(is_between).filter(|word| !word.is_ascii()).filter(|word| known.insert(*word));
    new.take(MOST_WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(encoding: Encoding, text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        encoding.encode(text, &mut out).unwrap();
        out
    }

    #[test]
    fn bytes_that_others_read_alike_are_no_doubt() {
        let german = "Früh am Morgen über größere Bäume";
        assert!(is_told_by_words(Encoding::Windows1252, &encoded(Encoding::Windows1252, german)));
    }

    #[test]
    fn a_sign_inside_words_speaks_against_an_encoding() {
        let french = encoded(Encoding::Iso8859_15, "cœur sœur bœuf œuvre déjà été élève");
        assert!(!is_told_by_words(Encoding::Windows1252, &french));
        let fractions = encoded(Encoding::Windows1252, "1½ Löffel, 2¼ Löffel, 3¾ Löffel für große Töpfe");
        assert!(is_told_by_words(Encoding::Windows1252, &fractions));
        let price = encoded(Encoding::Iso8859_15, "für 5 € schöne Bäume");
        assert!(!is_told_by_words(Encoding::Windows1252, &price));
    }

    #[test]
    fn words_far_behind_that_another_encoding_reads_better_count() {
        let starts = "mü tä sõ kö lü pä võ rö nü jä hõ kü".split(' ');
        let words = starts.flat_map(|start| {
            "ra la na ta sa va ma pa da ga".split(' ').map(move |end| format!("{start}{end} "))
        });
        let estonian = words.collect::<String>() + "šokolaad žanr garaaž šahh";
        for encoding in [Encoding::Windows1257, Encoding::Iso8859_15] {
            assert!(!is_told_by_words(Encoding::Windows1252, &encoded(encoding, &estonian)), "{encoding:?}");
        }
        assert!(is_told_by_words(Encoding::Windows1252, &encoded(Encoding::Windows1252, &estonian)));
    }

    #[test]
    fn words_of_one_language_are_no_words_of_another() {
        for (encoding, text) in [
            (Encoding::Windows1251, "Съешь ещё этих мягких французских булок"),
            (Encoding::Windows1251, "Привет, как дела сегодня"),
            (Encoding::Windows1252, "Les élèves français sont déjà arrivés à l'école."),
        ] {
            let text = encoded(encoding, text);
            let words = words(&text);
            let own: Vec<_> = words.iter().map(|word| encoding.decode(word).ok()).collect();
            let rivals = Encoding::ALL.iter().filter(|other| other.unit() == 1 && !other.is_multibyte());
            let untold: Vec<_> = rivals.filter(|other| !is_told_from(**other, &words, &own)).collect();
            assert_eq!(untold, [&Encoding::Utf8; 0], "{encoding:?}");
        }
    }

    #[test]
    fn few_words_with_letters_of_both_encodings_do_not_tell() {
        let hungarian = encoded(Encoding::Windows1250, "erdő fák már várták");
        assert!(!is_told_by_words(Encoding::Windows1252, &hungarian));
        let romanian = encoded(
            Encoding::Iso8859_16,
            "și când pădurii ieșit deasupra învățătorul așteptau cenușiu orașe",
        );
        assert!(!is_told_by_words(Encoding::Windows1250, &romanian));
    }
}
