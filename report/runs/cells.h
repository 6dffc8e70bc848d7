#ifndef ORDO_REPORT_RUNS_CELLS_H_
#define ORDO_REPORT_RUNS_CELLS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "report/figure.h"

namespace ordo::report::runs {

// What is right by two things, such as a length and a depth.
struct Cells {
  std::string x_label;
  std::string y_label;
  // What columns and rows are called; empty: their numbers, from 1.
  std::vector<std::string> columns = {};
  std::vector<std::string> row_names = {};
  // [row][column], shares of 1. Empty: the task has no cells.
  std::vector<std::vector<double>> shares = {};
  // So many columns and rows, the first ones, are of trained lengths; 0 where
  // that is not known.
  int trained_columns = 0;
  int trained_rows = 0;
};

// Reads the `cells` of an evaluation's result.json: by a length and a depth or
// task, or of two operands that are counted alike. Other tasks, and cells that
// are not all there, have none. INVALID_ARGUMENT names the field that has
// another type or shape.
absl::StatusOr<Cells> ParseCells(std::string_view json);

// A heat map, the trained lengths outlined. REQUIRES: cells.
Figure CellPlot(const std::string& title, const Cells& cells);

}  // namespace ordo::report::runs

#endif  // ORDO_REPORT_RUNS_CELLS_H_
