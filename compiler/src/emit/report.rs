//! The report as tokens: one constant expression.

use super::host::triple;
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};
use tileproof_model::access::Access;
use tileproof_model::limits::Occupancy;
use tileproof_model::report::{
    BarrierKind, BarrierReport, LeastArchitecture, Ordered, Report, Role, SiteReport, Space, TileReport,
    TrustReport, Verdict, WarpAccess, WorkReport,
};

fn text(text: &str) -> TokenStream {
    quote!(__tileproof::__private::Cow::Borrowed(#text))
}

fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

fn number<T: ToTokens>(value: Option<T>) -> TokenStream {
    option(value.map(|value| value.to_token_stream()))
}

/// The report as a constant.
pub(super) fn report(report: &Report) -> TokenStream {
    let Report {
        kernel,
        block,
        shared_bytes,
        tiles,
        sites,
        barriers,
        least_architecture,
        occupancy,
        work,
        launch_checks,
        trusts,
    } = report;
    let (kernel, block, shared_bytes) =
        (text(kernel), triple(*block), Literal::u32_unsuffixed(*shared_bytes));
    let (tiles, sites) = (tiles.iter().map(tile), sites.iter().map(site));
    let (barriers, work) = (barriers.iter().map(barrier), work.iter().map(self::work));
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
    let least_architecture = option(least_architecture.as_ref().map(|least| {
        let LeastArchitecture { architecture, function, line } = least;
        let (architecture, function) = (format_ident!("{architecture:?}"), text(function));
        quote!(__tileproof::__private::LeastArchitecture {
            architecture: __tileproof::__private::Known::#architecture,
            function: #function,
            line: #line,
        })
    }));
    let launch_checks = launch_checks.iter().map(|check| text(check));
    let trusts = trusts.iter().map(trust);
    quote!(__tileproof::__private::Report {
        kernel: #kernel,
        block: #block,
        shared_bytes: #shared_bytes,
        tiles: __tileproof::__private::Cow::Borrowed(&[#(#tiles),*]),
        sites: __tileproof::__private::Cow::Borrowed(&[#(#sites),*]),
        barriers: __tileproof::__private::Cow::Borrowed(&[#(#barriers),*]),
        least_architecture: #least_architecture,
        occupancy: __tileproof::__private::Cow::Borrowed(&[#(#occupancy),*]),
        work: __tileproof::__private::Cow::Borrowed(&[#(#work),*]),
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
    let chosen = option(chosen.as_ref().map(|chosen| text(chosen)));
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
        loop_line,
        operation,
        lane_bytes,
        instructions,
        wavefronts,
        ideal_wavefronts,
        worst_excess_wavefronts,
        costliest,
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
    let loop_line = number(*loop_line);
    let (also, costliest) = (also.iter(), option(costliest.as_ref().map(warp_access)));
    let (access, object, calls, unknown) = (text(access), text(object), text(calls), text(unknown));
    let space = match space {
        Space::Global => quote!(Global),
        Space::Shared => quote!(Shared),
    };
    // `Debug` prints the name of the variant.
    let operation = format_ident!("{operation:?}");
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
        loop_line: #loop_line,
        operation: __tileproof::__private::Operation::#operation,
        lane_bytes: #lane_bytes,
        instructions: #instructions,
        wavefronts: #wavefronts,
        ideal_wavefronts: #ideal_wavefronts,
        worst_excess_wavefronts: #worst_excess_wavefronts,
        costliest: #costliest,
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

fn warp_access(found: &WarpAccess) -> TokenStream {
    let WarpAccess { warp, access: Access { operation, width, active, offsets } } = found;
    // `Debug` prints the name of the variant. One literal for all offsets, because tokens are what expansion pays for.
    let operation = format_ident!("{operation:?}");
    let bytes: Vec<u8> = offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
    let bytes = Literal::byte_string(&bytes);
    quote!(__tileproof::__private::WarpAccess::embedded(
        #warp, __tileproof::__private::Operation::#operation, #width, #active, #bytes,
    ))
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

fn work(work: &WorkReport) -> TokenStream {
    let WorkReport { loop_line, calls, operations, global_bytes, shared_bytes } = work;
    let (loop_line, calls) = (number(*loop_line), text(calls));
    let (global_bytes, shared_bytes) = (number(*global_bytes), number(*shared_bytes));
    quote!(__tileproof::__private::WorkReport {
        loop_line: #loop_line,
        calls: #calls,
        operations: #operations,
        global_bytes: #global_bytes,
        shared_bytes: #shared_bytes,
    })
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
