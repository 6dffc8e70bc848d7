#include "report/table.h"

#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "report/html.h"

namespace ordo::report {
namespace {

std::string MarkdownRow(const std::vector<std::string>& cells) {
  return absl::StrCat(
      "| ",
      absl::StrJoin(
          cells, " | ",
          [](std::string* out, const std::string& cell) {
            *out += absl::StrReplaceAll(cell, {{"|", "\\|"}, {"\n", " "}});
          }),
      " |\n");
}

std::string CsvCell(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  return absl::StrCat("\"", absl::StrReplaceAll(cell, {{"\"", "\"\""}}), "\"");
}

}  // namespace

std::string NumberText(double value) {
  return std::isfinite(value) ? absl::StrFormat("%.4g", value) : kNoValue;
}

std::string ExactText(double value) {
  return std::isfinite(value) ? absl::StrFormat("%.17g", value) : "";
}

std::string ToMarkdown(const Table& table) {
  std::string text;
  if (!table.title.empty()) text = absl::StrCat("## ", table.title, "\n\n");
  text += MarkdownRow(table.header);
  std::vector<std::string> rule;
  for (size_t i = 0; i < table.header.size(); ++i) {
    const bool is_text = static_cast<int>(i) < table.num_text_columns;
    rule.push_back(is_text ? "---" : "---:");
  }
  text += MarkdownRow(rule);
  for (const auto& row : table.rows) text += MarkdownRow(row);
  text += "\n";
  if (!table.note.empty()) absl::StrAppend(&text, table.note, "\n\n");
  return text;
}

std::string ToHtml(const Table& table) {
  const std::string title = EscapeHtml(table.title);
  std::string html = table.is_folded ? absl::StrCat("<details><summary>", title,
                                                    "</summary>\n")
                                     : absl::StrCat("<h2>", title, "</h2>\n");
  html += "<div class=\"scroll\"><table>\n";
  const auto add_row = [&](const std::vector<std::string>& cells,
                           const std::string& tag) {
    html += "<tr>";
    for (size_t i = 0; i < cells.size(); ++i) {
      const bool is_text = static_cast<int>(i) < table.num_text_columns;
      absl::StrAppend(&html, "<", tag, is_text ? " class=\"text\">" : ">",
                      EscapeHtml(cells[i]), "</", tag, ">");
    }
    html += "</tr>\n";
  };
  add_row(table.header, "th");
  for (const auto& row : table.rows) add_row(row, "td");
  html += "</table></div>";
  if (!table.note.empty()) {
    absl::StrAppend(&html, "\n<p>", EscapeHtml(table.note), "</p>");
  }
  return absl::StrCat(html, table.is_folded ? "</details>\n" : "\n");
}

std::string ToCsv(const Table& table) {
  std::string text;
  const auto add_row = [&](const std::vector<std::string>& cells) {
    absl::StrAppend(&text,
                    absl::StrJoin(cells, ",",
                                  [](std::string* out, const std::string& c) {
                                    *out += CsvCell(c);
                                  }),
                    "\r\n");
  };
  add_row(table.header);
  for (const auto& row : table.rows) add_row(row);
  return text;
}

}  // namespace ordo::report
