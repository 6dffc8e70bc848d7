#ifndef ORDO_BASE_TEXT_PROTO_BYTES_H_
#define ORDO_BASE_TEXT_PROTO_BYTES_H_

#include <string>

#include "google/protobuf/message_lite.h"

namespace ordo::base {

// The same bytes for equal messages, whatever the order of their maps, as long
// as one build of the program writes both.
std::string DeterministicBytes(const google::protobuf::MessageLite& message);

// Such bytes without the first field of this number, as if it had not been set;
// all of them where it is not.
std::string WithoutField(const std::string& bytes, int field_number);

}  // namespace ordo::base

#endif  // ORDO_BASE_TEXT_PROTO_BYTES_H_
