#include "base/yaml/text_form.h"

#include <algorithm>
#include <set>

#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/yaml/field_path.h"
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

}  // namespace ordo::base
