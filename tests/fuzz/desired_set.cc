// What a scheduler says, in any order and of any content, to the core of a
// worker's agent, while tasks that it starts write and end. A set that is
// refused changes nothing; one that is taken is all that goes on; a task is
// started once, on devices that no other has, and asked to end or forgotten
// only when there is something to; the facts that a scheduler has acknowledged
// are not told again, and the others without a gap.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "base/check.h"
#include "base/text/proto_bytes.h"
#include "google/protobuf/text_format.h"
#include "tests/fuzz/cases.pb.h"
#include "tests/fuzz/mutator.h"
#include "worker/agent/core.h"

namespace ordo::tests::fuzz {
namespace {

using agent::v1::ObservedAttempt;
using agent::v1::ObservedSet;
using agent::v1::SetDesiredRequest;
using worker::agent::Action;
using worker::agent::Actions;
using worker::agent::AttemptKey;
using worker::agent::News;
using worker::agent::SupervisorFacts;
using worker::supervisor::JournalRecord;

constexpr int kMaxEvents = 64;

const std::vector<std::string>& Words() {
  static const auto& words = *new std::vector<std::string>{
      "a", "b", "c", "w", "first", "cpu:0", "cpu:1", "10-1", "../a", "a.1"};
  return words;
}

template <typename Told>
AttemptKey KeyOf(const Told& told) {
  return {told.job(), told.attempt(), told.rank()};
}

// As worker/agent/agent.cc does: carries out what the core says, and tells it
// what becomes of what it started.
class Worker {
 public:
  void Take(const AgentEvent& event) {
    switch (event.event_case()) {
      case AgentEvent::kDesired:
        SetDesired(event.desired());
        break;
      case AgentEvent::kWrote:
        if (running_.count(KeyOf(event.wrote())) > 0) {
          core_.OnProgress(KeyOf(event.wrote()), event.wrote().record());
        }
        break;
      case AgentEvent::kEnded:
        if (running_.count(KeyOf(event.ended())) > 0) End(event.ended());
        break;
      case AgentEvent::kDrainMs:
        Run(core_.Drain(absl::Milliseconds(event.drain_ms())));
        draining_ = true;
        break;
      case AgentEvent::EVENT_NOT_SET:
        break;
    }
    Run(core_.ForgetUnlisted());
    CheckTold(core_.Observed());
  }

 private:
  void SetDesired(const SetDesiredRequest& request) {
    const std::string before = base::DeterministicBytes(core_.Observed());
    const auto actions = core_.SetDesired(request);
    const bool is_meant =
        request.worker() == "w" && request.incarnation() == "first";
    if (!actions.ok()) {
      ORDO_CHECK(absl::IsInvalidArgument(actions.status()) ||
                 absl::IsFailedPrecondition(actions.status()) ||
                 absl::IsAborted(actions.status()))
          << actions.status();
      ORDO_CHECK(base::DeterministicBytes(core_.Observed()) == before)
          << "a set that is refused changes something: " << actions.status();
      return;
    }
    ORDO_CHECK(is_meant) << "takes what another is told";
    const std::pair<int64_t, int64_t> set{request.epoch(), request.sequence()};
    ORDO_CHECK(!(set < newest_)) << "takes an older set";
    newest_ = set;
    std::set<AttemptKey> listed;
    for (const auto& desired : request.attempts()) {
      const AttemptKey key = KeyOf(desired);
      listed.insert(key);
      int64_t& acknowledged = acknowledged_[key];
      acknowledged = std::max(acknowledged, desired.acknowledged_records());
      ORDO_CHECK(core_.Find(key) != nullptr) << key.ToString();
    }
    const ObservedSet told = core_.Observed();
    for (const ObservedAttempt& attempt : told.attempts()) {
      ORDO_CHECK(listed.count(KeyOf(attempt)) > 0 ||
                 attempt.phase() == ObservedAttempt::STOPPING ||
                 attempt.phase() == ObservedAttempt::EXITED)
          << KeyOf(attempt).ToString() << " goes on";
    }
    Run(*actions);
  }

  void Run(const Actions& actions) {
    for (const Action& action : actions) {
      switch (action.kind) {
        case Action::Kind::kStart:
          Start(action);
          break;
        case Action::Kind::kStop:
        case Action::Kind::kKill:
          ORDO_CHECK(running_.count(action.key) > 0)
              << action.key.ToString() << " is to end and does not run";
          break;
        case Action::Kind::kForget:
          ORDO_CHECK(running_.count(action.key) == 0)
              << action.key.ToString() << " is forgotten and runs";
          ORDO_CHECK(core_.Find(action.key) == nullptr);
          break;
      }
    }
  }

