#!/usr/bin/env bash
# Runs the bundle on a host with a GPU; needs no Rust and no network.
#
#   ./run.sh [STEP…]      all steps, or those named: tests runtime library numerics memcheck racecheck
#                         synccheck initcheck example record peers bench parity fuzz fuzz-counters
#
# A log a step goes into $OUT (default: ./out), and a table into $OUT/summary.txt and to the terminal, last. The exit
# status is 0 when every step succeeded. The step `record` leaves <date>-<gpu>-ceiling-<group>.json there too, the shares of the
# copy, measured in turns, and <date>-<gpu>-hierarchy.json; GROUPS_RECORDED (default: all) chooses among copy, transpose, permute, matmul and
# hierarchy; matmul leaves <date>-<gpu>-matmul.json. The step `peers` leaves <date>-<gpu>-peers.json: tileproof beside what the host's Python has, of which PyTorch is needed;
# PEERS_CASES chooses cases by a part of their name. The step `parity` leaves <date>-<gpu>-parity.json, parity.txt with every count, and what the
# profiler printed. STEP_SECONDS (default 240) bounds each step; SIZE (default "8192 8192") is the example's,
# COUNTED (default: all) names the kernels that
# run under the profiler. The step `numerics` leaves <date>-<gpu>-numerics.json: what every operation computes, against correct
# rounding. FUZZ_SEEDS (default 0..3000) are the random kernels that run three ways, FUZZ_COUNTED (default 0..60) those that run under
# the profiler; the kernels that go wrong are in $OUT/fuzz-SEED.txt.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
read -ra size <<<"${SIZE:-8192 8192}"
read -ra groups <<<"${GROUPS_RECORDED:-}"
read -ra counted <<<"${COUNTED:-}"

# The step `parity`, started again as a process so that `timeout` can end it: predicts, launches under the profiler,
# and compares. What does not agree, and the numbers, go into the second folder's short.txt too.
if [ "${1:-}" = --parity ]; then
    set -e
    out=$2 work=$3
    "$here/parity" prepare "$work" "${counted[@]}"
    metrics=$("$here/parity" metrics)
    status=0
    ncu --csv --page raw --print-units base --print-metric-instances details --clock-control none \
        --metrics "$metrics" --log-file "$work/profile.csv" "$here/parity" launch "${counted[@]}" || status=$?
    if [ -f "$work/profile.csv" ]; then
        grep -E '^==(ERROR|WARNING)==' "$work/profile.csv" || true
        gzip -c "$work/profile.csv" >"$out/parity-profile.csv.gz"
    fi
    [ "$status" -eq 0 ] || exit "$status"
    "$here/parity" compare "$work" "$out" | tee "$work/short.txt"
    exit
fi

# The step `fuzz-counters`, likewise.
if [ "${1:-}" = --count-fuzz ]; then
    set -e
    work=$2
    "$here/fuzz" predict --seeds "${FUZZ_COUNTED:-0..60}" >"$work/fuzz-predicted.json"
    metrics=$("$here/fuzz" metrics)
    status=0
    ncu --csv --page raw --print-units base --clock-control none --metrics "$metrics" \
        --log-file "$work/fuzz-measured.csv" "$here/fuzz" launch --seeds "${FUZZ_COUNTED:-0..60}" || status=$?
    [ ! -f "$work/fuzz-measured.csv" ] || cat "$work/fuzz-measured.csv"
    [ "$status" -eq 0 ] || exit "$status"
    exec "$here/fuzz" compare "$work/fuzz-predicted.json" "$work/fuzz-measured.csv"
fi

out=${OUT:-$PWD/out}
seconds=${STEP_SECONDS:-240}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
chmod +x "$here"/*

# A test that finds no GPU or no NVRTC skips; here that would hide the failure.
export TILEPROOF_REQUIRE=${TILEPROOF_REQUIRE:-gpu,nvrtc}
export CRITERION_HOME=${CRITERION_HOME:-$work/criterion}

# The folder of libnvrtc: as given, the toolkit's, one the loader knows, or a Python wheel's.
find_nvrtc() {
    local folder
    for folder in "${TILEPROOF_NVRTC_DIR:-}" "${CUDA_HOME:-}/lib64" "${CUDA_PATH:-}/lib64" \
        /usr/local/cuda/lib64 /usr/local/cuda-*/lib64 /usr/local/cuda/targets/x86_64-linux/lib \
        "$(dirname "$(ldconfig -p 2>/dev/null | sed -n 's/.*libnvrtc\.so.* => //p' | head -n 1)")" \
        "$(python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))' 2>/dev/null)"/nvidia/{cu13/lib,cuda_nvrtc/lib}; do
        if compgen -G "$folder/libnvrtc.so*" >/dev/null; then
            echo "$folder"
            return
        fi
    done
}
if nvrtc=$(find_nvrtc) && [ -n "$nvrtc" ]; then
    export TILEPROOF_NVRTC_DIR=$nvrtc
fi

# cuBLAS is found by the loader alone: a toolkit's or a Python wheel's, beside NVRTC or in a folder of its own.
cublas=()
for folder in "${nvrtc:-}" "${nvrtc:-}"/../../cublas/lib /usr/local/cuda/lib64 /usr/local/cuda/targets/x86_64-linux/lib; do
    if compgen -G "$folder/libcublas.so*" >/dev/null; then
        cublas=(env "LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}")
        break
    fi
