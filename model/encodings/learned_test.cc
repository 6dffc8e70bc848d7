#include <cmath>

#include "ATen/TensorOperators.h"
#include "c10/util/Exception.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/encodings/testing/examples.h"
#include "model/encodings/testing/probe.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using model::testing::Longs;
using model::testing::MaxDifference;
using model::testing::Normals;
using testing::FromText;
using ::testing::HasSubstr;
using testing::Probe;

constexpr int kWidth = 8;

at::Tensor Added(const Probe& probe, const at::Tensor& positions) {
  Pass pass;
  pass.positions_BT = pass.positions_BS = positions;
  const at::Tensor x = Normals({2, positions.size(1), kWidth}, "x");
  return probe.encoding().Embed(x, pass) - x;
}

TEST(LearnedTest, EachPositionHasItsRow) {
  const Probe probe(FromText("{name: learned, params: {max_length: 6}}"),
                    {1, kWidth, 2});
  const at::Tensor table = probe.Parameter("model.learned.weight");
  ASSERT_EQ(table.sizes(), (std::vector<int64_t>{6, kWidth}));
  const at::Tensor added = Added(probe, Longs({2, 2}, {0, 5, 3, 1}));
  EXPECT_LT(MaxDifference(added[0][1], table[5]), 1e-15);
  EXPECT_LT(MaxDifference(added[1][0], table[3]), 1e-15);
}

TEST(LearnedTest, AGridIsATableOfItsCells) {
  const Probe probe(
      FromText("{name: grid_learned, params: {rows: 2, columns: 5}}"),
      {1, kWidth, 2});
  const at::Tensor table = probe.Parameter("model.grid_learned.weight");
  ASSERT_EQ(table.sizes(), (std::vector<int64_t>{10, kWidth}));
  EXPECT_LT(MaxDifference(Added(probe, Longs({1, 1}, {9}))[0][0], table[9]),
            1e-15);
}

TEST(LearnedTest, StartsNormal) {
  const Probe probe(FromText("{name: learned}"), {1, kWidth, 2});
  EXPECT_NEAR(probe.Parameter("model.learned.weight").std().item<double>(),
              0.02, 0.001);
}

TEST(LearnedTest, APositionWithoutARowIsAnErrorThatSaysTheFix) {
  const auto error = [](const std::string& yaml, int64_t position) {
    const Probe probe(FromText(yaml), {1, kWidth, 2});
    try {
      Added(probe, Longs({1, 1}, {position}));
    } catch (const c10::Error& error) {
      return std::string(error.what_without_backtrace());
    }
    return std::string();
  };
  const std::string learned = "{name: learned, params: {max_length: 6}}";
  EXPECT_EQ(error(learned, 5), "");
  EXPECT_THAT(error(learned, 6), HasSubstr("6 positions; raise max_length"));
  EXPECT_THAT(error("{name: grid_learned, params: {rows: 2, columns: 5}}", 10),
              HasSubstr("10 positions; raise rows or columns"));
}

}  // namespace
}  // namespace ordo::model::encodings
