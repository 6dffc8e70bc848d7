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

// What the arms are compared by.
struct PairedItems {
  // By id, in the order of the candidate's.
  std::vector<ItemPair> items;
  // What else than the models may tell the answers apart, a sentence for each:
  // another precision or another kernel. Whoever shows the comparison shows
  // these with it. Empty where both were computed alike.
  std::vector<std::string> differences;
};

struct PairedReports {
  // Folders with what WriteReport wrote.
  std::string candidate;
  std::string baseline;
};

// The items of both reports. Reports of another precision or kernel are paired,
// and the pairing says so. INVALID_ARGUMENT, with field `baseline`, when they
// are not of the same questions: another task, version, parameters, seed,
// version of a file with questions or text that is measured window by window,
// items that one of them lacks, or another unit of one. FAILED_PRECONDITION
// when a report has no items; NOT_FOUND when there is none; DATA_LOSS naming a
// damaged file.
absl::StatusOr<PairedItems> PairItems(base::Filesystem& files,
                                      const PairedReports& reports);

// What a report asked, `folder` being as above: lower-case hex SHA-256 over
// task, version, parameters, seed and fingerprint of the data, and over id and
// unit of each item in their order. FAILED_PRECONDITION, NOT_FOUND and
// DATA_LOSS as PairItems.
absl::StatusOr<std::string> QuestionsDigest(base::Filesystem& files,
                                            const std::string& folder);

}  // namespace ordo::model::evaluation

#endif  // ORDO_MODEL_EVALUATION_ITEM_PAIRS_H_
