#include "model/encodings/rotary_scaling.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"
#include "model/catalog/entries.h"
#include "model/encodings/testing/examples.h"

namespace ordo::model::encodings {
namespace {

using ordo::training::v1::Component;
using ::testing::DoubleNear;
using ::testing::Pointwise;

// Resolved, from YAML.
Component Resolved(const std::string& yaml) {
  Component component = encodings::testing::FromText(yaml);
  std::vector<base::FieldViolation> violations;
  catalog::ResolveComponent(catalog::Kind::kEncoding, "encoding", &component,
                            &violations);
  for (const auto& violation : violations) {
    ADD_FAILURE() << violation.field << " " << violation.description;
  }
  return component;
}

Rotation Of(const std::string& yaml, int64_t channels, int64_t length = 1) {
  return RotationOf(Resolved(yaml), channels, length);
}

// The base that the slowest pair was made with.
double BaseOf(const Rotation& rotation) {
  const auto pairs = static_cast<double>(rotation.frequencies.size());
  return std::pow(rotation.frequencies.back(), -pairs / (pairs - 1.0));
}

// Where pair f stands between unscaled and divided by `factor`.
double ShareOf(const Rotation& rotation, size_t f, double factor,
               double base = 10000.0) {
  const auto width = 2.0 * static_cast<double>(rotation.frequencies.size());
  const double plain = std::pow(base, -2.0 * static_cast<double>(f) / width);
  return (1.0 - rotation.frequencies[f] / plain) / (1.0 - 1.0 / factor);
}

void ExpectSame(const Rotation& one, const Rotation& other) {
  ASSERT_EQ(one.frequencies.size(), other.frequencies.size());
  for (size_t f = 0; f < one.frequencies.size(); ++f) {
    EXPECT_NEAR(one.frequencies[f] / other.frequencies[f], 1.0, 1e-14) << f;
  }
  EXPECT_NEAR(one.attention_factor, other.attention_factor, 1e-14);
}

TEST(RotaryScalingTest, PlainFrequenciesFallGeometrically) {
  const Rotation rotation = Of("{name: rope}", 8);
  EXPECT_THAT(rotation.frequencies,
              Pointwise(DoubleNear(1e-16), {1.0, 0.1, 0.01, 0.001}));
  EXPECT_EQ(rotation.attention_factor, 1.0);
}

TEST(RotaryScalingTest, ThetaIsRopeWithItsBase) {
  ExpectSame(Of("{name: theta, params: {base: 700}}", 16),
             Of("{name: rope, params: {base: 700}}", 16));
  EXPECT_NEAR(BaseOf(Of("{name: theta}", 64)), 500000.0, 1e-6);
}

TEST(RotaryScalingTest, LinearDividesAll) {
  const Rotation rotation = Of("{name: linear, params: {factor: 5}}", 8);
  EXPECT_THAT(rotation.frequencies,
              Pointwise(DoubleNear(1e-16), {0.2, 0.02, 0.002, 0.0002}));
}

// Values of the library, to the digits printed.
TEST(RotaryScalingTest, NtkBasesAreThePublishedOnes) {
  EXPECT_NEAR(BaseOf(Of("{name: ntk}", 128)), 20221.26, 0.005);
  EXPECT_NEAR(BaseOf(Of("{name: ntk}", 64)), 20452.23, 0.005);
}

// What the name says: the fastest pair stays, the slowest turns s times slower.
TEST(RotaryScalingTest, NtkStretchesTheSlowestPairByTheFactor) {
  const Rotation plain = Of("{name: rope}", 32);
  const Rotation ntk = Of("{name: ntk, params: {factor: 7}}", 32);
  EXPECT_EQ(ntk.frequencies.front(), 1.0);
  EXPECT_NEAR(plain.frequencies.back() / ntk.frequencies.back(), 7.0, 1e-12);
}

TEST(RotaryScalingTest, NtkOfOnePairIsRope) {
  ExpectSame(Of("{name: ntk}", 2), Of("{name: rope}", 2));
}

TEST(RotaryScalingTest, DynamicNtkBaseIsThePublishedOne) {
  EXPECT_NEAR(BaseOf(Of("{name: dynamic_ntk, params: {trained_length: 4096, "
                        "factor: 2}}",
                        128, 8192)),
              30527.74, 0.005);
}

TEST(RotaryScalingTest, DynamicOnesStartPastTheTrainedLength) {
  const Rotation plain = Of("{name: rope}", 16);
  for (const std::string name : {"dynamic_linear", "dynamic_ntk"}) {
    const std::string yaml =
        "{name: " + name + ", params: {trained_length: 100}}";
    for (const int64_t length : {1, 99, 100}) {
      ExpectSame(Of(yaml, 16, length), plain);
    }
    EXPECT_LT(Of(yaml, 16, 101).frequencies[7], plain.frequencies[7]) << name;
  }
  // Positions 0 .. 249 become 0 .. 99.6.
  EXPECT_NEAR(
      Of("{name: dynamic_linear, params: {trained_length: 100}}", 16, 250)
          .frequencies[0],
      0.4, 1e-15);
  // alpha = 1: as ntk with s = n / L.
  ExpectSame(Of("{name: dynamic_ntk, params: {trained_length: 100}}", 16, 250),
             Of("{name: ntk, params: {factor: 2.5}}", 16));
}

TEST(RotaryScalingTest, YarnsRampIsThePublishedOne) {
  const Rotation wide = Of("{name: yarn, params: {trained_length: 4096}}", 128);
  EXPECT_EQ(ShareOf(wide, 20, 2), 0.0);
  EXPECT_NEAR(ShareOf(wide, 21, 2), 1.0 / 26, 1e-13);
  EXPECT_NEAR(ShareOf(wide, 45, 2), 25.0 / 26, 1e-13);
  EXPECT_NEAR(ShareOf(wide, 46, 2), 1.0, 1e-13);
  const Rotation narrow = Of("{name: yarn}", 64);
  EXPECT_EQ(ShareOf(narrow, 5, 2), 0.0);
  EXPECT_NEAR(ShareOf(narrow, 6, 2), 1.0 / 13, 1e-13);
  EXPECT_NEAR(ShareOf(narrow, 18, 2), 1.0, 1e-13);
  // c(32) = 20.944, c(1) = 45.027.
  const Rotation exact =
      Of("{name: yarn, params: {trained_length: 4096, truncate: false}}", 128);
  EXPECT_NEAR(ShareOf(exact, 30, 2), (30 - 20.944) / (45.027 - 20.944), 1e-4);
}

TEST(RotaryScalingTest, YarnsAttentionFactorIsThePublishedOne) {
  EXPECT_NEAR(Of("{name: yarn}", 64).attention_factor, 1.069315, 5e-7);
  EXPECT_NEAR(Of("{name: yarn, params: {factor: 16}}", 64).attention_factor,
              1.277259, 5e-7);
  EXPECT_EQ(
      Of("{name: yarn, params: {attention_factor: 3}}", 64).attention_factor,
      3.0);
  EXPECT_NEAR(
      Of("{name: yarn, params: {factor: 16, mscale: 2, mscale_all_dim: 0.5}}",
         64)
          .attention_factor,
      (0.2 * std::log(16.0) + 1) / (0.05 * std::log(16.0) + 1), 1e-14);
  // One of them says nothing.
  EXPECT_NEAR(
      Of("{name: yarn, params: {factor: 16, mscale: 2}}", 64).attention_factor,
      1.277259, 5e-7);
}

TEST(RotaryScalingTest, WithoutScaleAllAreRope) {
  const Rotation rope = Of("{name: rope}", 64);
  for (const std::string yaml :
       {"{name: linear, params: {factor: 1}}",
        "{name: ntk, params: {factor: 1}}",
        "{name: dynamic_linear, params: {trained_length: 1024}}",
        "{name: dynamic_ntk, params: {trained_length: 1024, factor: 4}}",
        "{name: partial_ntk, params: {factor: 1}}",
        "{name: yarn, params: {factor: 1}}",
        "{name: longrope, params: {trained_length: 4, factor: 1}}",
        "{name: llama3, params: {factor: 1, base: 10000}}",
        "{name: theta, params: {base: 10000}}",
        "{name: rope_mixed_base, params: {factor: 1}}"}) {
    SCOPED_TRACE(yaml);
    ExpectSame(Of(yaml, 64, 1024), rope);
  }
}

// So short that no pair turns once: all interpolate but the first, where the
// ramp starts.
TEST(RotaryScalingTest, YarnsRampEndsAmongThePairs) {
  const Rotation rotation =
      Of("{name: yarn, params: {trained_length: 2, base: 10}}", 8);
  EXPECT_EQ(ShareOf(rotation, 0, 2, 10), 0.0);
  for (size_t f = 1; f < 4; ++f) {
    EXPECT_NEAR(ShareOf(rotation, f, 2, 10), 1.0, 1e-12) << f;
  }
}

// So long that every pair turns often: none interpolates.
TEST(RotaryScalingTest, YarnsRampStartsAmongThePairs) {
  const Rotation rotation =
      Of("{name: yarn, params: {trained_length: 1000000000, base: 10}}", 8);
  for (size_t f = 0; f < 4; ++f) {
    EXPECT_EQ(ShareOf(rotation, f, 2, 10), 0.0) << f;
  }
}

// With the ramps of 128 channels, base 1e4, L 2048: c(0.75) = 42.16,
// c(1.25) = 38.61, c(16) = 20.90, c(2) = 35.35.
TEST(RotaryScalingTest, PartialNtkBlendsThreeKinds) {
  const Rotation rotation =
      Of("{name: partial_ntk, params: {trained_length: 2048, factor: 4}}", 128);
  const Rotation plain = Of("{name: rope}", 128);
  const Rotation linear = Of("{name: linear, params: {factor: 4}}", 128);
  const Rotation ntk = Of("{name: ntk, params: {factor: 4}}", 128);
  for (size_t f = 0; f < 64; ++f) {
    const double pair = static_cast<double>(f);
    const double ntk_share =
        1.0 - std::min(std::max((pair - 38.0) / (43.0 - 38.0), 0.0), 1.0);
    const double plain_share =
        1.0 - std::min(std::max((pair - 20.0) / (36.0 - 20.0), 0.0), 1.0);
    const double slow = linear.frequencies[f] * (1.0 - ntk_share) +
                        ntk.frequencies[f] * ntk_share;
    EXPECT_NEAR(rotation.frequencies[f] / (slow * (1.0 - plain_share) +
                                           plain.frequencies[f] * plain_share),
                1.0, 1e-14)
        << f;
  }
}

TEST(RotaryScalingTest, PartialNtkWithoutItsFactorsIsLinear) {
  ExpectSame(Of("{name: partial_ntk, params: {factor: 3, ntk_factor: 0, "
                "extrapolation_factor: 0}}",
                64),
             Of("{name: linear, params: {factor: 3}}", 64));
}

TEST(RotaryScalingTest, LongRopesAttentionFactorIsThePublishedOne) {
  EXPECT_NEAR(
      Of("{name: longrope, params: {factor: 32, trained_length: 4096}}", 64)
          .attention_factor,
      1.190238, 5e-7);
  EXPECT_EQ(Of("{name: longrope}", 64).attention_factor, 1.0);
  EXPECT_EQ(
      Of("{name: longrope, params: {factor: 32, attention_factor: 2}}", 64)
          .attention_factor,
      2.0);
}

TEST(RotaryScalingTest, LongRopeTakesTheLongListPastTheTrainedLength) {
  const std::string yaml =
      "{name: longrope, params: {trained_length: 10, short_factors: [1, 2], "
      "long_factors: [4, 5]}}";
  EXPECT_THAT(Of(yaml, 4, 10).frequencies,
              Pointwise(DoubleNear(1e-16), {1.0, 0.005}));
  EXPECT_THAT(Of(yaml, 4, 11).frequencies,
              Pointwise(DoubleNear(1e-16), {0.25, 0.002}));
}

TEST(RotaryScalingTest, Llama3sFrequenciesAreThePublishedOnes) {
  const Rotation rotation = Of("{name: llama3}", 128);
  const Rotation plain = Of("{name: rope, params: {base: 500000}}", 128);
  for (size_t f = 0; f <= 28; ++f) {
    EXPECT_EQ(rotation.frequencies[f], plain.frequencies[f]) << f;
  }
  EXPECT_NEAR(rotation.frequencies[29], 2.166571e-3, 5e-10);
  EXPECT_NEAR(rotation.frequencies[34], 1.785078e-4, 5e-11);
  EXPECT_NEAR(rotation.frequencies[35], 9.556212e-5, 5e-12);
  for (size_t f = 35; f < 64; ++f) {
    EXPECT_NEAR(rotation.frequencies[f], plain.frequencies[f] / 8, 1e-20) << f;
  }
  // t = 0.803621 and 0.074527.
  EXPECT_NEAR(1 - ShareOf(rotation, 29, 8, 500000), 0.803621, 5e-7);
  EXPECT_NEAR(1 - ShareOf(rotation, 34, 8, 500000), 0.074527, 5e-7);
}

TEST(RotaryScalingTest, MixedBaseDividesByAGrowingPower) {
  const Rotation rotation =
      Of("{name: rope_mixed_base, params: {factor: 6}}", 16);
  const Rotation plain = Of("{name: rope}", 16);
  const double a = std::log(6.0) / std::pow(8.0, 0.625);
  for (size_t f = 0; f < 8; ++f) {
    EXPECT_NEAR(rotation.frequencies[f],
                plain.frequencies[f] * std::exp(-a * std::pow(f + 1, 0.625)),
                1e-16);
  }
  // The last digit is scaled by the whole factor.
  EXPECT_NEAR(plain.frequencies[7] / rotation.frequencies[7], 6.0, 1e-12);
}

TEST(RotaryScalingTest, MixedBaseWithExponentOneHasOneBase) {
  const Rotation rotation =
      Of("{name: rope_mixed_base, params: {factor: 6, exponent: 1}}", 16);
  const double lambda = std::pow(6.0, 2.0 / 16);
  const Rotation plain = Of("{name: rope}", 16);
  for (size_t f = 0; f < 8; ++f) {
    EXPECT_NEAR(plain.frequencies[f] / rotation.frequencies[f],
                std::pow(lambda, f + 1.0), 1e-12);
  }
}

TEST(RotaryScalingTest, MixedBaseTakesTheProductOfAList) {
  const Rotation rotation =
      Of("{name: rope_mixed_base, params: {lambdas: [2, 3, 1, 5]}}", 8);
  EXPECT_THAT(
      rotation.frequencies,
      Pointwise(DoubleNear(1e-17), {1.0 / 2, 0.1 / 6, 0.01 / 6, 0.001 / 30}));
}

TEST(RotaryScalingTest, WithoutChannelsThereIsNothing) {
  for (const std::string& name : RotationNames()) {
    EXPECT_TRUE(Of("{name: " + name + "}", 0).frequencies.empty()) << name;
  }
}

TEST(RotaryScalingTest, LengthMattersWhereTheCatalogueSaysSo) {
  for (const std::string& name : RotationNames()) {
    const auto* entry = catalog::Find(catalog::Kind::kEncoding, name);
    ASSERT_NE(entry, nullptr) << name;
    EXPECT_EQ(RotatesByLength(name),
              entry->encoding.decoding == catalog::Decoding::kLastRow)
        << name;
    std::string yaml = "{name: " + name + "}";
    if (name == "longrope") {
      yaml = "{name: longrope, params: {long_factors: [2, 2, 2, 2]}}";
    }
    EXPECT_EQ(Of(yaml, 8, 100000).frequencies != Of(yaml, 8, 1).frequencies,
              RotatesByLength(name))
        << name;
  }
}

}  // namespace
}  // namespace ordo::model::encodings
