#ifndef ORDO_REPORT_SUMMARY_FIGURES_H_
#define ORDO_REPORT_SUMMARY_FIGURES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/figure.h"
#include "report/summary/comparison.h"
#include "report/summary/control.h"

// Figures of a summary. Pure functions, thread-safe.

namespace ordo::report::summary {

// Points of a curve in a figure, at most.
inline constexpr size_t kMaxCurvePoints = 400;

// The training loss of one part, or a score of its, by step.
struct Curve {
  // PartResult.part; parts of one name have one colour.
  std::string part;
  // Rising steps, nats per token or as the score is; at most kMaxCurvePoints.
  std::vector<std::pair<int64_t, double>> points;
  // Id of its job.
  std::string job = {};
};

// At most kMaxCurvePoints of the losses, by step: the first of each range of
// steps. Runs that are as long as each other keep the same steps, whatever else
// one of them recorded.
std::vector<std::pair<int64_t, double>> ThinOut(
    const std::map<int64_t, double>& losses);

// A line for each curve.
Figure LearningCurves(const std::vector<Curve>& curves);

// The runs of an arm at one step.
struct ArmPoint {
  int64_t step = 0;
  // Over the runs, and the least and the greatest of them.
  double mean = 0;
  double low = 0;
  double high = 0;
};

struct ArmCurve {
  std::string arm;
  int num_runs = 0;
  // At the steps that all its runs have, where their values are finite.
  std::vector<ArmPoint> points;
};

// The curves of one part put together, in the order of the parts.
std::vector<ArmCurve> ArmCurves(const std::vector<Curve>& curves);

// What the values of LearningCurves are.
inline constexpr char kLossLabel[] = "training loss (nats per token)";

// A line for the mean of each arm, in a band from its least to its greatest
// run; it says of how many seeds. `label` is of the values. REQUIRES: one of
// them has points.
Figure ArmCurvesFigure(const std::vector<ArmCurve>& curves,
                       const std::string& label);

// A score of the runs of a comparison at the steps that it was asked at.
struct StepScores {
  MetricKey key;
  std::vector<Curve> runs;
};

// The first score of each evaluation that a run was asked more than once, where
// tokenizers differ that is not by token; of runs that succeeded.
std::vector<StepScores> ScoresBySteps(
    const ordo::training::v1::SummarizeSpec& spec,
    const Tokenizers& tokenizers);

// The differences of the arms from the baseline with their intervals, one below
// the other, and zero marked. An interval is cut at what differences of shares
// can be; where there is none, the point stands without a bar.
// REQUIRES: metric.comparison is set.
Figure ForestPlot(const Comparison& comparison, const ComparedMetric& metric);

// The same of several scores of one evaluation, one below the other, where one
// arm is compared with the baseline.
// REQUIRES: there is one or more; of each metric.comparison is set, over as
// many seeds, with that one difference; all are better in the same direction.
Figure ScoreForest(const Comparison& comparison,
                   const std::vector<const ComparedMetric*>& metrics);

// A cost that scores are drawn against.
struct CostAxis {
  // Behind the names of its figures.
  const char* suffix;
  // For people, with the unit.
  const char* title;
  double ArmCost::*value;
  // What the value is divided by, to be in the unit of the title.
  double unit;
  // Its name among compared_costs; null: it is counted, not measured.
  const char* measured;
};

// The costs that all arms recorded.
std::vector<CostAxis> CostAxes(const Comparison& comparison);

// The mean of each arm over that of one of CostAxes, with their intervals over
// seeds, cut at what shares and costs can be; without a bar where there is no
// interval.
// REQUIRES: metric.comparison is set.
Figure CostPlot(const Comparison& comparison, const ComparedMetric& metric,
                const CostAxis& axis);

// Whether a point of ForestPlot, or of CostPlot, has no bar because its
// interval has no bounds. What is counted, not measured, has none to lack.
bool LacksBars(const ComparedMetric& metric);
bool LacksBars(const Comparison& comparison, const ComparedMetric& metric,
               const CostAxis& axis);

// "1 seed", "3 seeds".
std::string SeedsText(int num_seeds);

}  // namespace ordo::report::summary

#endif  // ORDO_REPORT_SUMMARY_FIGURES_H_
