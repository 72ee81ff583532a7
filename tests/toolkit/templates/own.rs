//! `--templates`: the operator's own templates.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::{MAKEFILE, SET};
use crate::support::{Direct, Folder, MB, Mcp, Stdio, memory_taken, named, run_to_end};

/// A folder of templates beside the served folder. Each has a folder, the parameters of its `template.toml`, and a source.
fn templates(folder: &Folder, each: &[(&str, &str, &str)]) -> PathBuf {
    let own = folder.outside("templates");
    fs::create_dir_all(&own).expect("a folder");
    for (name, parameters, source) in each {
        let toml = format!(
            "uri = \"template://own/any/{name}\"\nname = \"Own {name}\"\ndescription = \"Mine\"\nmime_type = \"text/markdown\"\n\
             path = \"{name}.md\"\n{parameters}"
        );
        fs::create_dir(own.join(name)).expect("a folder");
        fs::write(own.join(name).join("template.toml"), toml).expect("a file");
        fs::write(own.join(name).join("template.txt"), source).expect("a file");
    }
    own
}

fn serve(folder: &Folder, own: &std::path::Path) -> Stdio {
    Stdio::start(folder, &[SET, &format!("--templates={}", own.display())]).ready()
}

const TITLE: &str =
    "[parameters.title]\npattern = \"[a-z ]+\"\n[parameters.tags]\ntype = \"list\"\nrequired = false\n";

#[test]
fn own_templates_are_listed_generated_searched_and_scaffolded() {
    let folder = Folder::new();
    let source = "# {{ title }}\n{% for tag in tags %}\n- {{ tag|upper }}\n{% endfor %}";
    let server = serve(&folder, &templates(&folder, &[("notes", TITLE, source)]));
    let uri = "template://own/any/notes";
    let parameters = json!({ "title": "my notes", "tags": ["a", "<b>"] });
    let call = json!({ "resource_uri": uri, "parameters": parameters });
    assert_eq!(server.ok("generate_template", call), "# my notes\n- A\n- <B>\n");
    let listed = server.ok("list_templates", json!({ "toolchain": "any" }));
    assert!(listed.starts_with(&format!("{uri} - Mine\n")) && listed.ends_with("tags?, title"), "{listed}");
    assert_eq!(server.direct("search_templates", json!({ "query": "own notes" }))["results"][0]["uri"], uri);
    let project = json!({ "toolchain": "any", "templates": [uri], "parameters": parameters, "write": true });
    server.ok("scaffold_project", project);
    assert_eq!(folder.text("notes.md"), "# my notes\n- A\n- <B>\n");
    let wrong = json!({ "resource_uri": uri, "parameters": { "title": "A!", "tags": "a" } });
    let error = server.direct_error("generate_template", wrong);
    assert_eq!(error.code, -32002);
    assert_eq!(error.data["errors"].as_array().map(Vec::len), Some(2));
    // The built-in ones are there, too.
    server.ok("generate_template", super::of(MAKEFILE, "x"));
}

#[test]
fn broken_templates_are_named_at_start_and_left_out() {
    let folder = Folder::new();
    let own = templates(
        &folder,
        &[
            ("good", TITLE, "{{ title }}"),
            ("include", TITLE, "{% include '/etc/passwd' %}"),
            ("syntax", TITLE, "{{ title"),
            ("unknown", TITLE, "{{ other }}"),
            ("type", "[parameters.x]\ntype = \"text\"\n", ""),
        ],
    );
    fs::create_dir(own.join("empty")).expect("a folder");
    let server = serve(&folder, &own);
    for (name, reason) in [
        ("include", "the statement include"),
        ("syntax", "template.txt: "),
        ("unknown", "it uses other"),
        ("type", "unknown type"),
        ("empty", "template.toml: "),
    ] {
        let log = server.stderr();
        let line = log.lines().find(|line| line.contains(&format!("folder=\"{name}\"")));
        let line = line.unwrap_or_else(|| panic!("{name} is not named: {log}"));
        assert!(line.contains("template left out") && line.contains(reason), "{line}");
    }
    assert!(!server.stderr().contains("folder=\"good\""));
    let call = |name: &str| json!({ "resource_uri": format!("template://own/any/{name}"), "parameters": { "title": "x" } });
    assert_eq!(server.ok("generate_template", call("good")), "x");
    let left_out = server.tool("generate_template", call("include"));
    assert!(left_out.is_error && left_out.text.contains("the statement include"), "{}", left_out.text);
    assert_eq!(server.direct_error("generate_template", call("include")).code, -32000);
}

