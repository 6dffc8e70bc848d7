#include "report/html.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace ordo::report {
namespace {

constexpr char kStyle[] = R"(
:root { color-scheme: light dark; --text: #1c1c1c; --back: #fdfdfd;
  --dim: #666; --line: #ccc; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8e8e8; --back: #16181b; --dim: #9a9a9a; --line: #444; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text);
  background: var(--back); max-width: 76rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line);
  text-align: right; white-space: nowrap; }
th:first-child, td:first-child, td.text, th.text { text-align: left; }
th, td.text { white-space: normal; }
td.text { min-width: 14rem; }
.scroll { overflow-x: auto; }
.interval, .dim { color: var(--dim); }
.interval { display: block; font-size: .85rem; }
.figures { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: 0; background: #fff; color: #1c1c1c; padding: .5rem;
  border: 1px solid var(--line); border-radius: .4rem;
  box-sizing: border-box; flex: 0 1 calc(50% - .5rem); min-width: 20rem; }
figure svg { max-width: 100%; height: auto; display: block; }
figcaption { font-size: .85rem; max-width: 34rem; }
)";

std::string ShareCell(const GridScore& score) {
  if (score.samples == 0) return "<td>&ndash;</td>";
  return absl::StrFormat(
      "<td>%.1f&nbsp;%% <span class=\"interval\">[%.1f, %.1f]</span></td>",
      100 * score.share.value, 100 * score.share.low, 100 * score.share.high);
}

std::string ResultTable(const Page& page) {
  std::string html =
      "<div class=\"scroll\"><table>\n<tr><th>model</th>"
      "<th class=\"text\">encoding</th><th>step</th><th>all lengths</th>"
      "<th>trained lengths</th><th>longer than trained</th>"
      "<th>equal lengths</th><th>longest with 95&nbsp;%</th></tr>\n";
  for (const PageEntry& entry : page.entries) {
    const GridSummary summary = Summarize(entry.grid);
    absl::StrAppend(&html, "<tr><td>", EscapeHtml(entry.grid.name),
                    "</td><td class=\"text\">", EscapeHtml(entry.encoding),
                    "</td><td>", entry.grid.step, "</td>",
                    ShareCell(summary.all), ShareCell(summary.trained),
                    ShareCell(summary.outside), ShareCell(summary.diagonal),
                    "<td>", summary.largest_95, "</td></tr>\n");
  }
  return html + "</table></div>\n";
}

std::string CellTable(const Grid& grid) {
  std::string html =
      absl::StrCat("<details><summary>Right answers of ", EscapeHtml(grid.name),
                   " in numbers (%)</summary>\n"
                   "<div class=\"scroll\"><table>\n<tr>"
                   "<th>A \\ B</th>");
  for (int b = 1; b <= grid.max_digits; ++b) {
    absl::StrAppend(&html, "<th>", b, "</th>");
  }
  html += "</tr>\n";
  for (int a = 1; a <= grid.max_digits; ++a) {
    absl::StrAppend(&html, "<tr><td>", a, "</td>");
    for (int b = 1; b <= grid.max_digits; ++b) {
      absl::StrAppendFormat(&html, "<td>%.0f</td>", 100 * grid.At(a, b));
    }
    html += "</tr>\n";
  }
  return html + "</table></div></details>\n";
}

std::string Caption(const Grid& grid) {
  std::string text = absl::StrCat(
      EscapeHtml(grid.name), ": share of sums that are right in every digit, ",
      grid.samples, " per cell.");
  if (grid.trained_digits > 0) {
    absl::StrAppend(&text, " Trained on up to ", grid.trained_digits,
                    grid.trained_digits < grid.max_digits
                        ? " digits: the outlined square."
                        : " digits.");
  }
  return text;
}

constexpr char kMethod[] =
    "<h2>How to read it</h2>\n<p>A sum counts as right when every digit of the "
    "answer is, found by greedy decoding. Brackets hold 95&nbsp;% intervals "
    "(Wilson's score interval over the pooled samples): what another draw of "
    "questions could give. They say nothing about another seed of training; "
    "one run of each model is one run of each model.</p>\n";

}  // namespace

std::string EscapeHtml(const std::string& text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"},
                                    {"<", "&lt;"},
                                    {">", "&gt;"},
                                    {"\"", "&quot;"},
                                    {"'", "&#39;"}});
}

std::string InlineSvg(const std::string& svg, const std::string& prefix) {
  const size_t start = svg.find("<svg");
  if (start == std::string::npos) return "";
  return absl::StrReplaceAll(svg.substr(start),
                             {{" id='", absl::StrCat(" id='", prefix)},
                              {" id=\"", absl::StrCat(" id=\"", prefix)},
                              {"href='#", absl::StrCat("href='#", prefix)},
                              {"href=\"#", absl::StrCat("href=\"#", prefix)},
                              {"url(#", absl::StrCat("url(#", prefix)}});
}

std::string ShareText(const GridScore& score) {
  if (score.samples == 0) return "-";
  return absl::StrFormat("%.1f %% [%.1f, %.1f]", 100 * score.share.value,
                         100 * score.share.low, 100 * score.share.high);
}

std::string HtmlHead(const std::string& title, const std::string& created) {
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>",
      EscapeHtml(title), "</title>\n<style>", kStyle,
      "</style>\n</head>\n<body>\n<h1>", EscapeHtml(title),
      "</h1>\n<p class=\"dim\">", EscapeHtml(created), "</p>\n");
}

std::string RenderHtml(const Page& page) {
  std::string html = HtmlHead(page.title, page.created);
  absl::StrAppend(&html, "<h2>Results</h2>\n", ResultTable(page),
                  "<h2>Length generalisation</h2>\n<div class=\"figures\">\n");
  for (size_t i = 0; i < page.entries.size(); ++i) {
    absl::StrAppend(
        &html, "<figure>\n",
        InlineSvg(page.entries[i].heat_map_svg, absl::StrCat("map", i, "-")),
        "<figcaption>", Caption(page.entries[i].grid),
        "</figcaption>\n</figure>\n");
  }
  absl::StrAppend(
      &html, "</div>\n<h2>Equal lengths</h2>\n",
      "<div class=\"figures\"><figure>\n",
      InlineSvg(page.equal_lengths_svg, "lengths-"),
      "<figcaption>A and B with the same number of digits; bars are "
      "95&nbsp;% intervals. Right of the dashed line the sums are "
      "longer than those of training.</figcaption>\n"
      "</figure></div>\n",
      kMethod);
  for (const PageEntry& entry : page.entries) {
    html += CellTable(entry.grid);
  }
  return html + "</body>\n</html>\n";
}

}  // namespace ordo::report
