//! The walk through the tree of a text: what each node adds to the function that it stands in.
//!
//! One pass without recursion, because a tree may be as deep as its text is long.

use std::ops::Range;

use analyzer_wire::{FileReport, Language, SyntaxError};
use tree_sitter::{Node, Tree, TreeCursor};

use super::functions::{Begun, Frame, Functions};
use super::grammar;
use super::kinds::{Kinds, Role};
use super::names;
use super::scopes::{Ends, Scopes, State};

/// What the parent of a node leaves for its children.
#[derive(Debug, Clone, Copy, Default)]
struct Level {
    role: Role,
    /// A logical operation, whose operators count.
    is_logical: bool,
    /// A logical operation in it belongs to the same sequence of operators.
    in_logical: bool,
    /// What the role keeps between its children.
    mark: bool,
    /// The nesting in which the node stands.
    nesting: u32,
    /// Of a binder: the first and last byte of its name, which is empty until it is known.
    name: (u32, u32),
}

/// What a walk keeps for the next one is only memory.
#[derive(Debug, Default)]
pub(super) struct Walker {
    levels: Vec<Level>,
    scopes: Scopes,
    functions: Functions,
    /// Names of the classes around the node.
    containers: Vec<String>,
    error: Option<SyntaxError>,
}

/// What stays the same in a walk.
#[derive(Clone, Copy)]
struct Source<'t> {
    language: Language,
    kinds: &'static Kinds,
    text: &'t [u8],
    has_error: bool,
}

