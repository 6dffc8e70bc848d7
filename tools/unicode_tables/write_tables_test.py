"""The tables are those of this script."""

import unicodedata
import unittest

from tools.unicode_tables import write_tables

TABLES = "model/text/scoring/unicode_tables.h"


class WriteTablesTest(unittest.TestCase):

    def test_each_lower_case_is_in_one_run(self):
        runs = write_tables.lower_runs()
        for code in list(range(0x80, 0x600)) + [0x10A0, 0x212A, 0x1E900]:
            lower = chr(code).lower()
            found = [
                code + delta for first, last, step, delta in runs
                if first <= code <= last and (code - first) % step == 0
            ]
            expected = ([ord(lower)]
                        if len(lower) == 1 and lower != chr(code) else [])
            self.assertEqual(found, expected, hex(code))

    def test_tables_are_up_to_date(self):
        with open(TABLES) as file:
            tables = file.read()
        if "Unicode %s:" % unicodedata.unidata_version not in tables:
            self.skipTest("this Python has another version of Unicode")
        self.assertEqual(tables, write_tables.text())


if __name__ == "__main__":
    unittest.main()
