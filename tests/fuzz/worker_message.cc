// What workers say, in any order and of any content, to the scheduler's core:
// its invariants hold after each event, and all that it says can be sent.
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "base/check.h"
#include "google/protobuf/text_format.h"
#include "scheduler/core/apply.h"
#include "scheduler/core/invariants.h"
#include "scheduler/core/names.h"
#include "scheduler/core/present.h"
#include "scheduler/core/queues.h"
#include "scheduler/core/testing/builders.h"
#include "scheduler/policy/table.h"
#include "tests/fuzz/cases.pb.h"
#include "tests/fuzz/mutator.h"

namespace ordo::tests::fuzz {
namespace {

namespace core = scheduler::core;
using core::testing::JobBuilder;

constexpr int kMaxEvents = 64;

const std::vector<std::string>& Words() {
  static const auto& words =
      *new std::vector<std::string>{"a",
                                    "b",
                                    "c",
                                    "d",
                                    "w",
                                    "v",
                                    "first",
                                    "second",
                                    "cpu",
                                    "cpu:0",
                                    "cpu:1",
                                    "cuda",
                                    "cuda:0",
                                    "10-1",
                                    "addition-10",
                                    "127.0.0.1:1",
                                    "q",
                                    "queues/q",
                                    "queues/default",
                                    "jobs/a",
                                    "jobs/a/checkpoints/10-1"};
  return words;
}

class Core {
 public:
  Core() {
    state_.options.place =
        scheduler::policy::FindPolicy(scheduler::policy::kDefaultPolicy)->place;
    core::Submit submit;
    submit.jobs.push_back(JobBuilder("a"));
    submit.jobs.push_back(JobBuilder("b").RunTimeLimit(absl::Minutes(1)));
    submit.jobs.push_back(JobBuilder("c").Ranks(2));
    submit.jobs.push_back(JobBuilder("d").Needs("a"));
    Apply(std::move(submit));
  }

  void Take(const WorkerEvent& event) {
    const absl::Duration after = absl::Milliseconds(event.after_ms());
    now_.wall += after;
    if (after > absl::ZeroDuration()) now_.monotonic += after;
    if (event.has_announced()) {
      Apply(core::Announced{event.announced()});
    } else if (event.has_answered()) {
      Apply(core::Observed{event.answered().worker(),
                           event.answered().incarnation(),
                           event.answered().observed()});
    } else if (!event.cancel().empty()) {
      Apply(core::Cancel{1, event.cancel(), "ada"});
    } else if (!event.cordon().empty()) {
      Change(core::ChangeWorker::Verb::kCordon, event.cordon());
    } else if (!event.drain().empty()) {
      Change(core::ChangeWorker::Verb::kDrain, event.drain());
    } else if (!event.uncordon().empty()) {
      Change(core::ChangeWorker::Verb::kUncordon, event.uncordon());
    } else if (!event.release().empty()) {
      Change(core::ChangeWorker::Verb::kRelease, event.release());
    } else if (event.has_queue()) {
      Change(event.queue());
    } else if (!event.alias().empty()) {
      SetAlias(event.alias());
    } else if (event.has_checkpoint()) {
      Change(event.checkpoint());
    } else {
      Apply(core::Tick{});
    }
  }

 private:
  void Change(const ChangedQueue& changed) {
    const std::string id = core::IdOf(changed.queue().name());
    if (!core::IsSound(id, changed.queue())) return;
    core::ChangeQueue change;
    change.queue = changed.queue();
    change.author.owner.set_user("ada");
    const core::QueuePtr found = core::FindQueue(state_.queues, id);
    if (found != nullptr) change.queue.set_etag(found->etag());
    change.verb = changed.deleted()  ? core::ChangeQueue::Verb::kDelete
                  : found == nullptr ? core::ChangeQueue::Verb::kCreate
                                     : core::ChangeQueue::Verb::kUpdate;
    Apply(std::move(change));
  }

  void SetAlias(const std::string& checkpoint) {
    core::ChangeAlias change;
    change.setting.alias = "main";
    change.author.owner.set_user("ada");
    if (checkpoint == "-") {
      change.verb = core::ChangeAlias::Verb::kDelete;
    } else {
      change.setting.checkpoint = checkpoint;
    }
    Apply(std::move(change));
  }

  void Change(const ChangedCheckpoint& changed) {
    core::ChangeCheckpoint change;
    change.verb = static_cast<scheduler::CheckpointVerb>(changed.verb() % 4);
    change.checkpoint = changed.name();
    change.author.owner.set_user("ada");
    Apply(std::move(change));
  }

  void Change(core::ChangeWorker::Verb verb, const std::string& worker) {
    core::ChangeWorker change;
    change.verb = verb;
    change.worker = worker;
    change.drain_at = now_.wall + absl::Seconds(10);
    change.device = "cpu:0";
    change.author.owner.set_user("ada");
    Apply(std::move(change));
  }

  void Apply(core::Event event) {
    for (const auto& effect : core::Apply(state_, std::move(event), now_)) {
      if (const auto* record = std::get_if<core::Record>(&effect)) {
        const auto* job = std::get_if<core::JobPtr>(&record->value);
        if (job != nullptr) core::Present(**job)->SerializeAsString();
      } else if (const auto* desired = std::get_if<core::SetDesired>(&effect)) {
        desired->request->SerializeAsString();
      }
    }
    const absl::Status status = core::CheckInvariants(state_);
    ORDO_CHECK(status.ok()) << status;
  }

  core::State state_;
  core::Moment now_{absl::FromUnixSeconds(1'700'000'000), absl::Seconds(1)};
};

}  // namespace
}  // namespace ordo::tests::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ordo::tests::fuzz::WorkerCase input;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (!google::protobuf::TextFormat::ParseFromString(text, &input)) return 0;
  if (input.events_size() > ordo::tests::fuzz::kMaxEvents) return 0;
  ordo::tests::fuzz::Core core;
  for (const auto& event : input.events()) core.Take(event);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned int seed) {
  return ordo::tests::fuzz::MutateText(
      ordo::tests::fuzz::Words(), seed,
      ordo::tests::fuzz::WorkerCase::default_instance(),
      {data, size, max_size});
}
