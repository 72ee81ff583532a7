//! Renders the source of a template with values, within bounds on steps, output and memory.
//!
//! Knows no catalogue. A template sees its values and nothing else: no files, no other templates, no time.

use std::collections::BTreeMap;
use std::io::{self, Write};

use minijinja::{Environment, ErrorKind, UndefinedBehavior, Value};

use super::filters;
use super::language::{self, describe};
use super::value::ParameterValue;

/// The steps of minijinja that one rendering may take.
const FUEL: u64 = 50_000;

/// The longest result, in bytes.
pub const MAX_OUTPUT: usize = 1 << 20;

/// The name under which minijinja knows a source.
const NAME: &str = "template";

/// Checks that a source can be rendered with values of these names. The error says what is wrong and where.
pub(super) fn check(source: &str, names: &[&str]) -> Result<(), String> {
    language::check(source)?;
    let mut environment = environment();
    environment.add_template(NAME, source).map_err(|error| describe(&error))?;
    let template = environment.get_template(NAME).map_err(|error| describe(&error))?;
    let is_unknown = |name: &String| name != "range" && !names.contains(&&**name);
    match template.undeclared_variables(false).into_iter().filter(is_unknown).min() {
        None => Ok(()),
        Some(name) => Err(format!("it uses {name}, which is no parameter; there are {}", names.join(", "))),
    }
}

/// Renders a source. The error says what is wrong and where.
pub(super) fn render(source: &str, values: &[(String, ParameterValue)]) -> Result<String, String> {
    language::check(source)?;
    let mut environment = environment();
    environment.add_template(NAME, source).map_err(|error| describe(&error))?;
    let template = environment.get_template(NAME).map_err(|error| describe(&error))?;
    let mut context = BTreeMap::new();
    context.extend(values.iter().map(|(name, value)| (Value::from(&name[..]), as_value(value))));
    filters::begin();
    let mut out = Limited(Vec::new());
    template.render_captured_to(Value::from_object(context), &mut out).map_err(|error| {
        match error.kind() {
            ErrorKind::OutOfFuel => format!("it takes more than {FUEL} steps"),
            ErrorKind::WriteFailure => format!("its result is longer than {MAX_OUTPUT} bytes"),
            _ => describe(&error),
        }
    })?;
    String::from_utf8(out.0).map_err(|_| "its result is not UTF-8".into())
}

/// A new one for each rendering: it is made in microseconds and holds nothing at rest.
fn environment<'source>() -> Environment<'source> {
    let mut environment = Environment::empty();
    environment.set_fuel(Some(FUEL));
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_keep_trailing_newline(true);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_formatter(|out, _, value| {
        // An undefined value comes here only from an `if` without `else`, which makes nothing.
        let text = if value.is_undefined() { "".into() } else { filters::simple_text(value)? };
        out.write_str(&text).map_err(|_| minijinja::Error::from(ErrorKind::WriteFailure))
    });
    filters::add_to(&mut environment);
    environment
}

fn as_value(value: &ParameterValue) -> Value {
    match value {
        ParameterValue::Text(text) => Value::from(text.as_str()),
        ParameterValue::Integer(number) => Value::from(*number),
        ParameterValue::Boolean(value) => Value::from(*value),
        ParameterValue::List(items) => items.iter().map(|item| Value::from(item.as_str())).collect(),
    }
}

