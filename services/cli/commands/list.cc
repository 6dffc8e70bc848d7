#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "base/units/units.h"
#include "services/cli/commands/caller.h"
#include "services/cli/commands/catalogue.h"
#include "services/cli/commands/checkpoint_names.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/listing.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

using checkpoints::v1::Checkpoint;
using checkpoints::v1::CheckpointsService;
using checkpoints::v1::ListCheckpointsRequest;
using checkpoints::v1::ListCheckpointsResponse;
using jobs::v1::Job;
using jobs::v1::JobsService;
using jobs::v1::ListJobsRequest;
using jobs::v1::ListJobsResponse;
using ordo::data::v1::Data;
using ordo::data::v1::DataService;
using ordo::data::v1::ListDataRequest;
using ordo::data::v1::ListDataResponse;
using reports::v1::ListReportsRequest;
using reports::v1::ListReportsResponse;
using reports::v1::Report;
using reports::v1::ReportsService;
using workers::v1::Device;
using workers::v1::ListWorkersRequest;
using workers::v1::ListWorkersResponse;
using workers::v1::Worker;
using workers::v1::WorkersService;

struct ListOptions {
  int64_t limit = 100;
  // A job, for checkpoints and reports; "jobs/-" for all.
  std::string parent = "jobs/-";
  std::string filter;
};

void SayMore(Context& context, bool more) {
  if (more) context.err << "ordo: there are more; --limit 0 shows all\n";
}

std::string StepText(const Job& job) {
  if (job.state() == Job::SUCCEEDED && job.spec().has_training()) {
    return absl::StrCat(job.spec().training().steps(), "/",
                        job.spec().training().steps());
  }
  if (job.progress().total_steps() > 0) {
    return absl::StrCat(job.progress().step(), "/",
                        job.progress().total_steps());
  }
  // One that has ended has no progress any more.
  int64_t step = 0;
  for (const auto& attempt : job.attempts()) {
    step = std::max<int64_t>(step, attempt.end_step());
  }
  if (step == 0 || !job.spec().has_training()) return "";
  return absl::StrCat(step, "/", job.spec().training().steps());
}

absl::Status ListJobs(Context& context, const ListOptions& options) {
  ListJobsRequest request;
  request.set_filter(options.filter);
  ListJobsResponse all;
  ORDO_ASSIGN_OR_RETURN(
      const bool more,
      ListPages(context,
                ListCall{context.client.jobs(), &JobsService::Stub::ListJobs,
                         request},
                options.limit, [&](const ListJobsResponse& page) {
                  all.MergeFrom(page);
                  all.set_next_page_token(page.next_page_token());
                  return all.jobs_size();
                }));
  if (PrintStructured(context, all)) return absl::OkStatus();
  Table table({"NAME", "STATE", "REASON", "KIND", ">STEP", "OWNER", ">AGE"});
  for (const Job& job : all.jobs()) {
    table.AddRow({ShortName(job.name()), StateCell(job.state()), job.reason(),
                  JobSpecKind(job.spec().kind()), StepText(job),
                  job.owner().user(),
                  FormatAge(job.create_time(), context.clock)});
  }
  context.out << table.ToString(context.terminal);
  SayMore(context, more);
  return absl::OkStatus();
}

// What its worker found of a device's kernels, or why nobody gets it.
std::string KernelsText(const Device& device) {
  if (device.has_quarantine()) {
    return "in quarantine: " + device.quarantine().reason();
  }
  if (!device.withheld().empty()) return device.withheld();
  if (!device.has_probe()) return "not probed";
  const auto& probe = device.probe();
  std::string text = absl::StrCat(probe.passed_size(), " right");
  for (const auto& failure : probe.failed()) {
    absl::StrAppend(&text, ", ", failure.kernel(), " WRONG");
  }
  return text;
}

absl::Status ListWorkers(Context& context, const ListOptions& options) {
  ListWorkersResponse all;
  ORDO_ASSIGN_OR_RETURN(
      const bool more,
      ListPages(
          context,
          ListCall{context.client.workers(), &WorkersService::Stub::ListWorkers,
                   ListWorkersRequest()},
          options.limit, [&](const ListWorkersResponse& page) {
            all.MergeFrom(page);
            all.set_next_page_token(page.next_page_token());
            return all.workers_size();
          }));
  if (PrintStructured(context, all)) return absl::OkStatus();
  Table table(
      {"NAME", "STATE", "DEVICES", "KERNELS", "JOBS", ">SEEN", "ADDRESS"});
  for (const Worker& worker : all.workers()) {
    std::vector<std::string> devices;
    std::vector<std::string> kernels;
    std::vector<std::string> jobs;
    for (const Device& device : worker.devices()) {
      devices.push_back(device.name());
      kernels.push_back(KernelsText(device));
      if (!device.job().empty()) jobs.push_back(ShortName(device.job()));
    }
    const std::string state = WorkerStateText(worker);
    table.AddRow({ShortName(worker.name()),
                  Cell(state, state == "ONLINE" ? Color::kGreen : Color::kRed),
                  absl::StrJoin(devices, ","), absl::StrJoin(kernels, "; "),
                  absl::StrJoin(jobs, ","),
                  FormatAge(worker.last_seen_time(), context.clock),
                  worker.address()});
  }
  context.out << table.ToString(context.terminal);
  SayMore(context, more);
  return absl::OkStatus();
}

