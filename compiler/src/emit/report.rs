//! The report as tokens: one constant expression.

use super::host::triple;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use tileproof_model::limits::Occupancy;
use tileproof_model::report::{
    BarrierKind, BarrierReport, Ordered, Report, Role, SiteReport, Space, TileReport, TrustReport, Verdict,
};

fn text(text: &str) -> TokenStream {
    quote!(__tileproof::__private::Cow::Borrowed(#text))
}

/// The report as a constant.
pub(super) fn report(report: &Report) -> TokenStream {
    let Report { kernel, block, shared_bytes, tiles, sites, barriers, occupancy, launch_checks, trusts } =
        report;
    let (kernel, block, shared_bytes) =
        (text(kernel), triple(*block), Literal::u32_unsuffixed(*shared_bytes));
    let (tiles, sites) = (tiles.iter().map(tile), sites.iter().map(site));
    let barriers = barriers.iter().map(barrier);
    let occupancy = occupancy.iter().map(|(architecture, found)| {
        // `Debug` prints the names of the variants.
        let Occupancy { blocks, warps, max_warps, limited_by } = found;
        let (architecture, limited_by) = (format_ident!("{architecture:?}"), format_ident!("{limited_by:?}"));
        quote!((
            __tileproof::__private::Known::#architecture,
            __tileproof::__private::Occupancy {
                blocks: #blocks,
                warps: #warps,
                max_warps: #max_warps,
                limited_by: __tileproof::__private::Resource::#limited_by,
            },
        ))
    });
    let launch_checks = launch_checks.iter().map(|check| text(check));
    let trusts = trusts.iter().map(trust);
    quote!(__tileproof::__private::Report {
        kernel: #kernel,
        block: #block,
        shared_bytes: #shared_bytes,
        tiles: __tileproof::__private::Cow::Borrowed(&[#(#tiles),*]),
        sites: __tileproof::__private::Cow::Borrowed(&[#(#sites),*]),
        barriers: __tileproof::__private::Cow::Borrowed(&[#(#barriers),*]),
        occupancy: __tileproof::__private::Cow::Borrowed(&[#(#occupancy),*]),
        launch_checks: __tileproof::__private::Cow::Borrowed(&[#(#launch_checks),*]),
        trusts: __tileproof::__private::Cow::Borrowed(&[#(#trusts),*]),
    })
}

fn trust(trust: &TrustReport) -> TokenStream {
    let TrustReport { claim, what, line, because } = trust;
    // `Debug` prints the name of the variant.
    let claim = format_ident!("{claim:?}");
    let (what, because) = (text(what), text(because));
    quote!(__tileproof::__private::TrustReport {
        claim: __tileproof::__private::Claim::#claim,
        what: #what,
        line: #line,
        because: #because,
    })
}

fn tile(tile: &TileReport) -> TokenStream {
    let TileReport { name, ty, bytes, chosen } = tile;
    let chosen = match chosen {
        Some(chosen) => {
            let chosen = text(chosen);
            quote!(::core::option::Option::Some(#chosen))
        }
        None => quote!(::core::option::Option::None),
    };
    let (name, ty, bytes) = (text(name), text(ty), Literal::u32_unsuffixed(*bytes));
    quote!(__tileproof::__private::TileReport { name: #name, ty: #ty, bytes: #bytes, chosen: #chosen })
}

fn site(site: &SiteReport) -> TokenStream {
    let SiteReport {
        access,
        object,
        space,
        role,
        line,
        calls,
        also,
        unknown,
        lane_bytes,
        instructions,
        wavefronts,
        ideal_wavefronts,
        worst_excess_wavefronts,
        sectors,
        ideal_sectors,
        worst_excess_sectors,
        useful_bytes,
        shortest_run_bytes,
        cost,
        bounds,
        alignment,
        asynchronous,
        edge,
    } = site;
    let also = also.iter();
    let (access, object, calls, unknown) = (text(access), text(object), text(calls), text(unknown));
    let space = match space {
        Space::Global => quote!(Global),
        Space::Shared => quote!(Shared),
    };
    let role = self::role(*role);
    let (cost, bounds, alignment) = (verdict(cost), verdict(bounds), verdict(alignment));
    quote!(__tileproof::__private::SiteReport {
        access: #access,
        object: #object,
        space: __tileproof::__private::Space::#space,
        role: #role,
        line: #line,
        calls: #calls,
        also: __tileproof::__private::Cow::Borrowed(&[#(#also),*]),
        unknown: #unknown,
        lane_bytes: #lane_bytes,
        instructions: #instructions,
        wavefronts: #wavefronts,
        ideal_wavefronts: #ideal_wavefronts,
        worst_excess_wavefronts: #worst_excess_wavefronts,
        sectors: #sectors,
        ideal_sectors: #ideal_sectors,
        worst_excess_sectors: #worst_excess_sectors,
        useful_bytes: #useful_bytes,
        shortest_run_bytes: #shortest_run_bytes,
        cost: #cost,
        bounds: #bounds,
        alignment: #alignment,
        asynchronous: #asynchronous,
        edge: #edge,
    })
}

fn verdict(verdict: &Verdict) -> TokenStream {
    match verdict {
        Verdict::Proven => quote!(__tileproof::__private::Verdict::Proven),
        Verdict::Budgeted(reason) => {
            let reason = text(reason);
            quote!(__tileproof::__private::Verdict::Budgeted(#reason))
        }
        Verdict::AtLaunch(condition) => {
            let condition = text(condition);
            quote!(__tileproof::__private::Verdict::AtLaunch(#condition))
        }
        Verdict::Trusted(reason) => {
            let reason = text(reason);
            quote!(__tileproof::__private::Verdict::Trusted(#reason))
        }
    }
}

fn role(role: Role) -> TokenStream {
    let role = match role {
        Role::Read => quote!(Read),
        Role::Write => quote!(Write),
        Role::Update => quote!(Update),
    };
    quote!(__tileproof::__private::Role::#role)
}

fn barrier(barrier: &BarrierReport) -> TokenStream {
    let BarrierReport { line, kind, calls, orders } = barrier;
    let kind = match kind {
        BarrierKind::SyncThreads => quote!(SyncThreads),
        BarrierKind::SyncThreadsVote => quote!(SyncThreadsVote),
        BarrierKind::SyncWarp => quote!(SyncWarp),
        BarrierKind::Wait => quote!(Wait),
    };
    let (calls, orders) = (text(calls), orders.iter().map(ordered));
    quote!(__tileproof::__private::BarrierReport {
        line: #line,
        kind: __tileproof::__private::BarrierKind::#kind,
        calls: #calls,
        orders: __tileproof::__private::Cow::Borrowed(&[#(#orders),*]),
    })
}

fn ordered(pair: &Ordered) -> TokenStream {
    let Ordered { object, first_role, first_line, then_role, then_line, next_iteration } = pair;
    let (object, first_role, then_role) = (text(object), role(*first_role), role(*then_role));
    quote!(__tileproof::__private::Ordered {
        object: #object,
        first_role: #first_role,
        first_line: #first_line,
        then_role: #then_role,
        then_line: #then_line,
        next_iteration: #next_iteration,
    })
}
