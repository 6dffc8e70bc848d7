#ifndef ORDO_REPORT_SUMMARY_FIGURES_H_
#define ORDO_REPORT_SUMMARY_FIGURES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/figure.h"
#include "report/summary/comparison.h"

// Figures of a summary. Pure functions, thread-safe.

namespace ordo::report::summary {

// Points of a curve in a figure, at most.
inline constexpr size_t kMaxCurvePoints = 400;

// The training loss of one part, by step.
struct Curve {
  // PartResult.part; parts of one name have one colour.
  std::string part;
  // Rising steps, nats per token; at most kMaxCurvePoints.
  std::vector<std::pair<int64_t, double>> points;
};

// A line for each curve.
Figure LearningCurves(const std::vector<Curve>& curves);

// The differences of the arms from the baseline with their intervals, one below
// the other, and zero marked. An interval without bounds reaches the edge.
// REQUIRES: metric.comparison is set.
Figure ForestPlot(const Comparison& comparison, const ComparedMetric& metric);

// The mean of each arm, with its interval, over the device time of a run.
// REQUIRES: metric.comparison is set.
Figure CostPlot(const Comparison& comparison, const ComparedMetric& metric);

}  // namespace ordo::report::summary

#endif  // ORDO_REPORT_SUMMARY_FIGURES_H_
