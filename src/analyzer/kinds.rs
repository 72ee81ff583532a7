//! What the nodes of a grammar count, as a table by the number of their kind.
//!
//! A language gives names of kinds; they are looked up once, so that a walk compares numbers only.

/// A grammar of tree-sitter.
pub(super) type Grammar = tree_sitter::Language;

/// Roles, each with the names of its kinds. A name is that of a named node, or in quotes that of a token.
pub(super) type Table = &'static [(Role, &'static [&'static str])];

/// What a node counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Role {
    /// Nothing by itself. A leaf is an operator or an operand.
    #[default]
    Plain,
    /// Neither it nor what is in it counts: comments, definitions of macros.
    Skipped,
    /// An operand as a whole, whatever is in it.
    Operand,
    /// The second half of a pair of operators.
    Closer,
    /// A function that always stands for itself: `fn`.
    OwnFunction,
    /// A function with a name, which belongs to the function around it: `def`, `function f`, methods.
    NamedFunction,
    /// A function as a value of JavaScript: it is named after what it is assigned to.
    FunctionValue,
    /// A function as a value that is never reported alone: closures of Rust, `lambda`.
    Closure,
    /// A class, `impl` or trait: its name is part of the names of its functions.
    Container,
    /// `if`
    If,
    /// `elif`
    Elif,
    /// What follows `else`.
    Else,
    /// `while`, `for`, `do`
    Loop,
    /// `loop`
    EndlessLoop,
    /// `match`, `switch`
    Match,
    /// An arm of `match` of Rust.
    Arm,
    /// The pattern of an arm, with its guard.
    ArmPattern,
    /// A `case` of JavaScript.
    Case,
    /// A `case` of Python.
    CaseClause,
    /// A condition in a comprehension or of a case of Python.
    IfClause,
    /// A comprehension.
    Comprehension,
    /// `for` in a comprehension.
    ComprehensionFor,
    /// `catch`, `except`
    Catch,
    /// `try` of Python and JavaScript.
    Try,
    /// `a ? b : c`
    Ternary,
    /// `b if a else c`
    PythonTernary,
    /// A binary operation that may be a logical one.
    Binary,
    /// A logical operation whatever its operator is.
    Logical,
    /// `&&`, `||`, `and`, `or`
    LogicalOperator,
    /// `&&=`, `||=`
    LogicalAssignment,
    /// `?` of Rust.
    Question,
    /// `let`, perhaps with `else`.
    Let,
    /// `break`, `continue`
    Jump,
    /// A label.
    Label,
    /// A call.
    Call,
    /// Parentheses.
    Parentheses,
    /// What gives its value a name: `const f = …`, `f = …`, `f: …`.
    Binder,
    /// What may stand before the name in a binder.
    Modifier,
    /// The keyword `if`.
    IfKeyword,
    /// The keyword `else`.
    ElseKeyword,
}

/// A table by kinds, and the numbers of the fields that matter.
#[derive(Debug)]
pub(super) struct Kinds {
    roles: Vec<Role>,
    is_named: Vec<bool>,
    /// Fields whose nodes are one level deeper: what a condition or a loop runs.
    bodies: [u16; 3],
    /// The field of the function of a call.
    pub(super) callee: u16,
    /// The field of a name.
    pub(super) name: u16,
    /// The field of the type of an `impl`.
    pub(super) implemented: u16,
    /// The field of the operator of a binary operation.
    pub(super) operator: u16,
    /// The field of a body.
    pub(super) body: u16,
}

impl Kinds {
    /// The kinds of a grammar, with the roles of the table.
    pub(super) fn new(grammar: &Grammar, table: Table) -> Kinds {
        let count = grammar.node_kind_count();
        let (mut roles, mut is_named) = (vec![Role::Plain; count], vec![false; count]);
        for id in 0..count {
            let kind = id as u16;
            let Some(name) = grammar.node_kind_for_id(kind) else { continue };
            is_named[id] = grammar.node_kind_is_named(kind);
            let is = |known: &&str| match known.strip_prefix('\'') {
                Some(token) => !is_named[id] && token.strip_suffix('\'') == Some(name),
                None => is_named[id] && *known == name,
            };
            if let Some((role, _)) = table.iter().find(|(_, names)| names.iter().any(is)) {
                roles[id] = *role;
            }
        }
        let field = |name: &str| grammar.field_id_for_name(name).map_or(0, u16::from);
        Kinds {
            roles,
            is_named,
            bodies: ["consequence", "body", "alternative"].map(field),
            callee: field("function"),
            name: field("name"),
            implemented: field("type"),
            operator: field("operator"),
            body: field("body"),
        }
    }

    /// What a node of this kind counts. An error counts nothing by itself.
    pub(super) fn role(&self, kind: u16) -> Role {
        self.roles.get(usize::from(kind)).copied().unwrap_or_default()
    }

    /// Whether the kind is no token that stands for itself.
    pub(super) fn is_named(&self, kind: u16) -> bool {
        self.is_named.get(usize::from(kind)).copied().unwrap_or(true)
    }

    /// Whether nodes in this field are one level deeper.
    pub(super) fn is_body(&self, field: Option<u16>) -> bool {
        field.is_some_and(|field| self.bodies.contains(&field))
    }
}

/// Names that a table has, but the grammar has not.
#[cfg(test)]
pub(super) fn unknown_names(grammar: &Grammar, table: Table) -> Vec<&'static str> {
    let exists = |name: &str| {
        let bare = name.trim_matches('\'');
        grammar.id_for_node_kind(bare, bare == name) != 0
    };
    table.iter().flat_map(|(_, names)| names.iter().copied()).filter(|name| !exists(name)).collect()
}
