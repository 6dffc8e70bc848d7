#ifndef ORDO_REPORT_SUMMARY_TABLES_H_
#define ORDO_REPORT_SUMMARY_TABLES_H_

#include "proto/ordo/training/v1/spec.pb.h"
#include "report/summary/comparison.h"
#include "report/summary/results.h"
#include "report/table.h"

// What a summary says in tables. Pure functions, thread-safe. What is not known
// is "-".

namespace ordo::report::summary {

// Of each score and arm: the items that each run was asked, mean and deviation
// over seeds, and the difference from the baseline, absolute and as a share of
// it, with both intervals of the absolute one and the adjusted p values of both
// tests.
Table ComparisonTable(const Comparison& comparison);
// A row for each score, or cost, and arm but the baseline, for spreadsheets and
// programs: all digits, p values also as they were before they were adjusted.
// What has no bound or needs two seeds is an empty cell.
Table DifferenceTable(const Comparison& comparison);
// The same of what runs take.
Table CostComparisonTable(const Comparison& comparison);
// Of each arm, over as many seeds as it says.
Table CostTable(const Comparison& comparison);
// Of each part its scores, a column each, with 95 % intervals over the
// questions where their standard errors are known, Wilson's of shares; a score
// without bounds where its questions never differed. Of one that was stopped
// early with the step where that was.
Table ScoreTable(const ordo::training::v1::SummarizeSpec& spec,
                 const Results& results);
// Of a pipeline: a row for each score of each checkpoint that a stage
// evaluated, with the same intervals, and the differences that a gate found.
Table StageTable(const ordo::training::v1::SummarizeSpec& spec,
                 const Spreads& spreads);
// Of parts that succeeded and differ in nothing but training.seed, two or more,
// the mean of each score with its deviation and Student's 95 % interval over
// them. Without such parts it has no rows.
Table SeedTable(const ordo::training::v1::SummarizeSpec& spec,
                const Results& results);
// Of each part how it ended, and what it recorded of itself.
Table PartTable(const ordo::training::v1::SummarizeSpec& spec);
// A row for each part and score, for spreadsheets and programs: all digits.
Table ValueTable(const ordo::training::v1::SummarizeSpec& spec,
                 const Results& results);

}  // namespace ordo::report::summary

#endif  // ORDO_REPORT_SUMMARY_TABLES_H_
