#include "base/yaml/message_writer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "base/yaml/scalars.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/struct.pb.h"

namespace ordo::base {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::ListValue;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;
using ::google::protobuf::Struct;
using ::google::protobuf::Value;

YamlNode Scalar(std::string text, bool quoted) {
  YamlNode node;
  node.kind = YamlNode::Kind::kScalar;
  node.text = std::move(text);
  node.quoted = quoted;
  return node;
}

YamlNode OfKind(YamlNode::Kind kind) {
  YamlNode node;
  node.kind = kind;
  return node;
}

// The map with its entries in the order of their keys.
YamlNode Sorted(YamlNode map) {
  std::vector<size_t> order(map.keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return map.keys[a] < map.keys[b]; });
  YamlNode sorted = OfKind(YamlNode::Kind::kMap);
  for (const size_t i : order) {
    sorted.Add(std::move(map.keys[i]), std::move(map.items[i]));
  }
  return sorted;
}

// Writes one message and what is in it.
class TreeWriter {
 public:
  explicit TreeWriter(bool for_json) : for_json_(for_json) {}

  YamlNode WriteMessage(const Message& message) const {
    if (const auto* value = dynamic_cast<const Value*>(&message)) {
      return WriteValue(*value);
    }
    if (const auto* list = dynamic_cast<const ListValue*>(&message)) {
      return WriteList(*list);
    }
    if (const auto* fields = dynamic_cast<const Struct*>(&message)) {
      return WriteStruct(*fields);
    }
    if (const auto* duration =
            dynamic_cast<const google::protobuf::Duration*>(&message)) {
      return Scalar(PrintDuration(*duration), true);
    }
    if (const auto* timestamp =
            dynamic_cast<const google::protobuf::Timestamp*>(&message)) {
      return Scalar(PrintTimestamp(*timestamp), true);
    }
    YamlNode node = OfKind(YamlNode::Kind::kMap);
    std::vector<const FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
      node.Add(field->name(), WriteField(message, *field));
    }
    return node;
  }

 private:
  YamlNode WriteField(const Message& message,
                      const FieldDescriptor& field) const {
    if (!field.is_repeated()) return WriteSingle(message, field, -1);
    const int size = message.GetReflection()->FieldSize(message, &field);
    if (!field.is_map()) {
      YamlNode list = OfKind(YamlNode::Kind::kList);
      for (int i = 0; i < size; ++i) {
        list.items.push_back(WriteSingle(message, field, i));
      }
      return list;
    }
    YamlNode map = OfKind(YamlNode::Kind::kMap);
    for (int i = 0; i < size; ++i) {
      const Message& entry =
          message.GetReflection()->GetRepeatedMessage(message, &field, i);
      map.Add(WriteSingle(entry, *field.message_type()->map_key(), -1).text,
              WriteSingle(entry, *field.message_type()->map_value(), -1));
    }
    return Sorted(std::move(map));
  }

  // The value of a field, or element `index` of a repeated one (-1: not one).
  YamlNode WriteSingle(const Message& message, const FieldDescriptor& field,
                       int index) const {
    const Reflection& reflection = *message.GetReflection();
#define ORDO_GET(Type)                               \
  (index < 0 ? reflection.Get##Type(message, &field) \
             : reflection.GetRepeated##Type(message, &field, index))
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return Scalar(std::to_string(ORDO_GET(Int32)), false);
      case FieldDescriptor::CPPTYPE_INT64:
        return Scalar(std::to_string(ORDO_GET(Int64)), for_json_);
      case FieldDescriptor::CPPTYPE_UINT32:
        return Scalar(std::to_string(ORDO_GET(UInt32)), false);
      case FieldDescriptor::CPPTYPE_UINT64:
        return Scalar(std::to_string(ORDO_GET(UInt64)), for_json_);
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return WriteDouble(ORDO_GET(Double));
      case FieldDescriptor::CPPTYPE_FLOAT: {
        const float value = ORDO_GET(Float);
        if (!std::isfinite(value)) return WriteDouble(value);
        return Scalar(PrintFloat(value), false);
      }
      case FieldDescriptor::CPPTYPE_BOOL:
        return Scalar(ORDO_GET(Bool) ? "true" : "false", false);
      case FieldDescriptor::CPPTYPE_ENUM:
        return Scalar(ORDO_GET(Enum)->name(), true);
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return WriteMessage(ORDO_GET(Message));
      case FieldDescriptor::CPPTYPE_STRING:
        break;
    }
    const std::string text = ORDO_GET(String);
#undef ORDO_GET
    if (field.type() == FieldDescriptor::TYPE_BYTES) {
      return Scalar(absl::Base64Escape(text), true);
    }
    return Scalar(text, true);
  }

  YamlNode WriteDouble(double value) const {
    if (std::isfinite(value) || !for_json_) {
      return Scalar(PrintDouble(value), false);
    }
    if (std::isnan(value)) return Scalar("NaN", true);
    return Scalar(value > 0 ? "Infinity" : "-Infinity", true);
  }

  YamlNode WriteValue(const Value& value) const {
    switch (value.kind_case()) {
      case Value::kNumberValue:
        return WriteDouble(value.number_value());
      case Value::kStringValue:
        return Scalar(value.string_value(), true);
      case Value::kBoolValue:
        return Scalar(value.bool_value() ? "true" : "false", false);
      case Value::kListValue:
        return WriteList(value.list_value());
      case Value::kStructValue:
        return WriteStruct(value.struct_value());
      case Value::kNullValue:
      case Value::KIND_NOT_SET:
        break;
    }
    return OfKind(YamlNode::Kind::kNull);
  }

  YamlNode WriteList(const ListValue& list) const {
    YamlNode node = OfKind(YamlNode::Kind::kList);
    for (const Value& value : list.values()) {
      node.items.push_back(WriteValue(value));
    }
    return node;
  }

  YamlNode WriteStruct(const Struct& fields) const {
    YamlNode node = OfKind(YamlNode::Kind::kMap);
    for (const auto& [key, value] : fields.fields()) {
      node.Add(key, WriteValue(value));
    }
    return Sorted(std::move(node));
  }

  const bool for_json_;
};

}  // namespace

YamlNode WriteTree(const Message& message, bool for_json) {
  return TreeWriter(for_json).WriteMessage(message);
}

}  // namespace ordo::base
