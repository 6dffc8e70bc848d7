#ifndef ORDO_BASE_YAML_FIELD_PATH_H_
#define ORDO_BASE_YAML_FIELD_PATH_H_

#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/struct.pb.h"

// Fields by their path, as `--set training.steps=500` has it. A path names
// fields, keys of maps and indices of lists, "evaluations[0].params.samples".
//
// Errors are INVALID_ARGUMENT with the violations of text_form.h, without a
// line.

namespace ordo::base {

// Sets one field from text, as in `--set`. An index may be one past the end,
// which appends. `value` is read as YAML, so that lists and maps can be set
// too; a scalar for a string field is taken as it stands. Nothing is changed on
// error.
absl::Status SetField(std::string_view path, std::string_view value,
                      google::protobuf::Message* message);

// The same, to a value that was read already; null leaves the field out.
absl::Status SetField(std::string_view path,
                      const google::protobuf::Value& value,
                      google::protobuf::Message* message);

// Whether a message of `type` can have a field of this path. Keys of maps and
// indices of lists are any.
absl::Status CheckFieldPath(std::string_view path,
                            const google::protobuf::Descriptor& type);

// Whether `path` is `whole` or lies within it.
bool IsPartOf(std::string_view path, std::string_view whole);

}  // namespace ordo::base

#endif  // ORDO_BASE_YAML_FIELD_PATH_H_
