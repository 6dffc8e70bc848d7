// What a model finds likely: to the last bit the same whatever other rows are
// asked, how many and in which order; and nearly the same in passes of another
// shape.
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "model/evaluation/evaluate.h"
#include "model/evaluation/items.h"
#include "model/tasks/data_access.h"
#include "model/tasks/task.h"
#include "model/text/task/perplexity.h"
#include "model/text/task/questions_task.h"
#include "model/training/testing/tiny_spec.h"

namespace ordo::model::evaluation {
namespace {

using Order = std::vector<int64_t>;

// The rows of a task that an order names, in that order.
class Ordered : public tasks::EvaluationTask {
 public:
  // `task` outlives it.
  Ordered(const tasks::EvaluationTask& task, Order order)
      : task_(task), order_(std::move(order)) {}

  const tasks::Tokenizer& tokenizer() const override {
    return task_.tokenizer();
  }
  int64_t size() const override { return static_cast<int64_t>(order_.size()); }
  tasks::Measure measure() const override { return task_.measure(); }
  absl::StatusOr<tasks::Question> Generate(uint64_t seed,
                                           int64_t index) const override {
    return task_.Generate(seed, order_[index]);
  }
  int PromptLength(int64_t index) const override {
    return task_.PromptLength(order_[index]);
  }
  tasks::Scores Score(const tasks::Marked& /*marked*/) const override {
    return {};
  }

 private:
  const tasks::EvaluationTask& task_;
  const Order order_;
};

// By what is asked: choices of questions, whose rows are filled up to one of a
// few lengths, or windows of text of two lengths.
class LikelihoodsTest : public ::testing::TestWithParam<bool> {
 protected:
  LikelihoodsTest() {
    access_.files = &files_;
    access_.data_folder = folder_.Path("data");
    access_.store_folder = folder_.Path("data/.stores");
    access_.work_folder = folder_.Path("work");
    ORDO_EXPECT_OK(files_.MakeFolders(access_.data_folder));
    task_ = GetParam() ? Choices() : Windows();
    auto spec = training::testing::TinySpec("rope");
    spec.mutable_model()->set_vocabulary_size(
        task_->tokenizer().vocabulary_size());
    spec.mutable_model()->set_init_std(0.5);
    auto model =
        transformer::Transformer::Create(spec.model(), spec.encoding(), {});
    ORDO_CHECK(model.ok()) << model.status();
    model_ = *std::move(model);
  }

  void Write(const std::string& name, const std::string& text) {
    ORDO_EXPECT_OK(
        base::AtomicWrite(files_, folder_.Path("data/" + name), text));
  }

  std::unique_ptr<tasks::EvaluationTask> Choices() {
    std::string lines =
        R"({"prompt": "{text}:", "choices": "{choices}", "answer": "{right}", )"
        R"("metric": "acc"})"
        "\n";
    for (int i = 0; i < 20; ++i) {
      absl::StrAppend(&lines, R"({"id": "q)", i, R"(", "text": ")",
                      std::string(1 + 5 * i, static_cast<char>('a' + i)),
                      R"(", "choices": ["b", "cc"], "right": 0})", "\n");
    }
    Write("asked.jsonl", lines);
    text::task::QuestionsOptions options;
    options.field = "params";
    options.path = "asked.jsonl";
    options.tokenizer = "bytes";
    auto task = text::task::OpenQuestions(access_, options);
    ORDO_CHECK(task.ok()) << task.status();
    return *std::move(task);
  }

  std::unique_ptr<tasks::EvaluationTask> Windows() {
    std::string lines;
    for (int i = 0; i < 60; ++i) {
      absl::StrAppend(&lines, "line ", i * i, " of sixty\n");
    }
    Write("asked.txt", lines);
    text::task::PerplexityOptions options;
    options.text.field = "params";
    options.text.data = {"asked.txt"};
    options.text.documents.format = text::source::TextFormat::kLines;
    options.text.marks.begin = true;
    options.split = text::task::Split::kAll;
    options.lengths = {16, 48};
    auto task = text::task::OpenPerplexity(access_, options);
    ORDO_CHECK(task.ok()) << task.status();
    return *std::move(task);
  }

  // Of each row of the order, by token.
  std::vector<double> Measured(const Order& order, int max_rows = 8) const {
    EvaluateOptions options;
    options.micro_batch.max_rows = max_rows;
    const auto outcome = Evaluate(*model_, Ordered(*task_, order), options);
    ORDO_CHECK(outcome.ok()) << outcome.status();
    std::vector<double> measured;
    for (const Item& item : outcome->items) measured.push_back(item.score);
    return measured;
  }

  Order AsTheyAre() const {
    Order order(task_->size());
    std::iota(order.begin(), order.end(), 0);
    return order;
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  tasks::DataAccess access_;
  std::unique_ptr<tasks::EvaluationTask> task_;
  std::unique_ptr<transformer::Transformer> model_;
};

INSTANTIATE_TEST_SUITE_P(ChoicesAndWindows, LikelihoodsTest, ::testing::Bool());

TEST_P(LikelihoodsTest, OrderAndNumberOfRowsChangeNoBit) {
  ASSERT_EQ(task_->measure(), tasks::Measure::kLikelihood);
  const std::vector<double> whole = Measured(AsTheyAre());
  const int64_t size = task_->size();
  ASSERT_GT(size, 20);
  // Backwards; from one to one far away; every third; one alone.
  Order backwards, scattered, some;
  for (int64_t i = 0; i < size; ++i) {
    backwards.push_back(size - 1 - i);
    if (i % 3 == 0) some.push_back(i);
  }
  for (int64_t from = 0; from < 7; ++from) {
    for (int64_t i = from; i < size; i += 7) scattered.push_back(i);
  }
  for (const Order& order : {backwards, scattered, some, Order{size / 2}}) {
    const std::vector<double> measured = Measured(order);
    ASSERT_EQ(measured.size(), order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      EXPECT_EQ(measured[i], whole[order[i]])
          << "row " << order[i] << " of " << order.size();
    }
  }
}

TEST_P(LikelihoodsTest, OtherShapesOfPassesAgreeWithinATenThousandth) {
  const std::vector<double> whole = Measured(AsTheyAre());
  for (const int max_rows : {1, 3, 64}) {
    const std::vector<double> other = Measured(AsTheyAre(), max_rows);
    ASSERT_EQ(other.size(), whole.size());
    for (int64_t i = 0; i < task_->size(); ++i) {
      const auto tokens =
          static_cast<double>(task_->Generate(1, i).value().answer.size());
      EXPECT_NEAR(other[i] * tokens, whole[i] * tokens, 1e-4)
          << "row " << i << " in passes of " << max_rows;
    }
  }
}

}  // namespace
}  // namespace ordo::model::evaluation
