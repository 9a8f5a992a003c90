//! From the Rust of an example to what is said of it.

use std::fmt::Write;
use syn::parse::Parser;
use syn::spanned::Spanned;
use tileproof_compiler::{Compiled, compile_in};
use tileproof_model::report::{Report, SiteReport};

/// What the compiler makes of the kernels of one block: of each in order, what it is or why it is refused.
pub(crate) type Outcome = Vec<Result<Compiled, String>>;

/// Compiles every kernel of a block, also those of its modules. Of a generic kernel it is the first instance.
///
/// # Errors
/// If the block is no Rust, or holds no kernel.
pub(crate) fn outcome(source: &str) -> Result<Outcome, String> {
    let file: syn::File = syn::parse_str(source).map_err(|error| error.to_string())?;
    let mut outcome = Vec::new();
    for item in &file.items {
        match item {
            syn::Item::Fn(function) => outcome.extend(kernel(source, "", function)),
            // What has no body, which the compiler shall say.
            syn::Item::Verbatim(tokens) => {
                let parts = |input: syn::parse::ParseStream<'_>| {
                    let attributes = input.call(syn::Attribute::parse_outer)?;
                    input.parse::<proc_macro2::TokenStream>().map(|_| attributes)
                };
                let attributes = parts.parse2(tokens.clone()).unwrap_or_default();
                outcome.extend(compiled(source, "", &attributes, tokens.span()));
            }
            syn::Item::Mod(module) => {
                let items = module.content.as_ref().map_or(&[][..], |(_, items)| items);
                let shared: Vec<&str> = items
                    .iter()
                    .filter(|item| match item {
                        syn::Item::Const(_) | syn::Item::Type(_) => true,
                        syn::Item::Fn(function) => !function.attrs.iter().any(is_kernels),
                        _ => false,
                    })
                    .map(|item| slice(source, item.span()))
                    .collect();
                let shared = shared.join("\n");
                for item in items {
                    if let syn::Item::Fn(function) = item {
                        outcome.extend(kernel(source, &shared, function));
                    }
                }
            }
            _ => {}
        }
    }
    if outcome.is_empty() { Err("no kernel".into()) } else { Ok(outcome) }
}

fn kernel(source: &str, shared: &str, function: &syn::ItemFn) -> Option<Result<Compiled, String>> {
    compiled(source, shared, &function.attrs, function.span())
}

/// Compiles the item at `span` if it is a kernel by its attributes.
fn compiled(
    source: &str,
    shared: &str,
    attributes: &[syn::Attribute],
    span: proc_macro2::Span,
) -> Option<Result<Compiled, String>> {
    let attribute = attributes.iter().find(|attribute| is_kernels(attribute))?;
    let arguments = match &attribute.meta {
        syn::Meta::List(list) => list.tokens.to_string(),
        _ => String::new(),
    };
    let end = attribute.span().byte_range().end;
    let item = &source[end..span.byte_range().end];
    Some(compile_in(shared, &arguments, item))
}

/// Whether the attribute makes an item a kernel.
fn is_kernels(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("tiled_kernel")
}

fn slice(source: &str, span: proc_macro2::Span) -> &str {
    &source[span.byte_range()]
}

/// The errors as rustc prints them, without the places.
pub(crate) fn errors(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let placed = line.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
        match placed.filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit())) {
            Some((_, message)) => {
                let _ = writeln!(out, "error: {message}");
            }
            None if line.is_empty() => out.push('\n'),
            None => {
                let _ = writeln!(out, "       {line}");
            }
        }
    }
    out
}

/// A line for each access, as the report prints it in short.
pub(crate) fn sites(report: &Report) -> String {
    report.sites.iter().map(|site| format!("{}\n", row(site))).collect()
}

fn row(site: &SiteReport) -> String {
    let text = site.to_string();
    let mut lines = text.lines().map(str::trim);
    let first = lines.next().unwrap_or_default();
    let access = first.split_once(": ").map_or(first, |(_, access)| access);
    let rest: Vec<&str> =
        lines.filter(|line| *line != "cost proven; bounds proven; alignment proven").collect();
    format!("{access}\n    {}", rest.join("\n    "))
}

/// The statements of the kernel, without the positions of the thread that begin it.
pub(crate) fn body(cuda: &str) -> String {
    let lines = entry(cuda).skip_while(|line| !line.ends_with(") {")).skip(1).take_while(|line| *line != "}");
    let mut out = String::new();
    for line in lines.map(|line| line.strip_prefix("    ").unwrap_or(line)) {
        let position = ["thread", "block", "grid"].iter().any(|what| {
            ["x", "y", "z"].iter().any(|axis| line.starts_with(&format!("const index_t {what}_{axis} = ")))
        });
        if !position {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// The head of the kernel: its name, bounds and parameters.
pub(crate) fn signature(cuda: &str) -> String {
    let mut out = String::new();
    for line in entry(cuda) {
        out.push_str(line.strip_suffix(" {").unwrap_or(line));
        out.push('\n');
        if line.ends_with(") {") {
            break;
        }
    }
    out
}

fn entry(cuda: &str) -> impl Iterator<Item = &str> {
    cuda.lines().skip_while(|line| !line.starts_with("extern \"C\""))
}

/// The paragraphs of the prelude that define one of these names.
pub(crate) fn prelude(cuda: &str, names: &str) -> Result<String, String> {
    let mut found = Vec::new();
    for name in names.split(',').map(str::trim) {
        let paragraph = cuda.split("\n\n").find(|paragraph| {
            let head = paragraph.lines().find(|line| !line.starts_with("//")).unwrap_or_default();
            !head.starts_with("extern") && head.contains(&format!("{name}("))
        });
        let paragraph = paragraph.ok_or_else(|| format!("the CUDA text defines no `{name}`\n{cuda}"))?;
        found.push(paragraph.trim_end().to_owned());
    }
    Ok(found.join("\n\n") + "\n")
}
