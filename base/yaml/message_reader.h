#ifndef ORDO_BASE_YAML_MESSAGE_READER_H_
#define ORDO_BASE_YAML_MESSAGE_READER_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status/details.h"
#include "base/yaml/yaml_node.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace ordo::base {

// Fills messages from trees, as text_form.h describes, and collects what is
// wrong. A field that cannot be read is left unset, an element of a list keeps
// its place with the default, an entry of a map its key. Not thread-safe.
class MessageReader {
 public:
  // Sets the fields that `node`, a map, names. Well-known types are read from
  // their short form.
  void ReadMessage(const YamlNode& node, google::protobuf::Message* message);

  // Replaces one field by `node`.
  void ReadField(const YamlNode& node,
                 const google::protobuf::FieldDescriptor& field,
                 google::protobuf::Message* message);

  // Adds one element to a repeated field.
  void ReadElement(const YamlNode& node,
                   const google::protobuf::FieldDescriptor& field,
                   google::protobuf::Message* message);

  const std::vector<FieldViolation>& violations() const { return violations_; }

 private:
  void ReadFields(const YamlNode& node, google::protobuf::Message* message);
  void ReadMap(const YamlNode& node,
               const google::protobuf::FieldDescriptor& field,
               google::protobuf::Message* message);
  void ReadScalar(const YamlNode& node,
                  const google::protobuf::FieldDescriptor& field,
                  google::protobuf::Message* message);
  void Refuse(const YamlNode& node, const std::string& why);

  // Of the node being read.
  std::string path_;
  std::vector<FieldViolation> violations_;
};

// The field that `name` means, by its own name or its name in JSON; null when
// there is none.
const google::protobuf::FieldDescriptor* FindField(
    const google::protobuf::Descriptor& message, std::string_view name);

// "is no field of JobSpec; did you mean 'steps'?"
std::string NoSuchField(const google::protobuf::Descriptor& message,
                        std::string_view name);

}  // namespace ordo::base

#endif  // ORDO_BASE_YAML_MESSAGE_READER_H_
