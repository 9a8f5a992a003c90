//! Types while they are being inferred.
//!
//! A literal has the type that its use demands, as in Rust. Each expression therefore has a [`Term`]: a scalar type that
//! may still be an unknown integer or float. [`Terms::unify`] makes two of them equal; what is unknown at the end falls
//! back to `i32` and `f64`, as in Rust.

use crate::ir::{Scalar, Type};

/// A scalar type, known or not yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Term(u32);

/// A value's type: a scalar, or a vector of so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ty {
    /// The scalar.
    pub(super) term: Term,
    /// How many; `None` for a scalar, which is not the same as a vector of one.
    pub(super) vector: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
enum Node {
    Known(Scalar),
    Integer,
    Float,
    Link(Term),
}

/// All terms.
#[derive(Debug, Default)]
pub(super) struct Terms {
    nodes: Vec<Node>,
}

impl Terms {
    fn add(&mut self, node: Node) -> Term {
        self.nodes.push(node);
        Term(self.nodes.len() as u32 - 1)
    }

    /// A known type.
    pub(super) fn known(&mut self, scalar: Scalar) -> Term {
        self.add(Node::Known(scalar))
    }

    /// The type of an integer literal without a suffix.
    pub(super) fn integer(&mut self) -> Term {
        self.add(Node::Integer)
    }

    /// The type of a float literal without a suffix.
    pub(super) fn float(&mut self) -> Term {
        self.add(Node::Float)
    }

    fn root(&self, mut term: Term) -> Term {
        while let Node::Link(next) = self.nodes[term.0 as usize] {
            term = next;
        }
        term
    }

    /// Makes two types equal; whether that is possible.
    pub(super) fn unify(&mut self, a: Term, b: Term) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return true;
        }
        let (from, to) = match (self.nodes[a.0 as usize], self.nodes[b.0 as usize]) {
            (Node::Known(x), Node::Known(y)) => return x == y,
            (Node::Integer, Node::Integer) | (Node::Float, Node::Float) => (a, b),
            (Node::Integer, Node::Known(known)) if known.is_integer() => (a, b),
            (Node::Known(known), Node::Integer) if known.is_integer() => (b, a),
            // Literals are no halves: Rust has those as structs.
            (Node::Float, Node::Known(known)) if known.is_float() && !known.is_half() => (a, b),
            (Node::Known(known), Node::Float) if known.is_float() && !known.is_half() => (b, a),
            _ => return false,
        };
        self.nodes[from.0 as usize] = Node::Link(to);
        true
    }

    /// The type, if it is known by now.
    pub(super) fn get(&self, term: Term) -> Option<Scalar> {
        match self.nodes[self.root(term).0 as usize] {
            Node::Known(scalar) => Some(scalar),
            Node::Integer | Node::Float | Node::Link(_) => None,
        }
    }

    /// Whether it is an integer, known or not.
    pub(super) fn is_integer(&self, term: Term) -> bool {
        match self.nodes[self.root(term).0 as usize] {
            Node::Known(scalar) => scalar.is_integer(),
            Node::Integer => true,
            Node::Float | Node::Link(_) => false,
        }
    }

    /// Whether it is a float, known or not.
    pub(super) fn is_float(&self, term: Term) -> bool {
        match self.nodes[self.root(term).0 as usize] {
            Node::Known(scalar) => scalar.is_float(),
            Node::Float => true,
            Node::Integer | Node::Link(_) => false,
        }
    }

    /// The type at the end of inference.
    pub(super) fn resolve(&self, ty: Ty) -> Type {
        let scalar = match self.nodes[self.root(ty.term).0 as usize] {
            Node::Known(scalar) => scalar,
            Node::Integer | Node::Link(_) => Scalar::I32,
            Node::Float => Scalar::F64,
        };
        match ty.vector {
            None => Type::Scalar(scalar),
            Some(width) => Type::Vector(scalar, width),
        }
    }
}

impl Ty {
    /// A scalar.
    pub(super) fn scalar(term: Term) -> Ty {
        Ty { term, vector: None }
    }
}