done

# The tools of the toolkit are not always on the path.
PATH=$PATH:/usr/local/cuda/bin:/opt/nvidia/nsight-compute:$(printf '%s:' /opt/nvidia/nsight-compute/*/ /usr/local/cuda-*/bin)

rows=()
details=()
failed=0

# step NAME PATTERN COMMAND…: runs the command into $out/NAME.log and keeps the last line that matches the pattern.
step() {
    local name=$1 pattern=$2 start=$SECONDS status verdict
    shift 2
    echo "==> $name"
    timeout --kill-after=10 "$seconds" "$@" >"$out/$name.log" 2>&1 </dev/null
    status=$?
    case $status in
        0) verdict=ok ;;
        124 | 137) verdict="TIMED OUT" ;;
        127) verdict="NOT FOUND" ;;
        *) verdict="FAILED ($status)" ;;
    esac
    if [ "$status" -ne 0 ]; then
        failed=1
        tail -n 15 "$out/$name.log"
    fi
    rows+=("$(printf '%-17s %-12s %5d s  %s' "$name" "$verdict" $((SECONDS - start)) \
        "$(grep -E "$pattern" "$out/$name.log" | tail -n 1 | sed 's/^ *//' | cut -c 1-110)")")
}

# All tests under a sanitizer, the largest matrices smaller; findings name lines of the Rust source, and fail.
sanitize() { # TOOL [OPTION…]
    local tool=$1 tests only
    shift
    for tests in gpu-tests runtime-tests library-tests; do
        only=()
        [ "$tests" != library-tests ] || only=(gpu::)
        step "$tool-${tests%-tests}" 'ERROR SUMMARY|RACECHECK SUMMARY' \
            env TILEPROOF_SMALL=1 TILEPROOF_LINEINFO=1 compute-sanitizer --tool "$tool" "$@" --error-exitcode 9 \
            --target-processes all "$here/$tests" "${only[@]}" --test-threads=1 --nocapture
    done
}

for name in "${@:-tests runtime library numerics memcheck racecheck synccheck initcheck example record peers bench parity fuzz fuzz-counters}"; do
    for name in $name; do
        case $name in
            tests) step tests '^test result' "$here/gpu-tests" --nocapture ;;
            runtime) step runtime '^test result' "$here/runtime-tests" --nocapture ;;
            # What this test runs on the simulator needs no GPU.
            library) step library '^test result' "$here/library-tests" gpu:: --nocapture ;;
            numerics)
                step numerics 'exact operations' env TILEPROOF_NUMERICS="$out" \
                    "$here/numerics" the_gpu --nocapture
                grep -E '^operation |^a\.|WRONG|not (done|measured)' "$out/numerics.log" | grep -v '^done after' >"$work/numerics"
                details+=("$work/numerics")
                ;;
            memcheck) sanitize memcheck --leak-check full ;;
            racecheck | synccheck | initcheck) sanitize "$name" ;;
            example) step example 'transpose_vectorised .*(equal|WRONG)' "$here/transpose" "${size[@]}" ;;
            record)
                step record 'kernels::transpose ' "${cublas[@]}" "$here/record" "$out" "${groups[@]}"
                # Without the copies by bytes in flight and the plans.
                grep -vE '^  (copy_[124]_of_|[A-Za-z ]+: \[)' "$out/record.log" >"$work/record"
                details+=("$work/record")
                ;;
            peers)
                step peers '^peers: ' bash -c '"$1/record" --cases >"$2/cases.json" && exec python3 "$1/peers.py" "$1/libtileproof_c.so" \
                    "$2/cases.json" "$3"' peers "$here" "$work" "$out"
                details+=("$out/peers.log")
                ;;
            bench) step bench 'thrpt|time:' "${cublas[@]}" "$here/bench" --bench ;;
            parity)
                : >"$work/short.txt"
                step parity 'counts agree' env TILEPROOF_LINEINFO=1 bash "$here/run.sh" --parity "$out" "$work"
                details+=("$work/short.txt")
                ;;
            fuzz)
                step fuzz 'kernels: ' "$here/fuzz" run --seeds "${FUZZ_SEEDS:-0..3000}" --out "$out"
                grep -E ' refused by |the source is in' "$out/fuzz.log" >"$work/found"
                details+=("$work/found")
                ;;
            fuzz-counters)
                step fuzz-counters 'counters agree' bash "$here/run.sh" --count-fuzz "$work"
                grep -E 'DIFFERENT|arbitration' "$out/fuzz-counters.log" >"$work/fuzz-unequal"
                details+=("$work/fuzz-unequal")
                ;;
            *)
                echo "error: no step \`$name\`; the header of $0 lists them" >&2
                exit 2
                ;;
        esac
    done
done

{
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo "nvidia-smi: not found"
    echo "NVRTC: ${TILEPROOF_NVRTC_DIR:-none found, left to the system}"
    printf '%s\n' "${rows[@]}"
    [ "${#details[@]}" -eq 0 ] || cat "${details[@]}"
} | tee "$out/summary.txt"
exit "$failed"
