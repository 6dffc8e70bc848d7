import unittest

from tools.tidy import layers
from tools.tidy.testing import messages, tree


def include(header):
    return '#include "%s"\n' % header


class ScoreModsTest(unittest.TestCase):

    def found(self, name, text):
        return messages(layers.check_score_mods(tree(**{
            "kernels__attention__score_mods__soft_ramp_h": "struct SoftRamp;\n",
            name: text,
        })))

    def test_a_kernel_that_names_one_is_found(self):
        for text in ("p.mod == ScoreMod::kSoftRamp;", "score_mods::SoftRamp f;",
                     include("kernels/attention/score_mods/soft_ramp.h")):
            self.assertEqual(
                len(self.found("kernels__attention__cpu_tiled_h", text)), 1)

    def test_an_encoding_and_a_test_may_name_one(self):
        for name in ("model__encodings__fire_cc",
                     "kernels__attention__reference_test_cc"):
            self.assertEqual(self.found(name, "ScoreMod::kSoftRamp;"), [])

    def test_what_is_done_for_all_is_not_found(self):
        self.assertEqual(
            self.found("kernels__attention__cpu_tiled_h",
                       "WithMod(ScoreMod::kNone, score_mods::Mod());"), [])


class IncludesTest(unittest.TestCase):

    def refused(self, name, header):
        return messages(layers.check_includes(tree(**{name: include(header)})))

    def test_core_may_not_include_the_store(self):
        self.assertEqual(
            self.refused("scheduler__core__state_cc", "scheduler/store/store.h"),
            ["scheduler/core/state.cc:1: scheduler/core may not include "
             "scheduler/store/store.h (LAYERS in tools/tidy/layers.py)"])

    def test_core_may_include_status_and_messages(self):
        for header in ("base/status/status.h", "proto/ordo/jobs/v1/jobs.pb.h",
                       "absl/status/status.h", "scheduler/core/event.h"):
            self.assertEqual(
                self.refused("scheduler__core__state_cc", header), [])

    def test_core_may_not_include_a_service_stub(self):
        self.assertEqual(
            len(self.refused("scheduler__core__state_cc",
                             "proto/ordo/jobs/v1/jobs.grpc.pb.h")), 1)

    def test_trainer_may_not_include_grpc(self):
        self.assertEqual(
            len(self.refused("worker__trainer__loop_cc", "grpcpp/grpcpp.h")), 1)

    def test_trainer_may_not_include_other_protos_than_training(self):
        self.assertEqual(
            len(self.refused("worker__trainer__loop_cc",
                             "proto/ordo/jobs/v1/jobs.pb.h")), 1)
        self.assertEqual(
            self.refused("worker__trainer__loop_cc",
                         "proto/ordo/training/v1/spec.pb.h"), [])

    def test_statistics_alone_may_include_boost(self):
        header = "boost/math/distributions/beta.hpp"
        self.assertEqual(self.refused("report__stats__gate_cc", header), [])
        for name in ("report__grid_cc", "model__data__batch_cc"):
            self.assertEqual(len(self.refused(name, header)), 1)

    def test_each_library_of_text_is_seen_by_one_folder(self):
        text = "model__text__"
        for header, seen, others in (
                ("pcre2.h", "tokenizers__split_cc",
                 ("source__a_cc", "tokenizers__sentence_piece__a_cc")),
                ("sentencepiece_processor.h", "tokenizers__sentence_piece__a_cc",
                 ("tokenizers__a_cc", "store__a_cc")),
                ("zstd.h", "source__a_cc", ("tokenizers__a_cc", "rows__a_cc"))):
            self.assertEqual(self.refused(text + seen, header), [])
            for name in others:
                self.assertEqual(len(self.refused(text + name, header)), 1)
            self.assertEqual(
                len(self.refused("model__training__run_cc", header)), 1)

    def test_text_may_not_include_the_model(self):
        self.assertEqual(
            len(self.refused("model__text__rows__a_cc",
                             "model/transformer/model.h")), 1)
        self.assertEqual(
            self.refused("model__text__rows__a_cc", "model/tasks/epochs.h"), [])

    def test_catalog_may_not_include_libtorch(self):
        self.assertEqual(
            len(self.refused("model__catalog__catalog_cc", "ATen/ATen.h")), 1)

    def test_model_may_include_libtorch(self):
        self.assertEqual(
            self.refused("model__encodings__rope_cc", "ATen/ATen.h"), [])

    def test_supervisor_may_include_nothing_of_ours(self):
        self.assertEqual(
            len(self.refused("worker__supervisor__proc_cc",
                             "base/status/status.h")), 1)
        self.assertEqual(
            len(self.refused("worker__supervisor__proc_cc",
                             "absl/status/status.h")), 1)

    def test_services_may_include_the_scheduler_interface_only(self):
        self.assertEqual(
            self.refused("services__jobs__jobs_cc", "scheduler/scheduler.h"), [])
        self.assertEqual(
            len(self.refused("services__jobs__jobs_cc",
                             "scheduler/core/state.h")), 1)

    def test_test_may_include_fakes_of_other_folders(self):
        self.assertEqual(
            self.refused("services__jobs__jobs_test_cc",
                         "scheduler/testing/fake_scheduler.h"), [])
        self.assertEqual(
            len(self.refused("services__jobs__jobs_cc",
                             "scheduler/testing/fake_scheduler.h")), 1)

    def test_include_in_a_comment_does_not_count(self):
        self.assertEqual(
            messages(layers.check_includes(tree(
                scheduler__core__state_cc='// #include "grpcpp/grpcpp.h"\n'))),
            [])

    def test_new_folder_must_be_in_the_table(self):
        self.assertEqual(len(self.refused("orchard__apple_cc", "string")), 1)


