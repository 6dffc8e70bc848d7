#ifndef ORDO_BASE_YAML_TEXT_FORM_H_
#define ORDO_BASE_YAML_TEXT_FORM_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status/details.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

// Protobuf messages as text that people write: YAML, JSON or textproto.
//
// In YAML and JSON, fields are named as in the .proto file (snake_case; the
// camelCase of JSON is understood too). Enum values are named in lower or upper
// case, with or without the prefix that their enum's name gives ("train" for
// KIND_TRAIN of enum Kind). Integers may be written 1e3 when they are whole.
// Durations are "30s", "1.5h", "2m30s"; timestamps are RFC 3339. A field of
// google.protobuf.Value, ListValue or Struct takes any number, bool, string,
// list or map; a quoted scalar is a string. Bytes are base64.
//
// Texts beyond the limits of limits.h are refused.
//
// Errors are INVALID_ARGUMENT with one base::FieldViolation for each thing
// wrong, all at once; the description names the line and, for an unknown name,
// the nearest valid one. Of a textproto only the line is known, not the path.

namespace ordo::base {

enum class TextForm { kYaml, kJson, kTextproto };

// By extension: .yaml .yml, .json, .textproto .txtpb .pbtxt. INVALID_ARGUMENT
// for another.
absl::StatusOr<TextForm> TextFormOfFile(std::string_view path);

// Reads exactly one message into `message`, replacing its content. Not changed
// on error.
absl::Status ReadMessage(std::string_view text, TextForm form,
                         google::protobuf::Message* message);

// A message as far as a text gives it: a field that cannot be read does not
// keep the others from being read, so that a check of what they hold can add to
// what is wrong (WithoutUnread).
template <typename T>
struct PartialMessage {
  T message;
  std::vector<FieldViolation> violations;
};
using PartialMessagePtr =
    PartialMessage<std::unique_ptr<google::protobuf::Message>>;

// Reads one message of the type of `prototype` for each YAML document ("---"
// between them; empty ones are skipped). JSON and textproto give one. An error
// only when the text cannot be taken apart: its syntax or its size, and in
// textproto a value of the wrong type.
absl::StatusOr<std::vector<PartialMessagePtr>> ReadMessages(
    std::string_view text, TextForm form,
    const google::protobuf::Message& prototype);

// As above, for a type known at compile time.
template <typename T>
absl::StatusOr<std::vector<PartialMessage<T>>> ReadMessagesOf(
    std::string_view text, TextForm form) {
  auto read = ReadMessages(text, form, T::default_instance());
  if (!read.ok()) return read.status();
  std::vector<PartialMessage<T>> messages;
  for (PartialMessagePtr& one : *read) {
    messages.push_back(
        {std::move(static_cast<T&>(*one.message)), std::move(one.violations)});
  }
  return messages;
}

// INVALID_ARGUMENT when a text that must hold one message of `type` holds
// another number of them.
absl::Status CheckHoldsOne(size_t num_messages,
                           const google::protobuf::Descriptor& type);

// `violations`, found in a partial message, but for those of fields that could
// not be read, which `unread` names, and of their parts.
std::vector<FieldViolation> WithoutUnread(
    const std::vector<FieldViolation>& violations,
    const std::vector<FieldViolation>& unread);

// The message as text; ReadMessage gives it back. Field names as in the .proto
// file, unset fields left out, maps sorted by key. JSON is one line, in
// protobuf's JSON mapping (64-bit integers are strings). Never fails: what has
// no value there (a Value of no kind) is null.
std::string WriteMessage(const google::protobuf::Message& message,
                         TextForm form);

}  // namespace ordo::base

#endif  // ORDO_BASE_YAML_TEXT_FORM_H_
