#include "tests/e2e/history.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "google/protobuf/util/message_differencer.h"
#include "google/protobuf/util/time_util.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/transitions.h"

namespace ordo::tests::e2e {
namespace {

using google::protobuf::util::TimeUtil;
using jobs::v1::Attempt;
using jobs::v1::Job;
namespace reason = scheduler::core::reason;

template <typename... Parts>
absl::Status Wrong(const Job& job, const Parts&... parts) {
  return absl::InternalError(
      absl::StrCat(job.name(), " version ", job.version(), " ",
                   Job::State_Name(job.state()), ": ", parts...));
}

// Whether the transition table leads there in at most `changes` steps.
bool Reaches(Job::State from, Job::State to, int64_t changes) {
  std::set<Job::State> reached = {from};
  for (int64_t i = 0; i < changes && reached.count(to) == 0; ++i) {
    const std::set<Job::State> before = reached;
    for (const auto& transition : scheduler::core::kTransitions) {
      if (before.count(transition.from) > 0) reached.insert(transition.to);
    }
    if (reached == before) break;
  }
  return reached.count(to) > 0;
}

// Without what is not durable.
Job Durable(Job job) {
  job.clear_progress();
  return job;
}

int32_t NewestAttempt(const Job& job) {
  return job.attempts().empty()
             ? 0
             : job.attempts(job.attempts_size() - 1).number();
}

bool MayEnd(const std::string& why) {
  return std::count(std::begin(reason::kAttemptEnds),
                    std::end(reason::kAttemptEnds), why) > 0;
}

int64_t Nanoseconds(const google::protobuf::Timestamp& time) {
  return TimeUtil::TimestampToNanoseconds(time);
}

// Worker and device, start, end, name.
using Use = std::tuple<std::string, int64_t, int64_t, std::string>;

// `part` is the attempt, or one of its ranks.
template <typename Part>
void AddUses(const Job& job, const Attempt& attempt, const Part& part,
             std::vector<Use>* uses) {
  for (const std::string& device : part.devices()) {
    uses->emplace_back(absl::StrCat(part.worker(), " ", device),
                       Nanoseconds(attempt.start_time()),
                       Nanoseconds(part.end_time()),
                       absl::StrCat(job.name(), " attempt ", attempt.number()));
  }
}

}  // namespace

absl::Status History::See(const Job& job) {
  const auto [it, is_new] = seen_.emplace(job.name(), Durable(job));
  if (is_new) return absl::OkStatus();
  const Job before = it->second;
  it->second = Durable(job);
  if (job.version() < before.version()) {
    return Wrong(job, "version ", before.version(), " was there before");
  }
  if (job.version() == before.version()) {
    google::protobuf::util::MessageDifferencer differencer;
    std::string difference;
    differencer.ReportDifferencesToString(&difference);
    if (differencer.Compare(before, it->second)) return absl::OkStatus();
    return Wrong(job, "changed without a new version: ", difference);
  }
  if (scheduler::core::IsTerminal(before.state())) {
    return Wrong(job, "it had ended as ", Job::State_Name(before.state()));
  }
  if (!Reaches(before.state(), job.state(), job.version() - before.version())) {
    return Wrong(job, "was ", Job::State_Name(before.state()), " at version ",
                 before.version());
  }
  if (NewestAttempt(job) < NewestAttempt(before)) {
    return Wrong(job, "attempt ", NewestAttempt(before), " is forgotten");
  }
  return absl::OkStatus();
}

absl::Status CheckSucceeded(const Job& job) {
  if (job.state() != Job::SUCCEEDED) return Wrong(job, job.message());
  for (int i = 0; i < job.attempts_size(); ++i) {
    const Attempt& attempt = job.attempts(i);
    const std::string name = absl::StrCat("attempt ", attempt.number());
    const bool last = i + 1 == job.attempts_size();
    if (i > 0 && attempt.number() != job.attempts(i - 1).number() + 1) {
      return Wrong(job, name, " follows ", job.attempts(i - 1).number());
    }
    if (!MayEnd(attempt.reason())) {
      return Wrong(job, name, " ended as '", attempt.reason(), "'");
    }
    if ((attempt.reason() == reason::kFinished) != last) {
      return Wrong(job, name, " of ", job.attempts_size(), " ended as ",
                   attempt.reason());
    }
    if (Nanoseconds(attempt.end_time()) < Nanoseconds(attempt.start_time())) {
      return Wrong(job, name, " ended before it began");
    }
    if (i > 0 && Nanoseconds(attempt.start_time()) <
                     Nanoseconds(job.attempts(i - 1).end_time())) {
      return Wrong(job, name, " began before the one before it ended");
    }
  }
  if (job.attempts().empty()) return Wrong(job, "has no attempt");
  return absl::OkStatus();
}

absl::Status CheckDevices(const std::vector<Job>& jobs) {
  std::vector<Use> uses;
  for (const Job& job : jobs) {
    for (const Attempt& attempt : job.attempts()) {
      if (attempt.ranks().empty()) AddUses(job, attempt, attempt, &uses);
      for (const Attempt::Rank& rank : attempt.ranks()) {
        AddUses(job, attempt, rank, &uses);
      }
    }
  }
  std::sort(uses.begin(), uses.end());
  for (size_t i = 1; i < uses.size(); ++i) {
    const auto& [device, start, end, name] = uses[i - 1];
    if (std::get<0>(uses[i]) == device && std::get<1>(uses[i]) < end) {
      return absl::InternalError(absl::StrCat(
          device, ": ", name, " and ", std::get<3>(uses[i]), " at a time"));
    }
  }
  return absl::OkStatus();
}

}  // namespace ordo::tests::e2e