class DepsTest(unittest.TestCase):

    def refused(self, **builds):
        return messages(layers.check_deps(tree(**builds)))

    def test_dep_across_layers_is_refused(self):
        self.assertEqual(
            self.refused(scheduler__core__BUILD='''
                ordo_cc_library(name = "state", deps = ["//model/encodings:rope"])
                '''),
            ["scheduler/core/BUILD.bazel:2: state: scheduler/core may not use "
             "//model/encodings:rope"])

    def test_single_header_of_a_folder_is_a_dep_too(self):
        self.assertEqual(
            self.refused(services__jobs__BUILD='''
                ordo_cc_library(name = "jobs", deps = ["//scheduler"])
                '''), [])

    def test_torch_argument_is_a_dep(self):
        self.assertEqual(
            len(self.refused(base__text__BUILD='''
                ordo_cc_library(name = "text", torch = True)
                ''')), 1)

    def test_grpc_in_a_test_of_the_trainer_is_refused(self):
        self.assertEqual(
            len(self.refused(worker__trainer__BUILD='''
                ordo_cc_test(name = "loop_test", deps = ["//third_party:grpc"])
                ''')), 1)


class ReachTest(unittest.TestCase):

    def test_library_behind_two_deps_is_found(self):
        found = messages(layers.check_reach(tree(
            worker__trainer__BUILD='''
                ordo_cc_library(name = "loop", deps = ["//base/files"])
                ''',
            base__files__BUILD='''
                ordo_cc_library(name = "files", deps = ["//third_party:grpc"])
                ''')))
        self.assertEqual(
            found,
            ["worker/trainer/BUILD.bazel:2: loop must not reach gRPC, but does: "
             "//third_party:grpc <- //base/files:files <- //worker/trainer:loop"])

    def test_proto_library_with_services_brings_grpc(self):
        found = messages(layers.check_reach(tree(
            worker__trainer__BUILD='''
                ordo_cc_library(name = "loop", deps = ["//proto/ordo/a/v1:a"])
                ''',
            proto__ordo__a__v1__BUILD='''
                ordo_proto_library(name = "a", srcs = ["a.proto"], grpc = True)
                ''')))
        self.assertEqual(len(found), 1)

    def test_the_trainer_may_not_be_linked_with_sentence_piece(self):
        found = messages(layers.check_reach(tree(
            worker__trainer__BUILD='''
                ordo_cc_library(name = "loop", deps = ["//model/text/a"])
                ''',
            model__text__a__BUILD='''
                ordo_cc_library(name = "a",
                                deps = ["//third_party:sentencepiece"])
                ''')))
        self.assertEqual(len(found), 1)

    def test_what_is_allowed_gives_nothing(self):
        self.assertEqual(
            layers.check_reach(tree(scheduler__server__BUILD='''
                ordo_cc_library(name = "server", deps = ["//third_party:grpc"])
                ''')), [])


if __name__ == "__main__":
    unittest.main()