/// Output that stops at [`MAX_OUTPUT`].
struct Limited(Vec<u8>);

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_OUTPUT {
            return Err(io::Error::other("too long"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Vec<(String, ParameterValue)> {
        vec![
            ("name".into(), ParameterValue::Text("My-App".into())),
            ("long".into(), ParameterValue::Text("x".repeat(16 << 10))),
            ("on".into(), ParameterValue::Boolean(true)),
            ("count".into(), ParameterValue::Integer(3)),
            ("items".into(), ParameterValue::List(vec!["a".into(), "b".into()])),
        ]
    }

    fn rendered(source: &str) -> Result<String, String> {
        render(source, &values())
    }

    #[test]
    fn values_filters_conditions_and_loops_are_rendered() {
        for (source, expected) in [
            ("a\n", "a\n"),
            ("{{ name }}", "My-App"),
            (
                "{{ name|snake }} {{ name|kebab }} {{ name|pascal }} {{ name|lower }}",
                "my_app my-app MyApp my-app",
            ),
            ("{{ 'HTTPServer2 x'|snake }}", "httpserver2_x"),
            ("{{ 'a\"b\\\\c\\n'|quoted }}", r#""a\"b\\c\n""#),
            ("{% if on %}\nyes\n{% endif %}\n", "yes\n"),
            ("{% for x in items %}{{ loop.index }}{{ x }}{% endfor %}", "1a2b"),
            ("{% for x in range(count) %}{{ x }}{% endfor %}", "012"),
            ("{{ items|join(', ') }} {{ items|length }} {{ items|first }}{{ items|last }}", "a, b 2 ab"),
            ("{{ 'a\nb\n\nc'|indent(2) }}", "a\n  b\n\n  c"),
            ("{{ name|replace('-', ' ') }} {{ ' x '|trim }} {{ count - 1 }}", "My App x 2"),
            ("{{ 'y' if name is startingwith('My') else 'n' }}", "y"),
            ("{{ missing|default('d') }}", "d"),
            ("<{{ '<&>' }}>", "<<&>>"),
            ("{{ 'b' in items }} {{ items|join(on) if not on }}", "true "),
        ] {
            assert_eq!(rendered(source).as_deref(), Ok(expected), "{source}");
        }
    }

    #[test]
    fn mistakes_name_their_line() {
        for (source, what) in [
            ("\n{{ missing }}", "line 2: undefined value"),
            ("{{ items }}", "use the filter join"),
            ("{{ name|nothing }}", "unknown filter"),
            ("{{ nothing() }}", "unknown function"),
            ("{{ count|upper }}", "line 1"),
            ("{% if on %}", "syntax error"),
            ("{{ range(1, 2, 3) }}", "one or two numbers"),
        ] {
            let problem = rendered(source).unwrap_err();
            assert!(problem.contains(what), "{source}: {problem}");
        }
    }

    #[test]
    fn a_check_finds_names_that_are_no_parameters() {
        assert_eq!(check("{{ a }}{% set b = a %}{{ b }}{{ range(1) }}", &["a"]), Ok(()));
        assert_eq!(
            check("{{ x }}", &["a", "b"]),
            Err("it uses x, which is no parameter; there are a, b".into())
        );
        assert!(check("{{ x", &["x"]).unwrap_err().contains("syntax error"));
    }

    #[test]
    fn templates_that_explode_end_at_a_bound() {
        let many: &str =
            "{% for a in range(10000) %}{% for b in range(10000) %}{{ long }}{% endfor %}{% endfor %}";
        let nested_replace = format!("{{{{ 'x'{} }}}}", "|replace('x', 'xxxxxxxxxx')".repeat(20));
        let with = |depth: usize| {
            let open = "{% with a = a|replace('x', 'xx') %}".repeat(depth);
            format!(
                "{{% with a = 'x' %}}{open}{{{{ a|length }}}}{}{{% endwith %}}",
                "{% endwith %}".repeat(depth)
            )
        };
        for (source, what) in [
            (many.into(), "longer than 1048576"),
            (
                "{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}".into(),
                "steps",
            ),
            (nested_replace, "more than 65536"),
            (with(40), "more than 65536"),
            ("{% for a in range(10000) %}{{ (long|upper)|length }}{% endfor %}".into(), "more than 1048576"),
            ("{{ range(1000000000) }}".into(), "more than 10000"),
            ("{{ range(-9223372036854775808, 9223372036854775807) }}".into(), "more than 10000"),
            ("{{ 'a\nb'|indent(1000000000) }}".into(), "more than 65536"),
            ("{{ 'a\nb'|indent(18446744073709551615) }}".into(), "more than 65536"),
            ("{{ 'aaaaaa'|replace('', long) }}".into(), "more than 65536"),
            ("{{ range(10000)|join(long) }}".into(), "more than 65536"),
            ("{% for a in range(9999) %}{{ range(9999)|last }}{% endfor %}".into(), "more than"),
        ] {
            let problem = rendered(&source).unwrap_err();
            assert!(problem.contains(what), "{source}: {problem}");
        }
    }

    #[test]
    fn texts_that_nest_deep_do_not_reach_the_end_of_the_stack() {
        let deep = [
            format!("{{{{ {}1{} }}}}", "(".repeat(90), ")".repeat(90)),
            format!("{}{}", "{% if on %}".repeat(140), "{% endif %}".repeat(140)),
            format!("{{% if on %}}{}{{% endif %}}", "{% elif on %}".repeat(60)),
            format!("{{{{ {}on }}}}", "not ".repeat(190)),
            format!("{{{{ name{} }}}}", "|lower".repeat(90)),
        ];
        for source in deep {
            // A thread as small as those that run calls.
            let render = move || rendered(&source).map(|text| text.len());
            let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(render).unwrap();
            // Rendered or refused, but not aborted.
            let _ = thread.join().unwrap();
        }
        let chain = format!("{}{}", "{% if on %}".repeat(100_000), "{% endif %}".repeat(100_000));
        assert!(rendered(&chain).is_err());
    }
}
