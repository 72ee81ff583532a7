//! The part of minijinja's language that templates may use.
//!
//! Fuel bounds the steps of a rendering, but not what one step makes: `{% set x = x ~ x %}` doubles a text in each step, and
//! `"x" * 1000000000` is computed when the template is compiled. So everything that makes texts or lists without a bound is
//! refused here, before minijinja sees the template: the operators `+ * ** ~`, slices, maps, lists that are not constant,
//! captures, macros and other templates. What makes texts are filters alone, and those have bounds (`filters.rs`).

use minijinja::machinery::{Span, Token, WhitespaceConfig, tokenize};
use minijinja::syntax::SyntaxConfig;

/// The longest source of a template, in bytes.
pub(super) const MAX_SOURCE: usize = 256 << 10;

/// The most words and signs between `{{` and `}}`, or `{%` and `%}`: minijinja reads and drops long chains by recursion.
const MAX_TOKENS: usize = 200;

/// The most `elif` of a template, for the same reason.
const MAX_ELIF: usize = 60;

/// The statements that there are.
const STATEMENTS: &[&str] = &["if", "elif", "else", "endif", "for", "endfor", "set", "with", "endwith"];

/// What is refused, with the reason.
const REFUSED: &[(&str, &str)] = &[
    ("+", "the operator +; write texts one after the other, and count with loop.index"),
    ("*", "the operator *"),
    ("**", "the operator **"),
    ("~", "the operator ~; write the parts one after the other"),
    ("{", "a map"),
    (":", "a slice"),
];

/// Checks the source of a template. The error names the line and what is not available.
pub(super) fn check(source: &str) -> Result<(), String> {
    if source.len() > MAX_SOURCE {
        return Err(format!("it has {} bytes; the most are {MAX_SOURCE}", source.len()));
    }
    let mut tag = Tag::default();
    let mut elifs = 0;
    for token in tokenize(source, false, SyntaxConfig, WhitespaceConfig::default()) {
        let (token, span) = token.map_err(|error| describe(&error))?;
        let wrong = |problem: String| format!("line {}: {problem}", line(span));
        match token {
            Token::TemplateData(_) => {}
            Token::VariableStart | Token::BlockStart => {
                tag = Tag { is_block: matches!(token, Token::BlockStart), ..Tag::default() };
            }
            Token::VariableEnd | Token::BlockEnd => tag.end().map_err(wrong)?,
            token => {
                elifs += usize::from(tag.tokens == 0 && matches!(token, Token::Ident("elif")));
                tag.take(&token).map_err(wrong)?;
            }
        }
        if elifs > MAX_ELIF {
            return Err(wrong(format!("more than {MAX_ELIF} elif")));
        }
    }
    Ok(())
}

fn line(span: Span) -> u64 {
    span.start_line.into()
}

/// An error of minijinja in words.
pub(super) fn describe(error: &minijinja::Error) -> String {
    let problem = match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    };
    match error.line() {
        Some(line) => format!("line {line}: {problem}"),
        None => problem,
    }
}

/// What was read of one `{{ }}` or `{% %}`.
#[derive(Default)]
struct Tag {
    is_block: bool,
    tokens: usize,
    /// It is a `set`, of which `=` was not seen yet.
    sets: bool,
    /// Inside of `[` and `]`.
    in_brackets: bool,
}

impl Tag {
    fn take(&mut self, token: &Token) -> Result<(), String> {
        let is_first = self.tokens == 0;
        self.tokens += 1;
        if self.tokens > MAX_TOKENS {
            return Err(format!("more than {MAX_TOKENS} words and signs in one {{{{ }}}} or {{% %}}"));
        }
        if self.is_block && is_first {
            return self.statement(token);
        }
        let sign = match token {
            Token::Plus => "+",
            Token::Mul => "*",
            Token::Pow => "**",
            Token::Tilde => "~",
            Token::BraceOpen => "{",
            Token::Colon => ":",
            Token::Assign => {
                self.sets = false;
                return Ok(());
            }
            Token::Ident("recursive") => return unavailable("a recursive loop"),
            Token::BracketOpen if !self.in_brackets => {
                self.in_brackets = true;
                return Ok(());
            }
            Token::BracketClose => {
                self.in_brackets = false;
                return Ok(());
            }
            token if self.in_brackets && !is_constant(token) => {
                return unavailable("a list or an index that is not constant");
            }
            _ => return Ok(()),
        };
        let named = REFUSED.iter().find(|(refused, _)| *refused == sign);
        unavailable(named.map_or(sign, |(_, what)| what))
    }

