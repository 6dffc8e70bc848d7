#include "report/json_values.h"

#include <cmath>
#include <utility>

namespace ordo::report {

using google::protobuf::Struct;
using google::protobuf::Value;

const Value& JsonField(const Struct& json, const std::string& name) {
  const auto found = json.fields().find(name);
  return found == json.fields().end() ? Value::default_instance()
                                      : found->second;
}

Value NumberOrNull(double number) {
  Value value;
  if (std::isfinite(number)) {
    value.set_number_value(number);
  } else {
    value.set_null_value(google::protobuf::NULL_VALUE);
  }
  return value;
}

Value BoolValue(bool flag) {
  Value value;
  value.set_bool_value(flag);
  return value;
}

Value TextValue(const std::string& text) {
  Value value;
  value.set_string_value(text);
  return value;
}

Value StructValue(Struct fields) {
  Value value;
  *value.mutable_struct_value() = std::move(fields);
  return value;
}

}  // namespace ordo::report
