#include "tests/bench/attention_figures.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::tests::bench {
namespace {

using model::benchmark::AttentionResults;
using model::benchmark::AttentionRow;
using model::benchmark::Runner;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

AttentionRow Row(const std::string& encoding, Runner runner, int64_t length) {
  AttentionRow row;
  row.encoding = encoding;
  row.kernel = "k";
  row.runner = runner;
  row.shape.length = length;
  row.total_ratio = {0.8, 0.9, 0.7};
  row.peak_bytes = length << 20;
  return row;
}

AttentionResults Results() {
  AttentionResults results;
  for (const int64_t length : {256, 512}) {
    for (const char* encoding : {"e", "f_g"}) {
      results.rows.push_back(Row(encoding, Runner::kFlash, length));
      results.rows.push_back(Row(encoding, Runner::kSelected, length));
      results.rows.push_back(Row(encoding, Runner::kOther, length));
    }
    results.rows.push_back(Row("e", Runner::kMaterialised, length));
    results.memory.push_back(Row("e", Runner::kSelected, length));
  }
  results.threads = 2;
  return results;
}

TEST(FiguresOfTest, EachClassHasAPanelWithItsSelectedRow) {
  const auto figures = FiguresOf(Results());
  ASSERT_THAT(figures, SizeIs(2));
  EXPECT_EQ(figures[0].name, "attention_ratio");
  EXPECT_EQ(figures[1].name, "attention_memory");
  const std::string& script = figures[0].figure.script;
  EXPECT_THAT(script, HasSubstr("$line0_0 << EOD\n256 0.8 0.7 0.9\n512 "));
  EXPECT_THAT(script, HasSubstr("set title \"e\""));
  EXPECT_THAT(script, HasSubstr("set title \"f"));
  // The other kernel and flash attention are no lines: f_g has one, e also the
  // way without kernels.
  EXPECT_THAT(script, HasSubstr("$line0_1 << EOD"));
  EXPECT_THAT(script, HasSubstr("$line1_0 << EOD"));
  EXPECT_THAT(script, Not(HasSubstr("$line1_1")));
  EXPECT_THAT(script, Not(HasSubstr("$line0_2")));
  EXPECT_THAT(script, HasSubstr("plot 1 with lines"));
  EXPECT_THAT(figures[1].figure.script, Not(HasSubstr("plot 1 with lines")));
}

TEST(FiguresOfTest, WidthsAreToldApartWhereThereAreSeveral) {
  AttentionResults results = Results();
  EXPECT_THAT(FiguresOf(results)[0].figure.script, HasSubstr("\"fp32\""));
  results.rows.push_back(Row("e", Runner::kSelected, 256));
  results.rows.back().shape.width = 128;
  EXPECT_THAT(FiguresOf(results)[0].figure.script,
              HasSubstr("\"fp32, d=128\""));
}

TEST(FiguresOfTest, NothingMeasuredIsNoFigure) {
  EXPECT_THAT(FiguresOf({}), SizeIs(0));
}

}  // namespace
}  // namespace ordo::tests::bench
