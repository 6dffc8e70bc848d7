#ifndef ORDO_REPORT_SUMMARY_GRIDS_H_
#define ORDO_REPORT_SUMMARY_GRIDS_H_

#include <string>
#include <vector>

#include "proto/ordo/training/v1/spec.pb.h"
#include "report/grid.h"
#include "report/summary/comparison.h"
#include "report/summary/control.h"
#include "report/table.h"

// Addition by the lengths of both operands, of the arms of a comparison. Pure
// functions, thread-safe.

namespace ordo::report::summary {

// One evaluation of one arm, the samples of its seeds pooled, so that each cell
// is the mean over them.
struct ArmGrid {
  std::string evaluation;
  int num_seeds = 0;
  // Called as the arm.
  Grid grid;
};

// Of each evaluation, in the order of the arms, over the seeds of which every
// arm has a run that succeeded and left a grid of one shape. `records` are
// those of the parts, in their order.
std::vector<ArmGrid> ArmGrids(const ordo::training::v1::SummarizeSpec& spec,
                              const Comparison& comparison,
                              const std::vector<PartRecords>& records);

// "tape: 3 seeds, 60 questions a cell".
std::string CellsTitle(const ArmGrid& of_arm);

// A row for each cell of each grid, for spreadsheets and programs: how many
// answers are right of all that its seeds gave, and that share with all digits
// and Wilson's 95 % interval of so many independent answers, which says nothing
// of other seeds.
Table CellTable(const std::vector<ArmGrid>& grids);

}  // namespace ordo::report::summary

#endif  // ORDO_REPORT_SUMMARY_GRIDS_H_
