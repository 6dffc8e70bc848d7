#include "scheduler/main/config.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/log/log.h"
#include "base/rpc/address.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/util/time_util.h"
#include "scheduler/core/moment.h"
#include "scheduler/main/auth_config.h"
#include "scheduler/main/tls.h"
#include "scheduler/policy/table.h"

namespace ordo::scheduler {
namespace {

using config::v1::SchedulerConfig;
using core::ToDuration;
using google::protobuf::util::TimeUtil;
using Violations = std::vector<base::FieldViolation>;

constexpr size_t kMaxConfigBytes = 1 << 20;
constexpr char kDefaultListen[] = "127.0.0.1:7420";
constexpr char kDefaultMetricsListen[] = "127.0.0.1:0";

struct DurationRule {
  const char* field;
  absl::Duration standard;
  absl::Duration min;
};
constexpr absl::Duration kMaxDuration = absl::Hours(24);
constexpr DurationRule kDurationRules[] = {
    {"lease", absl::Seconds(10), absl::Milliseconds(100)},
    {"heartbeat", absl::Seconds(2), absl::Milliseconds(10)},
    {"retry_backoff", absl::Seconds(1), absl::ZeroDuration()},
    {"retry_backoff_max", absl::Seconds(60), absl::ZeroDuration()},
    {"cancel_grace", absl::Seconds(2), absl::ZeroDuration()},
    {"stop_grace", absl::Seconds(30), absl::ZeroDuration()},
    {"min_run_time", policy::BoardOptions().min_run_time, absl::ZeroDuration()},
};

void ResolveDurations(SchedulerConfig* config, Violations* violations) {
  const auto& reflection = *SchedulerConfig::GetReflection();
  for (const DurationRule& rule : kDurationRules) {
    const auto* field =
        SchedulerConfig::descriptor()->FindFieldByName(rule.field);
    const bool is_set = reflection.HasField(*config, field);
    auto* value = static_cast<google::protobuf::Duration*>(
        reflection.MutableMessage(config, field));
    if (!is_set) *value = core::ToProtoDuration(rule.standard);
    const absl::Duration given = ToDuration(*value);
    if (given >= rule.min && given <= kMaxDuration) continue;
    violations->push_back(
        {rule.field, absl::StrCat("must be ", absl::FormatDuration(rule.min),
                                  " to ", absl::FormatDuration(kMaxDuration),
                                  ", is ", absl::FormatDuration(given))});
  }
  if (TimeUtil::DurationToNanoseconds(config->heartbeat()) >=
      TimeUtil::DurationToNanoseconds(config->lease())) {
    violations->push_back({"heartbeat", "must be shorter than lease"});
  }
  if (TimeUtil::DurationToNanoseconds(config->retry_backoff()) >
      TimeUtil::DurationToNanoseconds(config->retry_backoff_max())) {
    violations->push_back(
        {"retry_backoff", "must not be longer than retry_backoff_max"});
  }
}

struct NumberRule {
  const char* field;
  int64_t standard;
  int32_t min;
  int32_t max;
};
constexpr services::limits::LimitsOptions kLimits;
constexpr NumberRule kNumberRules[] = {
    {"calls_per_second", kLimits.calls_per_second, 0, 10'000'000},
    {"streams_per_user", kLimits.streams_per_user, 1, 1'000'000},
    {"streams", kLimits.streams, 1, 1'000'000},
};

void ResolveNumbers(SchedulerConfig* config, Violations* violations) {
  const auto& reflection = *SchedulerConfig::GetReflection();
  for (const NumberRule& rule : kNumberRules) {
    const auto* field =
        SchedulerConfig::descriptor()->FindFieldByName(rule.field);
    if (!reflection.HasField(*config, field)) {
      reflection.SetInt32(config, field, static_cast<int32_t>(rule.standard));
    }
    const int32_t given = reflection.GetInt32(*config, field);
    if (given >= rule.min && given <= rule.max) continue;
    violations->push_back({rule.field, absl::StrCat("must be ", rule.min, "..",
                                                    rule.max, ", is ", given)});
  }
}

// A field with an address to listen on, and its default.
struct ListenField {
  const char* name;
  const char* standard;
  std::string* value;
};

void ResolveListen(const ListenField& field, bool permitted,
                   Violations* violations) {
  std::string& listen = *field.value;
  if (listen.empty()) listen = field.standard;
  const absl::Status status = base::CheckListen(listen, permitted);
  if (!status.ok()) {
    violations->push_back({field.name, std::string(status.message())});
  }
}

void RequireAbsolute(const char* field, const std::string& path,
                     Violations* violations) {
  if (path.empty()) {
    violations->push_back({field, "is required"});
  } else if (path[0] != '/') {
    violations->push_back(
        {field, absl::StrCat("must be an absolute path, is ", path)});
  }
}

void ResolveRetention(SchedulerConfig* config, Violations* violations) {
  if (config->has_retention_age() &&
      ToDuration(config->retention_age()) < absl::Seconds(1)) {
    violations->push_back(
        {"retention_age",
         absl::StrCat("must be at least 1s, is ",
                      absl::FormatDuration(ToDuration(config->retention_age())),
                      "; leave it out for jobs to stay")});
  }
  if (config->has_retention_jobs() && config->retention_jobs() < 0) {
    violations->push_back(
        {"retention_jobs",
         absl::StrCat("must not be negative, is ", config->retention_jobs(),
                      "; leave it out for any number to stay")});
  }
  if (config->archive().empty()) {
    config->set_archive(config->store() + ".archive.jsonl");
  } else {
    RequireAbsolute("archive", config->archive(), violations);
  }
}

}  // namespace

absl::StatusOr<SchedulerConfig> ResolveConfig(SchedulerConfig config,
                                              const std::string& deployment) {
  Violations violations;
  const bool may_be_reached = config.insecure() || config.has_tls();
  ResolveListen({"listen", kDefaultListen, config.mutable_listen()},
                may_be_reached, &violations);
  ResolveListen({"metrics_listen", kDefaultMetricsListen,
                 config.mutable_metrics_listen()},
                may_be_reached, &violations);
  if (config.has_tls()) ResolveTls(config.mutable_tls(), &violations);
  // Who has certificates is known by them.
  if (config.has_tls() || config.has_auth()) {
    ResolveAuth(config.mutable_auth(), &violations);
  }
  if (!config.audit_log().empty()) {
    RequireAbsolute("audit_log", config.audit_log(), &violations);
  }
  RequireAbsolute("store", config.store(), &violations);
  RequireAbsolute("storage_root", config.storage_root(), &violations);
  if (!config.endpoints_file().empty()) {
    RequireAbsolute("endpoints_file", config.endpoints_file(), &violations);
  }
  ResolveDurations(&config, &violations);
  ResolveRetention(&config, &violations);
  ResolveNumbers(&config, &violations);
  if (!deployment.empty()) config.set_deployment(deployment);
  if (config.log_level().empty()) config.set_log_level("info");
  base::LogLevel level;
  if (const absl::Status status =
          base::ParseLogLevel(config.log_level(), &level);
      !status.ok()) {
    violations.push_back({"log_level", std::string(status.message())});
  }
  if (config.log_format().empty()) config.set_log_format("text");
  base::LogFormat format;
  if (const absl::Status status =
          base::ParseLogFormat(config.log_format(), &format);
      !status.ok()) {
    violations.push_back({"log_format", std::string(status.message())});
  }
  ORDO_RETURN_IF_ERROR(base::InvalidFields(violations));
  return config;
}

absl::StatusOr<SchedulerConfig> ReadConfig(base::Filesystem& files,
                                           const std::string& path) {
  const std::string attempted = absl::StrCat("read configuration ", path);
  ORDO_ASSIGN_OR_RETURN(
      const std::string text,
      base::AddContext(base::ReadFile(files, path, kMaxConfigBytes),
                       attempted));
  ORDO_ASSIGN_OR_RETURN(
      const base::TextForm form,
      base::AddContext(base::TextFormOfFile(path), attempted));
  SchedulerConfig config;
  ORDO_RETURN_IF_ERROR(
      base::AddContext(base::ReadMessage(text, form, &config), attempted));
  return config;
}

server::RetentionOptions RetentionOf(const SchedulerConfig& config) {
  server::RetentionOptions options;
  if (config.has_retention_age()) {
    options.age = ToDuration(config.retention_age());
  }
  if (config.has_retention_jobs()) options.max_jobs = config.retention_jobs();
  options.archive = config.archive();
  return options;
}

core::Options CoreOptions(const SchedulerConfig& config) {
  core::Options options;
  const auto policy = policy::FindPolicy(policy::kDefaultPolicy);
  options.place = policy->place;
  options.lease = ToDuration(config.lease());
  options.heartbeat = ToDuration(config.heartbeat());
  options.retry_backoff = ToDuration(config.retry_backoff());
  options.retry_backoff_max = ToDuration(config.retry_backoff_max());
  options.cancel_grace = ToDuration(config.cancel_grace());
  options.stop_grace = ToDuration(config.stop_grace());
  options.board.min_run_time = ToDuration(config.min_run_time());
  return options;
}

services::limits::LimitsOptions ApiLimits(const SchedulerConfig& config) {
  services::limits::LimitsOptions limits;
  limits.calls_per_second = config.calls_per_second();
  limits.streams_per_user = config.streams_per_user();
  limits.streams = config.streams();
  return limits;
}

}  // namespace ordo::scheduler
