#include "worker/trainer/spec_file.h"

#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class SpecFileTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    ORDO_EXPECT_OK(base::AtomicWrite(files_, folder_.Path(name), text));
    return folder_.Path(name);
  }

  void ExpectBadSpec(const absl::Status& status, const std::string& message) {
    EXPECT_EQ(ExitCodeOf(status), ordo::training::v1::BAD_SPEC);
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

constexpr char kYaml[] =
    "encoding: {name: rope}\n"
    "data: {task: addition}\n"
    "training: {steps: 5}\n";

TEST_F(SpecFileTest, ReadsAShortTaskAndFillsTheRestIn) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto spec,
                            ReadTrainSpec(files_, Write("t.yaml", kYaml)));
  EXPECT_EQ(spec.attempt(), 1);
  EXPECT_EQ(spec.training().steps(), 5);
  EXPECT_EQ(spec.training().batch_size(), 64);
  EXPECT_EQ(spec.model().vocabulary_size(), 19);
  EXPECT_EQ(spec.resources().threads(), 2);
}

TEST_F(SpecFileTest, ReadsJsonToo) {
  ORDO_EXPECT_OK(
      ReadTrainSpec(files_, Write("t.json", R"({"encoding":{"name":"none"},)"
                                            R"("data":{"task":"addition"},)"
                                            R"("training":{"steps":5}})")));
}

TEST_F(SpecFileTest, AModelNeedsNoRecipe) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto spec,
      ReadModelSpec(files_, Write("m.yaml",
                                  "encoding: {name: rope}\n"
                                  "training: {lora: {rank: 4}}\n")));
  EXPECT_EQ(spec.model().layers(), 4);
  EXPECT_EQ(spec.training().lora().targets_size(), 4);
  EXPECT_FALSE(spec.training().has_steps());
  ExpectBadSpec(ReadModelSpec(files_, Write("m.yaml",
                                            "encoding: {name: rope}\n"
                                            "model: {heads: 3}\n"))
                    .status(),
                "model.width");
}

TEST_F(SpecFileTest, NamesEveryViolationAtOnce) {
  const auto spec = ReadTrainSpec(
      files_, Write("t.yaml",
                    "encoding: {name: taep}\n"
                    "data: {task: addition, params: {max_digits: 0}}\n"
                    "training: {steps: 5, batch_size: -1}\n"));
  ExpectBadSpec(spec.status(), "encoding.name");
  EXPECT_THAT(std::string(spec.status().message()),
              AllOf(HasSubstr("'tape'"), HasSubstr("data.params.max_digits"),
                    HasSubstr("training.batch_size"), HasSubstr("t.yaml")));
}

TEST_F(SpecFileTest, NamesBadFieldsAndBadValuesTogether) {
  const auto spec =
      ReadTrainSpec(files_, Write("t.yaml",
                                  "encodin: {name: rope}\n"
                                  "data: {task: addition}\n"
                                  "training: {steps: ten, batch_size: -1}\n"));
  ExpectBadSpec(spec.status(), "encodin: is no field");
  const std::string message(spec.status().message());
  EXPECT_THAT(message, AllOf(HasSubstr("encoding.name: "),
                             HasSubstr("training.steps: must be a whole"),
                             HasSubstr("training.batch_size: ")));
  EXPECT_THAT(message, Not(HasSubstr("training.steps: required")));
}

TEST_F(SpecFileTest, RefusesUnknownFieldsFormsAndMissingFiles) {
  ExpectBadSpec(
      ReadTrainSpec(files_, Write("t.yaml", "trainig: {}\n")).status(),
      "'training'");
  ExpectBadSpec(ReadTrainSpec(files_, Write("t.toml", kYaml)).status(),
                "t.toml");
  ExpectBadSpec(ReadTrainSpec(files_, folder_.Path("none.yaml")).status(),
                "none.yaml");
  ExpectBadSpec(
      ReadTrainSpec(files_, Write("big.yaml", std::string(2 << 20, ' ')))
          .status(),
      "big.yaml");
}

TEST_F(SpecFileTest, SaysThatAJobFileIsOne) {
  const auto spec = ReadTrainSpec(
      files_,
      Write("t.yaml", "kind: train\nname: a\nencoding: {name: rope}\n"));
  ExpectBadSpec(spec.status(), "ordo submit");
  EXPECT_THAT(std::string(spec.status().message()),
              Not(HasSubstr("is no field")));
}

TEST_F(SpecFileTest, ReadsEvaluationTasks) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto spec,
      ReadEvaluateSpec(files_,
                       Write("e.yaml",
                             "checkpoints: [{path: /x/5-1}]\n"
                             "evaluations: [{task: addition_grid}]\n")));
  EXPECT_EQ(spec.evaluations(0).name(), "addition_grid");
  ExpectBadSpec(
      ReadEvaluateSpec(
          files_, Write("f.yaml", "evaluations: [{task: addition_grid}]\n"))
          .status(),
      "checkpoints");
}

TEST_F(SpecFileTest, ReadsGates) {
  constexpr char kSubjects[] =
      "subjects: [{role: candidate, checkpoint: {path: /x/5-1}},"
      " {role: baseline, report: jobs/b/results/grid-5-1}]\n";
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto spec,
      ReadGateSpec(files_,
                   Write("g.yaml", std::string(kSubjects) +
                                       "evaluations: [{task: addition_grid}]\n"
                                       "gate: {margin: 0.1}\n")));
  EXPECT_EQ(spec.attempt(), 1);
  EXPECT_EQ(spec.evaluations(0).name(), "addition_grid");
  EXPECT_EQ(spec.gate().level(), 0.95);
  ExpectBadSpec(
      ReadGateSpec(files_, Write("h.yaml", std::string(kSubjects) +
                                               "evaluations: [{task: "
                                               "addition_grid}, {task: "
                                               "counting}]\n"
                                               "gate: {margin: 0.1}\n"))
          .status(),
      "subjects[1].report: is of one evaluation");
  ExpectBadSpec(ReadGateSpec(files_, Write("i.yaml",
                                           "subjects: [{role: anchor}]\n"
                                           "evaluations: [{task: counting}]\n"))
                    .status(),
                "subjects[0].role: must be candidate");
}

TEST_F(SpecFileTest, WhatSumsUpIsReadFromTextAndFromABinaryMessage) {
  constexpr char kText[] =
      R"({"job":"c","kind":"sweep","parts":[{"job":"a"}]})";
  ORDO_ASSERT_OK_AND_ASSIGN(const auto from_text,
                            ReadSummarizeSpec(files_, Write("s.json", kText)));
  EXPECT_EQ(from_text.attempt(), 1);
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto from_bytes,
      ReadSummarizeSpec(files_, Write("s.pb", from_text.SerializeAsString())));
  EXPECT_EQ(from_bytes.parts(0).job(), "a");
}

TEST_F(SpecFileTest, WhatSumsUpNothingIsABadSpec) {
  ExpectBadSpec(
      ReadSummarizeSpec(files_, Write("s.json", R"({"job":"c"})")).status(),
      "parts: required");
  ExpectBadSpec(ReadSummarizeSpec(files_, Write("s.pb", "\xff")).status(),
                "s.pb: is no binary SummarizeSpec");
}

}  // namespace
}  // namespace ordo::worker::trainer
