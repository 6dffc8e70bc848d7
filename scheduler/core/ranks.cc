#include "scheduler/core/ranks.h"

#include <algorithm>
#include <string>

#include "scheduler/core/moment.h"
#include "scheduler/core/reasons.h"

namespace ordo::scheduler::core {
namespace {

using jobs::v1::Attempt;

// A rank that stopped as it was told leaves the others time to do the same.
bool IsBad(const std::string& reason) {
  return reason != reason::kFinished && reason != reason::kStopped;
}

bool IsStopRequest(const std::string& reason) {
  return reason == reason::kPreempted || reason == reason::kRunTimeLimit;
}

// Whether a rank's end says more of why the attempt ended than what is noted of
// that so far: that somebody asked for it, or a rank that missed another.
bool SaysMore(const Attempt& attempt, const AttemptEnd& end) {
  if (attempt.reason().empty()) return true;
  if (attempt.reason() == reason::kPeerLost) {
    return end.reason != reason::kPeerLost;
  }
  return attempt.reason() == reason::kPreempted &&
         end.decision != training::v1::FREE;
}

}  // namespace

Asked AskedOf(const JobRecord& job) {
  const Attempt& attempt = job.newest_attempt();
  if (job.state == jobs::v1::Job::CANCELLING) return Asked::kCancel;
  const bool has_bad_rank =
      std::any_of(attempt.ranks().begin(), attempt.ranks().end(),
                  [](const Attempt::Rank& rank) {
                    return rank.has_end_time() && IsBad(rank.reason());
                  });
  if (has_bad_rank) return Asked::kKill;
  // One that has stopped is missed by the others.
  const bool has_stopped_rank =
      std::any_of(attempt.ranks().begin(), attempt.ranks().end(),
                  [](const Attempt::Rank& rank) {
                    return rank.reason() == reason::kStopped;
                  });
  return attempt.reason().empty() && !has_stopped_rank ? Asked::kRun
                                                       : Asked::kStop;
}

Asked AskedOf(const State& state, const JobEntry& entry, const Worker* here) {
  const Asked asked = AskedOf(*entry.job);
  if (asked != Asked::kRun) return asked;
  const auto& ranks = LiveIn(entry)->ranks;
  const bool has_to_leave =
      std::any_of(ranks.begin(), ranks.end(), [&](const LiveRank& rank) {
        // The worker of one that is over may be forgotten.
        if (rank.over) return false;
        if (rank.stopping) return true;
        const Worker& worker = here != nullptr && here->id == rank.worker
                                   ? *here
                                   : state.workers.at(rank.worker);
        return HasToLeave(worker, rank.devices);
      });
  return has_to_leave ? Asked::kStop : Asked::kRun;
}

std::vector<LiveRank> RanksOf(const Attempt& attempt) {
  std::vector<LiveRank> ranks;
  for (const Attempt::Rank& each : attempt.ranks()) {
    LiveRank& rank = ranks.emplace_back();
    rank.worker = each.worker();
    rank.devices.assign(each.devices().begin(), each.devices().end());
    rank.over = each.has_end_time();
  }
  if (!ranks.empty()) return ranks;
  LiveRank& only = ranks.emplace_back();
  only.worker = attempt.worker();
  only.devices.assign(attempt.devices().begin(), attempt.devices().end());
  return ranks;
}

std::vector<LiveRank> FailedByDevice(const Attempt& attempt) {
  std::vector<LiveRank> failed;
  const std::vector<LiveRank> ranks = RanksOf(attempt);
  for (size_t i = 0; i < ranks.size(); ++i) {
    const std::string& ended =
        attempt.ranks().empty() ? attempt.reason()
                                : attempt.ranks(static_cast<int>(i)).reason();
    if (ended != reason::kDeviceError || ranks[i].devices.empty()) continue;
    failed.push_back(ranks[i]);
    failed.back().devices.resize(1);
  }
  return failed;
}

void TakeRankEnd(int32_t rank, const AttemptEnd& end, absl::Time at,
                 Attempt* attempt) {
  Attempt::Rank& ended = *attempt->mutable_ranks(rank);
  *ended.mutable_end_time() = ToTimestamp(at);
  ended.set_reason(end.reason);
  ended.set_message(end.message);
  ended.set_exit_code(end.exit_code);
  ended.set_signal(end.signal);
  if (!IsBad(end.reason) || !SaysMore(*attempt, end)) return;
  attempt->set_reason(end.reason);
  attempt->set_message(end.message);
  attempt->set_exit_code(end.exit_code);
  attempt->set_signal(end.signal);
}

AttemptEnd EndOfRanks(const Attempt& attempt) {
  AttemptEnd end;
  if (!attempt.reason().empty() && !IsStopRequest(attempt.reason())) {
    end.reason = attempt.reason();
    end.message = attempt.message();
    end.exit_code = attempt.exit_code();
    end.signal = attempt.signal();
    end.decision = DecisionOf(end.reason);
    return end;
  }
  // None ended badly: all finished, or some stopped.
  const Attempt::Rank* told = &attempt.ranks(0);
  for (const Attempt::Rank& rank : attempt.ranks()) {
    if (rank.reason() != reason::kFinished) told = &rank;
  }
  end.reason = told->reason();
  end.message = told->message();
  end.exit_code = told->exit_code();
  end.signal = told->signal();
  end.decision = DecisionOf(end.reason);
  return end;
}

AttemptEnd AsAsked(const Attempt& attempt, AttemptEnd end) {
  if (end.decision == training::v1::DONE) return end;
  const bool stopped = end.decision == training::v1::FREE;
  if (attempt.reason() == reason::kRunTimeLimit ||
      (attempt.reason() == reason::kPreempted && stopped)) {
    end.reason = attempt.reason();
    end.message = attempt.message();
    end.decision = DecisionOf(end.reason);
  }
  return end;
}

}  // namespace ordo::scheduler::core
