use super::{artifact, chosen};

#[test]
fn the_executable_is_the_one_of_its_kind_and_name() {
    let messages = r#"{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"gpu"},"executable":null}
{"reason":"compiler-artifact","target":{"kind":["bench"],"name":"ceiling"},"executable":"/t/deps/ceiling-1"}
{"reason":"compiler-artifact","target":{"kind":["cdylib","rlib"],"name":"c"},"filenames":["/t/libc.rlib","/t/libc.so"],"executable":null}
{"reason":"compiler-artifact","target":{"kind":["test"],"name":"gpu"},"executable":"/t/deps/gpu-2"}
not JSON
{"reason":"build-finished","success":true}"#;
    assert_eq!(artifact(messages, "test", "gpu").unwrap().to_str(), Some("/t/deps/gpu-2"));
    assert_eq!(artifact(messages, "bench", "ceiling").unwrap().to_str(), Some("/t/deps/ceiling-1"));
    assert_eq!(artifact(messages, "cdylib", "c").unwrap().to_str(), Some("/t/libc.so"));
    assert_eq!(artifact(messages, "bin", "gpu"), None);
}

#[test]
fn parts_are_chosen_by_name() {
    let names = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        chosen(&names).map(|parts| parts.into_iter().map(|part| part.name).collect::<Vec<_>>())
    };
    assert_eq!(names(&["libtileproof_c.so", "record"]), Ok(vec!["record", "libtileproof_c.so"]));
    assert!(names(&[]).unwrap().len() > 8);
    let error = names(&["record", "recrd"]).unwrap_err();
    assert!(error.starts_with("the bundle has no part `recrd`; its parts are gpu-tests, "), "{error}");
}

/// The script, with shell scripts in the place of the executables and of NVIDIA's tools.
#[cfg(target_os = "linux")]
mod script {
    use std::path::{Path, PathBuf};
    use std::process::{Command, Output};

    struct Bundle(PathBuf);

    impl Bundle {
        fn new(name: &str) -> Bundle {
            let folder = std::env::temp_dir().join(format!("tileproof-bundle-{name}-{}", std::process::id()));
            std::fs::create_dir_all(folder.join("tools")).unwrap();
            super::super::write_script(&folder.join("run.sh")).unwrap();
            let bundle = Bundle(folder);
            bundle.script("gpu-tests", "echo \"test result: ok. 5 passed ($TILEPROOF_REQUIRE)\"");
            bundle.script("transpose", "echo \"transpose_vectorised at $1 x $2: equal\"");
            bundle.script("runtime-tests", "echo \"test result: ok. 7 passed\"");
            bundle.script("library-tests", "echo \"test result: ok. 9 passed ($*)\"");
            bundle.script(
                "numerics",
                "echo '2 of 2 exact operations are equal'; echo 'a.sin() f32 1 2'; echo >\"$TILEPROOF_NUMERICS/n.json\"",
            );
            bundle.script(
                "record",
                "if [ \"$1\" = --cases ]; then echo '[]'; else echo \"  kernels::transpose $2 $3\"; echo '{}' >\"$1/x.json\"; fi",
            );
            bundle.script(
                "tools/python3",
                "case $1 in *peers.py) echo \"peers: $2 $(cat \"$3\") $(basename \"$4\")\" ;; esac",
            );
            bundle.script("bench", "echo \"thrpt: [1 2 3] $1\"");
            bundle.script(
                "parity",
                "case $1 in compare) grep -q measured \"$2/profile.csv\" && echo \"$TILEPROOF_LINEINFO of 1 counts agree\" \
                 && echo {} >\"$3/parity.json\" ;; *) echo \"$@\" ;; esac",
            );
            bundle.script(
                "fuzz",
                "case $1 in run) echo \"9 kernels: 9 agree, 0 differ, 0 refused ($3)\" ;; \
                 compare) grep -q measured \"$3\" && echo '8 of 8 counters agree' ;; *) echo \"$@\" ;; esac",
            );
            bundle.script(
                "tools/compute-sanitizer",
                "echo \"========= ERROR SUMMARY: 0 errors (small $TILEPROOF_SMALL $*)\"",
            );
            bundle
                .script("tools/ncu", "while [ \"$1\" != --log-file ]; do shift; done; echo measured >\"$2\"");
            bundle
        }

