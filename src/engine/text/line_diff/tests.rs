use super::*;

#[test]
fn zz_against_jsdiff() {
    let bytes = std::fs::read_to_string("/tmp/ldw/pairs.txt").unwrap();
    let mut n = 0;
    for record in bytes.split('\u{1}').filter(|r| !r.is_empty()) {
        let parts: Vec<&str> = record.split('\u{2}').collect();
        let diff = line_diff("/a b/c.txt", parts[0], parts[1], MAX_LINE_EDITS);
        assert!(!diff.coarse);
        assert_eq!(diff.text, parts[2], "{:?} {:?}", parts[0], parts[1]);
        n += 1;
    }
    eprintln!("{n} pairs");
}
