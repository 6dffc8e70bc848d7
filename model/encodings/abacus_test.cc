#include <set>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/ones.h"
#include "base/status/testing/status_matchers.h"
#include "c10/util/Exception.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/encodings/registry.h"
#include "model/encodings/testing/examples.h"
#include "model/encodings/testing/probe.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using base::testing::StatusIs;
using model::testing::Longs;
using model::testing::Normals;
using ::testing::ElementsAre;
using testing::FromText;
using ::testing::HasSubstr;
using testing::Probe;

constexpr int kWidth = 4;

struct Row {
  std::vector<int64_t> tokens;
  // Which are real; empty: all.
  std::vector<int64_t> real = {};
  std::optional<TrainingStep> training = {};
  // Number of the last tokens that are new; 0: all.
  int64_t fresh = 0;
  // Where the text of each begins; empty: it is one.
  std::vector<int64_t> first_seen = {};
};

// The table's rows of the new tokens: row n has the value n.
std::vector<int64_t> Places(const std::string& params, const Row& row) {
  const Probe probe(FromText("{name: abacus, params: {" + params + "}}"),
                    {1, kWidth, 1});
  const at::Tensor table = probe.Parameter("model.abacus.weight");
  {
    const at::NoGradGuard no_grad;
    table.copy_(at::arange(table.size(0)).unsqueeze(1).expand_as(table));
  }
  const auto length = static_cast<int64_t>(row.tokens.size());
  const int64_t fresh = row.fresh == 0 ? length : row.fresh;
  Pass pass;
  pass.tokens_BS = Longs({1, length}, row.tokens);
  pass.training = row.training;
  if (!row.real.empty()) {
    pass.real_BS = Longs({1, length}, row.real).to(at::kBool);
  }
  if (!row.first_seen.empty()) {
    pass.first_seen_BS = Longs({1, length}, row.first_seen);
  }
  const at::Tensor x = Normals({1, fresh, kWidth}, "x");
  const at::Tensor added = (probe.encoding().Embed(x, pass) - x)[0];
  std::vector<int64_t> places;
  for (int64_t t = 0; t < fresh; ++t) {
    places.push_back(added[t][0].round().item<int64_t>());
  }
  return places;
}

// Tokens of 21+543=75.
const std::vector<int64_t> kSum = {6, 5, 14, 9, 8, 7, 17, 11, 9};

TEST(AbacusTest, EachDigitHasItsPlaceInItsNumber) {
  EXPECT_THAT(Places("", {kSum}), ElementsAre(1, 2, 0, 1, 2, 3, 0, 1, 2));
}

TEST(AbacusTest, DecodingGoesOnInTheNumber) {
  Row row{kSum};
  row.fresh = 2;
  EXPECT_THAT(Places("", row), ElementsAre(1, 2));
  row.fresh = 1;
  EXPECT_THAT(Places("", row), ElementsAre(2));
}

TEST(AbacusTest, DigitsAreThoseAskedFor) {
  EXPECT_THAT(Places("digits: [14, 9]", {kSum}),
              ElementsAre(0, 0, 1, 2, 0, 0, 0, 0, 1));
}

TEST(AbacusTest, PaddingIsNoDigit) {
  EXPECT_THAT(Places("", {{4, 4, 5, 6}, {0, 0, 1, 1}}),
              ElementsAre(0, 0, 1, 2));
}

TEST(AbacusTest, NumbersEndWithTheirText) {
  Row row{kSum};
  // 2 | 1+54 | 3=75.
  row.first_seen = {0, 1, 1, 1, 1, 5, 5, 5, 5};
  EXPECT_THAT(Places("", row), ElementsAre(1, 1, 0, 1, 2, 1, 0, 1, 2));
}

TEST(AbacusTest, TrainingMovesAllDigitsByOneOffsetPerStep) {
  std::set<int64_t> offsets;
  for (int64_t step = 0; step < 400; ++step) {
    Row row{kSum};
    row.training = TrainingStep{7, step};
    const std::vector<int64_t> places = Places("max_offset: 3, rows: 8", row);
    const int64_t offset = places[0] - 1;
    EXPECT_THAT(places,
                ElementsAre(1 + offset, 2 + offset, 0, 1 + offset, 2 + offset,
                            3 + offset, 0, 1 + offset, 2 + offset));
    EXPECT_EQ(Places("max_offset: 3, rows: 8", row), places);
    offsets.insert(offset);
  }
  EXPECT_THAT(offsets, ElementsAre(0, 1, 2, 3));
}

TEST(AbacusTest, ANumberLongerThanTheTableIsAnError) {
  try {
    Places("rows: 3, max_offset: 0", {kSum});
    FAIL() << "no error";
  } catch (const c10::Error& error) {
    EXPECT_THAT(error.what_without_backtrace(),
                HasSubstr("places below 3; raise rows"));
  }
}

TEST(AbacusTest, WhatDoesNotFitIsRefused) {
  const auto status = [](const std::string& params) {
    parameters::ParameterSet parameters({});
    return Make(FromText("{name: abacus, params: {" + params + "}}"),
                {1, kWidth, 1}, &parameters)
        .status();
  };
  EXPECT_THAT(status("rows: 100"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("must be at least max_offset + 2 = 101")));
  EXPECT_THAT(status("digits: []"), StatusIs(absl::StatusCode::kInvalidArgument,
                                             HasSubstr("params.digits")));
  EXPECT_THAT(
      status("digits: [4, 5.5]"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("element 1")));
}

}  // namespace
}  // namespace ordo::model::encodings
