#include "report/summary/figures.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "report/forest.h"
#include "report/stats/arms.h"
#include "report/summary/score_kind.h"

namespace ordo::report::summary {
namespace {

// Curves beyond have no title: there are no colours left to tell them apart.
constexpr size_t kMaxTitles = 20;
constexpr int kWidthPx = 720;
constexpr int kCurvesHeightPx = 420;
constexpr int kCostHeightPx = 400;
// A mean of shares may be so far outside of 0 to 1.
constexpr double kRounding = 1e-6;

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

// How many runs the lines and bands of arms are of: the same number of all, or
// 0 where arms differ, or have none.
int RunsOfEach(const std::vector<ArmCurve>& curves) {
  int num_runs = 0;
  for (const ArmCurve& curve : curves) {
    if (curve.points.empty()) continue;
    if (num_runs > 0 && curve.num_runs != num_runs) return 0;
    num_runs = curve.num_runs;
  }
  return num_runs;
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

// What the values of a score can be.
stats::Interval PossibleValues(const ComparedMetric& metric) {
  const auto& arms = metric.comparison->arms;
  const bool is_share =
      KindOf(metric.key.metric).is_share &&
      std::all_of(arms.begin(), arms.end(), [](const stats::ArmSummary& arm) {
        return arm.mean >= -kRounding && arm.mean <= 1 + kRounding;
      });
  if (is_share) return {0, 1};
  return {-INFINITY, INFINITY};
}

// What is drawn of an interval: nothing without bounds.
std::optional<stats::Interval> BarOf(const stats::Interval& interval,
                                     const stats::Interval& possible) {
  if (!std::isfinite(interval.low) || !std::isfinite(interval.high)) {
    return std::nullopt;
  }
  return stats::Interval{std::max(interval.low, possible.low),
                         std::min(interval.high, possible.high)};
}

ForestRow RowOf(const ComparedMetric& metric,
                const stats::ArmDifference& difference,
                const std::string& name) {
  const stats::Interval values = PossibleValues(metric);
  const auto bar = BarOf(difference.interval,
                         {values.low - values.high, values.high - values.low});
  return {name, difference.mean, bar.has_value() ? bar->low : -INFINITY,
          bar.has_value() ? bar->high : INFINITY};
}

bool AnyHasBar(const Forest& forest) {
  return std::any_of(
      forest.rows.begin(), forest.rows.end(),
      [](const ForestRow& row) { return std::isfinite(row.low); });
}

// Of the mean cost of an arm, in the unit of the axis.
std::optional<stats::Interval> CostBar(const Comparison& comparison,
                                       const CostAxis& axis, size_t arm) {
  for (const ComparedMetric& cost : comparison.compared_costs) {
    if (axis.measured == nullptr || cost.key.metric != axis.measured ||
        !cost.comparison.has_value()) {
      continue;
    }
    const stats::Interval& interval = cost.comparison->arms[arm].interval;
    return BarOf({interval.low / axis.unit, interval.high / axis.unit},
                 {0, INFINITY});
  }
  return std::nullopt;
}

// An arm in a figure of scores over costs.
struct CostPoint {
  double cost = 0;
  double score = 0;
  std::optional<stats::Interval> cost_bar;
  std::optional<stats::Interval> score_bar;
};

std::vector<CostPoint> CostPoints(const Comparison& comparison,
                                  const ComparedMetric& metric,
                                  const CostAxis& axis) {
  const auto& arms = metric.comparison->arms;
  const stats::Interval possible = PossibleValues(metric);
  std::vector<CostPoint> points;
  for (size_t i = 0; i < arms.size(); ++i) {
    points.push_back({comparison.costs[i].*axis.value / axis.unit, arms[i].mean,
                      CostBar(comparison, axis, i),
                      BarOf(arms[i].interval, possible)});
  }
  return points;
}

// The columns of $arm<i> that are drawn, and how.
const char* StyleOf(const CostPoint& point) {
  if (point.cost_bar.has_value() && point.score_bar.has_value()) {
    return "1:2:3:4:5:6 with xyerrorbars";
  }
  if (point.cost_bar.has_value()) return "1:2:3:4 with xerrorbars";
  if (point.score_bar.has_value()) return "1:2:5:6 with yerrorbars";
  return "1:2 with points";
}

// What the points and bars of a figure of scores over costs are.
std::string CostTitle(const Comparison& comparison,
                      const ComparedMetric& metric,
                      const std::vector<CostPoint>& points) {
  const int num_scored = metric.comparison->num_seeds;
  const int num_costed = comparison.costs.front().num_seeds;
  const std::string better = KindOf(metric.key.metric).better;
  std::string title =
      better.empty() ? "" : absl::StrCat(metric.key.metric, ": ", better, "; ");
  absl::StrAppend(&title, "means over ", SeedsText(num_scored));
  if (num_costed != num_scored) {
    absl::StrAppend(&title, ", of costs over ", num_costed);
  }
  const bool has_bars =
      std::any_of(points.begin(), points.end(), [](const CostPoint& point) {
        return point.cost_bar.has_value() || point.score_bar.has_value();
      });
  if (has_bars) {
    absl::StrAppendFormat(&title, ", bars: %.6g %% intervals",
                          100 * comparison.confidence);
  }
  return title;
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
  const int num_runs = RunsOfEach(curves);
  absl::StrAppend(&figure.script, "set title \"",
                  num_runs > 0
                      ? absl::StrCat("mean and range of ", num_runs,
                                     num_runs == 1 ? " seed" : " seeds")
                      : "mean and range of seeds, as many as in brackets",
                  "\" font ',11'\n");
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
        "\"%s%s\"",
        c, color, GnuplotText(curves[c].arm),
        num_runs > 0 ? "" : absl::StrCat(" (", curves[c].num_runs, ")")));
  }
  // Lines in front of all bands.
  bands.insert(bands.end(), lines.begin(), lines.end());
  absl::StrAppend(&figure.script, "plot ", absl::StrJoin(bands, ", "), "\n");
  return figure;
}

