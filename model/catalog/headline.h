#ifndef ORDO_MODEL_CATALOG_HEADLINE_H_
#define ORDO_MODEL_CATALOG_HEADLINE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "google/protobuf/map.h"

// Which of an evaluation's metrics models are ranked by.

namespace ordo::model::catalog {

struct Headline {
  const char* metric;
  bool less_is_better;
};

// The first headline metric that a result has, finite; null: it has none.
const Headline* HeadlineOf(
    const google::protobuf::Map<std::string, double>& metrics);

// What an evaluation found of the model of a step. Not owned, not null.
struct HeadlineResult {
  int64_t step = 0;
  const google::protobuf::Map<std::string, double>* metrics;
};

// Places of those that have it in the order of the first headline metric that
// any of them has, best first; of equals the later step first.
std::vector<size_t> RankByHeadline(const std::vector<HeadlineResult>& results);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_HEADLINE_H_
