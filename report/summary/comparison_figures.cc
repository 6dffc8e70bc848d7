#include "report/summary/comparison_figures.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "report/figure.h"
#include "report/grid.h"
#include "report/statistics.h"
#include "report/summary/results.h"
#include "report/summary/score_kind.h"

namespace ordo::report::summary {
namespace {

using ordo::training::v1::PartResult;
using ordo::training::v1::SummarizeSpec;

constexpr char kNoBar[] =
    " A point has no bar where there is one seed, or seeds are alike: how far "
    "others would differ is not known.";

bool HasFigure(const ComparedMetric& metric) {
  return metric.comparison.has_value() &&
         !metric.comparison->differences.empty();
}

// "grid: grid_mean (more is better)".
std::string FullTitle(const MetricKey& key) {
  return absl::StrCat(Title(key), BetterText(key.metric));
}

// Scores whose differences stand in one figure.
using MetricGroup = std::vector<const ComparedMetric*>;

// Whether both have one difference each, on one scale and in one direction.
bool StandTogether(const ComparedMetric& a, const ComparedMetric& b) {
  const ScoreKind kind = KindOf(a.key.metric);
  const ScoreKind other = KindOf(b.key.metric);
  return a.key.evaluation == b.key.evaluation &&
         a.comparison->differences.size() == 1 &&
         b.comparison->differences.size() == 1 &&
         a.comparison->num_seeds == b.comparison->num_seeds && kind.is_share &&
         other.is_share && kind.better == other.better;
}

std::vector<MetricGroup> ForestGroups(const Comparison& comparison) {
  std::vector<MetricGroup> groups;
  for (const ComparedMetric& metric : comparison.metrics) {
    if (!HasFigure(metric)) continue;
    const auto group = std::find_if(
        groups.begin(), groups.end(), [&metric](const MetricGroup& each) {
          return each.size() < kMaxForestRows &&
                 StandTogether(*each.front(), metric);
        });
    if (group == groups.end()) {
      groups.push_back({&metric});
    } else {
      group->push_back(&metric);
    }
  }
  return groups;
}

std::string DifferenceCaption(const Comparison& comparison,
                              const ComparedMetric& metric) {
  return absl::StrCat(FullTitle(metric.key), ": each arm less ",
                      comparison.arms[comparison.baseline], ", over ",
                      SeedsText(metric.comparison->num_seeds),
                      ", with intervals that hold for all arms together (",
                      absl::StrFormat("%g", 100 * comparison.confidence),
                      " %).");
}

std::string GroupCaption(const Comparison& comparison,
                         const MetricGroup& metrics) {
  const ComparedMetric& first = *metrics.front();
  return absl::StrCat(
      first.key.evaluation, BetterText(first.key.metric), ": ",
      first.comparison->differences.front().name, " less ",
      comparison.arms[comparison.baseline], " in each score, over ",
      SeedsText(first.comparison->num_seeds), ", with an interval of each (",
      absl::StrFormat("%g", 100 * comparison.confidence), " %).");
}

bool LacksIntervals(const ComparedLengths& compared) {
  for (const LengthCurve& curve : compared.arms) {
    for (const LengthPoint& point : curve.points) {
      if (!std::isfinite(point.low)) return true;
    }
  }
  return false;
}

std::string LengthCaption(const ComparedLengths& compared) {
  std::string caption = absl::StrCat(
      compared.evaluation, ": ", ScoreText(compared), " against ", compared.by,
      compared.num_seeds > 1
          ? absl::StrCat(", means over ", compared.num_seeds,
                         " seeds with their intervals (pointwise, ",
                         absl::StrFormat("%g", 100 * compared.confidence),
                         " %).")
          : ", of one seed.");
  if (compared.num_seeds > 1 && LacksIntervals(compared)) {
    caption +=
        " Where the seeds of an arm score alike there is no interval: how "
        "far others would differ is not known.";
  }
  caption += TrainedText(compared);
  if (!compared.tokenizers.empty()) {
    absl::StrAppend(&caption, " Tokenizer: ", compared.tokenizers, ".");
  }
  if (!compared.left_out.empty()) {
    absl::StrAppend(&caption, " Left out, as a run has no finite score: ",
                    absl::StrJoin(compared.left_out, ", "), ".");
  }
  return caption;
}

// How far a share of so many answers may be off.
std::string CellBounds(int samples) {
  const Share none = WilsonInterval(0, samples);
  const Share half = WilsonInterval(samples / 2, samples);
  return absl::StrFormat(
      " At 95 %% (Wilson, over the questions alone) 0 right of %d leave up to "
      "%.1f %%, %d right %.1f to %.1f %%; cells.csv (of `ordo report` "
      "report-cells.csv) has all.",
      samples, 100 * none.high, samples / 2, 100 * half.low, 100 * half.high);
}

}  // namespace

std::vector<NamedFigure> DifferenceFigures(const Comparison& comparison) {
  std::vector<NamedFigure> figures;
  for (const MetricGroup& metrics : ForestGroups(comparison)) {
    if (figures.size() == kMaxForestPlots) break;
    const bool is_one = metrics.size() == 1;
    std::string caption = is_one
                              ? DifferenceCaption(comparison, *metrics.front())
                              : GroupCaption(comparison, metrics);
    const bool lacks_bars = std::any_of(
        metrics.begin(), metrics.end(),
        [](const ComparedMetric* metric) { return LacksBars(*metric); });
    if (lacks_bars) caption += kNoBar;
    figures.push_back({absl::StrCat("difference-", figures.size() + 1),
                       std::move(caption),
                       is_one ? ForestPlot(comparison, *metrics.front())
                              : ScoreForest(comparison, metrics)});
  }
  return figures;
}

std::vector<NamedFigure> LengthFigures(
    const std::vector<ComparedLengths>& all) {
  std::vector<NamedFigure> figures;
  for (const ComparedLengths& compared : all) {
    if (figures.size() == kMaxForestPlots) break;
    figures.push_back({absl::StrCat("lengths-", figures.size() + 1),
                       LengthCaption(compared), LengthPlot(compared)});
  }
  return figures;
}

std::vector<NamedFigure> GridFigures(const std::vector<ArmGrid>& grids) {
  std::vector<NamedFigure> figures;
  for (const ArmGrid& of_arm : grids) {
    if (figures.size() == kMaxForestPlots) break;
    const Grid& grid = of_arm.grid;
    std::string caption =
        absl::StrCat(of_arm.evaluation, ", ", grid.name,
                     ": share of sums that are right in every digit, mean "
                     "over ",
                     SeedsText(of_arm.num_seeds), ".");
    if (grid.trained_digits > 0) {
      absl::StrAppend(&caption, " Trained on up to ", grid.trained_digits,
                      " digits.");
    }
    caption += CellBounds(grid.samples);
    Grid titled = grid;
    titled.name = CellsTitle(of_arm);
    figures.push_back({absl::StrCat("heat-map-", figures.size() + 1),
                       std::move(caption), HeatMap(titled)});
  }
  return figures;
}

std::vector<NamedFigure> StepFigures(const SummarizeSpec& runs,
                                     const Comparison& comparison) {
  std::vector<NamedFigure> figures;
  for (const StepScores& scores : ScoresBySteps(runs, comparison.tokenizers)) {
    const std::vector<ArmCurve> arms = ArmCurves(scores.runs);
    const bool has_points =
        std::any_of(arms.begin(), arms.end(),
                    [](const ArmCurve& arm) { return arm.points.size() > 1; });
    if (!has_points) continue;
    if (figures.size() == kMaxForestPlots) break;
    figures.push_back(
        {absl::StrCat("steps-", figures.size() + 1),
         absl::StrCat(Title(scores.key),
                      " over the steps of training: the mean over the runs of "
                      "each arm, in a band from the least to the greatest of "
                      "them."),
         ArmCurvesFigure(arms, Title(scores.key))});
  }
  return figures;
}

std::vector<NamedFigure> LossFigures(const SummarizeSpec& spec,
                                     const std::vector<Curve>& curves) {
  std::set<std::string> succeeded;
  for (const PartResult& part : spec.parts()) {
    if (HasSucceeded(part) && IsRun(part)) succeeded.insert(part.job());
  }
  std::vector<Curve> whole;
  for (const Curve& curve : curves) {
    if (succeeded.count(curve.job) > 0) whole.push_back(curve);
  }
  const std::vector<ArmCurve> arms = ArmCurves(whole);
  const bool has_band =
      std::any_of(arms.begin(), arms.end(), [](const ArmCurve& arm) {
        return arm.num_runs > 1 && !arm.points.empty();
      });
  std::vector<NamedFigure> figures;
  if (!has_band) return figures;
  figures.push_back(
      {"learning-curves-of-arms",
       "Training loss: the mean over the runs of each arm that succeeded, in a "
       "band from the best to the worst of them.",
       ArmCurvesFigure(arms, kLossLabel)});
  return figures;
}

std::vector<NamedFigure> CostFigures(const Comparison& comparison) {
  std::vector<NamedFigure> figures;
  std::set<std::string> costed;
  for (const ComparedMetric& metric : comparison.metrics) {
    if (!HasFigure(metric) || !costed.insert(metric.key.evaluation).second) {
      continue;
    }
    for (const CostAxis& axis : CostAxes(comparison)) {
      std::string caption = absl::StrCat(
          FullTitle(metric.key), " against the ", axis.title, ", means over ",
          SeedsText(metric.comparison->num_seeds), " with intervals of each (",
          absl::StrFormat("%g", 100 * comparison.confidence), " %).");
      if (axis.measured == nullptr) caption += " The work is counted.";
      if (LacksBars(comparison, metric, axis)) caption += kNoBar;
      figures.push_back({absl::StrCat("cost-", costed.size(), axis.suffix),
                         std::move(caption),
                         CostPlot(comparison, metric, axis)});
    }
  }
  return figures;
}

}  // namespace ordo::report::summary