absl::Status ListCheckpoints(Context& context, const ListOptions& options) {
  ListCheckpointsRequest request;
  request.set_parent(options.parent);
  ListCheckpointsResponse all;
  ORDO_ASSIGN_OR_RETURN(
      const bool more,
      ListPages(context,
                ListCall{context.client.checkpoints(),
                         &CheckpointsService::Stub::ListCheckpoints, request},
                options.limit, [&](const ListCheckpointsResponse& page) {
                  all.MergeFrom(page);
                  all.set_next_page_token(page.next_page_token());
                  return all.checkpoints_size();
                }));
  if (PrintStructured(context, all)) return absl::OkStatus();
  Table table({"NAME", ">STEP", ">SIZE", "STATE", ">AGE", "NOTES"});
  for (const Checkpoint& checkpoint : all.checkpoints()) {
    uint64_t size = 0;
    for (const auto& file : checkpoint.files()) size += file.size_bytes();
    table.AddRow({checkpoint.name(), absl::StrCat(checkpoint.step()),
                  base::HumanBytes(size),
                  Checkpoint::State_Name(checkpoint.state()),
                  FormatAge(checkpoint.create_time(), context.clock),
                  NotesOf(checkpoint)});
  }
  context.out << table.ToString(context.terminal);
  SayMore(context, more);
  return absl::OkStatus();
}

absl::Status ListData(Context& context, const ListOptions& options) {
  ListDataResponse all;
  ORDO_ASSIGN_OR_RETURN(
      const bool more,
      ListPages(context,
                ListCall{context.client.data(), &DataService::Stub::ListData,
                         ListDataRequest()},
                options.limit, [&](const ListDataResponse& page) {
                  all.MergeFrom(page);
                  all.set_next_page_token(page.next_page_token());
                  return all.data_size();
                }));
  if (PrintStructured(context, all)) return absl::OkStatus();
  Table table({"NAME", "CURRENT", ">FILES", ">SIZE", "PUSHED BY", ">AGE"});
  for (const Data& data : all.data()) {
    table.AddRow({ShortName(data.name()), data.current() ? "yes" : "",
                  absl::StrCat(data.file_count()),
                  base::HumanBytes(static_cast<uint64_t>(data.size_bytes())),
                  data.pushed_by(),
                  FormatAge(data.create_time(), context.clock)});
  }
  context.out << table.ToString(context.terminal);
  SayMore(context, more);
  return absl::OkStatus();
}

absl::Status ListReports(Context& context, const ListOptions& options) {
  ListReportsRequest request;
  request.set_parent(options.parent);
  ListReportsResponse all;
  ORDO_ASSIGN_OR_RETURN(
      const bool more,
      ListPages(context,
                ListCall{context.client.reports(),
                         &ReportsService::Stub::ListReports, request},
                options.limit, [&](const ListReportsResponse& page) {
                  all.MergeFrom(page);
                  all.set_next_page_token(page.next_page_token());
                  return all.reports_size();
                }));
  if (PrintStructured(context, all)) return absl::OkStatus();
  Table table({"NAME", "TASK", ">STEP", "SCORES", ">AGE"});
  for (const Report& report : all.reports()) {
    table.AddRow({report.name(), report.task(), absl::StrCat(report.step()),
                  ScoresText(report),
                  FormatAge(report.create_time(), context.clock)});
  }
  context.out << table.ToString(context.terminal);
  SayMore(context, more);
  return absl::OkStatus();
}

// Whether a filter says whose jobs it wants.
bool NamesOwner(const std::string& filter) {
  for (const absl::string_view term : absl::StrSplit(filter, " AND ")) {
    const std::vector<std::string> sides = absl::StrSplit(term, '=');
    if (absl::StripAsciiWhitespace(sides.front()) == "owner") return true;
  }
  return false;
}

// A name as a filter takes it; those of identity providers may hold anything.
std::string FilterValue(const std::string& name) {
  if (name.find_first_of("=\"()<>!\\") == std::string::npos) return name;
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') quoted.push_back('\\');
    quoted.push_back(c);
  }
  quoted.push_back('"');
  return quoted;
}

