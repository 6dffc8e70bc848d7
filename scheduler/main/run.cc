#include "scheduler/main/run.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/log/log.h"
#include "base/metrics/certificate_metrics.h"
#include "base/metrics/exposer.h"
#include "base/metrics/metrics.h"
#include "base/metrics/process_metrics.h"
#include "base/process/process.h"
#include "base/rpc/address.h"
#include "base/rpc/rpc_metrics.h"
#include "base/rpc/server.h"
#include "base/rpc/tls.h"
#include "base/status/status.h"
#include "scheduler/main/auth_config.h"
#include "scheduler/main/config.h"
#include "scheduler/main/join_authority.h"
#include "scheduler/main/tls.h"
#include "scheduler/metrics.h"
#include "scheduler/server/server.h"
#include "scheduler/store/sqlite_store.h"
#include "services/all_services.h"
#include "services/auth/audit_log.h"

namespace ordo::scheduler {
namespace {

// Time that running calls have when the process leaves.
constexpr absl::Duration kDrainGrace = absl::Seconds(2);

absl::Status WriteEndpoints(base::Filesystem& files, const std::string& path,
                            const std::string& api,
                            const std::string& metrics) {
  if (path.empty()) return absl::OkStatus();
  ORDO_RETURN_IF_ERROR(files.MakeFolders(base::FolderOf(path)));
  // Addresses hold nothing that JSON would escape.
  return base::AddContext(
      base::AtomicWrite(files, path,
                        absl::StrCat("{\"api\": \"", api, "\", \"metrics\": \"",
                                     metrics, "\"}\n")),
      "write endpoints_file");
}

// All empty without `tls`.
struct Credentials {
  // What the API's port listens with.
  std::shared_ptr<grpc::ServerCredentials> port;
  // What workers are called with.
  std::shared_ptr<base::ClientTls> workers;
  // What the metrics page is served with.
  std::optional<base::TlsFiles> page;
};

// Warns of ports that others reach without TLS.
absl::StatusOr<Credentials> LoadCredentials(
    const config::v1::SchedulerConfig& config) {
  Credentials credentials;
  if (!config.has_tls()) {
    base::WarnIfOpen({{"listen", config.listen()},
                      {"metrics_listen", config.metrics_listen()}});
    return credentials;
  }
  ORDO_ASSIGN_OR_RETURN(credentials.port,
                        base::ServerTls(PortFiles(config.tls())));
  ORDO_ASSIGN_OR_RETURN(credentials.workers,
                        base::ClientTls::Load(CallFiles(config.tls())));
  credentials.page = PageFiles(config.tls());
  return credentials;
}

// What callers are known by, and where it is written down what they did.
struct Guards {
  KnownBy known;
  // Null: nowhere.
  std::unique_ptr<services::auth::AuditLog> audit_log;
};

absl::StatusOr<Guards> LoadGuards(const config::v1::SchedulerConfig& config,
                                  base::Filesystem& files,
                                  const base::Clock& clock) {
  Guards guards;
  if (config.has_auth()) {
    ORDO_ASSIGN_OR_RETURN(guards.known, LoadAuth(config.auth(), files, clock));
  }
  if (!config.audit_log().empty()) {
    ORDO_ASSIGN_OR_RETURN(
        guards.audit_log,
        services::auth::AuditLog::Open(files, config.audit_log(), clock));
  }
  return guards;
}

// What the process tells of itself, beside what it serves.
void AddOwnMetrics(const config::v1::SchedulerConfig& config,
                   base::MetricsRegistry& registry) {
  base::AddProcessMetrics("scheduler", registry);
  base::AddCertificateMetrics("scheduler",
                              {PortFiles(config.tls()), CallFiles(config.tls()),
                               PageFiles(config.tls())},
                              registry);
}

}  // namespace

absl::Status Run(const config::v1::SchedulerConfig& config,
                 const std::function<void()>& wait_for_end) {
  base::PosixFilesystem files;
  base::RealClock clock;
  base::MetricsRegistry registry;
  SchedulerMetrics metrics(registry);
  base::RpcMetrics rpc_metrics("scheduler", registry);
  AddOwnMetrics(config, registry);
  ORDO_ASSIGN_OR_RETURN(Credentials credentials, LoadCredentials(config));
  ORDO_RETURN_IF_ERROR(base::AddContext(
      files.MakeFolders(config.storage_root()), "make storage_root"));
  ORDO_ASSIGN_OR_RETURN(const auto store,
                        store::OpenSqliteStore({config.store()}));
  server::ServerOptions options;
  options.core = CoreOptions(config);
  options.core.boot_id = base::BootId();
  options.store = store.get();
  options.clock = &clock;
  options.files = &files;
  options.metrics = &metrics;
  options.storage_root = config.storage_root();
  options.retention = RetentionOf(config);
  options.worker_tls = std::move(credentials.workers);
  ORDO_ASSIGN_OR_RETURN(const auto scheduler,
                        server::Server::Start(std::move(options)));
  registry.OnCollect([&scheduler] { scheduler->ShowState(); });

  services::AllServicesOptions services_options;
  services_options.scheduler = scheduler.get();
  services_options.files = &files;
  services_options.storage_root = config.storage_root();
  services_options.limits = ApiLimits(config);
  ORDO_ASSIGN_OR_RETURN(const Guards guards, LoadGuards(config, files, clock));
  if (config.has_auth()) services_options.auth = guards.known.options;
  services_options.believes_workers = !config.has_tls();
  services_options.audit_log = guards.audit_log.get();
  if (config.tls().has_join_ca()) {
    services_options.sign_worker =
        SignWith(config.tls().join_ca(), files, clock);
  }
  services::AllServices services(services_options);

  ORDO_ASSIGN_OR_RETURN(const auto exposer,
                        base::AddContext(base::MetricsExposer::Start(
                                             config.metrics_listen(), registry,
                                             std::move(credentials.page)),
                                         "metrics_listen"));
  base::RpcServerOptions rpc_options;
  rpc_options.listen = config.listen();
  rpc_options.tls = std::move(credentials.port);
  rpc_options.insecure = config.insecure();
  rpc_options.metrics = &rpc_metrics;
  ORDO_ASSIGN_OR_RETURN(
      const auto server,
      base::AddContext(base::RpcServer::Start(rpc_options, services.services()),
                       "listen"));
  ORDO_RETURN_IF_ERROR(WriteEndpoints(files, config.endpoints_file(),
                                      server->address(), exposer->address()));
  base::LogInfo("serving", {{"api", server->address()},
                            {"metrics", exposer->address()},
                            {"store", config.store()},
                            {"deployment", config.deployment()}});
  wait_for_end();
  base::LogInfo("draining");
  scheduler->Drain();
  services.EndStreams();
  server->Drain(kDrainGrace);
  base::LogInfo("left");
  return absl::OkStatus();
}

}  // namespace ordo::scheduler
