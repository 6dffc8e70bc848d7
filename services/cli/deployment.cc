#include "services/cli/deployment.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/rpc/address.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/units/proto_time.h"
#include "base/yaml/field_path.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"
#include "proto/ordo/config/v1/scheduler.pb.h"
#include "proto/ordo/config/v1/worker.pb.h"
#include "services/cli/options.h"

namespace ordo::services::cli {
namespace {

using config::v1::SchedulerConfig;
using config::v1::WorkerConfig;
using google::protobuf::Struct;

constexpr size_t kMaxEndpointsBytes = 1 << 16;
constexpr size_t kMaxConfigBytes = 1 << 20;
// Of the scheduler and the worker, where their configurations say nothing.
constexpr absl::Duration kDefaultStopGrace = absl::Seconds(30);
constexpr char kSchedulerPrefix[] = "scheduler.";
constexpr char kWorkerPrefix[] = "worker.";
// The only worker of a deployment.
constexpr char kWorkerName[] = "local";

std::string EndpointsFile(const std::string& folder) {
  return base::JoinPath(folder, "endpoints.json");
}

// What a generated configuration begins with; the digest of what follows the
// line tells a change by hand.
constexpr char kHeader[] =
    "# Written by `ordo up`, and anew at each: a change by hand is refused.\n"
    "# Change it with `ordo up --set PROCESS.FIELD=VALUE`.\n"
    "# sha256 of what follows: ";

// Applies the settings that start with `prefix`.
absl::Status Apply(const std::vector<std::string>& settings,
                   const std::string& prefix,
                   google::protobuf::Message* config) {
  for (const std::string& setting : settings) {
    ORDO_ASSIGN_OR_RETURN(const auto assignment,
                          SplitAssignment("set", setting));
    if (!absl::StartsWith(assignment.first, prefix)) continue;
    const absl::Status status = base::SetField(
        assignment.first.substr(prefix.size()), assignment.second, config);
    std::vector<base::FieldViolation> violations =
        base::FieldViolations(status);
    for (base::FieldViolation& violation : violations) {
      violation.field = absl::StrCat("--set ", prefix, violation.field);
    }
    ORDO_RETURN_IF_ERROR(base::InvalidFields(violations));
    ORDO_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

absl::Status WriteConfig(base::Filesystem& files, const std::string& folder,
                         const std::string& process,
                         const google::protobuf::Message& config) {
  const std::string path = ConfigFile(folder, process);
  ORDO_RETURN_IF_ERROR(files.MakeFolders(base::FolderOf(path)));
  const std::string text =
      base::WriteMessage(config, base::TextForm::kTextproto);
  return base::AtomicWrite(
      files, path, absl::StrCat(kHeader, base::Sha256Hex(text), "\n", text));
}

// What `ordo up` has written, unchanged.
bool IsAsWritten(const std::string& text) {
  const size_t digest = sizeof(kHeader) - 1;
  const size_t end = text.find('\n', std::min(digest, text.size()));
  return end != std::string::npos &&
         text.substr(digest, end - digest) ==
             base::Sha256Hex(std::string_view(text).substr(end + 1));
}

// Leaves `config` empty when there is no (readable) file.
void ReadConfig(base::Filesystem& files, const std::string& folder,
                const std::string& process, google::protobuf::Message* config) {
  const auto text =
      base::ReadFile(files, ConfigFile(folder, process), kMaxConfigBytes);
  if (!text.ok() ||
      !base::ReadMessage(*text, base::TextForm::kTextproto, config).ok()) {
    config->Clear();
  }
}

std::string Text(const Struct& fields, const std::string& name) {
  const auto found = fields.fields().find(name);
  return found == fields.fields().end() ? "" : found->second.string_value();
}

const Struct& Fields(const Struct& fields, const std::string& name) {
  const auto found = fields.fields().find(name);
  return found == fields.fields().end() ? Struct::default_instance()
                                        : found->second.struct_value();
}

}  // namespace

std::string LogFile(const std::string& folder, const std::string& process) {
  return absl::StrCat(folder, "/log/", process, ".log");
}

std::string ConfigFile(const std::string& folder, const std::string& process) {
  return absl::StrCat(folder, "/config/", process, ".textproto");
}

std::string PortsFile(const std::string& folder, const std::string& process) {
  return absl::StrCat(folder, "/", process, "/endpoints.json");
}

std::optional<std::string> DataHome(
    const std::function<std::optional<std::string>(const std::string&)>&
        environment) {
  const std::optional<std::string> named = environment("XDG_DATA_HOME");
  if (named.has_value() && absl::StartsWith(*named, "/")) return named;
  const std::optional<std::string> home = environment("HOME");
  if (!home.has_value()) return std::nullopt;
  return *home + "/.local/share";
}

absl::StatusOr<std::string> DeploymentFolder(
    base::Filesystem& files, const std::string& named,
    const std::optional<std::string>& data_home, bool create) {
  std::string folder = named;
  if (folder.empty()) {
    if (!data_home.has_value()) {
      return absl::InvalidArgumentError(
          "there is no HOME to put a deployment in; name a folder with --dir");
    }
    folder = *data_home + "/ordo";
  }
  const std::string fix = "name another folder with --dir or ORDO_DIR";
  if (create) {
    const absl::Status made = files.MakeFolders(folder);
    if (!made.ok()) {
      // A disk that is full or fails is no fault of the name.
      const bool is_of_disk =
          absl::IsResourceExhausted(made) || absl::IsDataLoss(made);
      return absl::Status(
          is_of_disk ? made.code() : absl::StatusCode::kInvalidArgument,
          absl::StrCat(std::string(made.message()), "; ", fix));
    }
    if (access(folder.c_str(), W_OK | X_OK) != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("cannot write into ", folder, "; ", fix));
    }
  }
  char resolved[PATH_MAX];
  if (realpath(folder.c_str(), resolved) == nullptr) {
    return base::SystemError(errno, "find the deployment folder " + folder);
  }
  return std::string(resolved);
}

absl::Status WriteSchedulerConfig(base::Filesystem& files,
                                  const DeploymentOptions& options,
                                  const std::string& listen) {
  SchedulerConfig config;
  config.set_listen(listen);
  config.set_metrics_listen("127.0.0.1:0");
  config.set_store(options.folder + "/scheduler/ordo.db");
  config.set_storage_root(options.folder + "/storage");
  config.set_endpoints_file(PortsFile(options.folder, "scheduler"));
  config.set_insecure(options.insecure);
  config.set_deployment(options.folder);
  ORDO_RETURN_IF_ERROR(Apply(options.settings, kSchedulerPrefix, &config));
  return WriteConfig(files, options.folder, "scheduler", config);
}

absl::Status WriteWorkerConfig(base::Filesystem& files,
                               const DeploymentOptions& options,
                               const std::string& api) {
  WorkerConfig config;
  config.set_worker(kWorkerName);
  config.set_scheduler(api);
  config.set_listen("127.0.0.1:0");
  config.set_metrics_listen("127.0.0.1:0");
  config.set_state_folder(options.folder + "/worker");
  config.set_storage_root(options.folder + "/storage");
  config.set_endpoints_file(PortsFile(options.folder, "worker"));
  config.set_deployment(options.folder);
  config.set_trainer(options.trainer);
  for (const std::string& variable : options.trainer_environment) {
    ORDO_ASSIGN_OR_RETURN(const auto assignment,
                          SplitAssignment("trainer-env", variable));
    (*config.mutable_trainer_environment())[assignment.first] =
        assignment.second;
  }
  ORDO_RETURN_IF_ERROR(Apply(options.settings, kWorkerPrefix, &config));
  for (const std::string& root : options.data_roots) {
    const auto& there = config.data_roots();
    if (std::find(there.begin(), there.end(), root) == there.end()) {
      config.add_data_roots(root);
    }
  }
  return WriteConfig(files, options.folder, "worker", config);
}

absl::StatusOr<std::vector<std::string>> KeepHandEdits(
    base::Filesystem& files, const std::string& folder) {
  std::vector<std::string> kept;
  for (const char* process : {"scheduler", "worker"}) {
    const std::string path = ConfigFile(folder, process);
    if (!base::Exists(files, path)) continue;
    ORDO_ASSIGN_OR_RETURN(const std::string text,
                          base::ReadFile(files, path, kMaxConfigBytes));
    if (!absl::StartsWith(text, kHeader)) {
      // Of a version that marked none, perhaps changed by hand.
      kept.push_back(path + ".before");
      ORDO_RETURN_IF_ERROR(base::AtomicWrite(files, kept.back(), text));
    } else if (!IsAsWritten(text)) {
      const std::string listen = ConfiguredListen(files, folder);
      return absl::FailedPreconditionError(absl::StrCat(
          path, " was changed by hand, which `ordo up` would undo: move it ",
          "away and give the change as --set ", process, ".FIELD=VALUE",
          listen.empty() ? "" : absl::StrCat(" --listen ", listen),
          "; both are remembered"));
    }
  }
  return kept;
}

absl::Duration ConfiguredStopGrace(base::Filesystem& files,
                                   const std::string& folder) {
  WorkerConfig worker;
  SchedulerConfig scheduler;
  ReadConfig(files, folder, "worker", &worker);
  ReadConfig(files, folder, "scheduler", &scheduler);
  absl::Duration longest = kDefaultStopGrace;
  for (const auto& grace : {worker.stop_grace(), scheduler.stop_grace()}) {
    longest = std::max(longest, base::ToDuration(grace));
  }
  return longest;
}

std::string ConfiguredListen(base::Filesystem& files,
                             const std::string& folder) {
  SchedulerConfig scheduler;
  ReadConfig(files, folder, "scheduler", &scheduler);
  return scheduler.listen();
}

absl::Status CheckSettings(const DeploymentOptions& options) {
  for (const std::string& setting : options.settings) {
    ORDO_ASSIGN_OR_RETURN(const auto assignment,
                          SplitAssignment("set", setting));
    if (!absl::StartsWith(assignment.first, kSchedulerPrefix) &&
        !absl::StartsWith(assignment.first, kWorkerPrefix)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--set ", assignment.first,
                       ": starts with scheduler. or worker., such as ",
                       "scheduler.lease=5s"));
    }
  }
  for (const std::string& variable : options.trainer_environment) {
    ORDO_RETURN_IF_ERROR(SplitAssignment("trainer-env", variable));
  }
  SchedulerConfig scheduler;
  ORDO_RETURN_IF_ERROR(Apply(options.settings, kSchedulerPrefix, &scheduler));
  WorkerConfig worker;
  return Apply(options.settings, kWorkerPrefix, &worker);
}