impl Walker {
    /// Walks through the tree of a text.
    pub(super) fn walk(&mut self, language: Language, text: &[u8], tree: &Tree) -> FileReport {
        self.levels.clear();
        self.scopes.clear();
        self.functions.clear();
        self.containers.clear();
        self.error = None;
        let has_error = tree.root_node().has_error();
        let source = Source { language, kinds: grammar::kinds(language), text, has_error };
        let mut cursor = tree.walk();
        'nodes: loop {
            if let Some(level) = self.enter(source, &cursor) {
                if cursor.goto_first_child() {
                    self.levels.push(level);
                    continue;
                }
                self.leaf(source, cursor.node());
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    break 'nodes;
                }
                self.leave();
            }
        }
        let lines = memchr::memchr_iter(b'\n', text).count()
            + usize::from(!text.is_empty() && !text.ends_with(b"\n"));
        FileReport { lines: lines as u32, functions: self.functions.take_reports(), error: self.error }
    }

    fn leave(&mut self) {
        self.levels.pop();
        match self.scopes.end(self.levels.len()) {
            Some(Ends::Function) => self.functions.end(),
            Some(Ends::Container) => drop(self.containers.pop()),
            Some(Ends::Nothing) | None => {}
        }
    }

    /// The function for which nodes count.
    fn holder(&mut self) -> Option<&mut Frame> {
        self.functions.frame(self.scopes.now.holder?)
    }

    /// Counts a node. `None` if what is in it does not matter.
    fn enter(&mut self, source: Source, cursor: &TreeCursor) -> Option<Level> {
        let node = cursor.node();
        let kind = node.kind_id();
        let role = source.kinds.role(kind);
        let parent = self.levels.last().copied().unwrap_or_default();
        if source.has_error && self.error.is_none() && is_error(&node) {
            self.error = Some(error_place(source.text, &node));
        }
        let deeper = u32::from(is_deeper(&parent, role, source.kinds, cursor));
        let nesting = parent.nesting + deeper;
        let mut level = Level { role, nesting, ..Level::default() };
        match role {
            Role::Plain | Role::Closer | Role::Modifier | Role::Try | Role::Call | Role::Comprehension => {}
            Role::Skipped => return None,
            Role::Operand | Role::Label => {
                self.operand(source, &node, role, &parent);
                self.name_binder(source, &parent, &node);
                return None;
            }
            Role::Parentheses => {
                level.in_logical = parent.in_logical;
                level.name = if gives_name(&parent) { parent.name } else { (0, 0) };
            }
            Role::OwnFunction | Role::NamedFunction | Role::FunctionValue | Role::Closure => {
                return Some(self.enter_function(source, &node, &parent, level));
            }
            Role::Container => self.enter_container(source, &node, &parent),
            Role::Binary | Role::Logical => self.enter_operation(source, &node, &parent, &mut level),
            Role::LogicalOperator if parent.is_logical => self.logical_operator(kind),
            Role::IfKeyword | Role::ElseKeyword => self.keyword(role),
            _ => self.count(source, &node, &parent, &mut level),
        }
        self.name_binder(source, &parent, &node);
        if parent.role == Role::Call && cursor.field_id().map(u16::from) == Some(source.kinds.callee) {
            self.callee(source, &node);
        }
        Some(level)
    }

    /// Counts the structures of the language.
    fn count(&mut self, source: Source, node: &Node, parent: &Level, level: &mut Level) {
        let nesting = u64::from(level.nesting);
        let is_second_arm = level.role == Role::Arm && parent.mark;
        if level.role == Role::Arm
            && let Some(parent) = self.levels.last_mut()
        {
            parent.mark = true;
        }
        let Some(frame) = self.holder() else { return };
        match level.role {
            Role::If if parent.role == Role::Else && parent.mark => frame.branch(),
            Role::If | Role::Loop | Role::Catch | Role::Ternary | Role::PythonTernary => {
                frame.branch();
                frame.nested(nesting);
            }
            Role::EndlessLoop | Role::Match => frame.nested(nesting),
            Role::Elif => {
                frame.branch();
                frame.flat();
            }
            Role::Else if parent.role == Role::If => {
                frame.flat();
                level.mark = true;
            }
            Role::Arm if is_second_arm => frame.branch(),
            Role::Case | Role::Question => frame.branch(),
            Role::CaseClause if !names::is_default(source.text, source.kinds, node) => frame.branch(),
            Role::ComprehensionFor => {
                frame.branch();
                frame.nested(u64::from(parent.nesting));
            }
            Role::IfClause => {
                frame.branch();
                if parent.role == Role::Comprehension {
                    frame.flat();
                }
            }
            Role::LogicalAssignment => {
                frame.branch();
                frame.flat();
            }
            _ => {}
        }
    }

    /// `if` and `else` as words, where they alone tell what is meant.
    fn keyword(&mut self, role: Role) {
        let Some(parent) = self.levels.last_mut() else { return };
        let nesting = u64::from(parent.nesting);
        let of = parent.role;
        match (of, role) {
            (Role::PythonTernary, Role::IfKeyword) | (Role::Let, Role::ElseKeyword) => parent.mark = true,
            (Role::PythonTernary, Role::ElseKeyword) => parent.mark = false,
            _ => {}
        }
        let Some(frame) = self.holder() else { return };
        match (of, role) {
            (Role::ArmPattern, Role::IfKeyword) => frame.branch(),
            (Role::Let, Role::ElseKeyword) => {
                frame.branch();
                frame.nested(nesting);
            }
            _ => {}
        }
    }

    fn enter_operation(&mut self, source: Source, node: &Node, parent: &Level, level: &mut Level) {
        let operator = || node.child_by_field_id(source.kinds.operator);
        let is_logical = level.role == Role::Logical
            || operator().is_some_and(|node| source.kinds.role(node.kind_id()) == Role::LogicalOperator);
        if is_logical && !parent.in_logical {
            let state = State { operator: None, ..self.scopes.now };
            self.scopes.begin(self.levels.len(), state, Ends::Nothing);
        }
        level.is_logical = is_logical;
        level.in_logical = is_logical;
    }

    /// A further operator of a sequence counts for the cognitive complexity only if it differs from the one before.
    fn logical_operator(&mut self, kind: u16) {
        let before = self.scopes.now.operator.replace(kind);
        let Some(frame) = self.holder() else { return };
        frame.branch();
        if before != Some(kind) {
            frame.flat();
        }
    }

    fn enter_container(&mut self, source: Source, node: &Node, parent: &Level) {
        if node.child_count() == 0 {
            return;
        }
        let field = |field| node.child_by_field_id(field).map(|name| name.byte_range());
        let name = field(source.kinds.name).or_else(|| field(source.kinds.implemented));
        let name = name.or_else(|| bound_name(parent)).unwrap_or_default();
        self.containers.push(names::type_name(source.text, name));
        let state = State { holder: None, ..self.scopes.now };
        self.scopes.begin(self.levels.len(), state, Ends::Container);
    }

    fn enter_function(&mut self, source: Source, node: &Node, parent: &Level, level: Level) -> Level {
        let has_body = node.child_by_field_id(source.kinds.body).is_some();
        let (role, now) = (level.role, self.scopes.now);
        let plain = Level { role: Role::Plain, ..level };
        if !has_body || role == Role::Closure && now.holder.is_none() {
            return plain;
        }
        let bound = bound_name(parent).filter(|_| role == Role::FunctionValue);
        let own = || node.child_by_field_id(source.kinds.name).map(|name| name.byte_range());
        let name = bound.or_else(own);
        let is_python = source.language == Language::Python;
        let is_in_wrapper = name.is_some() && self.holder().is_some_and(|frame| frame.is_nameless());
        let is_reported = match role {
            Role::OwnFunction => true,
            Role::Closure => false,
            _ => now.holder.is_none() || is_in_wrapper,
        };
        let is_decorator =
            is_python && role == Role::NamedFunction && names::is_decorator(source.kinds, node);
        if !is_reported {
            let is_exempt = role == Role::NamedFunction && now.is_decorator;
            self.scopes.begin(self.levels.len(), State { is_decorator, ..now }, Ends::Nothing);
            return if is_exempt { plain } else { Level { role: Role::Closure, ..level } };
        }
        let held_at = now.holder.filter(|_| role != Role::OwnFunction).map(|_| u64::from(level.nesting) + 1);
        // A function in a method is no method.
        let classes = if now.holder.is_some() { &[][..] } else { &self.containers };
        let begun = Begun {
            name: names::qualified(source.text, classes, name.clone(), grammar::separator(source.language)),
            is_nameless: name.is_none(),
            own_name: name.unwrap_or_default(),
            start: node.start_byte(),
            first_line: node.start_position().row as u32 + 1,
            last_line: node.end_position().row as u32 + 1,
            held_at,
        };
        let holder = Some(self.functions.begin(begun));
        let state = State { holder, operator: None, is_decorator };
        self.scopes.begin(self.levels.len(), state, Ends::Function);
        Level { nesting: 0, ..plain }
    }

    /// Counts a call of the function itself.
    fn callee(&mut self, source: Source, node: &Node) {
        let text = &source.text[node.byte_range()];
        let Some(frame) = self.holder() else { return };
        let own = &source.text[frame.own_name()];
        if !own.is_empty() && names::is_call_of(text, own, frame.name().as_bytes()) {
            frame.recursion();
        }
    }

    /// Notes the name in `const f = …` and the like: its first child that has a name itself.
    fn name_binder(&mut self, source: Source, parent: &Level, node: &Node) {
        if parent.role == Role::Binder
            && parent.name == (0, 0)
            && let Some(binder) = self.levels.last_mut()
            && node.is_named()
            && source.kinds.role(node.kind_id()) != Role::Modifier
        {
            binder.name = (node.start_byte() as u32, node.end_byte() as u32);
        }
    }

    fn operand(&mut self, source: Source, node: &Node, role: Role, parent: &Level) {
        if self.scopes.now.holder.is_none() {
            return;
        }
        self.functions.tokens.operand(&source.text[node.byte_range()]);
        if role == Role::Label
            && parent.role == Role::Jump
            && let Some(frame) = self.holder()
        {
            frame.flat();
        }
    }

    /// Counts a token.
    fn leaf(&mut self, source: Source, node: Node) {
        self.scopes.end(self.levels.len());
        let kind = node.kind_id();
        if self.scopes.now.holder.is_none() || source.kinds.role(kind) == Role::Closer {
            return;
        }
        let bytes = node.byte_range();
        match bytes.is_empty() {
            // It is missing.
            true => {}
            false if source.kinds.is_named(kind) => self.functions.tokens.operand(&source.text[bytes]),
            false => self.functions.tokens.operator(kind),
        }
    }
}

