"""Copies, transposes and permutations by tileproof and by its peers, in one process and on the same buffers.

usage: peers.py LIBRARY CASES FOLDER

LIBRARY is libtileproof_c.so, CASES the output of `record --cases`. Needs PyTorch; Triton, torch.compile, CuPy and cuBLAS are
measured where they are found, and one that fails prints its error while the others go on. Writes
FOLDER/<date>-<gpu>-peers.json, in the form of the records of `record`, and prints a table last: the share of the faster copy of the
same bytes, for each case and program. The exit status is 1 if a result is wrong or tileproof fails, otherwise 0.

PEERS_SECONDS (default 140) is the time after which no further case begins; PEERS_CASES chooses cases by a part of their name.
"""

import ctypes
import datetime
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

import torch

ROUNDS = 15
LAUNCHES = 4
# The GPU waits for so many cycles before each sample, so that everything is enqueued when the first launch begins.
AHEAD = 1_000_000
# Choices of a Triton kernel: elements along the input's and the output's innermost dimension, warps.
TILES = [
    (64, 64, 4), (32, 32, 4), (64, 64, 8), (128, 64, 8), (64, 128, 8),
    (128, 128, 8), (32, 64, 4), (64, 32, 4), (32, 128, 4), (128, 32, 4),
]
# Seconds after which the search among them ends with the best so far.
TUNING = 4.0

DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "u8": torch.uint8}


class Unavailable(Exception):
    """A program that is not there."""


class Unsuited(Exception):
    """A case that a program has nothing for."""


# tileproof


def load_ours(path):
    library = ctypes.CDLL(path)
    sizes = ctypes.POINTER(ctypes.c_size_t)
    library.tileproof_error.restype = ctypes.c_char_p
    library.tileproof_copy.argtypes = [
        ctypes.c_int, ctypes.c_uint64, ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t,
    ]
    library.tileproof_permute.argtypes = [
        ctypes.c_int, ctypes.c_uint64, ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t, sizes, sizes,
    ]
    library.tileproof_transpose_in_place.argtypes = [
        ctypes.c_int, ctypes.c_uint64, ctypes.c_int, ctypes.c_uint64, ctypes.c_size_t,
    ]
    return library


def checked(library, status):
    if status != 0:
        raise RuntimeError(library.tileproof_error().decode(errors="replace"))


def our_copy(library, case):
    def run(x, y):
        stream = torch.cuda.current_stream().cuda_stream
        checked(library, library.tileproof_copy(0, stream, x.element_size(), x.data_ptr(), y.data_ptr(), x.numel()))

    return run


def ours(library, case):
    rank = len(case["extents"])
    extents = (ctypes.c_size_t * rank)(*case["extents"])
    order = (ctypes.c_size_t * rank)(*case["order"])

    def permute(x, y):
        stream = torch.cuda.current_stream().cuda_stream
        checked(
            library,
            library.tileproof_permute(
                0, stream, x.element_size(), x.data_ptr(), y.data_ptr(), rank, extents, order
            ),
        )

    def in_place(_, y):
        stream = torch.cuda.current_stream().cuda_stream
        checked(
            library,
            library.tileproof_transpose_in_place(0, stream, y.element_size(), y.data_ptr(), case["extents"][0]),
        )

    return in_place if case["in_place"] else permute


# PyTorch


def torch_copy(case):
    return lambda x, y: y.view(-1).copy_(x.view(-1))


def torch_eager(case):
    order = case["order"]
    return lambda x, y: y.copy_(x.permute(order))


def torch_compiled(case):
    order = case["order"]
    torch._dynamo.reset()

    def permute(x, y):
        y.copy_(x.permute(order))

    return torch.compile(permute, dynamic=False)


# Triton

try:
    import triton
    import triton.language as tl

    @triton.jit
    def triton_permute(
        x, y, n_i, n_j, n_a, n_b,
        x_i, x_j, x_a, x_b, y_i, y_j, y_a, y_b,
        I: tl.constexpr, J: tl.constexpr,
    ):
        program = tl.program_id(0).to(tl.int64)
        tiles_j = tl.cdiv(n_j, J)
        tiles_i = tl.cdiv(n_i, I)
        j = program % tiles_j * J + tl.arange(0, J)
        rest = program // tiles_j
        i = rest % tiles_i * I + tl.arange(0, I)
        rest = rest // tiles_i
        b = rest % n_b
        a = rest // n_b
        inside = (j < n_j)[:, None] & (i < n_i)[None, :]
        source = x + a * x_a + b * x_b + j[:, None] * x_j + i[None, :] * x_i
        target = y + a * y_a + b * y_b + j[:, None] * y_j + i[None, :] * y_i
        tl.store(target, tl.load(source, mask=inside), mask=inside)

    TRITON = None
