#include "services/cli/names.h"

#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status/status.h"

namespace ordo::services::cli {
namespace {

// "<collection>/x" of "x" or that itself.
absl::StatusOr<std::string> NameIn(const std::string& collection,
                                   const std::string& text) {
  const std::string prefix = collection + "/";
  const bool has_prefix = text.rfind(prefix, 0) == 0;
  const std::string id = has_prefix ? text.substr(prefix.size()) : text;
  if (id.empty() || id.find('/') != std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a name in ", collection));
  }
  return prefix + id;
}

}  // namespace

std::string ResourceName::ToString() const {
  switch (kind) {
    case Kind::kJob:
      return "jobs/" + parent;
    case Kind::kWorker:
      return "workers/" + parent;
    case Kind::kAlias:
      return "aliases/" + parent;
    case Kind::kCheckpoint:
      return absl::StrCat("jobs/", parent, "/checkpoints/", id);
    case Kind::kReport:
      return absl::StrCat("jobs/", parent, "/reports/", id);
  }
  return parent;
}

absl::StatusOr<ResourceName> ParseResourceName(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, '/');
  bool whole = true;
  for (const std::string& part : parts) whole = whole && !part.empty();

  ResourceName name;
  if (whole && parts.size() == 1) {
    name.parent = parts[0];
    return name;
  }
  if (whole && parts.size() == 2) {
    for (const auto& [collection, kind] :
         {std::pair("jobs", ResourceName::Kind::kJob),
          std::pair("workers", ResourceName::Kind::kWorker),
          std::pair("aliases", ResourceName::Kind::kAlias)}) {
      if (parts[0] != collection) continue;
      name.kind = kind;
      name.parent = parts[1];
      return name;
    }
  }
  if (whole && parts.size() == 4 && parts[0] == "jobs" &&
      (parts[2] == "checkpoints" || parts[2] == "reports")) {
    name.kind = parts[2] == "reports" ? ResourceName::Kind::kReport
                                      : ResourceName::Kind::kCheckpoint;
    name.parent = parts[1];
    name.id = parts[3];
    return name;
  }
  const bool lacks_jobs = whole && parts.size() == 3 &&
                          (parts[1] == "checkpoints" || parts[1] == "reports");
  if (lacks_jobs) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", text, "' is not a name; did you mean 'jobs/", text, "'?"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", text, "' is not a name; names are JOB, workers/WORKER, ",
      "aliases/ALIAS, jobs/JOB/checkpoints/CHECKPOINT and "
      "jobs/JOB/reports/REPORT"));
}

absl::StatusOr<std::string> JobName(const std::string& text) {
  ORDO_ASSIGN_OR_RETURN(const ResourceName name, ParseResourceName(text));
  if (name.kind != ResourceName::Kind::kJob) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a job; see 'ordo list jobs'"));
  }
  return name.ToString();
}

absl::StatusOr<std::string> WorkerName(const std::string& text) {
  return NameIn("workers", text);
}

absl::StatusOr<std::string> AliasName(const std::string& text) {
  return NameIn("aliases", text);
}

absl::StatusOr<std::string> QueueName(const std::string& text) {
  return NameIn("queues", text);
}

std::string ShortName(const std::string& resource_name) {
  return resource_name.substr(resource_name.rfind('/') + 1);
}

}  // namespace ordo::services::cli