std::vector<StepScores> ScoresBySteps(
    const ordo::training::v1::SummarizeSpec& spec,
    const Tokenizers& tokenizers) {
  // By evaluation and score, and by run.
  std::map<MetricKey, std::map<int, std::map<int64_t, double>>> scores;
  for (int i = 0; i < spec.parts_size(); ++i) {
    const auto& part = spec.parts(i);
    if (!IsRun(part) || !HasSucceeded(part)) continue;
    for (const auto& report : part.reports()) {
      for (const auto& [name, value] : report.metrics()) {
        if (KindOf(name).is_by_token &&
            TokenizersDiffer(tokenizers, report.evaluation())) {
          continue;
        }
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

std::string SeedsText(int num_seeds) {
  return absl::StrCat(num_seeds, num_seeds == 1 ? " seed" : " seeds");
}

bool LacksBars(const ComparedMetric& metric) {
  const auto& differences = metric.comparison->differences;
  return std::any_of(differences.begin(), differences.end(),
                     [](const stats::ArmDifference& difference) {
                       return !std::isfinite(difference.interval.low);
                     });
}

bool LacksBars(const Comparison& comparison, const ComparedMetric& metric,
               const CostAxis& axis) {
  const std::vector<CostPoint> points = CostPoints(comparison, metric, axis);
  return std::any_of(points.begin(), points.end(), [&](const CostPoint& point) {
    return !point.score_bar.has_value() ||
           (axis.measured != nullptr && !point.cost_bar.has_value());
  });
}

Figure ForestPlot(const Comparison& comparison, const ComparedMetric& metric) {
  Forest forest;
  forest.title = Title(metric.key);
  for (const auto& difference : metric.comparison->differences) {
    forest.rows.push_back(RowOf(metric, difference, difference.name));
  }
  forest.x_label = absl::StrCat(
      "difference from ", comparison.arms[comparison.baseline],
      BetterText(metric.key.metric),
      AnyHasBar(forest)
          ? absl::StrFormat(", joint %.6g %%", 100 * comparison.confidence)
          : "",
      ", ", SeedsText(metric.comparison->num_seeds));
  return report::ForestPlot(forest);
}

Figure ScoreForest(const Comparison& comparison,
                   const std::vector<const ComparedMetric*>& metrics) {
  const ComparedMetric& first = *metrics.front();
  Forest forest;
  forest.title = absl::StrCat(first.key.evaluation, ": ",
                              first.comparison->differences.front().name,
                              " less ", comparison.arms[comparison.baseline]);
  for (const ComparedMetric* metric : metrics) {
    forest.rows.push_back(RowOf(
        *metric, metric->comparison->differences.front(), metric->key.metric));
  }
  forest.x_label = absl::StrCat(
      "difference", BetterText(first.key.metric),
      AnyHasBar(forest)
          ? absl::StrFormat(", %.6g %% of each", 100 * comparison.confidence)
          : "",
      ", ", SeedsText(first.comparison->num_seeds));
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
  const std::vector<CostPoint> points = CostPoints(comparison, metric, axis);
  FigureRange costs(points.front().cost);
  FigureRange values(points.front().score);
  std::string data;
  std::vector<std::string> plots;
  for (size_t i = 0; i < points.size(); ++i) {
    const CostPoint& point = points[i];
    const stats::Interval cost =
        point.cost_bar.value_or(stats::Interval{point.cost, point.cost});
    const stats::Interval score =
        point.score_bar.value_or(stats::Interval{point.score, point.score});
    for (const double value : {point.cost, cost.low, cost.high}) {
      costs.Add(value);
    }
    for (const double value : {point.score, score.low, score.high}) {
      values.Add(value);
    }
    absl::StrAppendFormat(
        &data, "$arm%d << EOD\n%.6g %.6g %.6g %.6g %.6g %.6g\nEOD\n", i,
        point.cost, point.score, cost.low, cost.high, score.low, score.high);
    plots.push_back(absl::StrFormat(
        "$arm%d using %s linewidth 2 pointtype %d linecolor rgb '%s' title "
        "\"%s\"",
        i, StyleOf(point), 5 + 2 * (i % 4), LineColor(i),
        GnuplotText(metric.comparison->arms[i].name)));
  }
  absl::StrAppendFormat(
      &script,
      "set title \"%s\" font ',11'\nset xlabel \"%s\"\nset ylabel \"%s\"\n"
      "set xrange [%.6g:%.6g]\nset yrange [%.6g:%.6g]\n"
      "set grid linecolor rgb '#dddddd'\nset key outside top center "
      "horizontal\nset tics nomirror\nset border 3\n",
      GnuplotText(CostTitle(comparison, metric, points)), axis.title,
      GnuplotText(Title(metric.key)), costs.low(), costs.high(), values.low(),
      values.high());
  absl::StrAppend(&script, data, "plot ", absl::StrJoin(plots, ", "), "\n");
  return figure;
}

}  // namespace ordo::report::summary
