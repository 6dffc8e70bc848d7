#include "report/page.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
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

// A paragraph for each, which begins with the link.
std::string FiguresMarkdown(const Page& page,
                            const std::vector<std::string>& files) {
  std::string text;
  for (size_t i = 0; i < page.figures.size() && i < files.size(); ++i) {
    if (files[i].empty()) continue;
    const std::string caption = absl::StrReplaceAll(
        page.figures[i].caption, {{"[", "\\["}, {"]", "\\]"}});
    absl::StrAppend(&text, "![", caption, "](", files[i], ")\\\n",
                    page.figures[i].caption, "\n\n");
  }
  return text;
}

}  // namespace

std::vector<std::string> FigureFiles(const Page& page, size_t num_drawn,
                                     const std::string& prefix) {
  std::vector<std::string> files;
  for (size_t i = 0; i < page.figures.size(); ++i) {
    files.push_back(i < num_drawn
                        ? absl::StrCat(prefix, page.figures[i].name, ".svg")
                        : "");
  }
  return files;
}

std::string RenderMarkdown(const Page& page,
                           const std::vector<std::string>& figures) {
  std::string text =
      absl::StrCat("# ", page.title, "\n\n", page.created, "\n\n");
  for (const std::string& sentence : page.lead) {
    absl::StrAppend(&text, "- ", sentence, "\n");
  }
  if (!page.lead.empty()) text += "\n";
  for (size_t i = 0; i < page.tables.size(); ++i) {
    text += ToMarkdown(page.tables[i]);
    if (i == 0) text += FiguresMarkdown(page, figures);
  }
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
