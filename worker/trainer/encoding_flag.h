#ifndef ORDO_WORKER_TRAINER_ENCODING_FLAG_H_
#define ORDO_WORKER_TRAINER_ENCODING_FLAG_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "proto/ordo/training/v1/component.pb.h"

namespace ordo::worker::trainer {

// The value of --encoding: a name, or an encoding in YAML or JSON such as
// `{name: tape, params: {reading: released}}`; nothing when it is empty.
// INVALID_ARGUMENT when it is not one.
absl::StatusOr<std::optional<ordo::training::v1::Component>> ParseEncodingFlag(
    const std::string& text);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_ENCODING_FLAG_H_
