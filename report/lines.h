#ifndef ORDO_REPORT_LINES_H_
#define ORDO_REPORT_LINES_H_

#include <limits>
#include <string>
#include <vector>

#include "report/figure.h"

namespace ordo::report {

struct LinePoint {
  double x = 0;
  double y = 0;
  // Of its interval; infinite where that is not known.
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

struct Line {
  std::string title;
  // By x.
  std::vector<LinePoint> points;
};

struct Lines {
  std::string title;
  std::string x_label;
  std::string y_label;
  // Values of 0 and below, which such an axis does not have, are left out.
  bool is_logarithmic = false;
  // Few points, of whole numbers, which are marked, with bars for intervals;
  // lines stand beside each other there, so that equal ones are all seen.
  // Others have bands.
  bool has_marks = false;
  std::vector<Line> lines;
  // In small letters below the title; empty: nothing.
  std::string note = {};
};

// Whether anything of them has a place on the axes.
bool CanDraw(const Lines& lines);

// What is not finite is left out, and lines of which nothing is left, and
// intervals of which a bound has no place on the axis. REQUIRES:
// CanDraw(lines).
Figure LinePlot(const Lines& lines);

}  // namespace ordo::report

#endif  // ORDO_REPORT_LINES_H_
