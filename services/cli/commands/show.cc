#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status/status.h"
#include "base/trace/trace.h"
#include "base/units/proto_time.h"
#include "base/units/units.h"
#include "base/yaml/text_form.h"
#include "services/cli/commands/catalogue.h"
#include "services/cli/commands/changes.h"
#include "services/cli/commands/checkpoint_names.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/parts.h"
#include "services/cli/commands/submission.h"
#include "services/cli/live_view.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

using checkpoints::v1::Checkpoint;
using checkpoints::v1::CheckpointsService;
using jobs::v1::Attempt;
using jobs::v1::Job;
using reports::v1::Report;
using reports::v1::ReportsService;
using workers::v1::Worker;
using workers::v1::WorkersService;
using Lines = std::vector<std::pair<std::string, Cell>>;

std::string TookText(const Attempt& attempt, const base::Clock& clock) {
  if (!attempt.has_start_time()) return "-";
  const absl::Time end =
      attempt.has_end_time() ? base::ToTime(attempt.end_time()) : clock.Now();
  return base::HumanDuration(
      std::max(absl::ZeroDuration(), end - base::ToTime(attempt.start_time())));
}

// Where each rank of an attempt is, and how it ended; nothing if there is one.
void PrintRanks(Context& context, const Attempt& attempt) {
  for (int i = 0; i < attempt.ranks_size(); ++i) {
    const Attempt::Rank& rank = attempt.ranks(i);
    context.out << "attempt " << attempt.number() << ": rank " << i << " on "
                << Printable(rank.worker()) << ", "
                << Printable(absl::StrJoin(rank.devices(), ", "));
    if (rank.has_end_time()) {
      context.out << ": " << Printable(rank.reason()) << ", "
                  << Printable(rank.message());
    }
    context.out << "\n";
  }
}

void PrintAttempts(Context& context, const Job& job) {
  if (job.attempts().empty()) return;
  Table table({">ATTEMPT", "WORKER", "STARTED", ">TOOK", ">FROM STEP",
               ">TO STEP", "REASON", "MESSAGE"});
  for (const Attempt& attempt : job.attempts()) {
    table.AddRow(
        {absl::StrCat(attempt.number()), ShortName(attempt.worker()),
         FormatTime(attempt.start_time()), TookText(attempt, context.clock),
         absl::StrCat(attempt.start_step()),
         attempt.has_end_time() ? absl::StrCat(attempt.end_step()) : "",
         attempt.reason(), attempt.message()});
  }
  context.out << "\n" << table.ToString(context.terminal);
  for (const Attempt& attempt : job.attempts()) {
    if (!attempt.resumed_from().empty()) {
      context.out << "attempt " << attempt.number() << ": resumed from "
                  << Printable(attempt.resumed_from())
                  << (attempt.exact() ? " exactly\n" : ", not exactly\n");
    }
    PrintRanks(context, attempt);
    for (const std::string& warning : attempt.warnings()) {
      context.out << "attempt " << attempt.number() << ": "
                  << Paint(context.terminal, Color::kYellow, "warning") << " "
                  << Printable(warning) << "\n";
    }
  }
}

// "-5, set by ada".
std::string PriorityText(const Job& job) {
  const std::string& user = job.priority_set_by();
  return absl::StrCat(job.priority(), user.empty() ? "" : ", set by ", user);
}

// What a run takes of its trials; empty: it has none.
std::string TunedRate(const Job& job) {
  if (!job.spec().has_tuned_by()) return "";
  const std::string best = absl::StrCat(
      "that of the best of ", job.spec().tuned_by().trials_size(), " trials");
  double rate = 0;
  for (const Attempt& attempt : job.attempts()) {
    if (attempt.has_control()) rate = attempt.control().learning_rate();
  }
  return rate > 0 ? absl::StrCat(rate, ", ", best) : best;
}

