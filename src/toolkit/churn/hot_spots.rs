//! Hot spots: files that change often and are hard to change. Knows no measure of complexity.

use super::report::{Churn, FileChurn};
use text::order;

/// A file, and how much it would gain from work on it.
#[derive(Debug, Clone, Copy)]
pub struct HotSpot<'c> {
    /// The file.
    pub file: &'c FileChurn,
    /// Its complexity.
    pub complexity: f64,
    /// Changed lines times complexity, as a share of the highest such product: more than 0, at most 100.
    pub score: f64,
}

/// The files that exist, have changed lines and a complexity above 0, those with the highest score first. `complexity` is
/// asked with the path of each file below the project.
pub fn hot_spots(churn: &Churn, complexity: impl Fn(&[u8]) -> Option<f64>) -> Vec<HotSpot<'_>> {
    let product = |file: &FileChurn| {
        let complexity = complexity(&file.path).filter(|complexity| file.exists && complexity.is_finite())?;
        let score = complexity * file.lines() as f64;
        (score > 0.0).then_some((complexity, score))
    };
    let spot = |file| product(file).map(|(complexity, score)| HotSpot { file, complexity, score });
    let mut spots: Vec<HotSpot> = churn.files.iter().filter_map(spot).collect();
    // Stable: files with equal scores stay in the order of their lines.
    order::sort_by(&mut spots, |one, other| other.score.total_cmp(&one.score));
    let highest = spots.first().map_or(1.0, |spot| spot.score);
    for spot in &mut spots {
        spot.score *= 100.0 / highest;
    }
    spots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_product_of_lines_and_complexity_is_100() {
        let file = |path: &str, added, deleted, exists| FileChurn {
            path: path.as_bytes().into(),
            exists,
            commits: 1,
            authors: Vec::new(),
            added,
            deleted,
            binary: 0,
            too_large: 0,
            last: 0,
        };
        let files = vec![
            file("removed", 900, 0, false),
            file("no code", 500, 0, true),
            file("long", 60, 40, true),
            file("hard", 40, 10, true),
            file("renamed", 0, 0, true),
            file("simple", 9, 0, true),
        ];
        let churn = Churn {
            head: String::new(),
            since: 0,
            commits: 0,
            merges: 0,
            authors: Vec::new(),
            added: 0,
            deleted: 0,
            files,
            oversized: Vec::new(),
            is_cut: false,
            late: None,
        };
        let complexity = |path: &[u8]| match path {
            b"no code" => None,
            b"hard" => Some(40.0),
            b"simple" => Some(0.0),
            _ => Some(10.0),
        };
        let spots = hot_spots(&churn, complexity);
        let found: Vec<(&[u8], f64)> = spots.iter().map(|spot| (&*spot.file.path, spot.score)).collect();
        assert_eq!(found, [(&b"hard"[..], 100.0), (&b"long"[..], 50.0)]);
    }
}
