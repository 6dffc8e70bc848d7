#include "tests/sim/explained.h"

#include <algorithm>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/version/worker_protocol.h"
#include "scheduler/core/present.h"
#include "scheduler/core/reasons.h"
#include "tests/sim/requests.h"

namespace ordo::tests::sim {
namespace {

namespace core = scheduler::core;
namespace policy = scheduler::policy;
namespace reason = scheduler::core::reason;
using policy::Constraint;

// The policy has not been asked since something changed, or is to be asked
// again at once.
bool IsPlacing(const core::State& state) {
  return state.board_changed || state.place_at == state.placed_at;
}

// The reason that follows from a constraint alone.
std::string HoldOf(Constraint constraint) {
  switch (constraint) {
    case Constraint::kQueueLimit:
      return reason::kQueueLimit;
    case Constraint::kOwnerLimit:
      return reason::kOwnerLimit;
    case Constraint::kParentLimit:
      return reason::kParentLimit;
    case Constraint::kRoom:
      return reason::kWaitingForDevice;
    case Constraint::kReservation:
      return reason::kReserved;
    case Constraint::kOrder:
      return reason::kOtherFirst;
    default:
      return "";
  }
}

int64_t DevicesOf(const core::JobFacts& job) {
  return int64_t{job.num_ranks} * job.num_devices;
}

template <typename Map, typename Key>
int64_t Find(const Map& map, const Key& key) {
  const auto it = map.find(key);
  return it == map.end() ? 0 : it->second;
}

// Whether the words, which end with a number, are in the text.
bool Says(const std::string& text, const std::string& words) {
  const size_t found = text.find(words);
  const size_t end = found + words.size();
  return found != std::string::npos &&
         (end == text.size() || !absl::ascii_isdigit(text[end]));
}

// Smaller is earlier; of equals, the one that was created first.
using Place = std::pair<absl::Duration, int64_t>;

Place PlaceOf(const core::State& state, const core::JobEntry& entry) {
  return {absl::Nanoseconds(entry.order_ns) -
              entry.job->priority * state.options.board.aging,
          entry.job->facts->sequence};
}

// Whether a job may have the device at all.
bool Serves(const core::Worker& worker, const workers::v1::Device& device,
            const policy::Shape& shape) {
  if (device.kind() != shape.kind ||
      device.memory_bytes() < shape.device_memory_bytes) {
    return false;
  }
  if (shape.kernels.count(core::kSummarizeTask) > 0 &&
      !base::KnowsSummaries(worker.protocol)) {
    return false;
  }
  if (shape.kernels.count(core::kGateTask) > 0 &&
      !base::KnowsGates(worker.protocol)) {
    return false;
  }
  const auto lacking = core::LackingKernels(device);
  return std::none_of(
      shape.kernels.begin(), shape.kernels.end(),
      [&](const std::string& kernel) { return lacking.count(kernel) > 0; });
}

// It takes work, and no drain of it is to come.
bool IsOpen(const core::Worker& worker) {
  return core::TakesWork(worker) && !worker.drain_at.has_value();
}

// What a worker that is online has for jobs of the shape; `open_only`: what it
// would give away now if nothing ran.
Offer OfferOf(const core::Worker& worker, const policy::Shape& shape,
              bool open_only) {
  Offer offer;
  if (worker.liveness != core::Worker::Liveness::kOnline) return offer;
  if (open_only && !(IsOpen(worker) && worker.answered)) return offer;
  if (shape.ranks > 1 && !core::TakesRanks(worker.nccl, shape.kind)) {
    return offer;
  }
  for (const auto& [name, device] : worker.announced) {
    const bool is_kept =
        !device.withheld().empty() || worker.quarantined.count(name) > 0;
    if (open_only && is_kept) continue;
    offer.devices += Serves(worker, device, shape) ? 1 : 0;
  }
  offer.cpus = worker.cpus;
  offer.memory_bytes = worker.memory_bytes;
  offer.labels = worker.labels;
  return offer;
}

bool IsOffered(const core::State& state, const policy::Shape& shape,
               bool open_only) {
  std::vector<Offer> offers;
  for (const auto& [id, worker] : state.workers) {
    offers.push_back(OfferOf(worker, shape, open_only));
  }
  return RanksWhenEmpty(offers, shape) >= shape.ranks;
}

}  // namespace

Explanations::Explanations(const core::State& state, const Books& books)
    : state_(state), books_(books) {
  for (const auto& [id, worker] : state.workers) {
    if (worker.liveness == core::Worker::Liveness::kUnknown) continue;
    workers_.push_back(core::ToProto(state, worker));
  }
  for (const auto& [id, entry] : state.jobs) {
    const auto* live = core::LiveIn(entry);
    if (live == nullptr) continue;
    for (const core::LiveRank& rank : live->ranks) {
      if (!rank.over) Count(*entry.job->facts, rank.devices.size());
    }
  }
  for (const policy::Reservation& reservation : state.board.Reservations()) {
    const core::JobFacts& facts = *state.waiting.at(reservation.job);
    reserved_.insert(reservation.job);
    Count(facts, DevicesOf(facts));
  }
}

void Explanations::Count(const core::JobFacts& job, int64_t devices) {
  const std::string& queue = core::QueueOf(*job.spec);
  by_queue_[queue] += devices;
  by_owner_[{queue, job.user}] += devices;
}

std::optional<Explanations::Limit> Explanations::QueueLimit(
    const core::JobFacts& job) const {
  const auto queue = books_.queues.find(core::QueueOf(*job.spec));
  if (queue == books_.queues.end()) return std::nullopt;
  const int64_t asked = DevicesOf(job);
  const Limit limit{reason::kQueueLimit,
                    Find(by_queue_, queue->first) +
                        (reserved_.count(job.sequence) > 0 ? 0 : asked),
                    asked, LimitOf(queue->second)};
  return limit.wanted > limit.limit ? std::make_optional(limit) : std::nullopt;
}

std::optional<Explanations::Limit> Explanations::OwnerLimit(
    const core::JobFacts& job) const {
  const auto queue = books_.queues.find(core::QueueOf(*job.spec));
  if (queue == books_.queues.end() ||
      !queue->second.max_per_owner.has_value()) {
    return std::nullopt;
  }
  const int64_t asked = DevicesOf(job);
  const Limit limit{reason::kOwnerLimit,
                    Find(by_owner_, std::pair(queue->first, job.user)) +
                        (reserved_.count(job.sequence) > 0 ? 0 : asked),
                    asked, *queue->second.max_per_owner};
  return limit.wanted > limit.limit ? std::make_optional(limit) : std::nullopt;
}

std::optional<Explanations::Limit> Explanations::ParentLimit(
    const core::JobFacts& job) const {
  const auto parent = state_.jobs.find(job.parent.value());
  if (parent == state_.jobs.end()) return std::nullopt;
  const core::JobFacts& facts = *parent->second.job->facts;
  const int32_t most = core::MaxParallelOf(*facts.spec);
  if (most == 0) return std::nullopt;
  Limit limit{reason::kParentLimit, 0, 1, most};
  for (const std::string& id : facts.parts) {
    const auto part = state_.jobs.find(id);
    if (part == state_.jobs.end()) continue;
    const bool counts = id == job.id || core::LiveIn(part->second) != nullptr ||
                        reserved_.count(part->second.job->facts->sequence) > 0;
    limit.wanted += counts ? 1 : 0;
  }
  return limit.wanted > limit.limit ? std::make_optional(limit) : std::nullopt;
}

std::optional<Explanations::Limit> Explanations::OwnLimit(
    const core::JobFacts& job) const {
  for (const auto& limit : {QueueLimit(job), OwnerLimit(job)}) {
    if (limit.has_value() && limit->asked > limit->limit) return limit;
  }
  return ParentLimit(job);
}

std::optional<Explanations::Limit> Explanations::TurnLimit(
    const core::JobFacts& job) const {
  const auto queue = QueueLimit(job);
  return queue.has_value() ? queue : OwnerLimit(job);
}

std::string Explanations::WrongOffers(const core::JobFacts& job,
                                      const std::string& told) const {
  const policy::Shape shape = core::ShapeOf(*job.spec);
  if (told == reason::kNoWorker) {
    const auto open =
        std::find_if(state_.workers.begin(), state_.workers.end(),
                     [](const auto& worker) { return IsOpen(worker.second); });
    return open == state_.workers.end() ? "" : open->first + " takes its work";
  }
  const bool none_has_it =
      told == reason::kNoSuchDevice || told == reason::kNoSuchKernel;
  return IsOffered(state_, shape, /*open_only=*/!none_has_it)
             ? "there are workers for it"
             : "";
}

std::string Explanations::WrongFirst(const core::JobFacts& job,
                                     const std::string& other) const {
  const auto found = state_.jobs.find(other);
  if (found == state_.jobs.end()) return "there is no such job";
  const core::JobFacts& first = *found->second.job->facts;
  if (state_.waiting.count(first.sequence) == 0 ||
      core::QueueOf(*first.spec) != core::QueueOf(*job.spec)) {
    return other + " does not wait in its queue";
  }
  if (PlaceOf(state_, found->second) >=
      PlaceOf(state_, state_.jobs.at(job.id))) {
    return other + " comes later";
  }
  const bool is_same_user = first.user == job.user;
  const bool are_alike =
      is_same_user && core::ShapeOf(*first.spec) == core::ShapeOf(*job.spec);
  if (are_alike || QueueLimit(first).has_value() ||
      (is_same_user && OwnerLimit(first).has_value())) {
    return "";
  }
  return other + " is not alike, and at no limit that counts for both";
}

std::string Explanations::WrongKept(const core::JobFacts& job,
                                    const std::string& other) const {
  const auto found = state_.jobs.find(other);
  const bool is_kept = found != state_.jobs.end() && other != job.id &&
                       reserved_.count(found->second.job->facts->sequence) > 0;
  return is_kept ? "" : absl::StrCat("no room is kept for ", other);
}

std::string Explanations::WrongRoom(const core::JobFacts& job) const {
  const bool is_idle = by_queue_.empty() &&
                       std::all_of(state_.workers.begin(), state_.workers.end(),
                                   [](const auto& worker) {
                                     return worker.second.lingering.empty();
                                   });
  return is_idle && IsOffered(state_, core::ShapeOf(*job.spec),
                              /*open_only=*/true)
             ? "nothing runs"
             : "";
}

std::string Explanations::WrongIn(
    const core::JobFacts& job, const core::Placing& placing,
    const jobs::v1::ExplainResponse::Blocker& told) const {
  const Constraint constraint = placing.reason->constraint;
  if (constraint == Constraint::kUnoffered ||
      constraint == Constraint::kClosed) {
    return WrongOffers(job, told.reason());
  }
  // It is about to start.
  if (constraint == Constraint::kNone) return "";
  const auto own = OwnLimit(job);
  const auto limit = own.has_value() ? own : TurnLimit(job);
  const bool is_other = constraint == Constraint::kOrder;
  const bool is_limit = constraint == Constraint::kQueueLimit ||
                        constraint == Constraint::kOwnerLimit ||
                        constraint == Constraint::kParentLimit;
  if (!is_limit) {
    const auto& before = is_other ? own : limit;
    if (before.has_value()) {
      return absl::StrCat(before->reason, " holds it up: ", before->wanted,
                          " of ", before->limit);
    }
    if (is_other) return WrongFirst(job, placing.other);
    return constraint == Constraint::kReservation
               ? WrongKept(job, placing.other)
               : WrongRoom(job);
  }
  if (!limit.has_value()) return "it is above no limit";
  const bool is_parent = constraint == Constraint::kParentLimit;
  const std::string wanted = limit->asked > limit->limit
                                 ? absl::StrCat("asks for ", limit->asked)
                                 : absl::StrCat("would hold ", limit->wanted);
  const bool is_right =
      told.reason() == limit->reason &&
      (is_parent || Says(told.message(), wanted)) &&
      Says(told.message(),
           absl::StrCat(is_parent ? "max_parallel, " : "may hold ",
                        limit->limit));
  return is_right ? ""
                  : absl::StrCat(limit->reason, " holds it up: ", limit->wanted,
                                 " of ", limit->limit);
}

absl::Status Explanations::Check(const std::string& job) const {
  const auto entry = state_.jobs.find(job);
  const JobView* view = books_.left.Find(job);
  if (entry == state_.jobs.end() || view == nullptr ||
      !std::holds_alternative<core::Queued>(entry->second.place)) {
    return absl::OkStatus();
  }
  std::vector<std::string> needed;
  for (const core::NeededJob& need : view->facts->needs) {
    const JobView* found = books_.left.Find(need.id);
    if (found != nullptr && !core::IsTerminal(found->state)) {
      needed.push_back(need.id);
    }
  }
  const auto placing =
      core::PlacingOf(state_, job, {absl::UnixEpoch(), state_.placed_at});
  const auto& queued = std::get<core::Queued>(entry->second.place);
  const bool on_board = !view->held && needed.empty() && !view->backs_off &&
                        !queued.awaits_checkpoint && !queued.awaits_answer;
  // What the policy answered is carried out.
  const bool starts = on_board && placing.has_value() &&
                      placing->reason.has_value() &&
                      placing->reason->constraint == Constraint::kNone;
  if (!placing.has_value() || placing->reason.has_value() != on_board ||
      (starts && !IsPlacing(state_))) {
    return absl::InternalError(absl::StrCat("job ", job, " waits for nothing"));
  }
  const std::string holds =
      view->held                 ? reason::kHeld
      : !needed.empty()          ? reason::kWaitingForNeeds
      : view->backs_off          ? reason::kBackoff
      : queued.awaits_checkpoint ? reason::kWaitingForCheckpoint
      : queued.awaits_answer     ? reason::kWaitingForResult
                                 : HoldOf(placing->reason->constraint);
  const jobs::v1::ExplainResponse explained =
      core::Explain({*core::Present(*entry->second.job), workers_,
                     absl::UnixEpoch(), needed, placing});
  std::string wrong;
  if (explained.blockers().empty() ||
      (!holds.empty() && explained.blockers(0).reason() != holds)) {
    wrong = absl::StrCat("it is held up by ", holds);
  } else if (on_board) {
    wrong = WrongIn(*view->facts, *placing, explained.blockers(0));
  }
  if (wrong.empty()) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("job ", job, " is told: ", explained.ShortDebugString(),
                   ", but ", wrong));
}

}  // namespace ordo::tests::sim
