#ifndef ORDO_MODEL_EVALUATION_ITEM_PAIRS_H_
#define ORDO_MODEL_EVALUATION_ITEM_PAIRS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/files/files.h"

// Two evaluations by the same items. No LibTorch here.

namespace ordo::model::evaluation {

// One item, scored under both reports; more is better.
struct ItemPair {
  std::string id;
  // As Item::unit.
  std::string unit;
  double baseline = 0;
  double candidate = 0;
};

struct PairedReports {
  // Folders with what WriteReport wrote.
  std::string candidate;
  std::string baseline;
};

// The items of both reports, by id, in the order of the candidate's.
// INVALID_ARGUMENT, with field `baseline`, when they are not of the same
// questions: another task, version, parameters or seed, items that one of them
// lacks, or another unit of one. FAILED_PRECONDITION when a report has no
// items; NOT_FOUND when there is none; DATA_LOSS naming a damaged file.
absl::StatusOr<std::vector<ItemPair>> PairItems(base::Filesystem& files,
                                                const PairedReports& reports);

}  // namespace ordo::model::evaluation

#endif  // ORDO_MODEL_EVALUATION_ITEM_PAIRS_H_
