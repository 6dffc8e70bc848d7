#include "model/data/batch.h"

#include <memory>

#include <ATen/ATen.h>

#include "absl/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/addition.h"
#include "model/tasks/pairs.h"

namespace ordo::model::data {
namespace {

using ::ordo::base::testing::StatusIs;

// Of three digits at most.
std::unique_ptr<tasks::TrainingTask> Sums() {
  tasks::PairsOptions options;
  options.max_first = 3;
  options.max_second = 3;
  return tasks::MakePairs(tasks::Addition(), options);
}

// Rows of four tokens, and every other one of two; what is said is not what
// follows.
class Uneven : public tasks::TrainingTask {
 public:
  const tasks::Tokenizer& tokenizer() const override {
    return addition_->tokenizer();
  }
  int row_length() const override { return 4; }
  absl::StatusOr<tasks::Sample> Generate(uint64_t /*seed*/,
                                         uint64_t index) const override {
    if (index % 2 == 1) return tasks::Sample{{9, 0}, {0, 1}, {0, 12}};
    return tasks::Sample{{5, 6, 7, 0}, {0, 0, 1, 1}, {0, 0, 10, 11}};
  }

 private:
  const std::unique_ptr<tasks::TrainingTask> addition_ = Sums();
};

TEST(MakeBatch, HoldsTheRowsOfTheStreamShiftedByOne) {
  const auto task = Sums();
  const Batch batch = MakeBatch(*task, {5, 7, 4}).value();
  ASSERT_EQ(batch.tokens_BT.sizes(), (std::vector<int64_t>{4, 12}));
  EXPECT_EQ(batch.num_tokens(), 48);
  int64_t place = 0;
  for (int64_t row = 0; row < 4; ++row) {
    const tasks::Sample sample = task->Generate(5, 7 + row).value();
    for (int64_t t = 0; t < 12; ++t) {
      EXPECT_EQ(batch.tokens_BT[row][t].item<int64_t>(), sample.tokens[t]);
      if (sample.scored[t + 1] == 0) continue;
      EXPECT_EQ(batch.places_N[place].item<int64_t>(), row * 12 + t);
      EXPECT_EQ(batch.targets_N[place].item<int64_t>(), sample.tokens[t + 1]);
      ++place;
    }
  }
  EXPECT_EQ(batch.num_scored(), place);
}

TEST(SizeOfBatch, CountsWhatABatchHolds) {
  const auto task = Sums();
  const Batch batch = MakeBatch(*task, {5, 7, 4}).value();
  const BatchSize size = SizeOfBatch(*task, {5, 7, 4}).value();
  EXPECT_GT(size.num_scored, 4);
  EXPECT_EQ(size.num_scored, batch.num_scored());
  EXPECT_EQ(size.num_tokens, batch.num_tokens());
}

TEST(MakeBatch, GivesItsRowsToTheDigestOfTheirOrder) {
  const Uneven task;
  const std::string none = OrderDigest::OfNoRows();
  OrderDigest whole, parts;
  ORDO_ASSERT_OK(MakeBatch(task, {1, 0, 4}, &whole));
  ORDO_ASSERT_OK(MakeBatch(task, {1, 0, 1}, &parts));
  ORDO_ASSERT_OK(SizeOfBatch(task, {1, 1, 3}, &parts));
  EXPECT_NE(whole.After(none), none);
  EXPECT_EQ(parts.After(none), whole.After(none));
}

TEST(MakeBatch, SplitRowsAreTheRowsOfTheWhole) {
  const auto task = Sums();
  const Batch whole = MakeBatch(*task, {1, 0, 6}).value();
  const Batch first = MakeBatch(*task, {1, 0, 2}).value();
  const Batch second = MakeBatch(*task, {1, 2, 4}).value();
  EXPECT_TRUE(
      at::equal(whole.tokens_BT, at::cat({first.tokens_BT, second.tokens_BT})));
  EXPECT_TRUE(
      at::equal(whole.targets_N, at::cat({first.targets_N, second.targets_N})));
}

TEST(MakeBatch, SaysWhatIsPaddingAndTakesTargetsThatDoNotFollow) {
  const Batch batch = MakeBatch(Uneven(), {1, 0, 2}).value();
  EXPECT_TRUE(at::equal(
      batch.tokens_BT, at::tensor({5, 6, 7, 9, 0, 0}, at::kLong).view({2, 3})));
  EXPECT_TRUE(at::equal(batch.places_N, at::tensor({1, 2, 3}, at::kLong)));
  EXPECT_TRUE(at::equal(batch.targets_N, at::tensor({10, 11, 12}, at::kLong)));
  EXPECT_TRUE(at::equal(
      batch.real_BT,
      at::tensor({1, 1, 1, 1, 0, 0}, at::kLong).view({2, 3}).to(at::kBool)));
}

TEST(MakeBatch, IsAsLongAsItsLongestRow) {
  const Batch batch = MakeBatch(Uneven(), {1, 1, 1}).value();
  EXPECT_TRUE(
      at::equal(batch.tokens_BT, at::tensor({9}, at::kLong).view({1, 1})));
  EXPECT_FALSE(batch.real_BT.defined()) << "no row is padded";
  EXPECT_EQ(SizeOfBatch(Uneven(), {1, 1, 1}).value().num_tokens, 1);
  EXPECT_EQ(SizeOfBatch(Uneven(), {1, 0, 2}).value().num_tokens, 6);
}

// Rows of five tokens: of one text, and of three, the last of which is said
// only; row 2 cannot be read.
class Texts : public Uneven {
 public:
  int row_length() const override { return 5; }
  absl::StatusOr<tasks::Sample> Generate(uint64_t /*seed*/,
                                         uint64_t index) const override {
    if (index == 2) return absl::DataLossError("the disk is gone");
    tasks::Sample sample = {{5, 6, 7, 8, 9}, {0, 1, 1, 1, 1}};
    if (index == 1) sample.starts = {0, 2, 4};
    return sample;
  }
};

TEST(MakeBatch, SaysFromWhereOnEachTokenSees) {
  EXPECT_FALSE(MakeBatch(Texts(), {1, 0, 1}).value().first_BT.defined());
  const Batch batch = MakeBatch(Texts(), {1, 0, 2}).value();
  EXPECT_TRUE(
      at::equal(batch.first_BT,
                at::tensor({0, 0, 0, 0, 0, 0, 2, 2}, at::kLong).view({2, 4})));
}

TEST(MakeBatch, PassesOnThatARowCannotBeRead) {
  EXPECT_THAT(MakeBatch(Texts(), {1, 1, 2}),
              StatusIs(absl::StatusCode::kDataLoss, "the disk is gone"));
  EXPECT_THAT(SizeOfBatch(Texts(), {1, 1, 2}),
              StatusIs(absl::StatusCode::kDataLoss, "the disk is gone"));
}

}  // namespace
}  // namespace ordo::model::data
