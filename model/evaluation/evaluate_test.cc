#include "model/evaluation/evaluate.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ATen/core/grad_mode.h"
#include "ATen/ops/log_softmax.h"
#include "ATen/ops/tensor.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/check.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/evaluation/decode.h"
#include "model/evaluation/inspect.h"
#include "model/evaluation/items.h"
#include "model/tasks/addition.h"
#include "model/tasks/inside/inside_task.h"
#include "model/tasks/inside/rows.h"
#include "model/tasks/pairs.h"
#include "model/training/numerics.h"
#include "model/training/run.h"
#include "model/training/testing/tiny_spec.h"

namespace ordo::model::evaluation {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<tasks::EvaluationTask> Grid(int max_digits, int samples) {
  tasks::PairGridOptions options;
  options.max_first = max_digits;
  options.max_second = max_digits;
  options.samples = samples;
  options.trained_first = 1;
  options.trained_second = 1;
  return tasks::MakePairGrid(tasks::Addition(), options);
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

absl::StatusOr<tasks::Scores> ScoresOf(const transformer::Transformer& model,
                                       const tasks::EvaluationTask& task,
                                       const EvaluateOptions& options) {
  ORDO_ASSIGN_OR_RETURN(Outcome outcome, Evaluate(model, task, options));
  return std::move(outcome.scores);
}

TEST_F(EvaluateTest, ATrainedModelAnswersOneDigitSums) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const tasks::Scores scores,
      ScoresOf(run_->model(), *Grid(2, 50), EvaluateOptions()));
  EXPECT_GE(scores.metrics.at("trained_mean"), 0.9);
  EXPECT_LE(scores.metrics.at("outside_mean"), 0.5);
}

