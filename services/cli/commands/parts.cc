#include "services/cli/commands/parts.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "services/cli/commands/catalogue.h"
#include "services/cli/commands/listing.h"
#include "services/cli/commands/report_files.h"
#include "services/cli/download.h"
#include "services/cli/live_view.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using jobs::v1::JobsService;
using jobs::v1::ListJobsRequest;
using jobs::v1::ListJobsResponse;
using reports::v1::ListReportsRequest;
using reports::v1::ListReportsResponse;
using reports::v1::Report;
using reports::v1::ReportsService;
using training::v1::FileInfo;

// Scores are asked for part by part.
constexpr int kMaxScored = 100;
constexpr char kResultFile[] = "result.json";
constexpr char kTextEnd[] = ".md";
// Of one file of a report: a page holds its figures.
constexpr size_t kMaxFileBytes = 64 << 20;

// Newest first, at most `limit` (0: all).
absl::StatusOr<std::vector<Report>> ListReportsOf(Context& context,
                                                  const Job& job,
                                                  int64_t limit) {
  ListReportsRequest request;
  request.set_parent(job.name());
  std::vector<Report> all;
  ORDO_RETURN_IF_ERROR(
      ListPages(context,
                ListCall{context.client.reports(),
                         &ReportsService::Stub::ListReports, request},
                limit,
                [&](const ListReportsResponse& page) {
                  all.insert(all.end(), page.reports().begin(),
                             page.reports().end());
                  return static_cast<int64_t>(all.size());
                })
          .status());
  return all;
}

// What a running part says of itself, else how it ended.
std::string HowItGoes(const Job& part) {
  if (!HasEnded(part.state())) return ProgressText(part);
  return part.state() == Job::SUCCEEDED ? "" : part.message();
}

// Null where the report has none.
const FileInfo* FileEndingWith(const Report& report, const std::string& end) {
  for (const FileInfo& file : report.files()) {
    if (absl::EndsWith(file.path(), end)) return &file;
  }
  return nullptr;
}

absl::StatusOr<std::string> Fetch(Context& context, const Report& report,
                                  const FileInfo& file) {
  ORDO_ASSIGN_OR_RETURN(const ResourceName name,
                        ParseResourceName(report.name()));
  return DownloadToMemory(context, {name, file}, kMaxFileBytes);
}

// Of Markdown, for a terminal: without the paragraphs that begin with a figure.
std::string WithoutFigures(const std::string& markdown) {
  std::vector<absl::string_view> kept;
  for (const absl::string_view paragraph : absl::StrSplit(markdown, "\n\n")) {
    if (!absl::StartsWith(paragraph, "![")) kept.push_back(paragraph);
  }
  return absl::StrJoin(kept, "\n\n");
}

absl::Status PrintText(Context& context, const Report& report) {
  const FileInfo* file = FileEndingWith(report, kTextEnd);
  if (file == nullptr) return absl::OkStatus();
  ORDO_ASSIGN_OR_RETURN(const std::string text, Fetch(context, report, *file));
  context.out << WithoutFigures(text) << "\n";
  return absl::OkStatus();
}

// For programs; `html` is where the page comes to lie, empty without one. A
// report without numbers of its own is printed as it is registered.
absl::Status PrintResult(Context& context, const Report& report,
                         const std::string& html) {
  const FileInfo* file = FileEndingWith(report, kResultFile);
  if (file == nullptr) {
    PrintStructured(context, report);
    return absl::OkStatus();
  }
  ORDO_ASSIGN_OR_RETURN(const std::string text, Fetch(context, report, *file));
  google::protobuf::Struct result;
  if (!google::protobuf::util::JsonStringToMessage(text, &result).ok()) {
    return absl::DataLossError(
        absl::StrCat(report.name(), ":", file->path(), " is no JSON object"));
  }
  auto& fields = *result.mutable_fields();
  fields["report"].set_string_value(report.name());
  if (!html.empty()) fields["html"].set_string_value(html);
  PrintStructured(context, result);
  return absl::OkStatus();
}

