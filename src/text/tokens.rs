//! Estimates how many tokens a model reads in a text (contract 19).
//!
//! Each piece that the tokenizer o200k never joins with others (a word, three digits, signs, blanks, a character of a script
//! without blanks) costs what such pieces cost on average; a word costs more for each pair of letters that is rare in English
//! and in code. The estimate is within 20 % of the tokenizer's count. Pure; knows no limit and no answer.

/// Units of a token.
const TOKEN: usize = 64;

/// What pieces cost, in units.
const WORD: usize = 57;
const RARE_PAIR: usize = 43;
const LETTER_OF_LONG: usize = 3;
const DIGITS: usize = 64;
const BLANK_BEFORE_DIGITS: usize = 67;
const SIGNS: usize = 67;
const MORE_SIGNS: usize = 19;
const SIGN_OF_WORD: usize = 6;
const BLANKS: usize = 44;
const BREAKS: usize = 65;
const BREAKS_BEHIND_SIGNS: usize = 24;
const CYRILLIC_WORD: usize = 55;
const CYRILLIC_LETTER: usize = 6;
const TWO_BYTES: usize = 40;
const THREE_BYTES: usize = 64;
const CJK: usize = 51;
const FOUR_BYTES: usize = 112;

/// Letters of a word that is not long.
const SHORT_WORD: usize = 6;

/// For each letter, the letters that often follow it, as bits.
const COMMON: [u32; 26] = [
    0x13ebd4e, 0x1124811, 0x1a4c91, 0x44911, 0xafb83f, 0x184101, 0x160110, 0x4111, 0x2e787f, 0x0, 0x40010,
    0x11cc939, 0x4d11b, 0x1c4d7d, 0x7efc6c, 0x1ac811, 0x100000, 0x13e7151, 0x5cc191, 0x11ec995, 0xeb812,
    0x11, 0x24191, 0x80000, 0x48000, 0x0,
];

/// Counts the tokens of a text that is given in parts, best at line breaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenCount {
    units: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Digit,
    Blank,
    Break,
    Sign,
    /// A byte of a character beyond ASCII.
    Other,
}

impl TokenCount {
    /// Counts a part. Need not be UTF-8.
    pub fn push(&mut self, text: &[u8]) {
        let mut at = 0;
        while at < text.len() {
            at = self.piece(text, at);
        }
    }

    /// The estimated number of tokens so far.
    pub fn tokens(&self) -> usize {
        self.units.div_ceil(TOKEN)
    }

    /// The number of the first bytes of `text` that are estimated at no more than `tokens`, at a border of characters. At least
    /// `tokens` bytes: no byte is more than one.
    pub fn fitting(text: &[u8], tokens: usize) -> usize {
        let (mut count, mut at) = (TokenCount::default(), 0);
        while at < text.len() {
            let next = count.piece(text, at);
            if count.tokens() > tokens {
                break;
            }
            at = next;
        }
        let mut end = at.max(tokens.min(text.len()));
        while text.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) && end > at {
            end -= 1;
        }
        end
    }

    /// Counts the piece at `at`, and returns where the next one begins.
    fn piece(&mut self, text: &[u8], at: usize) -> usize {
        let (end, units) = match kind(text[at]) {
            Kind::Letter => word(text, at),
            Kind::Digit => {
                let end = run(text, at, |byte| byte.is_ascii_digit());
                (end, (end - at).div_ceil(3) * DIGITS)
            }
            Kind::Blank | Kind::Break => blanks(text, at),
            Kind::Sign => {
                let end = run(text, at, |byte| kind(byte) == Kind::Sign);
                let is_of_word = end == at + 1
                    && text.get(end).is_some_and(|next| matches!(kind(*next), Kind::Letter | Kind::Other));
                (end, if is_of_word { SIGN_OF_WORD } else { SIGNS + (end - at - 1) * MORE_SIGNS })
            }
            Kind::Other => other(text, at),
        };
        self.units += units;
        end.min(text.len())
    }
}

fn kind(byte: u8) -> Kind {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => Kind::Letter,
        b'0'..=b'9' => Kind::Digit,
        b' ' | b'\t' => Kind::Blank,
        b'\n' | b'\r' => Kind::Break,
        0x80.. => Kind::Other,
        _ => Kind::Sign,
    }
}

/// Where the bytes from `at` on end that are as told.
fn run(text: &[u8], at: usize, is_in: impl Fn(u8) -> bool) -> usize {
    text[at..].iter().position(|byte| !is_in(*byte)).map_or(text.len(), |len| at + len)
}

