#include "scheduler/core/spec_table.h"

#include <functional>
#include <string>
#include <utility>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace ordo::scheduler::core {

std::string SpecBytes(const jobs::v1::JobSpec& spec) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  spec.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

SpecPtr SpecTable::Share(jobs::v1::JobSpec spec) {
  spec.clear_name();
  const std::string bytes = SpecBytes(spec);
  std::weak_ptr<const jobs::v1::JobSpec>& known =
      specs_[std::hash<std::string>()(bytes)];
  SpecPtr shared = known.lock();
  if (shared != nullptr && SpecBytes(*shared) == bytes) return shared;
  auto own = std::make_shared<const jobs::v1::JobSpec>(std::move(spec));
  if (shared == nullptr) known = own;
  return own;
}

}  // namespace ordo::scheduler::core
