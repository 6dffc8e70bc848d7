#include "report/lines.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace ordo::report {
namespace {

constexpr int kWidthPx = 720;
constexpr int kHeightPx = 420;
// Between marked points of two lines at one number.
constexpr double kBeside = 0.04;

bool HasPlace(double y, bool is_logarithmic) {
  return std::isfinite(y) && (!is_logarithmic || y > 0);
}

// Its points as they are drawn, one in each line of text.
std::string PointsOf(const Line& line, bool is_logarithmic) {
  std::string points;
  for (const LinePoint& point : line.points) {
    if (!HasPlace(point.y, is_logarithmic)) continue;
    absl::StrAppendFormat(&points, "%.6g %.6g\n", point.x, point.y);
  }
  return points;
}

// The same of those that have an interval, with its bounds.
std::string IntervalsOf(const Line& line, bool is_logarithmic) {
  std::string intervals;
  for (const LinePoint& point : line.points) {
    if (!HasPlace(point.y, is_logarithmic) ||
        !HasPlace(point.low, is_logarithmic) ||
        !HasPlace(point.high, is_logarithmic)) {
      continue;
    }
    absl::StrAppendFormat(&intervals, "%.6g %.6g %.6g %.6g\n", point.x, point.y,
                          point.low, point.high);
  }
  return intervals;
}

}  // namespace

bool CanDraw(const Lines& lines) {
  return std::any_of(lines.lines.begin(), lines.lines.end(),
                     [&](const Line& line) {
                       return !PointsOf(line, lines.is_logarithmic).empty();
                     });
}

Figure LinePlot(const Lines& lines) {
  Figure figure;
  figure.width_px = kWidthPx;
  figure.height_px = kHeightPx;
  std::string& script = figure.script;
  std::string title = GnuplotText(lines.title);
  if (!lines.note.empty()) {
    absl::StrAppend(&title, "\\n{/=9 ", GnuplotText(lines.note), "}");
  }
  absl::StrAppendFormat(
      &script,
      "set title \"%s\"\nset xlabel \"%s\"\nset ylabel \"%s\"\n"
      "set grid ytics linecolor rgb '#dddddd'\n"
      "set key outside top center horizontal\n"
      "set tics nomirror\nset border 3\n",
      title, GnuplotText(lines.x_label), GnuplotText(lines.y_label));
  if (lines.is_logarithmic) {
    script += "set logscale y\nset format y '10^{%L}'\n";
  }
  if (lines.has_marks) {
    script += "set xtics 1\nset autoscale xfix\nset offsets 0.3,0.3,0,0\n";
  }
  std::vector<std::string> plots;
  std::vector<std::string> in_front;
  for (size_t i = 0; i < lines.lines.size(); ++i) {
    const Line& line = lines.lines[i];
    const std::string points = PointsOf(line, lines.is_logarithmic);
    if (points.empty()) continue;
    const std::string color = LineColor(i);
    const std::string mark = absl::StrCat(" pointtype ", 5 + 2 * (i % 4));
    const double beside =
        kBeside * (static_cast<double>(i) -
                   static_cast<double>(lines.lines.size() - 1) / 2);
    const std::string x =
        lines.has_marks ? absl::StrFormat("($1%+.6g)", beside) : "1";
    absl::StrAppend(&script, "$line", i, " << EOD\n", points, "EOD\n");
    in_front.push_back(absl::StrCat(
        "$line", i, " using ", x, ":2 with ",
        lines.has_marks ? absl::StrCat("linespoints", mark) : "lines",
        " linewidth 2 linecolor rgb '", color, "' title \"",
        GnuplotText(line.title), "\""));
    const std::string intervals = IntervalsOf(line, lines.is_logarithmic);
    if (intervals.empty()) continue;
    absl::StrAppend(&script, "$interval", i, " << EOD\n", intervals, "EOD\n");
    plots.push_back(
        lines.has_marks
            ? absl::StrCat("$interval", i, " using ", x,
                           ":2:3:4 with yerrorbars", mark,
                           " linewidth 2 linecolor rgb '", color, "' notitle")
            : absl::StrCat("$interval", i,
                           " using 1:3:4 with filledcurves fillcolor rgb '",
                           color,
                           "' fillstyle transparent solid 0.15 noborder "
                           "notitle"));
  }
  plots.insert(plots.end(), in_front.begin(), in_front.end());
  absl::StrAppend(&script, "plot ", absl::StrJoin(plots, ", "), "\n");
  return figure;
}

}  // namespace ordo::report
