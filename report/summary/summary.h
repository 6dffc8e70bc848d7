#ifndef ORDO_REPORT_SUMMARY_SUMMARY_H_
#define ORDO_REPORT_SUMMARY_SUMMARY_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/ordo/training/v1/spec.pb.h"
#include "report/page.h"
#include "report/summary/control.h"
#include "report/summary/figures.h"
#include "report/summary/items.h"
#include "report/summary/results.h"

// The report on a sweep, comparison or pipeline. Pure functions, thread-safe.

namespace ordo::report::summary {

// Its lead says whether a comparison is controlled, and which parts did not
// succeed.
struct Summary : Page {
  // Each value of each part (ValueTable), and all of the above as JSON.
  std::string csv;
  std::string json;
  // Of a comparison: DifferenceTable, LengthTable where its evaluations score
  // lengths apart, and CellTable where they are of addition.
  std::string differences_csv;
  std::string lengths_csv;
  std::string cells_csv;
  // Of the report: num_parts, num_failed (of those not EndedAsMeant), and
  // num_stopped_early where there are such; of a comparison `controlled` (0 or
  // 1), and for each score and arm difference_<evaluation>_<score>_<arm>.
  std::map<std::string, double> metrics;
};

// What the parts left behind.
struct Records {
  // Of those that trained.
  std::vector<Curve> curves;
  // As of CheckControl.
  std::vector<PartRecords> parts;
  // Of those that are known.
  Spreads spreads = {};
  // Of a comparison, as of CompareItems.
  std::vector<ArmItems> items = {};
  // Of the evaluations of all parts that say with which they asked, as of
  // Lengths.
  std::set<std::string> tokenizers = {};
};

// INVALID_ARGUMENT with the field, as Compare, or for another `kind`.
absl::StatusOr<Summary> Summarize(const ordo::training::v1::SummarizeSpec& spec,
                                  const Records& records,
                                  const std::string& created);

}  // namespace ordo::report::summary

#endif  // ORDO_REPORT_SUMMARY_SUMMARY_H_
