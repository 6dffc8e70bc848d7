#ifndef ORDO_REPORT_SUMMARY_COMPARISON_FIGURES_H_
#define ORDO_REPORT_SUMMARY_COMPARISON_FIGURES_H_

#include <cstddef>
#include <vector>

#include "proto/ordo/training/v1/spec.pb.h"
#include "report/page.h"
#include "report/summary/comparison.h"
#include "report/summary/figures.h"
#include "report/summary/grids.h"
#include "report/summary/lengths.h"

// The figures of a comparison, with what people read below them; none says yet
// what it was made of. Pure functions, thread-safe.

namespace ordo::report::summary {

// Of each kind of figure that a comparison has many of, at most; the tables
// have all.
inline constexpr size_t kMaxForestPlots = 12;

// Rows of a figure of several scores, at most.
inline constexpr size_t kMaxForestRows = 16;

// Of each score the differences from the baseline. Where one arm is compared
// with it, shares of an evaluation stand in one figure, those of which less is
// better apart from the others.
std::vector<NamedFigure> DifferenceFigures(const Comparison& comparison);

// Of each evaluation what its arms score at each length.
std::vector<NamedFigure> LengthFigures(const std::vector<ComparedLengths>& all);

// A heat map of each of the grids, in their order.
std::vector<NamedFigure> GridFigures(const std::vector<ArmGrid>& grids);

// Of each evaluation at several steps its first score over them, as of
// ScoresBySteps.
std::vector<NamedFigure> StepFigures(
    const ordo::training::v1::SummarizeSpec& runs,
    const Comparison& comparison);

// The losses of each arm's runs that succeeded; nothing where no arm has two.
std::vector<NamedFigure> LossFigures(
    const ordo::training::v1::SummarizeSpec& spec,
    const std::vector<Curve>& curves);

// The first score of each evaluation over each of CostAxes.
std::vector<NamedFigure> CostFigures(const Comparison& comparison);

}  // namespace ordo::report::summary

#endif  // ORDO_REPORT_SUMMARY_COMPARISON_FIGURES_H_
