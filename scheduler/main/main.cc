// The control plane: API, queue, placement, registry.
//
//   ordo-scheduler --config /srv/ordo/config/scheduler.textproto
//       --deployment /srv/ordo
//
// SIGTERM or SIGINT: takes no more calls, stores what was taken, ends streams
// with UNAVAILABLE, leaves with status 0. Anything wrong at start: one line on
// stderr and status 2 for the configuration, 1 for the rest.

#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "base/files/files.h"
#include "base/flags/flags.h"
#include "base/log/log.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "scheduler/main/config.h"
#include "scheduler/main/run.h"

ABSL_FLAG(std::string, config, "",
          "File with the configuration, a textproto of "
          "ordo.config.v1.SchedulerConfig. Required.");
ABSL_FLAG(std::string, deployment, "",
          "The deployment's absolute folder, for people who look at ps.");

namespace {

constexpr int kExitFailure = 1;
constexpr int kExitBadInput = 2;

int Refuse(const absl::Status& status, int exit_code) {
  std::cerr << "ordo-scheduler: " << status.message() << "\n";
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  ordo::base::SetHelp(
      "the control plane: API, queue, placement, registry\n\n"
      "  ordo-scheduler --config FILE [--deployment DIR]\n\n"
      "`ordo up` starts one, with its configuration.");
  const std::vector<char*> rest = absl::ParseCommandLine(argc, argv);
  if (rest.size() > 1) {
    return Refuse(absl::InvalidArgumentError(
                      std::string("unexpected argument ") + rest[1]),
                  kExitBadInput);
  }
  const std::string path = absl::GetFlag(FLAGS_config);
  if (path.empty()) {
    return Refuse(absl::InvalidArgumentError("--config FILE is required"),
                  kExitBadInput);
  }
  ordo::base::PosixFilesystem files;
  auto config = ordo::scheduler::ReadConfig(files, path);
  if (config.ok()) {
    config = ordo::base::AddContext(
        ordo::scheduler::ResolveConfig(*std::move(config),
                                       absl::GetFlag(FLAGS_deployment)),
        "configuration " + path);
  }
  if (!config.ok()) return Refuse(config.status(), kExitBadInput);

  ordo::base::LogOptions log;
  absl::Status status =
      ordo::base::ParseLogLevel(config->log_level(), &log.level);
  if (status.ok()) status = ordo::base::StartLogging(log);
  if (!status.ok()) return Refuse(status, kExitFailure);
  ordo::base::LogInfo("configuration",
                      {{"config", ordo::base::WriteMessage(
                                      *config, ordo::base::TextForm::kJson)}});

  // Blocked in every thread; the main thread waits for them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  status = ordo::scheduler::Run(*config, [&signals] {
    int signal = 0;
    sigwait(&signals, &signal);
    ordo::base::LogInfo("signal", {{"number", signal}});
  });
  if (!status.ok()) {
    ordo::base::LogError("ended", {{"error", status}});
    return Refuse(status, kExitFailure);
  }
  return 0;
}
