import os
import tempfile
import unittest

from tools.tidy import source
from tools.tidy.testing import tree


class CodeTest(unittest.TestCase):

    def code(self, text):
        return source.SourceFile("a.cc", text).code

    def test_lines_keep_their_numbers(self):
        text = 'a;  // b\n/* c\nd */ e;\nf("g // h");\n'
        with_strings, without = self.code(text)
        self.assertEqual(with_strings, ["a;  ", "", " e;", 'f("g // h");'])
        self.assertEqual(without, ["a;  ", "", " e;", 'f("");'])

    def test_raw_string_is_a_string(self):
        _, without = self.code('f(R"x(throw "1";\n)x"); b;\n')
        self.assertEqual(without, ['f(""', "); b;"])


class BuildFileTest(unittest.TestCase):

    def test_labels_become_absolute(self):
        build = tree(base__a__BUILD='''
            ordo_cc_library(name = "a", deps = [":b", "//base/c", "c"])
            ''').builds["base/a"]
        self.assertEqual(build.targets[0].labels("deps"),
                         ["//base/a:b", "//base/c:c", "//base/a:c"])

    def test_computed_list_gives_its_strings(self):
        build = tree(base__a__BUILD='''
            ordo_cc_library(name = "a", deps = [":b"] + select({"x": [":c"]}))
            ''').builds["base/a"]
        self.assertIn("//base/a:c", build.targets[0].labels("deps"))


class ReadTreeTest(unittest.TestCase):

    def test_build_outputs_and_links_are_left_out(self):
        root = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        os.makedirs(os.path.join(root, "base"))
        os.makedirs(os.path.join(root, "bazel-out"))
        for path in ("base/a.cc", "bazel-out/b.cc"):
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write("int a;\n")
        os.symlink(os.path.join(root, "base/a.cc"),
                   os.path.join(root, "base/link.cc"))
        self.assertEqual(sorted(source.read_tree(root).files), ["base/a.cc"])


if __name__ == "__main__":
    unittest.main()
