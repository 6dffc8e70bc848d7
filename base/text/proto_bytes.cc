#include "base/text/proto_bytes.h"

#include <cstdint>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/wire_format_lite.h"

namespace ordo::base {

using google::protobuf::internal::WireFormatLite;

std::string DeterministicBytes(const google::protobuf::MessageLite& message) {
  std::string bytes;
  bytes.reserve(message.ByteSizeLong());
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

std::string WithoutField(const std::string& bytes, int field_number) {
  google::protobuf::io::CodedInputStream input(
      reinterpret_cast<const uint8_t*>(bytes.data()),
      static_cast<int>(bytes.size()));
  while (true) {
    const int begin = input.CurrentPosition();
    const uint32_t tag = input.ReadTag();
    if (tag == 0 || !WireFormatLite::SkipField(&input, tag)) return bytes;
    if (WireFormatLite::GetTagFieldNumber(tag) != field_number) continue;
    std::string rest = bytes.substr(0, begin);
    rest.append(bytes, input.CurrentPosition());
    return rest;
  }
}

}  // namespace ordo::base
