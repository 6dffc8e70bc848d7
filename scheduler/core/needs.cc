#include "scheduler/core/needs.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status/details.h"
#include "base/status/status.h"

namespace ordo::scheduler::core {
namespace {

using Created = std::map<std::string, NewJob>;
using Retired = std::map<std::string, JobState>;

constexpr char kPrefix[] = "jobs/";
// Jobs of a circle that are named.
constexpr size_t kMaxNamed = 5;

// How a job has ended or what it does; nothing when there is none.
std::optional<JobState> StateOf(const State& state, const Retired& retired,
                                const std::string& id) {
  if (const auto entry = state.jobs.find(id); entry != state.jobs.end()) {
    return entry->second.job->state;
  }
  const auto gone = retired.find(id);
  if (gone == retired.end()) return std::nullopt;
  return gone->second;
}

absl::Status CheckForm(const jobs::v1::Need& need, const std::string& field) {
  if (!absl::StartsWith(need.job(), kPrefix) ||
      need.job().find('/', sizeof(kPrefix) - 1) != std::string::npos) {
    return base::InvalidField(
        field, absl::StrCat("'", need.job(), "' is not jobs/JOB"));
  }
  return absl::OkStatus();
}

// Of a need of that form whose job, if there is one, is in `state`.
absl::Status CheckState(const jobs::v1::Need& need, const std::string& field,
                        const std::optional<JobState>& state) {
  const std::string id = IdOf(need.job());
  if (!state.has_value()) {
    return absl::NotFoundError(
        absl::StrCat(field, ": there is no job ", id, "; see: ordo list jobs"));
  }
  if (IsTerminal(*state) && *state != jobs::v1::Job::SUCCEEDED &&
      need.condition() != jobs::v1::Need::ENDED) {
    return absl::FailedPreconditionError(
        absl::StrCat(field, ": job ", id, " has ended already, as ",
                     jobs::v1::Job::State_Name(*state),
                     "; name one that may still succeed, or condition: ENDED"));
  }
  return absl::OkStatus();
}

// Finds a circle by walking along needs among the created, with a stack of its
// own: chains may be long.
class CircleFinder {
 public:
  explicit CircleFinder(const Created& created) : created_(created) {
    for (const auto& [id, job] : created) {
      std::vector<std::string>& needs = needs_[id];
      for (const jobs::v1::Need& need : job.spec->needs()) {
        needs.push_back(IdOf(need.job()));
      }
      needs.insert(needs.end(), job.parts.begin(), job.parts.end());
    }
  }

  // The jobs of one; empty when there is none.
  std::vector<std::string> Find() {
    for (const auto& [id, job] : created_) {
      if (marks_[id] == Mark::kNone && Walk(id)) return circle_;
    }
    return {};
  }

 private:
  enum class Mark { kNone, kOnPath, kDone };

  bool Walk(const std::string& start) {
    std::vector<std::pair<std::string, size_t>> path;
    path.emplace_back(start, 0);
    marks_[start] = Mark::kOnPath;
    while (!path.empty()) {
      const std::string id = path.back().first;
      const std::vector<std::string>& needs = needs_.at(id);
      if (path.back().second == needs.size()) {
        marks_[id] = Mark::kDone;
        path.pop_back();
        continue;
      }
      const std::string& next = needs[path.back().second++];
      if (created_.count(next) == 0 || marks_[next] == Mark::kDone) continue;
      if (marks_[next] == Mark::kOnPath) {
        const auto first =
            std::find_if(path.begin(), path.end(),
                         [&next](const auto& on) { return on.first == next; });
        for (auto it = first; it != path.end(); ++it) {
          circle_.push_back(it->first);
        }
        return true;
      }
      marks_[next] = Mark::kOnPath;
      path.emplace_back(next, 0);
    }
    return false;
  }

  const Created& created_;
  // Ids of the jobs that each needs, its parts among them.
  std::map<std::string, std::vector<std::string>> needs_;
  std::map<std::string, Mark> marks_;
  std::vector<std::string> circle_;
};

}  // namespace

absl::Status CheckNeeds(const State& state, const Created& created,
                        const Retired& retired) {
  bool any = false;
  for (const auto& [id, job] : created) {
    for (int i = 0; i < job.spec->needs_size(); ++i) {
      any = true;
      const jobs::v1::Need& need = job.spec->needs(i);
      const std::string field = absl::StrCat("needs[", i, "].job");
      absl::Status status = CheckForm(need, field);
      const std::string needed = IdOf(need.job());
      if (status.ok() && created.count(needed) == 0) {
        status = CheckState(need, field, StateOf(state, retired, needed));
      }
      if (!status.ok()) return base::AddContext(status, JobName(id));
    }
  }
  if (!any) return absl::OkStatus();
  std::vector<std::string> circle = CircleFinder(created).Find();
  if (circle.empty()) return absl::OkStatus();
  const bool all = circle.size() <= kMaxNamed;
  if (!all) circle.resize(kMaxNamed);
  return base::InvalidField(
      "needs", absl::StrCat("these jobs need each other in a circle: ",
                            absl::StrJoin(circle, ", "), all ? "" : ", ...",
                            "; leave out one of the needs"));
}

}  // namespace ordo::scheduler::core
