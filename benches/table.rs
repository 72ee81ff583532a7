//! The table of musts: each with its target, its measured value, and whether the target is met.

use super::figures;

/// One measured must.
pub(crate) struct Row {
    pub(crate) must: String,
    /// The transport, if it matters.
    pub(crate) over: &'static str,
    pub(crate) target: f64,
    pub(crate) unit: &'static str,
    pub(crate) samples: Vec<f64>,
    pub(crate) note: String,
}

impl Row {
    fn sorted(&self) -> Vec<f64> {
        let mut samples = self.samples.clone();
        samples.sort_by(f64::total_cmp);
        samples
    }

    fn median(&self) -> f64 {
        self.sorted()[self.samples.len() / 2]
    }

    fn worst(&self) -> f64 {
        self.sorted()[self.samples.len() - 1]
    }

    pub(crate) fn is_met(&self) -> bool {
        self.median() <= self.target
    }

    fn cells(&self) -> [String; 7] {
        let unit = self.unit;
        [
            self.must.clone(),
            self.over.into(),
            format!("<= {} {unit}", self.target),
            format!("{} {unit}", short(self.median())),
            format!("{} {unit}", short(self.worst())),
            self.samples.len().to_string(),
            format!("{}{}", if self.is_met() { "ok" } else { "MISSED" }, self.note),
        ]
    }
}

/// Formats three significant digits.
fn short(figure: f64) -> String {
    match figure.abs() {
        100.0.. => format!("{figure:.0}"),
        10.0.. => format!("{figure:.1}"),
        1.0.. => format!("{figure:.2}"),
        _ => format!("{figure:.3}"),
    }
}

/// Formats the machine, then the rows in columns.
pub(crate) fn print(rows: &[Row]) -> String {
    let titles = ["must", "over", "target", "median", "worst", "of n", ""].map(String::from);
    let cells: Vec<_> = std::iter::once(titles).chain(rows.iter().map(Row::cells)).collect();
    let widths: [usize; 7] =
        std::array::from_fn(|column| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
    let line = |row: &[String; 7]| {
        let [must, over, target, median, worst, n, met] = row;
        let [must_w, over_w, target_w, median_w, worst_w, n_w, _] = widths;
        format!(
            "{must:must_w$}  {over:over_w$}  {target:>target_w$}  {median:>median_w$}  {worst:>worst_w$}  {n:>n_w$}  {met}\n"
        )
    };
    let table: String = cells.iter().map(line).collect();
    format!(
        "\nThe musts of contract 9, on {}.\nClient and servers share these cores (a load well above their number is somebody \
         else's); a time ends with the last byte of the last answer.\n\n{table}",
        figures::machine()
    )
}