TEST_F(EvaluateTest, AModelIsLookedIntoTextByText) {
  tasks::PairsOptions sums;
  sums.max_first = sums.max_second = 1;
  tasks::InsideQuery query;
  query.kind = tasks::InsideQuery::Kind::kAttention;
  query.layers = {1, 2};
  const auto task = tasks::inside::MakeInside(
      query, tasks::inside::MakeRowsOfTask(
                 tasks::MakePairs(tasks::Addition(), sums), {3, 100}));
  std::vector<int64_t> progress;
  EvaluateOptions options;
  options.seed = 5;
  options.on_progress = [&](int64_t num_done, int64_t num_total) {
    EXPECT_EQ(num_total, 3);
    progress.push_back(num_done);
  };
  ORDO_ASSERT_OK_AND_ASSIGN(const Outcome outcome,
                            Evaluate(run_->model(), *task, options));
  EXPECT_THAT(progress, ElementsAre(0, 1, 2, 3));
  // Of the first text alone.
  const std::string maps = outcome.scores.files.at("maps.csv");
  EXPECT_THAT(maps, HasSubstr("\nfull,1,0,1,1,1\n"));
  EXPECT_THAT(maps, HasSubstr("\nfull,2,0,1,1,1\n"));
  EXPECT_EQ(maps.find("\nfull,2,0,1,1,1\n"), maps.rfind("\nfull,2,0,1,1,1\n"));
  ASSERT_EQ(outcome.items.size(), 3u);
  double sum = 0;
  for (int64_t i = 0; i < 3; ++i) {
    const tasks::Question question = task->Generate(5, i).value();
    const tasks::Inside inside =
        Inspect(run_->model(), query, question.prompt, false);
    EXPECT_EQ(outcome.items[i].id, "5-" + std::to_string(i));
    EXPECT_EQ(outcome.items[i].score, inside.score);
    EXPECT_EQ(outcome.items[i].output,
              task->tokenizer().Decode(question.prompt));
    sum += inside.numbers.at("diagonal_l2");
  }
  EXPECT_NEAR(outcome.scores.metrics.at("diagonal_l2"), sum / 3, 1e-12);
  options.should_stop = [] { return true; };
  options.on_progress = [](int64_t, int64_t) {};
  EXPECT_THAT(Evaluate(run_->model(), *task, options),
              StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(EvaluateTest, ScoresDoNotDependOnTheBatches) {
  EvaluateOptions options;
  ORDO_ASSERT_OK_AND_ASSIGN(const tasks::Scores whole,
                            ScoresOf(run_->model(), *Grid(3, 7), options));
  options.micro_batch.max_rows = 4;
  ORDO_ASSERT_OK_AND_ASSIGN(const tasks::Scores split,
                            ScoresOf(run_->model(), *Grid(3, 7), options));
  EXPECT_EQ(whole.details["cells"], split.details["cells"]);
}

TEST_F(EvaluateTest, EachItemSaysWhatWasProducedInTheOrderOfTheTask) {
  const auto grid = Grid(2, 5);
  EvaluateOptions options;
  options.seed = 3;
  options.micro_batch.max_rows = 4;
  ORDO_ASSERT_OK_AND_ASSIGN(const Outcome outcome,
                            Evaluate(run_->model(), *grid, options));
  ASSERT_EQ(outcome.items.size(), 20u);
  double right = 0;
  for (int64_t index = 0; index < 20; ++index) {
    const Item& item = outcome.items[index];
    EXPECT_EQ(item.id, "3-" + std::to_string(index));
    EXPECT_EQ(item.unit, item.id);
    EXPECT_TRUE(item.marks.empty());
    const auto answer = grid->Generate(3, index).value().answer;
    if (item.score == 1) {
      EXPECT_EQ(item.output, grid->tokenizer().Decode(answer));
    }
    right += item.score;
  }
  EXPECT_GT(right, 0);
  EXPECT_LT(right, 20);
  EXPECT_NEAR(outcome.scores.metrics.at("grid_mean"), right / 20, 1e-12);
}

std::vector<int64_t> Prompt() { return {5, 14, 6, 17}; }

// Asks for what a model answers where positions are drawn for rows of sixteen
// tokens, the first time for its first half.
class TwoLengths : public tasks::EvaluationTask {
 public:
  explicit TwoLengths(std::vector<int64_t> answer)
      : answer_(std::move(answer)) {}

  const tasks::Tokenizer& tokenizer() const override {
    return grid_->tokenizer();
  }
  int64_t size() const override { return 2; }
  absl::StatusOr<tasks::Question> Generate(uint64_t /*seed*/,
                                           int64_t index) const override {
    if (index == 1) return tasks::Question{Prompt(), answer_};
    return tasks::Question{Prompt(), {answer_.begin(), answer_.begin() + 6}};
  }
  int PromptLength(int64_t /*index*/) const override {
    return static_cast<int>(Prompt().size());
  }
  int AnswerLength(int64_t index) const override {
    return index == 1 ? static_cast<int>(answer_.size()) : 6;
  }
  tasks::Scores Score(const tasks::Marked& marked) const override {
    tasks::Scores scores;
    scores.metrics = {{"first", marked.answers[0][0]},
                      {"second", marked.answers[1][0]}};
    return scores;
  }

 private:
  const std::unique_ptr<tasks::EvaluationTask> grid_ = Grid(2, 1);
  const std::vector<int64_t> answer_;
};

TEST_F(EvaluateTest, NorDoPositionsDrawnForTheLengthOfARow) {
  auto spec = training::testing::TinySpec("random_rope");
  spec.mutable_model()->set_init_std(0.5);
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto model,
      transformer::Transformer::Create(spec.model(), spec.encoding(), {}));
  DecodeOptions decode;
  decode.num_tokens = 12;
  const Rows produced = Decode(*model, {Prompt()}, decode);
  ASSERT_EQ(produced[0].size(), 12u);
  decode.num_tokens = 6;
  const Rows shorter = Decode(*model, {Prompt()}, decode);
  ASSERT_FALSE(
      std::equal(shorter[0].begin(), shorter[0].end(), produced[0].begin()))
      << "the test needs another prompt: its answer knows no positions";
  for (const int rows : {1, 2}) {
    EvaluateOptions options;
    options.micro_batch.max_rows = rows;
    ORDO_ASSERT_OK_AND_ASSIGN(
        const tasks::Scores scores,
        ScoresOf(*model, TwoLengths(produced[0]), options));
    EXPECT_EQ(scores.metrics.at("first"), 1) << rows;
    EXPECT_EQ(scores.metrics.at("second"), 1) << rows;
  }
}

// The grid's questions, whose answers are read in one pass.
class ReadGrid : public tasks::EvaluationTask {
 public:
  ReadGrid(int max_digits, int samples) : grid_(Grid(max_digits, samples)) {}

  const tasks::Tokenizer& tokenizer() const override {
    return grid_->tokenizer();
  }
  int64_t size() const override { return grid_->size(); }
  // Prompts are padded to one length: answers differ in theirs.
  absl::StatusOr<tasks::Question> Generate(uint64_t seed,
                                           int64_t index) const override {
    tasks::Question question = grid_->Generate(seed, index).value();
    tasks::ReadAtPlaces(PromptLength(index), &question);
    return question;
  }
  int PromptLength(int64_t /*index*/) const override { return 12; }
  tasks::Scores Score(const tasks::Marked& marked) const override {
    tasks::Marked whole;
    whole.seed = marked.seed;
    for (const tasks::Marks& marks : marked.answers) {
      whole.answers.push_back(
          tasks::Marks{static_cast<uint8_t>(tasks::IsRight(marks))});
    }
    tasks::Scores scores = grid_->Score(whole);
    scores.metrics["first"] = static_cast<double>(marked.answers[0].size());
    return scores;
  }

 private:
  const std::unique_ptr<tasks::EvaluationTask> grid_;
};

// A greedy answer is right if and only if each of its tokens is the likeliest
// after those that are right.
TEST_F(EvaluateTest, AnswersReadInOnePassAreThoseThatAreDecoded) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const tasks::Scores decoded,
      ScoresOf(run_->model(), *Grid(2, 25), EvaluateOptions()));
  ORDO_ASSERT_OK_AND_ASSIGN(
      const tasks::Scores read,
      ScoresOf(run_->model(), ReadGrid(2, 25), EvaluateOptions()));
  EXPECT_GE(decoded.metrics.at("trained_mean"), 0.9);
  EXPECT_LT(decoded.metrics.at("grid_mean"), 1);
  EXPECT_EQ(read.details["cells"], decoded.details["cells"]);
  // A mark for each token: a digit or two, and the end.
  EXPECT_GE(read.metrics.at("first"), 2);
}

