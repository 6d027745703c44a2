#!/usr/bin/env python3
"""Public C kernels as they were written, through rgc. SPDX-License-Identifier: Apache-2.0

    run.py [--rgc RGC] [--cc CC] [--jobs N] [--list FILE] FOLDER [NAME]...

kernels.txt says where each comes from; nothing of them is part of this repository. FOLDER holds their repositories, each in a
folder of its own: `git clone URL FOLDER/NAME`, at the commit given. NAMEs: only these repositories, or kernels.

Each kernel passes if `rgc check` shows nothing wrong and `rgc run --no-fma` leaves what the same function does when a C compiler
makes it (without contraction of a * b + c) and it is called through ctypes with the same arguments; fields of structs are put there
by a function in C. One that takes structs in which other structs are pointed to, or whose made-up arguments do not lead through
it, is not compared, which is said.
"""
import argparse
import concurrent.futures
import ctypes
import functools
import io
import os
import re
import subprocess
import sys
import tempfile
import threading

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
DTYPES = {"bool": "?", "i8": "i1", "u8": "u1", "i16": "i2", "u16": "u2", "i32": "i4", "u32": "u4", "i64": "i8", "u64": "u8",
          "f16": "f2", "f32": "f4", "f64": "f8"}
CTYPES = {"bool": ctypes.c_bool, "i8": ctypes.c_int8, "u8": ctypes.c_uint8, "i16": ctypes.c_int16, "u16": ctypes.c_uint16,
          "i32": ctypes.c_int32, "u32": ctypes.c_uint32, "i64": ctypes.c_int64, "u64": ctypes.c_uint64, "f32": ctypes.c_float,
          "f64": ctypes.c_double}
COMPILE = ["-w", "-O1", "-fopenmp", "-ffp-contract=off", "-fPIC"]
LENGTH = 4096  # of arrays whose extents the kernel does not say
SECONDS = 300
TOLERANCES = {"float16": 1e-2, "float32": 1e-4, "float64": 1e-12}


lock = threading.Lock()
common_folder = None  # a folder for what all kernels of a repository share


class NotCompared(Exception):
    """The kernel cannot be called with arguments made up here."""


class Kernel:
    def __init__(self, repository, words, refused):
        self.repository, self.file, self.name = repository, words[0], words[1]
        self.arguments = [w for w in words[2:] if not w.startswith("-")]
        self.flags = repository["flags"] + [w for w in words[2:] if w.startswith("-")]
        self.refused = refused


def read_list(path):
    """[NAME] KEY = VALUE... sections; below each, lines FILE KERNEL [NAME=VALUE]... [-FLAG]... [! why it is refused]"""
    kernels, repository = [], None
    for line in open(path):
        line, _, refused = line.partition("!")
        line = line.partition("#")[0].strip()
        if line.startswith("["):
            repository = {"name": line.strip("[]"), "flags": []}
        elif " = " in line:
            key, value = line.split(" = ", 1)
            repository[key] = value.split() if key == "flags" else value
        elif line:
            kernels.append(Kernel(repository, line.split(), refused.strip()))
    return kernels


def call(words, folder):
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        return None, "", f"it runs longer than {SECONDS} s"


# -- the same function, made by a C compiler ---------------------------------------------------------------------------


class Parameter:
    def __init__(self, name, dtype, extents):
        self.name, self.dtype, self.extents = name, dtype, extents


def signature(options, k, folder):
    """As `rgc list` prints it: a line for each parameter, `return` among them."""
    code, out, err = call([options.rgc, "list", k.file, k.name, *k.flags], folder)
    found = []
    for line in out.splitlines():
        m = re.match(r"\s+(\S+)\s+(\w+)(\[[^\]]*\])?\s*(.*)$", line)
        if m and m.group(2) in DTYPES:
            number = "read" in m.group(4) or "written" in m.group(4) # in a struct: an array without axes
            found.append(Parameter(m.group(1), m.group(2), m.group(3)[1:-1].split(",") if m.group(3) else [] if number else None))
    if code or not found:
        raise NotCompared("no signature")
    return found


