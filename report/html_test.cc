#include "report/html.h"

#include <algorithm>
#include <regex>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kSvg[] =
    "<?xml version=\"1.0\"?>\n<!DOCTYPE svg>\n<svg><defs><g id='gpDot'/></defs>"
    "<use xlink:href='#gpDot'/><g id=\"plot_1\" clip-path=\"url(#gpDot)\"/>"
    "</svg>\n";

Page MakePage() {
  Page page;
  page.title = "Addition <1 & 2>";
  page.created = "2026-11-20 21:00";
  for (const char* name : {"tape", "<rope>"}) {
    PageEntry entry;
    entry.grid.name = name;
    entry.grid.step = 1000;
    entry.grid.max_digits = 2;
    entry.grid.trained_digits = 1;
    entry.grid.samples = 20;
    entry.grid.right = {{20, 10}, {10, 0}};
    entry.encoding = "tape (a=\"x\")";
    entry.heat_map_svg = kSvg;
    page.entries.push_back(entry);
  }
  page.equal_lengths_svg = kSvg;
  return page;
}

TEST(RenderHtmlTest, EscapesEverythingThatIsNamed) {
  const std::string html = RenderHtml(MakePage());
  EXPECT_THAT(html, HasSubstr("<h1>Addition &lt;1 &amp; 2&gt;</h1>"));
  EXPECT_THAT(html, HasSubstr("&lt;rope&gt;"));
  EXPECT_THAT(html, HasSubstr("tape (a=&quot;x&quot;)"));
  EXPECT_THAT(html, Not(HasSubstr("<rope>")));
}

TEST(RenderHtmlTest, NeedsNothingFromElsewhere) {
  const std::string html = RenderHtml(MakePage());
  EXPECT_THAT(html, Not(HasSubstr("http")));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("src=")));
  EXPECT_THAT(html, Not(HasSubstr("<?xml")));
  EXPECT_THAT(html, HasSubstr("prefers-color-scheme: dark"));
}

TEST(RenderHtmlTest, IdsAreUniqueAndEveryReferenceHasOne) {
  const std::string html = RenderHtml(MakePage());
  std::multiset<std::string> ids;
  const std::regex id(" id=['\"]([^'\"]+)");
  for (std::sregex_iterator i(html.begin(), html.end(), id), end; i != end;
       ++i) {
    ids.insert((*i)[1]);
  }
  EXPECT_EQ(ids.size(), 6u);
  for (const std::string& each : ids) EXPECT_EQ(ids.count(each), 1u) << each;
  const std::regex use("href='#([^']+)|url\\(#([^)]+)");
  for (std::sregex_iterator i(html.begin(), html.end(), use), end; i != end;
       ++i) {
    const std::string name = (*i)[1].matched ? (*i)[1] : (*i)[2];
    EXPECT_EQ(ids.count(name), 1u) << name;
  }
}

TEST(RenderHtmlTest, TableHasScoresWithIntervals) {
  const std::string html = RenderHtml(MakePage());
  EXPECT_THAT(html, HasSubstr("50.0&nbsp;% <span class=\"interval\">[39.3, "
                              "60.7]</span>"));
  EXPECT_THAT(html, HasSubstr("100.0&nbsp;% <span class=\"interval\">[83.9, "
                              "100.0]</span>"));
  // Below their scores, or the table is wider than a laptop's screen.
  EXPECT_THAT(html, HasSubstr(".interval { display: block;"));
  EXPECT_THAT(html, HasSubstr("Trained on up to 1 digits: the outlined"));
}

TEST(RenderHtmlTest, TagsAreBalanced) {
  const std::string html = RenderHtml(MakePage());
  for (const char* tag : {"table", "tr", "td", "th", "div", "figure", "details",
                          "p", "h2", "body", "html"}) {
    const std::regex open(std::string("<") + tag + "[ >]");
    const std::regex close(std::string("</") + tag + ">");
    const auto count = [&html](const std::regex& what) {
      return std::distance(std::sregex_iterator(html.begin(), html.end(), what),
                           std::sregex_iterator());
    };
    EXPECT_EQ(count(open), count(close)) << tag;
  }
}

TEST(InlineSvgTest, WithoutASvgThereIsNothing) {
  EXPECT_EQ(InlineSvg("gnuplot failed", "a-"), "");
}

TEST(ShareTextTest, HasTheIntervalInPercent) {
  GridScore score;
  EXPECT_EQ(ShareText(score), "-");
  score.right = 10;
  score.samples = 20;
  score.share = WilsonInterval(10, 20);
  EXPECT_EQ(ShareText(score), "50.0 % [29.9, 70.1]");
}

}  // namespace
}  // namespace ordo::report
