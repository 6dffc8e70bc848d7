#ifndef ORDO_BASE_YAML_MESSAGE_WRITER_H_
#define ORDO_BASE_YAML_MESSAGE_WRITER_H_

#include "base/yaml/yaml_node.h"
#include "google/protobuf/message.h"

namespace ordo::base {

// A message as a tree that MessageReader reads back: set fields in the order of
// their numbers, map entries by key. With `for_json`, what JSON has no number
// for is quoted: 64-bit integers, infinities and not-a-number.
YamlNode WriteTree(const google::protobuf::Message& message, bool for_json);

}  // namespace ordo::base

#endif  // ORDO_BASE_YAML_MESSAGE_WRITER_H_
