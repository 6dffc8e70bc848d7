#include "report/page.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "report/html.h"

namespace ordo::report {
namespace {

// Nothing where none was drawn.
std::string FiguresHtml(const Page& page,
                        const std::vector<std::string>& svgs) {
  std::string figures;
  for (size_t i = 0; i < page.figures.size() && i < svgs.size(); ++i) {
    if (svgs[i].empty()) continue;
    absl::StrAppend(&figures, "<figure>\n",
                    InlineSvg(svgs[i], absl::StrCat("figure", i, "-")),
                    "<figcaption>", EscapeHtml(page.figures[i].caption),
                    "</figcaption>\n</figure>\n");
  }
  if (figures.empty()) return "";
  return absl::StrCat("<h2>Figures</h2>\n<div class=\"figures\">\n", figures,
                      "</div>\n");
}

}  // namespace

std::string RenderMarkdown(const Page& page) {
  std::string text =
      absl::StrCat("# ", page.title, "\n\n", page.created, "\n\n");
  for (const std::string& sentence : page.lead) {
    absl::StrAppend(&text, "- ", sentence, "\n");
  }
  if (!page.lead.empty()) text += "\n";
  for (const Table& table : page.tables) text += ToMarkdown(table);
  return absl::StrCat(text, page.method, "\n");
}

std::string RenderPage(const Page& page, const std::vector<std::string>& svgs) {
  std::string html = HtmlHead(page.title, page.created);
  if (!page.lead.empty()) html += "<ul>\n";
  for (const std::string& sentence : page.lead) {
    absl::StrAppend(&html, "<li>", EscapeHtml(sentence), "</li>\n");
  }
  if (!page.lead.empty()) html += "</ul>\n";
  html += ToHtml(page.tables.front());
  html += FiguresHtml(page, svgs);
  for (size_t i = 1; i < page.tables.size(); ++i) {
    html += ToHtml(page.tables[i]);
  }
  return absl::StrCat(html, "<h2>How to read it</h2>\n<p>",
                      EscapeHtml(page.method), "</p>\n</body>\n</html>\n");
}

}  // namespace ordo::report
