//! What holds in a part of a tree, and what holds again behind it.

/// What holds at a node.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct State {
    /// The number of the function for which nodes count.
    pub(super) holder: Option<usize>,
    /// The last operator of the logical operation: the kind of its token.
    pub(super) operator: Option<u16>,
    /// The function only defines and returns another one, as decorators of Python do.
    pub(super) is_decorator: bool,
}

/// What a scope ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// Nothing but what holds in it.
    Nothing,
    /// A function.
    Function,
    /// A class.
    Container,
}

/// The scopes around a node.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    /// What holds now.
    pub(super) now: State,
    /// The depth of the node of a scope, what holds behind it, and what it ends.
    around: Vec<(usize, State, Ends)>,
}

impl Scopes {
    /// Forgets all scopes.
    pub(super) fn clear(&mut self) {
        self.now = State::default();
        self.around.clear();
    }

    /// Begins a scope at a node of this depth, in which `state` holds.
    pub(super) fn begin(&mut self, depth: usize, state: State, ends: Ends) {
        let behind = std::mem::replace(&mut self.now, state);
        self.around.push((depth, behind, ends));
    }

    /// Ends the scope of the node of this depth, if it has one, and says what it ends.
    pub(super) fn end(&mut self, depth: usize) -> Option<Ends> {
        let (_, behind, ends) = self.around.pop_if(|(of, ..)| *of == depth)?;
        self.now = behind;
        Some(ends)
    }
}
