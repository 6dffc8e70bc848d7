"""Mistakes are put where their list says, or the list is refused."""

import unittest

from tests.mutations import mutate

SOURCE = """\
#include <cmath>

namespace ordo {
namespace {

constexpr double kTwo = 2.0;

double Half(double x) { return x / kTwo; }

}  // namespace

double Area(double width, double height) {
  Note(width);
  return std::abs(width) *
         Half(height);
}

}  // namespace ordo
"""

HEAD = "file a.cc\ntests AreaTest\n"


def mistake(right, wrong, what="is wrong"):
    return "mistake %s\n- %s\n+ %s\n" % (what, right, wrong)


def made(text, **sources):
    """The copies that a list gives; a.cc is SOURCE."""
    sources["a"] = SOURCE
    return mutate.copies([(path, sources[path[:-3]], mistakes)
                          for path, mistakes in mutate.read_list("l", text)])


class MutateTest(unittest.TestCase):

    def refused(self, text, message):
        with self.assertRaisesRegex(mutate.Wrong, message):
            made(text)

    def test_an_expression_becomes_a_choice(self):
        self.assertIn("{ return (ORDO_MUTANT(1) ? (x * kTwo) : (x / kTwo)); }",
                      made(HEAD + mistake("x / kTwo", "x * kTwo")))

    def test_a_statement_becomes_one_too(self):
        self.assertIn("{ if (ORDO_MUTANT(1)) {  } else { Note(width); } }",
                      made(HEAD + mistake("Note(width);", "")))

    def test_lines_are_broken_anywhere(self):
        self.assertIn(
            "return (ORDO_MUTANT(1) ? (0.0) : (std::abs(width) *\n"
            "         Half(height)));",
            made(HEAD + "mistake is wrong\n- std::abs(width)\n"
                 "- * Half( height )\n+ 0.0\n"))

    def test_mistakes_share_a_place(self):
        self.assertIn(
            "(ORDO_MUTANT(1) ? (1.0) : ORDO_MUTANT(2) ? (x) : (x / kTwo))",
            made(HEAD + mistake("x / kTwo", "1.0") + mistake("x / kTwo", "x")))

    def test_a_mistake_lies_within_another(self):
        self.assertIn(
            "(ORDO_MUTANT(2) ? (0.0) : "
            "((ORDO_MUTANT(1) ? (width) : (std::abs(width))) *\n"
            "         Half(height)))",
            made(HEAD + mistake("std::abs(width)", "width") +
                 mistake("std::abs(width) * Half(height)", "0.0")))

    def test_names_of_several_sources_do_not_meet(self):
        text = made(HEAD + mistake("x / kTwo", "x") + "file b.cc\ntests T\n" +
                    mistake("y + kTwo", "y"),
                    b="namespace {\n\nconstexpr int kTwo = 2;\n\n"
                    "}  // namespace\nint F(int y) { return y + kTwo; }\n")
        self.assertIn('#define kTwo kTwo_of_a\n#line 1 "a.cc"', text)
        self.assertIn('#define kTwo kTwo_of_b\n#line 1 "b.cc"', text)
        self.assertEqual(text.count("#undef kTwo"), 2)
        self.assertNotIn("Half_of", text)
        self.assertEqual(text.count("#include <cmath>"), 1)

    def test_the_table_names_mistakes_and_their_tests(self):
        text = made("file a.cc\ntests One Two.Test\n" +
                    mistake("x / kTwo", "x", 'is "half"'))
        self.assertIn(
            '    {1, "a.cc", "is \\"half\\"", "One.*:Two.Test"},', text)

    def test_what_the_source_does_not_say_once_is_refused(self):
        self.refused(HEAD + mistake("x / kThree", "x"),
                     "l:3: a.cc has `x / kThree` 0 times, not once")
        self.refused(HEAD + mistake("kTwo", "x"),
                     "l:3: a.cc has `kTwo` 2 times, not once")
        self.refused(HEAD + mistake("x / kThree", "x") + mistake("kTwo", "x"),
                     "l:3: .* 0 times.*\n.*l:6: .* 2 times")
        # Whole words alone.
        self.refused(HEAD + mistake("eight", "x"), "0 times")

    def test_places_that_overlap_are_refused(self):
        self.refused(HEAD + mistake("std::abs(width) * Half", "x", "one") +
                     mistake("Half(height)", "x", "two"),
                     "l:6: `two` and `one` overlap in a.cc")

    def test_a_list_without_its_form_is_refused(self):
        self.refused("file a.cc\n" + mistake("x", "y"),
                     "l:2: say `file` and `tests` first")
        self.refused(HEAD + "mistake is wrong\n- x\n", "l:3: .* has no line +")
        self.refused(HEAD + "mistake is wrong\n+ x\n", "l:4: .*this order")
        self.refused(HEAD + "wrong\n", "l:3: `wrong` is none of file, tests")


if __name__ == "__main__":
    unittest.main()