absl::StatusOr<std::string> DataRoot(const std::string& path) {
  const auto bad = [&path](const std::string& why) {
    return absl::InvalidArgumentError(
        absl::StrCat("--data-root ", path, ": ", why));
  };
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) == nullptr) {
    return bad(
        absl::StrCat(std::strerror(errno), "; name a folder that is there"));
  }
  struct stat info = {};
  if (stat(resolved, &info) != 0 || !S_ISDIR(info.st_mode)) {
    return bad("it is no folder; name the one that the file lies in");
  }
  if (access(resolved, R_OK | X_OK) != 0) {
    return bad(absl::StrCat("it cannot be read (", std::strerror(errno),
                            "), and the worker runs as you do"));
  }
  std::string root = resolved;
  if (root.find(':') != std::string::npos) {
    return bad(absl::StrCat(root,
                            " has a colon, which stands between data "
                            "roots; name a folder without"));
  }
  return root;
}

std::string EndpointsJson(const Endpoints& endpoints) {
  Struct json;
  auto& fields = *json.mutable_fields();
  fields["api"].set_string_value(endpoints.api);
  fields["ready"].set_bool_value(endpoints.ready);
  auto& metrics = *fields["metrics"].mutable_struct_value()->mutable_fields();
  for (const auto& [process, address] : endpoints.metrics) {
    metrics[process].set_string_value(address);
  }
  auto& pids = *fields["pids"].mutable_struct_value()->mutable_fields();
  auto& ticks = *fields["start_ticks"].mutable_struct_value()->mutable_fields();
  auto& boots = *fields["boot_ids"].mutable_struct_value()->mutable_fields();
  for (const auto& [process, id] : endpoints.processes) {
    pids[process].set_number_value(id.pid);
    boots[process].set_string_value(id.boot_id);
    ticks[process].set_number_value(static_cast<double>(id.start_ticks));
  }
  return base::WriteMessage(json, base::TextForm::kJson);
}