  void Start(const Action& action) {
    const std::string name = action.key.ToString();
    ORDO_CHECK(!draining_) << name << " starts in a worker that leaves";
    ORDO_CHECK(started_.insert(action.key).second) << name << " starts again";
    // Part of paths.
    const auto parsed = worker::agent::ParseAttemptKey(name);
    ORDO_CHECK(parsed.ok() && *parsed == action.key) << name;
    ORDO_CHECK(KeyOf(action.task) == action.key) << name;
    const std::set<std::string> devices(action.task.devices().begin(),
                                        action.task.devices().end());
    for (const auto& [other, held] : running_) {
      for (const std::string& device : held) {
        ORDO_CHECK(devices.count(device) == 0)
            << name << " starts on " << device << ", which " << other.ToString()
            << " has";
      }
    }
    running_[action.key] = devices;
  }

  void End(const TaskEnded& ended) {
    const AttemptKey key = KeyOf(ended);
    SupervisorFacts facts;
    facts.supervisor_pid = 2;
    facts.trainer_start_ns = 1;
    running_.erase(key);
    if (ended.how() == TaskEnded::SUPERVISOR_LOST) {
      return Over(key, core_.OnSupervisorLost(key, facts));
    }
    if (ended.how() == TaskEnded::START_FAILED) {
      return Over(key, core_.OnStartFailed(key, ObservedAttempt::START_FAILED,
                                           "there is no such program"));
    }
    JournalRecord exit = {};
    exit.exit_code = ended.exit_code();
    if (ended.how() == TaskEnded::KILLED) exit.signal = 9;
    facts.exit = exit;
    facts.group_empty = true;
    Over(key, core_.OnFacts(key, facts));
  }

  void Over(const AttemptKey& key, const Actions& actions) {
    const ObservedAttempt* const observed = core_.Find(key);
    ORDO_CHECK(observed != nullptr &&
               observed->phase() == ObservedAttempt::EXITED)
        << key.ToString() << " is over, and nobody is told";
    Run(actions);
  }

  void CheckTold(const ObservedSet& told) {
    ORDO_CHECK(told.sequence() >= told_sequence_);
    ORDO_CHECK(core_.NewsSince(core_.sequence()) == News::kNone);
    told_sequence_ = told.sequence();
    std::set<AttemptKey> keys;
    for (const ObservedAttempt& attempt : told.attempts()) {
      const AttemptKey key = KeyOf(attempt);
      ORDO_CHECK(keys.insert(key).second) << key.ToString() << " is told twice";
      ORDO_CHECK(attempt.phase() != ObservedAttempt::PHASE_UNSPECIFIED);
      ORDO_CHECK((attempt.phase() == ObservedAttempt::EXITED) ==
                 (attempt.cause() != ObservedAttempt::CAUSE_UNSPECIFIED))
          << attempt.ShortDebugString();
      int64_t last = acknowledged_[key];
      for (const auto& record : attempt.records()) {
        ORDO_CHECK(record.number() == last + 1) << attempt.ShortDebugString();
        last = record.number();
      }
    }
    for (const auto& [key, devices] : running_) {
      ORDO_CHECK(keys.count(key) > 0)
          << key.ToString() << " runs, and nobody is told";
    }
    ORDO_CHECK(core_.IsEmpty() == keys.empty());
    ORDO_CHECK(core_.NumRunning() == static_cast<int>(running_.size()));
  }

  worker::agent::Core core_{"w", "first", "ordo-trainer"};
  std::pair<int64_t, int64_t> newest_{0, 0};
  int64_t told_sequence_ = 0;
  bool draining_ = false;
  std::set<AttemptKey> started_;
  // Their devices.
  std::map<AttemptKey, std::set<std::string>> running_;
  std::map<AttemptKey, int64_t> acknowledged_;
};

}  // namespace
}  // namespace ordo::tests::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ordo::tests::fuzz::AgentCase input;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (!google::protobuf::TextFormat::ParseFromString(text, &input)) return 0;
  if (input.events_size() > ordo::tests::fuzz::kMaxEvents) return 0;
  ordo::tests::fuzz::Worker worker;
  for (const auto& event : input.events()) worker.Take(event);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned int seed) {
  return ordo::tests::fuzz::MutateText(
      ordo::tests::fuzz::Words(), seed,
      ordo::tests::fuzz::AgentCase::default_instance(), {data, size, max_size});
}
