#ifndef ORDO_MODEL_TEXT_SOURCE_JSON_FIELD_H_
#define ORDO_MODEL_TEXT_SOURCE_JSON_FIELD_H_

#include <string>

#include "absl/status/statusor.h"

namespace ordo::model::text::source {

// The string that is the value of `field` in the JSON object `text`, without
// making objects of the rest. INVALID_ARGUMENT, with what is wrong and where in
// `text` but not the text itself: it is not one JSON object, or the field is
// missing (the nearest one is named), there twice, or no string.
absl::StatusOr<std::string> JsonStringField(const std::string& text,
                                            const std::string& field);

}  // namespace ordo::model::text::source

#endif  // ORDO_MODEL_TEXT_SOURCE_JSON_FIELD_H_
