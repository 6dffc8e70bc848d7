"""Files of this machine, and the packages that they are of."""

import os
import tempfile
import unittest

from tools.oci import debian

_PYTHON = os.path.realpath("/usr/bin/python3")


class DebianTest(unittest.TestCase):

    def test_a_program_needs_libraries_and_the_loader(self):
        found = debian.libraries([_PYTHON])
        self.assertIn("libc.so.6", found)
        self.assertIn("ld-linux-x86-64.so.2", found)
        for path in found.values():
            self.assertTrue(os.path.exists(path), path)

    def test_what_is_no_program_needs_none(self):
        with tempfile.NamedTemporaryFile("w", suffix=".sh") as script:
            script.write("#!/bin/sh\n")
            script.flush()
            self.assertEqual(debian.libraries([script.name]), {})

    def test_a_program_that_is_not_there_is_an_error(self):
        with self.assertRaisesRegex(debian.Missing, "/no/such"):
            debian.libraries(["/no/such"])

    def test_what_lies_beside_a_library_is_found_by_a_pattern(self):
        libc = debian.libraries([_PYTHON])["libc.so.6"]
        found = debian.beside([libc], "libc.so.*")
        self.assertEqual(found, {"libc.so.6": libc})
        with self.assertRaisesRegex(debian.Missing, "no libnone"):
            debian.beside([libc], "libnone*")

    def test_files_have_owners_by_either_of_their_names(self):
        libc = debian.libraries([_PYTHON])["libc.so.6"]
        real = os.path.realpath(libc)
        self.assertEqual(debian.owners([libc]), {libc: "libc6"})
        self.assertEqual(debian.owners([real]), {real: "libc6"})
        self.assertEqual(debian.owners(["/no/such"]), {})
        self.assertEqual(debian.owners([]), {})

    def test_a_package_is_described_and_has_files_and_a_licence(self):
        fields = debian.describe("libc6")
        self.assertEqual(fields["Package"], "libc6")
        self.assertRegex(fields["Version"], "^2[.]")
        files = debian.files_of("libc6")
        self.assertFalse([path for path in files if "/doc/" in path])
        self.assertTrue(files)
        self.assertTrue(os.path.exists(debian.licence_of("libc6")))

    def test_a_package_that_is_not_installed_is_named(self):
        with self.assertRaisesRegex(debian.Missing, "no-such-package"):
            debian.describe("no-such-package")


if __name__ == "__main__":
    unittest.main()