fn is_error(node: &Node) -> bool {
    node.is_error() || node.is_missing()
}

/// Where a node begins. Its column is counted by the first bytes of characters.
pub(super) fn error_place(text: &[u8], node: &Node) -> SyntaxError {
    let (at, place) = (node.start_byte(), node.start_position());
    let line = text.get(at.saturating_sub(place.column)..at).unwrap_or_default();
    let characters = line.iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
    SyntaxError { line: place.row as u32 + 1, column: characters as u32 + 1 }
}

fn gives_name(parent: &Level) -> bool {
    matches!(parent.role, Role::Binder | Role::Parentheses) && parent.name != (0, 0)
}

/// The name that a value has by what it is assigned to.
fn bound_name(parent: &Level) -> Option<Range<usize>> {
    gives_name(parent).then_some(parent.name.0 as usize..parent.name.1 as usize)
}

/// Whether a node stands one level deeper than its parent.
fn is_deeper(parent: &Level, role: Role, kinds: &Kinds, cursor: &TreeCursor) -> bool {
    let in_body = || kinds.is_body(cursor.field_id().map(u16::from));
    match parent.role {
        Role::If | Role::Elif | Role::Loop | Role::EndlessLoop | Role::Match | Role::Ternary => {
            !matches!(role, Role::Else | Role::Elif) && in_body()
        }
        Role::Else => parent.mark && role != Role::If,
        Role::Let => parent.mark,
        Role::PythonTernary => !parent.mark,
        Role::Catch | Role::Closure | Role::Comprehension => true,
        _ => false,
    }
}
