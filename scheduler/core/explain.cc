#include "scheduler/core/explain.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/units/units.h"
#include "scheduler/core/job.h"
#include "scheduler/core/moment.h"
#include "scheduler/core/reasons.h"
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

// What the workers have of one kind of device.
struct Devices {
  bool any_online = false;
  // Online, and takes no work: draining, cordoned, or asked to be drained.
  int num_closed = 0;
  std::set<std::string> kinds;
  // Those that would do for the job.
  int num_suited = 0;
  int num_free = 0;
  // "cpu:0 of w1 runs job a (attempt 1)".
  std::vector<std::string> busy;
  // "cpu:0 of w1 is withheld: the probe ...".
  std::vector<std::string> withheld;
  // "cpu:0 of w1 lacks attention/a, which failed its probe there: ...", of
  // kernels that the job names.
  std::vector<std::string> lacking;
};

// What of the kernels that a job names a device lacks, as in Devices::lacking.
std::vector<std::string> Lacking(const policy::Need& need,
                                 const workers::v1::Device& device,
                                 const std::string& name) {
  std::vector<std::string> lacking;
  for (const auto& [kernel, why] : LackingKernels(device)) {
    if (need.kernels.count(kernel) == 0) continue;
    lacking.push_back(absl::StrCat(name, " lacks ", kernel, ", which ", why));
  }
  return lacking;
}

Devices Survey(const Explained& seen, const policy::Need& need) {
  Devices devices;
  for (const workers::v1::Worker& worker : seen.workers) {
    const bool online = worker.state() == workers::v1::Worker::ONLINE;
    const bool closed = worker.cordoned() || worker.has_drain_time();
    if (online && closed) ++devices.num_closed;
    if (worker.state() == workers::v1::Worker::DRAINING) ++devices.num_closed;
    if (!online || closed) continue;
    devices.any_online = true;
    for (const workers::v1::Device& device : worker.devices()) {
      devices.kinds.insert(device.kind());
      if (device.kind() != need.kind) continue;
      const std::string name =
          absl::StrCat(device.name(), " of ", IdOf(worker.name()));
      const std::vector<std::string> lacking = Lacking(need, device, name);
      if (!lacking.empty()) {
        devices.lacking.insert(devices.lacking.end(), lacking.begin(),
                               lacking.end());
        continue;
      }
      ++devices.num_suited;
      if (!device.job().empty()) {
        devices.busy.push_back(absl::StrCat(name, " runs job ",
                                            IdOf(device.job()), " (attempt ",
                                            device.attempt(), ")"));
      }
      if (!device.withheld().empty()) {
        devices.withheld.push_back(
            absl::StrCat(name, " is withheld: ", device.withheld()));
      }
      if (device.job().empty() && device.withheld().empty()) {
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

// Why none of the devices is free.
std::string WhyNone(const std::string& kind, const Devices& devices) {
  if (devices.withheld.empty() && devices.lacking.empty()) {
    return absl::StrCat("every ", kind, " device is busy: ", Others(devices));
  }
  return absl::StrCat("no ", kind, " device is free: ", Others(devices));
}

// Devices that a job occupies.
int NumNeeded(const policy::Need& need) { return need.ranks * need.devices; }

// Why there are not enough devices for a job of several ranks.
void ExplainRanks(const policy::Need& need, const Devices& devices,
                  ExplainResponse* response) {
  const std::string needs =
      absl::StrCat("its ", need.ranks, " ranks start together and need ",
                   NumNeeded(need), " ", need.kind, " devices");
  if (devices.num_suited < NumNeeded(need)) {
    AddBlocker(response, reason::kNoSuchDevice,
               absl::StrCat(needs, "; the workers that are online have ",
                            devices.num_suited,
                            ": start more, or cancel the job and submit it "
                            "with fewer resources.ranks"));
  } else {
    AddBlocker(response, reason::kWaitingForDevice,
               absl::StrCat(needs, "; ", devices.num_free,
                            devices.num_free == 1 ? " is" : " are",
                            " free: ", Others(devices)));
  }
}

void ExplainDevices(const Explained& seen, ExplainResponse* response) {
  const policy::Need need = NeedOf(seen.job.spec());
  const std::string& kind = need.kind;
  const Devices devices = Survey(seen, need);
  if (!devices.any_online) {
    AddBlocker(response, reason::kNoWorker,
               devices.num_closed > 0
                   ? "every worker is closed or draining and takes no new "
                     "work; start another, or open one: ordo workers uncordon"
                   : "no worker is online; start one: ordo-worker, or ordo up");
  } else if (devices.kinds.count(kind) == 0) {
    AddBlocker(
        response, reason::kNoSuchDevice,
        absl::StrCat("no online worker has a device of kind ", kind,
                     "; there are: ", absl::StrJoin(devices.kinds, ", "),
                     "; start a worker that has one, or cancel the job and "
                     "submit it with another resources.device"));
  } else if (devices.num_free == 0 && devices.busy.empty() &&
             devices.withheld.empty()) {
    AddBlocker(
        response, reason::kNoSuchKernel,
        absl::StrCat("no online ", kind,
                     " device has what the job names: ", Named(devices.lacking),
                     "; start a worker on another machine, or cancel the job "
                     "and submit it with another kernel, or with none for the "
                     "best that there is"));
  } else if (need.ranks > 1 && devices.num_free < NumNeeded(need)) {
    ExplainRanks(need, devices, response);
  } else if (devices.num_free == 0) {
    AddBlocker(response, reason::kWaitingForDevice, WhyNone(kind, devices));
  }
  if (seen.jobs_ahead > 0) {
    AddBlocker(
        response, reason::kWaitingForDevice,
        absl::StrCat(seen.jobs_ahead,
                     seen.jobs_ahead == 1 ? " job that came earlier waits"
                                          : " jobs that came earlier wait",
                     " for a ", kind, " device too"));
  }
}

void ExplainQueued(const Explained& seen, ExplainResponse* response) {
  const Job& job = seen.job;
  response->set_jobs_ahead(seen.jobs_ahead);
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
            absl::FormatTime("%H:%M:%S", until, absl::UTCTimeZone()),
            " UTC (in ",
            base::HumanDuration(
                std::max(until - seen.now, absl::ZeroDuration())),
            ")"));
  }
  ExplainDevices(seen, response);
  if (response->blockers().empty()) {
    AddBlocker(response, reason::kWaitingForDevice,
               "a device is free; the job is about to start");
  }
  response->set_summary(absl::StrCat(
      "job ", job.spec().name(), " waits: ", response->blockers(0).message()));
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

}  // namespace

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
      response.set_summary(absl::StrCat("job ", id, " is being cancelled by ",
                                        job.cancelled_by(), ": ", Where(job),
                                        " is being ended"));
      break;
    case Job::SUCCEEDED:
      response.set_summary(absl::StrCat("job ", id,
                                        " has finished; see: ordo "
                                        "report ",
                                        id));
      break;
    default:
      response.set_summary(absl::StrCat("job ", id, " has ended (",
                                        job.reason(), "): ", job.message()));
  }
  return response;
}

}  // namespace ordo::scheduler::core
