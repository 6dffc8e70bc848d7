#include "model/encodings/sum.h"

#include <utility>

#include "ATen/TensorOperators.h"
#include "gtest/gtest.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using testing::Doubles;
using testing::MaxDifference;

// Adds its number wherever it can, and has so many tensors of its own.
class Adder : public Encoding {
 public:
  Adder(double number, int tensors) : number_(number), tensors_(tensors) {}

  at::Tensor Positions(const PositionsInput& input) const override {
    return input.counted + number_;
  }
  at::Tensor Embed(const at::Tensor& x_BTC, const Pass&) const override {
    return x_BTC + number_;
  }
  Carried Start(const at::Tensor& x_BTC, const Pass&) const override {
    return {{x_BTC * 0.0 + number_}, {}};
  }
  void TransformQK(const LayerInput& input, at::Tensor* q_BHTD,
                   at::Tensor* k_BGTD) const override {
    *q_BHTD = *q_BHTD + input.carried.tensors[0];
    *k_BGTD = *k_BGTD - input.carried.tensors[0];
  }
  int NumExtraKeys() const override { return tensors_; }
  std::vector<at::Tensor> ExtraKeys(const LayerInput& input) const override {
    return Own(input);
  }
  bool ReadsProduct() const override { return number_ > 1; }
  at::Tensor Bias(const ScoresInput& input,
                  const at::Tensor& product) const override {
    EXPECT_EQ(static_cast<int>(input.extra_keys.size()), tensors_);
    at::Tensor sum = product + input.layer.carried.tensors[0];
    for (const at::Tensor& key : input.extra_keys) sum = sum + 100 * key;
    return sum;
  }
  bool HasValueTerm() const override { return number_ > 1; }
  at::Tensor ValueTerm(const ScoresInput& input,
                       const at::Tensor& weights_BHTS) const override {
    return weights_BHTS + input.layer.carried.tensors[0];
  }
  int NumMixedValues(int) const override { return tensors_; }
  std::vector<at::Tensor> MixedValues(const LayerInput& input) const override {
    return Own(input);
  }
  void AfterAttention(int, const AttentionOutput& output,
                      Carried* carried) const override {
    EXPECT_EQ(static_cast<int>(output.attended.size()), tensors_);
    for (const at::Tensor& tensor : output.attended) {
      carried->tensors[0] = carried->tensors[0] + tensor;
    }
  }
  at::Tensor PositionState(int, const Carried& carried) const override {
    return tensors_ > 0 ? carried.tensors[0] : at::Tensor();
  }
  void AfterMlp(int, const at::Tensor& mlp_output_BTC,
                Carried* carried) const override {
    carried->tensors[0] = carried->tensors[0] * mlp_output_BTC;
  }

 private:
  std::vector<at::Tensor> Own(const LayerInput& input) const {
    return std::vector<at::Tensor>(tensors_, input.carried.tensors[0]);
  }

  const double number_;
  const int tensors_;
};

// Adds nothing: its terms are undefined.
class Silent : public Encoding {};

// In segments, with a cache of 8 tokens.
class Segmented : public Encoding {
 public:
  Segments segments() const override { return {4, 2}; }
  int64_t CachedLength() const override { return 8; }
};

Sum SilentThenSegmented(int64_t num_drawn_from) {
  std::vector<std::unique_ptr<Encoding>> parts;
  parts.push_back(std::make_unique<Silent>());
  parts.push_back(std::make_unique<Segmented>());
  parts.push_back(std::make_unique<Silent>());
  return Sum(std::move(parts), num_drawn_from);
}

double Value(const at::Tensor& x) { return x.item<double>(); }

class SumTest : public ::testing::Test {
 protected:
  SumTest() {
    std::vector<std::unique_ptr<Encoding>> parts;
    parts.push_back(std::make_unique<Adder>(1, 0));
    parts.push_back(std::make_unique<Adder>(2, 2));
    parts.push_back(std::make_unique<Adder>(4, 1));
    parts.push_back(std::make_unique<Silent>());
    sum_ = std::make_unique<Sum>(std::move(parts));
    carried_ = sum_->Start(one_, pass_);
  }

