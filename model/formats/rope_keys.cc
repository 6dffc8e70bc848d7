#include "model/formats/rope_keys.h"

#include <map>
#include <string>

#include "model/catalog/foreign.h"

namespace ordo::model::formats {
namespace {

using google::protobuf::Value;

// False when the catalogue has no such values.
bool ToValue(const Json& json, Value* value) {
  if (json.is_boolean()) {
    value->set_bool_value(json);
  } else if (json.is_number()) {
    value->set_number_value(json);
  } else if (json.is_string()) {
    value->set_string_value(json);
  } else if (json.is_array()) {
    value->mutable_list_value();
    for (const Json& element : json) {
      if (!element.is_number()) return false;
      value->mutable_list_value()->add_values()->set_number_value(element);
    }
  } else {
    return false;
  }
  return true;
}

Json ToJson(const Value& value) {
  switch (value.kind_case()) {
    case Value::kBoolValue:
      return value.bool_value();
    case Value::kStringValue:
      return value.string_value();
    case Value::kListValue: {
      Json list = Json::array();
      for (const Value& element : value.list_value().values()) {
        list.push_back(element.number_value());
      }
      return list;
    }
    default:
      return value.number_value();
  }
}

void ReadNumber(const char* key, const Json& value, ConfigKeys* keys,
                double* number) {
  if (value.is_number()) {
    *number = value;
  } else {
    keys->Refuse(key, value.dump() + " is not a number");
  }
}

// `key` is the name of the object.
void ReadScaling(const char* key, const Json& object, ConfigKeys* keys,
                 catalog::ForeignRope* rope) {
  if (object.is_null()) return;
  if (!object.is_object()) {
    keys->Refuse(key, object.dump() + " is not an object");
    return;
  }
  for (const auto& [name, value] : object.items()) {
    if (value.is_null()) continue;
    if (name == "rope_theta") {
      ReadNumber("rope_theta", value, keys, &rope->base);
    } else if (name == "partial_rotary_factor") {
      ReadNumber("partial_rotary_factor", value, keys, &rope->partial);
    } else if (!ToValue(value, &rope->scaling[name])) {
      keys->Refuse(std::string(key) + "." + name,
                   value.dump() + " is not supported");
    }
  }
}

}  // namespace

ordo::training::v1::Component ReadRope(
    const RopeDefaults& defaults, const ordo::training::v1::Component* given,
    ConfigKeys* keys) {
  if (given != nullptr) {
    keys->Ignore({"rope_theta", "rotary_emb_base", "partial_rotary_factor",
                  "rotary_pct", "max_position_embeddings",
                  "original_max_position_embeddings", "rope_scaling",
                  "rope_parameters"});
    return *given;
  }
  catalog::ForeignRope rope;
  rope.base = keys->NumberOr({"rope_theta", "rotary_emb_base"}, defaults.base);
  rope.partial =
      keys->NumberOr({"partial_rotary_factor", "rotary_pct"}, defaults.partial);
  rope.max_positions =
      keys->IntegerOr("max_position_embeddings", defaults.max_positions);
  const Json original = keys->Value("original_max_position_embeddings");
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    ReadScaling(key, keys->Value(key), keys, &rope);
  }
  if (original.is_number() && !rope.scaling.empty()) {
    rope.scaling["original_max_position_embeddings"].set_number_value(original);
  }
  const auto encoding = catalog::FromForeignRope(rope);
  if (encoding.ok()) return *encoding;
  const std::string message(encoding.status().message());
  const size_t colon = message.find(": ");
  keys->Refuse(message.substr(0, colon), message.substr(colon + 2));
  return {};
}

bool WriteRope(const ordo::training::v1::Component& encoding, Json* json) {
  const auto rope = catalog::ToForeignRope(encoding);
  if (!rope) return false;
  (*json)["rope_theta"] = rope->base;
  if (rope->partial != 1.0) (*json)["partial_rotary_factor"] = rope->partial;
  if (rope->max_positions > 0) {
    (*json)["max_position_embeddings"] = rope->max_positions;
  }
  if (rope->scaling.empty()) return true;
  // In the order of the keys, not of a hash.
  std::map<std::string, Json> sorted;
  for (const auto& [key, value] : rope->scaling) sorted[key] = ToJson(value);
  (*json)["rope_scaling"] = sorted;
  return true;
}

}  // namespace ordo::model::formats
