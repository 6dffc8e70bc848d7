#include "model/evaluation/report.h"

#include <cerrno>

#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/result_key.h"
#include "model/evaluation/items.h"
#include "model/tasks/addition.h"
#include "model/tasks/pairs.h"
#include "nlohmann/json.hpp"

namespace ordo::model::evaluation {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

class ReportTest : public ::testing::Test {
 protected:
  ReportTest() : files_(real_) {
    subject_.job = "sums";
    subject_.attempt = 2;
    subject_.evaluation.set_task("addition_grid");
    subject_.evaluation.set_name("grid");
    subject_.evaluation.set_seed(7);
    (*subject_.evaluation.mutable_params())["samples"].set_number_value(1);
    subject_.task_version = 3;
    subject_.id = "grid-40";
    subject_.step = 40;
    subject_.checkpoint = "40-1";
    tasks::PairGridOptions options;
    options.max_first = 2;
    options.max_second = 2;
    options.samples = 1;
    options.trained_first = 1;
    options.trained_second = 1;
    outcome_.scores = tasks::MakePairGrid(tasks::Addition(), options)
                          ->Score({1, {{1}, {0}, {1}, {0}}});
    for (const char* id : {"7-0", "7-1", "7-2", "7-3"}) {
      Item& item = outcome_.items.emplace_back();
      item.id = id;
      item.unit = id;
    }
  }

  base::PosixFilesystem real_;
  base::testing::FaultyFilesystem files_;
  base::testing::TemporaryFolder folder_;
  ReportSubject subject_;
  Outcome outcome_;
};

TEST_F(ReportTest, IsNamedByTheEvaluationAndTheStep) {
  EXPECT_EQ(ReportId(subject_.evaluation, 40), "grid-40");
  subject_.evaluation.clear_name();
  EXPECT_EQ(ReportId(subject_.evaluation, 40), "addition_grid-40");
}

TEST_F(ReportTest, AnotherEncodingIsAnotherResult) {
  ordo::training::v1::Component yarn;
  yarn.set_name("yarn");
  const std::string id = ReportId(subject_.evaluation, 40, yarn);
  EXPECT_THAT(id, ::testing::MatchesRegex("grid-40-yarn-[0-9a-f]{8}"));
  EXPECT_EQ(ReportId(subject_.evaluation, 40, yarn), id);
  (*yarn.mutable_params())["factor"].set_number_value(4);
  EXPECT_NE(ReportId(subject_.evaluation, 40, yarn), id);
  subject_.encoding = yarn;
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto report,
      WriteReport(files_, folder_.path(), subject_, outcome_));
  EXPECT_EQ(report.encoding().name(), "yarn");
  const auto result = nlohmann::json::parse(
      base::ReadFile(real_, folder_.Path("results/grid-40-2/result.json"),
                     1 << 20)
          .value());
  EXPECT_EQ(result["encoding"]["name"], "yarn");
  EXPECT_EQ(result["encoding"]["params"]["factor"], 4);
}

TEST_F(ReportTest, FilesOfTheScoresStandBesideTheResult) {
  outcome_.scores.files["maps.csv"] = "a,b\n";
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto report,
      WriteReport(files_, folder_.path(), subject_, outcome_));
  EXPECT_EQ(
      base::ReadFile(real_, folder_.Path("results/grid-40-2/maps.csv"), 1 << 20)
          .value(),
      "a,b\n");
  ASSERT_EQ(report.files_size(), 5);
  EXPECT_EQ(report.files(3).path(), "maps.csv");
  EXPECT_EQ(report.files(3).size_bytes(), 4);
}