  LayerInput Input() const {
    return {0, pass_, carried_, one_, one_, one_, one_};
  }

  const at::Tensor one_ = Doubles({1, 1, 1, 1}, {1});
  const Pass pass_;
  std::unique_ptr<Sum> sum_;
  Carried carried_;
};

TEST_F(SumTest, PositionsAndEmbeddingsPassThroughAll) {
  EXPECT_EQ(Value(sum_->Positions({one_, 0, {}, 0})), 8);
  EXPECT_EQ(Value(sum_->Embed(one_, pass_)), 8);
}

TEST_F(SumTest, QueriesAndKeysPassThroughAll) {
  at::Tensor q = one_, k = one_;
  sum_->TransformQK(Input(), &q, &k);
  EXPECT_EQ(Value(q), 8);
  EXPECT_EQ(Value(k), -6);
}

TEST_F(SumTest, EachPartGetsItsOwnTensorsBack) {
  EXPECT_EQ(sum_->NumExtraKeys(), 3);
  EXPECT_EQ(sum_->NumMixedValues(0), 3);
  const std::vector<at::Tensor> keys = sum_->ExtraKeys(Input());
  ASSERT_EQ(keys.size(), 3u);
  EXPECT_EQ(Value(keys[0]), 2);
  EXPECT_EQ(Value(keys[2]), 4);
  // (10 + 1) + (10 + 2 + 200 + 200) + (10 + 4 + 400).
  EXPECT_EQ(Value(sum_->Bias({Input(), one_, one_, keys}, one_ * 10)), 837);
  EXPECT_TRUE(sum_->ReadsProduct());
  sum_->AfterAttention(0, {one_, sum_->MixedValues(Input())}, &carried_);
  sum_->AfterMlp(0, one_ * 3, &carried_);
  EXPECT_EQ(Value(carried_.parts[0].tensors[0]), 3);
  EXPECT_EQ(Value(carried_.parts[1].tensors[0]), 18);
  EXPECT_EQ(Value(carried_.parts[2].tensors[0]), 24);
}

TEST_F(SumTest, OnlyPartsWithAValueTermAreAsked) {
  EXPECT_TRUE(sum_->HasValueTerm());
  const ScoresInput scores{Input(), one_, one_, sum_->ExtraKeys(Input())};
  EXPECT_EQ(Value(sum_->ValueTerm(scores, one_)), 8);
}

TEST_F(SumTest, SegmentsAreThoseOfThePartThatHasSome) {
  const Sum sum = SilentThenSegmented(0);
  EXPECT_EQ(sum.segments().length, 4);
  EXPECT_EQ(sum.segments().memory, 2);
  EXPECT_EQ(sum_->segments().length, 0);
}

// Of ids that are drawn, any two may be next to each other in a row.
TEST_F(SumTest, ACacheThatIsTooShortForAllDrawnIdsIsNotUsed) {
  EXPECT_EQ(SilentThenSegmented(0).CachedLength(), 8);
  EXPECT_EQ(SilentThenSegmented(8).CachedLength(), 8);
  EXPECT_EQ(SilentThenSegmented(9).CachedLength(), 0);
  EXPECT_EQ(sum_->CachedLength(), Silent().CachedLength());
}

TEST_F(SumTest, ThePositionsAreThoseOfTheFirstPartThatHasSome) {
  EXPECT_EQ(Value(sum_->PositionState(0, carried_)), 2);
  std::vector<std::unique_ptr<Encoding>> parts;
  parts.push_back(std::make_unique<Silent>());
  const Sum none(std::move(parts));
  EXPECT_FALSE(none.PositionState(0, none.Start(one_, pass_)).defined());
}

TEST_F(SumTest, NoPartReplacesTheProduct) {
  const ScoresInput scores{Input(), one_, one_, sum_->ExtraKeys(Input())};
  EXPECT_FALSE(sum_->Product(scores).defined());
}

}  // namespace
}  // namespace ordo::model::encodings