    fn statement(&mut self, token: &Token) -> Result<(), String> {
        let Token::Ident(name) = token else { return Ok(()) };
        self.sets = *name == "set";
        match STATEMENTS.contains(name) {
            true => Ok(()),
            false => unavailable(&format!("the statement {name}; there are {}", STATEMENTS.join(", "))),
        }
    }

    fn end(&mut self) -> Result<(), String> {
        if self.sets { unavailable("a set without =") } else { Ok(()) }
    }
}

fn is_constant(token: &Token) -> bool {
    matches!(
        token,
        Token::Str(_)
            | Token::String(_)
            | Token::Int(_)
            | Token::Float(_)
            | Token::Comma
            | Token::Minus
            | Token::Ident("true" | "false" | "none" | "True" | "False" | "None")
    )
}

fn unavailable(what: &str) -> Result<(), String> {
    Err(format!("templates do not have {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_has_values_filters_conditions_loops_and_names() {
        for source in [
            "",
            "plain ~ + * text",
            "{{ a }} {{ a.b }} {{ a['b'] }} {{ a[0] }} {{ a[-1] }}",
            "{{ a|upper|default('x') }} {{ a if b else c }} {{ a - 1 }} {{ a / 2 }} {{ a % 2 }}",
            "{% if a and not b or c == 'x' %}{% elif d in ['a', 'b', 1] %}{% else %}{% endif %}",
            "{% for x in y if x %}{{ loop.index }}{% else %}{% endfor %}{% for x in range(3) %}{% endfor %}",
            "{% set x = a %}{% with y = x, z = 1 %}{{ y }}{% endwith %}",
            "{% raw %}${{ a ~ b }}{% endraw %}{# {{ a ~ b }} #}{{ '~ + *' }}",
        ] {
            assert_eq!(check(source), Ok(()), "{source}");
        }
    }

    #[test]
    fn what_makes_texts_without_a_bound_is_refused_with_its_line() {
        for (source, what) in [
            ("\n\n{{ a ~ b }}", "line 3: templates do not have the operator ~"),
            ("{{ 'a' * 1000000000 }}", "the operator *"),
            ("{{ 'a' + 'b' }}", "the operator +"),
            ("{{ 2 ** 99 }}", "the operator **"),
            ("{{ f(*a) }}", "the operator *"),
            ("{{ a[1:2] }}", "slice"),
            ("{{ {'a': 1} }}", "a map"),
            ("{{ [a, b] }}", "a list or an index that is not constant"),
            ("{{ [[1]] }}", "a list or an index that is not constant"),
            ("{{ [1 ~ 2] }}", "the operator ~"),
            ("{% set x %}a{% endset %}", "a set without ="),
            ("{% filter upper %}a{% endfilter %}", "the statement filter"),
            ("{% macro m() %}{% endmacro %}", "the statement macro"),
            ("{% call m() %}{% endcall %}", "the statement call"),
            ("{% include '/etc/passwd' %}", "the statement include"),
            ("{% import 'x' as y %}", "the statement import"),
            ("{% extends 'x' %}", "the statement extends"),
            ("{% block x %}{% endblock %}", "the statement block"),
            ("{% do x() %}", "the statement do"),
            ("{% autoescape true %}{% endautoescape %}", "the statement autoescape"),
            ("{% for x in y recursive %}{{ loop(x) }}{% endfor %}", "a recursive loop"),
            ("{# {{ \" #}{{ a ~ b }}{# \" }} #}", "the operator ~"),
            ("{{ \"a}}\" ~ b }}", "the operator ~"),
            ("{%- raw -%}{{ a }}{%- endraw -%}{{ a ~ b }}", "the operator ~"),
            ("{{ 'a", "syntax error"),
        ] {
            let problem = check(source).unwrap_err();
            assert!(problem.contains(what), "{source}: {problem}");
        }
    }

    #[test]
    fn long_sources_and_chains_are_refused() {
        let minus = format!("{{{{ 1{} }}}}", "-1".repeat(100_000));
        assert!(check(&minus).unwrap_err().contains("more than 200"));
        let dots = format!("{{{{ a{} }}}}", ".a".repeat(100_000));
        assert!(check(&dots).unwrap_err().contains("more than 200"));
        let elifs = format!("{{% if a %}}{}{{% endif %}}", "{% elif a %}".repeat(10_000));
        assert!(check(&elifs).unwrap_err().contains("elif"));
        assert!(check(&" ".repeat(MAX_SOURCE + 1)).unwrap_err().contains("bytes"));
    }
}
