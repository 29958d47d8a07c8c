//! One expression in several languages.

use dalembert_methods::trace::{Graph, Id, Op, Recorded};

/// The language.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Text,
    Latex,
    C,
    Rust,
}

/// How tightly an expression holds together.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bond {
    Choice,
    Or,
    And,
    Compare,
    Sum,
    Product,
    Atom,
}

/// Expressions nested deeper than this get a name in the middle: compilers and readers are grateful.
const DEEPEST: u32 = 24;

/// Writes expressions of one function.
pub(super) struct Writer<'a> {
    graph: &'a Graph,
    style: Style,
    input: Box<dyn Fn(usize) -> String + 'a>,
    /// The numbers of named parts, 0 for others.
    named: Vec<u32>,
    parts: Vec<Id>,
}

impl<'a> Writer<'a> {
    /// Finds the parts that get names.
    pub(super) fn new(f: &'a Recorded, style: Style, input: impl Fn(usize) -> String + 'a) -> Self {
        let graph = &f.graph;
        let needed = graph.needed(&f.outputs);
        let mut uses = vec![0u32; graph.len()];
        for node in graph.nodes().iter().zip(&needed).filter(|(_, needed)| **needed).map(|(node, _)| node) {
            // A square is written with one mention of its base.
            let operands = node.operands();
            let square =
                node.op == Op::Mul && operands[0] == operands[1] && matches!(style, Style::Text | Style::Latex);
            operands[usize::from(square)..].iter().for_each(|a| uses[a.index()] += 1);
        }
        f.outputs.iter().for_each(|o| uses[o.index()] += 1);
        let mut out = Self { graph, style, input: Box::new(input), named: vec![0; graph.len()], parts: Vec::new() };
        let mut depth = vec![0u32; graph.len()];
        let mut wanted = vec![false; graph.len()];
        for (i, node) in graph.nodes().iter().enumerate().filter(|(i, _)| needed[*i]) {
            let inner = node.operands().iter().map(|a| if wanted[a.index()] { 0 } else { depth[a.index()] }).max();
            depth[i] = inner.map_or(0, |d| d + 1);
            let light = node.op == Op::Neg && graph.node(node.args[0]).op.arity() == 0;
            wanted[i] = node.op.arity() > 0 && !light && (uses[i] > 1 || depth[i] > DEEPEST);
        }
        let mut seen = vec![false; graph.len()];
        f.outputs.iter().for_each(|&o| out.name(o, &wanted, &mut seen));
        out
    }

    /// Numbers the wanted parts below a node in the order of need.
    fn name(&mut self, root: Id, wanted: &[bool], seen: &mut [bool]) {
        let mut stack = vec![(root, false)];
        while let Some((id, ready)) = stack.pop() {
            if ready {
                if wanted[id.index()] && self.named[id.index()] == 0 {
                    self.parts.push(id);
                    self.named[id.index()] = self.parts.len() as u32;
                }
                continue;
            }
            if seen[id.index()] {
                continue;
            }
            seen[id.index()] = true;
            stack.push((id, true));
            stack.extend(self.graph.node(id).operands().iter().rev().map(|&a| (a, false)));
        }
    }

    /// The parts with names, in order.
    pub(super) fn parts(&self) -> &[Id] {
        &self.parts
    }

    /// Name and expression of a part.
    pub(super) fn part(&mut self, id: Id) -> (String, String) {
        let number = std::mem::take(&mut self.named[id.index()]);
        let value = self.expression(id).0;
        self.named[id.index()] = number;
        (self.part_name(number), value)
    }

    /// Whether a part is a mask.
    pub(super) fn is_mask(&self, id: Id) -> bool {
        self.graph.node(id).op.is_mask()
    }

    fn part_name(&self, number: u32) -> String {
        if self.style == Style::Latex { format!("p_{{{number}}}") } else { format!("p{number}") }
    }

