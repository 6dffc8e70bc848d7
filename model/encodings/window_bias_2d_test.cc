#include "c10/util/Exception.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/encodings/testing/examples.h"
#include "model/encodings/testing/probe.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using model::testing::Longs;
using testing::FromText;
using ::testing::HasSubstr;
using testing::NoProduct;
using testing::Probe;

constexpr int kHeads = 2, kRows = 3, kColumns = 4;

Probe Window() {
  return Probe(
      FromText("{name: window_bias_2d, params: {rows: 3, columns: 4}}"),
      {1, 8, kHeads});
}

TEST(WindowBias2dTest, TheBiasIsThatOfTheDistancesInRowsAndColumns) {
  const Probe probe = Window();
  const at::Tensor table = probe.Parameter("model.window_bias_2d.weight");
  ASSERT_EQ(table.sizes(), (std::vector<int64_t>{5 * 7, kHeads}));
  testing::Attention attention = NoProduct(
      Longs({1, 12}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), kHeads, 4);
  attention.causal = false;
  const at::Tensor bias = probe.Scores(attention);
  for (int h = 0; h < kHeads; ++h) {
    for (int i = 0; i < kRows * kColumns; ++i) {
      for (int j = 0; j < kRows * kColumns; ++j) {
        const int rows = i / kColumns - j / kColumns;
        const int columns = i % kColumns - j % kColumns;
        EXPECT_EQ(bias[0][h][i][j].item<double>(),
                  table[(rows + 2) * 7 + columns + 3][h].item<double>());
      }
    }
  }
}

TEST(WindowBias2dTest, PerLayerEveryLayerReadsItsOwnTable) {
  const Probe probe(FromText("{name: window_bias_2d, params: {rows: 3, "
                             "columns: 4, per_layer: true}}"),
                    {2, 8, kHeads});
  testing::Attention attention = NoProduct(Longs({1, 2}, {0, 6}), kHeads, 4);
  for (attention.layer = 0; attention.layer < 2; ++attention.layer) {
    const at::Tensor table =
        probe.Parameter("model.layers." + std::to_string(attention.layer) +
                        ".self_attn.window_bias_2d.weight");
    // One row and two columns further.
    EXPECT_EQ(probe.Scores(attention)[0][1][1][0].item<double>(),
              table[3 * 7 + 5][1].item<double>());
  }
}

TEST(WindowBias2dTest, APositionOutsideOfTheGridIsAnError) {
  const Probe probe = Window();
  try {
    probe.Scores(NoProduct(Longs({1, 2}, {0, 12}), kHeads, 4));
    FAIL() << "no error";
  } catch (const c10::Error& error) {
    EXPECT_THAT(error.what_without_backtrace(), HasSubstr("12 positions"));
  }
}

}  // namespace
}  // namespace ordo::model::encodings
