#include "services/cli/commands/queue_settings.h"

#include <algorithm>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "google/protobuf/util/message_differencer.h"
#include "google/protobuf/util/time_util.h"
#include "services/queues/queue_check.h"

namespace ordo::services::cli {
namespace {

using google::protobuf::util::MessageDifferencer;
using ordo::queues::v1::Queue;
using ordo::queues::v1::Quota;

// An option and the field that it sets.
struct Setting {
  const char* option;
  const char* field;
};
constexpr Setting kSettings[] = {
    {"weight", "weight"},
    {"quota", "quotas"},
    {"max-devices-per-owner", "max_devices_per_owner"},
    {"max-queued-jobs", "max_queued_jobs"},
    {"default-run-time", "default_run_time_limit"},
    {"max-run-time", "max_run_time_limit"},
};

// "cuda=4:8", "cuda=4", "cuda=:8".
absl::StatusOr<Quota> ParseQuota(const std::string& text) {
  const absl::Status wrong = absl::InvalidArgumentError(absl::StrCat(
      "--quota takes DEVICE=GUARANTEED, DEVICE=GUARANTEED:LIMIT or "
      "DEVICE=:LIMIT, such as cuda=4:8; not '",
      text, "'"));
  const auto assignment = SplitAssignment("quota", text);
  if (!assignment.ok()) return wrong;
  Quota quota;
  quota.set_device(assignment->first);
  const std::vector<std::string> numbers =
      absl::StrSplit(assignment->second, ':');
  int32_t guaranteed = 0;
  int32_t limit = 0;
  const bool has_limit = numbers.size() == 2;
  if (numbers.size() > 2 || (numbers[0].empty() && !has_limit) ||
      (!numbers[0].empty() && !absl::SimpleAtoi(numbers[0], &guaranteed)) ||
      (has_limit && !absl::SimpleAtoi(numbers[1], &limit))) {
    return wrong;
  }
  quota.set_guaranteed(guaranteed);
  if (has_limit) quota.set_limit(limit);
  return quota;
}

absl::Status SetDuration(const Arguments& arguments, const std::string& option,
                         google::protobuf::Duration* duration) {
  ORDO_ASSIGN_OR_RETURN(const absl::Duration given,
                        arguments.GetDuration(option, absl::ZeroDuration()));
  *duration = google::protobuf::util::TimeUtil::NanosecondsToDuration(
      absl::ToInt64Nanoseconds(given));
  return absl::OkStatus();
}

absl::Status SetField(const Arguments& arguments, const std::string& option,
                      Queue* queue) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  if (option == "weight") {
    double weight = 0;
    if (!absl::SimpleAtod(arguments.Get(option, ""), &weight)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--weight takes a number; not '", arguments.Get(option, ""), "'"));
    }
    queue->set_weight(weight);
  } else if (option == "quota") {
    for (const std::string& text : arguments.All(option)) {
      ORDO_ASSIGN_OR_RETURN(*queue->add_quotas(), ParseQuota(text));
    }
  } else if (option == "max-devices-per-owner") {
    ORDO_ASSIGN_OR_RETURN(const int64_t devices,
                          arguments.GetInt(option, 0, 0, kMax));
    queue->set_max_devices_per_owner(static_cast<int32_t>(devices));
  } else if (option == "max-queued-jobs") {
    ORDO_ASSIGN_OR_RETURN(const int64_t jobs,
                          arguments.GetInt(option, 0, 0, kMax));
    queue->set_max_queued_jobs(static_cast<int32_t>(jobs));
  } else if (option == "default-run-time") {
    return SetDuration(arguments, option,
                       queue->mutable_default_run_time_limit());
  } else {
    return SetDuration(arguments, option, queue->mutable_max_run_time_limit());
  }
  return absl::OkStatus();
}

absl::StatusOr<const Setting*> FindSetting(const std::string& option) {
  std::vector<std::string> names;
  for (const Setting& setting : kSettings) {
    if (option == setting.option) return &setting;
    names.push_back(setting.option);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--unset ", option, ": no such setting",
                   base::SuggestName(option, names)));
}

}  // namespace

std::vector<Option> QueueOptionTable() {
  return {
      {"weight", 0, "NUMBER", "its part beside those of others; default 1"},
      {"quota", 0, "DEVICE=MIN:MAX",
       "devices guaranteed and at most, as in cuda=4:8", true},
      {"max-devices-per-owner", 0, "N", "that one owner's jobs may hold"},
      {"max-queued-jobs", 0, "N", "jobs that may be in it"},
      {"default-run-time", 0, "LIMIT", "of jobs that set no run_time_limit"},
      {"max-run-time", 0, "LIMIT", "largest run_time_limit of its jobs"},
      {"unset", 0, "OPTION", "back to the default, such as quota", true},
  };
}

absl::StatusOr<QueueSettings> ParseQueueSettings(const Arguments& arguments) {
  QueueSettings settings;
  for (const Setting& setting : kSettings) {
    if (!arguments.Has(setting.option)) continue;
    ORDO_RETURN_IF_ERROR(SetField(arguments, setting.option, &settings.queue));
    settings.mask.add_paths(setting.field);
  }
  for (const std::string& option : arguments.All("unset")) {
    ORDO_ASSIGN_OR_RETURN(const Setting* setting, FindSetting(option));
    if (arguments.Has(option)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--", option, " beside --unset ", option, "; leave one out"));
    }
    settings.mask.add_paths(setting->field);
  }
  return settings;
}

bool HasSettings(const Queue& queue, const QueueSettings& settings) {
  const auto now = queues::ResolveQueue(queue);
  const auto merged = queues::MergeQueue(queue, settings.queue, settings.mask);
  if (!now.ok() || !merged.ok()) return false;
  const auto asked = queues::ResolveQueue(*merged);
  return asked.ok() && MessageDifferencer::Equals(*now, *asked);
}

bool HasOnlySettings(const Queue& queue, const Queue& settings) {
  QueueSettings all{settings, {}};
  all.mask.add_paths("*");
  return HasSettings(queue, all);
}

void KeepOtherQuotas(const Queue& now, Queue* change) {
  std::vector<Quota> given(change->quotas().begin(), change->quotas().end());
  change->clear_quotas();
  for (const Quota& quota : now.quotas()) {
    const auto same =
        std::find_if(given.begin(), given.end(), [&quota](const Quota& each) {
          return each.device() == quota.device();
        });
    *change->add_quotas() = same == given.end() ? quota : *same;
    if (same != given.end()) given.erase(same);
  }
  for (const Quota& quota : given) *change->add_quotas() = quota;
}

std::string QuotaText(const Quota& quota) {
  if (!quota.has_limit()) return absl::StrCat(quota.guaranteed());
  if (quota.limit() == 0) return "none may run";
  return absl::StrCat(
      quota.guaranteed() > 0 ? absl::StrCat(quota.guaranteed(), " of ") : "",
      "at most ", quota.limit());
}

}  // namespace ordo::services::cli
