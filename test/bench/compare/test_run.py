# SPDX-License-Identifier: MIT
import os
import sys
import tempfile
import unittest

import peers
import plan
import run

PYTHON = [sys.executable, "-c"]


class Plan(unittest.TestCase):
    NAMES = ["timerthread", "libev", "go", "loop", "go-loop"]

    def jobs(self, cases, rounds=0, shuffle=lambda names: None):
        return plan.jobs(cases, self.NAMES, rounds, shuffle)

    def test_round_by_round_all_peers_of_a_case_in_turn(self):
        a = plan.Case("pair", (), 1, rounds=2)
        b = plan.Case("fire", (), 1, rounds=1, who=plan.TIMERS)
        jobs = [(n, c.work, peer) for n, c, peer in self.jobs([a, b])]
        self.assertEqual(jobs, [(1, "pair", p) for p in self.NAMES] +
                         [(1, "fire", p) for p in self.NAMES[:3]] +
                         [(2, "pair", p) for p in self.NAMES])

    def test_another_order_each_round(self):
        jobs = self.jobs([plan.Case("pair", (), 1)], 2,
                         lambda names: names.append(names.pop(0)))
        self.assertEqual(jobs[0][2], "libev")

    def test_yardsticks_are_the_loop_s(self):
        jobs = self.jobs([plan.Case("rmw", (), 1, who=plan.LOOP)], 1)
        self.assertEqual([peer for _, _, peer in jobs], ["loop"])

    def test_variants_do_one_work(self):
        names = ["timerthread", "timerthread-slack"]
        cases = [plan.Case("pair", (), 1),
                 plan.Case("fire", (), 1, who=plan.TIMERS)]
        jobs = plan.jobs(cases, names, 1, lambda turn: None)
        self.assertEqual([(c.work, peer) for _, c, peer in jobs],
                         [("pair", "timerthread"), ("fire", "timerthread"),
                          ("fire", "timerthread-slack")])

    def test_simulated_does_one_work_that_nobody_else_does(self):
        names = ["timerthread", "simulated", "loop"]
        cases = [plan.Case("pair", (), 1),
                 *plan.many("pair", 0.1, "threads", (64,))]
        jobs = plan.jobs(cases, names, 0, lambda turn: None)
        self.assertEqual([(n, c.work, peer) for n, c, peer in jobs
                          if n == 1 or c.work == "many"],
                         [(1, "pair", "timerthread"), (1, "pair", "loop"),
                          (1, "many", "simulated")])
        self.assertEqual(cases[1].arguments(), ["what=pair", "threads=64"])

    def test_simulated_takes_three_minutes_at_most(self):
        jobs = plan.jobs(plan.simulated(), ["simulated"], 0, lambda turn: None)
        self.assertEqual({n for n, _, _ in jobs}, {1})
        self.assertLess(plan.takes(jobs), 180)

    def test_arguments(self):
        paced = plan.Case("paced", (("rate", 500000), ("timeout", 0.1)), 1,
                          seconds=3)
        self.assertEqual(paced.arguments(),
                         ["rate=500000", "timeout=0.1", "seconds=3"])

    def test_many_in_flight(self):
        cases = plan.windows("mixed", mode="self")
        self.assertEqual(cases[0].arguments(), [
            "threads=1", "window=2000", "mode=self", "seconds=0.5"])
        keys = [dict(c.keys) for c in cases]
        self.assertEqual([k["threads"] for k in keys if k["window"] == 20000],
                         [1, 2, 8, 64])
        self.assertEqual(cases[-1].needs, 2 * 100000 * 400 >> 20)

    def test_estimates(self):
        names = peers.C_PEERS + tuple(peers.OTHERS) + ("loop",)
        for cases, rounds, minutes in ((plan.quick(), 1, 1),
                                       (plan.full(), 0, 120)):
            jobs = plan.jobs(cases, names, rounds, lambda turn: None)
            self.assertLess(plan.takes(jobs), 60 * minutes)


class Peers(unittest.TestCase):
    def test_loops_are_added(self):
        self.assertEqual(peers.with_loops(["go", "libev"]),
                         ["go", "libev", "loop", "go-loop"])

    def test_commands(self):
        self.assertEqual(peers.command("/b", "libev", "pair", ["threads=1"]),
                         ["/b/bench-libev", "pair", "threads=1"])
        self.assertEqual(peers.command("/b", "go-loop", "pair", ["threads=1"]),
                         ["/b/bench-go", "pair", "peer=none", "threads=1"])


    def test_found(self):
        with tempfile.TemporaryDirectory() as directory:
            for name, mode in (("bench-libev", 0o755), ("bench-libuv", 0o644),
                               ("bench-go", 0o755), ("bench-x.o", 0o755),
                               ("bench-timerthread", 0o755)):
                path = os.path.join(directory, name)
                with open(path, "w", encoding="ascii"):
                    os.chmod(path, mode)
            self.assertEqual(peers.found_in(directory), [
                "timerthread", "go", "libev", "go-loop"])


class Run(unittest.TestCase):
    def outcome(self, program, limit=10):
        status, out, err = run.execute(PYTHON + [program], limit)
        return run.error_of(status, out, err, limit), run.printed(out)

    def test_result_after_other_lines(self):
        self.assertEqual(self.outcome("print('{hello\\n{\"a\": 1}\\n')"),
                         (None, {"a": 1}))

    def test_failure(self):
        error, _ = self.outcome("import sys; print('{', end=''); sys.stderr."
                                "write('x: no room\\n'); sys.exit(3)")
        self.assertEqual(error, "exit status 3: x: no room")

    def test_killed(self):
        error, _ = self.outcome("import os; os.kill(os.getpid(), 11)")
        self.assertEqual(error, "killed by SIGSEGV: no message")

    def test_endless(self):
        error, _ = self.outcome("import time; time.sleep(60)", 0.2)
        self.assertEqual(error, "not over after 0 s")

    def test_no_result(self):
        self.assertEqual(self.outcome("print('{\"a\": 1')"),
                         ("printed no result", None))


class Message(unittest.TestCase):
    def test_not_the_listing(self):
        self.assertEqual(run.message("usage: x\n  a\n  b\n\n"), "usage: x")
        self.assertEqual(run.message(""), "no message")


if __name__ == "__main__":
    unittest.main()
