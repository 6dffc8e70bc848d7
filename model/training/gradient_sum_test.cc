#include "model/training/gradient_sum.h"

#include <vector>

#include <ATen/ATen.h>

#include "absl/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::training {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;

// Rank 1 of 2, beside a rank whose numbers are always `others`, in the order in
// which they are added up.
class FakePeer : public Collective {
 public:
  int rank() const override { return 1; }
  int ranks() const override { return 2; }
  absl::Status AllReduceSum(std::vector<at::Tensor> tensors) override {
    if (!status.ok()) return status;
    int64_t first = 0;
    for (const at::Tensor& tensor : tensors) {
      sizes.push_back(tensor.numel());
      tensor.add_(others.narrow(0, first, tensor.numel()));
      first += tensor.numel();
    }
    EXPECT_EQ(first, others.numel());
    return absl::OkStatus();
  }
  absl::Status Broadcast(std::vector<at::Tensor>) override { return status; }
  absl::Status Tell(const std::string&, const std::string&) override {
    return status;
  }
  absl::StatusOr<std::optional<std::string>> Told(const std::string&,
                                                  absl::Duration) override {
    return std::nullopt;
  }

  at::Tensor others;
  absl::Status status;
  std::vector<int64_t> sizes;
};

at::Tensor Parameter(at::IntArrayRef sizes) {
  return at::zeros(sizes).requires_grad_(true);
}

// Two parameters of 6 and 2 numbers, batches of 4 passes: 8 gradients, 2 flags,
// 4 losses, 2 wishes.
class GradientSumTest : public ::testing::Test {
 protected:
  GradientSumTest()
      : first_(Parameter({2, 3})),
        second_(Parameter({2})),
        sum_(&peer_, {first_, second_}, 4) {
    peer_.others = at::zeros({16});
    first_.mutable_grad() = at::arange(6, at::kFloat).view({2, 3});
  }

  FakePeer peer_;
  const at::Tensor first_;
  const at::Tensor second_;
  GradientSum sum_;
};

TEST_F(GradientSumTest, AddsWhatTheOtherRankHas) {
  peer_.others.narrow(0, 0, 8).fill_(1);
  peer_.others.narrow(0, 8, 2).fill_(1);
  second_.mutable_grad() = at::full({2}, 5.0f);
  ORDO_ASSERT_OK(sum_.Add({}, {}));
  EXPECT_TRUE(
      at::equal(first_.grad(), at::arange(1, 7, at::kFloat).view({2, 3})));
  EXPECT_TRUE(at::equal(second_.grad(), at::full({2}, 6.0f)));
}

TEST_F(GradientSumTest, AGradientOfTheOtherRankAloneIsOneOfBoth) {
  peer_.others.narrow(0, 6, 2).fill_(3);
  peer_.others[9].fill_(1);
  ORDO_ASSERT_OK(sum_.Add({}, {}));
  EXPECT_TRUE(at::equal(second_.grad(), at::full({2}, 3.0f)));
}

TEST_F(GradientSumTest, WithoutAGradientOnAnyRankAParameterHasNone) {
  ORDO_ASSERT_OK(sum_.Add({}, {}));
  EXPECT_TRUE(first_.grad().defined());
  EXPECT_FALSE(second_.grad().defined());
}

TEST_F(GradientSumTest, GivesTheLossesInTheOrderOfThePasses) {
  peer_.others[10].fill_(0.5f);
  peer_.others[12].fill_(2.5f);
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto result,
      sum_.Add({at::scalar_tensor(1.5f), at::scalar_tensor(3.5f)}, {}));
  std::vector<float> losses;
  for (const at::Tensor& loss : result.losses) {
    losses.push_back(loss.item<float>());
  }
  EXPECT_THAT(losses, ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
}

TEST_F(GradientSumTest, AWishOfAnyRankIsOneOfAll) {
  ORDO_ASSERT_OK_AND_ASSIGN(auto result, sum_.Add({}, {}));
  EXPECT_FALSE(result.wishes.stop || result.wishes.pause);
  Wishes pause;
  pause.pause = true;
  ORDO_ASSERT_OK_AND_ASSIGN(result, sum_.Add({}, pause));
  EXPECT_TRUE(result.wishes.pause && !result.wishes.stop);
  peer_.others[14].fill_(1);
  ORDO_ASSERT_OK_AND_ASSIGN(result, sum_.Add({}, {}));
  EXPECT_TRUE(result.wishes.stop && !result.wishes.pause);
}

TEST_F(GradientSumTest, NothingOfAStepIsLeftInTheNext) {
  second_.mutable_grad() = at::full({2}, 5.0f);
  ORDO_ASSERT_OK(
      sum_.Add({at::scalar_tensor(1.0f), at::scalar_tensor(2.0f)}, {}));
  first_.mutable_grad() = at::Tensor();
  second_.mutable_grad() = at::ones({2});
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto result,
      sum_.Add({at::scalar_tensor(4.0f), at::scalar_tensor(8.0f)}, {}));
  EXPECT_FALSE(first_.grad().defined());
  EXPECT_TRUE(at::equal(second_.grad(), at::ones({2})));
  EXPECT_EQ(result.losses[1].item<float>(), 4.0f);
  EXPECT_EQ(result.losses[3].item<float>(), 8.0f);
}

TEST_F(GradientSumTest, ALostRankIsAnError) {
  peer_.status = absl::UnavailableError("gone");
  EXPECT_THAT(sum_.Add({}, {}), StatusIs(absl::StatusCode::kUnavailable));
}

TEST(GradientSum, GoesInBucketsOfABoundedSize) {
  constexpr int64_t kNumbers = 7'000'000;
  FakePeer peer;
  const at::Tensor parameter = Parameter({kNumbers});
  parameter.mutable_grad() = at::ones({kNumbers});
  peer.others = at::ones({kNumbers + 1 + 1 + 2});
  GradientSum sum(&peer, {parameter}, 1);
  ORDO_ASSERT_OK(sum.Add({}, {}));
  const int64_t bucket = GradientSum::kBucketBytes / 4;
  EXPECT_THAT(peer.sizes, ElementsAre(bucket, kNumbers + 4 - bucket));
  EXPECT_TRUE(at::equal(parameter.grad(), at::full({kNumbers}, 2.0f)));
}

}  // namespace
}  // namespace ordo::model::training
