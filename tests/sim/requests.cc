#include "tests/sim/requests.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "scheduler/core/job.h"
#include "tests/sim/durable.h"

namespace ordo::tests::sim {
namespace {

using scheduler::policy::Shape;

bool HasLabels(const Offer& offer, const Shape& shape) {
  return std::all_of(
      shape.labels.begin(), shape.labels.end(), [&offer](const auto& label) {
        const auto found = offer.labels.find(label.first);
        return found != offer.labels.end() && found->second == label.second;
      });
}

int RanksOn(const Offer& offer, const Shape& shape) {
  if (!HasLabels(offer, shape)) return 0;
  int64_t ranks = offer.devices / shape.devices;
  if (shape.cpus > 0) ranks = std::min<int64_t>(ranks, offer.cpus / shape.cpus);
  if (shape.memory_bytes > 0) {
    ranks = std::min(ranks, offer.memory_bytes / shape.memory_bytes);
  }
  return static_cast<int>(ranks);
}

// What all that runs on a worker asks for.
struct Asked {
  int64_t cpus = 0;
  int64_t memory_bytes = 0;
  std::set<std::string> jobs;
  // Of them, one that is to be alone.
  std::string alone;
};

absl::Status CheckWorker(const std::string& worker, const Offer& offer,
                         const Asked& asked) {
  if (asked.cpus > offer.cpus) {
    return absl::InternalError(absl::StrCat(worker, " has ", offer.cpus,
                                            " cores, and jobs have ",
                                            asked.cpus, " of them"));
  }
  if (asked.memory_bytes > offer.memory_bytes) {
    return absl::InternalError(absl::StrCat(worker, " has ", offer.memory_bytes,
                                            " bytes, and jobs have ",
                                            asked.memory_bytes));
  }
  if (!asked.alone.empty() && asked.jobs.size() > 1) {
    return absl::InternalError(absl::StrCat(
        "job ", asked.alone, " is to be alone on ", worker, ", and is not"));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<Offer> OffersOf(const Cluster& cluster) {
  std::vector<Offer> offers;
  for (int i = 0; i < cluster.workers(); ++i) {
    Offer& offer = offers.emplace_back();
    offer.devices = cluster.devices();
    offer.cpus = cluster.cpus();
    offer.memory_bytes = cluster.memory_bytes();
    if (cluster.zones() > 0) {
      offer.labels[kZone] = absl::StrCat("zone-", i % cluster.zones());
    }
  }
  return offers;
}

int RanksWhenEmpty(const std::vector<Offer>& offers, const Shape& shape) {
  int ranks = 0;
  for (const Offer& offer : offers) ranks += RanksOn(offer, shape);
  return ranks;
}

absl::Status CheckRequests(const scheduler::core::State& state,
                           const std::string& job,
                           const std::map<std::string, Offer>& offers) {
  std::map<std::string, Asked> asked;
  std::set<std::string> workers;
  for (const LiveAttempt& live : LiveAttempts(state)) {
    const Shape shape =
        scheduler::core::ShapeOf(*state.jobs.at(live.key.job).job->facts->spec);
    Asked& there = asked[live.worker];
    there.cpus += shape.cpus;
    there.memory_bytes += shape.memory_bytes;
    there.jobs.insert(live.key.job);
    if (shape.exclusive) there.alone = live.key.job;
    if (live.key.job != job) continue;
    workers.insert(live.worker);
    if (!HasLabels(offers.at(live.worker), shape)) {
      return absl::InternalError(absl::StrCat(live.key.ToString(),
                                              " begins on ", live.worker,
                                              ", which lacks its labels"));
    }
  }
  for (const std::string& worker : workers) {
    ORDO_RETURN_IF_ERROR(
        CheckWorker(worker, offers.at(worker), asked.at(worker)));
  }
  return absl::OkStatus();
}

}  // namespace ordo::tests::sim