absl::Status WriteEndpoints(base::Filesystem& files, const std::string& folder,
                            const Endpoints& endpoints) {
  return base::AtomicWrite(files, EndpointsFile(folder),
                           EndpointsJson(endpoints) + "\n");
}

std::optional<Endpoints> ReadEndpoints(base::Filesystem& files,
                                       const std::string& folder) {
  const auto text =
      base::ReadFile(files, EndpointsFile(folder), kMaxEndpointsBytes);
  if (!text.ok()) return std::nullopt;
  Struct json;
  if (!base::ReadMessage(*text, base::TextForm::kJson, &json).ok()) {
    return std::nullopt;
  }
  Endpoints endpoints;
  endpoints.api = Text(json, "api");
  const auto ready = json.fields().find("ready");
  endpoints.ready = ready != json.fields().end() && ready->second.bool_value();
  for (const auto& [process, value] : Fields(json, "metrics").fields()) {
    endpoints.metrics[process] = value.string_value();
  }
  const Struct& ticks = Fields(json, "start_ticks");
  const Struct& boots = Fields(json, "boot_ids");
  for (const auto& [process, value] : Fields(json, "pids").fields()) {
    base::ProcessId& id = endpoints.processes[process];
    id.pid = static_cast<pid_t>(value.number_value());
    id.boot_id = Text(boots, process);
    const auto start = ticks.fields().find(process);
    if (start != ticks.fields().end()) {
      id.start_ticks = static_cast<uint64_t>(start->second.number_value());
    }
  }
  return endpoints;
}

