#include "base/random/random.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::testing::ElementsAre;

// The vectors "philox4x32 10" of the file kat_vectors of Random123 1.14, the
// authors' own library.
TEST(PhiloxTest, GivesThePublishedAnswers) {
  EXPECT_THAT(Philox4x32({0, 0, 0, 0}, {0, 0}),
              ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_THAT(Philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
              ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                         {0xa4093822, 0x299f31d0}),
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(RandomStreamTest, IsTheBijectionOfSeedNameAndIndex) {
  // 0xcbf29ce484222325 is the FNV-1a hash of the empty name.
  const RandomStream stream(0x299f31d0a4093822, "");
  EXPECT_EQ(stream.Block(0x85a308d3243f6a88),
            Philox4x32({0x243f6a88, 0x85a308d3, 0x84222325, 0xcbf29ce4},
                       {0xa4093822, 0x299f31d0}));
  // And 0xaf63dc4c8601ec8c that of "a".
  EXPECT_EQ(RandomStream(0, "a").Block(0),
            Philox4x32({0, 0, 0x8601ec8c, 0xaf63dc4c}, {0, 0}));
}

TEST(RandomStreamTest, DiffersBySeedNameAndIndex) {
  std::set<uint64_t> values;
  for (const uint64_t seed : {1, 2, 3}) {
    for (const char* name : {"data/1", "data/2", "init/wte", "dropout/1"}) {
      for (uint64_t index = 0; index < 100; ++index) {
        values.insert(RandomStream(seed, name).Bits(index));
      }
    }
  }
  EXPECT_EQ(values.size(), 3u * 4u * 100u);
}

TEST(RandomStreamTest, IntsAreInRangeAndEven) {
  constexpr uint64_t kRange = 7;
  constexpr int kNumDraws = 70'000;
  const RandomStream stream(1, "ints");
  std::vector<double> counts(kRange);
  for (int i = 0; i < kNumDraws; ++i) counts.at(stream.Int(i, kRange)) += 1;
  const double expected = static_cast<double>(kNumDraws) / kRange;
  double chi_squared = 0;
  for (const double count : counts) {
    chi_squared += (count - expected) * (count - expected) / expected;
  }
  // The 99.9 % quantile for 6 degrees of freedom.
  EXPECT_LT(chi_squared, 22.5);
}

TEST(RandomStreamTest, IntsOfHugeRangesReachBothHalves) {
  const uint64_t n = ~uint64_t{0};
  const RandomStream stream(1, "huge");
  int num_high = 0;
  for (int i = 0; i < 1000; ++i) num_high += stream.Int(i, n) > n / 2 ? 1 : 0;
  EXPECT_GT(num_high, 400);
  EXPECT_LT(num_high, 600);
  EXPECT_EQ(stream.Int(0, 1), 0u);
}

TEST(RandomStreamTest, FloatsHave24BitsAndAreBelowOne) {
  const RandomStream stream(1, "floats");
  std::vector<float> values(1001);
  stream.FillFloats(5, values.data(), values.size());
  for (const float value : values) {
    ASSERT_GE(value, 0.0F);
    ASSERT_LT(value, 1.0F);
    ASSERT_EQ(value * 0x1p24F, std::floor(value * 0x1p24F));
  }
  EXPECT_EQ(values[0], stream.Float(5));
  EXPECT_EQ(values[4], stream.Float(6));
  EXPECT_EQ(values[1], static_cast<float>(stream.Block(5)[1] >> 8) * 0x1p-24F);
}

TEST(RandomStreamTest, DoublesHave53BitsAndAreBelowOne) {
  const RandomStream stream(1, "doubles");
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double value = stream.Double(i);
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    ASSERT_EQ(value * 0x1p53, std::floor(value * 0x1p53));
    sum += value;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.015);
}

TEST(RandomStreamTest, NormalsHaveTheMomentsOfANormal) {
  const RandomStream stream(3, "normals");
  std::vector<double> values(100'001);
  stream.FillNormals(0, values.data(), values.size());
  double mean = 0;
  double variance = 0;
  double fourth = 0;
  for (const double x : values) {
    mean += x;
    variance += x * x;
    fourth += x * x * x * x;
  }
  const auto n = static_cast<double>(values.size());
  EXPECT_NEAR(mean / n, 0, 0.015);
  EXPECT_NEAR(variance / n, 1, 0.02);
  EXPECT_NEAR(fourth / n, 3, 0.15);
}

TEST(RandomStreamTest, FilledNormalsAreThoseOfRandomAccess) {
  const RandomStream stream(3, "normals");
  std::vector<double> values(4);
  stream.FillNormals(10, values.data(), values.size());
  EXPECT_EQ(values[0], stream.Normal(10));
  EXPECT_EQ(values[2], stream.Normal(11));
  std::vector<double> odd(3, -1);
  stream.FillNormals(10, odd.data(), odd.size());
  EXPECT_THAT(odd, ElementsAre(values[0], values[1], values[2]));
}

TEST(RandomSequenceTest, GoesThroughTheStreamAndResumesAnywhere) {
  const RandomStream stream(9, "data/3");
  RandomSequence sequence(9, "data/3");
  EXPECT_EQ(sequence.Bits(), stream.Bits(0));
  EXPECT_EQ(sequence.Int(10), stream.Int(1, 10));
  EXPECT_EQ(sequence.Float(), stream.Float(2));
  RandomSequence resumed(9, "data/3", sequence.index());
  EXPECT_EQ(resumed.Double(), stream.Double(3));
  EXPECT_EQ(sequence.Double(), stream.Double(3));
  EXPECT_EQ(sequence.Normal(), stream.Normal(4));
}

TEST(RandomSequenceTest, PermutationHoldsEachNumberOnce) {
  RandomSequence sequence(9, "order");
  std::vector<uint64_t> order = sequence.Permutation(100);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (uint64_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], i);
  EXPECT_EQ(order.size(), 100u);
  EXPECT_THAT(sequence.Permutation(0), ElementsAre());
}

TEST(RandomSequenceTest, AllOrdersAreEquallyLikely) {
  constexpr int kNumDraws = 6000;
  RandomSequence sequence(9, "order");
  std::vector<double> counts(27);
  for (int i = 0; i < kNumDraws; ++i) {
    const auto order = sequence.Permutation(3);
    counts.at(9 * order[0] + 3 * order[1] + order[2]) += 1;
  }
  double chi_squared = 0;
  for (const double count : counts) {
    if (count == 0) continue;
    chi_squared += (count - 1000) * (count - 1000) / 1000;
  }
  EXPECT_EQ(std::count(counts.begin(), counts.end(), 0), 27 - 6);
  // The 99.9 % quantile for 5 degrees of freedom.
  EXPECT_LT(chi_squared, 20.5);
}

}  // namespace
}  // namespace ordo::base
