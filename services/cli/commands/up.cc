#include <cerrno>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/process/process.h"
#include "base/status/status.h"
#include "services/cli/client.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/up_options.h"
#include "services/cli/deployment.h"
#include "services/cli/keeper.h"
#include "services/cli/remembered.h"

namespace ordo::services::cli {
namespace {

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
    return ErrorOfExit(ended->exit_code, line);
  }
  return absl::UnavailableError(
      absl::StrCat("the deployment does not answer; see ", log));
}

void TellRemembered(Context& context, const UpOptions& options) {
  const std::string as_before = AsBefore(options.given, options.all);
  if (as_before.empty()) return;
  context.err << "ordo: as before: " << as_before
              << " (forget with --fresh-settings)" << std::endl;
  for (const std::string& lost : LostDataRoots(options.all)) {
    context.err << "ordo: warning: " << lost << std::endl;
  }
}

void WarnIfInsecure(Context& context, const DeploymentOptions& options) {
  if (!options.insecure) return;
  context.err << "ordo: warning: " << options.listen
              << " has neither TLS nor passwords; whoever reaches it is "
                 "obeyed\n";
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  ORDO_ASSIGN_OR_RETURN(const UpOptions up, ReadUpOptions(context, arguments));
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
      "Jobs read data from DIR/storage/data, where `ordo push data` puts it, "
      "and from\n"
      "each PATH of --data-root, which they name whole: data: [PATH/books]. "
      "There\n"
      "nothing is written.";
  command.options = {
      {"dir", 0, "DIR", "default $ORDO_DIR, else $XDG_DATA_HOME/ordo"},
      {"listen", 0, "HOST:PORT",
       "of the API; default as before, 7420 at first"},
      {"detach", 0, "", "go on in the background once it answers"},
      {"insecure", 0, "", "permit a HOST that other machines can reach"},
      {"set", 0, "FIELD=VALUE", "configuration, such as scheduler.lease=5s",
       true},
      {"data-root", 0, "PATH", "a folder that jobs may read data from", true},
      {"fresh-settings", 0, "", "forget what `ordo up` was told, --listen too"},
      {"trainer", 0, "PATH", "another program in place of ordo-trainer"},
      {"trainer-env", 0, "NAME=VALUE", "environment of trainers", true},
  };
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
