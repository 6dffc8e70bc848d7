#include "base/yaml/message_reader.h"

#include <cctype>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "base/text/nearest.h"
#include "base/yaml/scalars.h"
#include "google/protobuf/struct.pb.h"

namespace ordo::base {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::EnumDescriptor;
using ::google::protobuf::EnumValueDescriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::OneofDescriptor;
using ::google::protobuf::Reflection;
using ::google::protobuf::Value;

// Appends to a path for the scope.
class PathPart {
 public:
  PathPart(std::string* path, const std::string& part)
      : path_(path), size_(path->size()) {
    *path_ += part;
  }
  ~PathPart() { path_->resize(size_); }
  PathPart(const PathPart&) = delete;
  PathPart& operator=(const PathPart&) = delete;

 private:
  std::string* const path_;
  const size_t size_;
};

std::string Joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : "." + name;
}

std::string ToUpper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  return upper;
}

// "ExitCode" gives "EXIT_CODE_".
std::string EnumPrefix(const std::string& type_name) {
  std::string prefix;
  for (const char c : type_name) {
    if (std::isupper(c) && !prefix.empty()) prefix += '_';
    prefix += static_cast<char>(std::toupper(c));
  }
  return prefix + "_";
}

const EnumValueDescriptor* FindEnumValue(const EnumDescriptor& type,
                                         std::string_view text) {
  const std::string name = ToUpper(text);
  if (const auto* value = type.FindValueByName(name)) return value;
  return type.FindValueByName(EnumPrefix(type.name()) + name);
}

// The short lower-case names of an enum, without the one for "unset".
std::vector<std::string> EnumNames(const EnumDescriptor& type) {
  const std::string prefix = EnumPrefix(type.name());
  std::vector<std::string> names;
  for (int i = 0; i < type.value_count(); ++i) {
    std::string name = type.value(i)->name();
    if (name.rfind(prefix, 0) == 0) name.erase(0, prefix.size());
    if (name == "UNSPECIFIED") continue;
    for (char& c : name) c = static_cast<char>(std::tolower(c));
    names.push_back(std::move(name));
  }
  return names;
}

const char* Describe(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kScalar:
      return "a single value";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
  }
  return "";
}

void ToValue(const YamlNode& node, Value* value) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      value->set_null_value(google::protobuf::NULL_VALUE);
      return;
    case YamlNode::Kind::kList:
      value->mutable_list_value();
      for (const YamlNode& item : node.items) {
        ToValue(item, value->mutable_list_value()->add_values());
      }
      return;
    case YamlNode::Kind::kMap:
      value->mutable_struct_value();
      for (size_t i = 0; i < node.items.size(); ++i) {
        auto& fields = *value->mutable_struct_value()->mutable_fields();
        ToValue(node.items[i], &fields[node.keys[i]]);
      }
      return;
    case YamlNode::Kind::kScalar:
      break;
  }
  const auto boolean = ParseBool(node.text);
  if (!node.quoted && boolean.ok()) {
    value->set_bool_value(*boolean);
  } else if (!node.quoted && IsNumber(node.text)) {
    value->set_number_value(*ParseDouble(node.text));
  } else {
    value->set_string_value(node.text);
  }
}

// Sets or adds a value, whichever the field takes.
#define ORDO_PUT(Type, value)                                         \
  (field.is_repeated() ? reflection.Add##Type(message, &field, value) \
                       : reflection.Set##Type(message, &field, value))

template <typename T, typename Put>
std::string PutOr(const absl::StatusOr<T>& parsed, Put put) {
  if (!parsed.ok()) return std::string(parsed.status().message());
  put(*parsed);
  return "";
}

// Puts a number; gives back what is wrong, or nothing.
std::string PutNumber(const std::string& text, const FieldDescriptor& field,
                      Message* message) {
  const Reflection& reflection = *message->GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return PutOr(ParseInt32(text), [&](int32_t v) { ORDO_PUT(Int32, v); });
    case FieldDescriptor::CPPTYPE_INT64:
      return PutOr(ParseInt64(text), [&](int64_t v) { ORDO_PUT(Int64, v); });
    case FieldDescriptor::CPPTYPE_UINT32:
      return PutOr(ParseUint32(text), [&](uint32_t v) { ORDO_PUT(UInt32, v); });
    case FieldDescriptor::CPPTYPE_UINT64:
      return PutOr(ParseUint64(text), [&](uint64_t v) { ORDO_PUT(UInt64, v); });
    case FieldDescriptor::CPPTYPE_FLOAT:
      return PutOr(ParseDouble(text),
                   [&](double v) { ORDO_PUT(Float, static_cast<float>(v)); });
    default:
      return PutOr(ParseDouble(text), [&](double v) { ORDO_PUT(Double, v); });
  }
}

