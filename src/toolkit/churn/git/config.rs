//! The few settings of a repository that say how it must be read. Includes are not followed, and no other setting counts.

/// See the module.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// `core.bare`.
    pub is_bare: bool,
    /// `extensions.objectFormat`, in lower case.
    pub object_format: Option<String>,
    /// `extensions.refStorage`, in lower case.
    pub ref_storage: Option<String>,
    /// There is `extensions.partialClone`.
    pub is_partial: bool,
    /// `core.repositoryFormatVersion`.
    version: Option<String>,
    /// An extension that [`EXTENSIONS`] does not name.
    unknown_extension: Option<String>,
}

/// The extensions, in lower case, with which objects, refs and `HEAD` are found as in their absence, or which are looked at.
const EXTENSIONS: [&str; 9] = [
    "compatobjectformat",
    "noop",
    "noop-v1",
    "objectformat",
    "partialclone",
    "preciousobjects",
    "refstorage",
    "relativeworktrees",
    "worktreeconfig",
];

impl Config {
    /// Reads the file `config`. What it cannot read, it leaves out.
    pub fn read(bytes: &[u8]) -> Config {
        let text = String::from_utf8_lossy(bytes);
        let (mut config, mut section) = (Config::default(), String::new());
        for line in text.lines().map(str::trim) {
            if let Some(head) = line.strip_prefix('[') {
                section = head.split(']').next().unwrap_or_default().trim().to_ascii_lowercase();
                // A setting may follow on the same line.
                let behind = line.split_once(']').map_or("", |(_, behind)| behind);
                config.set(&section, behind.trim());
            } else {
                config.set(&section, line);
            }
        }
        config
    }

    fn set(&mut self, section: &str, line: &str) {
        let line = line.split(['#', ';']).next().unwrap_or_default();
        // A name alone is true.
        let (name, value) = line.split_once('=').unwrap_or((line, "true"));
        let value = value.trim().trim_matches('"').to_ascii_lowercase();
        match (section, name.trim().to_ascii_lowercase().as_str()) {
            ("core", "bare") => self.is_bare = matches!(value.as_str(), "true" | "yes" | "on" | "1"),
            ("extensions", "objectformat") => self.object_format = Some(value),
            ("extensions", "refstorage") => self.ref_storage = Some(value),
            ("extensions", "partialclone") => self.is_partial = true,
            ("core", "repositoryformatversion") => self.version = Some(value),
            ("extensions", name) if !name.is_empty() && !EXTENSIONS.contains(&name) => {
                self.unknown_extension = Some(name.to_owned());
            }
            _ => {}
        }
    }

    /// What of the format of the repository is not known; git does not read such a one either. Extensions count from version 1 on.
    pub fn unknown_format(&self) -> Option<String> {
        let version = self.version.as_deref().unwrap_or("0");
        match version.parse::<i64>() {
            Ok(..=0) => None,
            Ok(1) => self.unknown_extension.as_ref().map(|name| format!("the extension {name:?}")),
            _ => Some(format!("the format version {version:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_that_count_are_found_and_all_others_left_out() {
        let text = b"[core]\n\tbare = false\n\teditor = rm -rf\n[Extensions] ; what\n objectFormat = \"SHA256\" # x\n\
            refstorage=reftable\n[extensions \"sub\"]\npartialclone = a\n[x\n\xff = 1\n";
        let config = Config::read(text);
        assert_eq!(config.object_format.as_deref(), Some("sha256"));
        assert_eq!(config.ref_storage.as_deref(), Some("reftable"));
        assert!(!config.is_bare && !config.is_partial);
        for text in ["[core]\nbare", "[CORE] bare = yes", "[core]\n  BARE=1"] {
            assert!(Config::read(text.as_bytes()).is_bare, "{text}");
        }
        assert_eq!(Config::read(b""), Config::default());
    }

    #[test]
    fn a_format_that_git_does_not_know_is_not_known() {
        let unknown = |text: &str| Config::read(text.as_bytes()).unknown_format();
        for known in ["0", "1", "-1", "1\n[extensions]\nworktreeConfig = true\n", "0\n[extensions]\nnew = 1"]
        {
            assert_eq!(unknown(&format!("[core]\nrepositoryformatversion = {known}")), None, "{known}");
        }
        assert_eq!(
            unknown("[core]\n\trepositoryFormatVersion = 99\n").as_deref(),
            Some("the format version \"99\"")
        );
        for version in ["2", "x", "99999999999999999999"] {
            assert!(unknown(&format!("[core]\nrepositoryformatversion = {version}")).is_some(), "{version}");
        }
        let extension = "[core]\nrepositoryformatversion = 1\n[extensions]\n\tNewRefs = true\n";
        assert_eq!(unknown(extension).as_deref(), Some("the extension \"newrefs\""));
    }
}
