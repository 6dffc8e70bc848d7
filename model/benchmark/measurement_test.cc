#include "model/benchmark/measurement.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace ordo::model::benchmark {
namespace {

TEST(MeasurementTest, QuantileLiesBetweenSamples) {
  const std::vector<double> samples = {5, 1, 4, 2, 3};
  EXPECT_EQ(Quantile(samples, 0), 1);
  EXPECT_EQ(Quantile(samples, 0.5), 3);
  EXPECT_DOUBLE_EQ(Quantile(samples, 0.99), 4.96);
  EXPECT_EQ(Quantile({2, 1}, 0.5), 1.5);
  EXPECT_EQ(Quantile({7}, 0.5), 7);
  EXPECT_EQ(Quantile(samples, 1), 5);
}

TEST(MeasurementTest, MedianKeepsTheRange) {
  const Measurement m = MedianOf({"b", "m", 0, "s", {}, "", 0, 0}, {3, 1, 9});
  EXPECT_EQ(m.value, 3);
  EXPECT_EQ(m.min, 1);
  EXPECT_EQ(m.max, 9);
}

TEST(MeasurementTest, JsonIsOneObjectOnALine) {
  const Measurement m = {"train_step",           "ratio", 1.5, "1",
                         {{"encoding", "tape"}}, "rope",  1,   2};
  EXPECT_EQ(ToJson(m),
            "{\"benchmark\":\"train_step\",\"max\":2,\"metric\":\"ratio\","
            "\"min\":1,\"params\":{\"encoding\":\"tape\"},"
            "\"reference\":\"rope\",\"unit\":\"1\",\"value\":1.5}");
}

TEST(MeasurementTest, OneSampleIsItsOwnRange) {
  EXPECT_EQ(ToJson(MedianOf({"b", "m", 0, "s", {}, "", 0, 0}, {3})),
            "{\"benchmark\":\"b\",\"max\":3,\"metric\":\"m\",\"min\":3,"
            "\"params\":{},\"unit\":\"s\",\"value\":3}");
}

TEST(MeasurementTest, TableHasALinePerMeasurement) {
  const std::string table = ToTable(
      {{"a", "x", 1, "s", {}, "", 1, 1}, {"b", "y", 2, "s", {}, "z", 1, 3}});
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3);
  EXPECT_NE(table.find("to z"), std::string::npos);
  EXPECT_NE(table.find("1..3"), std::string::npos);
}

}  // namespace
}  // namespace ordo::model::benchmark
