#include "base/yaml/text_form.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/yaml/limits.h"
#include "base/yaml/message_reader.h"
#include "base/yaml/message_writer.h"
#include "base/yaml/yaml_node.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"

namespace ordo::base {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::Message;

using Messages = std::vector<PartialMessagePtr>;

// What protobuf's parser of textproto says, as violations.
class TextprotoErrors : public google::protobuf::io::ErrorCollector {
 public:
  explicit TextprotoErrors(const Descriptor& type) { AddTypes(type); }

  void AddError(int line, int, const std::string& message) override {
    Add(line, message);
  }

  // Unknown fields are skipped with a warning, so that all are found.
  void AddWarning(int line, int, const std::string& message) override {
    constexpr std::string_view kType = "Message type \"";
    constexpr std::string_view kField = "\" has no field named \"";
    const size_t type_end = message.find(kField);
    if (message.rfind(kType, 0) != 0 || type_end == std::string::npos) {
      Add(line, message);
      return;
    }
    const std::string type_name =
        message.substr(kType.size(), type_end - kType.size());
    const size_t begin = type_end + kField.size();
    const std::string name =
        message.substr(begin, message.find('"', begin) - begin);
    for (const Descriptor* type : types_) {
      if (type->full_name() == type_name) {
        Add(line, "'" + name + "' " + NoSuchField(*type, name));
        return;
      }
    }
    Add(line, message);
  }

  const std::vector<FieldViolation>& violations() const { return violations_; }

 private:
  void Add(int line, const std::string& why) {
    violations_.push_back(
        {"", why + " (line " + std::to_string(line + 1) + ")"});
  }

  // All types that a message of `type` can hold.
  void AddTypes(const Descriptor& type) {
    if (!types_.insert(&type).second) return;
    for (int i = 0; i < type.field_count(); ++i) {
      const Descriptor* inner = type.field(i)->message_type();
      if (inner != nullptr) AddTypes(*inner);
    }
  }

  std::set<const Descriptor*> types_;
  std::vector<FieldViolation> violations_;
};

absl::StatusOr<Messages> ReadTextproto(std::string_view text,
                                       const Message& prototype) {
  if (text.size() > kMaxTextBytes) return TextTooLong(text.size());
  Messages messages(1);
  messages[0].message.reset(prototype.New());
  TextprotoErrors errors(*prototype.GetDescriptor());
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(kMaxTextDepth);
  const bool parsed =
      parser.ParseFromString(std::string(text), messages[0].message.get());
  if (!parsed) {
    ORDO_RETURN_IF_ERROR(InvalidFields(errors.violations()));
    return InvalidField("", "bad syntax");
  }
  messages[0].violations = errors.violations();
  return messages;
}

// Whether `path` is `whole` or lies within it.
bool IsPartOf(const std::string& path, const std::string& whole) {
  return path.rfind(whole, 0) == 0 &&
         (path.size() == whole.size() || path[whole.size()] == '.' ||
          path[whole.size()] == '[');
}

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

}  // namespace

absl::StatusOr<TextForm> TextFormOfFile(std::string_view path) {
  const std::string name = NameOf(path);
  const size_t dot = name.rfind('.');
  const std::string extension =
      dot == std::string::npos ? "" : name.substr(dot);
  if (extension == ".yaml" || extension == ".yml") return TextForm::kYaml;
  if (extension == ".json") return TextForm::kJson;
  if (extension == ".textproto" || extension == ".txtpb" ||
      extension == ".pbtxt") {
    return TextForm::kTextproto;
  }
  return absl::InvalidArgumentError(
      "file " + std::string(path) +
      ": its name must end in .yaml, .json or .textproto, which says how it "
      "is written");
}

absl::StatusOr<Messages> ReadMessages(std::string_view text, TextForm form,
                                      const Message& prototype) {
  if (form == TextForm::kTextproto) return ReadTextproto(text, prototype);
  ORDO_ASSIGN_OR_RETURN(const std::vector<YamlNode> documents, ParseYaml(text));
  if (form == TextForm::kJson && documents.size() > 1) {
    return InvalidField("", "a JSON file holds one object");
  }
  Messages messages;
  for (const YamlNode& document : documents) {
    MessageReader reader;
    std::unique_ptr<Message> message(prototype.New());
    reader.ReadMessage(document, message.get());
    messages.push_back({std::move(message), reader.violations()});
  }
  return messages;
}

absl::Status CheckHoldsOne(size_t num_messages, const Descriptor& type) {
  if (num_messages == 1) return absl::OkStatus();
  return InvalidField("", "must hold one " + type.name() + ", not " +
                              std::to_string(num_messages));
}

std::vector<FieldViolation> WithoutUnread(
    const std::vector<FieldViolation>& violations,
    const std::vector<FieldViolation>& unread) {
  std::vector<FieldViolation> rest;
  for (const FieldViolation& found : violations) {
    const bool follows = std::any_of(
        unread.begin(), unread.end(), [&](const FieldViolation& cause) {
          return !cause.field.empty() && IsPartOf(found.field, cause.field);
        });
    if (!follows) rest.push_back(found);
  }
  return rest;
}

absl::Status ReadMessage(std::string_view text, TextForm form,
                         Message* message) {
  ORDO_ASSIGN_OR_RETURN(const Messages messages,
                        ReadMessages(text, form, *message));
  ORDO_RETURN_IF_ERROR(
      CheckHoldsOne(messages.size(), *message->GetDescriptor()));
  ORDO_RETURN_IF_ERROR(InvalidFields(messages[0].violations));
  message->CopyFrom(*messages[0].message);
  return absl::OkStatus();
}

std::string WriteMessage(const Message& message, TextForm form) {
  switch (form) {
    case TextForm::kYaml:
      return PrintYaml(WriteTree(message, /*for_json=*/false));
    case TextForm::kJson:
      return PrintJson(WriteTree(message, /*for_json=*/true));
    case TextForm::kTextproto:
      break;
  }
  std::string text;
  google::protobuf::TextFormat::PrintToString(message, &text);
  return text;
}

absl::Status SetField(std::string_view path, std::string_view value,
                      Message* message) {
  ORDO_ASSIGN_OR_RETURN(const std::vector<Step> steps, SplitPath(path));
  // Changed as a tree and read again, so that errors are those of a file.
  YamlNode tree = WriteTree(*message, /*for_json=*/false);
  YamlNode* node = &tree;
  for (const Step& step : steps) {
    const auto child = ChildOf(node, step);
    if (!child.ok()) {
      return InvalidField(path, std::string(child.status().message()));
    }
    node = *child;
  }
  *node = ParseSetting(value);
  const std::unique_ptr<Message> changed(message->New());
  MessageReader reader;
  reader.ReadMessage(tree, changed.get());
  ORDO_RETURN_IF_ERROR(InvalidFields(reader.violations()));
  message->CopyFrom(*changed);
  return absl::OkStatus();
}

}  // namespace ordo::base