// Asks for the first token of the grid's answers, and for what is never said;
// of what is decoded no more than a token counts.
class FirstDigits : public tasks::EvaluationTask {
 public:
  const tasks::Tokenizer& tokenizer() const override {
    return grid_->tokenizer();
  }
  int64_t size() const override { return grid_->size(); }
  absl::StatusOr<tasks::Question> Generate(uint64_t seed,
                                           int64_t index) const override {
    tasks::Question question = grid_->Generate(seed, index).value();
    question.references = {tokenizer().Decode({question.answer[0]}), "x"};
    return question;
  }
  int PromptLength(int64_t index) const override {
    return grid_->PromptLength(index);
  }
  int AnswerLength(int64_t /*index*/) const override { return 1; }
  double ItemScore(const tasks::Marks& marks) const override {
    return tasks::ShareRight(marks);
  }
  tasks::Scores Score(const tasks::Marked& marked) const override {
    return grid_->Score(marked);
  }

 private:
  const std::unique_ptr<tasks::EvaluationTask> grid_ = Grid(1, 25);
};

// Half of what is looked for is never there.
TEST_F(EvaluateTest, WhatIsDecodedIsSearchedForItsReferences) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const Outcome outcome,
      Evaluate(run_->model(), FirstDigits(), EvaluateOptions()));
  double sum = 0;
  for (const Item& item : outcome.items) {
    EXPECT_LE(item.output.size(), 1u);
    EXPECT_TRUE(item.marks.empty());
    EXPECT_LE(item.score, 0.5);
    sum += item.score;
  }
  EXPECT_GE(sum / static_cast<double>(outcome.items.size()), 0.45);
}

// The same, of which each token counts.
class ReadTokens : public ReadGrid {
 public:
  using ReadGrid::ReadGrid;

  double ItemScore(const tasks::Marks& marks) const override {
    return tasks::ShareRight(marks);
  }
};

TEST_F(EvaluateTest, AnItemThatIsReadHasAMarkForEachPlaceAndCountsAsAWhole) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const Outcome outcome,
      Evaluate(run_->model(), ReadGrid(2, 25), EvaluateOptions()));
  bool in_part = false;
  for (const Item& item : outcome.items) {
    EXPECT_GE(item.marks.size(), 2u);
    EXPECT_EQ(item.score, tasks::IsRight(item.marks) ? 1 : 0);
    in_part = in_part || (item.score == 0 && tasks::ShareRight(item.marks) > 0);
  }
  EXPECT_TRUE(in_part);
}

TEST_F(EvaluateTest, OrByItsShareWhereTheTaskSaysSo) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const Outcome outcome,
      Evaluate(run_->model(), ReadTokens(2, 25), EvaluateOptions()));
  bool in_part = false;
  for (const Item& item : outcome.items) {
    EXPECT_EQ(item.score, tasks::ShareRight(item.marks));
    in_part = in_part || (item.score > 0 && item.score < 1);
  }
  EXPECT_TRUE(in_part);
}

// Two rows whose likelihood is measured, of four tokens and of five; a third
// cannot be read.
class Likelihoods : public tasks::EvaluationTask {
 public:
  explicit Likelihoods(int64_t size) : size_(size) {}

