#include "model/catalog/attention_classes.h"

#include <algorithm>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"

namespace ordo::model::catalog {
namespace {

TEST(AttentionClassesTest, EncodingsAreKnownAndOfOneClass) {
  std::set<std::string> seen;
  for (const AttentionClass& about : AttentionClasses()) {
    for (const std::string& encoding : about.encodings) {
      EXPECT_NE(Find(Kind::kEncoding, encoding), nullptr) << encoding;
      EXPECT_TRUE(seen.insert(encoding).second) << encoding;
    }
  }
  EXPECT_EQ(AttentionClassOf("huang2").name, "huang1");
  EXPECT_EQ(AttentionClassOf("yarn").name, "rope");
}

// One that no class names would be told the slowdown of rope, and not be
// benchmarked.
TEST(AttentionClassesTest, EveryBiasOfDistancesHasAClassThatReadsDistances) {
  int num_biases = 0;
  for (const Entry* entry : EntriesOf(Kind::kEncoding)) {
    if (!entry->encoding.biases_distances) continue;
    ++num_biases;
    EXPECT_NE(AttentionClassOf(entry->name).distances, Distances::kNone)
        << entry->name << ": name it in a row of attention_classes.cc";
  }
  EXPECT_GT(num_biases, 3);
}

// What a reader of the table relies on: a kernel on each kind of device, or why
// there is none.
TEST(AttentionClassesTest, EveryClassHasAKernelForEachDeviceOrAReason) {
  for (const AttentionClass& about : AttentionClasses()) {
    std::set<std::string> devices;
    for (const std::string& name : about.kernels) {
      const auto& all = AttentionKernels();
      const auto found = std::find_if(
          all.begin(), all.end(),
          [&](const AttentionKernel& kernel) { return kernel.family == name; });
      ASSERT_NE(found, all.end()) << name;
      devices.insert(found->device);
    }
    EXPECT_EQ(devices.count("cpu"), 1U) << about.name;
    EXPECT_NE(devices.count("cuda") == 1, !about.no_cuda.empty()) << about.name;
    EXPECT_GE(about.slowdown, 1) << about.name;
  }
}

TEST(AttentionClassesTest, EncodingsSayTheKernelsOfTheirClass) {
  const EncodingTraits& cope = Find(Kind::kEncoding, "cope")->encoding;
  EXPECT_THAT(cope.kernels, ::testing::ElementsAre(
                                "cpu_counted_avx512", "cpu_counted_avx2",
                                "cpu_counted", "cuda_counted", "reference"));
  EXPECT_TRUE(cope.no_cuda_kernel.empty());
  EXPECT_FALSE(
      Find(Kind::kEncoding, "huang3")->encoding.no_cuda_kernel.empty());
}

}  // namespace
}  // namespace ordo::model::catalog
