#include "model/benchmark/attention_results.h"

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::benchmark {
namespace {

using kernels::Type;
using ::testing::HasSubstr;
using ::testing::Not;

AttentionRow Row(const std::string& kernel, Runner runner) {
  AttentionRow row;
  row.encoding = "e";
  row.kernel = kernel;
  row.runner = runner;
  row.shape.length = 8;
  row.forward_s = {1, 3, 2};
  row.total_s = {4, 6, 5};
  row.forward_ratio = {0.5, 0.7, 0.6};
  row.total_ratio = {0.8, 0.9, 0.7};
  row.peak_bytes = 3 << 20;
  row.flop = {10, 20};
  row.bytes = {1, 4};
  return row;
}

AttentionResults Results() {
  AttentionResults results;
  results.rows = {Row("libtorch_flash", Runner::kFlash),
                  Row("best", Runner::kSelected), Row("other", Runner::kOther),
                  Row("map", Runner::kMaterialised)};
  results.machine[Type::kFloat32] = {12, 2};
  results.threads = 2;
  return results;
}

const Measurement* Find(const std::vector<Measurement>& all,
                        const std::string& kernel, const std::string& metric) {
  for (const Measurement& m : all) {
    const auto of = m.params.find("kernel");
    if (of == m.params.end() ? !kernel.empty() : of->second != kernel) continue;
    if (m.metric == metric) return &m;
  }
  return nullptr;
}

TEST(MeasurementsOfTest, OnlyWhatIsSelectedHasTheRatiosOfItsClass) {
  const auto all = MeasurementsOf(Results());
  const Measurement* ratio = Find(all, "best", "fwd_bwd_ratio");
  ASSERT_NE(ratio, nullptr);
  EXPECT_EQ(ratio->value, 0.8);
  EXPECT_EQ(ratio->min, 0.7);
  EXPECT_EQ(ratio->max, 0.9);
  EXPECT_EQ(ratio->reference, "libtorch_flash");
  EXPECT_EQ(Find(all, "best", "fwd_ratio")->value, 0.6);
  EXPECT_EQ(Find(all, "best", "row_fwd_bwd_ratio"), nullptr);
  for (const char* kernel : {"other", "map"}) {
    EXPECT_EQ(Find(all, kernel, "fwd_ratio"), nullptr) << kernel;
    EXPECT_EQ(Find(all, kernel, "fwd_bwd_ratio"), nullptr) << kernel;
    EXPECT_NE(Find(all, kernel, "row_fwd_bwd_ratio"), nullptr) << kernel;
  }
  for (const char* metric :
       {"fwd_ratio", "fwd_bwd_ratio", "row_fwd_bwd_ratio"}) {
    EXPECT_EQ(Find(all, "libtorch_flash", metric), nullptr) << metric;
  }
}

// 30 FLOP and 5 bytes in 5 seconds, of 12 and 2 in one.
TEST(MeasurementsOfTest, RatesAreWorkOverTimeAndSharesAreOfTheMachine) {
  const auto all = MeasurementsOf(Results());
  EXPECT_EQ(Find(all, "best", "fwd_bwd_flop_rate")->value, 6);
  EXPECT_EQ(Find(all, "best", "fwd_bwd_flop_share")->value, 0.5);
  EXPECT_EQ(Find(all, "best", "fwd_bwd_byte_rate")->value, 1);
  EXPECT_EQ(Find(all, "best", "fwd_bwd_byte_share")->value, 0.5);
  EXPECT_EQ(Find(all, "best", "peak_bytes")->value, 3 << 20);
  EXPECT_EQ(Find(all, "", "gemm_flop_rate")->value, 12);
  EXPECT_EQ(Find(all, "", "copy_byte_rate")->value, 2);
}

TEST(MeasurementsOfTest, ALineSaysWhatWasMeasured) {
  EXPECT_EQ(Find(MeasurementsOf(Results()), "best", "fwd_seconds")->params,
            (std::map<std::string, std::string>{{"encoding", "e"},
                                                {"kernel", "best"},
                                                {"device", "cpu"},
                                                {"type", "fp32"},
                                                {"threads", "2"},
                                                {"B", "2"},
                                                {"H", "12"},
                                                {"N", "8"},
                                                {"d", "64"}}));
}

TEST(TimesTableTest, MarksTheSelectedRowAndHasALineForEach) {
  AttentionClass about;
  about.name = "e";
  const std::string table = TimesTable(about, Type::kFloat32, Results());
  EXPECT_THAT(table, HasSubstr("best *"));
  EXPECT_THAT(table, Not(HasSubstr("other *")));
  // Of flash attention no ratio.
  EXPECT_THAT(table, HasSubstr("B=2 H=12 N=8 d=64\nlibtorch_flash"));
  EXPECT_EQ(TimesTable(about, Type::kBfloat16, Results()), "");
}

// The line after the one that begins with `kernel`.
std::string Below(const std::string& table, const std::string& kernel) {
  const std::vector<std::string> lines = absl::StrSplit(table, '\n');
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    if (absl::StartsWith(lines[i], kernel)) return lines[i + 1];
  }
  return "";
}

TEST(TimesTableTest, BelowMediansStandTheSmallestAndTheLargest) {
  AttentionClass about;
  about.name = "e";
  AttentionResults results = Results();
  std::string table = TimesTable(about, Type::kFloat32, results);
  EXPECT_THAT(table, ::testing::ContainsRegex(
                         "best \\* +2000 +5000 +0.60 +0.80 +- +0 +50%"));
  EXPECT_THAT(Below(table, "best *"),
              ::testing::ContainsRegex(
                  "1000..3000 +4000..6000 +0.50..0.70 +0.70..0.90$"));
  EXPECT_THAT(
      table, ::testing::ContainsRegex("other +2000 +5000 +- +- +0.80 +0 +50%"));
  EXPECT_THAT(Below(table, "other"),
              ::testing::ContainsRegex("1000..3000 +4000..6000 +0.70..0.90$"));
  for (AttentionRow& row : results.rows) {
    row.has_backward = false;
    row.total_s = row.forward_s;
    row.total_ratio = row.forward_ratio;
  }
  table = TimesTable(about, Type::kFloat32, results);
  EXPECT_THAT(
      table, ::testing::ContainsRegex("best \\* +2000 +- +0.60 +- +- +0 +42%"));
  EXPECT_THAT(Below(table, "kernel"), Not(HasSubstr("bwd")));
}

TEST(TimesTableTest, FitsATerminal) {
  AttentionClass about;
  about.name = "e";
  AttentionResults results = Results();
  results.machine[Type::kFloat32] = {1e15, 1};
  for (AttentionRow& row : results.rows) {
    row.kernel = "cpu_pairs_avx512bf16";
    // Of a long shape on a GPU.
    row.flop = {2e15, 4e15};
    row.peak_bytes = int64_t{80} << 30;
  }
  const std::string table = TimesTable(about, Type::kFloat32, results);
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(table, '\n'))) {
    EXPECT_LE(line.size(), 120U) << line;
  }
}

