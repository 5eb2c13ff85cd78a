# SPDX-License-Identifier: MIT
import unittest

import example
import page
import plots
import table
from summary import load


def row(lines, name, start=0):
    """The cells of the first row of that name."""
    for line in lines[start:]:
        if line.split("|")[0].strip() == name:
            return line.replace("|", " ").split()[len(name.split()):]
    raise AssertionError(f"no row {name}")


class Report(unittest.TestCase):
    def setUp(self):
        self.lines = page.lines(load(example.lines(example.results())))
        self.text = "\n".join(self.lines)

    def test_pair(self):
        self.assertEqual(row(self.lines, "timerthread"),
                         ["30.0", "20.0..40.0", "1.00"])
        self.assertEqual(row(self.lines, "libev !"),
                         ["100", "80.0..150", "5.00"])
        self.assertEqual(row(self.lines, "go"), ["490", "480..500", "16.3"])

    def test_in_flight(self):
        start = self.lines.index("Mixed timeouts, 2000 in flight a thread")
        self.assertEqual(row(self.lines, "libev !", start),
                         ["210", "200..220", "1.91"])

    def test_near_timers(self):
        start = self.lines.index(
            "Mixed timeouts, one near, 2000 in flight a thread")
        self.assertEqual(row(self.lines, "timerthread", start),
                         ["210", "200..220", "1.00", "950"])
        start = self.lines.index("Mixed timeouts, one near from a thread, "
                                 "2000 in flight a thread")
        self.assertEqual(row(self.lines, "libev !", start),
                         ["610", "600..620", "1.97", "700",
                          "810", "800..820", "1.98", "700"])

    def test_not_too_wide(self):
        self.assertLessEqual(max(map(len, self.lines)), table.WIDTH)

    def test_order(self):
        start = self.lines.index("Pair")
        names = [line.split()[0] for line in self.lines[start:]
                 if " | " in line and line[0] != " "][:6]
        self.assertEqual(names, ["timerthread", "libev", "go", "glib", "dpdk",
                                 "posix"])

    def test_troubles_are_shown(self):
        self.assertEqual(row(self.lines, "posix"), ["FAIL"])
        self.assertEqual(row(self.lines, "dpdk"), ["skip"])
        for text in ("posix: FAIL: killed by SIGKILL: none",
                     "dpdk: skip: more than it can have",
                     "glib: 3 calls found their timer not pending"):
            self.assertIn(text, self.text)

    def test_early_and_lost_are_marked_and_counted(self):
        start = self.lines.index("Fire, 1000 timers from 1 thread")
        self.assertEqual(row(self.lines, "libev !", start)[-3:],
                         ["21", "2", "0"])
        self.assertIn("! of 2000 timers: 21 early, 2 lost, by up to 900 us",
                      self.text)

    def test_most_is_of_all_rounds(self):
        start = self.lines.index("Fire, 1000 timers from 1 thread")
        self.assertEqual(row(self.lines, "timerthread", start)[:4],
                         ["5.00", "9.00", "20.0", "60.0"])

    def test_sleeps(self):
        start = self.lines.index("Sparse, 50 timers")
        self.assertEqual(row(self.lines, "(futex)", start)[0], "1.00")

    def test_capacity(self):
        start = self.lines.index("Capacity, 1000000 a second")
        self.assertEqual(row(self.lines, "timerthread", start),
                         ["1.00", "2.00", "3.00", "4.00", "500", "1.42"])

    def test_opening(self):
        start = self.lines.index("Opening, 1000 timers in 10 s")
        self.assertEqual(row(self.lines, "timerthread", start),
                         ["2.00", "2.00", "2.00", "1.00", "1.00", "1.00",
                          "700", "0"])

    def test_simulated(self):
        start = self.lines.index("Simulated, 64 cores")
        self.assertEqual(row(self.lines, "simulated", start), ["16.0", "1000"])
        start = self.lines.index("Simulated, 64 cores: under a cap")
        self.assertEqual(row(self.lines, "simulated", start), ["800"])
        start = self.lines.index("Simulated, 64 cores: fire")
        self.assertEqual(row(self.lines, "simulated", start), ["5.00"])

    def test_what_was_taken_off(self):
        self.assertIn("Taken off: 1 thread: loop 10.0, go-loop 30.0.",
                      self.text)

    def test_few_cpus(self):
        self.assertIn("NOTE: 2 CPUs only.", self.text)

    def test_one_round_has_no_range(self):
        records = [r for r in example.pairs() if r["round"] == 1]
        lines = page.lines(load(example.lines(records)))
        self.assertEqual(row(lines, "libev"), ["100", "5.00"])
        self.assertFalse(any("range" in line for line in lines
                             if "ratio" in line and "|" in line))

    def test_plots(self):
        results = load(example.lines(example.pairs(1) + example.pairs(2)))
        script = plots.by_threads(results)
        self.assertIn("1 30\n2 30\n", script)
        self.assertIn("title 'libev'", script)
        self.assertIsNone(plots.tail(results))


class Nothing(unittest.TestCase):
    def test_no_records(self):
        self.assertIn("NOTE: 2 CPUs only.",
                      "\n".join(page.lines(load(example.lines([])))))


if __name__ == "__main__":
    unittest.main()
