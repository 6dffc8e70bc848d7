// The control plane: API, queue, placement, registry.
//
//   ordo-scheduler --config /srv/ordo/config/scheduler.textproto
//       --deployment /srv/ordo
//   ordo-scheduler backup /backup/ordo.db --config
//       /srv/ordo/config/scheduler.textproto
//
// SIGTERM or SIGINT: takes no more calls, stores what was taken, ends streams
// with UNAVAILABLE, leaves with status 0. Anything wrong at start: one line on
// stderr and status 2 for the configuration, 9 for a store that is damaged, 1
// for the rest.

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/escaping.h"
#include "base/files/files.h"
#include "base/flags/flags.h"
#include "base/log/log.h"
#include "base/process/open_files.h"
#include "base/process/ready.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "scheduler/main/config.h"
#include "scheduler/main/run.h"
#include "scheduler/store/copy.h"

ABSL_FLAG(std::string, config, "",
          "File with an ordo.config.v1.SchedulerConfig (.textproto, .yaml, "
          ".json). Required.");
ABSL_FLAG(std::string, deployment, "",
          "The deployment's absolute folder, for people who look at ps.");
ABSL_FLAG(bool, damaged, false,
          "Of restore: puts a copy with damaged rows in place too.");

namespace {

constexpr int kExitFailure = 1;
constexpr int kExitBadInput = 2;
// As of `ordo`: by a limit of the machine's, such as a full disk; the store.
constexpr int kExitRefused = 8;
constexpr int kExitDamaged = 9;

// Connections of clients and workers, and logs and files that they read.
constexpr uint64_t kOpenFiles = 65'536;

constexpr char kUsage[] =
    "the control plane: API, queue, placement, registry\n\n"
    "  ordo-scheduler --config FILE [--deployment DIR]\n"
    "  ordo-scheduler backup COPY --config FILE\n"
    "  ordo-scheduler restore COPY --config FILE [--damaged]\n\n"
    "`ordo up` starts one, with its configuration, in DIR/config.\n\n"
    "backup copies the configuration's store, as it is at one moment, into the "
    "file COPY, which must not be there yet; a scheduler may be running and "
    "does not wait. restore puts such a copy in the store's place; the "
    "scheduler must be stopped (ordo down). What the store held before is left "
    "beside it, as STORE.before-restore. Both check every row, and make labels "
    "of jobs that have ended anew where they are not those of the jobs.\n\n"
    "Rows that are damaged are named on stderr. backup copies them as they "
    "are; restore refuses a copy with such rows, and with --damaged puts it in "
    "place: a scheduler starts on it unless it needs one of them. Exit codes: "
    "0 done, and all is whole; 1 not done; 2 bad input; 8 not done for want of "
    "room on a disk; 9 damage, whether it was done (\"copied\", \"restored\" "
    "on stdout) or not.";

int ExitOfFailure(const absl::Status& status) {
  if (absl::IsResourceExhausted(status)) return kExitRefused;
  return absl::IsDataLoss(status) ? kExitDamaged : kExitFailure;
}

int Refuse(const absl::Status& status, int exit_code) {
  std::cerr << "ordo-scheduler: " << status.message() << "\n";
  return exit_code;
}

// `words`: what stands on the command line beside the flags.
absl::Status CheckWords(const std::vector<std::string>& words) {
  if (absl::GetFlag(FLAGS_damaged) &&
      (words.empty() || words[0] != "restore")) {
    return absl::InvalidArgumentError("--damaged goes with restore");
  }
  if (words.empty()) return absl::OkStatus();
  if (words[0] != "backup" && words[0] != "restore") {
    return absl::InvalidArgumentError("unexpected argument " + words[0]);
  }
  if (words.size() == 2) return absl::OkStatus();
  return absl::InvalidArgumentError(words[0] + " takes one file");
}

int Copy(const std::string& verb, const std::string& copy,
         const std::string& store) {
  const bool is_backup = verb == "backup";
  ordo::scheduler::store::RestoreOptions options;
  options.take_damaged = absl::GetFlag(FLAGS_damaged);
  const auto result =
      is_backup ? ordo::scheduler::store::BackUp(store, copy)
                : ordo::scheduler::store::Restore(copy, store, options);
  if (!result.ok()) {
    return Refuse(ordo::base::AddContext(result.status(), verb),
                  ExitOfFailure(result.status()));
  }
  if (!result->warning.empty()) {
    std::cerr << "ordo-scheduler: warning: " << result->warning << "\n";
  }
  for (const std::string& row : result->damaged_rows) {
    // A key may be what is damaged.
    std::cerr << "ordo-scheduler: damaged, and copied as it was: "
              << absl::Utf8SafeCHexEscape(row) << "\n";
  }
  std::cout << (is_backup ? "copied " : "restored ") << store
            << (is_backup ? " to " : " from ") << copy << "\n";
  return result->damaged_rows.empty() ? 0 : kExitDamaged;
}

}  // namespace

int main(int argc, char** argv) {
  const auto line = ordo::base::ParseFlags({argv, argv + argc}, kUsage);
  if (!line.ok()) return Refuse(line.status(), kExitBadInput);
  if (!line->answer.empty()) {
    std::cout << line->answer;
    return 0;
  }
  const std::vector<std::string>& words = line->words;
  absl::Status status = CheckWords(words);
  if (!status.ok()) return Refuse(status, kExitBadInput);
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
  if (!words.empty()) return Copy(words[0], words[1], config->store());

  ordo::base::LogOptions log;
  status = ordo::base::ParseLogLevel(config->log_level(), &log.level);
  if (status.ok()) {
    status = ordo::base::ParseLogFormat(config->log_format(), &log.format);
  }
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
  ordo::base::RaiseOpenFileLimit(kOpenFiles);
  status = ordo::scheduler::Run(*config, [&signals] {
    if (const absl::Status told =
            ordo::base::TellReady(std::getenv("NOTIFY_SOCKET"));
        !told.ok()) {
      ordo::base::LogWarning("service manager not told", {{"error", told}});
    }
    int signal = 0;
    sigwait(&signals, &signal);
    ordo::base::LogInfo("signal", {{"number", signal}});
  });
  if (!status.ok()) {
    ordo::base::LogError("ended", {{"error", status}});
    return Refuse(status, ExitOfFailure(status));
  }
  return 0;
}
