#include "model/evaluation/evaluate.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/check.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/addition_grid.h"
#include "model/training/numerics.h"
#include "model/training/run.h"
#include "model/training/testing/tiny_spec.h"

namespace ordo::model::evaluation {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<tasks::EvaluationTask> Grid(int max_digits, int samples) {
  tasks::AdditionGridOptions options;
  options.max_digits = max_digits;
  options.samples = samples;
  options.trained_digits = 1;
  return tasks::MakeAdditionGrid(options);
}

// A model of one-digit sums; training it takes a second or two.
class EvaluateTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    training::ConfigureNumerics(2);
    auto spec = training::testing::TinySpec("rope");
    (*spec.mutable_data()->mutable_params())["max_digits"].set_number_value(1);
    spec.mutable_model()->set_width(32);
    spec.mutable_model()->set_mlp_width(96);
    spec.mutable_training()->set_steps(300);
    spec.mutable_training()->set_batch_size(64);
    spec.mutable_training()->set_micro_batch_size(64);
    spec.mutable_training()->set_learning_rate(5e-3);
    auto run = training::Run::Create(spec);
    ORDO_CHECK(run.ok()) << run.status();
    run_ = run->release();
    while (run_->cursors().step < 300) {
      const auto step = run_->Step();
      ORDO_CHECK(step.ok()) << step.status();
    }
  }
  static void TearDownTestSuite() { delete run_; }

  static training::Run* run_;
};

training::Run* EvaluateTest::run_ = nullptr;

TEST_F(EvaluateTest, ATrainedModelAnswersOneDigitSums) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const tasks::Scores scores,
      Evaluate(run_->model(), *Grid(2, 50), EvaluateOptions()));
  EXPECT_GE(scores.metrics.at("trained_mean"), 0.9);
  EXPECT_LE(scores.metrics.at("outside_mean"), 0.5);
}

TEST_F(EvaluateTest, ScoresDoNotDependOnTheBatches) {
  EvaluateOptions options;
  ORDO_ASSERT_OK_AND_ASSIGN(const tasks::Scores whole,
                            Evaluate(run_->model(), *Grid(3, 7), options));
  options.batch_rows = 4;
  ORDO_ASSERT_OK_AND_ASSIGN(const tasks::Scores split,
                            Evaluate(run_->model(), *Grid(3, 7), options));
  EXPECT_EQ(whole.details["cells"], split.details["cells"]);
}

TEST_F(EvaluateTest, TellsHowFarItIs) {
  std::vector<int64_t> done;
  EvaluateOptions options;
  options.batch_rows = 5;
  options.on_progress = [&](int64_t num_done, int64_t num_total) {
    EXPECT_EQ(num_total, 12);
    done.push_back(num_done);
  };
  ORDO_ASSERT_OK(Evaluate(run_->model(), *Grid(2, 3), options));
  // Three questions of four tokens, six of five, three of six.
  EXPECT_THAT(done, ElementsAre(0, 3, 8, 9, 12));
}

TEST_F(EvaluateTest, StopsAtTheNextToken) {
  EvaluateOptions options;
  int tokens = 0;
  options.should_stop = [&] { return ++tokens == 2; };
  int64_t done = -1;
  options.on_progress = [&](int64_t num_done, int64_t) { done = num_done; };
  EXPECT_THAT(Evaluate(run_->model(), *Grid(2, 3), options),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(tokens, 2);
  EXPECT_EQ(done, 0);
}

TEST_F(EvaluateTest, RefusesAModelWithTooFewTokens) {
  auto spec = training::testing::TinySpec("rope");
  spec.mutable_model()->set_vocabulary_size(10);
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto model,
      transformer::Transformer::Create(spec.model(), spec.encoding(), {}));
  EXPECT_THAT(Evaluate(*model, *Grid(2, 1), EvaluateOptions()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("10 tokens, the evaluation needs 19")));
}

}  // namespace
}  // namespace ordo::model::evaluation
