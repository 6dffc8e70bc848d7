#include <map>
#include <set>

#include "base/status/testing/status_matchers.h"
#include "c10/util/Exception.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/encodings/registry.h"
#include "model/encodings/testing/examples.h"
#include "model/encodings/testing/probe.h"
#include "model/testing/models.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using base::testing::StatusIs;
using model::testing::Integers;
using model::testing::Logits;
using model::testing::Longs;
using model::testing::MaxDifference;
using model::testing::SameBits;
using model::testing::SmallTransformer;
using testing::FromText;
using ::testing::HasSubstr;
using testing::Probe;
using transformer::ForwardOptions;

PositionsInput Counted(int64_t length) {
  std::vector<int64_t> counted;
  for (int64_t t = 0; t < length; ++t) counted.push_back(t);
  PositionsInput input;
  input.counted = Longs({1, length}, counted);
  input.final_length = length;
  return input;
}

PositionsInput InStep(PositionsInput input, uint64_t seed, int64_t step) {
  input.training = TrainingStep{seed, step};
  return input;
}

std::vector<int64_t> Ids(const Probe& probe, const PositionsInput& input) {
  const at::Tensor ids = probe.encoding().Positions(input);
  return {ids.const_data_ptr<int64_t>(),
          ids.const_data_ptr<int64_t>() + ids.numel()};
}

Probe Random(const std::string& params) {
  return Probe(FromText("{name: random_rope, params: {" + params + "}}"),
               {1, 8, 2});
}

TEST(RandomPositionsTest, IdsAreASortedSubset) {
  const Probe probe = Random("max_position: 9");
  for (int64_t step = 0; step < 100; ++step) {
    const auto ids = Ids(probe, InStep(Counted(6), 3, step));
    const std::set<int64_t> different(ids.begin(), ids.end());
    EXPECT_EQ(ids, std::vector<int64_t>(different.begin(), different.end()));
    EXPECT_EQ(ids.size(), 6u);
    EXPECT_GE(ids.front(), 0);
    EXPECT_LE(ids.back(), 8);
  }
}

TEST(RandomPositionsTest, EverySubsetIsEquallyLikely) {
  const Probe probe = Random("max_position: 5");
  constexpr int kSteps = 5000, kSubsets = 10;
  std::map<std::vector<int64_t>, int> times;
  for (int64_t step = 0; step < kSteps; ++step) {
    ++times[Ids(probe, InStep(Counted(2), 3, step))];
  }
  ASSERT_EQ(times.size(), static_cast<size_t>(kSubsets));
  for (const auto& [subset, count] : times) {
    // Five standard deviations.
    EXPECT_NEAR(count, kSteps / kSubsets, 106) << subset[0] << subset[1];
  }
}

TEST(RandomPositionsTest, DrawsAreThoseOfTheSeedAndTheStep) {
  const Probe probe = Random("");
  const auto ids = Ids(probe, InStep(Counted(20), 3, 5));
  EXPECT_EQ(Ids(probe, InStep(Counted(20), 3, 5)), ids);
  EXPECT_NE(Ids(probe, InStep(Counted(20), 3, 6)), ids);
  EXPECT_NE(Ids(probe, InStep(Counted(20), 4, 5)), ids);
  EXPECT_NE(Ids(probe, Counted(20)), ids);
}

