# SPDX-License-Identifier: MIT
import unittest

import table


class Numbers(unittest.TestCase):
    def test_three_digits(self):
        for x, text in ((0, "0.00"), (-0.001, "0.00"), (4.521, "4.52"),
                        (9.996, "10.0"), (45.21, "45.2"), (99.96, "100"),
                        (452.1, "452"), (4521, "4521"), (9999.6, "10k"),
                        (45210, "45.2k"), (999600, "1M"), (4521000, "4.52M"),
                        (3e9, "3G"), (4e12, "4000G"), (-0.31, "-0.31"),
                        (-45210, "-45.2k"), (None, "-")):
            with self.subTest(x=x):
                self.assertEqual(table.number(x), text)

    def test_whole(self):
        self.assertEqual(table.whole(123456), "123456")
        self.assertEqual(table.whole(None), "-")

    def test_extent(self):
        self.assertEqual(table.extent((1, 20)), "1.00..20.0")
        self.assertEqual(table.extent(None), "")

    def test_power(self):
        for n, text in ((1000, "1000"), (10000, "10^4"), (50000, "50000"),
                        (10**7, "10^7")):
            self.assertEqual(table.power(n), text)


class Render(unittest.TestCase):
    def test_columns(self):
        self.assertEqual(table.render(
            [("one", ["a", "bb"]), ("", ["c"])],
            [("x", [["1", "2"], ["3"]]), ("yy", [["10", "20"], ["300"]])]), [
                "   | one    |",
                "   |  a  bb |   c",
                "---+--------+----",
                "x  |  1   2 |   3",
                "yy | 10  20 | 300"])

    def test_long_title_makes_room(self):
        lines = table.render([("a title", ["a"]), ("b", ["b"])],
                             [("x", [["1"], ["2"]])])
        self.assertEqual(lines[0], "  | a title | b")
        self.assertEqual(lines[3], "x |       1 | 2")

    def test_no_titles_no_line(self):
        self.assertEqual(len(table.render([("", ["a"])], [("x", [["1"]])])), 3)

    def test_wrap(self):
        lines = table.wrap("word " * 50, "  ")
        self.assertTrue(all(len(line) <= table.WIDTH for line in lines))
        self.assertTrue(all(line.startswith("  ") for line in lines[1:]))


if __name__ == "__main__":
    unittest.main()
