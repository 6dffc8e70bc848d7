#ifndef ORDO_SERVICES_CLI_TABLE_H_
#define ORDO_SERVICES_CLI_TABLE_H_

#include <string>
#include <utility>
#include <vector>

#include "services/cli/terminal.h"

namespace ordo::services::cli {

struct Cell {
  Cell(std::string text, Color color = Color::kNone)  // NOLINT: brevity
      : text(Printable(text)), color(color) {}
  Cell(const char* text) : text(text) {}  // NOLINT: brevity

  std::string text;
  Color color = Color::kNone;
};

// Text in columns, two blanks apart, under a line of headings.
class Table {
 public:
  // A heading that starts with ">" makes its column flush right.
  explicit Table(std::vector<std::string> headings);

  // As many cells as there are headings.
  void AddRow(std::vector<Cell> cells);
  bool empty() const { return rows_.empty(); }

  std::string ToString(const Terminal& terminal) const;

 private:
  std::vector<std::string> headings_;
  std::vector<bool> right_;
  std::vector<std::vector<Cell>> rows_;
};

// "Name:   value" lines, the values under each other.
std::string KeyValueLines(
    const std::vector<std::pair<std::string, Cell>>& lines,
    const Terminal& terminal);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_TABLE_H_
