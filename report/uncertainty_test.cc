#include "report/uncertainty.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::report {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Metrics Of(const std::map<std::string, double>& values) {
  return {"a", 1, "e", "t", values};
}

TEST(AddItemErrorsTest, OfItemsOfTheirOwnItIsThatOfAMean) {
  Metrics metrics = Of({{"acc", 0.75}, {"error", 0.25}, {"f1", 0.5}});
  AddItemErrors(
      "{\"id\":\"a\",\"score\":1,\"output\":\"\"}\n"
      "{\"id\":\"b\",\"score\":1,\"output\":\"\"}\n"
      "{\"id\":\"c\",\"score\":1,\"output\":\"\"}\n"
      "{\"id\":\"d\",\"score\":0,\"output\":\"\"}\n",
      &metrics);
  // 0.5 is the deviation of three of four.
  EXPECT_THAT(
      metrics.standard_errors,
      ElementsAre(Pair("acc", DoubleEq(0.25)), Pair("error", DoubleEq(0.25))));
}

TEST(AddItemErrorsTest, ItemsOfOneUnitCountTogether) {
  Metrics metrics = Of({{"f1", 0.5}});
  AddItemErrors(
      "{\"id\":\"a\",\"unit\":\"x\",\"score\":0.25}\n"
      "{\"id\":\"b\",\"unit\":\"x\",\"score\":0.25}\n"
      "{\"id\":\"c\",\"unit\":\"y\",\"score\":0.75}\n"
      "{\"id\":\"d\",\"unit\":\"y\",\"score\":0.75}\n",
      &metrics);
  // That of two units, which are 0.25 and 0.75.
  EXPECT_THAT(metrics.standard_errors, ElementsAre(Pair("f1", DoubleEq(0.25))));
}

TEST(AddItemErrorsTest, WhatIsNoMeanOfItemsHasNone) {
  Metrics metrics =
      Of({{"grid_mean", 0}, {"largest_95", 0}, {"supported_length", 1}});
  AddItemErrors(
      "{\"id\":\"a\",\"score\":0}\n"
      "{\"id\":\"b\",\"score\":0}\n",
      &metrics);
  EXPECT_THAT(metrics.standard_errors, ElementsAre(Pair("grid_mean", 0)));
}

TEST(AddItemErrorsTest, WhatTheResultSaysItselfStays) {
  Metrics metrics = Of({{"acc", 0.5}});
  metrics.standard_errors = {{"acc", 0.125}};
  AddItemErrors(
      "{\"id\":\"a\",\"score\":1}\n"
      "{\"id\":\"b\",\"score\":0}\n",
      &metrics);
  EXPECT_THAT(metrics.standard_errors, ElementsAre(Pair("acc", 0.125)));
}

TEST(AddItemErrorsTest, WhatCannotBeReadAndASingleUnitSayNothing) {
  Metrics metrics = Of({{"acc", 1}});
  AddItemErrors("", &metrics);
  AddItemErrors("no JSON\n", &metrics);
  AddItemErrors("{\"id\":\"a\",\"score\":1}\n", &metrics);
  EXPECT_THAT(metrics.standard_errors, IsEmpty());
}

}  // namespace
}  // namespace ordo::report
