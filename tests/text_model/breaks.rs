//! The naive reading of contract 5: the breaks of new text in a text with several kinds of breaks, for tests and fuzzing.

/// `new` as it is written between `before` and `after`, in place of `gone`.
pub(crate) fn placed(before: &str, gone: &str, after: &str, new: &str) -> String {
    if !new.contains(['\n', '\r']) {
        return new.to_owned();
    }
    let whole = [before, gone, after].concat();
    let (whole, old, new) = (lines(&whole), lines(gone), lines(new));
    // The number of the line in which the replaced text starts.
    let first = lines(before).iter().filter(|(_, brk)| !brk.is_empty()).count();
    let place = |nth: usize| match whole.get(first + nth) {
        Some((_, brk)) if !brk.is_empty() => *brk,
        _ => (first + nth).checked_sub(1).map_or("", |before| whole[before].1),
    };
    let starts_line = before.ends_with(['\n', '\r']);
    let mut breaks = vec![if starts_line { whole[first - 1].1 } else { place(0) }];
    let end = (old.len(), new.len());
    let (mut old_at, mut new_at) = (0, 0);
    for (old_to, new_to) in equal_lines(&old, &new).into_iter().chain([end]) {
        let changed = (old_to - old_at).min(new_to - new_at);
        breaks.extend((old_at..old_at + changed).map(place));
        let added = new_to - new_at - changed;
        breaks.extend(vec![breaks[breaks.len() - 1]; added]);
        breaks.extend(Some(place(old_to)).filter(|_| (old_to, new_to) != end));
        (old_at, new_at) = (old_to + 1, new_to + 1);
    }
    let mut out = before.to_owned();
    for ((text, given), brk) in new.iter().zip(&breaks[1..]) {
        out += text;
        if !given.is_empty() {
            out += if *brk == "\n" && out.ends_with('\r') { "\r\n" } else { brk };
        }
    }
    let is_cut = out.ends_with('\r') && after.starts_with('\n');
    out.split_off(before.len()) + if is_cut { "\n" } else { "" }
}

/// The lines of a text, each with its break, which only the last one may lack.
fn lines(text: &str) -> Vec<(&str, &str)> {
    let (mut lines, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.find(['\n', '\r']) {
        let next = at + if rest[at..].starts_with("\r\n") { 2 } else { 1 };
        lines.push((&rest[..at], &rest[at..next]));
        rest = &rest[next..];
    }
    lines.extend(Some((rest, "")).filter(|_| !rest.is_empty()));
    lines
}

/// The numbers of the lines that both have, breaks aside: of the shortest diffs, the one that Myers' search finds first.
fn equal_lines(old: &[(&str, &str)], new: &[(&str, &str)]) -> Vec<(usize, usize)> {
    #[derive(Clone)]
    struct Path {
        old: usize,
        new: usize,
        equal: Vec<(usize, usize)>,
    }
    let followed = |mut path: Path| {
        while path.old < old.len() && path.new < new.len() && old[path.old].0 == new[path.new].0 {
            path.equal.push((path.old, path.new));
            (path.old, path.new) = (path.old + 1, path.new + 1);
        }
        path
    };
    // All paths of as many steps, those with more deleted lines behind those with fewer.
    let mut paths = vec![Some(followed(Path { old: 0, new: 0, equal: Vec::new() }))];
    loop {
        let is_end = |path: &&Path| path.old == old.len() && path.new == new.len();
        if let Some(path) = paths.iter().flatten().find(is_end) {
            return path.equal.clone();
        }
        let steps = paths.len();
        let path = |nth: Option<usize>| nth.and_then(|nth| paths.get(nth)?.clone());
        let next = (0..=steps).map(|nth| {
            let added = path(Some(nth)).filter(|path| path.new < new.len());
            let deleted = path(nth.checked_sub(1)).filter(|path| path.old < old.len());
            let adds = match (&added, &deleted) {
                (Some(added), Some(deleted)) => deleted.old < added.old,
                (added, _) => added.is_some(),
            };
            match adds {
                true => added.map(|path| followed(Path { new: path.new + 1, ..path })),
                false => deleted.map(|path| followed(Path { old: path.old + 1, ..path })),
            }
        });
        paths = next.collect();
    }
}
