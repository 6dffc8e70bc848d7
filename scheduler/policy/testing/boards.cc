#include "scheduler/policy/testing/boards.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "scheduler/policy/check.h"
#include "scheduler/policy/fair.h"

namespace ordo::scheduler::policy::testing {
namespace {

constexpr absl::Time kFirst = absl::UnixEpoch();

template <typename Value>
void Append(std::vector<Value> more, std::vector<Value>* all) {
  all->insert(all->end(), more.begin(), more.end());
}

}  // namespace

Shape Cpus(int devices) { return Gang(1, devices); }

Shape Gang(int ranks, int devices) {
  Shape shape;
  shape.kind = "cpu";
  shape.ranks = ranks;
  shape.devices = devices;
  return shape;
}

Shape Within(Shape shape, absl::Duration limit) {
  shape.run_time_limit = limit;
  return shape;
}

Worker WorkerWith(const std::string& id, int devices) {
  Worker worker;
  worker.id = id;
  worker.cpus = 1000;
  worker.memory_bytes = 1000;
  for (int i = 0; i < devices; ++i) {
    worker.devices.push_back({absl::StrCat("cpu:", i), "cpu", 100, {}, true});
  }
  return worker;
}

TestBoard::TestBoard(const BoardOptions& options) : board(options) {
  PutQueue("default", {});
}

void TestBoard::PutWorker(const std::string& id, int devices) {
  board.PutWorker(WorkerWith(id, devices));
}

void TestBoard::PutQueue(const std::string& name, const Limits& limits) {
  Queue queue;
  queue.name = name;
  queue.weight = limits.weight;
  queue.quotas["cpu"].guaranteed = limits.guaranteed;
  if (limits.limit >= 0) queue.quotas["cpu"].limit = limits.limit;
  if (limits.max_per_owner >= 0) queue.max_per_owner = limits.max_per_owner;
  board.PutQueue(queue);
}

int64_t TestBoard::Wait(const Waiter& waiter) {
  const int64_t job = static_cast<int64_t>(jobs_.size()) + 1;
  const Submitted submitted{waiter, kFirst + absl::Seconds(job)};
  Wait(job, jobs_.emplace(job, submitted).first->second);
  return job;
}

int64_t TestBoard::Wait(const Shape& shape) {
  Waiter waiter;
  waiter.shape = shape;
  return Wait(waiter);
}

int64_t TestBoard::WaitMany(int count, const Waiter& waiter) {
  const int64_t first = Wait(waiter);
  for (int i = 1; i < count; ++i) Wait(waiter);
  return first;
}

void TestBoard::Wait(int64_t job, const Submitted& submitted) {
  const Waiter& waiter = submitted.waiter;
  board.Wait({job, waiter.queue, waiter.owner, waiter.shape, waiter.priority,
              submitted.since, waiter.avoided, waiter.parent,
              waiter.max_parallel});
}

Decisions TestBoard::Place() {
  Decisions all;
  for (bool more = true; more;) {
    Decisions decisions = PlaceFair(board, now);
    ORDO_CHECK(decisions.starts.size() <= kMaxStarts);
    more = decisions.more;
    CarryOut(decisions, now, &board);
    const absl::Status status = Check(board);
    ORDO_CHECK(status.ok()) << status;
    Append(std::move(decisions.starts), &all.starts);
    Append(std::move(decisions.reservations), &all.reservations);
    Append(std::move(decisions.preemptions), &all.preemptions);
  }
  const Decisions again = PlaceFair(board, now);
  ORDO_CHECK(again.empty() && !again.more)
      << again.starts.size() << " more starts, " << again.reservations.size()
      << " reservations, " << again.preemptions.size() << " preemptions";
  return all;
}

std::vector<int64_t> TestBoard::Started() {
  std::vector<int64_t> jobs;
  for (const policy::Start& start : Place().starts) jobs.push_back(start.job);
  return jobs;
}

void TestBoard::Run(int64_t job, const std::string& worker) {
  const Shape& shape = jobs_.at(job).waiter.shape;
  const WorkerEntry& entry =
      board.tables().workers[board.tables().worker_ids.at(worker)];
  policy::Run run;
  run.started = run.checkpointed = now;
  size_t next = 0;
  for (int rank = 0; rank < shape.ranks; ++rank) {
    Part part{worker, rank, {}};
    while (static_cast<int>(part.devices.size()) < shape.devices) {
      const DeviceEntry& device = entry.devices.at(next++);
      if (device.job == 0) part.devices.push_back(device.facts.name);
    }
    run.parts.push_back(std::move(part));
  }
  board.Start(job, run);
}

void TestBoard::Requeue(int64_t job) {
  End(job);
  Wait(job, jobs_.at(job));
}

int TestBoard::NumHeld() const {
  int held = 0;
  for (const WorkerEntry& worker : board.tables().workers) {
    for (const DeviceEntry& device : worker.devices) {
      if (device.job != 0) ++held;
    }
  }
  return held;
}

void CarryOut(const Decisions& decisions, absl::Duration now, Board* board) {
  for (const Start& start : decisions.starts) {
    board->Start(start.job, {start.parts, now, now});
  }
  for (const Reservation& reservation : decisions.reservations) {
    board->Reserve(reservation);
  }
  for (const Preemption& preemption : decisions.preemptions) {
    board->NoteStopping(preemption.victim, now + board->options().grace);
  }
  board->NoteAskAgain(decisions.ask_again_at);
}

std::string ToText(const Start& start) {
  std::string text = absl::StrCat(start.job, ":");
  for (const Part& part : start.parts) {
    absl::StrAppend(&text, " ", part.worker, "[",
                    absl::StrJoin(part.devices, " "), "]");
  }
  return text;
}

}  // namespace ordo::scheduler::policy::testing
