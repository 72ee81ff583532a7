//! The values of `--allow-host` and `--allow-origin`.

/// A name, without scheme and path; a port is one that clients must name.
pub(super) fn name(value: &str) -> Result<String, String> {
    let (host, port) = match value.rsplit_once(':') {
        Some(parts) if !value.ends_with(']') => parts,
        _ => (value, "0"),
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[]:".contains(&byte);
    if host.is_empty() || !host.bytes().all(is_name) || port.parse::<u16>().is_err() {
        return Err("expected a name with or without a port, such as files.example.com".into());
    }
    Ok(value.to_ascii_lowercase())
}

/// A scheme, a host, and perhaps a port.
pub(super) fn origin(value: &str) -> Result<String, String> {
    match value.split_once("://") {
        Some(("http" | "https", host)) if name(host).is_ok() => Ok(value.to_ascii_lowercase()),
        _ => Err("expected a scheme and a host, without a path, such as https://example.com".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_origins_have_no_path() {
        for host in ["files.example.com", "Files.example.com:8443", "10.0.0.1", "[2001:db8::1]", "[::1]:80"] {
            assert_eq!(name(host), Ok(host.to_ascii_lowercase()));
            assert!(origin(&format!("https://{host}")).is_ok(), "{host}");
        }
        for host in ["", "https://a", "a/b", "a b", "a:port", ":80", "*.example.com"] {
            assert!(name(host).is_err(), "{host}");
            assert!(origin(&format!("https://{host}")).is_err(), "{host}");
        }
        for wrong in ["a", "null", "ftp://a", "https://a/"] {
            assert!(origin(wrong).is_err(), "{wrong}");
        }
    }
}