/// A word: capital letters, then small ones.
fn word(text: &[u8], at: usize) -> (usize, usize) {
    let end = run(text, at, |byte| byte.is_ascii_uppercase());
    let end = run(text, end, |byte| byte.is_ascii_lowercase());
    let word = &text[at..end];
    let letter = |byte: u8| usize::from((byte | 0x20) - b'a');
    let rare = |pair: &&[u8]| COMMON[letter(pair[0])] >> letter(pair[1]) & 1 == 0;
    let rare = word.windows(2).filter(rare).count();
    (end, WORD + rare * RARE_PAIR + word.len().saturating_sub(SHORT_WORD) * LETTER_OF_LONG)
}

/// Blanks and line breaks. The last blank belongs to the word or the signs behind it.
fn blanks(text: &[u8], at: usize) -> (usize, usize) {
    let end = run(text, at, |byte| matches!(kind(byte), Kind::Blank | Kind::Break));
    let behind_last_break = text[at..end].iter().rposition(|byte| kind(*byte) == Kind::Break);
    let (mut blanks, mut units) = (end - at, 0);
    if let Some(last) = behind_last_break {
        let is_behind_signs = at > 0 && kind(text[at - 1]) == Kind::Sign;
        let are_breaks = text[at..=at + last].iter().all(|byte| kind(*byte) == Kind::Break);
        units += if is_behind_signs && are_breaks { BREAKS_BEHIND_SIGNS } else { BREAKS };
        blanks -= last + 1;
    }
    let joins = match text.get(end).map(|next| kind(*next)) {
        Some(Kind::Letter | Kind::Other) => true,
        Some(Kind::Sign) => text[end - 1] == b' ',
        _ => false,
    };
    let is_before_digits = text.get(end).is_some_and(u8::is_ascii_digit);
    units += match (blanks, joins) {
        (0, _) | (1, true) => 0,
        (1, false) if is_before_digits => BLANK_BEFORE_DIGITS,
        (_, false) if is_before_digits => BLANKS + BLANK_BEFORE_DIGITS,
        _ => BLANKS,
    };
    (end, units)
}

