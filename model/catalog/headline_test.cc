#include "model/catalog/headline.h"

#include <cmath>

#include "gtest/gtest.h"

namespace ordo::model::catalog {
namespace {

TEST(HeadlineTest, IsTheFirstThatAResultHas) {
  google::protobuf::Map<std::string, double> metrics;
  EXPECT_EQ(HeadlineOf(metrics), nullptr);
  metrics["wrong_rows"] = 0.5;
  EXPECT_EQ(HeadlineOf(metrics), nullptr);
  metrics["error"] = 0.25;
  EXPECT_STREQ(HeadlineOf(metrics)->metric, "error");
  EXPECT_TRUE(HeadlineOf(metrics)->less_is_better);
  metrics["trained_mean"] = 1;
  EXPECT_STREQ(HeadlineOf(metrics)->metric, "error");
  metrics["grid_mean"] = 0.75;
  EXPECT_STREQ(HeadlineOf(metrics)->metric, "grid_mean");
  EXPECT_FALSE(HeadlineOf(metrics)->less_is_better);
}

TEST(HeadlineTest, WhatIsNotFiniteRanksNothing) {
  google::protobuf::Map<std::string, double> metrics;
  metrics["perplexity"] = INFINITY;
  EXPECT_EQ(HeadlineOf(metrics), nullptr);
}

}  // namespace
}  // namespace ordo::model::catalog
