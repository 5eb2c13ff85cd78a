# SPDX-License-Identifier: MIT
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import example
import publish
from summary import load


def text(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


class Table(unittest.TestCase):
    def setUp(self):
        self.lines = publish.short(load(example.lines(example.results())))

    def test_rows(self):
        words = [line.split() for line in self.lines]
        row = next(w for w in words if w[:2] == ["1", "thread"])
        self.assertEqual(row[2], "30")
        self.assertEqual(len(row), 2 + len(publish.SHOWN))
        self.assertFalse(any(w[:2] == ["2", "threads"] for w in words))

    def test_not_too_wide(self):
        self.assertLessEqual(max(map(len, self.lines)), 80)

    def test_is_put_into_its_place(self):
        with tempfile.TemporaryDirectory() as directory:
            path = shutil.copy(publish.README, directory)
            publish.change(path, (publish.BEFORE, publish.AFTER, self.lines))
            self.assertEqual(
                publish.published(text(path), publish.BEFORE, publish.AFTER),
                [line for line in self.lines if line])
            outside = text(publish.README).split("\n")[:60]
            self.assertEqual(text(path).split("\n")[:60], outside)


class Published(unittest.TestCase):
    """What README and RESULTS.md say now."""

    def setUp(self):
        self.readme = publish.published(text(publish.README), publish.BEFORE,
                                        publish.AFTER)
        self.results = text(publish.RESULTS)

    def of_results(self, name):
        return publish.published(self.results, publish.MARK.format(name),
                                 publish.END)

    def test_readme_has_a_table(self):
        self.assertEqual(self.readme[:2], publish.head())
        self.assertGreater(len(self.readme), 2 + 10)

    def test_results_are_of_one_library(self):
        said = next(line.split(None, 1)[1] for line in self.of_results("all")
                    if line.startswith("library:"))
        self.assertIn(f"Library: {said}.", " ".join(self.of_results("short")))

    def test_readme_has_the_figures_of_results_or_of_a_later_run(self):
        of_readme, of_results = (
            " ".join(lines).split("Library: ")[1].split()
            for lines in (self.readme, self.of_results("short")))
        if of_readme[0] == of_results[0]:
            self.assertEqual(self.readme, self.of_results("short"))
        self.assertGreaterEqual(of_readme[2], of_results[2])

    def test_says_if_the_library_has_changed_since(self):
        """A warning: a comment may have changed, or what is never measured."""
        if not os.path.exists(os.path.join(publish.TOP, ".git")):
            self.skipTest("not in git")
        commit = " ".join(self.readme).split("Library: ")[1].split()[0]
        try:
            since = subprocess.run(
                ["git", "-C", publish.TOP, "log", "--format=%h %s",
                 commit + "..", "--", "lib"], capture_output=True, text=True,
                timeout=20, check=True).stdout.split("\n")[:-1]
        except (OSError, subprocess.SubprocessError):
            self.skipTest("git does not know the commit")
        if since:
            print(f"README's figures are of {commit}; lib/ has changed since, "
                  f"{len(since)} times:", *since, sep="\n  ",
                  file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
