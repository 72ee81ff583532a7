//! Names of definitions: `Store::get`, `Store.get`, or the last part where that is unique (contract 19).

use analyzer_wire::{Definition, Kind, Outline};

/// Where a definition is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its number in the outline.
    pub number: usize,
    /// Its first line with the comments and attributes above it, 1-based.
    pub first: u32,
    /// The line of its signature.
    pub line: u32,
    /// Its last line.
    pub last: u32,
    /// Its path in the outline.
    pub path: String,
    /// Its signature.
    pub signature: String,
}

/// The path of a definition in its outline.
pub fn path_of(outline: &Outline, number: usize) -> String {
    let names = outline.around(number).into_iter().chain([number]);
    let names: Vec<&str> =
        names.filter_map(|at| outline.definitions.get(at)).map(|one| one.name.as_str()).collect();
    // Names of some languages have their own separator.
    let has_dots = names.iter().any(|name| name.contains('.'));
    names.join(if has_dots { "." } else { "::" })
}

/// The same with one separator.
fn plain(path: &str) -> String {
    path.trim().replace("::", ".").replace("->", ".").replace('#', ".")
}

/// The definitions that a symbol names: those with that whole path, else those whose path ends with it. Of several with one path, those
/// that are no `impl` go before these, and those with a body before mere signatures.
pub fn places(outline: &Outline, symbol: &str) -> Vec<Place> {
    let symbol = plain(symbol);
    let symbol = symbol.trim_matches('.');
    if symbol.is_empty() {
        return Vec::new();
    }
    let ends = |path: &str| path.strip_suffix(symbol).is_some_and(|before| before.ends_with('.'));
    let paths: Vec<String> =
        (0..outline.definitions.len()).map(|number| plain(&path_of(outline, number))).collect();
    let all = |is: &dyn Fn(&str) -> bool| -> Vec<usize> {
        (0..paths.len()).filter(|number| is(paths[*number].trim_matches('.'))).collect()
    };
    let mut found = all(&|path| path == symbol);
    if found.is_empty() {
        found = all(&|path| ends(path));
    }
    for is_less in [|one: &Definition| one.kind == Kind::Impl, |one: &Definition| one.is_bare] {
        let less = |number: &usize| is_less(&outline.definitions[*number]);
        let more: Vec<usize> = found.iter().copied().filter(|number| !less(number)).collect();
        found.retain(|number| !less(number) || more.iter().all(|other| paths[*other] != paths[*number]));
    }
    let place = |number: usize| {
        let one = &outline.definitions[number];
        Place {
            number,
            first: one.first,
            line: one.line,
            last: one.last,
            path: path_of(outline, number),
            signature: one.signature.clone(),
        }
    };
    found.into_iter().map(place).collect()
}

/// Another definition that has a line of this one, and is neither around nor inside it: who replaces the lines replaces both.
pub fn neighbour<'o>(outline: &'o Outline, place: &Place) -> Option<&'o Definition> {
    let around = outline.around(place.number);
    let is_other = |number: usize| {
        number != place.number && !around.contains(&number) && !outline.around(number).contains(&place.number)
    };
    let shares = |one: &Definition| one.line <= place.last && place.first <= one.last;
    let shared = outline.definitions.iter().enumerate().filter(|(_, one)| shares(one));
    shared.into_iter().find(|(number, _)| is_other(*number)).map(|(_, one)| one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(definitions: &[(Kind, &str, Option<u32>)]) -> Outline {
        let definition = |(line, (kind, name, parent)): (u32, &(Kind, &str, Option<u32>))| Definition {
            kind: *kind,
            name: (*name).into(),
            parent: *parent,
            first: line,
            line,
            last: line,
            signature: (*name).into(),
            is_public: true,
            is_bare: false,
        };
        let definitions = (1..).zip(definitions).map(definition).collect();
        Outline { definitions, ..Outline::default() }
    }

    #[test]
    fn a_symbol_is_a_whole_path_or_its_end_by_either_separator() {
        let outline = outline(&[
            (Kind::Struct, "Store", None),
            (Kind::Impl, "Store", None),
            (Kind::Method, "get", Some(1)),
            (Kind::Class, "Other", None),
            (Kind::Method, "get", Some(3)),
            (Kind::Function, "main", None),
            (Kind::Method, "Go.Run", None),
        ]);
        let lines = |symbol: &str| places(&outline, symbol).iter().map(|one| one.line).collect::<Vec<_>>();
        assert_eq!(lines("Store::get"), [3]);
        assert_eq!(lines("Other.get"), [5]);
        assert_eq!(lines("get"), [3, 5], "ambiguous");
        assert_eq!(lines("main"), [6]);
        assert_eq!(lines("Store"), [1], "the type, not the block of its functions");
        assert_eq!(lines("Go::Run"), [7]);
        assert_eq!(lines("Run"), [7]);
        assert_eq!(lines("et"), [] as [u32; 0]);
        assert_eq!(lines(""), [] as [u32; 0]);
    }

    #[test]
    fn a_list_that_names_itself_as_its_parent_has_an_end() {
        let outline = outline(&[(Kind::Key, "a", Some(0)), (Kind::Key, "b", Some(7))]);
        assert_eq!(path_of(&outline, 0), "a");
        assert_eq!(places(&outline, "b").len(), 1);
    }
}
