#include "model/catalog/benchmark.h"

#include <string>
#include <vector>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/resolve.h"

namespace ordo::model::catalog {
namespace {

namespace v1 = ::ordo::training::v1;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> FieldsOf(const v1::BenchmarkSpec& spec) {
  std::vector<std::string> fields;
  const auto resolved = ResolveBenchmarkSpec(spec);
  for (const auto& violation : base::FieldViolations(resolved.status())) {
    fields.push_back(violation.field);
  }
  return fields;
}

TEST(BenchmarkTest, AnEmptyOneIsTheStandardOne) {
  const auto spec = ResolveBenchmarkSpec({});
  ORDO_ASSERT_OK(spec);
  const v1::Benchmark& benchmark = spec->benchmark();
  EXPECT_EQ(benchmark.name(), "attention");
  EXPECT_THAT(benchmark.classes(), Contains("cope"));
  EXPECT_THAT(benchmark.classes(), Not(Contains("window_bias_2d")));
  EXPECT_THAT(benchmark.types(), ElementsAre("fp32", "bf16"));
  ASSERT_EQ(benchmark.shapes_size(), 5);
  EXPECT_EQ(benchmark.shapes(4).length(), 4096);
  EXPECT_EQ(benchmark.shapes(4).batch(), 2);
  EXPECT_EQ(benchmark.shapes(4).heads(), 12);
  EXPECT_EQ(benchmark.shapes(4).width(), 64);
  EXPECT_EQ(benchmark.passes(), "forward_backward");
  EXPECT_EQ(benchmark.rounds(), 15);
}

TEST(BenchmarkTest, OnAGpuARowCountMakes32768TokensOfBf16) {
  v1::BenchmarkSpec given;
  given.mutable_resources()->set_device("cuda");
  given.mutable_benchmark()->add_shapes()->set_length(256);
  const auto spec = ResolveBenchmarkSpec(given);
  ORDO_ASSERT_OK(spec);
  EXPECT_THAT(spec->benchmark().types(), ElementsAre("bf16"));
  EXPECT_EQ(spec->benchmark().shapes(0).batch(), 128);
}

TEST(BenchmarkTest, Fp16IsForAGpu) {
  v1::BenchmarkSpec spec;
  spec.mutable_benchmark()->add_types("fp16");
  EXPECT_THAT(FieldsOf(spec), ElementsAre("benchmark.types[0]"));
  spec.mutable_resources()->set_device("cuda");
  EXPECT_THAT(FieldsOf(spec), IsEmpty());
}

// It would wait for a GPU, and then fail.
TEST(BenchmarkTest, OneOfNothingThatAKernelDoesIsRefused) {
  v1::BenchmarkSpec spec;
  spec.mutable_resources()->set_device("cuda");
  spec.mutable_benchmark()->add_classes("huang3");
  EXPECT_THAT(FieldsOf(spec), ElementsAre("benchmark.classes"));
  EXPECT_THAT(
      std::string(ResolveBenchmarkSpec(spec).status().message()),
      HasSubstr("no kernel for cuda does huang3 in bf16: near the diagonal"));
  // It is left out, and said.
  spec.mutable_benchmark()->add_classes("t5");
  EXPECT_THAT(FieldsOf(spec), IsEmpty());
  spec.mutable_benchmark()->add_types("fp32");
  EXPECT_THAT(FieldsOf(spec), ElementsAre("benchmark.types"));
  spec.mutable_benchmark()->add_types("fp16");
  EXPECT_THAT(FieldsOf(spec), IsEmpty());
  spec.mutable_resources()->set_device("cpu");
  spec.mutable_benchmark()->clear_types();
  spec.mutable_benchmark()->set_classes(0, "huang3");
  EXPECT_THAT(FieldsOf(spec), IsEmpty());
}

TEST(BenchmarkTest, AShapeOfMoreThanItsMemoryIsRefused) {
  v1::BenchmarkSpec spec;
  v1::BenchmarkShape& shape = *spec.mutable_benchmark()->add_shapes();
  shape.set_length(16384);
  shape.set_batch(128);
  shape.set_heads(2);
  shape.set_width(64);
  EXPECT_THAT(FieldsOf(spec), IsEmpty());
  shape.set_width(66);
  EXPECT_THAT(FieldsOf(spec), ElementsAre("benchmark.shapes[0]"));
}

TEST(BenchmarkTest, WhatIsWrongIsNamed) {
  v1::BenchmarkSpec spec;
  v1::Benchmark& benchmark = *spec.mutable_benchmark();
  benchmark.set_name("No");
  benchmark.add_classes("t6");
  benchmark.add_classes("t5");
  benchmark.add_classes("t5");
  benchmark.add_types("fp64");
  benchmark.add_shapes()->set_width(33);
  benchmark.set_passes("sideways");
  EXPECT_THAT(FieldsOf(spec),
              ElementsAre("benchmark.name", "benchmark.classes[0]",
                          "benchmark.classes[2]", "benchmark.types[0]",
                          "benchmark.shapes[0].length",
                          "benchmark.shapes[0].width", "benchmark.passes"));
}

}  // namespace
}  // namespace ordo::model::catalog
