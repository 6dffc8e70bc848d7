#include "worker/trainer/encoding_flag.h"

#include "base/status/status.h"
#include "base/yaml/text_form.h"

namespace ordo::worker::trainer {

absl::StatusOr<std::optional<ordo::training::v1::Component>> ParseEncodingFlag(
    const std::string& text) {
  if (text.empty()) return std::nullopt;
  ordo::training::v1::Component encoding;
  // As the command line of the service takes it.
  if (text.find_first_of("{:") == std::string::npos) {
    encoding.set_name(text);
    return encoding;
  }
  ORDO_RETURN_IF_ERROR(base::AddContext(
      base::ReadMessage(text, base::TextForm::kYaml, &encoding), "--encoding"));
  return encoding;
}

}  // namespace ordo::worker::trainer
