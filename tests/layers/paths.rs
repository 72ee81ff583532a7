//! The paths that a Rust source names, whole: use trees are taken apart, `self` and `super` resolved.
//!
//! A lexer and as much of a parser as that takes. What stands in comments and literals names nothing.

/// A path from its first segment on: `crate`, or the name of another crate or of something in scope.
pub(super) type Path = Vec<String>;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Word(String),
    /// `::`
    Colons,
    Mark(char),
}

/// All paths of two segments or more in the source of the module `module` (without `crate`), and the targets of `use`
/// whatever their length.
pub(super) fn paths(module: &[String], source: &str) -> Vec<Path> {
    let tokens = tokens(source);
    let mut reader = Reader { tokens: &tokens, at: 0, module: module.to_vec(), inline: Vec::new(), depth: 0 };
    reader.read()
}

/// The words of a source, keywords among them.
pub(super) fn words(source: &str) -> Vec<String> {
    let word = |token| if let Token::Word(word) = token { Some(word) } else { None };
    tokens(source).into_iter().filter_map(word).collect()
}

struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    /// The module that the reader is in.
    module: Vec<String>,
    /// The depths of braces at which modules in this file ended would be left again.
    inline: Vec<usize>,
    depth: usize,
}

impl Reader<'_> {
    fn read(&mut self) -> Vec<Path> {
        let mut found = Vec::new();
        while let Some(token) = self.tokens.get(self.at).cloned() {
            match token {
                Token::Word(word) if word == "mod" => self.enter_module(),
                Token::Word(word) if word == "use" && self.peek(1) != Some(&Token::Mark('<')) => {
                    self.at += 1;
                    let mut targets = Vec::new();
                    self.use_tree(Vec::new(), &mut targets);
                    found.extend(targets.into_iter().map(|path| self.resolved(path)));
                }
                Token::Word(_) => {
                    let path = self.path();
                    if path.len() > 1 {
                        found.push(self.resolved(path));
                    }
                }
                Token::Mark(mark) => {
                    self.count(mark);
                    self.at += 1;
                }
                Token::Colons => self.at += 1,
            }
        }
        found
    }

    fn peek(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead)
    }

    fn count(&mut self, mark: char) {
        match mark {
            '{' => self.depth += 1,
            '}' => {
                self.depth = self.depth.saturating_sub(1);
                if self.inline.last() == Some(&self.depth) {
                    self.inline.pop();
                    self.module.pop();
                }
            }
            _ => {}
        }
    }

    fn enter_module(&mut self) {
        if let (Some(Token::Word(name)), Some(Token::Mark('{'))) = (self.peek(1), self.peek(2)) {
            self.module.push(name.clone());
            self.inline.push(self.depth);
        }
        self.at += 1;
    }

    fn path(&mut self) -> Path {
        let mut path = Vec::new();
        while let Some(Token::Word(word)) = self.peek(0) {
            path.push(word.clone());
            self.at += 1;
            match (self.peek(0), self.peek(1)) {
                (Some(Token::Colons), Some(Token::Word(_))) => self.at += 1,
                _ => break,
            }
        }
        path
    }

    /// The targets of a use tree behind `prefix`.
    fn use_tree(&mut self, mut prefix: Path, targets: &mut Vec<Path>) {
        loop {
            match self.peek(0).cloned() {
                Some(Token::Colons) => self.at += 1,
                Some(Token::Word(word)) if word == "as" => {
                    // The new name, which may be `_`.
                    self.at += 2;
                }
                Some(Token::Word(word)) => {
                    prefix.push(word);
                    self.at += 1;
                }
                Some(Token::Mark('*')) => {
                    prefix.push("*".into());
                    self.at += 1;
                }
                Some(Token::Mark('{')) => {
                    self.at += 1;
                    while self.peek(0).is_some_and(|token| *token != Token::Mark('}')) {
                        self.use_tree(prefix.clone(), targets);
                        if self.peek(0) == Some(&Token::Mark(',')) {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    return;
                }
                _ => {
                    targets.push(prefix);
                    return;
                }
            }
        }
    }

    fn resolved(&self, path: Path) -> Path {
        let mut path = path.into_iter().peekable();
        let mut from = match path.peek().map(String::as_str) {
            Some("crate" | "file_editor") => {
                path.next();
                Vec::new()
            }
            Some("self" | "super") => self.module.clone(),
            _ => return path.collect(),
        };
        while let Some(step) = path.next_if(|step| step == "self" || step == "super") {
            if step == "super" {
                from.pop();
            }
        }
        // At the end of a group, `self` is the group's own prefix.
        let rest = path.filter(|segment| segment != "self");
        std::iter::once("crate".to_owned()).chain(from).chain(rest).collect()
    }
}

fn tokens(source: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let len = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            comment(rest)
        } else if first == '"' {
            string(rest)
        } else if first == '\'' {
            quoted(rest)
        } else if let Some(len) = raw_string(rest) {
            len
        } else if first.is_alphanumeric() || first == '_' {
            let word = rest.strip_prefix("r#").unwrap_or(rest);
            let end = word.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(word.len());
            tokens.push(Token::Word(word[..end].to_owned()));
            rest.len() - word.len() + end
        } else if rest.starts_with("::") {
            tokens.push(Token::Colons);
            2
        } else {
            if !first.is_whitespace() {
                tokens.push(Token::Mark(first));
            }
            first.len_utf8()
        };
        rest = &rest[len..];
    }
    tokens
}

/// The length of a comment in `/* */`, which may hold others.
fn comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let here = &text[at..];
        match (here.starts_with("/*"), here.starts_with("*/")) {
            (true, _) => depth += 1,
            (_, true) => depth -= 1,
            _ => {
                at += here.chars().next().map_or(1, char::len_utf8);
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            break;
        }
    }
    at
}

fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A character, or the quote and nothing else of a lifetime.
fn quoted(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((at, _))) => {
            let from = at + 1;
            text[from..].find('\'').map_or(text.len(), |end| from + end + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

/// The length of `r"…"`, `br#"…"#` and the like, if the text begins with one.
fn raw_string(text: &str) -> Option<usize> {
    let body = ["br", "cr", "r"].iter().find_map(|prefix| text.strip_prefix(prefix))?;
    let hashes = body.len() - body.trim_start_matches('#').len();
    let inside = body[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let len = inside.find(&end).map_or(inside.len(), |at| at + end.len());
    Some(text.len() - inside.len() + len)
}