// Where a file of a report comes to lie, when its page lies at `html`: in the
// same folder, whatever a server calls it.
std::string PathBeside(const std::string& html, const std::string& path) {
  if (absl::EndsWith(path, kPageEnd)) return html;
  if (absl::EndsWith(path, kTextEnd)) return StemOf(html) + kTextEnd;
  if (path == kResultFile) return StemOf(html) + ".json";
  return absl::StrCat(StemOf(html), "-", base::NameOf(path));
}

// Markdown that links the files of its report as they lie beside `html`.
std::string LinkBeside(const Report& report, const std::string& html,
                       const std::string& markdown) {
  std::vector<std::pair<std::string, std::string>> links;
  for (const FileInfo& file : report.files()) {
    links.emplace_back(
        absl::StrCat("](", file.path(), ")"),
        absl::StrCat("](", base::NameOf(PathBeside(html, file.path())), ")"));
  }
  return absl::StrReplaceAll(markdown, links);
}

absl::Status WriteBeside(Context& context, const Report& report,
                         const std::string& html) {
  ORDO_RETURN_IF_ERROR(context.files.MakeFolders(base::FolderOf(html)));
  std::set<std::string> paths;
  for (const FileInfo& file : report.files()) {
    ORDO_ASSIGN_OR_RETURN(std::string content, Fetch(context, report, file));
    if (absl::EndsWith(file.path(), kTextEnd)) {
      content = LinkBeside(report, html, content);
    }
    const std::string path = PathBeside(html, file.path());
    ORDO_RETURN_IF_ERROR(base::AtomicWrite(context.files, path, content));
    paths.insert(path);
  }
  return ReplaceReport(context, html, paths);
}

}  // namespace

absl::StatusOr<std::vector<Job>> ListParts(Context& context, const Job& job) {
  ListJobsRequest request;
  request.set_filter(absl::StrCat("parent = ", ShortName(job.name())));
  std::vector<Job> parts;
  ORDO_RETURN_IF_ERROR(
      ListPages(context,
                ListCall{context.client.jobs(), &JobsService::Stub::ListJobs,
                         request},
                0,
                [&](const ListJobsResponse& page) {
                  parts.insert(parts.begin(), page.jobs().rbegin(),
                               page.jobs().rend());
                  return static_cast<int64_t>(parts.size());
                })
          .status());
  return parts;
}

void SayHowToFollow(Context& context, const Job& job) {
  if (job.parts().empty()) return;
  const std::string name = ShortName(job.name());
  context.err << "ordo: " << name << " has " << job.parts_size()
              << (job.parts_size() == 1 ? " part" : " parts")
              << "; how they go: ordo show " << name
              << "; to wait for all: ordo wait " << name
              << "; then the report: ordo report " << name << std::endl;
}

void SayWhatRunsOn(Context& context, const Job& job) {
  if (job.parts().empty()) return;
  const std::string name = ShortName(job.name());
  const absl::StatusOr<std::vector<Job>> parts = ListParts(context, job);
  if (!parts.ok()) {
    context.err << "ordo: parts of " << name
                << " that run stay as they are; which these are could not be "
                   "asked: "
                << parts.status().message() << "; see: ordo show " << name
                << std::endl;
    return;
  }
  const auto num_live =
      std::count_if(parts->begin(), parts->end(), [](const Job& part) {
        return part.state() != Job::QUEUED && !HasEnded(part.state());
      });
  if (num_live == 0) return;
  context.err << "ordo: parts of " << name
              << " that run stay as they are, also when they are queued again: "
              << num_live << " of " << job.parts_size() << "; see: ordo show "
              << name << std::endl;
}

