//! Synchronisation.

use super::Proxy;

/// Sets of threads, from small to large: a value is uniform over such a set, a barrier holds one together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Scope {
    Lane,
    Warp,
    Warpgroup,
    Block,
    Cluster,
    Grid,
}

/// A synchronisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sync {
    /// What the threads meet at.
    pub object: SyncObject,
    /// What they do there.
    pub action: SyncAction,
    /// Who takes part.
    pub participants: Scope,
    /// Whose memory accesses are ordered.
    pub orders: Scope,
    /// Accesses of which proxy are ordered.
    pub proxy: Proxy,
}

impl Sync {
    /// `sync_threads()`.
    pub const THREADS: Sync = Sync {
        object: SyncObject::BlockBarrier,
        action: SyncAction::ArriveAndWait,
        participants: Scope::Block,
        orders: Scope::Block,
        proxy: Proxy::Generic,
    };

    /// `commit()`.
    pub const COMMIT: Sync = Sync {
        object: SyncObject::CopyGroup,
        action: SyncAction::Arrive,
        participants: Scope::Lane,
        orders: Scope::Lane,
        proxy: Proxy::Async,
    };

    /// `wait::<PENDING>()`.
    pub const fn wait(pending: u32) -> Sync {
        Sync { action: SyncAction::Wait { pending }, ..Sync::COMMIT }
    }

    /// `sync_warp()`.
    pub const WARP: Sync = Sync {
        object: SyncObject::Warp,
        action: SyncAction::ArriveAndWait,
        participants: Scope::Warp,
        orders: Scope::Warp,
        proxy: Proxy::Generic,
    };
}

/// What threads meet at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncObject {
    /// The block's barrier number 0.
    BlockBarrier,
    /// The lanes of the warp themselves.
    Warp,
    /// The thread's own asynchronous copies since it last arrived here; each arrival closes one group.
    CopyGroup,
}

/// What threads do at a [`SyncObject`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncAction {
    /// Arrive, and wait until all participants have arrived.
    ArriveAndWait,
    /// Arrive, without waiting.
    Arrive,
    /// Wait until of what was started before only the last so many groups may be under way.
    Wait {
        /// How many.
        pending: u32,
    },
}