        /// Written by another process: a file that this one holds open for writing, and a fork of another test
        /// with it, could not be executed yet.
        fn script(&self, name: &str, body: &str) {
            let mut write = Command::new("sh");
            write.args(["-c", r#"printf '#!/bin/sh\n%s\n' "$2" >"$1" && chmod +x "$1""#, "sh"]);
            assert!(write.arg(self.0.join(name)).arg(body).status().unwrap().success());
        }

        fn run(&self, arguments: &[&str]) -> Output {
            let path = format!("{}:{}", self.0.join("tools").display(), std::env::var("PATH").unwrap());
            let mut command = Command::new("bash");
            command
                .arg(self.0.join("run.sh"))
                .args(arguments)
                .current_dir(&self.0)
                .env("PATH", path)
                .env("STEP_SECONDS", "20");
            command
                .env_remove("OUT")
                .env_remove("TILEPROOF_REQUIRE")
                .env_remove("SIZE")
                .env("GROUPS_RECORDED", "copy hierarchy")
                .env_remove("COUNTED")
                .env_remove("FUZZ_SEEDS")
                .env_remove("FUZZ_COUNTED");
            command.output().unwrap()
        }

        fn summary(&self) -> String {
            std::fs::read_to_string(self.0.join("out/summary.txt")).unwrap()
        }
    }

    impl Drop for Bundle {
        fn drop(&mut self) {
            // What is left behind lies in the temporary folder.
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn row<'a>(summary: &'a str, step: &str) -> &'a str {
        summary
            .lines()
            .find(|line| line.starts_with(&format!("{step} ")))
            .unwrap_or_else(|| panic!("{summary}"))
    }

    #[test]
    fn all_steps_run_and_are_summed_up() {
        let bundle = Bundle::new("all");
        let output = bundle.run(&[]);
        assert!(output.status.success(), "{output:?}");
        let summary = bundle.summary();
        assert!(String::from_utf8_lossy(&output.stdout).ends_with(&summary));
        assert!(row(&summary, "tests").ends_with("test result: ok. 5 passed (gpu,nvrtc)"), "{summary}");
        assert!(
            row(&summary, "memcheck-gpu").contains("ok")
                && row(&summary, "memcheck-gpu").contains("--tool memcheck --leak-check full")
        );
        for tool in ["racecheck", "synccheck", "initcheck"] {
            for tests in ["gpu", "runtime", "library"] {
                let row = row(&summary, &format!("{tool}-{tests}"));
                assert!(
                    row.contains(&format!("ERROR SUMMARY: 0 errors (small 1 --tool {tool} --error")),
                    "{summary}"
                );
            }
        }
        assert!(row(&summary, "runtime").ends_with("test result: ok. 7 passed"));
        assert!(row(&summary, "library").ends_with("9 passed (gpu:: --nocapture)"), "{summary}");
        assert!(row(&summary, "numerics").ends_with("2 of 2 exact operations are equal"));
        assert!(summary.contains("\na.sin() f32 1 2\n") && bundle.0.join("out/n.json").exists());
        assert!(row(&summary, "record").ends_with("kernels::transpose copy hierarchy"));
        assert!(row(&summary, "peers").ends_with("libtileproof_c.so [] out"), "{summary}");
        assert!(row(&summary, "example").ends_with("transpose_vectorised at 8192 x 8192: equal"));
        assert!(row(&summary, "bench").ends_with("[1 2 3] --bench"));
        assert!(row(&summary, "parity").ends_with("1 of 1 counts agree"));
        assert!(
            row(&summary, "fuzz").ends_with("9 kernels: 9 agree, 0 differ, 0 refused (0..3000)"),
            "{summary}"
        );
        assert!(row(&summary, "fuzz-counters").ends_with("8 of 8 counters agree"), "{summary}");
        let log = std::fs::read_to_string(bundle.0.join("out/parity.log")).unwrap();
        assert!(log.starts_with("prepare ") && log.ends_with("1 of 1 counts agree\n"), "{log}");
        assert!(bundle.0.join("out/parity.json").exists());
        assert!(bundle.0.join("out/x.json").exists());
        assert_eq!(std::fs::read_dir(bundle.0.join("out")).unwrap().count(), 28);
    }

    #[test]
    fn failures_are_told_and_the_rest_still_runs() {
        let bundle = Bundle::new("failure");
        bundle.script("gpu-tests", "echo 'test result: FAILED. 4 passed; 1 failed'; exit 101");
        bundle.script("tools/ncu", "echo 'no permission' >&2; exit 4");
        let output = bundle.run(&["tests", "parity", "example"]);
        assert_eq!(output.status.code(), Some(1));
        let summary = bundle.summary();
        assert!(row(&summary, "tests").contains("FAILED (101)"), "{summary}");
        assert!(row(&summary, "example").contains(" ok "), "{summary}");
        // A host that has the profiler fails here at its first use instead.
        assert!(row(&summary, "parity").contains("NOT FOUND") || row(&summary, "parity").contains("FAILED"));
        assert!(!summary.contains("bench"));
    }

    #[test]
    fn an_unknown_step_is_refused() {
        let bundle = Bundle::new("unknown");
        let output = bundle.run(&["tets"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("no step `tets`"));
        assert!(!Path::new(&bundle.0).join("out/summary.txt").exists());
    }
}