def make_values(parameters, given):
    """Scalars and arrays by name: what is given, integers 8, floats in [1/4, 5/4), whatever the order of parameters."""
    random = numpy.random.default_rng(7)
    values = {}
    for p in parameters:
        if p.extents is None:
            text = given.get(p.name, "8" if p.dtype[0] in "iub" else str(random.uniform(0.25, 1.25)))
            values[p.name] = numpy.array(float(text) if p.dtype[0] == "f" else int(text)).astype(DTYPES[p.dtype])[()]
    known = {name: int(v) for name, v in values.items() if not isinstance(v, numpy.floating)}
    for p in parameters:
        if p.extents is None or p.name == "return":
            continue
        try:
            shape = [LENGTH if e == "..." else int(eval(e, {}, known)) for e in p.extents]
        except (NameError, SyntaxError):
            raise NotCompared("extents that are no sums of parameters")
        count = int(numpy.prod(shape))
        text = given.get(p.name, "")
        if p.dtype[0] == "f":
            made = random.uniform(0.25, 1.25, count)
        else:
            made = random.integers(0, 8, count)
        if re.fullmatch(r"zeros(:.*)?", text):
            made = numpy.zeros(count)
        elif re.fullmatch(r"ones(:.*)?", text):
            made = numpy.ones(count)
        elif text:
            numbers = [float(t) for t in text.split(",")]
            if p.extents == ["..."]:
                shape, made = [len(numbers)], numpy.array(numbers)
            else:
                made = numpy.array(numbers)
        values[p.name] = made.astype(DTYPES[p.dtype]).reshape(shape)
    return values


def native_flags(k, folder):
    """For the C compiler, which runs elsewhere; and what --with names."""
    flags, others, words = [], [], iter(k.flags)
    for word in words:
        if word == "--with":
            others.append(os.path.join(folder, next(words)))
        else:
            flags.append(re.sub(r"^(-I|-include)(?=[^/])", lambda m: f"{m.group(1)}{folder}/", word))
    return flags, others


@functools.lru_cache(None)
def archive(cc, flags, others, folder):
    """The other files' functions, of those that the C compiler takes. One at a time: --jobs are threads."""
    work = tempfile.mkdtemp(dir=common_folder)
    objects = []
    for place in others:
        files = sorted(f for f in os.listdir(place) if f.endswith(".c")) if os.path.isdir(place) else [""]
        for n, name in enumerate(files):
            made = os.path.join(work, f"{len(objects)}-{n}.o")
            if call([cc, *COMPILE, "-c", *flags, os.path.join(place, name), "-o", made], folder)[0] == 0:
                objects.append(made)
    made = os.path.join(work, "others.a")
    call(["ar", "rcs", made, *objects], folder)
    return made


def parameter_types(options, k, folder, flags, work):
    """Of the kernel's parameters, as gcc writes them."""
    path = os.path.join(work, "prototypes")
    call([options.cc, "-w", "-fopenmp", "-fsyntax-only", "-aux-info", path, *flags, os.path.join(folder, k.file)], folder)
    for line in open(path) if os.path.exists(path) else []:
        m = re.match(r"/\*.*\*/\s*(?:extern|static)\s.*\b%s \((.*)\);" % re.escape(k.name), line)
        if m and "(" not in m.group(1):
            return [t.strip() for t in m.group(1).split(",")]
    raise NotCompared("it takes structs, and its types are not found")


# a field that is a pointer, or an array in the struct
FIELDS = """#define REALC_LEADS(f) __builtin_types_compatible_p(__typeof__(f), __typeof__(&(f)[0]))
#define REALC_PUT(f, v) if (REALC_LEADS(f)) *(void **)&f = v; else __builtin_memcpy(&f, v, sizeof f);
#define REALC_GET(f, v) if (!REALC_LEADS(f)) __builtin_memcpy(v, &f, sizeof f);
"""


