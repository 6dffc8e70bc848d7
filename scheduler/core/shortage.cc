#include "scheduler/core/shortage.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/units/units.h"
#include "base/version/worker_protocol.h"
#include "scheduler/core/names.h"
#include "scheduler/core/state.h"
#include "scheduler/policy/data_roots.h"

namespace ordo::scheduler::core {
namespace {

using workers::v1::Device;
using Shown = workers::v1::Worker;
using Workers = std::vector<const Shown*>;

// Values and workers named in a sentence, at most.
constexpr size_t kMaxNamed = 5;

template <typename Keep>
Workers Filter(const Workers& workers, const Keep& keep) {
  Workers kept;
  for (const Shown* worker : workers) {
    if (keep(*worker)) kept.push_back(worker);
  }
  return kept;
}

template <typename Names>
std::string Named(const Names& names) {
  auto end = names.begin();
  std::advance(end, std::min(kMaxNamed, names.size()));
  std::string text = absl::StrJoin(names.begin(), end, ", ");
  if (names.size() > kMaxNamed) {
    absl::StrAppend(&text, " and ", names.size() - kMaxNamed, " more");
  }
  return text;
}

bool HasLabel(const Shown& worker, const std::string& name,
              const std::string& value) {
  const auto label = worker.labels().find(name);
  return label != worker.labels().end() && label->second == value;
}

int64_t NumSuitable(const Shown& worker, const policy::Shape& shape) {
  return std::count_if(
      worker.devices().begin(), worker.devices().end(),
      [&](const Device& device) { return Suits(device, shape); });
}

// Ranks that an empty worker, which has devices for one, has room for.
int64_t NumRanks(const Shown& worker, const policy::Shape& shape) {
  int64_t ranks = NumSuitable(worker, shape) / shape.devices;
  if (shape.cpus > 0) {
    ranks = std::min<int64_t>(ranks, worker.cpus() / shape.cpus);
  }
  if (shape.memory_bytes > 0) {
    ranks = std::min(ranks, worker.memory_bytes() / shape.memory_bytes);
  }
  return ranks;
}

// "no worker with zone=a".
std::string Nobody(const policy::Shape& shape) {
  if (shape.labels.empty()) return "no worker";
  return absl::StrCat(
      "no worker with ",
      absl::StrJoin(shape.labels, ", ", absl::PairFormatter("=")));
}

// Leaves those that have all labels; when none does, the one of them that is
// missed and what there is instead.
std::string ByLabels(const policy::Shape& shape, Workers* workers) {
  policy::Shape had;
  for (const auto& [name, value] : shape.labels) {
    const Workers before = *workers;
    *workers =
        Filter(before, [&, &key = name, &wanted = value](const Shown& worker) {
          return HasLabel(worker, key, wanted);
        });
    if (!workers->empty()) {
      had.labels[name] = value;
      continue;
    }
    std::set<std::string> values;
    for (const Shown* worker : before) {
      const auto label = worker->labels().find(name);
      if (label != worker->labels().end()) values.insert(label->second);
    }
    return absl::StrCat(
        Nobody(had), " has the label ", name, "=", value, ": ",
        values.empty() ? "none has a label of that name"
                       : absl::StrCat("there is ", name, "=", Named(values)));
  }
  return "";
}

bool HasKind(const Shown& worker, const std::string& kind) {
  return std::any_of(
      worker.devices().begin(), worker.devices().end(),
      [&kind](const Device& device) { return device.kind() == kind; });
}

// Whether the worker's release knows the task that is asked for.
bool KnowsTask(const Shown& worker, const policy::Shape& shape) {
  if (shape.kernels.count(kGateTask) > 0) {
    return base::KnowsGates(worker.protocol());
  }
  return shape.kernels.count(kSummarizeTask) == 0 ||
         base::KnowsSummaries(worker.protocol());
}

// Leaves those whose release knows the task that is asked for.
std::string ByTask(const policy::Shape& shape, Workers* workers) {
  std::vector<std::string> old;
  for (const Shown* worker : *workers) {
    if (!KnowsTask(*worker, shape)) old.push_back(IdOf(worker->name()));
  }
  if (old.empty()) return "";
  *workers = Filter(*workers, [&shape](const Shown& worker) {
    return KnowsTask(worker, shape);
  });
  if (!workers->empty()) return "";
  const char* what =
      shape.kernels.count(kGateTask) > 0 ? "decide a gate" : "sum up parts";
  return absl::StrCat(Nobody(shape), " knows how to ", what, ": ", Named(old),
                      old.size() == 1 ? " is" : " are",
                      " of an earlier release, to be upgraded");
}

policy::DataRoots RootsOf(const Shown& worker) {
  if (!worker.has_data_roots()) return std::nullopt;
  const auto& paths = worker.data_roots().paths();
  return std::set<std::string>(paths.begin(), paths.end());
}

// Leaves those that may read the data that is named by its whole path.
std::string ByData(const policy::Shape& shape, Workers* workers) {
  const char* besides = "";
  for (const std::string& path : shape.data_paths) {
    const Workers before = *workers;
    *workers = Filter(before, [&path](const Shown& worker) {
      return policy::MayRead(RootsOf(worker), {path});
    });
    if (workers->empty() && !before.empty()) {
      std::set<std::string> roots;
      for (const Shown* worker : before) {
        const auto& paths = worker->data_roots().paths();
        roots.insert(paths.begin(), paths.end());
      }
      return absl::StrCat(Nobody(shape), " may read ", path, besides, ": ",
                          roots.empty()
                              ? "none has data_roots"
                              : absl::StrCat("they may read ", Named(roots)));
    }
    besides = " beside the other data";
  }
  return "";
}

// Names of those that have no NCCL for ranks, where they would need it.
std::set<std::string> WithoutNccl(const policy::Shape& shape,
                                  const Workers& workers) {
  std::set<std::string> without;
  if (shape.ranks == 1) return without;
  for (const Shown* worker : workers) {
    if (HasKind(*worker, shape.kind) &&
        !TakesRanks(worker->nccl(), shape.kind)) {
      without.insert(IdOf(worker->name()));
    }
  }
  return without;
}

// Leaves those that have NCCL, if it is needed and some have not.
std::string ByNccl(const policy::Shape& shape, Workers* workers) {
  const std::set<std::string> without = WithoutNccl(shape, *workers);
  if (without.empty()) return "";
  *workers = Filter(*workers, [&](const Shown& worker) {
    return HasKind(worker, shape.kind) && worker.nccl();
  });
  if (!workers->empty()) return "";
  return absl::StrCat(Nobody(shape), " has NCCL for several ranks on ",
                      shape.kind, ": ", Named(without),
                      without.size() == 1 ? " has" : " have",
                      " no libordo_nccl.so beside the trainer, or an earlier "
                      "release");
}

// Leaves those that have a device with the memory.
std::string ByDeviceMemory(const policy::Shape& shape, Workers* workers) {
  const Workers before = *workers;
  *workers = Filter(before, [&](const Shown& worker) {
    return NumSuitable(worker, shape) > 0;
  });
  if (!workers->empty() || shape.device_memory_bytes == 0) return "";
  policy::Shape any = shape;
  any.device_memory_bytes = 0;
  int64_t most = 0;
  for (const Shown* worker : before) {
    for (const Device& device : worker->devices()) {
      if (Suits(device, any)) most = std::max(most, device.memory_bytes());
    }
  }
  return absl::StrCat(Nobody(shape), " has a ", shape.kind, " device with ",
                      base::HumanBytes(shape.device_memory_bytes),
                      ": the largest has ", base::HumanBytes(most));
}

// A number of a worker's that each rank needs some of.
struct Amount {
  // As it is asked for, such as "4 cuda devices".
  std::string asked;
  int64_t least = 0;
  int64_t (*of)(const Shown& worker, const policy::Shape& shape);
  std::string (*text)(int64_t amount);
};

// Leaves those that have it.
std::string ByAmount(const Amount& amount, const policy::Shape& shape,
                     Workers* workers) {
  int64_t most = -1;
  std::string who;
  for (const Shown* worker : *workers) {
    const int64_t has = amount.of(*worker, shape);
    if (has <= most) continue;
    most = has;
    who = IdOf(worker->name());
  }
  *workers = Filter(*workers, [&](const Shown& worker) {
    return amount.of(worker, shape) >= amount.least;
  });
  if (!workers->empty() || most < 0) return "";
  return absl::StrCat(Nobody(shape), " has ", amount.asked, ": the most is ",
                      amount.text(most), ", of ", who);
}

std::string ByAmounts(const policy::Shape& shape, Workers* workers) {
  const auto number = [](int64_t amount) { return absl::StrCat(amount); };
  const auto bytes = [](int64_t amount) { return base::HumanBytes(amount); };
  const Amount kAmounts[] = {
      {absl::StrCat(shape.devices, " ", shape.kind, " devices",
                    shape.device_memory_bytes > 0 ? " of that memory" : ""),
       shape.devices, NumSuitable, number},
      {absl::StrCat(shape.cpus, " cores"), shape.cpus,
       [](const Shown& worker, const policy::Shape&) -> int64_t {
         return worker.cpus();
       },
       number},
      {absl::StrCat(base::HumanBytes(shape.memory_bytes), " of memory"),
       shape.memory_bytes,
       [](const Shown& worker, const policy::Shape&) -> int64_t {
         return worker.memory_bytes();
       },
       bytes}};
  for (const Amount& amount : kAmounts) {
    std::string lacks = ByAmount(amount, shape, workers);
    if (!lacks.empty()) return lacks;
  }
  return "";
}

}  // namespace

bool MayHold(const workers::v1::Worker& worker, const policy::Shape& shape) {
  return KnowsTask(worker, shape) &&
         policy::MayRead(RootsOf(worker), shape.data_paths) &&
         (shape.ranks == 1 || TakesRanks(worker.nccl(), shape.kind)) &&
         std::all_of(shape.labels.begin(), shape.labels.end(),
                     [&](const auto& label) {
                       return HasLabel(worker, label.first, label.second);
                     });
}

bool Suits(const workers::v1::Device& device, const policy::Shape& shape) {
  if (device.kind() != shape.kind ||
      device.memory_bytes() < shape.device_memory_bytes) {
    return false;
  }
  const std::map<std::string, std::string> lacking = LackingKernels(device);
  return std::none_of(
      shape.kernels.begin(), shape.kernels.end(),
      [&](const std::string& kernel) { return lacking.count(kernel) > 0; });
}

bool HasSuitable(const workers::v1::Worker& worker,
                 const policy::Shape& shape) {
  return MayHold(worker, shape) && NumSuitable(worker, shape) > 0;
}

std::string ShortageOf(const std::vector<workers::v1::Worker>& workers,
                       const policy::Shape& shape) {
  Workers left;
  for (const Shown& worker : workers) {
    if (worker.state() != Shown::LOST) left.push_back(&worker);
  }
  std::string lacks = ByLabels(shape, &left);
  if (!lacks.empty()) return lacks;
  const std::set<std::string> without_nccl = WithoutNccl(shape, left);
  for (const auto by : {ByTask, ByData, ByNccl, ByDeviceMemory, ByAmounts}) {
    lacks = by(shape, &left);
    if (!lacks.empty()) return lacks;
  }
  int64_t ranks = 0;
  for (const Shown* worker : left) ranks += NumRanks(*worker, shape);
  if (left.empty() || ranks >= shape.ranks) return "";
  return absl::StrCat("all of them together have room for ", ranks, " of ",
                      shape.ranks, " ranks",
                      without_nccl.empty()
                          ? ""
                          : absl::StrCat(", without those that have no NCCL: ",
                                         Named(without_nccl)));
}

}  // namespace ordo::scheduler::core
