#include "base/yaml/field_path.h"

#include <charconv>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/yaml/message_reader.h"
#include "base/yaml/message_writer.h"
#include "base/yaml/yaml_node.h"

namespace ordo::base {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;

// One step of a path: the name of a field, the key of a map, or an index.
struct Step {
  std::string text;
  bool in_brackets = false;
};

absl::StatusOr<std::vector<Step>> SplitPath(std::string_view path) {
  std::vector<Step> steps(1);
  for (const char c : path) {
    if (c == '.' || c == '[') {
      steps.push_back({"", c == '['});
    } else if (c != ']') {
      steps.back().text += c;
    }
  }
  for (const Step& step : steps) {
    if (step.text.empty()) {
      return InvalidField(path, "is no path of a field, such as a.b[0].c");
    }
  }
  return steps;
}

// The child of `node` that `step` names, made when missing.
absl::StatusOr<YamlNode*> ChildOf(YamlNode* node, const Step& step) {
  if (node->kind == YamlNode::Kind::kList || step.in_brackets) {
    if (node->kind == YamlNode::Kind::kNull) {
      node->kind = YamlNode::Kind::kList;
    }
    const size_t size = node->items.size();
    size_t index = 0;
    const char* const end = step.text.data() + step.text.size();
    const auto parsed = std::from_chars(step.text.data(), end, index);
    if (node->kind != YamlNode::Kind::kList || parsed.ec != std::errc() ||
        parsed.ptr != end || index > size) {
      return absl::InvalidArgumentError("'" + step.text +
                                        "' is no index of this list; valid: "
                                        "0 to " +
                                        std::to_string(size));
    }
    if (index == size) node->items.emplace_back();
    return &node->items[index];
  }
  if (node->kind != YamlNode::Kind::kMap) {
    *node = YamlNode();
    node->kind = YamlNode::Kind::kMap;
  }
  for (size_t i = 0; i < node->keys.size(); ++i) {
    if (node->keys[i] == step.text) return &node->items[i];
  }
  node->Add(step.text, YamlNode());
  return &node->items.back();
}

// The line means nothing in a value from the command line.
void ForgetLines(YamlNode* node) {
  node->line = 0;
  for (YamlNode& item : node->items) ForgetLines(&item);
}

// The value of `--set`: a list, a map or a quoted text in YAML, or else the
// text as it stands.
YamlNode ParseSetting(std::string_view text) {
  auto documents = ParseYaml(text);
  if (documents.ok() && documents->size() == 1) {
    YamlNode& node = documents->front();
    ForgetLines(&node);
    if (node.kind != YamlNode::Kind::kScalar || node.quoted) return node;
  }
  YamlNode node;
  node.kind = YamlNode::Kind::kScalar;
  node.text = std::string(text);
  return node;
}

// Sets the field to a tree. Changed as a tree and read again, so that errors
// are those of a file.
absl::Status SetTo(std::string_view path, YamlNode value, Message* message) {
  ORDO_ASSIGN_OR_RETURN(const std::vector<Step> steps, SplitPath(path));
  YamlNode tree = WriteTree(*message, /*for_json=*/false);
  YamlNode* node = &tree;
  for (const Step& step : steps) {
    const auto child = ChildOf(node, step);
    if (!child.ok()) {
      return InvalidField(path, std::string(child.status().message()));
    }
    node = *child;
  }
  *node = std::move(value);
  const std::unique_ptr<Message> changed(message->New());
  MessageReader reader;
  reader.ReadMessage(tree, changed.get());
  ORDO_RETURN_IF_ERROR(InvalidFields(reader.violations()));
  message->CopyFrom(*changed);
  return absl::OkStatus();
}

bool IsIndex(const std::string& text) {
  for (const char c : text) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return false;
  }
  return !text.empty();
}

// The messages that are written as something else than their fields.
bool HasShortForm(const Descriptor& type) {
  return type.file()->package() == "google.protobuf";
}

}  // namespace

absl::Status SetField(std::string_view path, std::string_view value,
                      Message* message) {
  return SetTo(path, ParseSetting(value), message);
}

absl::Status SetField(std::string_view path,
                      const google::protobuf::Value& value, Message* message) {
  return SetTo(path, WriteTree(value, /*for_json=*/false), message);
}

absl::Status CheckFieldPath(std::string_view path, const Descriptor& type) {
  ORDO_ASSIGN_OR_RETURN(const std::vector<Step> steps, SplitPath(path));
  const Descriptor* message = &type;
  for (size_t i = 0; i < steps.size(); ++i) {
    // A value of any form, in which all is a key.
    if (message != nullptr && HasShortForm(*message) &&
        message->full_name() != "google.protobuf.Duration" &&
        message->full_name() != "google.protobuf.Timestamp") {
      return absl::OkStatus();
    }
    if (message == nullptr || HasShortForm(*message)) {
      return InvalidField(
          path, "goes on below a single value, at '" + steps[i].text + "'");
    }
    const FieldDescriptor* const field = FindField(*message, steps[i].text);
    if (field == nullptr || steps[i].in_brackets) {
      return InvalidField(path, (steps[i].in_brackets ? "[" : "'") +
                                    steps[i].text +
                                    (steps[i].in_brackets ? "] " : "' ") +
                                    NoSuchField(*message, steps[i].text));
    }
    message = field->message_type();
    if (!field->is_repeated() || i + 1 == steps.size()) continue;
    ++i;
    if (field->is_map()) {
      message = field->message_type()->map_value()->message_type();
    } else if (!IsIndex(steps[i].text)) {
      return InvalidField(
          path, "'" + steps[i].text + "' is no index of a list, such as [0]");
    }
  }
  return absl::OkStatus();
}

bool IsPartOf(std::string_view path, std::string_view whole) {
  return path.substr(0, whole.size()) == whole &&
         (path.size() == whole.size() || path[whole.size()] == '.' ||
          path[whole.size()] == '[');
}

}  // namespace ordo::base
