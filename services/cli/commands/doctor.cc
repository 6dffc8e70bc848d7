#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/process/process.h"
#include "base/status/status.h"
#include "google/protobuf/struct.pb.h"
#include "services/cli/commands/commands.h"
#include "services/cli/deployment.h"
#include "services/cli/doctor/configuration.h"
#include "services/cli/doctor/devices.h"
#include "services/cli/doctor/finding.h"
#include "services/cli/doctor/machine.h"
#include "services/cli/doctor/network.h"
#include "services/cli/doctor/storage.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

using doctor::Finding;
using doctor::Findings;
using doctor::Health;

// Those that are named, else those of the deployment that `ordo up` keeps here.
std::vector<std::string> ConfigFiles(Context& context,
                                     const Arguments& arguments) {
  std::vector<std::string> files = arguments.All("config");
  if (!files.empty() || arguments.Has("storage")) return files;
  const auto folder = DeploymentFolder(
      context.files, context.environment("ORDO_DIR").value_or(""),
      DataHome(context.environment), /*create=*/false);
  if (!folder.ok()) return files;
  for (const char* process : {"scheduler", "worker"}) {
    const std::string file = ConfigFile(*folder, process);
    if (base::Exists(context.files, file)) files.push_back(file);
  }
  return files;
}

absl::StatusOr<Findings> CheckAll(Context& context,
                                  const Arguments& arguments) {
  Findings findings =
      doctor::JudgeMachine(doctor::ReadMachineFacts(/*root=*/""));
  doctor::DeviceSources sources;
  sources.trainer = base::SiblingBinary("ordo-trainer").value_or("");
  doctor::Append(doctor::JudgeDevices(doctor::ReadDeviceFacts(sources)),
                 &findings);
  const doctor::FolderCalls calls(context.files, context.clock);
  for (const std::string& folder : arguments.All("storage")) {
    doctor::Append(
        doctor::CheckFolder(calls, folder, doctor::FolderUse::kStorage),
        &findings);
  }
  for (const std::string& file : ConfigFiles(context, arguments)) {
    ORDO_ASSIGN_OR_RETURN(const doctor::Configuration configuration,
                          doctor::ReadConfiguration(context.files, file));
    doctor::Append(doctor::CheckConfiguration(calls, configuration), &findings);
  }
  doctor::ServerAnswer answer =
      doctor::AskServer(context.client, context.clock);
  answer.is_named =
      arguments.Has("server") || context.environment("ORDO_SERVER").has_value();
  doctor::Append(doctor::JudgeServer(answer), &findings);
  if (!absl::IsUnavailable(answer.status)) {
    const auto workers = doctor::AskWorkers(context.client);
    if (workers.ok()) findings.push_back(doctor::JudgeWorkers(*workers));
  }
  return findings;
}

google::protobuf::Struct AsMessage(const Findings& findings) {
  google::protobuf::Struct message;
  auto& fields = *message.mutable_fields();
  auto& list = *fields["findings"].mutable_list_value();
  for (const Finding& finding : findings) {
    auto& row = *list.add_values()->mutable_struct_value()->mutable_fields();
    row["check"].set_string_value(finding.check);
    row["health"].set_string_value(doctor::HealthName(finding.health));
    row["seen"].set_string_value(finding.seen);
    if (!finding.advice.empty()) row["do"].set_string_value(finding.advice);
  }
  for (const Health health : {Health::kOk, Health::kWarn, Health::kFail}) {
    fields[doctor::HealthName(health)].set_number_value(
        doctor::Count(findings, health));
  }
  return message;
}

Color ColorOf(Health health) {
  return health == Health::kOk     ? Color::kGreen
         : health == Health::kWarn ? Color::kYellow
                                   : Color::kRed;
}

void Print(Context& context, const Findings& findings) {
  size_t width = 0;
  for (const Finding& finding : findings) {
    width = std::max(width, finding.check.size());
  }
  for (const Finding& finding : findings) {
    const std::string health = doctor::HealthName(finding.health);
    const auto blanks = [](size_t count) { return std::string(count, ' '); };
    context.out << Paint(context.terminal, ColorOf(finding.health), health)
                << blanks(6 - health.size()) << finding.check
                << blanks(width + 2 - finding.check.size())
                << Printable(finding.seen) << "\n";
    if (finding.advice.empty()) continue;
    context.out << blanks(width + 8) << "do: " << Printable(finding.advice)
                << "\n";
  }
  context.out << doctor::Count(findings, Health::kOk) << " ok, "
              << doctor::Count(findings, Health::kWarn) << " warn, "
              << doctor::Count(findings, Health::kFail) << " fail\n";
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  ORDO_ASSIGN_OR_RETURN(const Findings findings, CheckAll(context, arguments));
  if (!PrintStructured(context, AsMessage(findings))) Print(context, findings);
  return doctor::Count(findings, Health::kFail) == 0 ? ExitCode::kOk
                                                     : ExitCode::kBadInput;
}

}  // namespace

Command DoctorCommand() {
  Command command;
  command.name = "doctor";
  command.summary = "check this machine, its storage and its scheduler";
  command.help =
      "A line for each check: ok, warn (Ordo works, but not as well as it "
      "could) or\n"
      "fail, what was seen, and what to do. Of the machine: kernel, limits, "
      "clock,\n"
      "GPUs and their driver, and each kernel of ordo-trainer, where that lies "
      "beside\n"
      "`ordo`, which takes seconds. Of folders: whether renames, syncs, locks "
      "and\n"
      "links do what Ordo relies on, clock and room. Of a configuration: its "
      "folders,\n"
      "ports, and the addresses that it names. Of the scheduler: whether it "
      "answers,\n"
      "its clock and workers. Without --config and --storage: the deployment "
      "of\n"
      "`ordo up` on this machine, if there is one. Run it as the user that "
      "the\n"
      "services run as:\n"
      "  sudo -u ordo ordo doctor --config /etc/ordo/worker.yaml\n"
      "\n"
      "Exit code 0: no check failed; 2: one did, or the command line is wrong.";
  command.options = {
      {"storage", 0, "DIR", "a folder that is to be the shared storage", true},
      {"config", 0, "FILE", "of ordo-scheduler or ordo-worker", true},
  };
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
