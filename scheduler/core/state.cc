#include "scheduler/core/state.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/core/device_admin.h"
#include "scheduler/core/moment.h"
#include "scheduler/scheduler.h"

namespace ordo::scheduler::core {
namespace {

// Workers named in a sentence, at most.
constexpr size_t kMaxNamed = 4;

// Kind of devices whose ranks add up through NCCL.
constexpr char kNcclKind[] = "cuda";

policy::BoardOptions BoardOptionsOf(const Options& options) {
  policy::BoardOptions board = options.board;
  board.grace = options.stop_grace;
  return board;
}

// One of the worker's devices, which are in the order of their names; null when
// it has none of the name.
workers::v1::Device* DeviceNamed(const std::string& name,
                                 workers::v1::Worker* worker) {
  auto& devices = *worker->mutable_devices();
  const auto found = std::lower_bound(
      devices.begin(), devices.end(), name,
      [](const workers::v1::Device& device, const std::string& wanted) {
        return device.name() < wanted;
      });
  return found == devices.end() || found->name() != name ? nullptr : &*found;
}

}  // namespace

State::State(const Options& given)
    : options(given), board(BoardOptionsOf(given)) {
  policy::Queue queue;
  queue.name = kDefaultQueue;
  board.PutQueue(queue);
}

std::string CheckpointId(const CheckpointKey& key) {
  return absl::StrCat(key.second, "-", key.first);
}

bool AllOver(const std::vector<LiveRank>& ranks) {
  return std::all_of(ranks.begin(), ranks.end(),
                     [](const LiveRank& rank) { return rank.over; });
}

std::string WhereOf(const Live& live) {
  const LiveRank& first = live.ranks.front();
  if (live.ranks.size() == 1) {
    return absl::StrCat(first.worker, ", ", absl::StrJoin(first.devices, ", "));
  }
  std::set<std::string> workers;
  for (const LiveRank& rank : live.ranks) workers.insert(rank.worker);
  return absl::StrCat(live.ranks.size(), " ranks on ",
                      workers.size() <= kMaxNamed
                          ? absl::StrJoin(workers, ", ")
                          : absl::StrCat(workers.size(), " workers"));
}

DeviceUse UseOf(const JobRecord& job, bool in_evaluation) {
  if (!job.newest_attempt().has_run_time()) return DeviceUse::kStart;
  if (job.facts->kind == jobs::v1::JobSpec::BENCHMARK) {
    return DeviceUse::kBenchmark;
  }
  if (SumsUp(job.facts->kind)) return DeviceUse::kSummarize;
  return in_evaluation || job.facts->kind == jobs::v1::JobSpec::EVALUATE ||
                 job.facts->kind == jobs::v1::JobSpec::GATE
             ? DeviceUse::kEvaluate
             : DeviceUse::kTrain;
}

std::map<std::string, std::string> LackingKernels(
    const workers::v1::Device& device) {
  std::map<std::string, std::string> lacking;
  for (const training::v1::KernelRefusal& one : device.probe().refused()) {
    lacking[one.kernel()] = absl::StrCat("cannot run there: ", one.message());
  }
  for (const training::v1::KernelFailure& one : device.probe().failed()) {
    lacking[one.kernel()] =
        absl::StrCat("failed its probe there: ", one.message());
  }
  return lacking;
}

bool TakesRanks(bool nccl, const std::string& kind) {
  return nccl || kind != kNcclKind;
}

WorkerAdminPtr AdminOf(const State& state, const std::string& worker) {
  const auto found = state.admin.find(worker);
  return found == state.admin.end() ? nullptr : found->second;
}

bool HasToLeave(const Worker& worker, const std::vector<std::string>& devices) {
  return worker.draining || worker.emptied ||
         std::any_of(devices.begin(), devices.end(),
                     [&worker](const std::string& device) {
                       return worker.quarantined.count(device) > 0;
                     });
}

bool TakesWork(const Worker& worker) {
  return worker.liveness == Worker::Liveness::kOnline && !worker.draining &&
         !worker.closed && !worker.emptied;
}

int64_t NextOrder(State& state, const JobFacts& job) {
  state.last_order_ns = std::max(state.last_order_ns, job.create_ns);
  return state.last_order_ns;
}

CheckpointPtr NewestCheckpoint(const JobEntry& entry) {
  for (auto it = entry.checkpoints.rbegin(); it != entry.checkpoints.rend();
       ++it) {
    if (it->second->state() == checkpoints::v1::Checkpoint::AVAILABLE) {
      return it->second;
    }
  }
  return nullptr;
}

bool HasOptimizer(const checkpoints::v1::Checkpoint& checkpoint) {
  return std::any_of(
      checkpoint.files().begin(), checkpoint.files().end(),
      [](const auto& file) { return file.path() == kOptimizerFile; });
}

workers::v1::Worker ToProto(const State& state, const Worker& worker) {
  workers::v1::Worker proto;
  proto.set_name(absl::StrCat("workers/", worker.id));
  proto.set_state(worker.liveness == Worker::Liveness::kLost
                      ? workers::v1::Worker::LOST
                  : worker.draining ? workers::v1::Worker::DRAINING
                                    : workers::v1::Worker::ONLINE);
  proto.set_address(worker.address);
  const bool is_awaited =
      worker.liveness == Worker::Liveness::kOnline && !worker.answered;
  for (const auto& [name, announced] : worker.announced) {
    workers::v1::Device& device = *proto.add_devices();
    device = announced;
    if (!is_awaited || !device.withheld().empty()) continue;
    device.set_withheld(
        absl::StrCat("its worker has announced itself and does "
                     "not answer yet at ",
                     worker.address));
  }
  for (const auto& [job, rank] : worker.live) {
    const JobEntry& entry = state.jobs.at(job);
    for (const std::string& name : LiveIn(entry)->ranks[rank].devices) {
      workers::v1::Device* device = DeviceNamed(name, &proto);
      if (device == nullptr) continue;
      device->set_job(JobName(job));
      device->set_attempt(entry.job->attempt_number());
    }
  }
  proto.mutable_labels()->insert(worker.labels.begin(), worker.labels.end());
  proto.set_cpus(worker.cpus);
  proto.set_memory_bytes(worker.memory_bytes);
  proto.set_protocol(worker.protocol);
  proto.set_nccl(worker.nccl);
  if (worker.data_roots) *proto.mutable_data_roots() = *worker.data_roots;
  if (worker.leave_time) {
    *proto.mutable_leave_time() = ToTimestamp(*worker.leave_time);
  }
  proto.set_build_digest(worker.build_digest);
  *proto.mutable_last_seen_time() = ToTimestamp(worker.last_seen);
  const WorkerAdminPtr admin = AdminOf(state, worker.id);
  ShowAdmin(admin, &proto);
  ShowDevices(admin, &proto);
  return proto;
}

}  // namespace ordo::scheduler::core
