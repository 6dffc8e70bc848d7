#ifndef ORDO_MODEL_CATALOG_FIELDS_H_
#define ORDO_MODEL_CATALOG_FIELDS_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status/details.h"
#include "google/protobuf/message.h"

// Checks and defaults of single fields, by their names, so that what a message
// may hold is a table. Every function appends what is wrong to `violations`.

namespace ordo::model::catalog {

using Violations = std::vector<base::FieldViolation>;

// A field that is an integer or a double with presence.
struct NumberField {
  std::string name;
  double min = 0;
  double max = 0;
  // Taken when the field is not set; without it the field is required.
  std::optional<double> default_value;
  // The bounds themselves are not valid.
  bool open_min = false;
  bool open_max = false;
};

// A string field that is one of some names.
struct ChoiceField {
  std::string name;
  // The first is the default.
  std::vector<std::string> choices;
  // Another word and the choice that it stands for, to suggest it.
  std::pair<std::string, std::string> synonym = {};
};

// Where a message or list stands in a request, "" for the request itself.
// FieldPath("data", "seed") is "data.seed".
std::string FieldPath(std::string_view path, std::string_view name);

// Sets the default or checks the value of a field of `message`, which stands at
// `path`. False when a violation was added.
bool ResolveNumber(const NumberField& field, std::string_view path,
                   google::protobuf::Message* message, Violations* violations);
// The same of several. False when one of them was wrong.
bool ResolveNumbers(const std::vector<NumberField>& fields,
                    std::string_view path, google::protobuf::Message* message,
                    Violations* violations);
// As ResolveNumber, of a field that has a default, which is left out where it
// was and taken out where it is said: only what differs has bytes, and a
// message without it is as before there was such a field.
bool ResolveRequest(const NumberField& field, std::string_view path,
                    google::protobuf::Message* message, Violations* violations);
bool ResolveChoice(const ChoiceField& field, std::string_view path,
                   google::protobuf::Message* message, Violations* violations);

inline constexpr int kMaxIdLength = 63;

// A job's or worker's id: lower-case letters, digits and '-', starts with a
// letter, ends with a letter or digit, at most kMaxIdLength characters (a DNS
// label).
bool IsId(std::string_view text);
// The rule as a sentence part, for messages.
std::string IdRule();

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_FIELDS_H_
