#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/process/process.h"
#include "base/rpc/address.h"
#include "base/status/status.h"
#include "services/cli/client.h"
#include "services/cli/commands/commands.h"
#include "services/cli/deployment.h"
#include "services/cli/keeper.h"
#include "services/cli/remembered.h"

namespace ordo::services::cli {
namespace {

// What was given, and what holds: with what a deployment remembers.
struct UpOptions {
  DeploymentOptions given;
  DeploymentOptions all;
  // Nothing is remembered.
  bool fresh = false;
};

// The command line of a keeper: it names the absolute folder, so that whoever
// looks at the processes sees what belongs to which deployment.
std::vector<std::string> KeeperArgv(const std::string& program,
                                    const UpOptions& options,
                                    const std::string& output) {
  const DeploymentOptions& given = options.given;
  std::vector<std::string> argv = {program,      "up",       "--dir",
                                   given.folder, "--listen", given.listen};
  if (given.insecure) argv.push_back("--insecure");
  if (!given.trainer.empty()) {
    argv.insert(argv.end(), {"--trainer", given.trainer});
  }
  for (const std::string& variable : given.trainer_environment) {
    argv.insert(argv.end(), {"--trainer-env", variable});
  }
  for (const std::string& setting : given.settings) {
    argv.insert(argv.end(), {"--set", setting});
  }
  for (const std::string& root : given.data_roots) {
    argv.insert(argv.end(), {"--data-root", root});
  }
  if (options.fresh) argv.push_back("--fresh-settings");
  argv.insert(argv.end(), {"-o", output});
  return argv;
}

// Whether this process was started with the absolute folder.
bool CommandLineNames(const std::string& folder) {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string line((std::istreambuf_iterator<char>(file)),
                         std::istreambuf_iterator<char>());
  const std::string mark = std::string("--dir") + '\0' + folder + '\0';
  return line.find(mark) != std::string::npos;
}

absl::Status BecomeKeeper(const std::vector<std::string>& argv) {
  std::vector<char*> pointers;
  for (const std::string& argument : argv) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  execv(pointers[0], pointers.data());
  return base::SystemError(errno, "start " + argv[0]);
}

// Starts a keeper in the background and waits until everything answers.
absl::StatusOr<ExitCode> Detach(Context& context,
                                const std::vector<std::string>& argv,
                                const DeploymentOptions& options) {
  const std::string log = LogFile(options.folder, "keeper");
  ORDO_RETURN_IF_ERROR(context.files.MakeFolders(base::FolderOf(log)));
  const auto before = context.files.Stat(log);
  base::SpawnOptions spawn;
  spawn.argv = argv;
  spawn.stdout_file = log;
  spawn.stderr_file = log;
  spawn.new_session = true;
  ORDO_ASSIGN_OR_RETURN(const base::ProcessId keeper, base::Spawn(spawn));
  const absl::Duration deadline =
      context.clock.Monotonic() + ReadyTimeout(context.files, options.folder);
  while (context.clock.Monotonic() < deadline) {
    const std::optional<Endpoints> endpoints =
        ReadEndpoints(context.files, options.folder);
    if (endpoints.has_value() && endpoints->ready &&
        endpoints->processes.count("keeper") > 0 &&
        endpoints->processes.at("keeper") == keeper) {
      if (context.output != OutputForm::kTable) {
        context.out << EndpointsJson(*endpoints) << "\n";
      } else {
        context.out << "Ordo is up at " << endpoints->api << ", in "
                    << options.folder << "; stop it with: ordo down --dir "
                    << options.folder << "\n";
        if (endpoints->api != ClientOptions().address) {
          context.out << "Other commands find it with: export ORDO_SERVER="
                      << endpoints->api << "\n";
        }
      }
      return ExitCode::kOk;
    }
    const auto ended = base::WaitForExit(keeper.pid, absl::Milliseconds(20));
    if (!ended.ok()) continue;
    std::string line =
        LastLogLine(context.files, log, before.ok() ? before->size_bytes : 0);
    if (absl::StartsWith(line, "ordo: ")) line = line.substr(6);
    if (line.empty()) {
      line =
          absl::StrCat("the keeper ended (", ended->ToString(), "); see ", log);
    }
    return ended->exit_code == static_cast<int>(ExitCode::kDamaged)
               ? absl::DataLossError(line)
               : absl::FailedPreconditionError(line);
  }
  return absl::UnavailableError(
      absl::StrCat("the deployment does not answer; see ", log));
}

absl::StatusOr<std::string> AbsolutePath(const std::string& path) {
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) == nullptr) {
    return base::SystemError(errno, "--trainer " + path);
  }
  return std::string(resolved);
}

// What was right when it was given may not be so any more.
absl::Status CheckRemembered(const DeploymentOptions& all) {
  ORDO_RETURN_IF_ERROR(CheckSettings(all));
  for (const std::string& root : all.data_roots) {
    ORDO_RETURN_IF_ERROR(DataRoot(root).status());
  }
  return absl::OkStatus();
}

