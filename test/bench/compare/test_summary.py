# SPDX-License-Identifier: MIT
import json
import unittest

import example
from summary import SAME, Figure, extent, load, middle, where

NET = Figure("cpu_ns", "cpu_ns")
PAIR = where("pair", threads=1, window=0)


class Parts(unittest.TestCase):
    """A second file on top of the first."""

    def part(self, records, **machine):
        about = {**example.MACHINE["machine"], **machine}
        return [json.dumps(r) for r in [{"machine": about}, *records]]

    def test_what_both_measured(self):
        again = [example.record("libev", "pair", 2,
                                {"threads": 1, "window": 0}, cpu_ns=70)]
        results = load(self.part(example.pairs(), date="1 May"),
                       self.part(again, date="2 May"))
        self.assertEqual(results.rounds(PAIR, "libev", Figure("cpu_ns")),
                         {1: 110, 2: 70, 3: 160})
        self.assertEqual(results.machine["date"], "1 May; 2 May")
        self.assertEqual(results.machine["CPUs"], 2)

    def test_what_cannot_be_joined(self):
        for key in SAME:
            with self.assertRaises(ValueError):
                load(self.part([], **{key: "x"}), self.part([], **{key: "y"}))


class Summary(unittest.TestCase):
    def setUp(self):
        self.results = load(example.lines(example.results()))

    def test_machine(self):
        self.assertEqual(self.results.machine["CPUs"], 2)

    def test_gross(self):
        rounds = self.results.rounds(PAIR, "libev", Figure("cpu_ns"))
        self.assertEqual(rounds, {1: 110, 2: 100, 3: 160})

    def test_loop_of_the_same_round_is_taken_off(self):
        rounds = self.results.rounds(PAIR, "timerthread", NET)
        self.assertEqual(rounds, {1: 20, 2: 40, 3: 30})

    def test_each_has_the_loop_of_its_language(self):
        rounds = self.results.rounds(PAIR, "go", NET)
        self.assertEqual(rounds, {1: 500, 2: 480, 3: 490})

    def test_scale(self):
        rounds = self.results.rounds(PAIR, "go",
                                     Figure("cpu_ns", "cpu_ns", 10))
        self.assertEqual(rounds, {1: 50, 2: 48, 3: 49})

    def test_no_loop_no_figure(self):
        records = [r for r in example.pairs()
                   if (r["peer"], r["round"]) != ("loop", 2)]
        rounds = load(example.lines(records)).rounds(PAIR, "libev", NET)
        self.assertEqual(rounds, {1: 100, 3: 150})

    def test_ratios_are_within_a_round(self):
        ratios = self.results.ratios(PAIR, "libev", NET)
        self.assertEqual(ratios, {1: 5, 2: 2, 3: 5})

    def test_no_ratio_to_nothing(self):
        records = [{**r, "cpu_ns": 10} if r["peer"] == "timerthread" else r
                   for r in example.pairs()]
        ratios = load(example.lines(records)).ratios(PAIR, "libev", NET)
        self.assertEqual(ratios, {})

    def test_units(self):
        records = example.pairs() + [
            example.record("loop", "rmw", n, cpu_ns=5) for n in (1, 2)]
        units = load(example.lines(records)).in_units(
            PAIR, "timerthread", NET, where("rmw"), Figure("cpu_ns"))
        self.assertEqual(units, {1: 4, 2: 8})

    def test_sleeps_stand_with_sparse(self):
        at = where("sparse", count=50)
        self.assertEqual(self.results.peers([at]), ["timerthread", "(futex)"])

    def test_peers_without_loops(self):
        self.assertEqual(self.results.peers([PAIR]), [
            "timerthread", "dpdk", "glib", "go", "libev", "posix"])

    def test_failed_is_not_dropped(self):
        self.assertEqual(self.results.trouble(PAIR, "posix"),
                         ("FAIL", "killed by SIGKILL: none"))
        self.assertEqual(self.results.rounds(PAIR, "posix", NET), {})

    def test_skipped(self):
        self.assertEqual(self.results.trouble(PAIR, "dpdk"),
                         ("skip", "more than it can have"))

    def test_not_run(self):
        self.assertEqual(self.results.trouble(PAIR, "libuv"), ("-", ""))

    def test_no_trouble(self):
        self.assertIsNone(self.results.trouble(PAIR, "libev"))

    def test_figures_of_a_failed_run_do_not_count(self):
        records = [{**r, "error": "exit status 1"}
                   if (r["peer"], r["round"]) == ("libev", 3) else r
                   for r in example.pairs()]
        rounds = load(example.lines(records)).rounds(PAIR, "libev", NET)
        self.assertEqual(rounds, {1: 100, 2: 80})

    def test_wrongs_of_all_rounds(self):
        self.assertEqual(self.results.wrongs("libev"), {"early": 21, "lost": 2})
        self.assertEqual(self.results.wrongs("timerthread"), {})

    def test_failed_calls(self):
        self.assertEqual(self.results.failed_calls(PAIR, "glib"), 3)

    def test_values(self):
        self.assertEqual(self.results.values("threads", "pair"), [1])

    def test_middle_and_extent(self):
        self.assertEqual(middle({1: 5, 2: 1, 3: 2}), 2)
        self.assertIsNone(middle({}))
        self.assertEqual(extent({1: 5, 2: 1}), (1, 5))
        self.assertIsNone(extent({1: 5}))


if __name__ == "__main__":
    unittest.main()
