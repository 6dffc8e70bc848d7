#include "report/table.h"

#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::report {
namespace {

using ::testing::HasSubstr;

Table Example() { return {"T & U", 1, {"a", "b"}, {{"x|y, <z>", "1"}}}; }

TEST(TableTest, AFoldedTableStandsBelowItsTitle) {
  Table table = Example();
  table.is_folded = true;
  const std::string html = ToHtml(table);
  EXPECT_THAT(html, HasSubstr("<details><summary>T &amp; U</summary>\n<div"));
  EXPECT_THAT(html, HasSubstr("</table></div></details>\n"));
}

TEST(TableTest, MarkdownAlignsNumbersAndKeepsBarsInTheirCells) {
  EXPECT_EQ(ToMarkdown(Example()),
            "## T & U\n\n| a | b |\n| --- | ---: |\n| x\\|y, <z> | 1 |\n\n");
}

TEST(TableTest, WithoutATitleThereIsNoHeading) {
  EXPECT_EQ(ToMarkdown({"", 1, {"a"}, {{"1"}}}), "| a |\n| --- |\n| 1 |\n\n");
}

TEST(TableTest, ANoteStandsBelowForPeople) {
  Table table = Example();
  table.note = "a & b";
  EXPECT_THAT(ToMarkdown(table), ::testing::EndsWith("| 1 |\n\na & b\n\n"));
  EXPECT_THAT(ToHtml(table),
              ::testing::EndsWith("</table></div>\n<p>a &amp; b</p>\n"));
  EXPECT_EQ(ToCsv(table), ToCsv(Example()));
}

TEST(TableTest, NumbersHaveFourDigits) {
  EXPECT_EQ(NumberText(1.0 / 3), "0.3333");
  EXPECT_EQ(NumberText(std::numeric_limits<double>::infinity()), "-");
}

TEST(TableTest, ExactNumbersReadBackAsThemselves) {
  EXPECT_EQ(ExactText(0.1), "0.10000000000000001");
  EXPECT_EQ(ExactText(std::numeric_limits<double>::quiet_NaN()), "");
}

TEST(TableTest, HtmlIsEscaped) {
  const std::string html = ToHtml(Example());
  EXPECT_THAT(html, HasSubstr("<h2>T &amp; U</h2>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"text\">x|y, &lt;z&gt;</td>"
                              "<td>1</td>"));
}

TEST(TableTest, CsvQuotesWhatHoldsACommaOrAQuote) {
  const Table table = {"", 1, {"a", "b"}, {{"x,y", "say \"z\""}}};
  EXPECT_EQ(ToCsv(table), "a,b\r\n\"x,y\",\"say \"\"z\"\"\"\r\n");
}

}  // namespace
}  // namespace ordo::report