  const tasks::Tokenizer& tokenizer() const override {
    return grid_->tokenizer();
  }
  int64_t size() const override { return size_; }
  tasks::Measure measure() const override {
    return tasks::Measure::kLikelihood;
  }
  absl::StatusOr<tasks::Question> Generate(uint64_t /*seed*/,
                                           int64_t index) const override {
    if (index == 0)
      return tasks::Question{{5, 14, 6, 17}, {14, 6, 8}, {0, 1, 3}};
    if (index == 1) return tasks::Question{{5, 14, 6, 17, 3}, {9}, {4}};
    return absl::DataLossError("the disk is gone");
  }
  int PromptLength(int64_t index) const override { return index == 1 ? 5 : 4; }
  tasks::Scores Score(const tasks::Marked& marked) const override {
    tasks::Scores scores;
    scores.metrics = {{"first", marked.nats[0]}, {"second", marked.nats[1]}};
    return scores;
  }

 private:
  const int64_t size_;
  const std::unique_ptr<tasks::EvaluationTask> grid_ = Grid(1, 1);
};

TEST_F(EvaluateTest, LikelihoodsAreThoseOfTheLogits) {
  const c10::InferenceMode inference;
  const at::Tensor log_p = at::log_softmax(
      run_->model()
          .Forward(at::tensor({5, 14, 6, 17}, at::kLong).view({1, 4}))
          .to(at::kDouble),
      2);
  const double expected =
      -(log_p[0][0][14].item<double>() + log_p[0][1][6].item<double>() +
        log_p[0][3][8].item<double>());
  EvaluateOptions options;
  options.micro_batch.max_rows = 3;
  ORDO_ASSERT_OK_AND_ASSIGN(const Outcome outcome,
                            Evaluate(run_->model(), Likelihoods(2), options));
  EXPECT_NEAR(outcome.scores.metrics.at("first"), expected, 1e-4);
  EXPECT_NEAR(outcome.items[0].score, -expected / 3, 1e-4);
  EXPECT_GT(outcome.scores.metrics.at("second"), 0);
  EXPECT_EQ(outcome.items[1].score, -outcome.scores.metrics.at("second"));
  EXPECT_TRUE(outcome.items[0].marks.empty());
}

TEST_F(EvaluateTest, AQuestionThatCannotBeReadEndsIt) {
  EXPECT_THAT(Evaluate(run_->model(), Likelihoods(3), EvaluateOptions()),
              StatusIs(absl::StatusCode::kDataLoss, "the disk is gone"));
}

TEST_F(EvaluateTest, StopsBeforeTheNextPass) {
  EvaluateOptions options;
  options.micro_batch.max_rows = 4;
  int passes = 0;
  options.should_stop = [&] { return ++passes == 2; };
  int64_t done = -1;
  options.on_progress = [&](int64_t num_done, int64_t) { done = num_done; };
  EXPECT_THAT(Evaluate(run_->model(), ReadGrid(2, 3), options),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(done, 4);
}

TEST_F(EvaluateTest, PassesThatAreKnownAreNotComputedAgain) {
  base::PosixFilesystem files;
  base::testing::TemporaryFolder folder;
  const auto open = [&] {
    return AnswerLog::Open(files, {folder.Path("answers"), "key", {}});
  };
  EvaluateOptions options;
  options.micro_batch.max_rows = 4;
  ORDO_ASSERT_OK_AND_ASSIGN(const Outcome whole,
                            Evaluate(run_->model(), ReadGrid(2, 3), options));
  int passes = 0;
  options.should_stop = [&] { return ++passes == 3; };
  {
    ORDO_ASSERT_OK_AND_ASSIGN(const auto log, open());
    options.log = log.get();
    EXPECT_THAT(Evaluate(run_->model(), ReadGrid(2, 3), options),
                StatusIs(absl::StatusCode::kCancelled));
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const auto log, open());
  options.log = log.get();
  passes = 10;
  ORDO_ASSERT_OK_AND_ASSIGN(const Outcome again,
                            Evaluate(run_->model(), ReadGrid(2, 3), options));
  EXPECT_EQ(passes, 11) << "three passes, of which two were known";
  ASSERT_EQ(again.items.size(), whole.items.size());
  for (size_t i = 0; i < whole.items.size(); ++i) {
    EXPECT_EQ(ItemLine(again.items[i]), ItemLine(whole.items[i]));
  }
  EXPECT_EQ(again.scores.metrics, whole.scores.metrics);
}

TEST_F(EvaluateTest, TellsHowFarItIs) {
  std::vector<int64_t> done;
  EvaluateOptions options;
  options.micro_batch.max_rows = 5;
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