def with_structs(options, k, folder, flags, work, parameters):
    """C that takes the fields one by one, as `rgc list` has them, and calls the kernel."""
    taken = [p for p in parameters if p.name != "return"]
    result = next((p for p in parameters if p.name == "return"), None)
    names = list(dict.fromkeys(p.name.partition(".")[0] for p in taken))
    types = parameter_types(options, k, folder, flags, work)
    if len(types) != len(names):
        raise NotCompared("it takes structs, and not all of its parameters")
    c_types = {"bool": "_Bool", "f32": "float", "f64": "double"}
    given, before, after, arguments = [], [], [], []
    for n, (name, c_type) in enumerate(zip(names, types)):
        c_type = re.sub(r"\b%s$" % re.escape(name), "", c_type).strip()
        of = [(i, p) for i, p in enumerate(taken) if p.name.partition(".")[0] == name]
        for i, p in of:
            ours = c_types.get(p.dtype) or p.dtype.replace("i", "int").replace("u", "uint").replace("uuint", "uint") + "_t"
            given.append(f"{ours} {'*' if p.extents is not None else ''}v{i}")
            if "." not in p.name:
                continue
            field = re.sub(r"\.([0-9]+)", r"[\1]", p.name.partition(".")[2])
            number = p.extents == []
            whole = p.extents is None or number
            before.append(f"s{n}.{field} = {'*' if number else ''}v{i};" if whole else f"REALC_PUT(s{n}.{field}, v{i})")
            after += [f"*v{i} = s{n}.{field};"] if number else [] if whole else [f"REALC_GET(s{n}.{field}, v{i})"]
        if "." in of[0][1].name:
            pointer = c_type.endswith("*")
            before.insert(0, f"{c_type.rstrip('* ').replace('const ', '')} s{n}; __builtin_memset(&s{n}, 0, sizeof s{n});")
            arguments.append(f"&s{n}" if pointer else f"s{n}")
        else:
            arguments.append(f"v{of[0][0]}")
    called = f"{k.name}({', '.join(arguments)});"
    ours = c_types.get(result.dtype, "long") if result else "void"
    return (f"{FIELDS}{ours} realc_wrapped({', '.join(given)}) {{ {' '.join(before)} "
            f"{'__auto_type r = ' if result else ''}{called} {' '.join(after)} {'return r;' if result else ''} }}\n")


def compile_natively(options, k, folder, work, parameters):
    source, library = os.path.join(work, "native.c"), os.path.join(work, "native.so")
    flags, others = native_flags(k, folder)
    structs = any("." in p.name for p in parameters)
    wrapper = with_structs(options, k, folder, flags, work, parameters) if structs else ""
    with open(source, "w") as f:
        f.write(f'#include "{os.path.join(folder, k.file)}"\n#include <stdint.h>\n{wrapper}'
                f"void *realc_kernel(void) {{ return (void *){'realc_wrapped' if structs else k.name}; }}\n")
    with lock:
        others = [archive(options.cc, tuple(flags), tuple(others), folder)] if others else []
    words = [options.cc, *COMPILE, "-shared", *flags, source, *others, "-o", library, "-lm"]
    words += ["-Wl,-z,lazy,-z,muldefs,--unresolved-symbols=ignore-all"]
    code, _, err = call(words, folder)
    if code:
        raise NotCompared("the C compiler refuses it: " + (err.strip().splitlines() or [""])[0])
    return library


