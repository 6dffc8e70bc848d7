#include "report/summary/figures.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace ordo::report::summary {
namespace {

// Curves beyond have no title: there are no colours left to tell them apart.
constexpr size_t kMaxTitles = 20;
constexpr int kWidthPx = 720;
constexpr int kCurvesHeightPx = 420;
constexpr int kCostHeightPx = 400;
constexpr int kRowHeightPx = 34;
constexpr int kForestFramePx = 110;

// A range that holds all finite ones of the values and some room beside them.
class Range {
 public:
  explicit Range(double first) : low_(first), high_(first) {}

  void Add(double value) {
    if (!std::isfinite(value)) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  double low() const { return low_ - Room(); }
  double high() const { return high_ + Room(); }
  double Clip(double value) const {
    return std::min(std::max(value, low()), high());
  }

 private:
  double Room() const {
    const double width = high_ - low_;
    return width > 0 ? 0.08 * width : std::max(1e-3, 0.08 * std::fabs(low_));
  }

  double low_;
  double high_;
};

}  // namespace

Figure LearningCurves(const std::vector<Curve>& curves) {
  Figure figure;
  figure.width_px = kWidthPx;
  figure.height_px = kCurvesHeightPx;
  std::string& script = figure.script;
  absl::StrAppend(&script,
                  "set xlabel \"step\"\nset ylabel \"training loss (nats per "
                  "token)\"\nset grid ytics linecolor rgb '#dddddd'\n"
                  "set key outside top center horizontal\n"
                  "set tics nomirror\nset border 3\n");
  std::map<std::string, size_t> colors;
  std::vector<std::string> plots;
  for (size_t c = 0; c < curves.size(); ++c) {
    absl::StrAppend(&script, "$curve", c, " << EOD\n");
    for (const auto& [step, loss] : curves[c].points) {
      absl::StrAppendFormat(&script, "%d %.6g\n", step, loss);
    }
    absl::StrAppend(&script, "EOD\n");
    const auto [color, is_new] = colors.emplace(curves[c].part, colors.size());
    plots.push_back(absl::StrCat(
        "$curve", c, " with lines linewidth 1.5 linecolor rgb '",
        LineColor(color->second), "' ",
        is_new && colors.size() <= kMaxTitles
            ? absl::StrCat("title \"", GnuplotText(curves[c].part), "\"")
            : "notitle"));
  }
  absl::StrAppend(&script, "plot ", absl::StrJoin(plots, ", "), "\n");
  return figure;
}

Figure ForestPlot(const Comparison& comparison, const ComparedMetric& metric) {
  const auto& differences = metric.comparison->differences;
  const int num_rows = static_cast<int>(differences.size());
  Range range(0);
  for (const stats::ArmDifference& difference : differences) {
    range.Add(difference.mean);
    range.Add(difference.interval.low);
    range.Add(difference.interval.high);
  }
  Figure figure;
  figure.width_px = kWidthPx;
  figure.height_px = kForestFramePx + kRowHeightPx * num_rows;
  std::string& script = figure.script;
  absl::StrAppendFormat(
      &script,
      "set title \"%s\"\nset xlabel \"difference from %s, %.6g %% "
      "intervals\"\n"
      "set xrange [%.6g:%.6g]\nset yrange [0.4:%d.6]\nunset key\n"
      "set border 1\nset xtics nomirror\nset grid xtics linecolor rgb "
      "'#dddddd'\nset arrow 1 from 0,0.4 to 0,%d.6 nohead dashtype 2 linecolor "
      "rgb '#888888'\n",
      GnuplotText(Title(metric.key)),
      GnuplotText(comparison.arms[comparison.baseline]),
      100 * comparison.confidence, range.low(), range.high(), num_rows,
      num_rows);
  std::vector<std::string> names;
  absl::StrAppend(&script, "$rows << EOD\n");
  for (int i = 0; i < num_rows; ++i) {
    const stats::ArmDifference& difference = differences[i];
    // The first arm is on top.
    const int row = num_rows - i;
    names.push_back(
        absl::StrCat("\"", GnuplotText(difference.name), "\" ", row));
    absl::StrAppendFormat(&script, "%.6g %d %.6g %.6g\n", difference.mean, row,
                          range.Clip(difference.interval.low),
                          range.Clip(difference.interval.high));
  }
  absl::StrAppend(&script, "EOD\nset ytics scale 0 (",
                  absl::StrJoin(names, ", "),
                  ")\nplot $rows using 1:2:3:4 with xerrorbars linewidth 2 "
                  "pointtype 7 linecolor rgb '",
                  LineColor(0), "'\n");
  return figure;
}

Figure CostPlot(const Comparison& comparison, const ComparedMetric& metric) {
  Figure figure;
  figure.width_px = kWidthPx;
  figure.height_px = kCostHeightPx;
  std::string& script = figure.script;
  const auto& arms = metric.comparison->arms;
  Range costs(comparison.costs.front().device_seconds);
  Range values(arms.front().mean);
  for (size_t i = 0; i < arms.size(); ++i) {
    costs.Add(comparison.costs[i].device_seconds);
    values.Add(arms[i].mean);
    values.Add(arms[i].interval.low);
    values.Add(arms[i].interval.high);
  }
  absl::StrAppendFormat(
      &script,
      "set xlabel \"device time of a run (s)\"\nset ylabel \"%s\"\n"
      "set xrange [%.6g:%.6g]\nset yrange [%.6g:%.6g]\n"
      "set grid linecolor rgb '#dddddd'\nset key outside top center "
      "horizontal\nset tics nomirror\nset border 3\n",
      GnuplotText(Title(metric.key)), costs.low(), costs.high(), values.low(),
      values.high());
  std::vector<std::string> plots;
  for (size_t i = 0; i < arms.size(); ++i) {
    absl::StrAppendFormat(&script, "$arm%d << EOD\n%.6g %.6g %.6g %.6g\nEOD\n",
                          i, comparison.costs[i].device_seconds, arms[i].mean,
                          values.Clip(arms[i].interval.low),
                          values.Clip(arms[i].interval.high));
    plots.push_back(absl::StrFormat(
        "$arm%d using 1:2:3:4 with yerrorbars linewidth 2 pointtype %d "
        "linecolor rgb '%s' title \"%s\"",
        i, 5 + 2 * (i % 4), LineColor(i), GnuplotText(arms[i].name)));
  }
  absl::StrAppend(&script, "plot ", absl::StrJoin(plots, ", "), "\n");
  return figure;
}

}  // namespace ordo::report::summary
