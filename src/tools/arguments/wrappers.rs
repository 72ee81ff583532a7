//! Types of arguments around others: optional ones, lists, and those whose error is told later.

use std::ops::Deref;

use super::argument::{Argument, EMPTY};
use super::value::Value;
use folder::Result;

/// An array of at least `LEAST` and at most `MOST` items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List<T, const LEAST: usize, const MOST: usize>(pub Vec<T>);

/// An argument whose error the tool reports after others of its own.
#[derive(Debug)]
pub struct Later<T>(pub Result<T>);

impl<T: Argument> Argument for Option<T> {
    const REQUIRED: bool = false;

    fn expected() -> String {
        T::expected()
    }

    fn schema(out: &mut String) {
        T::schema(out);
    }

    fn is_empty(value: &Value) -> bool {
        T::is_empty(value)
    }

    fn read(value: &Value) -> Result<Option<T>> {
        T::read(value).map(Some)
    }

    fn absent() -> Option<Option<T>> {
        Some(None)
    }
}

impl<T: Argument> Argument for Later<T> {
    const REQUIRED: bool = T::REQUIRED;

    fn expected() -> String {
        T::expected()
    }

    fn schema(out: &mut String) {
        T::schema(out);
    }

    fn is_empty(value: &Value) -> bool {
        T::is_empty(value)
    }

    fn read(value: &Value) -> Result<Later<T>> {
        Ok(Later(T::read(value)))
    }

    fn absent() -> Option<Later<T>> {
        T::absent().map(|absent| Later(Ok(absent)))
    }
}

impl<T: Argument, const LEAST: usize, const MOST: usize> Argument for List<T, LEAST, MOST> {
    fn expected() -> String {
        "an array".into()
    }

    fn schema(out: &mut String) {
        out.push_str(r#""type":"array","#);
        if 0 < LEAST {
            out.push_str(&format!(r#""minItems":{LEAST},"#));
        }
        out.push_str(&format!(r#""maxItems":{MOST},"items":{{"#));
        T::schema(out);
        out.push('}');
    }

    fn is_empty(value: &Value) -> bool {
        is_empty_list(value)
    }

    fn read(value: &Value) -> Result<Self> {
        let mut list = Vec::new();
        value.items(&Self::expected(), &mut |number, item| {
            if number == MOST {
                let problem = format!("it has more than {MOST} items; expected at most {MOST} in one call");
                return Err(value.refuse(problem));
            }
            list.push(T::read(&item)?);
            Ok(())
        })?;
        if list.len() < LEAST {
            return Err(value.refuse(format!("it has too few items; expected at least {LEAST}")));
        }
        Ok(List(list))
    }
}

/// Whether a value is an array without items, a string that holds one, or the empty string.
pub fn is_empty_list(value: &Value) -> bool {
    let has_items = || value.items("", &mut |_, item| Err(item.refuse("an item")));
    value.json() == EMPTY || has_items().is_ok()
}

impl<T, const LEAST: usize, const MOST: usize> Deref for List<T, LEAST, MOST> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}
