#include "report/summary/figures.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "report/forest.h"
#include "report/stats/arms.h"

namespace ordo::report::summary {
namespace {

// Curves beyond have no title: there are no colours left to tell them apart.
constexpr size_t kMaxTitles = 20;
constexpr int kWidthPx = 720;
constexpr int kCurvesHeightPx = 420;
constexpr int kCostHeightPx = 400;

// Axes for losses, or scores, over steps.
Figure StepAxes(const std::string& label) {
  Figure figure;
  figure.width_px = kWidthPx;
  figure.height_px = kCurvesHeightPx;
  figure.script =
      absl::StrCat("set xlabel \"step\"\nset ylabel \"", GnuplotText(label),
                   "\"\nset grid ytics linecolor rgb '#dddddd'\n"
                   "set key outside top center horizontal\n"
                   "set tics nomirror\nset border 3\n");
  return figure;
}

// The losses of all runs of an arm, by step.
std::map<int64_t, std::vector<double>> LossesByStep(
    const std::vector<const Curve*>& runs) {
  std::map<int64_t, std::vector<double>> losses;
  for (const Curve* run : runs) {
    for (const auto& [step, loss] : run->points) {
      if (std::isfinite(loss)) losses[step].push_back(loss);
    }
  }
  return losses;
}

// Of the mean cost of an arm, in the unit of the axis; the mean alone where it
// has no bounds or is not measured.
stats::Interval CostInterval(const Comparison& comparison, const CostAxis& axis,
                             size_t arm) {
  const double mean = comparison.costs[arm].*axis.value / axis.unit;
  for (const ComparedMetric& cost : comparison.compared_costs) {
    if (axis.measured == nullptr || cost.key.metric != axis.measured ||
        !cost.comparison.has_value()) {
      continue;
    }
    const stats::Interval& interval = cost.comparison->arms[arm].interval;
    if (std::isfinite(interval.low) && std::isfinite(interval.high)) {
      return {interval.low / axis.unit, interval.high / axis.unit};
    }
  }
  return {mean, mean};
}

}  // namespace

std::vector<std::pair<int64_t, double>> ThinOut(
    const std::map<int64_t, double>& losses) {
  std::vector<std::pair<int64_t, double>> points;
  if (losses.empty()) return points;
  const int64_t stride =
      losses.rbegin()->first / static_cast<int64_t>(kMaxCurvePoints) + 1;
  int64_t last_range = -1;
  for (const auto& [step, loss] : losses) {
    const int64_t range = step / stride;
    if (range != last_range) points.emplace_back(step, loss);
    last_range = range;
  }
  return points;
}

std::vector<ArmCurve> ArmCurves(const std::vector<Curve>& curves) {
  std::vector<ArmCurve> arms;
  std::map<std::string, std::vector<const Curve*>> runs;
  for (const Curve& curve : curves) {
    std::vector<const Curve*>& of_arm = runs[curve.part];
    if (of_arm.empty()) arms.push_back({curve.part, 0, {}});
    of_arm.push_back(&curve);
  }
  for (ArmCurve& arm : arms) {
    const std::vector<const Curve*>& of_arm = runs.at(arm.arm);
    arm.num_runs = static_cast<int>(of_arm.size());
    for (const auto& [step, losses] : LossesByStep(of_arm)) {
      if (losses.size() < of_arm.size()) continue;
      const auto [low, high] =
          std::minmax_element(losses.begin(), losses.end());
      const double sum = std::accumulate(losses.begin(), losses.end(), 0.0);
      arm.points.push_back(
          {step, sum / static_cast<double>(losses.size()), *low, *high});
    }
  }
  return arms;
}

Figure ArmCurvesFigure(const std::vector<ArmCurve>& curves,
                       const std::string& label) {
  Figure figure = StepAxes(label);
  std::vector<std::string> bands;
  std::vector<std::string> lines;
  for (size_t c = 0; c < curves.size(); ++c) {
    if (curves[c].points.empty()) continue;
    absl::StrAppend(&figure.script, "$arm", c, " << EOD\n");
    for (const ArmPoint& point : curves[c].points) {
      absl::StrAppendFormat(&figure.script, "%d %.6g %.6g %.6g\n", point.step,
                            point.mean, point.low, point.high);
    }
    absl::StrAppend(&figure.script, "EOD\n");
    const std::string color = LineColor(c);
    bands.push_back(absl::StrFormat(
        "$arm%d using 1:3:4 with filledcurves fillcolor rgb '%s' fillstyle "
        "transparent solid 0.2 noborder notitle",
        c, color));
    lines.push_back(absl::StrFormat(
        "$arm%d using 1:2 with lines linewidth 2 linecolor rgb '%s' title "
        "\"%s (%d)\"",
        c, color, GnuplotText(curves[c].arm), curves[c].num_runs));
  }
  // Lines in front of all bands.
  bands.insert(bands.end(), lines.begin(), lines.end());
  absl::StrAppend(&figure.script, "plot ", absl::StrJoin(bands, ", "), "\n");
  return figure;
}

std::vector<StepScores> ScoresBySteps(
    const ordo::training::v1::SummarizeSpec& spec) {
  // By evaluation and score, and by run.
  std::map<MetricKey, std::map<int, std::map<int64_t, double>>> scores;
  for (int i = 0; i < spec.parts_size(); ++i) {
    const auto& part = spec.parts(i);
    if (!IsRun(part) || !HasSucceeded(part)) continue;
    for (const auto& report : part.reports()) {
      for (const auto& [name, value] : report.metrics()) {
        scores[{report.evaluation(), name}][i][report.step()] = value;
      }
    }
  }
  std::vector<StepScores> all;
  std::set<std::string> seen;
  for (const auto& [key, runs] : scores) {
    if (!seen.insert(key.evaluation).second) continue;
    StepScores of_key{key, {}};
    bool is_curve = false;
    for (const auto& [part, points] : runs) {
      is_curve = is_curve || points.size() > 1;
      of_key.runs.push_back(
          {spec.parts(part).part(), ThinOut(points), spec.parts(part).job()});
    }
    if (is_curve) all.push_back(std::move(of_key));
  }
  return all;
}

Figure LearningCurves(const std::vector<Curve>& curves) {
  Figure figure = StepAxes(kLossLabel);
  std::string& script = figure.script;
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
  Forest forest;
  forest.title = Title(metric.key);
  forest.x_label = absl::StrFormat("difference from %s, %.6g %% intervals",
                                   comparison.arms[comparison.baseline],
                                   100 * comparison.confidence);
  for (const auto& difference : metric.comparison->differences) {
    forest.rows.push_back({difference.name, difference.mean,
                           difference.interval.low, difference.interval.high});
  }
  return report::ForestPlot(forest);
}

std::vector<CostAxis> CostAxes(const Comparison& comparison) {
  constexpr CostAxis kAll[] = {
      {"", "device time of a run (s)", &ArmCost::device_seconds, 1,
       "device_seconds"},
      {"-step-time", "device time of a step (s)", &ArmCost::step_device_seconds,
       1, "step_device_seconds"},
      {"-flops", "work of a step (GFLOP)", &ArmCost::step_flops, 1e9, nullptr},
      {"-memory", "peak memory of a run (MiB)", &ArmCost::peak_memory_bytes,
       1 << 20, "peak_memory_bytes"}};
  std::vector<CostAxis> axes;
  for (const CostAxis& axis : kAll) {
    const bool is_known = std::all_of(
        comparison.costs.begin(), comparison.costs.end(),
        [&axis](const ArmCost& cost) { return cost.*axis.value > 0; });
    if (is_known) axes.push_back(axis);
  }
  return axes;
}

Figure CostPlot(const Comparison& comparison, const ComparedMetric& metric,
                const CostAxis& axis) {
  Figure figure;
  figure.width_px = kWidthPx;
  figure.height_px = kCostHeightPx;
  std::string& script = figure.script;
  const auto& arms = metric.comparison->arms;
  const auto cost_of = [&](size_t arm) {
    return comparison.costs[arm].*axis.value / axis.unit;
  };
  std::vector<stats::Interval> cost_intervals;
  for (size_t i = 0; i < arms.size(); ++i) {
    cost_intervals.push_back(CostInterval(comparison, axis, i));
  }
  FigureRange costs(cost_of(0));
  FigureRange values(arms.front().mean);
  for (size_t i = 0; i < arms.size(); ++i) {
    costs.Add(cost_of(i));
    costs.Add(cost_intervals[i].low);
    costs.Add(cost_intervals[i].high);
    values.Add(arms[i].mean);
    values.Add(arms[i].interval.low);
    values.Add(arms[i].interval.high);
  }
  absl::StrAppendFormat(
      &script,
      "set xlabel \"%s\"\nset ylabel \"%s\"\n"
      "set xrange [%.6g:%.6g]\nset yrange [%.6g:%.6g]\n"
      "set grid linecolor rgb '#dddddd'\nset key outside top center "
      "horizontal\nset tics nomirror\nset border 3\n",
      axis.title, GnuplotText(Title(metric.key)), costs.low(), costs.high(),
      values.low(), values.high());
  std::vector<std::string> plots;
  for (size_t i = 0; i < arms.size(); ++i) {
    absl::StrAppendFormat(
        &script, "$arm%d << EOD\n%.6g %.6g %.6g %.6g %.6g %.6g\nEOD\n", i,
        cost_of(i), arms[i].mean, cost_intervals[i].low, cost_intervals[i].high,
        values.Clip(arms[i].interval.low), values.Clip(arms[i].interval.high));
    plots.push_back(absl::StrFormat(
        "$arm%d using 1:2:3:4:5:6 with xyerrorbars linewidth 2 pointtype %d "
        "linecolor rgb '%s' title \"%s\"",
        i, 5 + 2 * (i % 4), LineColor(i), GnuplotText(arms[i].name)));
  }
  absl::StrAppend(&script, "plot ", absl::StrJoin(plots, ", "), "\n");
  return figure;
}

}  // namespace ordo::report::summary
