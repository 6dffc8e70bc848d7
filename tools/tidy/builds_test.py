import unittest

from tools.tidy import builds
from tools.tidy.testing import messages, tree


class DeadFilesTest(unittest.TestCase):

    def test_file_in_no_rule_is_refused(self):
        self.assertEqual(
            messages(builds.check_dead_files(
                tree(base__BUILD='ordo_cc_library(name = "a", srcs = ["a.cc"])',
                     base__a_cc="", base__b_cc=""))),
            ["base/b.cc:1: is in no rule of a BUILD.bazel: add it to one, or "
             "delete it"])

    def test_glob_counts(self):
        self.assertEqual(
            builds.check_dead_files(
                tree(base__BUILD='filegroup(name = "a", srcs = glob(["*.cc"]))',
                     base__a_cc="")), [])

    def test_file_of_a_folder_without_package_belongs_to_the_one_above(self):
        self.assertEqual(
            builds.check_dead_files(
                tree(base__BUILD='ordo_cc_library(name = "a", '
                     'srcs = ["testing/a.cc"])', base__testing__a_cc="")), [])


class VisibilityTest(unittest.TestCase):

    def refused(self, visibility, name="scheduler__core__BUILD"):
        return builds.check_visibility(tree(**{
            name: 'ordo_cc_library(name = "a", visibility = ["%s"])' % visibility
        }))

    def test_public_is_refused(self):
        self.assertEqual(len(self.refused("//visibility:public")), 1)

    def test_group_of_the_folder_is_allowed(self):
        self.assertEqual(self.refused("//:scheduler_core_users"), [])

    def test_group_of_another_folder_is_refused(self):
        self.assertEqual(len(self.refused("//:base_users")), 1)

    def test_package_of_the_same_part_is_allowed(self):
        self.assertEqual(self.refused("//scheduler/store:__pkg__"), [])
        self.assertEqual(len(self.refused("//model/data:__pkg__")), 1)

    def test_default_visibility_counts(self):
        self.assertEqual(
            len(builds.check_visibility(tree(
                base__BUILD='package(default_visibility = '
                '["//visibility:public"])'))), 1)


class GroupsTest(unittest.TestCase):

    def found(self, name, packages, more=""):
        return messages(builds.check_groups(tree(BUILD=
            'package_group(name = "%s", packages = %s%s)' %
            (name, packages, more))))

    def test_member_that_may_not_include_the_folder_is_refused(self):
        self.assertEqual(
            self.found("worker_supervisor_users",
                       '["//worker/agent/...", "//report/stats"]'),
            ["BUILD.bazel:1: worker_supervisor_users opens worker/supervisor "
             "to report/stats, but LAYERS of tools/tidy/layers.py do not"])

    def test_folder_below_a_member_counts_but_for_exceptions(self):
        self.assertEqual(
            self.found("scheduler_interface_users",
                       '["//services/...", "-//services/spec/..."]'),
            ["BUILD.bazel:1: scheduler_interface_users opens scheduler to "
             "services/cli, but LAYERS of tools/tidy/layers.py do not"])
        self.assertEqual(
            self.found("scheduler_interface_users",
                       '["//services/...", "-//services/cli/...", '
                       '"-//services/spec/..."]'), [])

    def test_included_groups_count(self):
        self.assertEqual(
            len(messages(builds.check_groups(tree(BUILD='''
                package_group(name = "a", packages = ["//base/..."])
                package_group(name = "proto_users", includes = [":a"])
                ''')))), 7)

    def test_tests_tools_and_the_own_part_see_everything(self):
        self.assertEqual(
            self.found("model_catalog_users",
                       '["//tests/...", "//tools/...", "//model/..."]'), [])


class RulesTest(unittest.TestCase):

    def test_native_rule_is_refused(self):
        self.assertEqual(
            messages(builds.check_rules(
                tree(base__BUILD='cc_library(name = "a")'))),
            ["base/BUILD.bazel:1: a: use ordo_cc_library "
             "(tools/build/rules.bzl)"])

    def test_own_rule_is_fine(self):
        self.assertEqual(
            builds.check_rules(tree(base__BUILD='ordo_cc_library(name = "a")')),
            [])


class DocumentsTest(unittest.TestCase):

    def found(self, text):
        return messages(builds.check_documents(
            tree(docs__a_md=text, docs__b_md="", base__c__d_h="")))

    def test_link_to_nothing_is_refused(self):
        self.assertEqual(self.found("see [b](b.md) and [d](../base/c/)"), [])
        self.assertEqual(self.found("see [c](c.md)"),
                         ["docs/a.md:1: link to c.md, which is not there"])

    def test_path_of_nothing_is_refused(self):
        self.assertEqual(self.found("`base/c/d.h`, `base/c/x.h`, `d.h`"), [])
        self.assertEqual(self.found("`base/c/e.h`"),
                         ["docs/a.md:1: names base/c/e.h, which is not there"])


if __name__ == "__main__":
    unittest.main()