except Exception as error:  # whatever keeps it from being imported
    TRITON = f"{type(error).__name__}: {error}"


def triton_arguments(case):
    """Extents and strides of the tile's two dimensions, then of two more: of i, which is innermost in the input, and j, which is in
    the output, or is the one before in both."""
    extents, order = case["extents"], case["order"]
    rank = len(extents)
    input_strides = [math.prod(extents[d + 1:]) for d in range(rank)]
    turned = [extents[d] for d in order]
    output_strides = [0] * rank
    for place, d in enumerate(order):
        output_strides[d] = math.prod(turned[place + 1:])
    i = rank - 1
    if rank == 1:
        raise Unsuited
    j = order[-1] if order[-1] != i else order[-2]
    others = [d for d in range(rank) if d not in (i, j)]
    if len(others) > 2:
        raise Unsuited
    others = others + [None] * (2 - len(others))
    dims = [i, j] + others
    take = lambda values, missing: [missing if d is None else values[d] for d in dims]
    return take(extents, 1), take(input_strides, 0), take(output_strides, 0)


def triton_best(case, windows):
    if TRITON is not None:
        raise Unavailable(TRITON)
    (n_i, n_j, n_a, n_b), x_strides, y_strides = triton_arguments(case)

    def choice(tile_i, tile_j, warps):
        blocks = triton.cdiv(n_i, tile_i) * triton.cdiv(n_j, tile_j) * n_a * n_b

        def run(x, y):
            triton_permute[(blocks,)](
                x, y, n_i, n_j, n_a, n_b, *x_strides, *y_strides, I=tile_i, J=tile_j, num_warps=warps
            )

        return run

    begun = time.monotonic()
    best = (math.inf, None, None)
    failed = []
    for tile in TILES:
        if time.monotonic() - begun > TUNING and best[1] is not None:
            break
        try:
            run = choice(*tile)
            run(*windows[0])
            took = min(sample(run, windows) for _ in range(3))
            best = min(best, (took, tile, run), key=lambda it: it[0])
        except Exception as error:
            failed.append(f"{tile}: {type(error).__name__}")
    if best[1] is None:
        raise RuntimeError("; ".join(failed))
    return best[2], f"tile {best[1][0]} × {best[1][1]}, {best[1][2]} warps"


# CuPy


def cupy_copy(case):
    try:
        import cupy
    except Exception as error:
        raise Unavailable(f"{type(error).__name__}: {error}") from error
    order = case["order"]
    views = {}

    def view(tensor):
        key = tensor.data_ptr()
        if key not in views:
            views[key] = cupy.asarray(tensor)
        return views[key]

    return lambda x, y: cupy.copyto(view(y), view(x).transpose(order))


# cuBLAS


def load_cublas():
    # By its bare name the loader gives the library that PyTorch has loaded and made its handle with.
    version = (torch.version.cuda or "13").split(".")[0]
    for name in [f"libcublas.so.{version}", "libcublas.so"]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise Unavailable("no libcublas")


def geam(case):
    functions = {"f32": ("cublasSgeam", ctypes.c_float), "f64": ("cublasDgeam", ctypes.c_double)}
    if case["element"] not in functions or len(case["extents"]) != 2:
        raise Unsuited
    handle = torch.cuda.current_blas_handle()
    name, number = functions[case["element"]]
    function = getattr(load_cublas(), name)
    pointer = ctypes.POINTER(number)
    function.argtypes = [
        ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int,
        pointer, ctypes.c_void_p, ctypes.c_int, pointer, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int,
    ]
    one, zero = number(1.0), number(0.0)
    rows, cols = case["extents"]
    as_is, turned = 0, 1

    def run(x, y):
        status = function(
            handle, turned, as_is, rows, cols, ctypes.byref(one), x.data_ptr(), cols,
            ctypes.byref(zero), y.data_ptr(), rows, y.data_ptr(), rows,
        )
        if status != 0:
            raise RuntimeError(f"{name} returned {status}")

    return run


