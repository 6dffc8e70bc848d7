import unittest

from tools.tidy import pins
from tools.tidy.testing import messages, tree

MAIN = 'ABSL_FLAG(std::string, config, "", "file");\n'


class FlagsTest(unittest.TestCase):

    def test_new_flag_must_be_pinned(self):
        self.assertEqual(
            len(pins.check_flags(tree(worker__agent__main_cc=MAIN))), 1)

    def test_pinned_flag_is_fine(self):
        self.assertEqual(
            pins.check_flags(tree(
                worker__agent__main_cc=MAIN,
                tools__tidy__flags_txt="# why\nworker/agent/main.cc: --config\n")),
            [])

    def test_flag_that_is_gone_is_told(self):
        self.assertEqual(
            len(pins.check_flags(tree(
                tools__tidy__flags_txt="worker/agent/main.cc: --config\n"))), 1)

    def test_flag_in_a_library_is_refused(self):
        found = pins.check_flags(tree(
            base__log__log_cc=MAIN,
            tools__tidy__flags_txt="base/log/log.cc: --config\n"))
        self.assertEqual(len(found), 1)


    def test_flag_of_a_program_with_its_own_parser_is_pinned_too(self):
        text = 'if (name == "--task-dir") {'
        self.assertEqual(
            len(pins.check_flags(tree(worker__supervisor__options_cc=text))), 1)
        self.assertEqual(
            pins.check_flags(tree(
                worker__supervisor__options_cc=text,
                tools__tidy__flags_txt=
                "worker/supervisor/options.cc: --task-dir\n")), [])


class MetricsTest(unittest.TestCase):

    def test_good_name_is_fine(self):
        self.assertEqual(
            pins.check_metrics(tree(scheduler__server__metrics_h='''
                f("ordo_scheduler_attempts_total");
                f("ordo_scheduler_queue_depth_jobs");
                ''')), [])

    def test_name_without_part_or_unit_is_refused(self):
        for name in ("ordo_queue_depth_jobs", "ordo_scheduler_queue_depth",
                     "ordo_scheduler_wait_ms"):
            self.assertEqual(
                len(pins.check_metrics(
                    tree(scheduler__server__metrics_h='f("%s");' % name))), 1,
                name)

    def test_name_outside_metrics_h_is_refused(self):
        self.assertEqual(
            messages(pins.check_metrics(tree(
                scheduler__server__server_cc='f("ordo_scheduler_jobs_total");'))),
            ["scheduler/server/server.cc:1: metric ordo_scheduler_jobs_total: "
             "declare it in the program's metrics.h"])

    def test_same_name_twice_is_refused(self):
        self.assertEqual(
            len(pins.check_metrics(tree(
                scheduler__server__metrics_h='f("ordo_scheduler_a_total");',
                worker__agent__metrics_h='f("ordo_scheduler_a_total");'))), 1)


class LogFieldsTest(unittest.TestCase):

    def test_fields_of_the_header_are_fine_and_others_refused(self):
        fields = 'A a[] = {{"job", "Id."}, {"error", "Why."}};'
        self.assertEqual(
            messages(pins.check_log_fields(tree(
                base__log__fields_h=fields,
                worker__agent__agent_cc='''
                base::LogInfo("a (b", {{"job", f({"x", 1})},
                                      {"when", now}});
                Other({{"else", 1}});
                LogError("c", {LogField::IfAny("trace", id)});
                '''))),
            ["worker/agent/agent.cc:2: log field 'x': take one of "
             "base/log/fields.h, or say there what it means",
             "worker/agent/agent.cc:2: log field 'when': take one of "
             "base/log/fields.h, or say there what it means",
             "worker/agent/agent.cc:5: log field 'trace': take one of "
             "base/log/fields.h, or say there what it means"])

    def test_a_line_without_fields_and_a_test_are_fine(self):
        self.assertEqual(
            pins.check_log_fields(tree(
                worker__agent__agent_cc='base::LogInfo("drain begins");',
                worker__agent__agent_test_cc='LogInfo("a", {{"x", 1}});')), [])


if __name__ == "__main__":
    unittest.main()