absl::StatusOr<UpOptions> ReadOptions(Context& context,
                                      const Arguments& arguments) {
  UpOptions up;
  up.fresh = arguments.Has("fresh-settings");
  DeploymentOptions& options = up.given;
  options.insecure = arguments.Has("insecure");
  if (arguments.Has("trainer")) {
    ORDO_ASSIGN_OR_RETURN(options.trainer,
                          AbsolutePath(arguments.Get("trainer", "")));
  }
  options.trainer_environment = arguments.All("trainer-env");
  options.settings = arguments.All("set");
  ORDO_RETURN_IF_ERROR(CheckSettings(options));
  for (const std::string& path : arguments.All("data-root")) {
    ORDO_ASSIGN_OR_RETURN(options.data_roots.emplace_back(), DataRoot(path));
  }
  const std::string named =
      arguments.Get("dir", context.environment("ORDO_DIR").value_or(""));
  const std::optional<std::string> data_home = DataHome(context.environment);
  const absl::StatusOr<std::string> existing =
      DeploymentFolder(context.files, named, data_home, /*create=*/false);
  // One that comes up again is found where it was.
  const std::string before =
      existing.ok() ? ConfiguredListen(context.files, *existing) : "";
  options.listen =
      arguments.Get("listen", before.empty() ? options.listen : before);
  ORDO_RETURN_IF_ERROR(base::AddContext(
      base::CheckListen(options.listen, options.insecure, "give --insecure"),
      "--listen"));
  // A first `up` that cannot serve leaves nothing behind.
  if (before.empty()) ORDO_RETURN_IF_ERROR(CheckPortFree(options.listen));
  ORDO_ASSIGN_OR_RETURN(
      options.folder,
      DeploymentFolder(context.files, named, data_home, /*create=*/true));
  up.all = options;
  if (!up.fresh) {
    ORDO_ASSIGN_OR_RETURN(const DeploymentOptions remembered,
                          ReadRemembered(context.files, options.folder));
    up.all = WithRemembered(remembered, options);
    ORDO_RETURN_IF_ERROR(
        base::AddContext(CheckRemembered(up.all),
                         "with what is remembered (forget it with "
                         "--fresh-settings)"));
  }
  return up;
}

void TellRemembered(Context& context, const UpOptions& options) {
  const std::string as_before = AsBefore(options.given, options.all);
  if (as_before.empty()) return;
  context.err << "ordo: as before: " << as_before
              << " (forget with --fresh-settings)" << std::endl;
}

void WarnIfInsecure(Context& context, const DeploymentOptions& options) {
  if (!options.insecure) return;
  context.err << "ordo: warning: " << options.listen
              << " has neither TLS nor passwords; whoever reaches it is "
                 "obeyed\n";
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  ORDO_ASSIGN_OR_RETURN(const UpOptions up, ReadOptions(context, arguments));
  const DeploymentOptions& options = up.all;
  ORDO_ASSIGN_OR_RETURN(const std::string program, base::ExecutablePath());
  const std::vector<std::string> argv =
      KeeperArgv(program, up, arguments.Get("output", "table"));
  if (arguments.Has("detach")) {
    // What the keeper says goes to its log.
    TellRemembered(context, up);
    WarnIfInsecure(context, options);
    return Detach(context, argv, options);
  }
  if (!CommandLineNames(options.folder)) return BecomeKeeper(argv);

  context.interrupt.CatchSignals();
  TellRemembered(context, up);
  WarnIfInsecure(context, options);
  ORDO_RETURN_IF_ERROR(KeepDeployment(context, options));
  return ExitCode::kOk;
}

}  // namespace

Command UpCommand() {
  Command command;
  command.name = "up";
  command.summary = "start a scheduler and a worker on this machine";
  command.help =
      "Needs no configuration. Everything lies in one folder: a database, "
      "logs,\n"
      "checkpoints, results; endpoints.json says which ports were taken. "
      "Ctrl-C\n"
      "or `ordo down` stops it: running jobs write a checkpoint, and go on "
      "from\n"
      "it at the next `ordo up`. A scheduler or worker that dies is "
      "restarted.\n"
      "\n"
      "What --listen, --set, --data-root, --trainer and --trainer-env say "
      "holds at\n"
      "the next `ordo up` of the folder too, which says so; a given one "
      "replaces the\n"
      "remembered one of its field or name, and data roots add up.\n"
      "DIR/config/*.textproto are written anew at each `ordo up`, and one "
      "changed by\n"
      "hand is refused: --set does it.\n"
      "\n"
      "Jobs read data from DIR/storage/data, and from each PATH of "
      "--data-root, which\n"
      "they name whole: data: [PATH/books]. Nothing is written there.";
  command.options = {
      {"dir", 0, "DIR", "default $ORDO_DIR, else $XDG_DATA_HOME/ordo"},
      {"listen", 0, "HOST:PORT",
       "of the API; default as before, 7420 at first"},
      {"detach", 0, "", "go on in the background once it answers"},
      {"insecure", 0, "", "permit a HOST that other machines can reach"},
      {"set", 0, "FIELD=VALUE", "configuration, such as scheduler.lease=5s",
       true},
      {"data-root", 0, "PATH", "a folder that jobs may read data from", true},
      {"fresh-settings", 0, "", "forget what an earlier `ordo up` was told"},
      {"trainer", 0, "PATH", "another program in place of ordo-trainer"},
      {"trainer-env", 0, "NAME=VALUE", "environment of trainers", true},
  };
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
