#ifndef ORDO_REPORT_JSON_VALUES_H_
#define ORDO_REPORT_JSON_VALUES_H_

#include <string>

#include "google/protobuf/struct.pb.h"

// Values of JSON, as reports read them and put them together. base::ReadMessage
// and base::WriteMessage are their text. Pure functions, thread-safe.

namespace ordo::report {

// The field of a JSON object; where it has none, a value of no kind.
const google::protobuf::Value& JsonField(const google::protobuf::Struct& json,
                                         const std::string& name);

// null where it is not finite, for which JSON has no number.
google::protobuf::Value NumberOrNull(double number);
google::protobuf::Value BoolValue(bool flag);
// REQUIRES: well-formed UTF-8.
google::protobuf::Value TextValue(const std::string& text);
google::protobuf::Value StructValue(google::protobuf::Struct fields);

// An array, of what `to_value` makes of each entry.
template <typename List, typename ToValue>
google::protobuf::Value ListOf(const List& list, ToValue to_value) {
  google::protobuf::Value value;
  google::protobuf::ListValue* values = value.mutable_list_value();
  for (const auto& entry : list) *values->add_values() = to_value(entry);
  return value;
}

}  // namespace ordo::report

#endif  // ORDO_REPORT_JSON_VALUES_H_
