"""Random programs with kernels in Python, each judged beside an oracle that shares no code with the package.

    gen_kernels.py --seed FIRST COUNT [--jobs N] [--reduce] [--seconds S]     the programs with these numbers
    gen_kernels.py --fresh [--jobs N]                                         programs of today, for as many seconds as RG_FRESH says
    gen_kernels.py --print SEED                                               a program's text
    gen_kernels.py --file FILE [--reduce]                                     a program in a file

A program is judged in a process of its own kind, so that one that ends it or never ends is a failure like others. gen_text writes programs,
gen_oracle runs them in plain Python on dual numbers, gen_judge compares. Exit status 1: a program failed; 77: RG_FRESH is not set.
"""

import argparse
import collections
import datetime
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time

LIMIT = 60  # seconds for one program
RENEWED = 150  # programs after which a worker is replaced by a new one


def work():
    """A worker: texts come in, verdicts go out, one a line. What the programs print goes nowhere."""
    import gen_judge

    verdicts = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin:
        verdict = gen_judge.judge(json.loads(line))
        print(json.dumps([verdict.kind, verdict.why, verdict.notes, gen_judge.sort_of(verdict)]), file=verdicts, flush=True)


class Bench:
    """Judges texts in a worker."""

    def __init__(self):
        self.worker, self.done = None, 0

    def judge(self, text):
        """Kind, why, notes and sort of the verdict."""
        if self.worker is None or self.done >= RENEWED:
            self.stop()
            self.worker = subprocess.Popen([sys.executable, "-W", "ignore", __file__, "--worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                           stderr=subprocess.DEVNULL, text=True)
        self.done += 1
        try:
            self.worker.stdin.write(json.dumps(text) + "\n")
            self.worker.stdin.flush()
            if not select.select([self.worker.stdout], [], [], LIMIT)[0]:
                self.worker.kill()
                return self.lost(f"no end within {LIMIT} s")
            line = self.worker.stdout.readline()
        except BrokenPipeError:
            line = ""
        return json.loads(line) if line.startswith("[") else self.lost("the process ended")

    def lost(self, why):
        self.worker.kill()
        status = self.worker.wait()
        self.worker = None
        why = f"{why}, status {status}"
        return ["failed", why, [], ["failed", why]]

    def stop(self):
        if self.worker is not None:
            self.worker.stdin.close()
            self.worker.stdout.close()
            self.worker.wait()
        self.worker, self.done = None, 0


class Session:
    """Programs judged side by side."""

    def __init__(self, seeds, jobs, seconds=None, reduce=False):
        self.seeds, self.jobs, self.reduce = iter(seeds), jobs, reduce
        self.end = None if seconds is None else time.monotonic() + seconds
        self.counts, self.lock = collections.Counter(), threading.Lock()

    def next(self):
        with self.lock:
            return None if self.end is not None and time.monotonic() > self.end else next(self.seeds, None)

    def run(self):
        threads = [threading.Thread(target=self.loop) for _ in range(self.jobs)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return self.counts

    def loop(self):
        import gen_text

        bench = Bench()
        while (seed := self.next()) is not None:
            text = gen_text.program(seed)
            kind, why, notes, sort = bench.judge(text)
            with self.lock:
                self.counts[kind] += 1
                self.counts.update(f"  {kind}: {n}" for n in ([why] if kind in ("undefined", "refused") else notes))
            if kind in ("failed", "invalid"):
                self.report(f"seed {seed}", bench, text, why, sort)
        bench.stop()

    def report(self, name, bench, text, why, sort):
        if self.reduce:
            from gen_reduce import reduce

            text = reduce(text, lambda t: bench.judge(t)[3] == sort)
            why = f"{why}\nreduced: {' '.join(bench.judge(text)[:2])}"
        with self.lock:
            print(f"--- {name}: {why}" + (f"\n{text}" if self.reduce else ""), flush=True)


def first_of_today():
    """The first of the seeds that no day before has used."""
    return int(datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d")) * 10**7


def printed(counts):
    total = sum(n for kind, n in counts.items() if not kind.startswith(" "))
    bad = counts["failed"] + counts["invalid"]
    print(f"{total} programs: {counts['passed']} passed, {counts['undefined']} undefined where they are evaluated, "
          f"{counts['refused']} refused, {bad} failed")
    for kind, n in sorted(counts.items()):
        if kind.startswith(" "):
            print(f"{kind}: {n}")
    return bad


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seed", nargs=2, type=int, metavar=("FIRST", "COUNT"))
    options.add_argument("--fresh", action="store_true")
    options.add_argument("--print", type=int, metavar="SEED", dest="shown")
    options.add_argument("--file")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--reduce", action="store_true")
    options.add_argument("--seconds", type=float)
    options.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.worker:
        return work()
    if given.shown is not None:
        import gen_text

        return print(gen_text.program(given.shown), end="")
    if given.file:
        session, bench, text = Session([], 1, reduce=given.reduce), Bench(), open(given.file).read()
        kind, why, notes, sort = bench.judge(text)
        session.report(given.file, bench, text, f"{kind} {why} {notes}", sort) if kind == "failed" else print(kind, why, notes)
        return int(kind == "failed")
    if given.fresh:
        if "RG_FRESH" not in os.environ:
            print("RG_FRESH is not set")
            return 77
        first, count = first_of_today(), 10**7
        given.seconds = float(os.environ["RG_FRESH"])
        print(f"programs from seed {first} on")
    elif given.seed:
        first, count = given.seed
    else:
        options.error("--seed, --fresh, --print or --file")
    session = Session(range(first, first + count), given.jobs, given.seconds, given.reduce)
    for s in (signal.SIGINT, signal.SIGTERM):  # no further programs; what there is is printed
        signal.signal(s, lambda *_: setattr(session, "end", 0.0))
    return int(printed(session.run()) > 0)


if __name__ == "__main__":
    sys.exit(main())
