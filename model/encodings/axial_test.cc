#include "ATen/TensorOperators.h"
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
using testing::FromText;
using ::testing::HasSubstr;
using testing::Probe;

constexpr int kWidth = 8;

at::Tensor Added(const Probe& probe, const std::vector<int64_t>& positions) {
  Pass pass;
  const auto length = static_cast<int64_t>(positions.size());
  pass.positions_BT = pass.positions_BS = Longs({1, length}, positions);
  const at::Tensor x = Normals({1, length, kWidth}, "x");
  return (probe.encoding().Embed(x, pass) - x)[0];
}

TEST(AxialTest, TheFirstChannelsAreThePlaceInTheBlock) {
  const Probe probe(FromText("{name: axial, params: {first_size: 3, "
                             "second_size: 4, first_width: 6}}"),
                    {1, kWidth, 2});
  const at::Tensor first = probe.Parameter("model.axial.first");
  const at::Tensor second = probe.Parameter("model.axial.second");
  ASSERT_EQ(first.sizes(), (std::vector<int64_t>{3, 6}));
  ASSERT_EQ(second.sizes(), (std::vector<int64_t>{4, 2}));
  std::vector<int64_t> positions;
  for (int i = 0; i < 12; ++i) positions.push_back(i);
  const at::Tensor added = Added(probe, positions);
  for (int i = 0; i < 12; ++i) {
    for (int c = 0; c < kWidth; ++c) {
      const at::Tensor expected =
          c < 6 ? first[i % 3][c] : second[i / 3][c - 6];
      EXPECT_NEAR(added[i][c].item<double>(), expected.item<double>(), 1e-15);
    }
  }
}

TEST(AxialTest, HalfOfTheChannelsIsTheDefault) {
  const Probe probe(FromText("{name: axial}"), {1, kWidth, 2});
  EXPECT_EQ(probe.Parameter("model.axial.first").size(1), kWidth / 2);
  EXPECT_NEAR(probe.Parameter("model.axial.second").std().item<double>(), 0.02,
              0.005);
}

TEST(AxialTest, BeyondTheLastBlockIsAnError) {
  const Probe probe(
      FromText("{name: axial, params: {first_size: 3, second_size: 4}}"),
      {1, kWidth, 2});
  try {
    Added(probe, {12});
    FAIL() << "no error";
  } catch (const c10::Error& error) {
    EXPECT_THAT(error.what_without_backtrace(), HasSubstr("12 positions"));
  }
}

TEST(AxialTest, TheFirstTableLeavesRoomForTheSecond) {
  parameters::ParameterSet parameters({});
  EXPECT_THAT(Make(FromText("{name: axial, params: {first_width: 8}}"),
                   {1, kWidth, 2}, &parameters)
                  .status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("encoding.params.first_width")));
}

}  // namespace
}  // namespace ordo::model::encodings
