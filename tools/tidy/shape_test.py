import unittest

from tools.tidy import shape
from tools.tidy.testing import messages, tree


def body(head, lines):
    return head + " {\n" + "  f();\n" * lines + "}\n"


class SizeTest(unittest.TestCase):

    def test_long_file_is_refused_and_long_test_is_not(self):
        text = "int a;\n" * 801
        self.assertEqual(len(shape.check_size(tree(base__a_cc=text))), 1)
        self.assertEqual(shape.check_size(tree(base__a_test_cc=text)), [])

    def test_long_line_is_refused_but_for_addresses(self):
        self.assertEqual(
            messages(shape.check_size(tree(base__a_cc="//" + "x" * 80))),
            ["base/a.cc:1: 82 columns, at most 80"])
        self.assertEqual(
            shape.check_size(tree(base__a_cc="// https://" + "x" * 80)), [])


class FunctionsTest(unittest.TestCase):

    def long(self, head, lines=70):
        return shape.check_functions(
            tree(base__a_cc="namespace a {\n" + body(head, lines) + "}\n"))

    def test_function_of_72_lines_is_refused(self):
        self.assertEqual(
            messages(self.long("int F(int a)")),
            ["base/a.cc:2: function of 72 lines, at most 70: int F(int a)"])

    def test_function_of_70_lines_is_allowed(self):
        self.assertEqual(self.long("int F(int a)", 68), [])

    def test_story_of_a_test_may_be_longer(self):
        self.assertEqual(
            shape.check_functions(tree(base__a_test_cc=body("TEST(A, B)", 70))),
            [])

    def test_constructor_and_method_count(self):
        self.assertEqual(len(self.long("A::A(int b) : b_(b)")), 1)
        self.assertEqual(
            len(shape.check_functions(
                tree(base__a_h="class A {\n" + body("int F() const", 70) + "};"))),
            1)

    def test_class_and_table_may_be_long(self):
        self.assertEqual(self.long("class A : public B"), [])
        self.assertEqual(self.long("constexpr Row kTable[] ="), [])

    def test_block_inside_a_function_is_not_a_function(self):
        text = "void F() {\n  if (a) {\n  }\n}\n"
        self.assertEqual([f[:2] for f in shape.functions(text.splitlines())],
                         [(1, 4)])


class ParametersTest(unittest.TestCase):

    def found(self, text):
        return messages(shape.check_parameters(tree(base__a_cc=text)))

    def test_five_parameters_are_refused(self):
        self.assertEqual(
            self.found("namespace a {\nint F(int a, int b,\n"
                       "      int c, int d, int e);\n}\n"),
            ["base/a.cc:3: F has 5 parameters, at most 4: take an options "
             "struct"])

    def test_four_are_allowed_whatever_is_inside_them(self):
        self.assertEqual(
            self.found("void F(std::map<int, int> a, int (*b)(int, int),\n"
                       "       std::function<void(int, int, int)> c,\n"
                       "       D d = {1, 2, 3, 4, 5});\n"), [])

    def test_definitions_methods_and_templates_count(self):
        many = "(int a, int b, int c, int d, int e)"
        for text in ("int F%s {\n  g();\n}", "struct A {\n public:\n"
                     "  explicit A%s;\n};", "struct A {\n  int F%s const "
                     "override;\n};", "template <typename T, typename U>\n"
                     "A<T, U> F%s;", "bool operator<%s;", "void operator()%s;",
                     "A::A%s : a_(a) {}", "auto F%s -> int;",
                     "int F%s ORDO_REQUIRES(a, b);"):
            self.assertEqual(len(self.found(text % many)), 1, text)

    def test_calls_variables_and_attributes_do_not_count(self):
        for text in ("int a = F(1, 2, 3, 4, 5);",
                     "std::function<void(int, int, int, int, int)> f;",
                     "void F() {\n  G(1, 2, 3, 4, 5);\n}",
                     "int a ORDO_GUARDED_BY(b);",
                     "auto f = [](int a, int b, int c, int d, int e) {};"):
            self.assertEqual(self.found(text), [], text)


class BlocksTest(unittest.TestCase):

    def test_macro_of_several_lines_is_no_block(self):
        text = "#define A(x) \\\n  while (x) {  \\\n\nnamespace a {\n}\n"
        self.assertEqual(shape.blocks(text.splitlines()),
                         [("namespace", 4, 5, "namespace a", 0)])


class GuardsTest(unittest.TestCase):

    def test_guard_follows_the_path(self):
        self.assertEqual(
            messages(shape.check_guards(
                tree(base__clock__clock_h="#ifndef CLOCK_H\n"))),
            ["base/clock/clock.h:1: its guard must be ORDO_BASE_CLOCK_CLOCK_H_"])
        self.assertEqual(
            shape.check_guards(
                tree(base__clock__clock_h="#ifndef ORDO_BASE_CLOCK_CLOCK_H_\n")),
            [])


class TestsBesideTest(unittest.TestCase):

    def test_source_without_a_test_is_refused(self):
        self.assertEqual(
            messages(shape.check_tests_beside(tree(base__a_cc="int a;"))),
            ["base/a.cc:1: has no test beside it: write base/a_test.cc"])

    def test_source_with_a_test_is_fine(self):
        self.assertEqual(
            shape.check_tests_beside(tree(base__a_cc="", base__a_test_cc="")),
            [])

    def test_program_needs_an_example_and_no_test(self):
        self.assertEqual(
            len(shape.check_tests_beside(
                tree(base__main_cc="int main(int argc, char** argv) {}"))), 1)
        self.assertEqual(
            shape.check_tests_beside(
                tree(base__main_cc="// ordo list\nint main(int argc) {}")), [])

    def test_kernels_share_the_test_of_their_folder(self):
        self.assertEqual(
            messages(shape.check_tests_beside(
                tree(kernels__x__cpu_y_cc=""))),
            ["kernels/x/cpu_y.cc:1: has no test beside it: write "
             "kernels/x/x_test.cc"])
        self.assertEqual(
            shape.check_tests_beside(
                tree(kernels__x__cpu_y_cc="", kernels__x__check__z_cc="",
                     kernels__x__x_test_cc="")), [])
        self.assertEqual(
            shape.check_tests_beside(
                tree(kernels__x__check__z_cc="",
                     kernels__x__check__z_test_cc="")), [])

    def test_fakes_need_no_test_of_their_own(self):
        self.assertEqual(
            shape.check_tests_beside(tree(base__testing__fake_cc="")), [])


if __name__ == "__main__":
    unittest.main()