/// A character beyond ASCII, or a word in Cyrillic.
fn other(text: &[u8], at: usize) -> (usize, usize) {
    match text[at] {
        0xD0 | 0xD1 => {
            let pairs = text[at..].chunks_exact(2).take_while(|pair| matches!(pair[0], 0xD0 | 0xD1)).count();
            (at + 2 * pairs.max(1), CYRILLIC_WORD + pairs * CYRILLIC_LETTER)
        }
        0xF0.. => (at + 4, FOUR_BYTES),
        0xE3.. => (at + 3, CJK),
        0xE0.. => (at + 3, THREE_BYTES),
        0xC0.. => (at + 2, TWO_BYTES),
        _ => (at + 1, TOKEN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> usize {
        let mut count = TokenCount::default();
        count.push(text.as_bytes());
        count.tokens()
    }

    /// Numbers without an order.
    struct Random(u64);

    impl Random {
        fn next(&mut self, below: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % below
        }

        fn of<'t>(&mut self, all: &[&'t str]) -> &'t str {
            all[self.next(all.len())]
        }

        fn chars(&mut self, of: &str, count: usize) -> String {
            let of: Vec<char> = of.chars().collect();
            (0..count).map(|_| of[self.next(of.len())]).collect()
        }
    }

    fn lines(count: usize, line: impl Fn(usize, &mut Random) -> String) -> String {
        let mut random = Random(1);
        (0..count).map(|number| line(number, &mut random) + "\n").collect()
    }

    fn sentences(words: &str, between: &str, end: &str) -> String {
        let words: Vec<&str> = words.split_whitespace().collect();
        lines(64, |_, random| {
            let sentence: Vec<&str> = (0..14).map(|_| random.of(&words)).collect();
            sentence.join(between) + end
        })
    }

    const HEX: &str = "0123456789abcdef";
    const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    /// Kinds of text: the name, the text, and its tokens as o200k counts them.
    fn samples() -> Vec<(&'static str, String, usize)> {
        let minified = |_: usize, random: &mut Random| {
            let (a, b) = (random.chars("abcdefnrt", 1), random.chars("abceinopstu", 1));
            let method = random.of(&["push", "length", "prototype", "apply", "indexOf", "createElement"]);
            format!(
                "function {a}({b},e){{return null=={b}?void 0:{b}.{method}(e)||(t[{b}]={{value:{a},get:function(){{return!0}}}},{a}=e?1:{})}}",
                random.next(999)
            )
        };
        vec![
            ("code", lines(160, |number, random| "    ".repeat(number % 4) + random.of(CODE)), 2_384),
            ("prose", sentences(ENGLISH, " ", "."), 968),
            (
                "csv",
                lines(150, |number, random| {
                    let name = random.of(&["Anna", "Boris", "Chen", "Dora", "Erik", "Fatima"]);
                    let (day, cents) = (random.next(28) + 1, random.next(100));
                    format!(
                        "{number},{name},{},{}.{cents:02},2026-11-{day:02}",
                        random.next(99_999),
                        random.next(5_000)
                    )
                }),
                2_861,
            ),
            (
                "log",
                lines(80, |_, random| {
                    let (level, what) =
                        (random.of(&["INFO", "WARN", "ERROR"]), random.of(&["users", "orders"]));
                    format!(
                        "2026-11-26T13:{:02}:{:02}Z {level} [worker-{}] GET /api/v1/{what}/{} took {} ms",
                        random.next(60),
                        random.next(60),
                        random.next(16),
                        random.next(99_999),
                        random.next(3_000)
                    )
                }),
                2_692,
            ),
            ("hex", lines(100, |_, random| random.chars(HEX, 64)), 3_781),
            ("base64", lines(80, |_, random| random.chars(BASE64, 76)), 4_257),
            ("minified", lines(50, minified).replace('\n', ";"), 1_861),
            ("Cyrillic", sentences(RUSSIAN, " ", "."), 1_201),
            ("Chinese", sentences(CHINESE, "", "。"), 1_534),
            ("emoji", lines(60, |_, random| random.chars("😀😂🥳🚀🔥🎉✨💡🐛📝✅👍🤔😎🙂😍", 20)), 1_871),
        ]
    }

    const CODE: &[&str] = &[
        "fn line_end(text: &[u8], from: usize) -> Option<usize> {",
        "let Some(next) = self.entries.get(index + 1) else { return Err(Error::NotFound) };",
        "for (number, line) in text.lines().enumerate() {",
        "if (request.headers[\"content-type\"] !== \"application/json\") {",
        "def __init__(self, name: str, *, timeout: float = 30.0) -> None:",
        "return [item for item in self.items if item.is_valid()]",
        "const result = await fetch(`${baseUrl}/users/${id}`);",
        "// Checks the version before the file is replaced.",
        "#[derive(Debug, Clone, PartialEq)]",
        "std::vector<int> values(count, 0);",
        "}",
    ];

    const ENGLISH: &str = "the server keeps an index of lines for each file that was read before and tells what it left out \
        when time is up or an answer would become too long so that a client can go on where it ended";
    const RUSSIAN: &str = "сервер хранит указатель строк для каждого файла который был прочитан раньше и говорит что осталось \
        если время вышло или ответ стал слишком длинным чтобы клиент мог продолжить с того же места";
    const CHINESE: &str = "服务器 为 每个 已经 读取 的 文件 保存 行 索引 如果 时间 用完 或者 回答 太长 就 说明 还有 什么 没有 搜索 客户端 可以 从 那里 继续 \
        缓冲区 溢出 校验 签名 覆盖 临时 目录 权限 不足 请重新 挂载 磁盘 阵列 损坏 恢复 备份 昨夜 凌晨 运维 值班 人员 排查 故障 描述 \
        嵌套 括号 匹配 递归 深度 限制 避免 堆栈 耗尽 线程 阻塞 唤醒 竞争 条件 互斥 锁 粒度 吞吐 延迟 抖动 采样 曲线 陡峭";

    #[test]
    fn the_estimate_is_within_a_fifth_of_what_the_tokenizer_counts() {
        for (name, text, counted) in samples() {
            assert!(text.len() >= 4_096, "{name}: {} bytes", text.len());
            let estimate = tokens(&text);
            assert!(
                estimate * 5 >= counted * 4 && estimate * 5 <= counted * 6,
                "{name}: {estimate}, {counted}"
            );
        }
    }

    #[test]
    fn a_text_in_lines_costs_what_it_costs_at_once() {
        for (name, text, _) in samples() {
            let mut count = TokenCount::default();
            text.split_inclusive('\n').for_each(|line| count.push(line.as_bytes()));
            let (parts, whole) = (count.tokens(), tokens(&text));
            assert!(parts.abs_diff(whole) * 100 <= whole, "{name}: {parts}, {whole}");
        }
    }

    #[test]
    fn what_fits_is_within_the_tokens_and_ends_between_characters() {
        for (name, text, _) in samples() {
            for most in [0, 1, 7, 100, 1_000, 100_000] {
                let end = TokenCount::fitting(text.as_bytes(), most);
                assert!(text.is_char_boundary(end), "{name} {most}: {end}");
                // A blank at the end no longer belongs to a word.
                assert!(tokens(&text[..end]) <= most + 1, "{name} {most}: {end}");
            }
        }
        let mut bytes = TokenCount::default();
        bytes.push(&[0x80, 0xD0, 0xF0, 0xE3, b'a', 0xD1]);
        assert!(bytes.tokens() > 0, "whatever the bytes are");
    }
}
