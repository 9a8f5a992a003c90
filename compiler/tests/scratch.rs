#![allow(warnings, clippy::all)]
use proc_macro2::TokenStream;
use quote::ToTokens;
use std::path::Path;
use std::str::FromStr;
use syn::{Attribute, Item, Meta};
use tileproof_compiler::diagnostic::{Diagnostics, to_text};
use tileproof_compiler::facts::apart::*;
use tileproof_compiler::ir::*;
use tileproof_compiler::{ast, check, facts, lower};

fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1e6
}

fn one(ast: &ast::Kernel, d: &mut Diagnostics) {
    let t0 = cpu();
    let kernel = lower::lower(ast, d);
    if d.is_failed() { println!("lower failed"); return; }
    let facts = facts::analyse(&kernel);
    let t1 = cpu();
    let mut n = 0;
    {
        let mut prover = Prover::new(&kernel, &facts);
        let mut groups = Vec::new();
        for (h, site) in kernel.sites.iter() {
            if let Base::Tensor(p) = site.place.base {
                let written = kernel.sites.iter().any(|(_, s)| s.place.base == site.place.base && s.role != Role::Read);
                if !written { continue }
                let visits: Vec<_> = facts.runs.iter().enumerate().flat_map(|(i, r)| r.visits.iter().filter(|v| v.site == h).map(move |v| (i, v))).collect();
                let nv = visits.len();
                let g = prover.groups(&visits);
                println!("   site {} : {nv} visits, {} groups", kernel.sites[h].role, g.len());
                groups.push((h, site.place.base, site.role, site.place.width, g));
            }
        }
        let tg = cpu();
        for i in 0..groups.len() { for j in i..groups.len() {
            let (a, b) = (&groups[i], &groups[j]);
            if a.1 != b.1 || a.2 == Role::Read && b.2 == Role::Read || a.2 == Role::Update && b.2 == Role::Update { continue }
            for x in &a.4 { for y in &b.4 {
                n += 1;
                let r = prover.apart((*x, a.3), (*y, b.3), Relation::OtherBlock);
                if r != Answer::Apart { println!("   {r:?}"); }
            }}
        }}
        println!("{:<24} analyse {:.2} groups {:.2} pairs({n}) {:.2} runs {}", kernel.name, t1 - t0, tg - t1, cpu() - tg, facts.runs.len());
    }
    let t2 = cpu();
    check::check(kernel, facts, d);
    println!("      check {:.2}", cpu() - t2);
    for e in d.errors() { println!("  !! line {} {}", d.spans.line(e.span), to_text(e)); }
}

#[test]
fn scratch() {
    let dirs = std::env::var("DIRS").unwrap_or("../examples/src/kernels".into());
    for dir in dirs.split(',') {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(dir);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    for file in files {
        if file.extension().is_none_or(|e| e != "rs") { continue }
        if let Ok(only) = std::env::var("ONLY") { if !file.to_string_lossy().contains(&only) { continue } }
        let text = std::fs::read_to_string(&file).unwrap();
        let Ok(tokens) = TokenStream::from_str(&text) else { continue };
        let Ok(file): Result<syn::File, _> = syn::parse2(tokens) else { continue };
        for mut item in file.items {
            let (attributes, name): (&mut Vec<Attribute>, _) = match &mut item {
                Item::Fn(f) => (&mut f.attrs, "tiled_kernel"),
                Item::Mod(m) => (&mut m.attrs, "tiled_module"),
                _ => continue,
            };
            let Some(place) = attributes.iter().position(|a| a.path().is_ident(name)) else { continue };
            let arguments = match attributes.remove(place).meta { Meta::List(l) => l.tokens, _ => TokenStream::new() };
            let mut d = Diagnostics::default();
            if name == "tiled_kernel" {
                if let Some(family) = ast::parse(arguments, item.into_token_stream(), &ast::Scope::default(), &mut d) {
                    for k in &family.kernels { let mut own = d.of_instance(); one(k, &mut own); }
                }
            } else {
                let module = ast::parse_module(arguments, item.into_token_stream(), &mut d).unwrap();
                for part in &module.parts {
                    if let ast::Part::Kernel { attribute, item, .. } = part {
                        if let Some(family) = ast::parse(attribute.clone(), item.clone(), &module.scope, &mut d) {
                            for k in &family.kernels { let mut own = d.of_instance(); one(k, &mut own); }
                        }
                    }
                }
            }
        }
    }
    }
}
