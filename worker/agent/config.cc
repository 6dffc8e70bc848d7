#include "worker/agent/config.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/log/log.h"
#include "base/process/process.h"
#include "base/rpc/address.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/text/labels.h"
#include "base/units/proto_time.h"
#include "base/yaml/text_form.h"
#include "worker/agent/drain.h"
#include "worker/agent/sandbox.h"
#include "worker/agent/tls_config.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::config::v1::WorkerConfig;

constexpr size_t kMaxConfigBytes = 1 << 20;
constexpr size_t kMaxWorkerIdBytes = 63;
constexpr char kDefaultListen[] = "127.0.0.1:0";
constexpr int64_t kDefaultStopGraceS = 30;
constexpr int64_t kMaxStopGraceS = 24 * 3600;
// The last second of the year 9999.
constexpr int64_t kMaxEndTimeS = 253402300799;
constexpr int kMaxLabels = 62;
constexpr int kMaxCpus = 65536;

bool IsWorkerId(const std::string& text) {
  return !text.empty() && text.size() <= kMaxWorkerIdBytes &&
         std::all_of(text.begin(), text.end(), [](const char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

void FillDefaults(WorkerConfig* config) {
  if (config->listen().empty()) config->set_listen(kDefaultListen);
  if (config->metrics_listen().empty()) {
    config->set_metrics_listen(kDefaultListen);
  }
  if (config->log_level().empty()) config->set_log_level("info");
  if (config->log_format().empty()) config->set_log_format("text");
  if (!config->has_stop_grace()) {
    config->mutable_stop_grace()->set_seconds(kDefaultStopGraceS);
  }
  if (config->trainer().empty()) {
    const auto trainer = base::SiblingBinary("ordo-trainer");
    if (trainer.ok()) config->set_trainer(*trainer);
  }
}

// A worker whose labels were taken once starts with those that no job can ask
// for left out.
void LeaveOutBadLabels(WorkerConfig* config) {
  for (const base::FieldViolation& each :
       base::TakeOutBadLabels("labels", config->mutable_labels())) {
    base::LogWarning(
        "a label of the configuration is left out, and will be refused by a "
        "later release; mend it",
        {{"field", each.field}, {"error", each.description}});
  }
}

// From a day after 1970 on, so that the grace before it is a time too.
void CheckEndTime(const WorkerConfig& config,
                  std::vector<base::FieldViolation>* violations) {
  const auto& end = config.end_time();
  if (!config.has_end_time() ||
      (end.seconds() >= kMaxStopGraceS && end.seconds() <= kMaxEndTimeS &&
       end.nanos() >= 0)) {
    return;
  }
  violations->push_back(
      {"end_time", "must be a time after 1970, such as 2030-01-31T12:00:00Z"});
}

void CheckLog(const WorkerConfig& config,
              std::vector<base::FieldViolation>* violations) {
  base::LogLevel level;
  if (!base::ParseLogLevel(config.log_level(), &level).ok()) {
    violations->push_back(
        {"log_level", "must be debug, info, warning or error"});
  }
  base::LogFormat format;
  if (!base::ParseLogFormat(config.log_format(), &format).ok()) {
    violations->push_back({"log_format", "must be text or json"});
  }
}

}  // namespace

absl::Status CheckConfig(WorkerConfig* config) {
  FillDefaults(config);
  std::vector<base::FieldViolation> violations;
  if (!IsWorkerId(config->worker())) {
    violations.push_back(
        {"worker", "must be 1 to 63 lower-case letters, digits and hyphens"});
  }
  const auto require = [&](const char* field, const absl::Status& status) {
    if (!status.ok()) {
      violations.push_back({field, std::string(status.message())});
    }
  };
  require("scheduler", base::ParseHostPort(config->scheduler()).status());
  const bool may_be_reached = config->insecure() || config->has_tls();
  require("listen", base::CheckListen(config->listen(), may_be_reached));
  require("metrics_listen",
          base::CheckListen(config->metrics_listen(), may_be_reached));
  if (config->state_folder().empty()) {
    violations.push_back({"state_folder", "must name a local folder"});
  }
  if (config->storage_root().empty()) {
    violations.push_back({"storage_root", "must name the shared storage"});
  }
  if (config->has_tls()) {
    ResolveTls(config->state_folder(), config->mutable_tls(), &violations);
  }
  for (int i = 0; i < config->data_roots_size(); ++i) {
    const std::string& root = config->data_roots(i);
    if (!root.empty() && root.front() == '/' &&
        root.find(':') == std::string::npos) {
      continue;
    }
    violations.push_back({absl::StrCat("data_roots[", i, "]"),
                          absl::StrCat("'", root,
                                       "' must be an absolute folder without "
                                       "a colon in its path")});
  }
  if (config->trainer().empty()) {
    violations.push_back(
        {"trainer",
         "must name the trainer's executable: ordo-trainer is not beside "
         "ordo-worker"});
  }
  CheckLog(*config, &violations);
  if (config->stop_grace().seconds() < 0 ||
      config->stop_grace().seconds() > kMaxStopGraceS) {
    violations.push_back({"stop_grace", "must be between 0 s and 24 h"});
  }
  CheckEndTime(*config, &violations);
  LeaveOutBadLabels(config);
  base::CheckLabels(config->labels(), {"labels", kMaxLabels}, &violations);
  if (config->cpus() < 0 || config->cpus() > kMaxCpus) {
    violations.push_back(
        {"cpus", absl::StrCat("must be between 1 and ", kMaxCpus,
                              ", or left out for those that there are")});
  }
  if (config->memory_bytes() < 0) {
    violations.push_back({"memory_bytes",
                          "must not be negative; left out it is the "
                          "machine's"});
  }
  CheckSandbox(config->mutable_sandbox(), &violations);
  return base::InvalidFields(violations);
}

std::optional<google::protobuf::Timestamp> LeaveTime(
    const WorkerConfig& config) {
  if (!config.has_end_time()) return std::nullopt;
  return base::ToTimestamp(base::ToTime(config.end_time()) -
                           base::ToDuration(config.stop_grace()) -
                           Drain::kMargin);
}

absl::StatusOr<WorkerConfig> ReadConfig(const std::string& path,
                                        const ConfigFlags& flags) {
  base::PosixFilesystem files;
  ORDO_ASSIGN_OR_RETURN(
      const std::string text,
      base::AddContext(base::ReadFile(files, path, kMaxConfigBytes),
                       "read configuration"));
  ORDO_ASSIGN_OR_RETURN(const base::TextForm form, base::TextFormOfFile(path));
  WorkerConfig config;
  ORDO_RETURN_IF_ERROR(
      base::AddContext(base::ReadMessage(text, form, &config), path));
  if (!flags.deployment.empty()) config.set_deployment(flags.deployment);
  if (!flags.worker.empty()) config.set_worker(flags.worker);
  ORDO_RETURN_IF_ERROR(base::AddContext(CheckConfig(&config), path));
  return config;
}

}  // namespace ordo::worker::agent
