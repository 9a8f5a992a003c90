//! The CUDA text with its source lines, for profilers and sanitizers.

use std::fmt::Write;

/// `cuda` with `#line` directives, so that what the compiler and profilers say about a line names the Rust source it came
/// from. `lines` are lines of the CUDA text, ascending, each with its line in `file`; other lines keep their own number
/// in `name`.
pub(crate) fn with_source_lines(cuda: &str, name: &str, lines: &[(u32, u32)], file: &str) -> String {
    let mut out = String::with_capacity(2 * cuda.len());
    let mut foreign = false;
    for (number, line) in (1..).zip(cuda.lines()) {
        match lines.binary_search_by_key(&number, |(cuda_line, _)| *cuda_line) {
            Ok(found) => {
                directive(&mut out, lines[found].1, file);
                foreign = true;
            }
            Err(_) if foreign => {
                directive(&mut out, number, name);
                foreign = false;
            }
            Err(_) => {}
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

fn directive(out: &mut String, line: u32, file: &str) {
    let file = file.replace('\\', "\\\\").replace('"', "\\\"");
    writeln!(out, "#line {line} \"{file}\"").expect("a string takes all text");
}

#[cfg(test)]
mod tests {
    use super::with_source_lines;

    #[test]
    fn directives_before_lines_that_have_a_source() {
        let cuda = "void f() {\n  a;\n  b;\n  }\n  c;\n}\n";
        let text = with_source_lines(cuda, "f.cu", &[(2, 40), (3, 41), (5, 50)], r"src\f.rs");
        let expected = [
            "void f() {",
            r#"#line 40 "src\\f.rs""#,
            "  a;",
            r#"#line 41 "src\\f.rs""#,
            "  b;",
            r#"#line 4 "f.cu""#,
            "  }",
            r#"#line 50 "src\\f.rs""#,
            "  c;",
            r#"#line 6 "f.cu""#,
            "}",
            "",
        ];
        assert_eq!(text, expected.join("\n"));
        assert_eq!(with_source_lines(cuda, "f.cu", &[], "f.rs"), cuda);
    }
}