absl::Status ShowJob(Context& context, const std::string& name) {
  ORDO_ASSIGN_OR_RETURN(const Job job, GetJob(context, name));
  if (PrintStructured(context, job)) return absl::OkStatus();
  Lines lines = {{"Job", ShortName(job.name())},
                 {"State", StateCell(job.state())},
                 {"Reason", job.reason()}};
  if (!job.message().empty()) lines.push_back({"Message", job.message()});
  const std::string progress = ProgressText(job);
  if (!progress.empty()) lines.push_back({"Progress", progress});
  lines.push_back(
      {"Owner",
       job.owner().user() + (job.owner().verified() ? "" : " (unverified)")});
  lines.push_back({"Kind", JobSpecKind(job.spec().kind())});
  if (!job.parent().empty()) {
    lines.push_back(
        {"Part of", absl::StrCat(ShortName(job.parent()), ": ", job.part())});
  }
  if (const std::string rate = TunedRate(job); !rate.empty()) {
    lines.push_back({"Learning rate", rate});
  }
  lines.push_back({"Queue", job.spec().queue()});
  lines.push_back({"Priority", PriorityText(job)});
  if (!job.held_by().empty()) lines.push_back({"Held by", job.held_by()});
  lines.push_back({"Created", FormatTime(job.create_time())});
  lines.push_back({"Started", FormatTime(job.start_time())});
  lines.push_back({"Ended", FormatTime(job.end_time())});
  if (!job.cancelled_by().empty()) {
    lines.push_back({"Cancelled by", job.cancelled_by()});
  }
  if (!job.traceparent().empty()) {
    lines.push_back({"Trace", base::TraceIdOf(job.traceparent())});
  }
  for (const std::string& notice : job.notices()) {
    lines.push_back({"Notice", notice});
  }
  context.out << KeyValueLines(lines, context.terminal);
  ORDO_RETURN_IF_ERROR(PrintParts(context, job));
  PrintAttempts(context, job);
  context.out << "\n"
              << Paint(context.terminal, Color::kBold, "Spec:") << "\n"
              << base::WriteMessage(job.spec(), base::TextForm::kYaml);
  return absl::OkStatus();
}

absl::Status ShowWorker(Context& context, const std::string& name) {
  workers::v1::GetWorkerRequest request;
  request.set_name(name);
  ORDO_ASSIGN_OR_RETURN(
      const Worker worker,
      context.client.Call(context.client.workers(),
                          &WorkersService::Stub::GetWorker, request));
  if (PrintStructured(context, worker)) return absl::OkStatus();
  Lines lines = {{"Worker", ShortName(worker.name())},
                 {"State", WorkerStateText(worker)},
                 {"Address", worker.address()},
                 {"Last seen", FormatTime(worker.last_seen_time())},
                 {"Trainer build", worker.build_digest()}};
  // What jobs may ask for by resources.
  if (worker.cpus() > 0) {
    lines.push_back({"Cores", absl::StrCat(worker.cpus())});
  }
  if (worker.memory_bytes() > 0) {
    lines.push_back({"Memory", base::HumanBytes(worker.memory_bytes())});
  }
  for (const std::string& root : worker.data_roots().paths()) {
    lines.push_back({"Data root", root});
  }
  const std::map<std::string, std::string> labels(worker.labels().begin(),
                                                  worker.labels().end());
  for (const auto& [name, value] : labels) {
    lines.push_back({"Label", absl::StrCat(name, "=", value)});
  }
  if (worker.has_drain_time()) {
    lines.push_back({"Drains at", FormatTime(worker.drain_time())});
  }
  if (worker.has_leave_time()) {
    lines.push_back({"Leaves at", FormatTime(worker.leave_time())});
  }
  if (!worker.closed_reason().empty()) {
    lines.push_back({"Closed because", worker.closed_reason()});
  }
  for (const auto& device : worker.devices()) {
    if (!device.has_quarantine()) continue;
    lines.push_back(
        {"Quarantine",
         absl::StrCat(device.name(), " since ",
                      FormatTime(device.quarantine().start_time()), ": ",
                      device.quarantine().reason(),
                      "; once it is mended: ordo workers release ",
                      ShortName(worker.name()), " ", device.name())});
  }
  context.out << KeyValueLines(lines, context.terminal);
  Table table({"DEVICE", "KIND", ">MEMORY", "JOB", ">ATTEMPT"});
  for (const auto& device : worker.devices()) {
    table.AddRow({device.name(), device.kind(),
                  device.memory_bytes() == 0
                      ? "-"
                      : base::HumanBytes(device.memory_bytes()),
                  device.job().empty() ? "-" : ShortName(device.job()),
                  device.job().empty() ? "-" : absl::StrCat(device.attempt())});
  }
  context.out << "\n" << table.ToString(context.terminal);
  PrintChanges(context, worker.changes());
  return absl::OkStatus();
}

