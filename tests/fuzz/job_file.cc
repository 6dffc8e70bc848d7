// A job file as people write it, YAML: whatever it says, it is read or refused;
// what is accepted is a fixed point of resolving, and comes back from its text.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/util/message_differencer.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "services/spec/resolve_job_spec.h"
#include "services/spec/spec_size.h"

namespace ordo::tests::fuzz {
namespace {

using google::protobuf::util::MessageDifferencer;
using jobs::v1::JobSpec;

void Check(const JobSpec& spec) {
  const auto resolved = services::spec::ResolveJobSpec(spec);
  services::spec::CheckSpecSize(spec).IgnoreError();
  if (!resolved.ok()) return;
  services::spec::NoticesOf(*resolved);
  services::spec::UncheckedOf(*resolved);
  const auto again = services::spec::ResolveJobSpec(*resolved);
  ORDO_CHECK(again.ok()) << again.status();
  ORDO_CHECK(MessageDifferencer::Equals(*resolved, *again))
      << resolved->ShortDebugString() << "\nthen " << again->ShortDebugString();
  for (const base::TextForm form :
       {base::TextForm::kYaml, base::TextForm::kJson,
        base::TextForm::kTextproto}) {
    JobSpec back;
    const std::string text = base::WriteMessage(*resolved, form);
    const absl::Status read = base::ReadMessage(text, form, &back);
    ORDO_CHECK(read.ok()) << read << " of\n" << text;
    ORDO_CHECK(MessageDifferencer::Equals(*resolved, back)) << text;
  }
}

}  // namespace
}  // namespace ordo::tests::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = ordo::base::ReadMessagesOf<ordo::jobs::v1::JobSpec>(
      text, ordo::base::TextForm::kYaml);
  if (!read.ok()) return 0;
  for (const auto& one : *read) ordo::tests::fuzz::Check(one.message);
  return 0;
}
