#include "services/cli/table.h"

#include <algorithm>

#include "base/check.h"

namespace ordo::services::cli {

Table::Table(std::vector<std::string> headings) {
  for (std::string& heading : headings) {
    const bool right = !heading.empty() && heading[0] == '>';
    right_.push_back(right);
    headings_.push_back(right ? heading.substr(1) : std::move(heading));
  }
}

void Table::AddRow(std::vector<Cell> cells) {
  ORDO_CHECK(cells.size() == headings_.size()) << "a cell per heading";
  rows_.push_back(std::move(cells));
}

std::string Table::ToString(const Terminal& terminal) const {
  std::vector<std::vector<Cell>> lines;
  lines.emplace_back();
  for (const std::string& heading : headings_) {
    lines.back().push_back(Cell(heading, Color::kBold));
  }
  lines.insert(lines.end(), rows_.begin(), rows_.end());

  std::vector<int> widths(headings_.size(), 0);
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], DisplayWidth(line[i].text));
    }
  }

  std::string text;
  for (const auto& line : lines) {
    std::string blanks;  // Written only when more follows on the line.
    for (size_t i = 0; i < line.size(); ++i) {
      const std::string padding(widths[i] - DisplayWidth(line[i].text), ' ');
      if (right_[i]) blanks += padding;
      if (!line[i].text.empty()) {
        text += blanks + Paint(terminal, line[i].color, line[i].text);
        blanks.clear();
      }
      if (!right_[i]) blanks += padding;
      blanks += "  ";
    }
    text += "\n";
  }
  return text;
}

std::string KeyValueLines(
    const std::vector<std::pair<std::string, Cell>>& lines,
    const Terminal& terminal) {
  int width = 0;
  for (const auto& [key, value] : lines) {
    width = std::max(width, DisplayWidth(key));
  }
  std::string text;
  for (const auto& [key, value] : lines) {
    const std::string padding(width - DisplayWidth(key), ' ');
    text += Paint(terminal, Color::kBold, key + ":") + padding + " " +
            Paint(terminal, value.color, value.text) + "\n";
  }
  return text;
}

}  // namespace ordo::services::cli