# measuring


def make_windows(case, cache):
    """Pairs of input and output, as many as exceed four times the second-level cache."""
    dtype = DTYPES[case["element"]]
    turned = [case["extents"][d] for d in case["order"]]
    elements = math.prod(case["extents"])
    count = max(1, -(-4 * cache // max(1, case["moved_bytes"])))
    windows = []
    for _ in range(count):
        if dtype == torch.uint8:
            x = torch.randint(0, 256, (elements,), dtype=dtype, device="cuda")
        else:
            x = torch.randn(elements, device="cuda", dtype=torch.float32).to(dtype)
        windows.append((x.view(case["extents"]), torch.zeros(turned, dtype=dtype, device="cuda")))
    return windows


turn = 0


def sample(run, windows):
    """Microseconds of a launch, the mean of LAUNCHES, each on the next window."""
    global turn
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda._sleep(AHEAD)
    start.record()
    for _ in range(LAUNCHES):
        turn += 1
        run(*windows[turn % len(windows)])
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1e3 / LAUNCHES


def is_right(run, case, windows, is_copy, expected):
    x, y = windows[0]
    if case["in_place"] and not is_copy:
        y.copy_(x)
    else:
        y.zero_()
    run(x, y)
    torch.cuda.synchronize()
    return torch.equal(y.view(-1), x.view(-1)) if is_copy else torch.equal(y, expected)


def programs(library, case, windows):
    """Name, whether it is a copy, whether it is ours, and what makes the function that runs it, with a note."""
    plain = lambda make: lambda: (make(case), None)
    yield "PyTorch copy", True, False, plain(torch_copy)
    yield "tileproof copy", True, True, lambda: (our_copy(library, case), None)
    if len(case["extents"]) == 1:
        return
    yield "tileproof", False, True, lambda: (ours(library, case), None)
    yield "PyTorch", False, False, plain(torch_eager)
    yield "torch.compile", False, False, plain(torch_compiled)
    yield "Triton", False, False, lambda: triton_best(case, windows)
    yield "CuPy", False, False, plain(cupy_copy)
    yield "cuBLAS geam", False, False, plain(geam)


def measure(library, case, cache):
    windows = make_windows(case, cache)
    expected = windows[0][0].permute(case["order"]).contiguous()
    skipped, ready, failed = [], [], False
    for name, is_copy, is_ours, make in programs(library, case, windows):
        try:
            run, note = make()
            right = is_right(run, case, windows, is_copy, expected)
            sample(run, windows)
            ready.append((name, is_copy, run, note, right))
        except Unsuited:
            continue
        except Unavailable as reason:
            skipped.append(f"{case['case']}: {name}: {reason}")
        except Exception as error:
            text = str(error).strip().splitlines()
            skipped.append(f"{case['case']}: {name}: {type(error).__name__}: {text[0][:300] if text else ''}")
            print(f"FAILED {skipped[-1]}", flush=True)
            failed |= is_ours
    samples = [[] for _ in ready]
    for turns in range(ROUNDS):
        for position in range(len(ready)):
            index = (turns + position) % len(ready)
            samples[index].append(sample(ready[index][2], windows))
    medians = [statistics.median(times) for times in samples]
    copies = [index for index, it in enumerate(ready) if it[1]]
    faster = min(copies, key=lambda index: medians[index]) if copies else None
    subjects = []
    for (name, is_copy, _, note, right), times, median in zip(ready, samples, medians):
        times = sorted(times)
        quarter = len(times) // 4
        subjects.append({
            "name": name,
            "is_copy": is_copy,
            "equal_to_reference": right,
            "microseconds": round(median, 2),
            "microseconds_middle_half": [round(times[quarter], 2), round(times[-1 - quarter], 2)],
            "gb_per_s": round(case["moved_bytes"] / median / 1e3, 1),
            "of_faster_copy": 0.0 if faster is None else round(medians[faster] / median, 4),
            "note": note,
        })
    row = {key: case[key] for key in ["case", "element", "extents", "order", "moved_bytes"]}
    row |= {
        "windows": len(windows),
        "faster_copy": "" if faster is None else ready[faster][0],
        "subjects": subjects,
    }
    return row, skipped, failed


# the record


def machine():
    properties = torch.cuda.get_device_properties(0)
    version = ctypes.c_int(0)
    try:
        ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
    except OSError:
        pass
    try:
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "--id=0"]
        driver = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
    except Exception:
        driver = None
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "gpu": properties.name,
        "architecture": f"sm_{properties.major}{properties.minor}",
        "driver": driver,
        "driver_cuda": f"{version.value // 1000}.{version.value % 1000 // 10}",
        "nvrtc": None,
    }, properties


