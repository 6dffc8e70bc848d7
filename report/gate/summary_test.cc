#include "report/gate/summary.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/gate/testing/accounts.h"
#include "report/gate/testing/comparisons.h"
#include "report/page.h"
#include "report/table.h"

namespace ordo::report::gate {
namespace {

using ::testing::AllOf;
using testing::Answers;
using ::testing::Contains;
using ::testing::HasSubstr;
using testing::Margin;
using ::testing::Not;
using testing::OneOfEach;
using ::testing::Pair;
using ::testing::SizeIs;

Account Open() { return OneOfEach(OnInconclusive::kInconclusive); }

Account ManyWorse() {
  return MakeAccount(
      Decide(Margin(0.05), {Answers("a", {1000, 0, 300})}).value());
}

int CountOf(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

TEST(SummarizeTest, ThePageSaysTheVerdictFirstAndWhyOfEachComparison) {
  const std::string page = RenderPage(Summarize(Open()), {""});
  EXPECT_THAT(page, HasSubstr("<h1>gate nightly: fail</h1>"));
  EXPECT_THAT(page, HasSubstr("<li>Verdict: fail.</li>"));
  EXPECT_THAT(page, HasSubstr("<li>lists against the baseline: fail: "));
  EXPECT_THAT(page, HasSubstr("recall against the baseline: inconclusive: "));
  EXPECT_THAT(page, HasSubstr("sums against the anchor: pass: "));
  EXPECT_THAT(page, HasSubstr("not alike: the candidate was evaluated in bf1"));
  EXPECT_THAT(page, HasSubstr("; again: ordo gate --candidate jobs/c "
                              "--margin 0.05"));
}

TEST(SummarizeTest, ThePageHasWhatGotWorseAsTextAndNothingIsFetched) {
  const std::string page = RenderPage(Summarize(Open()), {""});
  EXPECT_THAT(page, HasSubstr("<h2>Items that got worse: lists against the "
                              "baseline</h2>"));
  EXPECT_THAT(page, HasSubstr("sort: &lt;b&gt;&amp;&quot;x&quot;&lt;/b&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
  EXPECT_THAT(page, HasSubstr("wrong\xEF\xBF\xBD\xEF\xBF\xBD[31m"));
  EXPECT_THAT(page, Not(HasSubstr("http")));
}

TEST(SummarizeTest, ItemsThatGotWorseSayHowTheyAreRead) {
  const std::string note =
      "lists: in questions and answers numbers are reversed.";
  EXPECT_THAT(Summarize(Open()).lead, Contains(note));
  EXPECT_THAT(ToMarkdown(Open()), HasSubstr("- " + note));
  Comparison equal = Answers("a", {1000, 0, 0});
  equal.notation = "numbers are reversed";
  EXPECT_THAT(ToMarkdown(MakeAccount(Decide(Margin(0.05), {equal}).value())),
              Not(HasSubstr("reversed")));
}

TEST(SummarizeTest, TheTableHasAnEstimateWithItsPowerInEachRow) {
  const summary::Summary summary = Summarize(Open());
  const Table& table = summary.tables.front();
  ASSERT_THAT(table.rows, SizeIs(4));
  for (const auto& row : table.rows) {
    EXPECT_THAT(row, SizeIs(table.header.size()));
  }
  EXPECT_THAT(table.rows[2],
              AllOf(Contains("lists"), Contains("fail"), Contains("-0.1"),
                    Contains("0.05"), Contains("1000"), Contains("100")));
  EXPECT_THAT(summary.csv, HasSubstr("lists,baseline,fail,-0.1,"));
}

TEST(SummarizeTest, ASetThatGrowsHasItsBudgetBesideWhatIsOfIt) {
  Comparison grows = Answers("a", {100, 5, 5});
  grows.budget = 5000;
  const summary::Summary summary = Summarize(MakeAccount(
      Decide(Margin(0.05), {grows, Answers("b", {100, 5, 5})}).value()));
  const Table& table = summary.tables.front();
  const size_t column = static_cast<size_t>(
      std::find(table.header.begin(), table.header.end(), "budget") -
      table.header.begin());
  ASSERT_LT(column, table.header.size());
  EXPECT_EQ(table.rows[0][column], "5000");
  EXPECT_EQ(table.rows[1][column], kNoValue);
  EXPECT_EQ(table.header[column + 1], "power");
  EXPECT_THAT(summary.method,
              HasSubstr("Where a set grows both are of its budget"));
}

TEST(SummarizeTest, MetricsCarryTheVerdictAndEachDifference) {
  const summary::Summary summary = Summarize(Open());
  EXPECT_THAT(summary.metrics, Contains(Pair("failed", 1)));
  EXPECT_THAT(summary.metrics, Contains(Pair("passed", 0)));
  EXPECT_THAT(summary.metrics, Contains(Pair("num_comparisons", 4)));
  EXPECT_THAT(summary.metrics,
              Contains(Pair("difference_lists_baseline", -0.1)));
  EXPECT_THAT(summary.metrics, Contains(Pair("difference_sums_anchor", 0)));
}

TEST(SummarizeTest, TheFigureHasARowForEachComparisonAndTheMargin) {
  const summary::Summary summary = Summarize(Open());
  ASSERT_THAT(summary.figures, SizeIs(1));
  const std::string& script = summary.figures[0].figure.script;
  EXPECT_THAT(script, HasSubstr("\"sums against\\nthe anchor\" 3"));
  EXPECT_THAT(script, HasSubstr("\n-0.1 2 "));
  EXPECT_THAT(summary.figures[0].caption, HasSubstr("A point without a bar "));
  EXPECT_THAT(script, HasSubstr("from -0.05,0.4 to -0.05,"));
}

TEST(SummarizeTest, PassingGoesBeforeFailing) {
  const summary::Summary summary = Summarize(Open());
  EXPECT_THAT(summary.method,
              AllOf(HasSubstr("got worse by less than the margin passes"),
                    HasSubstr("It fails, unless it passes, when")));
  EXPECT_THAT(summary.figures[0].caption, HasSubstr("unless it passes"));
}

TEST(SummarizeTest, TheFigureNamesJobCheckpointsAndCommand) {
  EXPECT_EQ(DifferencePlot(Open()).source,
            "job nightly; checkpoints: jobs/c/checkpoints/200-1 c0ffee, "
            "jobs/b/checkpoints/100-1 beef, jobs/a/checkpoints/100-1 unknown; "
            "again: ordo gate --candidate jobs/c --margin 0.05");
}

TEST(SummarizeTest, LongListsAreCutAndSayHowManyThereAre) {
  const std::string page = RenderPage(Summarize(ManyWorse()), {""});
  EXPECT_THAT(page, HasSubstr("(200 of 300)"));
  EXPECT_THAT(page, HasSubstr(">i199<"));
  EXPECT_THAT(page, Not(HasSubstr(">i200<")));
  const std::string markdown = ToMarkdown(ManyWorse());
  EXPECT_THAT(markdown, HasSubstr("(20 of 300)"));
  EXPECT_EQ(CountOf(markdown, "\n| ` i"), 20);
}

TEST(ToMarkdownTest, TextOfModelsStandsAsCodeInOneRow) {
  const std::string markdown = ToMarkdown(Open());
  EXPECT_THAT(markdown, HasSubstr("# gate nightly: fail\n"));
  EXPECT_THAT(
      markdown,
      HasSubstr("| `` sort: <b>&\"x\"</b> \\| a `code` `` | ` right ` "));
}

TEST(SummarizeTest, PowerOfAllTogetherIsGivenForSeveral) {
  EXPECT_THAT(ToMarkdown(Open()),
              HasSubstr("Power of all comparisons together: at least "));
  EXPECT_THAT(ToMarkdown(ManyWorse()), Not(HasSubstr("together: at least")));
}

}  // namespace
}  // namespace ordo::report::gate