TEST(RandomPositionsTest, EvaluationDrawsByItsOwnSeedOrCounts) {
  const auto drawn = Ids(Random(""), Counted(20));
  EXPECT_EQ(Ids(Random(""), Counted(20)), drawn);
  EXPECT_NE(Ids(Random("eval_seed: 2"), Counted(20)), drawn);
  const auto counted = Ids(Random("eval: arange"), Counted(3));
  EXPECT_EQ(counted, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_NE(Ids(Random("eval: arange"), InStep(Counted(3), 1, 1)), counted);
}

TEST(RandomPositionsTest, DecodingGoesThroughTheIdsOfTheWholeRow) {
  const Probe probe = Random("");
  const auto whole = Ids(probe, Counted(6));
  PositionsInput later;
  later.counted = Longs({1, 2}, {4, 5});
  later.num_before = 4;
  later.final_length = 6;
  EXPECT_EQ(Ids(probe, later), (std::vector<int64_t>{whole[4], whole[5]}));
}

TEST(RandomPositionsTest, APaddedRowHasTheIdsOfTheRowAlone) {
  const Probe probe = Random("");
  const auto alone = Ids(probe, Counted(3));
  PositionsInput padded;
  // Two on the left, two on the right, none.
  padded.counted = Longs({3, 5}, {0, 0, 0, 1, 2, 0, 1, 2, 2, 2, 0, 1, 2, 3, 4});
  padded.final_length = 5;
  const auto ids = Ids(probe, padded);
  EXPECT_EQ((std::vector<int64_t>{ids[2], ids[3], ids[4]}), alone);
  EXPECT_EQ((std::vector<int64_t>{ids[5], ids[6], ids[7]}), alone);
  EXPECT_EQ(std::vector<int64_t>(ids.begin() + 10, ids.end()),
            Ids(probe, Counted(5)));
}

std::string ErrorOf(const Probe& probe, const PositionsInput& input) {
  try {
    probe.encoding().Positions(input);
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

TEST(RandomPositionsTest, MoreTokensThanPositionsAreAnError) {
  EXPECT_EQ(ErrorOf(Random("max_position: 6"), Counted(6)), "");
  EXPECT_THAT(ErrorOf(Random("max_position: 6"), Counted(7)),
              HasSubstr("6 positions; raise max_position"));
  EXPECT_THAT(ErrorOf(Random("max_position: 6, eval: arange"), Counted(7)),
              HasSubstr("6 positions; raise max_position"));
}

TEST(RandomPositionsTest, WithoutTheFinalLengthDecodingSaysSo) {
  PositionsInput input = Counted(2);
  input.final_length = 0;
  EXPECT_THAT(ErrorOf(Random(""), input), HasSubstr("final_length"));
  EXPECT_EQ(ErrorOf(Random("eval: arange"), input), "");
}

// The encoding beneath, at the ids that were drawn.
TEST(RandomPositionsTest, NamesStandForTheEncodingUnderRandomPositions) {
  const at::Tensor tokens = Integers({2, 6}, 11, "tokens");
  const std::vector<std::vector<std::string>> pairs = {
      {"{name: random_rope, params: {base: 77}}",
       "{name: rope, params: {base: 77}}"},
      {"{name: random_sinusoidal, params: {base: 77}}",
       "{name: sinusoidal, params: {base: 77}}"},
      {"{name: random_learned}", "{name: learned}"},
      {"{name: random_positions, with: [{name: t5}]}", "{name: t5}"}};
  for (const auto& pair : pairs) {
    const auto random = SmallTransformer(FromText(pair[0]));
    const auto plain = SmallTransformer(FromText(pair[1]));
    const Probe probe(FromText(pair[0]), {3, 16, 2});
    ForwardOptions drawn;
    drawn.positions = probe.encoding().Positions(Counted(6));
    const at::Tensor logits = Logits(*random, tokens);
    EXPECT_TRUE(SameBits(logits, Logits(*plain, tokens, drawn))) << pair[0];
    EXPECT_GT(MaxDifference(logits, Logits(*plain, tokens)), 1e-6) << pair[0];
    // Ids that a caller gives stay.
    EXPECT_TRUE(SameBits(Logits(*random, tokens, drawn), logits)) << pair[0];
  }
}

TEST(RandomPositionsTest, SegmentsAreThoseOfTheEncodingBeneath) {
  const at::Tensor tokens = Integers({2, 9}, 11, "tokens");
  const auto logits = [&](const std::string& yaml) {
    return Logits(*SmallTransformer(FromText(yaml)), tokens);
  };
  const std::string segments =
      "{name: transformer_xl, params: {segment_length: 3, memory_length: 2}}";
  const at::Tensor expected = logits(segments);
  EXPECT_TRUE(SameBits(
      logits("{name: random_positions, params: {eval: arange}, with: [" +
             segments + "]}"),
      expected));
  EXPECT_FALSE(SameBits(logits("{name: transformer_xl}"), expected));
}

TEST(RandomPositionsTest, RandomLearnedHasARowForEachPosition) {
  const Probe probe(
      FromText("{name: random_learned, params: {max_position: 30}}"),
      {1, 8, 2});
  EXPECT_EQ(probe.Parameter("model.learned.weight").size(0), 30);
}

TEST(RandomPositionsTest, AnEncodingWithLessRoomOrNoPositionsIsRefused) {
  const auto status = [](const std::string& yaml) {
    parameters::ParameterSet parameters({});
    return Make(FromText(yaml), {2, 8, 2}, &parameters).status();
  };
  EXPECT_THAT(
      status("{name: random_positions, with: [{name: learned, params: "
             "{max_length: 8}}]}"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("is 1024, but learned has room for 8 positions")));
  EXPECT_THAT(status("{name: random_positions}"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("needs at least 1")));
  for (const std::string inner : {"none", "abacus", "random_rope"}) {
    EXPECT_THAT(
        status("{name: random_positions, with: [{name: " + inner + "}]}"),
        StatusIs(
            absl::StatusCode::kInvalidArgument,
            HasSubstr("random_positions cannot be combined with '" + inner)));
  }
}

}  // namespace
}  // namespace ordo::model::encodings