TEST(HeadTextTest, SaysWhatColumnsAre) {
  const std::string head = HeadText(Results());
  for (const char* column :
       {"\n* ", "\nfwd_ratio ", "\nfwd_bwd_ratio ", "\nrow_", "\nof GEMM ",
        "\nof copy ", "\npeak MiB "}) {
    EXPECT_THAT(head, HasSubstr(column));
  }
}

// Memory only, at three lengths.
AttentionResults MemoryResults(int64_t bytes, int64_t bytes_of_twice) {
  AttentionResults results = Results();
  const int64_t lengths[] = {4, 8, 16};
  const int64_t all_bytes[] = {90, bytes, bytes_of_twice};
  for (const int i : {0, 1, 2}) {
    results.memory.push_back(Row("best", Runner::kSelected));
    results.memory[i].peak_bytes = all_bytes[i];
    results.memory[i].shape.length = lengths[i];
  }
  return results;
}

// A type's rows may have other workspaces.
TEST(MemoryTest, EachTypeHasItsLine) {
  AttentionResults results = MemoryResults(100, 200);
  for (const int i : {0, 1, 2}) {
    results.memory.push_back(results.memory[i]);
    results.memory.back().shape.type = Type::kBfloat16;
    results.memory.back().peak_bytes <<= 2 * i;
  }
  const std::string table = MemoryTable(results);
  EXPECT_THAT(table, ::testing::ContainsRegex("fp32 +best .*N\\^1.00"));
  EXPECT_THAT(table, ::testing::ContainsRegex("bf16 +best .*N\\^3.00"));
  int exponents = 0;
  for (const Measurement& m : MeasurementsOf(results)) {
    exponents += m.metric == "peak_bytes_exponent" ? 1 : 0;
  }
  EXPECT_EQ(exponents, 2);
}

TEST(MemoryTest, TheExponentIsOneOfLinearAndTwoOfSquareGrowth) {
  for (const int64_t exponent : {1, 2}) {
    const AttentionResults results = MemoryResults(100, 100 << exponent);
    EXPECT_NEAR(
        Find(MeasurementsOf(results), "best", "peak_bytes_exponent")->value,
        static_cast<double>(exponent), 1e-12);
    EXPECT_THAT(MemoryTable(results),
                HasSubstr("~ N^" + std::to_string(exponent) + ".00"));
  }
}

}  // namespace
}  // namespace ordo::model::benchmark