    /// The expression of a node.
    pub(super) fn expression(&self, id: Id) -> (String, Bond) {
        let number = self.named[id.index()];
        if number != 0 {
            return (self.part_name(number), Bond::Atom);
        }
        let node = self.graph.node(id);
        let [a, b, c] = node.args;
        let code = matches!(self.style, Style::C | Style::Rust);
        match node.op {
            Op::Constant => self.number(self.graph.constant_of(id).unwrap_or(f64::NAN)),
            Op::Input => ((self.input)(a.index()), Bond::Atom),
            Op::Known => (self.truth(a.0 == 1), Bond::Atom),
            // Sums and products of code keep their order; readers need no brackets there.
            Op::Add => (format!("{} + {}", self.at(a, Bond::Sum), self.after(b, Bond::Sum, code)), Bond::Sum),
            Op::Sub => (format!("{} - {}", self.at(a, Bond::Sum), self.after(b, Bond::Sum, true)), Bond::Sum),
            Op::Mul if a == b && !code => (self.raised(a, "2"), Bond::Product),
            Op::Mul => {
                let sign = match self.style {
                    Style::Latex => " \\, ",
                    Style::Text => " ",
                    _ => " * ",
                };
                (format!("{}{sign}{}", self.at(a, Bond::Product), self.after(b, Bond::Product, code)), Bond::Product)
            }
            Op::Div if self.style == Style::Latex => {
                (format!("\\frac{{{}}}{{{}}}", self.expression(a).0, self.expression(b).0), Bond::Atom)
            }
            Op::Div => {
                (format!("{} / {}", self.at(a, Bond::Product), self.after(b, Bond::Product, true)), Bond::Product)
            }
            Op::Neg => (format!("-{}", self.at(a, Bond::Product)), Bond::Sum),
            Op::Less => self.compared(a, "<", b),
            Op::LessEqual => self.compared(a, if self.style == Style::Latex { "\\le" } else { "<=" }, b),
            Op::Equal => self.compared(a, if self.style == Style::Latex { "=" } else { "==" }, b),
            Op::And => {
                let word = self.word("and", "\\wedge", "&&");
                (format!("{} {word} {}", self.at(a, Bond::And), self.at(b, Bond::And)), Bond::And)
            }
            Op::Or => {
                let word = self.word("or", "\\vee", "||");
                (format!("{} {word} {}", self.alternative(a), self.alternative(b)), Bond::Or)
            }
            Op::Not => (format!("{}{}", self.word("not ", "\\neg ", "!"), self.at(a, Bond::Atom)), Bond::Atom),
            Op::Select => {
                let [m, yes, no] = [a, b, c].map(|id| self.expression(id).0);
                match self.style {
                    Style::Text => (format!("if({m}, {yes}, {no})"), Bond::Atom),
                    Style::Latex => {
                        let cases = format!("{yes} & {m} \\\\ {no} & \\text{{otherwise}}");
                        (format!("\\begin{{cases}} {cases} \\end{{cases}}"), Bond::Atom)
                    }
                    Style::C => {
                        let sides = [a, b, c].map(|id| self.at(id, Bond::Or));
                        (format!("{} ? {} : {}", sides[0], sides[1], sides[2]), Bond::Choice)
                    }
                    Style::Rust => (format!("if {m} {{ {yes} }} else {{ {no} }}"), Bond::Choice),
                }
            }
            Op::Power if !code => (self.raised(a, &self.expression(b).0), Bond::Product),
            op => (self.function(op, node.operands()), Bond::Atom),
        }
    }

