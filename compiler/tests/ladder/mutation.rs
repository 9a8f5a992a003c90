use std::time::Instant;
use tileproof_compiler::{ast, check, diagnostic::Diagnostics, emit, facts, lower};
#[test]
fn stages() {
    for kernel in super::kernels() {
        for round in 0..3 {
            let mut d = Diagnostics::default();
            let t0 = Instant::now();
            let a = ast::parse(kernel.attribute.clone(), kernel.item.clone(), &mut d).unwrap();
            let t1 = Instant::now();
            let k = lower::lower(&a, &mut d);
            let t2 = Instant::now();
            let f = facts::analyse(&k);
            let t3 = Instant::now();
            let visits = f.runs.iter().map(|r| r.visits.len()).sum::<usize>();
            let c = check::check(k, f, &mut d).unwrap();
            let t4 = Instant::now();
            let o = emit::items(&a, &c, kernel.attribute.clone(), &d);
            let t5 = Instant::now();
            if round == 2 {
                println!(
                    "{} ast {:?} lower {:?} facts {:?} check {:?} emit {:?} visits {}",
                    kernel.name,
                    t1 - t0,
                    t2 - t1,
                    t3 - t2,
                    t4 - t3,
                    t5 - t4,
                    visits
                );
            }
            assert!(!o.is_empty());
        }
    }
}
