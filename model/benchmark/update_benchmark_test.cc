#include "model/benchmark/update_benchmark.h"

#include <set>
#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/benchmark/attention_classes.h"

namespace ordo::model::benchmark {
namespace {

using kernels::Type;
using ::testing::HasSubstr;

UpdateResults RunOk() {
  UpdateOptions options = UpdateOptions::For(kernels::Device::kCpu).Quick();
  const auto results = RunUpdate(options);
  ORDO_EXPECT_OK(results);
  return results.value_or(UpdateResults());
}

TEST(RunUpdateTest, BothMapsAreMeasuredBesidePlainOperations) {
  const UpdateResults results = RunOk();
  ASSERT_EQ(results.rows.size(), 8U);
  std::set<std::string> seen;
  for (size_t i = 0; i < results.rows.size(); i += 2) {
    const UpdateRow &fused = results.rows[i], &plain = results.rows[i + 1];
    EXPECT_EQ(plain.kernel, kPlainUpdate);
    EXPECT_NE(fused.kernel, kPlainUpdate);
    ASSERT_EQ(fused.total_ratio.size(), 2U);
    EXPECT_TRUE(plain.total_ratio.empty());
    EXPECT_GT(fused.forward_s[0], 0);
    EXPECT_GT(fused.total_s[1], fused.forward_s[1]);
    EXPECT_EQ(fused.total_ratio[1], fused.total_s[1] / plain.total_s[1]);
    seen.insert(NameOf(fused.type) + (fused.shape.inner == 0 ? "" : " E"));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"bf16", "bf16 E", "fp32", "fp32 E"}));
}

// Of [1,4,32,16] in fp32, 8192 bytes, with psi [1,32,8], 1024 bytes.
TEST(RunUpdateTest, BytesAreThoseOfTensorsOnce) {
  for (const UpdateRow& row : RunOk().rows) {
    if (row.type != Type::kFloat32) continue;
    const bool by_token = row.shape.inner > 0;
    EXPECT_EQ(row.forward_bytes, by_token ? 2 * 8192 + 1024 : 3 * 8192);
    EXPECT_EQ(row.total_bytes - row.forward_bytes,
              by_token ? 3 * 8192 + 2 * 1024 : 3 * 8192);
    // What comes out is there at least.
    EXPECT_GE(row.peak_bytes, 8192);
  }
}

TEST(UpdateResultsTest, LinesAndTableSayWhatWasMeasured) {
  const UpdateResults results = RunOk();
  int ratios = 0;
  for (const Measurement& measurement : MeasurementsOf(results)) {
    EXPECT_EQ(measurement.benchmark, "update");
    EXPECT_GT(measurement.min, 0);
    if (measurement.metric != "fwd_bwd_ratio") continue;
    ++ratios;
    EXPECT_EQ(measurement.reference, kPlainUpdate);
    EXPECT_EQ(measurement.params.at("H"), "4");
    EXPECT_EQ(measurement.params.at("device"), "cpu");
  }
  EXPECT_EQ(ratios, 4);
  const std::string table = TableOf(results);
  EXPECT_THAT(table, HasSubstr(kPlainUpdate));
  EXPECT_THAT(table, HasSubstr("bf16 B=1 H=4 N=32 d=16 E=8, after the MLP"));
  // Below medians: both times and both ratios.
  const std::string range = " +[0-9.]+\\.\\.[0-9.]+";
  EXPECT_THAT(table, ::testing::ContainsRegex("\n" + range + range + range +
                                              range + "\n"));
}

}  // namespace
}  // namespace ordo::model::benchmark