std::string EvaluationName(const Job& job, const Report& report) {
  const std::string id = ShortName(report.name());
  if (report.kind() == Report::BENCHMARK) return id;
  std::string longest;
  for (const auto& evaluation : job.spec().evaluations()) {
    const std::string& name =
        evaluation.name().empty() ? evaluation.task() : evaluation.name();
    const std::string head = absl::StrCat(name, "-", report.step());
    const bool fits =
        id == head || absl::StartsWith(id, absl::StrCat(head, "-"));
    if (fits && name.size() > longest.size()) longest = name;
  }
  return longest.empty() ? id.substr(0, id.rfind('-')) : longest;
}

absl::Status PrintParts(Context& context, const Job& job) {
  if (job.parts().empty()) return absl::OkStatus();
  ORDO_ASSIGN_OR_RETURN(const std::vector<Job> parts, ListParts(context, job));
  Table table({"PART", "WHICH", "STATE", "PROGRESS", "SCORES"});
  int num_scored = 0;
  for (const Job& part : parts) {
    std::string scores;
    if (num_scored < kMaxScored && !part.attempts().empty()) {
      ++num_scored;
      ORDO_ASSIGN_OR_RETURN(const std::vector<Report> reports,
                            ListReportsOf(context, part, 1));
      if (!reports.empty()) {
        // The newest of one part may be of another evaluation than that of the
        // next.
        scores = absl::StrCat(EvaluationName(part, reports.front()), ": ",
                              ScoresText(reports.front()));
      }
    }
    table.AddRow({ShortName(part.name()), part.part(), StateCell(part.state()),
                  HowItGoes(part), scores});
  }
  context.out << "\n" << table.ToString(context.terminal);
  if (num_scored == kMaxScored) {
    context.err << "ordo: scores are shown of the first " << kMaxScored
                << " parts that began; all: ordo list reports PART\n";
  }
  return absl::OkStatus();
}

absl::StatusOr<Report> FindSummary(Context& context, const Job& job) {
  const bool is_gate = job.spec().kind() == jobs::v1::JobSpec::GATE;
  ORDO_ASSIGN_OR_RETURN(const std::vector<Report> reports,
                        ListReportsOf(context, job, 0));
  for (const Report& report : reports) {
    // What a gate evaluates are reports as well.
    if (!is_gate || report.kind() == Report::GATE) return report;
  }
  const std::string name = ShortName(job.name());
  const char* fix =
      is_gate ? (HasEnded(job.state()) ? ", so look why: ordo show "
                                       : ", so wait for it: ordo gate ")
      : HasEnded(job.state()) ? ", so look what its parts say: ordo show "
                              : ", so wait for its parts: ordo wait ";
  return absl::FailedPreconditionError(absl::StrCat(
      name, " has no report; it is ", Job::State_Name(job.state()), fix, name));
}

absl::StatusOr<std::string> FetchFile(Context& context, const Report& report,
                                      const std::string& path) {
  for (const FileInfo& file : report.files()) {
    if (file.path() == path) return Fetch(context, report, file);
  }
  return absl::NotFoundError(absl::StrCat(report.name(), " has no ", path));
}

absl::Status PrintSummary(Context& context, const Report& report,
                          const std::string& html) {
  return context.output == OutputForm::kTable
             ? PrintText(context, report)
             : PrintResult(context, report, html);
}

absl::Status FetchSummary(Context& context, const Job& job,
                          const std::string& html) {
  ORDO_ASSIGN_OR_RETURN(const Report report, FindSummary(context, job));
  const bool has_page = FileEndingWith(report, kPageEnd) != nullptr;
  ORDO_RETURN_IF_ERROR(PrintSummary(context, report, has_page ? html : ""));
  if (has_page) ORDO_RETURN_IF_ERROR(WriteBeside(context, report, html));
  if (context.output != OutputForm::kTable) return absl::OkStatus();
  if (has_page) {
    context.out << "wrote " << html << " and, beside it as " << StemOf(html)
                << "*, the other " << report.files_size() - 1 << " files of "
                << report.name() << "\n";
  } else {
    context.out << "all files: ordo get " << report.name() << "\n";
  }
  return absl::OkStatus();
}

}  // namespace ordo::services::cli
