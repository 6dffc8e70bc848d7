#ifndef ORDO_REPORT_COLOR_MAP_H_
#define ORDO_REPORT_COLOR_MAP_H_

#include <string>
#include <vector>

#include "report/figure.h"

namespace ordo::report {

// A number for each row and column, both counted from 1; the first row is on
// top.
struct ColorMap {
  std::string title;
  // Of columns, rows and numbers.
  std::string x_label;
  std::string y_label;
  std::string value_label;
  // [row - 1][column - 1], all rows with as many; one or more.
  std::vector<std::vector<double>> rows;
  // What the darkest and the lightest colour mean, low < high.
  double low = 0;
  double high = 1;
  // Columns with a line, and with one of another colour.
  std::vector<int> marked;
  std::vector<int> marked_otherwise;
  // What columns and rows are called; empty: their numbers.
  std::vector<std::string> columns = {};
  std::vector<std::string> row_names = {};
  // The first so many columns and rows are outlined; 0 of one: nothing is.
  int outlined_columns = 0;
  int outlined_rows = 0;
};

Figure MapPlot(const ColorMap& map);

}  // namespace ordo::report

#endif  // ORDO_REPORT_COLOR_MAP_H_