def versions():
    found = {"PyTorch": torch.__version__, "CUDA of PyTorch": torch.version.cuda}
    for name, module in [("Triton", "triton"), ("CuPy", "cupy")]:
        try:
            found[name] = __import__(module).__version__
        except Exception:
            found[name] = None
    return found


def table(record):
    names = []
    for row in record["cases"]:
        names += [it["name"] for it in row["subjects"] if it["name"] not in names]
    width = max([len(row["case"]) for row in record["cases"]] + [4])
    lines = [f"{'case':<{width}} " + " ".join(f"{name:>14}" for name in names)]
    for row in record["cases"]:
        cells = {it["name"]: it for it in row["subjects"]}
        texts = []
        for name in names:
            it = cells.get(name)
            texts.append("–" if it is None else f"{it['of_faster_copy']:.3f}" + ("" if it["equal_to_reference"] else " WRONG"))
        lines.append(f"{row['case']:<{width}} " + " ".join(f"{text:>14}" for text in texts))
    right = sum(it["equal_to_reference"] for row in record["cases"] for it in row["subjects"])
    total = sum(len(row["subjects"]) for row in record["cases"])
    lines.append(f"peers: {len(record['cases'])} cases, {right} of {total} results equal PyTorch's")
    return "\n".join(lines)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    library_path, cases_path, folder = sys.argv[1:]
    begun = time.monotonic()
    seconds = float(os.environ.get("PEERS_SECONDS", "140"))
    chosen = os.environ.get("PEERS_CASES", "")
    with open(cases_path, encoding="utf-8") as file:
        cases = [case for case in json.load(file) if chosen in case["case"]]
    head, properties = machine()
    library = load_ours(os.path.abspath(library_path))
    cache = getattr(properties, "L2_cache_size", 64 << 20)
    record = {
        "benchmark": "peers",
        **head,
        "versions": versions(),
        "method": (
            f"programs in turns in one process, on the same buffers and PyTorch's default stream, {ROUNDS} rounds after one to warm "
            f"up, each beginning with another program; a sample is the mean of {LAUNCHES} launches between two CUDA events, enqueued "
            "while the GPU waits; what is smaller than four times the second-level cache is measured on several pairs of buffers "
            "in turn; random numbers; in place, tileproof alone writes its input, and the others another matrix; each result is compared with PyTorch's; Triton is the fastest of "
            f"{len(TILES)} choices of tile and warps, or of those that {TUNING:.0f} seconds allowed"
        ),
        "skipped": [],
        "cases": [],
    }
    name = "-".join(re.findall(r"[a-z0-9]+", head["gpu"].lower().replace("nvidia", "")))
    path = os.path.join(folder, f"{head['date']}-{name}-peers.json")
    failed = False
    for case in cases:
        if time.monotonic() - begun > seconds:
            record["skipped"].append(f"{case['case']}: no time left")
            continue
        try:
            row, skipped, broken = measure(library, case, cache)
            record["cases"].append(row)
            record["skipped"] += skipped
            failed |= broken
            print(f"{time.monotonic() - begun:6.1f} s  {case['case']}", flush=True)
        except Exception as error:
            failed = True
            record["skipped"].append(f"{case['case']}: {type(error).__name__}: {str(error)[:300]}")
            print(f"FAILED {record['skipped'][-1]}", flush=True)
        torch.cuda.empty_cache()
        with open(path, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=2, ensure_ascii=False)
            file.write("\n")
    for line in record["skipped"]:
        print(f"skipped {line}")
    print(f"written to {path}")
    print(table(record))
    wrong = any(not it["equal_to_reference"] for row in record["cases"] for it in row["subjects"])
    sys.exit(1 if wrong or failed or not record["cases"] else 0)


if __name__ == "__main__":
    main()