#[test]
fn a_link_in_a_template_leads_to_nothing_outside_the_folder_of_templates() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = Folder::new();
    let names = ["shared", "file", "above", "toml", "inside"];
    let own = templates(&folder, &names.map(|name| (name, "", "text of a template")));
    fs::write(folder.outside("secret"), "the secret").expect("a file");
    let toml =
        fs::read_to_string(own.join("toml/template.toml")).expect("a file").replace("Mine", "the secret");
    fs::write(folder.outside("secret.toml"), toml).expect("a file");
    let elsewhere = folder.outside("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    fs::write(
        elsewhere.join("template.toml"),
        "uri = \"template://own/any/linked\"\nname = \"L\"\npath = \"l\"\n",
    )
    .expect("a file");
    fs::write(elsewhere.join("template.txt"), "the secret").expect("a file");
    for (link, target) in [
        ("file/template.txt", folder.outside("secret")),
        ("above/template.txt", "../../secret".into()),
        ("toml/template.toml", folder.outside("secret.toml")),
        ("inside/template.txt", "../shared/template.txt".into()),
        ("linked", elsewhere),
    ] {
        let _ = fs::remove_file(own.join(link));
        std::os::unix::fs::symlink(target, own.join(link)).expect("a link");
    }
    let server = serve(&folder, &own);
    let call = |name: &str| json!({ "resource_uri": format!("template://own/any/{name}"), "parameters": {} });
    for name in ["shared", "inside"] {
        assert_eq!(server.ok("generate_template", call(name)), "text of a template", "{name}");
    }
    for name in ["file", "above", "toml", "linked"] {
        let refused = server.tool("generate_template", call(name)).text;
        assert!(!refused.contains("the secret"), "{name}: {refused}");
        let log = server.stderr();
        let line = log.lines().find(|line| line.contains(&format!("folder=\"{name}\"")));
        assert!(line.is_some_and(|line| line.contains("out of the folder of templates")), "{name}: {log}");
    }
    assert!(!server.ok("list_templates", json!({ "toolchain": "any" })).contains("the secret"));
}

