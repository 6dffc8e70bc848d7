#include "report/page.h"

#include <iterator>
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
  page.title = "Runs <1 & 2>";
  page.created = "2026-11-20 21:00";
  page.lead = {"<b> failed"};
  page.tables = {{"Scores", 1, {"model", "error"}, {{"<rope>", "0.5"}}}};
  page.tables.push_back({"Cells", 1, {"a", "b"}, {{"1", "2"}}, true});
  page.figures = {{"one", "Error of <rope>", {}}, {"two", "Loss", {}}};
  page.method = "Less is <better>.";
  return page;
}

TEST(PageTest, EscapesEverythingThatIsNamed) {
  const std::string html = RenderPage(MakePage(), {kSvg, kSvg});
  EXPECT_THAT(html, HasSubstr("<h1>Runs &lt;1 &amp; 2&gt;</h1>"));
  EXPECT_THAT(html, HasSubstr("<li>&lt;b&gt; failed</li>"));
  EXPECT_THAT(html, HasSubstr("Error of &lt;rope&gt;</figcaption>"));
  EXPECT_THAT(html, HasSubstr("Less is &lt;better&gt;."));
  EXPECT_THAT(html, Not(HasSubstr("<rope>")));
}

TEST(PageTest, NeedsNothingFromElsewhere) {
  const std::string html = RenderPage(MakePage(), {kSvg, kSvg});
  EXPECT_THAT(html, Not(HasSubstr("http")));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("src=")));
  EXPECT_THAT(html, Not(HasSubstr("<?xml")));
  EXPECT_THAT(html, HasSubstr("prefers-color-scheme: dark"));
}

TEST(PageTest, IdsAreUniqueAndEveryReferenceHasOne) {
  const std::string html = RenderPage(MakePage(), {kSvg, kSvg});
  std::multiset<std::string> ids;
  const std::regex id(" id=['\"]([^'\"]+)");
  for (std::sregex_iterator i(html.begin(), html.end(), id), end; i != end;
       ++i) {
    ids.insert((*i)[1]);
  }
  EXPECT_EQ(ids.size(), 4u);
  for (const std::string& each : ids) EXPECT_EQ(ids.count(each), 1u) << each;
  const std::regex use("href='#([^']+)|url\\(#([^)]+)");
  for (std::sregex_iterator i(html.begin(), html.end(), use), end; i != end;
       ++i) {
    const std::string name = (*i)[1].matched ? (*i)[1] : (*i)[2];
    EXPECT_EQ(ids.count(name), 1u) << name;
  }
}

TEST(PageTest, TagsAreBalanced) {
  const std::string html = RenderPage(MakePage(), {kSvg, kSvg});
  for (const char* tag : {"table", "tr", "td", "th", "div", "figure", "details",
                          "p", "h2", "ul", "body", "html"}) {
    const std::regex open(std::string("<") + tag + "[ >]");
    const std::regex close(std::string("</") + tag + ">");
    const auto count = [&html](const std::regex& what) {
      return std::distance(std::sregex_iterator(html.begin(), html.end(), what),
                           std::sregex_iterator());
    };
    EXPECT_EQ(count(open), count(close)) << tag;
  }
}

TEST(PageTest, FiguresThatWereNotDrawnAreLeftOut) {
  const std::string one = RenderPage(MakePage(), {"", kSvg});
  EXPECT_THAT(one, Not(HasSubstr("Error of")));
  EXPECT_THAT(one, HasSubstr("<figcaption>Loss</figcaption>"));
  EXPECT_THAT(RenderPage(MakePage(), {}), Not(HasSubstr("<h2>Figures</h2>")));
}

TEST(PageTest, MarkdownHasAllButTheFigures) {
  EXPECT_EQ(RenderMarkdown(MakePage()),
            "# Runs <1 & 2>\n\n2026-11-20 21:00\n\n- <b> failed\n\n"
            "## Scores\n\n| model | error |\n| --- | ---: |\n"
            "| <rope> | 0.5 |\n\n"
            "## Cells\n\n| a | b |\n| --- | ---: |\n| 1 | 2 |\n\n"
            "Less is <better>.\n");
}

TEST(PageTest, MarkdownLinksTheFiguresThatLieBesideIt) {
  const Page page = MakePage();
  const std::vector<std::string> files = FigureFiles(page, 1, "all-");
  ASSERT_EQ(files.size(), page.figures.size());
  EXPECT_EQ(files[0], "all-" + page.figures[0].name + ".svg");
  EXPECT_EQ(files[1], "");
  const std::string text = RenderMarkdown(page, files);
  EXPECT_THAT(text, HasSubstr("![" + page.figures[0].caption + "](" + files[0] +
                              ")\\\n" + page.figures[0].caption + "\n\n## "));
  EXPECT_THAT(text, Not(HasSubstr("Loss")));
}

}  // namespace
}  // namespace ordo::report
