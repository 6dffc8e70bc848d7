#include "model/catalog/headline.h"

#include <cmath>

#include "gmock/gmock.h"
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

TEST(HeadlineTest, ResultsAreRankedByOneMetricTheLaterFirstOfEquals) {
  using Metrics = google::protobuf::Map<std::string, double>;
  Metrics poor, good, equal, other, broken;
  poor["error"] = 0.5;
  good["error"] = 0.25;
  equal["error"] = 0.25;
  // Comes after `error`, and ranks nothing where some have that.
  other["perplexity"] = 1;
  broken["error"] = NAN;
  EXPECT_THAT(RankByHeadline({{10, &other},
                              {20, &poor},
                              {30, &good},
                              {40, &equal},
                              {50, &broken}}),
              ::testing::ElementsAre(3, 2, 1));
  Metrics more;
  more["score"] = 2;
  Metrics less;
  less["score"] = 1;
  EXPECT_THAT(RankByHeadline({{10, &less}, {20, &more}}),
              ::testing::ElementsAre(1, 0));
  EXPECT_THAT(RankByHeadline({{10, &broken}}), ::testing::IsEmpty());
}

}  // namespace
}  // namespace ordo::model::catalog