template <typename Files>
void PrintFiles(Context& context, const Files& files) {
  Table table({"FILE", ">SIZE", "SHA-256"});
  for (const auto& file : files) {
    table.AddRow(
        {file.path(), base::HumanBytes(file.size_bytes()), file.sha256()});
  }
  context.out << "\n" << table.ToString(context.terminal);
}

// Where a checkpoint is from.
std::string OriginText(const Checkpoint& checkpoint) {
  if (checkpoint.origin() != Checkpoint::IMPORTED) {
    return absl::StrCat("attempt ", checkpoint.attempt());
  }
  return absl::StrCat("imported by ", checkpoint.imported_by(),
                      checkpoint.model_type().empty() ? "" : ", model type ",
                      checkpoint.model_type());
}

absl::Status ShowCheckpoint(Context& context, const std::string& name) {
  checkpoints::v1::GetCheckpointRequest request;
  request.set_name(name);
  ORDO_ASSIGN_OR_RETURN(
      const Checkpoint checkpoint,
      context.client.Call(context.client.checkpoints(),
                          &CheckpointsService::Stub::GetCheckpoint, request));
  if (PrintStructured(context, checkpoint)) return absl::OkStatus();
  context.out << KeyValueLines(
      {{"Checkpoint", checkpoint.name()},
       {"State", Checkpoint::State_Name(checkpoint.state())},
       {"Step", absl::StrCat(checkpoint.step())},
       {"Origin", OriginText(checkpoint)},
       {"Created", FormatTime(checkpoint.create_time())},
       {"Notes", NotesOf(checkpoint)},
       {"State digest", checkpoint.state_digest()},
       {"Manifest", checkpoint.manifest_sha256()}},
      context.terminal);
  PrintFiles(context, checkpoint.files());
  PrintChanges(context, checkpoint.changes());
  return absl::OkStatus();
}

absl::Status ShowReport(Context& context, const std::string& name) {
  reports::v1::GetReportRequest request;
  request.set_name(name);
  ORDO_ASSIGN_OR_RETURN(
      const Report report,
      context.client.Call(context.client.reports(),
                          &ReportsService::Stub::GetReport, request));
  if (PrintStructured(context, report)) return absl::OkStatus();
  context.out << KeyValueLines({{"Report", report.name()},
                                {"Task", report.task()},
                                {"Checkpoint", report.checkpoint()},
                                {"Step", absl::StrCat(report.step())},
                                {"Created", FormatTime(report.create_time())},
                                {"Scores", ScoresText(report)}},
                               context.terminal);
  PrintFiles(context, report.files());
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  ORDO_ASSIGN_OR_RETURN(const ResourceName name,
                        ParseResourceName(arguments.positional()[0]));
  absl::Status status;
  switch (name.kind) {
    case ResourceName::Kind::kJob:
      status = ShowJob(context, name.ToString());
      break;
    case ResourceName::Kind::kWorker:
      status = ShowWorker(context, name.ToString());
      break;
    case ResourceName::Kind::kAlias:
      status = ShowAlias(context, name.ToString());
      break;
    case ResourceName::Kind::kCheckpoint:
      status = ShowCheckpoint(context, name.ToString());
      break;
    case ResourceName::Kind::kReport:
      status = ShowReport(context, name.ToString());
      break;
  }
  if (!status.ok()) return status;
  return ExitCode::kOk;
}

}  // namespace

Command ShowCommand() {
  Command command;
  command.name = "show";
  command.arguments = "NAME";
  command.summary = "show a job, worker, checkpoint, alias or report";
  command.help =
      "NAME is JOB, workers/WORKER, aliases/ALIAS,\n"
      "jobs/JOB/checkpoints/CHECKPOINT (`latest` or `last` is the newest, "
      "`best` "
      "the\n"
      "best) or jobs/JOB/reports/REPORT.";
  command.min_arguments = 1;
  command.max_arguments = 1;
  command.completes = "jobs";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
