#include "services/cli/doctor/configuration.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "base/certificates/certificate.h"
#include "base/files/file_util.h"
#include "base/rpc/address.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"
#include "services/cli/doctor/certificates.h"
#include "services/cli/doctor/network.h"

namespace ordo::services::cli::doctor {
namespace {

using config::v1::SchedulerConfig;
using config::v1::WorkerConfig;

constexpr size_t kMaxBytes = 1 << 20;
// Where a service listens that its configuration says nothing of.
constexpr char kSchedulerListen[] = "127.0.0.1:7420";
constexpr char kAnyPort[] = "127.0.0.1:0";

template <typename T>
absl::StatusOr<T> ReadAs(const std::string& text, base::TextForm form) {
  T message;
  ORDO_RETURN_IF_ERROR(base::ReadMessage(text, form, &message));
  return message;
}

// "api" and "metrics", as the service wrote them; none when it never did.
std::map<std::string, std::string> ReadServed(base::Filesystem& files,
                                              const std::string& path) {
  std::map<std::string, std::string> served;
  if (path.empty()) return served;
  const auto text = base::ReadFile(files, path, kMaxBytes);
  google::protobuf::Struct read;
  if (!text.ok() ||
      !base::ReadMessage(*text, base::TextForm::kJson, &read).ok()) {
    return served;
  }
  for (const auto& [name, value] : read.fields()) {
    served[name] = value.string_value();
  }
  return served;
}

// Both ports of a service; `standard` is where it listens that does not say.
template <typename Config>
Findings CheckPorts(base::Filesystem& files, const Config& config,
                    const std::string& service, const std::string& standard) {
  auto served = ReadServed(files, config.endpoints_file());
  const auto given = [](const std::string& listen, const std::string& other) {
    return listen.empty() ? other : listen;
  };
  return {CheckListenSite({service, "listen", given(config.listen(), standard),
                           served["api"]}),
          CheckListenSite({service, "metrics_listen",
                           given(config.metrics_listen(), kAnyPort),
                           served["metrics"]})};
}

// Of a service without certificates whether it needs some.
template <typename Config>
Findings CheckTls(const FolderCalls& calls, const Config& config,
                  CertificateSite site, const std::string& listen) {
  if (config.has_tls()) {
    site.tls = config.tls();
    return CheckCertificates(calls.files, calls.clock, site);
  }
  const std::string check = "tls/" + site.service;
  const auto parsed = base::ParseHostPort(listen);
  if (!parsed.ok() || parsed->IsLoopback()) {
    return {{check, Health::kOk, "its port is for this machine alone"}};
  }
  return {{check, Health::kWarn,
           "its port, which others reach, speaks no TLS: " + listen,
           "give it certificates: ordo admin certs init, and field `tls`"}};
}

Finding CheckDataRoots(base::Filesystem& files, const WorkerConfig& config) {
  for (const std::string& root : config.data_roots()) {
    if (const auto names = files.List(root); !names.ok()) {
      return {"data/roots", Health::kFail,
              std::string(names.status().message()),
              "mount it, let the user that the worker runs as read it, or take "
              "it out of `data_roots`"};
    }
  }
  return {"data/roots", Health::kOk,
          absl::StrCat(config.data_roots_size(), " folders can be read")};
}

}  // namespace

absl::StatusOr<Configuration> ReadConfiguration(base::Filesystem& files,
                                                const std::string& path) {
  ORDO_ASSIGN_OR_RETURN(const std::string text,
                        base::ReadFile(files, path, kMaxBytes));
  ORDO_ASSIGN_OR_RETURN(const base::TextForm form, base::TextFormOfFile(path));
  const auto scheduler = ReadAs<SchedulerConfig>(text, form);
  const auto worker = ReadAs<WorkerConfig>(text, form);
  Configuration configuration;
  if (scheduler.ok() && (!worker.ok() || !scheduler->store().empty())) {
    configuration.scheduler = *scheduler;
  } else if (worker.ok()) {
    configuration.worker = *worker;
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is no configuration of a scheduler (",
                     scheduler.status().message(), ") and none of a worker (",
                     worker.status().message(), ")"));
  }
  return configuration;
}

Findings CheckConfiguration(const FolderCalls& calls,
                            const Configuration& configuration) {
  Findings findings;
  if (configuration.scheduler.has_value()) {
    const SchedulerConfig& config = *configuration.scheduler;
    Append(
        CheckFolder(calls, base::FolderOf(config.store()), FolderUse::kStore),
        &findings);
    Append(CheckFolder(calls, config.storage_root(), FolderUse::kStorage),
           &findings);
    Append(CheckPorts(calls.files, config, "scheduler", kSchedulerListen),
           &findings);
    CertificateSite site;
    site.service = "scheduler";
    site.uri_name = base::kSchedulerUri;
    site.listen = config.listen();
    Append(CheckTls(calls, config, site, config.listen()), &findings);
  }
  if (configuration.worker.has_value()) {
    const WorkerConfig& config = *configuration.worker;
    Append(CheckFolder(calls, config.state_folder(), FolderUse::kWorkerState),
           &findings);
    Append(CheckFolder(calls, config.storage_root(), FolderUse::kStorage),
           &findings);
    findings.push_back(CheckDataRoots(calls.files, config));
    Append(CheckPorts(calls.files, config, "worker", kAnyPort), &findings);
    CertificateSite site;
    site.service = "worker";
    site.uri_name = absl::StrCat(base::kWorkerUriPrefix, config.worker());
    site.state_folder = config.state_folder();
    Append(CheckTls(calls, config, site, config.listen()), &findings);
    findings.push_back(CheckReachable("scheduler", config.scheduler()));
  }
  return findings;
}

}  // namespace ordo::services::cli::doctor
