//! Stub.
#![allow(missing_docs)]
#[derive(Debug)]
pub struct Glob(String);
impl Glob {
    pub fn parse(p: &str) -> Result<Glob, String> {
        Ok(Glob(p.into()))
    }
    pub fn matches(&self, p: &str) -> bool {
        p.contains(self.0.trim_start_matches("**/").trim_start_matches('*'))
    }
}
#[derive(Debug)]
pub struct TreeExclude(String);
impl TreeExclude {
    pub fn parse(p: &str) -> Result<TreeExclude, String> {
        Ok(TreeExclude(p.into()))
    }
    pub fn matches(&self, p: &str) -> bool {
        p.contains(&self.0)
    }
}
