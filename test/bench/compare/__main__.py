# SPDX-License-Identifier: MIT
"""
Runs the workers of all timer facilities, and reports.

    python3 test/bench/compare --build DIR --out DIR [--quick | --readme]
                               [--rounds N] [--peers a,b] [--works x,y]
    python3 test/bench/compare --results FILE... --out DIR

Several files are parts of one run: of the same library on the same machine.
"""
import argparse
import json
import os
import random
import sys

# The sources' directory is left as it is: it may be read-only, or packed.
sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import machine
import page
import peers
import plan
import plots
import publish
import run
import summary


def arguments():
    p = argparse.ArgumentParser(prog="compare", description=__doc__,
                                formatter_class=argparse.
                                RawDescriptionHelpFormatter)
    p.add_argument("--build", metavar="DIR", help="where the workers are")
    p.add_argument("--out", metavar="DIR", required=True,
                   help="where results.jsonl, table.txt and plots go")
    p.add_argument("--quick", action="store_true",
                   help="in less than a minute, only the cheap works, once")
    p.add_argument("--readme", action="store_true",
                   help="only what README's table has, in some minutes; "
                   "--publish then changes that alone")
    p.add_argument("--rounds", type=int, default=0, metavar="N",
                   help="of every work, instead of the plan's")
    p.add_argument("--peers", metavar="A,B",
                   help="only these; the loops they need are added")
    p.add_argument("--works", metavar="X,Y", help="only these")
    p.add_argument("--results", metavar="FILE", nargs="+",
                   help="run nothing, report on these")
    p.add_argument("--publish", action="store_true",
                   help="put the figures into README and RESULTS.md, too, and "
                   "the plots beside it")
    p.add_argument("--instructions", metavar="FILE",
                   help="what make bench-instructions has printed, for these")
    p.add_argument("--estimate", action="store_true",
                   help="run nothing, say what would be run")
    options = p.parse_args()
    if not options.build and not options.results:
        p.error("--build or --results is missing")
    return options


def chosen(all_of, names, what):
    """Those of them that are wanted, all if nothing is said."""
    if names is None:
        return all_of
    wanted = names.split(",")
    unknown = [name for name in wanted if name not in all_of]
    if unknown:
        print(f"compare: no such {what}: {', '.join(unknown)}",
              file=sys.stderr)
    return [name for name in all_of if name in wanted]


def choose_peers(options):
    found = peers.found_in(options.build)
    away = peers.missing(found)
    if away:
        print(f"no program for: {', '.join(away)}", file=sys.stderr)
    wanted = options.peers or (options.readme and ",".join(
        peer for peer, *_ in publish.SHOWN)) or None
    names = peers.with_loops(chosen(found, wanted, "peer"))
    return [name for name in names if name in found]


def choose_jobs(options):
    cases = plan.quick() if options.quick else plan.full()
    works = chosen(list(dict.fromkeys(c.work for c in cases)), options.works,
                   "work here")
    cases = [c for c in cases if c.work in works and
             (publish.shows(c) or not options.readme)]
    # The order is the same in each run of the program: it can be repeated.
    order = random.Random(1)
    rounds = 1 if options.quick and not options.rounds else options.rounds
    return plan.jobs(cases, choose_peers(options), rounds, order.shuffle)


def show_estimate(jobs):
    for case in dict.fromkeys(case for _, case, _ in jobs):
        of_case = [job for job in jobs if job[1] == case]
        print(f"{run.clock(plan.takes(of_case)):>7}  {len(of_case):4} x "
              f"{case}")
    print(f"{run.clock(plan.takes(jobs)):>7}  {len(jobs):4} in all")


def measure(options, jobs):
    """Each record is in the file once it is there: a run may be broken off."""
    path = os.path.join(options.out, "results.jsonl")
    if os.path.exists(path):
        os.replace(path, path + ".old")
    with open(path, "w", encoding="utf-8") as f:
        def write(record):
            f.write(json.dumps(record) + "\n")
            f.flush()
        about = machine.describe(options.build)
        away = peers.missing({peer for _, _, peer in jobs})
        write({"machine": {**about, "not measured": ", ".join(away) or "none"}})
        try:
            run.run_all(options.build, jobs, write)
        except KeyboardInterrupt:
            print("compare: broken off", file=sys.stderr)
    return path


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read().splitlines()


def report(paths, out, options):
    results = summary.load(*map(read, paths))
    text = "\n".join(page.lines(results)) + "\n"
    with open(os.path.join(out, "table.txt"), "w", encoding="utf-8") as f:
        f.write(text)
    sys.stdout.write(text)
    plots.draw_all(results, out)
    if options.publish and options.readme:
        publish.publish_readme(results)
    elif options.publish:
        publish.publish(results, read(options.instructions)
                        if options.instructions else (), out)


def main():
    options = arguments()
    if not options.results:
        jobs = choose_jobs(options)
        if options.estimate:
            return show_estimate(jobs)
        if not jobs:
            sys.exit("compare: nothing to run")
        print(f"{len(jobs)} runs, about {run.clock(plan.takes(jobs))} minutes",
              file=sys.stderr)
    os.makedirs(options.out, exist_ok=True)
    report(options.results or [measure(options, jobs)], options.out, options)
    return None


if __name__ == "__main__":
    main()