#[test]
fn a_missing_folder_of_templates_ends_the_start_in_one_line() {
    let folder = Folder::new();
    folder.write("file", "x");
    for path in [folder.outside("missing"), folder.path().join("file")] {
        let (dir, own) =
            (format!("--dir={}", folder.path().display()), format!("--templates={}", path.display()));
        let ended = run_to_end(&[&dir, SET, &own]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
        assert!(
            ended.stderr.lines().count() == 1 && ended.stderr.contains("--templates="),
            "{}",
            ended.stderr
        );
    }
}

#[test]
fn paths_of_results_do_not_leave_the_project() {
    let folder = Folder::new();
    let own = templates(&folder, &[("x", "", "evil")]);
    let toml = "uri = \"template://own/any/x\"\nname = \"X\"\npath = \"{{ p }}\"\n[parameters.p]\n";
    fs::write(own.join("x/template.toml"), toml).expect("a file");
    let server = serve(&folder, &own);
    let absolute = named(&folder.outside("evil"));
    for path in ["../evil", "a/../../evil", "/etc/evil", &absolute, "", "a\\b", "a//b"] {
        let arguments =
            json!({ "toolchain": "any", "templates": ["own/x"], "parameters": { "p": path }, "write": true });
        let text = server.refused("scaffold_project", arguments);
        assert!(text.contains("the path of the result"), "{path}: {text}");
    }
    let git = json!({ "toolchain": "any", "templates": ["own/x"], "parameters": { "p": ".git/hooks/pre-commit" }, "write": true });
    assert!(server.refused("scaffold_project", git).contains("Permission denied"));
    assert_eq!(folder.names(), [""; 0]);
    assert!(!folder.outside("evil").exists());
}

#[test]
fn templates_that_explode_end_at_a_bound_on_steps_output_and_memory() {
    let folder = Folder::new();
    let text = "[parameters.t]\n";
    let with = format!(
        "{{% with a = t|replace('x', 'xx') %}}{}{{{{ a }}}}{}{{% endwith %}}",
        "{% with a = a|replace('x', 'xx') %}".repeat(60),
        "{% endwith %}".repeat(60)
    );
    let list = format!("{{{{ [{}]|join(t) }}}}", vec!["'x'"; 90].join(","));
    let exploding = [
        ("loops", "{% for a in range(9999) %}{% for b in range(9999) %}{{ t }}{% endfor %}{% endfor %}"),
        ("steps", "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}"),
        (
            "compare",
            "{% for a in range(9999) %}{% for b in range(9999) %}{% if t in t %}{% endif %}{% endfor %}{% endfor %}",
        ),
        ("double", &with),
        ("range", "{{ range(1000000000)|length }}"),
        ("indent", "{{ (t ~ '') }}"),
        ("spaces", "{{ 'a\nb'|indent(1000000000) }}"),
        ("filters", "{% for a in range(9999) %}{{ (t|upper|lower|quoted)|length }}{% endfor %}"),
        ("repeat", "{{ 'x' * 1000000000 }}"),
        ("power", "{{ 9 ** 999999999 }}"),
        ("set", "{% set x = 'x' %}{% for a in range(99) %}{% set x = x ~ x %}{% endfor %}"),
        ("capture", "{% set x %}{% for a in range(9999) %}{{ t }}{% endfor %}{% endset %}"),
        ("macro", "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}"),
        ("join", &list),
    ];
    let each: Vec<(&str, &str, &str)> =
        exploding.iter().map(|(name, source)| (*name, text, *source)).collect();
    let server = serve(&folder, &templates(&folder, &each));
    let taken = memory_taken(server.pid(), 0, || {
        for (name, _) in exploding {
            let call = json!({ "resource_uri": format!("template://own/any/{name}"), "parameters": { "t": "x".repeat(16 << 10) } });
            let text = server.refused("generate_template", call);
            let expected = ["Error: Template failed: ", "Error: Template not found: "];
            assert!(expected.iter().any(|expected| text.starts_with(expected)), "{name}: {text}");
        }
    });
    assert!(taken < 200 * MB, "{taken}");
    server.ok("generate_template", super::of(MAKEFILE, "still-there"));
}

#[test]
fn results_beyond_the_limit_are_cut_and_say_how_to_get_them_whole() {
    let folder = Folder::new();
    let source = "{% for a in range(2000) %}\nline {{ a }} {{ t }}\n{% endfor %}";
    let own = templates(&folder, &[("long", "[parameters.t]\n", source)]);
    let flag = format!("--templates={}", own.display());
    for (flags, text) in [(&[][..], "t"), (&[], &*"t".repeat(100)), (&["--read-only"], "t")] {
        let flags = [&[SET, &flag, "--answer-limit=4"], flags].concat();
        let server = Stdio::start(&folder, &flags).ready();
        let call = json!({ "resource_uri": "template://own/any/long", "parameters": { "t": text } });
        let cut = server.tool("generate_template", call.clone());
        assert!(!cut.is_error && cut.text.len() <= 4 << 10, "{}", cut.text.len());
        let whole = server.direct("generate_template", call);
        assert!(whole["content"].as_str().is_some_and(|whole| whole.starts_with(&cut.text[..2_000])));
        let next = &cut.result["_meta"]["file-editor/truncated"]["next"];
        if flags.contains(&"--read-only") {
            assert!(next.is_null() && cut.text.contains("The direct method"), "{}", cut.text);
            continue;
        }
        server.ok("scaffold_project", next.clone());
        assert_eq!(whole["content"], folder.text("long.md"));
        let shown = json!({ "toolchain": "any", "templates": ["template://own/any/long"], "parameters": { "t": text } });
        let shown = server.ok("scaffold_project", shown);
        assert!(shown.len() <= 4 << 10 && shown.contains("the file gets all"), "{}", shown.len());
        fs::remove_file(folder.path().join("long.md")).expect("removed");
    }
}

#[test]
fn long_parameters_do_not_make_answers_longer_than_the_limit() {
    let folder = Folder::new();
    let source = "{{ t|indent(1) }}";
    let own = templates(&folder, &[("a", "[parameters.t]\n", source), ("b", "[parameters.t]\n", source)]);
    let server =
        Stdio::start(&folder, &[SET, &format!("--templates={}", own.display()), "--answer-limit=4"]).ready();
    let parameters = json!({ "t": "x\n".repeat(4_000) });
    let call = json!({ "resource_uri": "template://own/any/a", "parameters": parameters });
    let cut = server.tool("generate_template", call);
    assert!(
        cut.text.len() <= 4 << 10 && cut.text.ends_with("and the same parameters]"),
        "{}",
        cut.text.len()
    );
    let mut arguments =
        json!({ "toolchain": "any", "templates": ["own/a", "own/b"], "parameters": parameters });
    for path in ["a.md", "b.md"] {
        let page = server.tool("scaffold_project", arguments);
        assert!(page.text.len() <= 4 << 10 && page.text.starts_with(&format!("=== {path}")), "{}", page.text);
        arguments = page.result["_meta"]["file-editor/truncated"]["next"].clone();
    }
    assert!(arguments.is_null());
}