    fn word(&self, text: &'static str, latex: &'static str, code: &'static str) -> &'static str {
        match self.style {
            Style::Text => text,
            Style::Latex => latex,
            _ => code,
        }
    }

    /// In brackets unless it holds at least so tightly.
    fn at(&self, id: Id, bond: Bond) -> String {
        let (text, own) = self.expression(id);
        if own >= bond { text } else { self.bracketed(&text) }
    }

    /// A side of an alternative: alternatives of alternatives need no brackets, all else that holds less than a comparison does.
    fn alternative(&self, id: Id) -> String {
        let (text, own) = self.expression(id);
        if own == Bond::Or || own >= Bond::Compare { text } else { self.bracketed(&text) }
    }

    /// The right side of an operator: in brackets if it does not hold more tightly, or begins with a sign.
    fn after(&self, id: Id, bond: Bond, strict: bool) -> String {
        let (text, own) = self.expression(id);
        let loose = if strict { own <= bond } else { own < bond };
        if loose || text.starts_with('-') { self.bracketed(&text) } else { text }
    }

    fn bracketed(&self, text: &str) -> String {
        if self.style == Style::Latex { format!("\\left({text}\\right)") } else { format!("({text})") }
    }

    fn compared(&self, a: Id, sign: &str, b: Id) -> (String, Bond) {
        (format!("{} {sign} {}", self.at(a, Bond::Sum), self.at(b, Bond::Sum)), Bond::Compare)
    }

    fn raised(&self, base: Id, exponent: &str) -> String {
        let (text, bond) = self.expression(base);
        let plain = self.graph.node(base).op.arity() == 0 || self.named[base.index()] != 0;
        let base = if bond == Bond::Atom && plain { text } else { self.bracketed(&text) };
        match self.style {
            Style::Latex => format!("{{{base}}}^{{{exponent}}}"),
            _ if exponent.chars().all(|c| c.is_ascii_alphanumeric() || c == '.') => format!("{base}^{exponent}"),
            _ => format!("{base}^({exponent})"),
        }
    }

    fn function(&self, op: Op, operands: &[Id]) -> String {
        let args: Vec<String> = operands.iter().map(|&a| self.expression(a).0).collect();
        let name = match op {
            Op::Sqrt => "sqrt",
            Op::Sin => "sin",
            Op::Cos => "cos",
            Op::Tan => "tan",
            Op::Asin => "asin",
            Op::Acos => "acos",
            Op::Atan2 => "atan2",
            Op::Exp => "exp",
            Op::Ln if self.style == Style::C => "log",
            Op::Ln => "ln",
            Op::Tanh => "tanh",
            Op::Power if self.style == Style::C => "pow",
            Op::Power => "powf",
            Op::Round => "round",
            _ => "floor",
        };
        match self.style {
            Style::Latex => match op {
                Op::Sqrt => format!("\\sqrt{{{}}}", args[0]),
                Op::Floor => format!("\\lfloor {} \\rfloor", args[0]),
                Op::Asin | Op::Acos => format!("\\arc{}\\left({}\\right)", &name[1..], args[0]),
                Op::Atan2 | Op::Round => format!("\\operatorname{{{name}}}\\left({}\\right)", args.join(", ")),
                _ => format!("\\{name}\\left({}\\right)", args[0]),
            },
            Style::Rust => {
                let own = self.at(operands[0], Bond::Atom);
                format!("{own}.{name}({})", args[1..].join(", "))
            }
            _ => format!("{name}({})", args.join(", ")),
        }
    }

    fn truth(&self, holds: bool) -> String {
        match (self.style, holds) {
            (Style::C, true) => "1".into(),
            (Style::C, false) => "0".into(),
            (Style::Latex, true) => "\\text{true}".into(),
            (Style::Latex, false) => "\\text{false}".into(),
            (_, holds) => holds.to_string(),
        }
    }

    /// All digits for code; for readers as few as give the number back.
    fn number(&self, x: f64) -> (String, Bond) {
        (self.style.number(x), if x < 0.0 { Bond::Sum } else { Bond::Atom })
    }
}

impl Style {
    /// A constant.
    pub fn number(self, x: f64) -> String {
        match self {
            Self::Rust if x.is_nan() => "f64::NAN".into(),
            Self::Rust if x.is_infinite() => format!("{}f64::INFINITY", if x < 0.0 { "-" } else { "" }),
            Self::Rust => format!("{x:?}_f64"),
            Self::C if x.is_nan() => "NAN".into(),
            Self::C if x.is_infinite() => format!("{}INFINITY", if x < 0.0 { "-" } else { "" }),
            Self::C => format!("{x:?}"),
            Self::Latex if x.is_infinite() => format!("{}\\infty", if x < 0.0 { "-" } else { "" }),
            style => {
                let long = x != 0.0 && !(1e-4..1e7).contains(&x.abs());
                let text = if long { format!("{x:e}") } else { format!("{x}") };
                match text.split_once('e') {
                    Some((digits, power)) if style == Self::Latex => format!("{digits} \\cdot 10^{{{power}}}"),
                    _ => text,
                }
            }
        }
    }
}
