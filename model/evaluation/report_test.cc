#include "model/evaluation/report.h"

#include <cerrno>

#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
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
    subject_.id = "grid-40";
    subject_.step = 40;
    subject_.checkpoint = "40-1";
    tasks::PairGridOptions options;
    options.max_first = 2;
    options.max_second = 2;
    options.samples = 1;
    options.trained_first = 1;
    options.trained_second = 1;
    scores_ = tasks::MakePairGrid(tasks::Addition(), options)
                  ->Score({1, {{1}, {0}, {1}, {0}}});
  }

  base::PosixFilesystem real_;
  base::testing::FaultyFilesystem files_;
  base::testing::TemporaryFolder folder_;
  ReportSubject subject_;
  tasks::Scores scores_;
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
      WriteReport(files_, folder_.path(), subject_, scores_));
  EXPECT_EQ(report.encoding().name(), "yarn");
  const auto result = nlohmann::json::parse(
      base::ReadFile(real_, folder_.Path("results/grid-40-2/result.json"),
                     1 << 20)
          .value());
  EXPECT_EQ(result["encoding"]["name"], "yarn");
  EXPECT_EQ(result["encoding"]["params"]["factor"], 4);
}

TEST_F(ReportTest, HoldsEverythingAFigureNeeds) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto report,
      WriteReport(files_, folder_.path(), subject_, scores_));
  EXPECT_EQ(report.folder(), "results/grid-40-2");
  EXPECT_EQ(report.kind(), "evaluation");
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
  EXPECT_EQ(result["max_digits"], 2);
  EXPECT_EQ(result["trained_digits"], 1);
  EXPECT_EQ(result["samples"], 1);
  EXPECT_EQ(result["cells"], nlohmann::json::parse("[[1,0],[1,0]]"));
  EXPECT_EQ(result["metrics"]["trained_mean"], 1);
}

TEST_F(ReportTest, SaysSizesAndDigestsOfItsFiles) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto report,
      WriteReport(files_, folder_.path(), subject_, scores_));
  EXPECT_EQ(report.files_size(), 3);
  for (const auto& file : report.files()) {
    const std::string path = folder_.Path(report.folder() + "/" + file.path());
    EXPECT_EQ(base::Sha256HexOfFile(real_, path).value(), file.sha256());
  }
}

TEST_F(ReportTest, IsNotThereAtAllAfterAnError) {
  files_.Fail(base::testing::FileOperation::kAppend, "table.csv", ENOSPC);
  EXPECT_THAT(WriteReport(files_, folder_.path(), subject_, scores_),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("write report grid-40")));
  EXPECT_TRUE(real_.List(folder_.Path("results"))->empty());
}

}  // namespace
}  // namespace ordo::model::evaluation
