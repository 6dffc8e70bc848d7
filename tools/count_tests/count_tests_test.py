import contextlib
import io
import json
import os
import tempfile
import unittest

from tools.count_tests import count_tests

GTEST_XML = """<?xml version="1.0"?>
<testsuites><testsuite name="ClockTest">
<testcase name="Runs" status="run" result="completed" classname="ClockTest"/>
<testcase name="Waits" status="run" result="completed" classname="ClockTest">
<failure message="no">text</failure></testcase>
<testcase name="DISABLED_Off" status="notrun" classname="ClockTest"/>
<testcase name="NoGpu" status="run" result="skipped" classname="ClockTest"/>
</testsuite></testsuites>"""

SHELL_XML = """<testsuites><testsuite name="tools/setup_test" tests="1">
<testcase name="tools/setup_test" status="run"/></testsuite></testsuites>"""


def result_event(label, status, run=1):
    return json.dumps({
        "id": {"testResult": {"label": label, "run": run, "shard": 1}},
        "testResult": {"status": status, "testActionOutput": []},
    })


def completed_event(label, success):
    return json.dumps({
        "id": {"targetCompleted": {"label": label}},
        "completed": {"success": True} if success else {},
    })


class CountTestsTest(unittest.TestCase):

    def test_cases_of_googletest_are_counted_one_by_one(self):
        counts = count_tests.count_xml("//a:b_test", GTEST_XML)
        self.assertEqual(counts.passed, 1)
        self.assertEqual(counts.skipped, 1)
        self.assertEqual(counts.failures, ["//a:b_test ClockTest.Waits"])

    def test_shell_test_is_one_case(self):
        counts = count_tests.count_result("//a:b_test", "PASSED", SHELL_XML)
        self.assertEqual((counts.passed, counts.failures), (1, []))

    def test_crash_without_a_failed_case_is_a_failure(self):
        counts = count_tests.count_result("//a:b_test", "FAILED", SHELL_XML)
        self.assertEqual(counts.failures, ["//a:b_test (FAILED)"])

    def test_timeout_without_a_file_is_a_failure(self):
        counts = count_tests.count_result("//a:b_test", "TIMEOUT", "")
        self.assertEqual(counts.failures, ["//a:b_test (TIMEOUT)"])

    def test_half_written_file_is_a_failure_of_the_program(self):
        counts = count_tests.count_result("//a:b_test", "FAILED", "<testsui")
        self.assertEqual(counts.failures, ["//a:b_test (FAILED)"])

    def test_program_without_cases_is_a_failure(self):
        counts = count_tests.count_result("//a:b_test", "PASSED", "")
        self.assertEqual(counts.failures, ["//a:b_test (ran no test case)"])

    def test_target_that_does_not_build_is_a_failure(self):
        counts = count_tests.count_events(
            [completed_event("//a:a", False), completed_event("//a:b", True)])
        self.assertEqual(counts.failures, ["//a:a (does not build)"])

    def test_failed_run_is_not_counted_as_unbuilt_too(self):
        counts = count_tests.count_events([
            completed_event("//a:a_test", False),
            result_event("//a:a_test", "FAILED"),
        ])
        self.assertEqual(counts.failures, ["//a:a_test (FAILED)"])

    def test_each_run_of_a_target_counts(self):
        counts = count_tests.count_events(
            [result_event("//a:a_test", "PASSED", run) for run in (1, 2)],
            xml_of=lambda _: SHELL_XML)
        self.assertEqual(counts.passed, 2)

    def run_main(self, text, exit_code, *steps):
        path = os.path.join(tempfile.mkdtemp(), "events.json")
        with open(path, "w", encoding="utf-8") as events:
            events.write(text)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = count_tests.main(["", path, exit_code, *steps])
        return status, output.getvalue().splitlines()

    def test_last_line_has_the_counts(self):
        status, lines = self.run_main(completed_event("//a:a", False), "1")
        self.assertEqual(status, 1)
        self.assertEqual(lines[-1], "0 passed, 1 failed")

    def test_failed_step_is_a_failed_case(self):
        status, lines = self.run_main(completed_event("//a:a", True), "0",
                                      "format")
        self.assertEqual((status, lines),
                         (1, ["FAILED format", "0 passed, 1 failed"]))

    def test_error_of_bazel_alone_is_a_failure(self):
        status, lines = self.run_main("", "37")
        self.assertEqual(status, 1)
        self.assertIn("bazel ended with 37", lines[0])

    def test_empty_run_is_a_failure(self):
        status, lines = self.run_main("", "0")
        self.assertEqual((status, lines[-1]), (1, "0 passed, 1 failed"))

    def test_unreadable_events_are_a_failure(self):
        status, lines = self.run_main("{", "0")
        self.assertEqual((status, lines[-1]), (1, "0 passed, 1 failed"))


if __name__ == "__main__":
    unittest.main()
