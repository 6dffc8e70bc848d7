#ifndef ORDO_MODEL_CATALOG_HEADLINE_H_
#define ORDO_MODEL_CATALOG_HEADLINE_H_

#include <string>

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

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_HEADLINE_H_
