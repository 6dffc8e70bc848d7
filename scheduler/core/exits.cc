#include "scheduler/core/exits.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "scheduler/core/reasons.h"

namespace ordo::scheduler::core {
namespace {

using agent::v1::ObservedAttempt;
using training::v1::ExitCode;

// Reason by exit code; all others are TRAINER_FAILED.
struct CodeReason {
  ExitCode code;
  const char* reason;
};
constexpr CodeReason kCodeReasons[] = {
    {ExitCode::FINISHED, reason::kFinished},
    {ExitCode::BAD_SPEC, reason::kBadSpec},
    {ExitCode::STOPPED, reason::kStopped},
    {ExitCode::DATA_MISSING, reason::kDataMissing},
    {ExitCode::NON_FINITE, reason::kNonFinite},
    {ExitCode::CHECKPOINT_DAMAGED, reason::kCheckpointDamaged},
    {ExitCode::OUT_OF_MEMORY, reason::kOutOfMemory},
    {ExitCode::DEVICE_ERROR, reason::kDeviceError},
    {ExitCode::STORAGE_ERROR, reason::kStorageError},
    {ExitCode::PEER_LOST, reason::kPeerLost},
    {ExitCode::NCCL_ERROR, reason::kNcclError},
    {ExitCode::PART_FAILED, reason::kPartFailed},
};

// `happened`, then what the trainer or worker said, then what to do.
std::string Sentence(const std::string& happened, const std::string& said,
                     const std::string& fix) {
  return absl::StrCat(happened, said.empty() ? "" : ": ", said,
                      fix.empty() ? "" : "; ", fix);
}

// Of commands in a fix; the job's name takes its place.
constexpr char kJob[] = "JOB";
constexpr char kLogs[] = "ordo logs JOB";
constexpr char kReadLog[] = "read the end of its log: ordo logs JOB";

// A log is that of the attempt, and of the rank, that ended.
std::string FixFor(const ObservedAttempt& observed, const std::string& fix) {
  if (fix.empty()) return "";
  std::string log = absl::StrCat(kLogs, " --attempt ", observed.attempt());
  if (observed.rank() > 0 && !absl::StrContains(fix, "--rank")) {
    absl::StrAppend(&log, " --rank ", observed.rank());
  }
  return absl::StrReplaceAll(absl::StrReplaceAll(fix, {{kLogs, log}}),
                             {{kJob, observed.job()}});
}

AttemptEnd Budgeted(const ObservedAttempt& observed, const char* reason,
                    const std::string& happened, const std::string& fix) {
  AttemptEnd end;
  end.decision = training::v1::BUDGETED;
  end.reason = reason;
  end.exit_code = observed.exit_code();
  end.signal = observed.signal();
  end.message = Sentence(happened, observed.message(), FixFor(observed, fix));
  return end;
}

// Both codes promise that everything was recorded, the end last.
bool LacksItsRecords(const ObservedAttempt& observed) {
  return !observed.has_finished() &&
         (observed.exit_code() == ExitCode::FINISHED ||
          observed.exit_code() == ExitCode::STOPPED);
}

AttemptEnd JudgeCode(const ObservedAttempt& observed) {
  AttemptEnd end;
  end.exit_code = observed.exit_code();
  end.reason = reason::kTrainerFailed;
  for (const CodeReason& row : kCodeReasons) {
    if (row.code == observed.exit_code()) end.reason = row.reason;
  }
  const auto* value = training::v1::ExitCode_descriptor()->FindValueByNumber(
      observed.exit_code());
  if (value == nullptr) {
    end.decision = training::v1::BUDGETED;
    end.message =
        Sentence(absl::StrCat("the trainer left with the unknown exit code ",
                              observed.exit_code()),
                 observed.message(), FixFor(observed, kReadLog));
    return end;
  }
  const training::v1::ExitCodeInfo& info =
      value->options().GetExtension(training::v1::exit_code);
  end.decision = info.retry();
  // What a trainer that did as it was told says has the meaning in it.
  const bool as_told = observed.exit_code() == ExitCode::FINISHED ||
                       observed.exit_code() == ExitCode::STOPPED;
  end.message =
      as_told && !observed.message().empty()
          ? observed.message()
          : Sentence(info.meaning(), observed.message(),
                     FixFor(observed, info.job_fix().empty() ? info.fix()
                                                             : info.job_fix()));
  return end;
}

AttemptEnd HostFailed(const ObservedAttempt& observed) {
  AttemptEnd end;
  end.decision = training::v1::FREE;
  end.reason = reason::kHostFailed;
  end.message = Sentence("its worker's machine could not start it",
                         observed.message(), "");
  return end;
}

AttemptEnd FolderTaken(const ObservedAttempt& observed) {
  AttemptEnd end;
  end.decision = training::v1::FREE;
  end.reason = reason::kFolderTaken;
  end.message = Sentence("it was not started", observed.message(), "");
  return end;
}

AttemptEnd Killed(const ObservedAttempt& observed) {
  AttemptEnd end;
  end.decision = training::v1::FREE;
  end.reason = reason::kPeerLost;
  end.signal = observed.signal();
  end.message = "it was ended, since another rank of its attempt had";
  return end;
}

AttemptEnd Stopped(const ObservedAttempt& observed) {
  AttemptEnd end;
  end.decision = training::v1::FREE;
  end.reason = reason::kStopped;
  end.signal = observed.signal();
  end.message = Sentence("it was stopped before it could checkpoint",
                         observed.message(), "");
  return end;
}

AttemptEnd Cancelled(const ObservedAttempt& observed) {
  AttemptEnd end;
  end.decision = training::v1::FREE;
  end.reason = reason::kCancelledByUser;
  end.signal = observed.signal();
  end.message = Sentence("it was ended, since a user cancelled its job",
                         observed.message(), "");
  return end;
}

}  // namespace

AttemptEnd JudgeExit(const ObservedAttempt& observed, Asked asked) {
  switch (observed.cause()) {
    case ObservedAttempt::EXIT:
      if (LacksItsRecords(observed)) {
        return Budgeted(observed, reason::kStorageError,
                        "its progress records cannot be read",
                        "check the disk of the storage root");
      }
      return JudgeCode(observed);
    case ObservedAttempt::SIGNAL:
      if (asked == Asked::kStop) return Stopped(observed);
      if (asked == Asked::kCancel) return Cancelled(observed);
      return Budgeted(
          observed, reason::kTrainerKilled,
          absl::StrCat("signal ", observed.signal(), " ended the trainer"),
          kReadLog);
    case ObservedAttempt::HANG:
      return Budgeted(observed, reason::kHang,
                      "the trainer made no progress within retry.step_timeout",
                      "if its steps are that slow, raise the limit");
    case ObservedAttempt::START_FAILED:
      return Budgeted(observed, reason::kStartFailed,
                      "the trainer could not be started", "");
    case ObservedAttempt::HOST_FAILED:
      return HostFailed(observed);
    case ObservedAttempt::FOLDER_TAKEN:
      return FolderTaken(observed);
    case ObservedAttempt::KILLED:
      if (asked == Asked::kStop) return Stopped(observed);
      if (asked == Asked::kKill) return Killed(observed);
      if (asked == Asked::kCancel) return Cancelled(observed);
      return WorkerLost("", "the worker does not run it");
    case ObservedAttempt::SUPERVISOR_LOST:
      return WorkerLost("", "its supervisor died");
    default:
      return Budgeted(observed, reason::kTrainerFailed,
                      "the attempt ended without saying how", kReadLog);
  }
}

training::v1::RetryDecision DecisionOf(const std::string& reason) {
  // All others are what the job did, and another attempt may do better.
  static constexpr std::pair<const char*, training::v1::RetryDecision>
      kDecisions[] = {
          {reason::kFinished, training::v1::DONE},
          {reason::kCancelledByUser, training::v1::FREE},
          {reason::kStoppedEarly, training::v1::FREE},
          {reason::kBadSpec, training::v1::NEVER},
          {reason::kDataMissing, training::v1::NEVER},
          {reason::kNonFinite, training::v1::NEVER},
          {reason::kCheckpointDamaged, training::v1::NEVER},
          {reason::kPartFailed, training::v1::NEVER},
          {reason::kRunTimeLimit, training::v1::NEVER},
          {reason::kWorkerLost, training::v1::FREE},
          {reason::kHostFailed, training::v1::FREE},
          {reason::kFolderTaken, training::v1::FREE},
          {reason::kStopped, training::v1::FREE},
          {reason::kPreempted, training::v1::FREE},
          {reason::kPeerLost, training::v1::FREE},
      };
  for (const auto& [named, decision] : kDecisions) {
    if (reason == named) return decision;
  }
  return training::v1::BUDGETED;
}

AttemptEnd WorkerLost(const std::string& worker, const std::string& why) {
  AttemptEnd end;
  end.decision = training::v1::FREE;
  end.reason = reason::kWorkerLost;
  end.message =
      worker.empty() ? why : absl::StrCat("worker ", worker, " ", why);
  return end;
}

}  // namespace ordo::scheduler::core