std::string PutText(const std::string& text, const FieldDescriptor& field,
                    Message* message) {
  const Reflection& reflection = *message->GetReflection();
  if (field.type() != FieldDescriptor::TYPE_BYTES) {
    ORDO_PUT(String, text);
    return "";
  }
  std::string bytes;
  if (!absl::Base64Unescape(text, &bytes)) return "must be base64";
  ORDO_PUT(String, bytes);
  return "";
}

std::string PutEnum(const std::string& text, const FieldDescriptor& field,
                    Message* message) {
  const Reflection& reflection = *message->GetReflection();
  const EnumDescriptor& type = *field.enum_type();
  const EnumValueDescriptor* value = FindEnumValue(type, text);
  if (value == nullptr) {
    return "has no value '" + text + "'" + SuggestName(text, EnumNames(type));
  }
  ORDO_PUT(Enum, value);
  return "";
}

#undef ORDO_PUT

// Keeps the place of an element that could not be read, so that those after it
// keep their index.
void AddDefault(const FieldDescriptor& field, Message* message) {
  const Reflection& reflection = *message->GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      reflection.AddString(message, &field, "");
      return;
    case FieldDescriptor::CPPTYPE_BOOL:
      reflection.AddBool(message, &field, false);
      return;
    case FieldDescriptor::CPPTYPE_ENUM:
      reflection.AddEnum(message, &field, field.default_value_enum());
      return;
    default:
      PutNumber("0", field, message);
  }
}

}  // namespace

const FieldDescriptor* FindField(const Descriptor& message,
                                 std::string_view name) {
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor* field = message.field(i);
    if (field->name() == name || field->json_name() == name) return field;
  }
  return nullptr;
}

std::string NoSuchField(const Descriptor& message, std::string_view name) {
  std::vector<std::string> names;
  names.reserve(static_cast<size_t>(message.field_count()));
  for (int i = 0; i < message.field_count(); ++i) {
    names.push_back(message.field(i)->name());
  }
  return "is no field of " + message.name() + SuggestName(name, names);
}

// What somebody who wrote no map has probably meant, by the names of fields;
// empty: no guess. "rope" is {name: rope}, and a list belongs in `with`.
std::string MeantInstead(const YamlNode& node, const Descriptor& type) {
  const FieldDescriptor* name = FindField(type, "name");
  if (name == nullptr || name->cpp_type() != FieldDescriptor::CPPTYPE_STRING) {
    return "";
  }
  if (node.kind == YamlNode::Kind::kScalar) {
    return "; write {name: " + node.text + "}";
  }
  const FieldDescriptor* with = FindField(type, "with");
  if (node.kind != YamlNode::Kind::kList || with == nullptr ||
      with->message_type() != &type) {
    return "";
  }
  std::string items;
  for (const YamlNode& item : node.items) {
    if (item.kind != YamlNode::Kind::kScalar) return "";
    items += (items.empty() ? "{name: " : ", {name: ") + item.text + "}";
  }
  return "; write {name: ..., with: [" + items + "]}, by the name of what " +
         "combines them";
}

void MessageReader::Refuse(const YamlNode& node, const std::string& why) {
  const std::string line =
      node.line == 0 ? "" : " (line " + std::to_string(node.line) + ")";
  violations_.push_back({path_, why + line});
}

void MessageReader::ReadMessage(const YamlNode& node, Message* message) {
  const Descriptor& type = *message->GetDescriptor();
  const bool is_scalar = node.kind == YamlNode::Kind::kScalar;
  const auto put = [&](const auto& parsed, auto* target) {
    if (parsed.ok()) {
      *target = *parsed;
    } else {
      Refuse(node, std::string(parsed.status().message()));
    }
  };
  if (auto* value = dynamic_cast<Value*>(message)) {
    ToValue(node, value);
  } else if (auto* list = dynamic_cast<google::protobuf::ListValue*>(message);
             list != nullptr && node.kind == YamlNode::Kind::kList) {
    for (const YamlNode& item : node.items) ToValue(item, list->add_values());
  } else if (auto* fields = dynamic_cast<google::protobuf::Struct*>(message);
             fields != nullptr && node.kind == YamlNode::Kind::kMap) {
    for (size_t i = 0; i < node.items.size(); ++i) {
      ToValue(node.items[i], &(*fields->mutable_fields())[node.keys[i]]);
    }
  } else if (auto* duration =
                 dynamic_cast<google::protobuf::Duration*>(message);
             duration != nullptr && is_scalar) {
    put(ParseDuration(node.text), duration);
  } else if (auto* timestamp =
                 dynamic_cast<google::protobuf::Timestamp*>(message);
             timestamp != nullptr && is_scalar) {
    put(ParseTimestamp(node.text), timestamp);
  } else if (node.kind == YamlNode::Kind::kMap &&
             type.file()->package() != "google.protobuf") {
    ReadFields(node, message);
  } else {
    Refuse(node, "must be " + type.name() + ", written as " +
                     (type.name() == "ListValue"   ? "a list"
                      : type.name() == "Duration"  ? "a text such as 30s"
                      : type.name() == "Timestamp" ? "a text in RFC 3339"
                                                   : "a map of its fields") +
                     ", not " + Describe(node.kind) + MeantInstead(node, type));
  }
}