// Joins what was asked for and, unless others' jobs are wanted, the own name.
absl::StatusOr<std::string> JobFilter(Context& context,
                                      const Arguments& arguments) {
  std::vector<std::string> terms = arguments.All("filter");
  if (arguments.Has("parent")) {
    ORDO_ASSIGN_OR_RETURN(const std::string parent,
                          JobName(arguments.Get("parent", "")));
    // A name that is no job's has no parts either; that is said.
    jobs::v1::GetJobRequest request;
    request.set_name(parent);
    ORDO_RETURN_IF_ERROR(
        context.client
            .Call(context.client.jobs(), &JobsService::Stub::GetJob, request)
            .status());
    terms.push_back("parent = " + ShortName(parent));
  }
  if (!arguments.Has("all-users") &&
      std::none_of(terms.begin(), terms.end(), NamesOwner)) {
    ORDO_ASSIGN_OR_RETURN(const std::string user, CallerName(context));
    terms.push_back("owner = " + FilterValue(user));
  }
  return absl::StrJoin(terms, " AND ");
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  const std::vector<std::string> kinds = {"jobs",    "workers", "checkpoints",
                                          "reports", "data",    "encodings",
                                          "tasks"};
  const std::vector<std::string>& given = arguments.positional();
  const std::string kind = given.empty() ? "jobs" : given[0];
  const bool takes_job = kind == "checkpoints" || kind == "reports";
  const bool is_of_catalogue = kind == "encodings" || kind == "tasks";
  if (given.size() > 1 && !takes_job && !is_of_catalogue) {
    return absl::InvalidArgumentError(
        absl::StrCat("'ordo list ", kind, "' takes no further argument"));
  }
  if (kind != "jobs" && (arguments.Has("filter") || arguments.Has("parent") ||
                         arguments.Has("all-users"))) {
    return absl::InvalidArgumentError(
        "--filter, --parent and --all-users are for 'ordo list jobs'");
  }
  ListOptions options;
  ORDO_ASSIGN_OR_RETURN(options.limit,
                        arguments.GetInt("limit", 100, 0, 1'000'000'000));
  const std::string name = given.size() > 1 ? given[1] : "";
  if (takes_job && !name.empty()) {
    ORDO_ASSIGN_OR_RETURN(options.parent, JobName(name));
  }
  absl::Status status;
  if (kind == "jobs") {
    ORDO_ASSIGN_OR_RETURN(options.filter, JobFilter(context, arguments));
    status = ListJobs(context, options);
  } else if (kind == "workers") {
    status = ListWorkers(context, options);
  } else if (kind == "checkpoints") {
    status = ListCheckpoints(context, options);
  } else if (kind == "reports") {
    status = ListReports(context, options);
  } else if (kind == "data") {
    status = ListData(context, options);
  } else if (kind == "encodings") {
    status = ListEncodings(context, name);
  } else if (kind == "tasks") {
    status = ListTasks(context, name);
  } else {
    status = absl::InvalidArgumentError(absl::StrCat(
        "there is no list of '", kind, "'", base::SuggestName(kind, kinds)));
  }
  if (!status.ok()) return status;
  return ExitCode::kOk;
}

}  // namespace

std::string JobSpecKind(jobs::v1::JobSpec::Kind kind) {
  // What stored jobs of no kind are.
  if (kind == jobs::v1::JobSpec::KIND_UNSPECIFIED) return "train";
  return absl::AsciiStrToLower(jobs::v1::JobSpec::Kind_Name(kind));
}

std::string WorkerStateText(const workers::v1::Worker& worker) {
  std::string text = workers::v1::Worker::State_Name(worker.state());
  if (worker.cordoned()) absl::StrAppend(&text, ",CORDONED");
  if (worker.has_drain_time()) absl::StrAppend(&text, ",DRAIN");
  if (worker.has_leave_time()) absl::StrAppend(&text, ",LEAVES");
  if (std::any_of(
          worker.devices().begin(), worker.devices().end(),
          [](const Device& device) { return device.has_quarantine(); })) {
    absl::StrAppend(&text, ",QUARANTINE");
  }
  return text;
}

std::string ScoresText(const reports::v1::Report& report) {
  const std::map<std::string, double> scores(report.metrics().begin(),
                                             report.metrics().end());
  std::vector<std::string> texts;
  for (const auto& [name, value] : scores) {
    texts.push_back(absl::StrCat(name, "=", FormatNumber(value)));
  }
  return absl::StrJoin(texts, " ");
}

Command ListCommand() {
  Command command;
  command.name = "list";
  command.arguments =
      "[jobs|workers|data|checkpoints|reports|encodings|tasks [NAME]]";
  command.summary = "list what there is, newest first";
  command.help =
      "Without an argument: your jobs. Terms of --filter, joined by AND:\n"
      "  state = RUNNING   queue = default   owner = ada   parent = JOB\n"
      "  labels.KEY = VALUE\n"
      "Data, by name, is what was pushed; a name alone stands for its CURRENT\n"
      "version.\n"
      "NAME is the job of checkpoints or reports, or the encoding or task that "
      "is\n"
      "to be printed alone:\n"
      "  ordo list tasks flip_flop\n"
      "Encodings and tasks need no scheduler.";
  command.options = {
      {"all-users", 0, "", "jobs of everybody, not only yours"},
      {"filter", 0, "FILTER", "jobs to list; several are joined by AND", true},
      {"parent", 0, "JOB", "the parts of a sweep, comparison or pipeline"},
      {"limit", 0, "NUMBER", "list at most so many; 0 lists all; default 100"},
  };
  command.max_arguments = 2;
  command.completes = "jobs workers checkpoints reports data encodings tasks";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