TEST_F(ReportTest, HoldsEverythingAFigureNeeds) {
  outcome_.scores.standard_errors["trained_mean"] = 0.125;
  outcome_.scores.sampled["trained_mean"] = {2, 3};
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto report,
      WriteReport(files_, folder_.path(), subject_, outcome_));
  EXPECT_EQ(report.folder(), "results/grid-40-2");
  EXPECT_EQ(report.kind(), "evaluation");
  EXPECT_EQ(report.task_version(), 3);
  EXPECT_DOUBLE_EQ(report.metrics().at("grid_mean"), 0.5);
  const std::string text =
      base::ReadFile(real_, folder_.Path("results/grid-40-2/result.json"),
                     1 << 20)
          .value();
  const auto result = nlohmann::json::parse(text);
  EXPECT_EQ(result["task"], "addition_grid");
  EXPECT_EQ(result["job"], "sums");
  EXPECT_EQ(result["step"], 40);
  EXPECT_EQ(result["checkpoint"], "40-1");
  EXPECT_EQ(result["seed"], 7);
  EXPECT_EQ(result["precision"], "fp32");
  EXPECT_EQ(result["task_version"], 3);
  EXPECT_EQ(result["params"], nlohmann::json::parse(R"({"samples": 1})"));
  EXPECT_EQ(result["items"], 4);
  EXPECT_EQ(result["max_digits"], 2);
  EXPECT_EQ(result["trained_digits"], 1);
  EXPECT_EQ(result["samples"], 1);
  EXPECT_EQ(result["cells"], nlohmann::json::parse("[[1,0],[1,0]]"));
  EXPECT_EQ(result["metrics"]["trained_mean"], 1);
  EXPECT_EQ(result["standard_errors"],
            nlohmann::json::parse(R"({"trained_mean": 0.125})"));
  EXPECT_EQ(
      result["sampled"],
      nlohmann::json::parse(R"({"trained_mean": {"units": 2, "items": 3}})"));
}

TEST_F(ReportTest, SaysWhatItIsKnownBy) {
  ordo::training::v1::ResultKey key;
  key.set_task("addition_grid");
  subject_.key = key;
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto report,
      WriteReport(files_, folder_.path(), subject_, outcome_));
  EXPECT_EQ(report.key().task(), "addition_grid");
  EXPECT_EQ(report.taken_from(), "");
  const auto result = nlohmann::json::parse(
      base::ReadFile(real_, folder_.Path("results/grid-40-2/result.json"),
                     1 << 20)
          .value());
  EXPECT_EQ(result["key"], catalog::KeyDigest(key));
}

TEST_F(ReportTest, SaysSizesAndDigestsOfItsFiles) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto report,
      WriteReport(files_, folder_.path(), subject_, outcome_));
  EXPECT_EQ(report.files_size(), 4);
  for (const auto& file : report.files()) {
    const std::string path = folder_.Path(report.folder() + "/" + file.path());
    EXPECT_EQ(base::Sha256HexOfFile(real_, path).value(), file.sha256());
    EXPECT_EQ(static_cast<int64_t>(real_.Stat(path)->size_bytes),
              file.size_bytes());
  }
}

TEST_F(ReportTest, HoldsWhatBecameOfEachItem) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto report,
      WriteReport(files_, folder_.path(), subject_, outcome_));
  EXPECT_EQ(report.files(3).path(), "items.jsonl");
  ORDO_ASSERT_OK_AND_ASSIGN(
      ItemReader reader,
      ItemReader::Open(real_, folder_.Path("results/grid-40-2/items.jsonl")));
  for (const Item& item : outcome_.items) {
    EXPECT_EQ(reader.Next().value().value().id, item.id);
  }
  EXPECT_FALSE(reader.Next().value().has_value());
}

TEST_F(ReportTest, IsNotThereAtAllAfterAnError) {
  for (const char* file : {"table.csv", "items.jsonl"}) {
    files_.Fail(base::testing::FileOperation::kAppend, file, ENOSPC);
    EXPECT_THAT(WriteReport(files_, folder_.path(), subject_, outcome_),
                StatusIs(absl::StatusCode::kResourceExhausted,
                         HasSubstr("write report grid-40")));
    EXPECT_TRUE(real_.List(folder_.Path("results"))->empty());
    files_.Heal();
  }
}

}  // namespace
}  // namespace ordo::model::evaluation
