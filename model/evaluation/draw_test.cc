#include "model/evaluation/draw.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace ordo::model::evaluation {
namespace {

int64_t Draw(const std::vector<float>& logits, int64_t top_k, double uniform) {
  return DrawToken(logits.data(), static_cast<int64_t>(logits.size()), top_k,
                   uniform);
}

// Likelihoods 0.1, 0.4, 0.2 and 0.3.
std::vector<float> Four() {
  return {std::log(1.0F), std::log(4.0F), std::log(2.0F), std::log(3.0F)};
}

TEST(DrawToken, OneOfAllComesByItsLikelihood) {
  EXPECT_EQ(Draw(Four(), 0, 0), 0);
  EXPECT_EQ(Draw(Four(), 0, 0.09), 0);
  EXPECT_EQ(Draw(Four(), 0, 0.11), 1);
  EXPECT_EQ(Draw(Four(), 0, 0.49), 1);
  EXPECT_EQ(Draw(Four(), 0, 0.51), 2);
  EXPECT_EQ(Draw(Four(), 0, 0.69), 2);
  EXPECT_EQ(Draw(Four(), 0, 0.71), 3);
  EXPECT_EQ(Draw(Four(), 0, 0.9999999), 3);
}

// Of 4 / 7 and 3 / 7.
TEST(DrawToken, OfTheLikeliestOthersDoNotCome) {
  EXPECT_EQ(Draw(Four(), 2, 0), 1);
  EXPECT_EQ(Draw(Four(), 2, 0.57), 1);
  EXPECT_EQ(Draw(Four(), 2, 0.58), 3);
  EXPECT_EQ(Draw(Four(), 2, 0.9999999), 3);
  // There are no more than four.
  EXPECT_EQ(Draw(Four(), 9, 0.11), 1);
}

TEST(DrawToken, OfOneItIsTheLikeliestAndOfEqualsTheLowest) {
  EXPECT_EQ(Draw(Four(), 1, 0.9999999), 1);
  EXPECT_EQ(Draw({2, 5, 5, 5}, 1, 0.9999999), 1);
  EXPECT_EQ(Draw({2, 5, 5, 5}, 2, 0.9999999), 2);
}

TEST(DrawToken, WhatIsNotFiniteBreaksNothing) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Draw({nan, 1, -infinity, 1}, 0, 0.4), 1);
  EXPECT_EQ(Draw({nan, 1, -infinity, 1}, 0, 0.9999999), 3);
  EXPECT_EQ(Draw({0, infinity, 3}, 0, 0.9999999), 1);
  EXPECT_EQ(Draw({nan, nan}, 2, 0.9999999), 0);
}

}  // namespace
}  // namespace ordo::model::evaluation
