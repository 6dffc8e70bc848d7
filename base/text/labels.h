#ifndef ORDO_BASE_TEXT_LABELS_H_
#define ORDO_BASE_TEXT_LABELS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/status/details.h"
#include "google/protobuf/map.h"

namespace ordo::base {

// Of a label's name and value, each.
inline constexpr size_t kMaxLabelBytes = 63;

using Labels = google::protobuf::Map<std::string, std::string>;

// A field that is labels.
struct LabelsField {
  // Where it stands, such as "resources.labels".
  std::string path;
  // Labels that it may have.
  int max = 0;
};

// The rule for the labels of jobs and workers: a name is 1 to kMaxLabelBytes
// letters, digits, '-', '_', '.' and '/'; a value at most kMaxLabelBytes bytes
// without control characters. Appends a violation for each label that breaks
// it, by name, or the one that there are too many.
void CheckLabels(const Labels& labels, const LabelsField& field,
                 std::vector<FieldViolation>* violations);

// Takes out each label that breaks the rule, and says of each what is wrong, as
// above; `path` is where they stand. However many there are.
std::vector<FieldViolation> TakeOutBadLabels(const std::string& path,
                                             Labels* labels);

}  // namespace ordo::base

#endif  // ORDO_BASE_TEXT_LABELS_H_
