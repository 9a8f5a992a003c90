//! Budgets are as tight as what they cover: one that accepts more than occurs, or covers nothing, is an error.

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ir::Kernel;
use tileproof_model::report::{SiteReport, Space};

pub(super) fn check(kernel: &Kernel, rows: &[Option<SiteReport>], diagnostics: &mut Diagnostics) {
    for (handle, budget) in kernel.budgets.iter() {
        let sites = kernel.sites.iter().zip(rows).filter(|((_, site), _)| site.budget == Some(handle));
        // What an access costs that was not judged is not known.
        let Some(rows) = sites.map(|(_, row)| row.as_ref()).collect::<Option<Vec<_>>>() else { continue };
        let covered = |space: Space| rows.iter().filter(move |row| row.space == space);
        for (accepted, space, key, what) in [
            (budget.bank_conflict, Space::Shared, "bank_conflict", "excess wavefronts"),
            (budget.excess_sectors, Space::Global, "excess_sectors", "excess sectors"),
        ] {
            let Some(accepted) = accepted else { continue };
            let worst =
                covered(space).map(|row| row.worst_excess_wavefronts.max(row.worst_excess_sectors)).max();
            let unknown = covered(space).any(|row| !row.unknown.is_empty());
            let error = match worst {
                None => Diagnostic::new(
                    Code::Budget,
                    budget.span,
                    format!("this budget covers nothing: `{key}` is about {what}"),
                )
                .note("the statement has no access of that kind")
                .help("remove it"),
                Some(0) if accepted == 0 && !unknown => Diagnostic::new(
                    Code::Budget,
                    budget.span,
                    format!("this budget accepts nothing: `{key} = 0`"),
                )
                .help("remove it: nothing here needs it"),
                Some(worst) if worst < accepted && !unknown => {
                    let error = Diagnostic::new(
                        Code::Budget,
                        budget.span,
                        format!(
                            "this budget is too loose: it accepts {accepted} {what}, and the most that occurs is {worst}"
                        ),
                    );
                    match worst {
                        0 => error.help("remove it: nothing here needs it"),
                        worst => error.help(format!("write `{key} = {worst}`")),
                    }
                }
                Some(_) => continue,
            };
            diagnostics.report(error);
        }
    }
}