std::optional<Ports> ReadPorts(base::Filesystem& files,
                               const std::string& folder,
                               const std::string& process) {
  const auto text =
      base::ReadFile(files, PortsFile(folder, process), kMaxEndpointsBytes);
  if (!text.ok()) return std::nullopt;
  Struct json;
  if (!base::ReadMessage(*text, base::TextForm::kJson, &json).ok()) {
    return std::nullopt;
  }
  Ports ports{Text(json, "api"), Text(json, "metrics")};
  if (ports.api.empty()) return std::nullopt;
  return ports;
}

std::string LocalAddress(const std::string& listen) {
  absl::StatusOr<base::HostPort> address = base::ParseHostPort(listen);
  if (!address.ok()) return listen;
  if (address->host == "0.0.0.0") address->host = "127.0.0.1";
  if (address->host == "::") address->host = "::1";
  return address->ToString();
}

absl::Status CheckPortFree(const std::string& listen) {
  ORDO_ASSIGN_OR_RETURN(const base::HostPort address,
                        base::ParseHostPort(listen));
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(
      address.host.c_str(), absl::StrCat(address.port).c_str(), &hints, &found);
  if (error != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--listen ", listen, ": this machine has no such address (",
        gai_strerror(error), ")"));
  }
  const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const int bound = bind(fd, found->ai_addr, found->ai_addrlen);
  const int bind_error = errno;
  // Two sockets may be bound with SO_REUSEADDR as long as none listens.
  const int listened = bound == 0 ? ::listen(fd, 1) : -1;
  const int reason = bound == 0 ? errno : bind_error;
  freeaddrinfo(found);
  close(fd);
  if (bound == 0 && listened == 0) return absl::OkStatus();
  if (reason == EADDRINUSE) {
    return absl::FailedPreconditionError(absl::StrCat(
        "port ", address.port, " of ", address.host, " is in use; end what ",
        "listens there (another deployment: ordo down --dir ITS_FOLDER), or ",
        "choose another with --listen HOST:PORT"));
  }
  return base::SystemError(reason, "listen on " + listen);
}

}  // namespace ordo::services::cli
