import unittest

from tools.tidy import banned
from tools.tidy.testing import messages, tree


def calls(name, text):
    return messages(banned.check_calls(tree(**{name: text})))


class CallsTest(unittest.TestCase):

    def test_finding_names_the_replacement(self):
        self.assertEqual(
            calls("model__data__order_cc",
                  "int a;\nstd::uniform_int_distribution<int> d;\n"),
            ["model/data/order.cc:2: `std::uniform_int_distribution` is banned "
             "here: use base/random: its numbers are the same everywhere"])

    def test_pure_code_has_no_clock_thread_lock_log_file_or_flag(self):
        for text in ("absl::Now()", "std::thread t;", "base::Mutex m;",
                     'LogInfo("x")', "std::ofstream f;", "base::Clock* c;",
                     'ABSL_FLAG(int, a, 0, "");', "getenv(name)"):
            self.assertNotEqual(calls("scheduler__core__state_cc", text), [],
                                text)

    def test_shell_may_lock_and_log(self):
        self.assertEqual(
            calls("scheduler__server__server_cc",
                  'base::Mutex m;\nLogInfo("x");\n'), [])

    def test_throw_and_catch_live_in_the_model(self):
        self.assertEqual(len(calls("services__jobs__jobs_cc", "throw 1;")), 1)
        self.assertEqual(len(calls("base__rpc__server_cc", "catch (...)")), 1)
        self.assertEqual(calls("model__guard_cc", "throw 1;"), [])

    def test_sleep_is_banned_in_tests_too(self):
        self.assertEqual(
            len(calls("base__rpc__server_test_cc",
                      "std::this_thread::sleep_for(d);")), 1)

    def test_fixed_port_in_a_test_is_refused(self):
        self.assertEqual(
            len(calls("base__rpc__server_test_cc",
                      'builder.AddListeningPort("127.0.0.1:7420", c);')), 1)
        self.assertEqual(
            calls("base__rpc__server_test_cc",
                  'builder.AddListeningPort("127.0.0.1:0", c);'), [])

    def test_words_in_comments_and_strings_do_not_count(self):
        self.assertEqual(
            calls("scheduler__core__state_cc",
                  '// std::thread\n/* throw\n 1; */\nf("std::mutex");\n'), [])

    def test_digit_separator_does_not_open_a_literal(self):
        self.assertEqual(
            len(calls("base__a__a_cc", "int a = 1'000; throw 1; int b = 2'000;")),
            1)

    def test_names_that_only_look_alike_are_free(self):
        self.assertEqual(
            calls("services__jobs__jobs_cc",
                  "ORDO_CHECK(a);\nstatic_assert(b);\ncontext.exit(0);\n"), [])


class HashOrderTest(unittest.TestCase):

    DECLARED = "absl::flat_hash_map<std::string, Job> jobs_;\n"

    def walk(self, text, folder="scheduler__core__"):
        return banned.check_hash_order(
            tree(**{folder + "state_h": self.DECLARED, folder + "apply_cc": text}))

    def test_walk_of_a_hash_map_is_refused(self):
        self.assertEqual(len(self.walk("for (auto& [a, b] : state.jobs_) {")), 1)
        self.assertEqual(len(self.walk("auto it = jobs_.begin();")), 1)

    def test_lookup_is_free(self):
        self.assertEqual(self.walk("auto it = jobs_.find(name);"), [])

    def test_walk_outside_pure_code_is_free(self):
        self.assertEqual(
            self.walk("for (auto& [a, b] : jobs_) {", "scheduler__server__"), [])


class TodoTest(unittest.TestCase):

    def test_todo_names_an_issue(self):
        self.assertEqual(
            len(banned.check_todo(tree(base__a_cc="// TODO: later\n"))), 1)
        self.assertEqual(
            banned.check_todo(tree(base__a_cc="// TODO(#12): why\n")), [])

    def test_other_marks_are_refused(self):
        self.assertEqual(
            len(banned.check_todo(tree(base__a_cc="// FIXME(#12): no\n"))), 1)


class WordsTest(unittest.TestCase):

    def found(self, text):
        return messages(banned.check_words(tree(docs__a_md=text)))

    def test_path_of_one_machine_is_refused(self):
        self.assertEqual(
            self.found("see /home/ann/x"),
            ["docs/a.md:1: `/home/ann/`: a path of one machine: take it from "
             "the environment or an option"])

    def test_unfinished_work_is_refused(self):
        self.assertEqual(len(self.found("returns 0 for now")), 1)

    def test_other_paths_are_free(self):
        self.assertEqual(self.found("<root>/home, /usr/bin, ~/root/x"), [])


if __name__ == "__main__":
    unittest.main()
