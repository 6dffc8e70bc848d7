#ifndef ORDO_REPORT_FOREST_H_
#define ORDO_REPORT_FOREST_H_

#include <string>
#include <vector>

#include "report/figure.h"

namespace ordo::report {

// The finite ones of some values, and some room beside them, as an axis shows
// them.
class FigureRange {
 public:
  explicit FigureRange(double first) : low_(first), high_(first) {}

  void Add(double value);
  double low() const { return low_ - Room(); }
  double high() const { return high_ + Room(); }
  // The nearest value inside.
  double Clip(double value) const;

 private:
  double Room() const;

  double low_;
  double high_;
};

struct ForestRow {
  std::string name;
  double mean = 0;
  // Infinite where there is no bound.
  double low = 0;
  double high = 0;
};

// Differences with their intervals, one below the other.
struct Forest {
  std::string title;
  std::string x_label;
  // The first is on top.
  std::vector<ForestRow> rows;
  // Where a dotted line stands beside that at zero.
  std::vector<double> marks;
};

// An interval with one bound reaches the edge on the other side; where there is
// no bound the point stands without a bar.
Figure ForestPlot(const Forest& forest);

}  // namespace ordo::report

#endif  // ORDO_REPORT_FOREST_H_
