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

# As Bazel writes it for a script.
SCRIPT_XML = """<testsuites><testsuite name="a/b_test" tests="1">
<testcase name="a/b_test" status="run"></testcase>
<system-out>
Generated test.log (if the file is not UTF-8, then this may be unreadable):
<![CDATA[exec ${PAGER:-/usr/bin/less} "$0" || exit 1
-----------------------------------------------------------------------------
%s]]>
</system-out></testsuite></testsuites>"""
UNITTEST_LOG = """test_a (__main__.ATest) ... ok
test_b (__main__.ATest) ... skipped 'kubectl is not there'
test_c (__main__.ATest)
What it is. ... skipped "no namespaces: it's not permitted"
test_d (__main__.ATest) ... some words
skipped 'kubectl is not there'

----------------------------------------------------------------------
Ran 4 tests in 0.001s

OK (skipped=3)"""


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

    def test_cases_of_unittest_are_counted_and_say_why_they_are_skipped(self):
        counts = count_tests.count_xml("//a:b_test", SCRIPT_XML % UNITTEST_LOG)
        self.assertEqual((counts.passed, counts.skipped), (1, 3))
        self.assertEqual(counts.reasons, [
            "//a:b_test: kubectl is not there",
            "//a:b_test: no namespaces: it's not permitted",
            "//a:b_test: kubectl is not there"])

    def test_a_unittest_that_skips_all_has_not_passed(self):
        counts = count_tests.count_result("//a:b_test", "PASSED", SCRIPT_XML % (
            "test_a (__main__.A) ... skipped 'x'\nRan 1 test in 0.0s\nOK"))
        self.assertEqual((counts.passed, counts.skipped, counts.failures),
                         (0, 1, []))

    def test_a_shell_test_passes_beside_what_it_skips(self):
        counts = count_tests.count_xml(
            "//a:b_test", SCRIPT_XML % "SKIPPED: no systemd here")
        self.assertEqual((counts.passed, counts.skipped), (1, 1))
        self.assertEqual(counts.reasons, ["//a:b_test: no systemd here"])

    def test_a_script_that_fails_is_one_failure(self):
        counts = count_tests.count_result(
            "//a:b_test", "FAILED", (SCRIPT_XML % UNITTEST_LOG).replace(
                "></testcase>", "><error message='exited'></error></testcase>"))
        self.assertEqual((counts.passed, counts.failures),
                         (0, ["//a:b_test a/b_test"]))

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

    def test_reasons_of_skips_are_printed_once(self):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(SCRIPT_XML % UNITTEST_LOG)
            file.flush()
            event = json.loads(result_event("//a:b_test", "PASSED"))
            event["testResult"]["testActionOutput"] = [
                {"name": "test.xml", "uri": "file://" + file.name}]
            status, lines = self.run_main(json.dumps(event), "0")
        self.assertEqual((status, lines), (0, [
            "SKIPPED 2 of //a:b_test: kubectl is not there",
            "SKIPPED 1 of //a:b_test: no namespaces: it's not permitted",
            "3 skipped", "1 passed, 0 failed"]))

    def test_empty_run_is_a_failure(self):
        status, lines = self.run_main("", "0")
        self.assertEqual((status, lines[-1]), (1, "0 passed, 1 failed"))

    def test_unreadable_events_are_a_failure(self):
        status, lines = self.run_main("{", "0")
        self.assertEqual((status, lines[-1]), (1, "0 passed, 1 failed"))


if __name__ == "__main__":
    unittest.main()
