#ifndef ORDO_TESTS_BENCH_PANELS_H_
#define ORDO_TESTS_BENCH_PANELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "report/figure.h"

// Small figures beside each other: what the programs that measure kernels draw.

namespace ordo::tests::bench {

// Of a line: N, the median, the smallest and the largest.
struct Point {
  int64_t length = 0;
  double y = 0;
  double low = 0;
  double high = 0;
};

struct Line {
  // "fp32", "bf16, d=128".
  std::string title;
  // What kernels replace.
  bool dashed = false;
  std::vector<Point> points;
};

// A small figure, of one class or map; all have the same axes.
struct Panel {
  std::string title;
  std::vector<Line> lines;

  // Of the line of that title.
  void Add(const std::string& line, bool dashed, const Point& point);
};

// Panels in the order in which they come.
class Panels {
 public:
  // The one of that title.
  Panel& Of(const std::string& title);

  const std::vector<Panel>& all() const { return panels_; }

  // Titles of lines, each once; its place is that of its colour.
  std::vector<std::string> Titles() const;

  bool HasDashed() const;

 private:
  std::vector<Panel> panels_;
};

// What is said of all panels.
struct Frame {
  std::string title;
  std::string conditions;
  // The axis is logarithmic.
  std::string y_label;
  // Where a grey line is drawn, and what it is; 0: nowhere.
  double level = 0;
  std::string grey = "";
  // What dashed lines are.
  std::string dashed = "";
};

// All panels on the same axes, over N; nothing where there are none.
report::Figure DrawPanels(const Panels& panels, const Frame& frame);

struct NamedFigure {
  // Of the files, without what says their form.
  std::string name;
  report::Figure figure;
};

// Each with something to show as SVG and PNG, in a folder that is made.
absl::Status WriteFigures(const std::vector<NamedFigure>& figures,
                          const std::string& folder);

}  // namespace ordo::tests::bench

#endif  // ORDO_TESTS_BENCH_PANELS_H_
