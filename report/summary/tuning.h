#ifndef ORDO_REPORT_SUMMARY_TUNING_H_
#define ORDO_REPORT_SUMMARY_TUNING_H_

#include <string>
#include <vector>

#include "proto/ordo/training/v1/spec.pb.h"
#include "report/summary/control.h"
#include "report/table.h"

// How the arms of a comparison were tuned. Pure functions, thread-safe.

namespace ordo::report::summary {

// A trial of an arm.
struct Trial {
  const ordo::training::v1::PartResult* part = nullptr;
  // What it is chosen by; not finite: it has no such score.
  double score = 0;
  // Runs of the arm took what it has.
  bool is_chosen = false;
};

// The trials of a comparison, which point into `spec`, in the order of its
// parts.
std::vector<Trial> TrialsOf(const ordo::training::v1::SummarizeSpec& spec);

// The same comparison with its runs alone, and what these recorded.
ordo::training::v1::SummarizeSpec RunsOf(
    const ordo::training::v1::SummarizeSpec& spec);
std::vector<PartRecords> RecordsOfRuns(
    const ordo::training::v1::SummarizeSpec& spec,
    const std::vector<PartRecords>& records);

// Adds to what CheckControl found of the runs what their tuning adds: that arms
// differ in what was chosen; and as reasons where arms had not equally many
// trials that show something, a run did not take what was chosen, or trials
// were chosen by what runs were asked.
void CheckTuning(const ordo::training::v1::SummarizeSpec& spec,
                 const std::vector<PartRecords>& records, Control* control);

// Each trial with its score, and which was chosen.
Table TuningTable(const ordo::training::v1::SummarizeSpec& spec);

}  // namespace ordo::report::summary

#endif  // ORDO_REPORT_SUMMARY_TUNING_H_
