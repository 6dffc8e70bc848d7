#include "services/cli/print.h"

#include "absl/strings/str_format.h"
#include "base/units/proto_time.h"
#include "base/units/units.h"
#include "base/yaml/text_form.h"

namespace ordo::services::cli {

bool PrintStructured(Context& context,
                     const google::protobuf::Message& message) {
  if (context.output == OutputForm::kTable) return false;
  const bool json = context.output == OutputForm::kJson;
  std::string text = base::WriteMessage(
      message, json ? base::TextForm::kJson : base::TextForm::kYaml);
  if (text.empty() || text.back() != '\n') text += '\n';
  context.out << (json ? "" : "---\n") << text;
  return true;
}

Cell StateCell(jobs::v1::Job::State state) {
  Color color = Color::kNone;
  switch (state) {
    case jobs::v1::Job::SUCCEEDED:
      color = Color::kGreen;
      break;
    case jobs::v1::Job::FAILED:
      color = Color::kRed;
      break;
    case jobs::v1::Job::CANCELLED:
    case jobs::v1::Job::CANCELLING:
      color = Color::kYellow;
      break;
    case jobs::v1::Job::STARTING:
    case jobs::v1::Job::RUNNING:
      color = Color::kBlue;
      break;
    default:
      break;
  }
  return Cell(jobs::v1::Job::State_Name(state), color);
}

bool HasEnded(jobs::v1::Job::State state) {
  return state == jobs::v1::Job::SUCCEEDED || state == jobs::v1::Job::FAILED ||
         state == jobs::v1::Job::CANCELLED;
}

std::string FormatTime(const google::protobuf::Timestamp& time) {
  if (time.seconds() == 0) return "-";
  return absl::FormatTime("%Y-%m-%d %H:%M:%S", base::ToTime(time),
                          absl::LocalTimeZone());
}

std::string FormatAge(const google::protobuf::Timestamp& time,
                      const base::Clock& clock) {
  if (time.seconds() == 0) return "-";
  // Another machine's clock may be ahead of ours.
  return base::HumanDuration(
      std::max(absl::ZeroDuration(), clock.Now() - base::ToTime(time)));
}

std::string FormatNumber(double value) {
  return absl::StrFormat("%.4g", value);
}

}  // namespace ordo::services::cli
