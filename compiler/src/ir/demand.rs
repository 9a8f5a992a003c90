//! What a kernel demands of the architecture and of its block, by its instructions.

use super::{Block, Collective, CollectiveOp, Kernel, Matrices, Stmt};
use crate::span::SpanId;
use tileproof_model::limits::{Architecture, SUPPORTED};

/// A statement that becomes an instruction of matrices: whole warps execute it, and not all architectures have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The function of the vocabulary.
    pub function: &'static str,
    /// The least architecture that has the instruction.
    pub least: Architecture,
    /// The call in the source.
    pub span: SpanId,
}

impl Kernel {
    /// The statements that demand something, in order.
    pub fn demands(&self) -> Vec<Demand> {
        let mut demands = Vec::new();
        demands_of(self, &self.body, &mut demands);
        demands
    }

    /// The first of them that demands most of the architecture, if one that kernels are compiled for does not do.
    pub fn greatest_demand(&self) -> Option<Demand> {
        let demands = self.demands();
        let least = demands.iter().map(|demand| demand.least).max().filter(|least| *least > SUPPORTED[0])?;
        demands.into_iter().find(|demand| demand.least == least)
    }
}

/// Those of a block and of what is in it.
fn demands_of(kernel: &Kernel, block: &Block, out: &mut Vec<Demand>) {
    for stmt in block {
        match stmt {
            Stmt::LoadMatrices { site, .. } => {
                let site = &kernel.sites[*site];
                if let Some(matrices) = site.matrices {
                    let (function, least) = (matrices.name(), Matrices::LEAST_ARCHITECTURE);
                    out.push(Demand { function, least, span: site.span });
                }
            }
            Stmt::Collective(Collective { op, span, .. }) => match op {
                CollectiveOp::MatrixProduct(product) => {
                    let (function, least) = (op.name(), product.least_architecture());
                    out.push(Demand { function, least, span: *span });
                }
                CollectiveOp::Shuffle(_)
                | CollectiveOp::Any
                | CollectiveOp::All
                | CollectiveOp::Ballot
                | CollectiveOp::MatchAny
                | CollectiveOp::BlockCount
                | CollectiveOp::BlockAny
                | CollectiveOp::BlockAll => {}
            },
            Stmt::Assign { .. }
            | Stmt::Fill { .. }
            | Stmt::AssignElement { .. }
            | Stmt::AssignLane { .. }
            | Stmt::Load { .. }
            | Stmt::LoadUnaligned(_)
            | Stmt::Store { .. }
            | Stmt::Copy(_)
            | Stmt::Sync(..)
            | Stmt::Atomic(_)
            | Stmt::If { .. }
            | Stmt::For(_)
            | Stmt::While { .. } => {}
        }
        stmt.blocks(kernel).into_iter().for_each(|inner| demands_of(kernel, inner, out));
    }
}
