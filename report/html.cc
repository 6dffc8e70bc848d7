#include "report/html.h"

#include "absl/strings/str_cat.h"
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
.dim { color: var(--dim); }
.figures { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: 0; background: #fff; color: #1c1c1c; padding: .5rem;
  border: 1px solid var(--line); border-radius: .4rem;
  box-sizing: border-box; flex: 0 1 calc(50% - .5rem); min-width: 20rem; }
figure svg { max-width: 100%; height: auto; display: block; }
figcaption { font-size: .85rem; max-width: 34rem; }
)";

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

std::string HtmlHead(const std::string& title, const std::string& created) {
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>",
      EscapeHtml(title), "</title>\n<style>", kStyle,
      "</style>\n</head>\n<body>\n<h1>", EscapeHtml(title),
      "</h1>\n<p class=\"dim\">", EscapeHtml(created), "</p>\n");
}

}  // namespace ordo::report