void MessageReader::ReadFields(const YamlNode& node, Message* message) {
  const Descriptor& type = *message->GetDescriptor();
  std::set<const FieldDescriptor*> seen;
  std::set<const OneofDescriptor*> seen_oneofs;
  for (size_t i = 0; i < node.items.size(); ++i) {
    const YamlNode& value = node.items[i];
    const FieldDescriptor* field = FindField(type, node.keys[i]);
    // One name for both spellings, so that a check of the message names the
    // same path.
    const PathPart part(
        &path_, Joined(path_, field == nullptr ? node.keys[i] : field->name()));
    if (field == nullptr) {
      Refuse(value, NoSuchField(type, node.keys[i]));
      continue;
    }
    if (!seen.insert(field).second) {
      Refuse(value, "is there twice");
      continue;
    }
    const OneofDescriptor* oneof = field->real_containing_oneof();
    if (oneof != nullptr && !seen_oneofs.insert(oneof).second) {
      Refuse(value, "excludes another field of '" + oneof->name() +
                        "' that is set too; keep one");
      continue;
    }
    ReadField(value, *field, message);
  }
}

void MessageReader::ReadField(const YamlNode& node,
                              const FieldDescriptor& field, Message* message) {
  const Reflection& reflection = *message->GetReflection();
  const bool takes_null =
      field.message_type() != nullptr &&
      field.message_type()->full_name() == Value::descriptor()->full_name();
  if (node.kind == YamlNode::Kind::kNull && !(takes_null && !field.is_map())) {
    // "name:" with nothing after it is the same as no such line.
    reflection.ClearField(message, &field);
  } else if (field.is_map()) {
    reflection.ClearField(message, &field);
    ReadMap(node, field, message);
  } else if (field.is_repeated()) {
    reflection.ClearField(message, &field);
    if (node.kind != YamlNode::Kind::kList) {
      Refuse(node, std::string("must be a list, not ") + Describe(node.kind));
      return;
    }
    for (size_t i = 0; i < node.items.size(); ++i) {
      const PathPart part(&path_, "[" + std::to_string(i) + "]");
      ReadElement(node.items[i], field, message);
    }
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    reflection.ClearField(message, &field);
    ReadMessage(node, reflection.MutableMessage(message, &field));
  } else {
    ReadScalar(node, field, message);
  }
}

void MessageReader::ReadElement(const YamlNode& node,
                                const FieldDescriptor& field,
                                Message* message) {
  const Reflection& reflection = *message->GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    ReadMessage(node, reflection.AddMessage(message, &field));
    return;
  }
  const int size = reflection.FieldSize(*message, &field);
  ReadScalar(node, field, message);
  if (reflection.FieldSize(*message, &field) == size) {
    AddDefault(field, message);
  }
}

void MessageReader::ReadMap(const YamlNode& node, const FieldDescriptor& field,
                            Message* message) {
  if (node.kind != YamlNode::Kind::kMap) {
    Refuse(node, std::string("must be a map, not ") + Describe(node.kind));
    return;
  }
  const FieldDescriptor& key_field = *field.message_type()->map_key();
  const FieldDescriptor& value_field = *field.message_type()->map_value();
  for (size_t i = 0; i < node.items.size(); ++i) {
    const PathPart part(&path_, Joined(path_, node.keys[i]));
    Message* entry = message->GetReflection()->AddMessage(message, &field);
    YamlNode key;
    key.kind = YamlNode::Kind::kScalar;
    key.text = node.keys[i];
    key.line = node.items[i].line;
    ReadScalar(key, key_field, entry);
    ReadField(node.items[i], value_field, entry);
  }
}

void MessageReader::ReadScalar(const YamlNode& node,
                               const FieldDescriptor& field, Message* message) {
  if (node.kind != YamlNode::Kind::kScalar) {
    Refuse(node,
           std::string("must be a single value, not ") + Describe(node.kind));
    return;
  }
  std::string wrong;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      wrong = PutText(node.text, field, message);
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      wrong = PutEnum(node.text, field, message);
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      wrong = PutOr(ParseBool(node.text), [&](bool value) {
        const Reflection& reflection = *message->GetReflection();
        if (field.is_repeated()) {
          reflection.AddBool(message, &field, value);
        } else {
          reflection.SetBool(message, &field, value);
        }
      });
      break;
    default:
      wrong = PutNumber(node.text, field, message);
  }
  if (!wrong.empty()) Refuse(node, wrong);
}

}  // namespace ordo::base
