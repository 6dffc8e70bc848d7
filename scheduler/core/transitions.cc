#include "scheduler/core/transitions.h"

#include "base/check.h"

namespace ordo::scheduler::core {

std::optional<JobState> NextState(JobState from, Trigger trigger) {
  for (const Transition& transition : kTransitions) {
    if (transition.from == from && transition.trigger == trigger) {
      return transition.to;
    }
  }
  return std::nullopt;
}

bool IsTerminal(JobState state) {
  return state == jobs::v1::Job::SUCCEEDED || state == jobs::v1::Job::FAILED ||
         state == jobs::v1::Job::CANCELLED;
}

std::string_view TriggerName(Trigger trigger) {
  switch (trigger) {
    case Trigger::kPlace:
      return "place";
    case Trigger::kRun:
      return "run";
    case Trigger::kCancel:
      return "cancel";
    case Trigger::kFinish:
      return "finish";
    case Trigger::kFail:
      return "fail";
    case Trigger::kRetry:
      return "retry";
    case Trigger::kInterrupt:
      return "interrupt";
    case Trigger::kExpire:
      return "expire";
  }
  ORDO_CHECK(false) << "no such trigger: " << static_cast<int>(trigger);
  return "";
}

}  // namespace ordo::scheduler::core
