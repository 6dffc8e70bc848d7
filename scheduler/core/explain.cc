#include "scheduler/core/explain.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/units/units.h"
#include "scheduler/core/board.h"
#include "scheduler/core/closed.h"
#include "scheduler/core/follow.h"
#include "scheduler/core/job.h"
#include "scheduler/core/moment.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/shortage.h"
#include "scheduler/core/state.h"

namespace ordo::scheduler::core {
namespace {

using jobs::v1::ExplainResponse;
using jobs::v1::Job;

// Names given in a sentence, at most.
constexpr size_t kMaxNamed = 5;

void AddBlocker(ExplainResponse* response, const char* reason,
                const std::string& message) {
  ExplainResponse::Blocker& blocker = *response->add_blockers();
  blocker.set_reason(reason);
  blocker.set_message(message);
}

std::string Named(const std::vector<std::string>& all) {
  if (all.size() <= kMaxNamed) return absl::StrJoin(all, ", ");
  const std::vector<std::string> some(all.begin(), all.begin() + kMaxNamed);
  return absl::StrCat(absl::StrJoin(some, ", "), " and ",
                      all.size() - kMaxNamed, " more");
}

// What the workers that are open have of the devices that a job asks for, on
// workers with the labels that it asks for.
struct Devices {
  bool any_online = false;
  // ClosedText of those that do not take the job: of those that have what one
  // rank asks for, and of all others.
  std::vector<std::string> closed;
  std::vector<std::string> unfit;
  // Of all devices.
  std::set<std::string> kinds;
  int num_free = 0;
  // "cpu:0 of w1 runs job a (attempt 1)".
  std::vector<std::string> busy;
  // "cpu:0 of w1 is withheld: the probe ..."; also those in quarantine.
  std::vector<std::string> withheld;
  // "cpu:0 of w1 lacks attention/a, which failed its probe there: ...", of
  // kernels that the job names.
  std::vector<std::string> lacking;
};

// What of the kernels that a job names a device lacks, as in Devices::lacking.
std::vector<std::string> Lacking(const policy::Shape& need,
                                 const workers::v1::Device& device,
                                 const std::string& name) {
  std::vector<std::string> lacking;
  for (const auto& [kernel, why] : LackingKernels(device)) {
    if (need.kernels.count(kernel) == 0) continue;
    lacking.push_back(absl::StrCat(name, " lacks ", kernel, ", which ", why));
  }
  return lacking;
}

// As in Devices::withheld.
std::string InQuarantine(const workers::v1::Device& device,
                         const std::string& name,
                         const workers::v1::Worker& worker) {
  return absl::StrCat(name, " is in quarantine since ",
                      absl::FormatTime(absl::RFC3339_sec,
                                       ToTime(device.quarantine().start_time()),
                                       absl::UTCTimeZone()),
                      ": ", device.quarantine().reason(),
                      " (once it is mended: ordo workers release ",
                      IdOf(worker.name()), " ", device.name(), ")");
}

Devices Survey(const Explained& seen, const policy::Shape& need) {
  const absl::Time ends_by =
      seen.placing.has_value() ? seen.placing->ends_by : absl::InfiniteFuture();
  Devices devices;
  for (const workers::v1::Worker& worker : seen.workers) {
    if (IsClosed(worker, ends_by)) {
      (HasSuitable(worker, need) ? devices.closed : devices.unfit)
          .push_back(ClosedText(worker, seen.now));
      continue;
    }
    if (worker.state() != workers::v1::Worker::ONLINE) continue;
    devices.any_online = true;
    const bool may_hold = MayHold(worker, need);
    for (const workers::v1::Device& device : worker.devices()) {
      devices.kinds.insert(device.kind());
      if (!may_hold || device.kind() != need.kind ||
          device.memory_bytes() < need.device_memory_bytes) {
        continue;
      }
      const std::string name =
          absl::StrCat(device.name(), " of ", IdOf(worker.name()));
      const std::vector<std::string> lacking = Lacking(need, device, name);
      if (!lacking.empty()) {
        devices.lacking.insert(devices.lacking.end(), lacking.begin(),
                               lacking.end());
        continue;
      }
      if (!device.job().empty()) {
        devices.busy.push_back(absl::StrCat(name, " runs job ",
                                            IdOf(device.job()), " (attempt ",
                                            device.attempt(), ")"));
      }
      if (!device.withheld().empty()) {
        devices.withheld.push_back(
            absl::StrCat(name, " is withheld: ", device.withheld()));
      }
      if (device.has_quarantine()) {
        devices.withheld.push_back(InQuarantine(device, name, worker));
      }
      if (device.job().empty() && device.withheld().empty() &&
          !device.has_quarantine()) {
        ++devices.num_free;
      }
    }
  }
  return devices;
}

// What the devices that are not free do.
std::string Others(const Devices& devices) {
  std::vector<std::string> parts;
  for (const auto* names :
       {&devices.busy, &devices.withheld, &devices.lacking}) {
    if (!names->empty()) parts.push_back(Named(*names));
  }
  return absl::StrJoin(parts, "; ");
}

// Such as: zone=a, rack=4.
std::string LabelsText(const policy::Shape& shape) {
  return absl::StrJoin(shape.labels, ", ", absl::PairFormatter("="));
}

// Why none of the devices is free.
std::string WhyNone(const policy::Shape& shape, const Devices& devices) {
  std::string device = absl::StrCat(shape.kind, " device");
  if (shape.device_memory_bytes > 0) {
    absl::StrAppend(&device, " with at least ",
                    base::HumanBytes(shape.device_memory_bytes));
  }
  if (!shape.labels.empty()) {
    absl::StrAppend(&device, " on workers with ", LabelsText(shape));
  }
  if (devices.withheld.empty() && devices.lacking.empty()) {
    return absl::StrCat("every ", device, " is busy: ", Others(devices));
  }
  return absl::StrCat("no ", device, " is free: ", Others(devices));
}

// Such as: 4 ranks of 2 cuda devices each, on workers with zone=a.
std::string AskedFor(const policy::Shape& shape) {
  std::string text =
      shape.ranks == 1 ? "" : absl::StrCat(shape.ranks, " ranks of ");
  absl::StrAppend(&text, shape.devices, " ", shape.kind,
                  shape.devices == 1 ? " device" : " devices");
  if (shape.ranks > 1) absl::StrAppend(&text, " each");
  if (shape.device_memory_bytes > 0) {
    absl::StrAppend(&text, " with at least ",
                    base::HumanBytes(shape.device_memory_bytes));
  }
  if (shape.cpus > 0) absl::StrAppend(&text, ", ", shape.cpus, " cores");
  if (shape.memory_bytes > 0) {
    absl::StrAppend(&text, ", ", base::HumanBytes(shape.memory_bytes),
                    " of memory");
  }
  if (!shape.labels.empty()) {
    absl::StrAppend(&text, ", on workers with ", LabelsText(shape));
  }
  if (shape.exclusive) absl::StrAppend(&text, ", alone on its workers");
  return text;
}

// Nobody who takes work has what it asks for.
void ExplainUnoffered(const Explained& seen, const policy::Shape& shape,
                      ExplainResponse* response) {
  const Devices devices = Survey(seen, shape);
  if (!devices.any_online) {
    const std::vector<std::string>& closed =
        devices.closed.empty() ? devices.unfit : devices.closed;
    AddBlocker(response, reason::kNoWorker,
               closed.empty()
                   ? "no worker is online; start one: ordo-worker, or ordo up"
                   : absl::StrCat("every worker is closed or draining, or will "
                                  "be before the job would have ended: ",
                                  Named(closed),
                                  "; start another, or open one: ordo workers "
                                  "uncordon WORKER"));
  } else if (devices.kinds.count(shape.kind) == 0) {
    AddBlocker(
        response, reason::kNoSuchDevice,
        absl::StrCat("no online worker has a device of kind ", shape.kind,
                     "; there are: ", absl::StrJoin(devices.kinds, ", "),
                     "; start a worker that has one, or cancel the job and "
                     "submit it with another resources.device"));
  } else if (!devices.lacking.empty() && devices.num_free == 0 &&
             devices.busy.empty() && devices.withheld.empty()) {
    AddBlocker(
        response, reason::kNoSuchKernel,
        absl::StrCat("no online ", shape.kind,
                     " device has what the job names: ", Named(devices.lacking),
                     "; start a worker on another machine, or cancel the job "
                     "and submit it with another kernel, or with none for the "
                     "best that there is"));
  } else {
    const std::string lacks = ShortageOf(seen.workers, shape);
    AddBlocker(response, reason::kNoSuchDevice,
               absl::StrCat("the workers that are online do not have ",
                            AskedFor(shape), lacks.empty() ? "" : ": ", lacks,
                            "; start others, or cancel the job and submit it "
                            "with other resources"));
  }
}

// Workers have what it asks for, and do not give it away.
void ExplainClosed(const Explained& seen, const policy::Shape& shape,
                   ExplainResponse* response) {
  const Devices devices = Survey(seen, shape);
  if (!devices.any_online) {
    ExplainUnoffered(seen, shape, response);
  } else if (!devices.withheld.empty()) {
    AddBlocker(response, reason::kWaitingForDevice, WhyNone(shape, devices));
  } else {
    AddBlocker(response, reason::kWorkersClosed,
               absl::StrCat("the workers that have ", AskedFor(shape),
                            " take no work, or not for as long as the job "
                            "may run",
                            devices.closed.empty() ? "" : ": ",
                            Named(devices.closed), "; see: ordo list workers"));
  }
}

// What there is too little of where devices are free.
std::string TooLittle(policy::Lack lack, const Devices& devices) {
  switch (lack) {
    case policy::Lack::kCpus:
      return "but with too few cores beside what runs there";
    case policy::Lack::kMemory:
      return "but with too little memory beside what runs there";
    case policy::Lack::kEmptyWorkers:
      return "but others are on the same workers";
    case policy::Lack::kSharedWorkers:
      return "but on workers that a job has for itself";
    case policy::Lack::kDevices:
      break;
  }
  const std::string others = Others(devices);
  return others.empty() ? "but not together with all else that it asks for"
                        : absl::StrCat("the others are not: ", others);
}

void ExplainRoom(const Explained& seen, policy::Lack lack,
                 const policy::Shape& shape, ExplainResponse* response) {
  const Devices devices = Survey(seen, shape);
  if (devices.num_free == 0) {
    AddBlocker(response, reason::kWaitingForDevice, WhyNone(shape, devices));
    return;
  }
  AddBlocker(response, reason::kWaitingForDevice,
             absl::StrCat("there is no room yet for ", AskedFor(shape), ": ",
                          devices.num_free, " ", shape.kind,
                          devices.num_free == 1 ? " device is" : " devices are",
                          " free, ", TooLittle(lack, devices)));
}

std::string Other(const Placing& placing) {
  return placing.other.empty() ? "another job"
                               : absl::StrCat("job ", placing.other);
}

// That its queue or its owner would hold more than may be; or that the job
// alone is more than that, which no waiting mends.
std::string AboveLimit(const Explained& seen, const policy::Reason& why) {
  const policy::Shape shape = ShapeOf(seen.job.spec());
  const std::string& queue = QueueOf(seen.job.spec());
  const bool is_owner = why.constraint == policy::Constraint::kOwnerLimit;
  const auto devices = [&](int64_t count) {
    return absl::StrCat(count, is_owner ? "" : " " + shape.kind, " device",
                        count == 1 ? "" : "s",
                        is_owner ? " in queue " + queue : "");
  };
  const std::string who = is_owner ? seen.job.owner().user() : "queue " + queue;
  const std::string text =
      shape.num_devices() > why.limit
          ? absl::StrCat("it asks for ", devices(shape.num_devices()), ", and ",
                         who, " may hold ", why.limit,
                         ": it does not start unless that limit is raised; "
                         "cancel it and submit it with fewer, or")
          : absl::StrCat(who, " would hold ", devices(why.wanted),
                         " with it, and may hold ", why.limit, ";");
  return absl::StrCat(text, " see: ordo queues show ", queue);
}

void ExplainPlacing(const Explained& seen, const Placing& placing,
                    ExplainResponse* response) {
  using policy::Constraint;
  const policy::Shape shape = ShapeOf(seen.job.spec());
  const policy::Reason& why = *placing.reason;
  switch (why.constraint) {
    case Constraint::kNone:
      AddBlocker(response, reason::kWaitingForDevice,
                 "a device is free; the job is about to start");
      return;
    case Constraint::kUnoffered:
      return ExplainUnoffered(seen, shape, response);
    case Constraint::kClosed:
      return ExplainClosed(seen, shape, response);
    case Constraint::kQueueLimit:
      AddBlocker(response, reason::kQueueLimit, AboveLimit(seen, why));
      return;
    case Constraint::kOwnerLimit:
      AddBlocker(response, reason::kOwnerLimit, AboveLimit(seen, why));
      return;
    case Constraint::kParentLimit:
      AddBlocker(response, reason::kParentLimit,
                 absl::StrCat("as many parts of ", IdOf(seen.job.parent()),
                              " run as its max_parallel, ", why.limit,
                              ", lets; it starts when one of them has ended"));
      return;
    case Constraint::kRoom:
      return ExplainRoom(seen, why.lack, shape, response);
    case Constraint::kReservation:
      AddBlocker(response, reason::kReserved,
                 absl::StrCat("what is free is kept for ", Other(placing)));
      return;
    case Constraint::kOrder:
      AddBlocker(
          response, reason::kOtherFirst,
          absl::StrCat(Other(placing), " comes first, and waits itself"));
      return;
  }
}

// "45m": a guess has no seconds, nor a late one single minutes.
std::string RoughText(absl::Duration duration) {
  absl::Duration unit = absl::Seconds(10);
  if (duration >= absl::Minutes(2)) unit = absl::Minutes(1);
  if (duration >= absl::Hours(2)) unit = absl::Minutes(10);
  return absl::FormatDuration(absl::Ceil(duration, unit));
}

// When it will start, or why that cannot be said.
std::string SetExpected(const Explained& seen, ExplainResponse* response) {
  const bool awaits =
      seen.placing.has_value() &&
      !(seen.placing->awaits.empty() && seen.placing->follows.empty());
  if (!seen.job.held_by().empty() || !seen.needed.empty() || awaits) {
    return "; before that nobody can say when it starts";
  }
  if (!seen.placing.has_value() || !seen.placing->start.has_value()) return "";
  const absl::Time start = *seen.placing->start;
  *response->mutable_estimated_start_time() = ToTimestamp(start);
  if (start <= seen.now) return "";
  return absl::StrCat("; at a guess it starts in about ",
                      RoughText(start - seen.now),
                      ", by what runs and how long jobs of its queue took or "
                      "may take, and can be far off");
}

void ExplainQueued(const Explained& seen, ExplainResponse* response) {
  const Job& job = seen.job;
  if (!job.held_by().empty()) {
    AddBlocker(
        response, reason::kHeld,
        absl::StrCat("it was put on hold by ", job.held_by(),
                     "; to let it start: ordo release ", job.spec().name()));
  }
  if (!seen.needed.empty()) {
    AddBlocker(
        response, reason::kWaitingForNeeds,
        absl::StrCat("it needs ", seen.needed.size() == 1 ? "job " : "jobs ",
                     Named(seen.needed), " to end first"));
  }
  if (job.has_not_before_time()) {
    const absl::Time until = ToTime(job.not_before_time());
    AddBlocker(
        response, reason::kBackoff,
        absl::StrCat(
            "attempt ",
            job.attempts().empty() ? 0 : job.attempts().rbegin()->number(),
            " failed; the next starts not before ",
            absl::FormatTime(absl::RFC3339_sec, until, absl::UTCTimeZone()),
            " (in ",
            base::HumanDuration(
                std::max(until - seen.now, absl::ZeroDuration())),
            ")"));
  }
  if (seen.placing.has_value()) {
    const Placing& placing = *seen.placing;
    if (!placing.follows.empty()) {
      AddBlocker(response, reason::kWaitingForCheckpoint,
                 absl::StrCat("it has evaluated every checkpoint that job ",
                              placing.follows,
                              " has, and goes on with the next, or ends with "
                              "that job"));
    }
    if (!placing.awaits.empty()) {
      AddBlocker(response, reason::kWaitingForResult,
                 absl::StrCat("job ", placing.awaits,
                              " evaluates what it asks for too; it takes that "
                              "result, or evaluates itself if there is none"));
    }
    response->set_jobs_ahead(static_cast<int32_t>(placing.jobs_ahead));
    if (placing.reason.has_value()) ExplainPlacing(seen, placing, response);
  }
  if (response->blockers().empty()) {
    AddBlocker(response, reason::kWaitingForDevice, "it is about to start");
  }
  const std::string expected = SetExpected(seen, response);
  response->set_summary(
      absl::StrCat("job ", job.spec().name(),
                   " waits: ", response->blockers(0).message(), expected));
}

std::string Where(const Job& job) {
  if (job.attempts().empty()) return "";
  const jobs::v1::Attempt& attempt = *job.attempts().rbegin();
  const std::string number = absl::StrCat("attempt ", attempt.number(), " on ");
  if (attempt.ranks().empty()) {
    return absl::StrCat(number, attempt.worker(), ", ",
                        absl::StrJoin(attempt.devices(), ", "));
  }
  std::vector<std::string> ranks;
  for (const jobs::v1::Attempt::Rank& rank : attempt.ranks()) {
    ranks.push_back(absl::StrCat(absl::StrJoin(rank.devices(), ", "), " of ",
                                 rank.worker()));
  }
  return absl::StrCat(number, ranks.size(), " ranks: ", Named(ranks));
}

std::string Progress(const Job& job) {
  const jobs::v1::Progress& progress = job.progress();
  if (!progress.evaluation().empty() &&
      progress.evaluation_done() < progress.evaluation_total()) {
    const bool is_benchmark = job.spec().kind() == jobs::v1::JobSpec::BENCHMARK;
    return absl::StrCat(is_benchmark ? ", measures " : ", evaluates ",
                        progress.evaluation(), ", ", progress.evaluation_done(),
                        " of ", progress.evaluation_total(),
                        is_benchmark ? " shapes" : " samples");
  }
  if (progress.total_steps() == 0) return "";
  return absl::StrCat(", at step ", progress.step(), " of ",
                      progress.total_steps());
}

// Of a job that has finished.
std::string WhereItsResultsAre(const Job& job) {
  const std::string& id = job.spec().name();
  switch (job.spec().kind()) {
    case jobs::v1::JobSpec::BENCHMARK:
      return absl::StrCat("its numbers: ordo list reports ", id);
    // What stored jobs of no kind are too.
    case jobs::v1::JobSpec::KIND_UNSPECIFIED:
    case jobs::v1::JobSpec::TRAIN:
    case jobs::v1::JobSpec::IMPORT:
      if (!job.spec().evaluations().empty()) break;
      return absl::StrCat(
          "it has no evaluations of its own; its checkpoints: "
          "ordo list checkpoints ",
          id, "; to score the newest: ordo evaluate ", id, " --task TASK");
    default:
      break;
  }
  return absl::StrCat("see: ordo report ", id);
}

}  // namespace

std::optional<Placing> PlacingOf(const State& state, const std::string& job,
                                 const Moment& now) {
  const auto entry = state.jobs.find(job);
  if (entry == state.jobs.end()) return std::nullopt;
  const auto* queued = std::get_if<Queued>(&entry->second.place);
  if (queued == nullptr) return std::nullopt;
  const auto to_wall = [&now](absl::Duration at) {
    return now.wall + (at - now.monotonic);
  };
  Placing placing;
  if (queued->awaits_checkpoint) {
    placing.follows = FollowedBy(*entry->second.job->facts);
  }
  if (queued->awaits_answer) {
    placing.awaits = state.answering.at(state.awaits.at(job));
  }
  const policy::Shape shape = ShapeOf(*entry->second.job->facts->spec);
  placing.ends_by = now.wall + policy::LatestEnd(shape, absl::ZeroDuration(),
                                                 state.options.board.grace);
  const int64_t sequence = entry->second.job->facts->sequence;
  if (state.waiting.count(sequence) == 0) {
    const policy::Standing standing =
        StandingOf(state, entry->second, now.monotonic);
    placing.jobs_ahead = standing.jobs_ahead;
    if (standing.start.has_value()) {
      placing.start = to_wall(std::max(
          *standing.start, queued->not_before.value_or(*standing.start)));
    }
    return placing;
  }
  placing.reason = policy::Why(state.board, sequence, now.monotonic);
  placing.jobs_ahead = placing.reason->jobs_ahead;
  const int64_t other = placing.reason->other;
  if (const auto it = state.waiting.find(other); it != state.waiting.end()) {
    placing.other = it->second->id;
  } else if (const auto ran = state.running.find(other);
             ran != state.running.end()) {
    placing.other = ran->second->id;
  }
  if (placing.reason->start.has_value() &&
      *placing.reason->start < absl::InfiniteDuration()) {
    placing.start = to_wall(*placing.reason->start);
  }
  return placing;
}

ExplainResponse Explain(const Explained& seen) {
  const Job& job = seen.job;
  const std::string& id = job.spec().name();
  ExplainResponse response;
  switch (job.state()) {
    case Job::QUEUED:
      ExplainQueued(seen, &response);
      break;
    case Job::STARTING:
      response.set_summary(absl::StrCat("job ", id, " starts: ", Where(job),
                                        "; its trainer has not reported yet"));
      break;
    case Job::RUNNING:
      response.set_summary(
          absl::StrCat("job ", id, " runs: ", Where(job), Progress(job)));
      break;
    case Job::CANCELLING:
      response.set_summary(absl::StrCat(
          "job ", id,
          job.reason() == reason::kStoppedEarly
              ? absl::StrCat(" is ", job.message())
              : absl::StrCat(" is being cancelled by ", job.cancelled_by()),
          ": ", Where(job), " is being ended"));
      break;
    case Job::SUCCEEDED:
      response.set_summary(
          absl::StrCat("job ", id, " has finished; ", WhereItsResultsAre(job)));
      break;
    default:
      response.set_summary(absl::StrCat("job ", id, " has ended (",
                                        job.reason(), "): ", job.message()));
  }
  return response;
}

}  // namespace ordo::scheduler::core
