import unittest

from tools.tidy import namespaces
from tools.tidy.testing import messages, tree


class NamespacesTest(unittest.TestCase):

    def found(self, name, text):
        return messages(namespaces.check_namespaces(tree(**{name: text})))

    def test_namespace_of_another_folder_is_refused(self):
        self.assertEqual(
            self.found("scheduler__core__a_cc",
                       "namespace ordo::scheduler {\nint a;\n}\n"),
            ["scheduler/core/a.cc:1: namespace ordo::scheduler: in this folder "
             "it is ordo::scheduler::core"])

    def test_namespace_of_the_folder_or_inside_it_is_fine(self):
        for name in ("ordo::scheduler::core", "ordo::scheduler::core::reason"):
            self.assertEqual(
                self.found("scheduler__core__a_cc",
                           "namespace %s {\nnamespace {\nint a;\n}\n}\n" %
                           name), [], name)

    def test_a_name_that_only_begins_alike_is_refused(self):
        self.assertEqual(
            len(self.found("scheduler__core__a_cc",
                           "namespace ordo::scheduler::corex {\n}\n")), 1)

    def test_folded_folders_use_the_other_folders_namespace(self):
        for folder, name in (
            ("base__clock__", "base"), ("base__", "base"),
            ("base__clock__testing__", "base::testing"),
            ("services__cli__commands__", "services::cli"),
            ("scheduler__main__", "scheduler")):
            text = "namespace ordo::%s {\n}\n" % name
            self.assertEqual(self.found(folder + "a_h", text), [], folder)

    def test_forward_declarations_of_a_library_are_fine(self):
        text = "namespace prometheus {\nclass Registry;\n}\n"
        own = "namespace ordo::base {\nint a;\n}\n"
        self.assertEqual(self.found("base__a_h", text + own), [])
        self.assertEqual(
            len(self.found("base__a_h", "namespace prometheus {\nstruct A {};\n"
                           "}\n" + own)), 1)

    def test_header_without_a_namespace_is_refused(self):
        self.assertEqual(
            self.found("base__a_h", "int a;\n"),
            ["base/a.h:1: has no namespace: it is ordo::base"])

    def test_program_needs_none(self):
        self.assertEqual(
            self.found("scheduler__main__main_cc",
                       "namespace {\nint a;\n}\nint main() {}\n"), [])


if __name__ == "__main__":
    unittest.main()
