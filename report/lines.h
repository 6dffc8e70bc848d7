#ifndef ORDO_REPORT_LINES_H_
#define ORDO_REPORT_LINES_H_

#include <string>
#include <utility>
#include <vector>

#include "report/figure.h"

namespace ordo::report {

struct Line {
  std::string title;
  // By x.
  std::vector<std::pair<double, double>> points;
};

struct Lines {
  std::string title;
  std::string x_label;
  std::string y_label;
  // Values of 0 and below, which such an axis does not have, are left out.
  bool is_logarithmic = false;
  // Few points, of whole numbers, which are marked.
  bool has_marks = false;
  std::vector<Line> lines;
};

// Whether anything of them has a place on the axes.
bool CanDraw(const Lines& lines);

// What is not finite is left out, and lines of which nothing is left. REQUIRES:
// CanDraw(lines).
Figure LinePlot(const Lines& lines);

}  // namespace ordo::report

#endif  // ORDO_REPORT_LINES_H_
