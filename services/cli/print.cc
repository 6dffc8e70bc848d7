#include "services/cli/print.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "base/units/proto_time.h"
#include "base/units/units.h"
#include "base/yaml/text_form.h"

namespace ordo::services::cli {
namespace {

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S %Z", time, absl::LocalTimeZone());
}

}  // namespace

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

bool CouldStart(const jobs::v1::Job& job) {
  return job.state() == jobs::v1::Job::QUEUED && job.parts().empty();
}

std::string FormatTime(const google::protobuf::Timestamp& time) {
  if (time.seconds() == 0) return "-";
  return TimeText(base::ToTime(time));
}

std::string WithLocalTimes(const std::string& text) {
  constexpr size_t kSize = sizeof("2026-11-20T20:30:05+00:00") - 1;
  std::string local;
  for (size_t i = 0; i < text.size();) {
    const std::string word = text.substr(i, kSize);
    absl::Time time;
    // What is parsed may begin and end with spaces.
    if (word.size() == kSize && absl::ascii_isdigit(word.front()) &&
        absl::ascii_isdigit(word.back()) &&
        absl::ParseTime(absl::RFC3339_sec, word, &time, nullptr)) {
      local += TimeText(time);
      i += kSize;
    } else {
      local += text[i++];
    }
  }
  return local;
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
