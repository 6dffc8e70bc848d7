#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status/status.h"
#include "base/units/proto_time.h"
#include "services/cli/commands/commands.h"
#include "services/cli/names.h"
#include "services/cli/print.h"
#include "services/cli/times.h"

namespace ordo::services::cli {
namespace {

using usage::v1::ReportUsageRequest;
using usage::v1::ReportUsageResponse;
using usage::v1::Usage;
using usage::v1::UsageService;

// The last part of the key of a row that is of all that have none of their own.
constexpr char kOthers[] = "-";

std::string SecondsText(double seconds) {
  return absl::StrFormat("%.0f", seconds);
}

// Its share of the whole that came to nothing.
std::string LostText(const Usage& row) {
  const double all = row.used_device_seconds() + row.idle_device_seconds();
  if (all <= 0) return "-";
  return absl::StrFormat("%.1f%%", 100 * row.lost_device_seconds() / all);
}

void AddRow(const std::string& name, const Usage& row, Table* table) {
  table->AddRow({name, SecondsText(row.used_device_seconds()),
                 SecondsText(row.idle_device_seconds()),
                 SecondsText(row.lost_device_seconds()), LostText(row),
                 absl::StrCat(row.lost_steps()), absl::StrCat(row.attempts())});
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  ReportUsageRequest request;
  const std::string by = arguments.Get("by", "owner");
  request.set_by(by == "queue" ? ReportUsageRequest::QUEUE
                 : by == "job" ? ReportUsageRequest::JOB
                               : ReportUsageRequest::OWNER);
  if (arguments.Has("since")) {
    ORDO_ASSIGN_OR_RETURN(const absl::Time since,
                          ParseTime("since", arguments.Get("since", ""),
                                    context.clock.Now(), Direction::kBack));
    *request.mutable_since_time() = base::ToTimestamp(since);
  }
  ORDO_ASSIGN_OR_RETURN(
      const ReportUsageResponse usage,
      context.client.Call(context.client.usage(),
                          &UsageService::Stub::ReportUsage, request));
  if (PrintStructured(context, usage)) return ExitCode::kOk;
  const std::string heading = by == "queue" ? "QUEUE"
                              : by == "job" ? "JOB"
                                            : "OWNER";
  Table table({heading, ">USED", ">IDLE", ">LOST", ">LOST%", ">LOST_STEPS",
               ">ATTEMPTS"});
  for (const Usage& row : usage.rows()) {
    const std::string name = ShortName(row.key());
    AddRow(name == kOthers ? "(others)" : name, row, &table);
  }
  AddRow("all", usage.total(), &table);
  context.out << table.ToString(context.terminal);
  return ExitCode::kOk;
}

}  // namespace

Command UsageCommand() {
  Command command;
  command.name = "usage";
  command.summary = "say who had devices for how long";
  command.help =
      "In device-seconds. USED: trainers worked. IDLE: devices were held and "
      "no\n"
      "trainer had reported yet. LOST, of both: what had to be done again, "
      "after the\n"
      "last checkpoint of attempts that did not end well. LOST_STEPS: how many "
      "steps\n"
      "that was; -o json says why, of both. Jobs in the archive, and of a job "
      "all\n"
      "before its newest 100 attempts, count by the day.\n"
      "(others): archived jobs, by job, and what is beyond 4096 rows.\n"
      "  ordo usage --by queue --since 7d";
  command.options = {
      {"by",
       0,
       "WHAT",
       "owner (default), queue or job",
       false,
       {"owner", "queue", "job"}},
      {"since", 0, "TIME", "24h, 7d or '2026-11-22 10:00'; default: all"},
  };
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