def run_natively(library, parameters, values):
    """In a process of its own: it may crash."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            loaded = ctypes.CDLL(library, mode=os.RTLD_LAZY)
            loaded.realc_kernel.restype = ctypes.c_void_p
            result = next((p for p in parameters if p.name == "return"), None)
            taken = [p for p in parameters if p is not result]
            types = [CTYPES[p.dtype] if p.extents is None else ctypes.c_void_p for p in taken]
            function = ctypes.CFUNCTYPE(CTYPES[result.dtype] if result else None, *types)(loaded.realc_kernel())
            arguments = [values[p.name].item() if p.extents is None else values[p.name].ctypes.data for p in taken]
            returned = function(*arguments)
            with os.fdopen(writing, "wb") as out:
                changed = {p.name: values[p.name] for p in taken if p.extents is not None}
                if result:
                    changed["return"] = numpy.array([returned]).astype(DTYPES[result.dtype])
                numpy.savez(out, **changed)
            os._exit(0)
        except BaseException:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as source:
        data = source.read()
    _, status = os.waitpid(child, 0)
    if status:
        raise NotCompared("the arguments made up here do not lead through it")
    return dict(numpy.load(io.BytesIO(data)))


def compare(options, k, folder):
    """The worst relative error of what the kernel writes, as part of what it may be; raises NotCompared."""
    parameters = signature(options, k, folder)
    if any(p.extents is None and p.dtype == "f16" for p in parameters):
        raise NotCompared("it takes _Float16")
    values = make_values(parameters, dict(w.split("=", 1) for w in k.arguments))
    with tempfile.TemporaryDirectory() as work:
        library = compile_natively(options, k, folder, work, parameters)
        words = []
        for name, value in values.items():
            if isinstance(value, numpy.ndarray):
                path = os.path.join(work, name + ".npy")
                numpy.save(path, value)
                words.append(f"{name}={path}")
            else:
                words.append(f"{name}={value.item()!r}" if value.dtype.kind != "b" else f"{name}={str(bool(value)).lower()}")
        native = run_natively(library, parameters, values)
        code, _, err = call([options.rgc, "run", k.file, k.name, *k.flags, *words, "--no-fma", "--out", work + "/out"], folder)
        if code is None or code < 0 or code > 2:
            raise RuntimeError(f"rgc run ended with {code}")
        if code:
            raise NotCompared((err.strip().splitlines() or ["?"])[0])
        worst = 0.0
        for name in os.listdir(work + "/out"):
            found, want = numpy.load(os.path.join(work, "out", name)).ravel(), native[name[:-4]].ravel()
            kind = str(found.dtype)
            if kind not in TOLERANCES:
                worst = max(worst, 2 * float(numpy.any(found != want)))
                continue
            found, want = found.astype("f8"), want.astype("f8")
            alike = (found == want) | (numpy.isnan(found) & numpy.isnan(want))
            with numpy.errstate(all="ignore"):
                error = numpy.abs(found - want) / numpy.max(numpy.abs(want[numpy.isfinite(want)]), initial=1e-300)
            error = numpy.where(alike, 0, numpy.where(numpy.isfinite(error), error, numpy.inf))
            worst = max(worst, float(numpy.max(error, initial=0)) / TOLERANCES[kind])
    return worst


# -- one kernel ----------------------------------------------------------------------------------------------------------


def judge(options, k):
    """(word, text): passes, refused, wrong or crashed"""
    folder = os.path.join(options.folder, k.repository["name"])
    if not os.path.exists(os.path.join(folder, k.file)):
        return "absent", f"no {k.file}: git clone {k.repository['url']} {folder}"
    code, out, err = call([options.rgc, "check", k.file, k.name, *k.arguments, *k.flags, "--starts", "2"], folder)
    if code is None or code < 0 or code > 3:
        return "crashed", err.strip()[-200:] or f"rgc check ended with {code}"
    failed = [line for line in out.splitlines() if "FAILED" in line]
    if code == 1:
        errors = [line for line in err.splitlines() if "error" in line]
        internal = any("E02" in line for line in errors)
        return ("wrong" if failed or internal else "refused"), (failed or errors or ["?"])[0]
    unshown = "; " + next((line for line in out.splitlines() if "NOT SHOWN" in line), "").strip() if code == 3 else ""
    try:
        error = compare(options, k, folder)
    except NotCompared as why:
        return "passes", f"not compared with {options.cc}: {why}{unshown}"
    except RuntimeError as why:
        return "crashed", str(why)
    same = "the same bits as" if error == 0 else f"{error:.1e} of what it may differ from"
    return ("wrong" if error > 1 else "passes"), f"{same} {options.cc}'s{unshown}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rgc", default=os.path.join(HERE, "../../build/rgc"))
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", default=os.path.join(HERE, "kernels.txt"))
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.rgc, options.folder = os.path.abspath(options.rgc), os.path.abspath(options.folder)
    kernels = [k for k in read_list(options.list)
               if not options.names or k.repository["name"] in options.names or k.name in options.names]
    counts = {}
    global common_folder
    shared = tempfile.TemporaryDirectory()
    common_folder = shared.name
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for k, (word, text) in zip(kernels, pool.map(lambda k: judge(options, k), kernels)):
            counts[word] = counts.get(word, 0) + 1
            print(f"{word:8} {k.repository['name']:20} {k.name:28} {text[:200]}", flush=True)
            if word == "refused":
                print(f"{'':9}expected: {k.refused}" if k.refused else f"{'':9}not expected")
    there = sum(counts.values()) - counts.get("absent", 0)
    print(f"{counts.get('passes', 0)} of {there} pass ({100 * counts.get('passes', 0) / max(there, 1):.0f} %)", counts)
    return 1 if counts.get("wrong") or counts.get("crashed") else 0


if __name__ == "__main__":
    sys.exit(main())
