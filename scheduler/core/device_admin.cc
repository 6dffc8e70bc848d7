#include "scheduler/core/device_admin.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/core/moment.h"
#include "scheduler/core/names.h"
#include "scheduler/core/reasons.h"

namespace ordo::scheduler::core {
namespace {

using workers::v1::Device;
using workers::v1::DeviceBlame;
using workers::v1::DeviceFault;
using workers::v1::Worker;

const Device* FindIn(const Worker& worker, const std::string& device) {
  const auto found = std::find_if(
      worker.devices().begin(), worker.devices().end(),
      [&device](const Device& each) { return each.name() == device; });
  return found == worker.devices().end() ? nullptr : &*found;
}

const Device* Find(const WorkerAdminPtr& admin, const std::string& device) {
  return admin == nullptr ? nullptr : FindIn(*admin, device);
}

// The record with another device in place of the one of this name.
WorkerAdminPtr With(const WorkerAdminPtr& admin, const std::string& worker,
                    Device device) {
  auto next = admin == nullptr ? std::make_shared<Worker>()
                               : std::make_shared<Worker>(*admin);
  next->set_name(absl::StrCat("workers/", worker));
  for (Device& each : *next->mutable_devices()) {
    if (each.name() != device.name()) continue;
    each = std::move(device);
    return next;
  }
  *next->add_devices() = std::move(device);
  return next;
}

WorkerAdminPtr With(const WorkerAdminPtr& admin, Device device) {
  return With(admin, IdOf(admin->name()), std::move(device));
}

// The device as it is kept so far.
Device Begin(const WorkerAdminPtr& admin, const DeviceMoment& at) {
  const Device* kept = Find(admin, at.device);
  Device device = kept == nullptr ? Device() : *kept;
  device.set_name(at.device);
  if (!at.uuid.empty()) device.set_uuid(at.uuid);
  return device;
}

// The name under which a device is to be kept.
std::string NameNow(const Device& kept,
                    const std::map<std::string, Device>& announced) {
  for (const auto& [name, device] : announced) {
    if (!kept.uuid().empty() && device.uuid() == kept.uuid()) return name;
  }
  const auto namesake = announced.find(kept.name());
  const bool is_other = namesake != announced.end() && !kept.uuid().empty() &&
                        !namesake->second.uuid().empty();
  return is_other ? kept.uuid() : kept.name();
}

void Quarantine(const std::string& reason, absl::Time now, Device* device) {
  *device->mutable_quarantine()->mutable_start_time() = ToTimestamp(now);
  device->mutable_quarantine()->set_reason(reason);
}

bool IsEnough(const Device& device) {
  if (device.blames_size() < kMaxBlames) return false;
  std::set<std::string> jobs;
  bool told_by_driver = false;
  for (const DeviceBlame& blame : device.blames()) {
    jobs.insert(blame.job());
    told_by_driver |= blame.code() != reason::kDeviceError;
  }
  return told_by_driver || jobs.size() > 1;
}

// Whether this attempt is blamed on it already.
bool IsBlamedFor(const Device& device, const DeviceBlame& blame) {
  return !blame.job().empty() &&
         std::any_of(device.blames().begin(), device.blames().end(),
                     [&blame](const DeviceBlame& before) {
                       return before.job() == blame.job() &&
                              before.attempt() == blame.attempt();
                     });
}

// Whether it was added.
bool AddBlame(DeviceBlame blame, absl::Time now, Device* device) {
  if (IsBlamedFor(*device, blame)) return false;
  *blame.mutable_time() = ToTimestamp(now);
  *device->add_blames() = std::move(blame);
  if (device->blames_size() > kMaxBlamesKept) {
    device->mutable_blames()->DeleteSubrange(0, 1);
  }
  if (device->has_quarantine() || !IsEnough(*device)) return true;
  const DeviceBlame& last = *device->blames().rbegin();
  Quarantine(
      absl::StrCat(
          device->blames_size(),
          " failures in a row are blamed on it, the last: ", last.code(),
          last.job().empty() ? ""
                             : absl::StrCat(" of job ", IdOf(last.job()),
                                            ", attempt ", last.attempt())),
      now, device);
  return true;
}

// What tells a fault from others.
DeviceFault Key(const DeviceFault& fault) {
  DeviceFault key;
  key.set_code(fault.code());
  *key.mutable_time() = fault.time();
  return key;
}

DeviceFaults NewestKeys(const DeviceFaults& faults) {
  DeviceFaults keys;
  for (int i = std::max(0, faults.size() - kMaxFaultsKept); i < faults.size();
       ++i) {
    *keys.Add() = Key(faults.Get(i));
  }
  return keys;
}

bool Has(const DeviceFaults& keys, const DeviceFault& fault) {
  return std::any_of(keys.begin(), keys.end(),
                     [&fault](const DeviceFault& key) {
                       return key.code() == fault.code() &&
                              ToTime(key.time()) == ToTime(fault.time());
                     });
}

template <typename Message>
void SortByTime(google::protobuf::RepeatedPtrField<Message>* messages) {
  std::stable_sort(messages->begin(), messages->end(),
                   [](const Message& a, const Message& b) {
                     return ToTime(a.time()) < ToTime(b.time());
                   });
}

// Adds what is held against one entry of a device to another entry of it; the
// newest stay.
void MergeInto(const Device& from, Device* device) {
  for (const DeviceBlame& blame : from.blames()) {
    if (!IsBlamedFor(*device, blame)) *device->add_blames() = blame;
  }
  auto& blames = *device->mutable_blames();
  SortByTime(&blames);
  blames.DeleteSubrange(0, std::max(0, blames.size() - kMaxBlamesKept));
  for (const DeviceFault& fault : from.faults()) {
    if (!Has(device->faults(), fault)) *device->add_faults() = fault;
  }
  SortByTime(device->mutable_faults());
  *device->mutable_faults() = NewestKeys(device->faults());
  if (from.has_quarantine() && !device->has_quarantine()) {
    *device->mutable_quarantine() = from.quarantine();
  }
}

// Leaves one device of each name, with what is held against all of it.
void Merge(google::protobuf::RepeatedPtrField<Device>* devices) {
  google::protobuf::RepeatedPtrField<Device> merged;
  for (const Device& device : *devices) {
    const auto first = std::find_if(
        merged.begin(), merged.end(),
        [&device](const Device& each) { return each.name() == device.name(); });
    if (first == merged.end()) {
      *merged.Add() = device;
    } else {
      MergeInto(device, &*first);
    }
  }
  devices->Swap(&merged);
}

}  // namespace

std::set<std::string> QuarantinedIn(const WorkerAdminPtr& admin) {
  std::set<std::string> devices;
  if (admin == nullptr) return devices;
  for (const Device& device : admin->devices()) {
    if (device.has_quarantine()) devices.insert(device.name());
  }
  return devices;
}

WorkerAdminPtr Followed(const WorkerAdminPtr& admin,
                        const std::map<std::string, Device>& announced) {
  if (admin == nullptr) return admin;
  auto next = std::make_shared<Worker>(*admin);
  bool any_new = false;
  for (Device& kept : *next->mutable_devices()) {
    const auto namesake = announced.find(kept.name());
    if (kept.uuid().empty() && namesake != announced.end() &&
        !namesake->second.uuid().empty()) {
      kept.set_uuid(namesake->second.uuid());
      any_new = true;
    }
    const std::string name = NameNow(kept, announced);
    any_new |= name != kept.name();
    kept.set_name(name);
  }
  if (!any_new) return admin;
  Merge(next->mutable_devices());
  return next;
}

WorkerAdminPtr Blamed(const WorkerAdminPtr& admin, const DeviceMoment& at,
                      DeviceBlame blame) {
  Device device = Begin(admin, at);
  if (device.has_quarantine()) return admin;
  if (!AddBlame(std::move(blame), at.now, &device)) return admin;
  return With(admin, at.worker, std::move(device));
}

WorkerAdminPtr Faulted(const WorkerAdminPtr& admin, const DeviceMoment& at,
                       const DeviceFaults& faults, const DeviceBlame& held) {
  if (faults.empty()) return admin;
  Device device = Begin(admin, at);
  const bool was_quarantined = device.has_quarantine();
  bool any_new = false;
  for (int i = std::max(0, faults.size() - kMaxFaultsKept); i < faults.size();
       ++i) {
    const DeviceFault& fault = faults.Get(i);
    if (Has(device.faults(), fault)) continue;
    any_new = true;
    if (was_quarantined) continue;
    DeviceBlame blame = held;
    blame.set_code(fault.code());
    AddBlame(std::move(blame), at.now, &device);
    if (!fault.grave()) continue;
    Quarantine(fault.message().empty() ? fault.code() : fault.message(), at.now,
               &device);
  }
  if (!any_new) return admin;
  *device.mutable_faults() = NewestKeys(faults);
  return With(admin, at.worker, std::move(device));
}

WorkerAdminPtr Acquitted(const WorkerAdminPtr& admin,
                         const std::string& device) {
  const Device* kept = Find(admin, device);
  if (kept == nullptr || kept->has_quarantine() || kept->blames().empty()) {
    return admin;
  }
  Device next = *kept;
  next.clear_blames();
  return With(admin, std::move(next));
}

WorkerAdminPtr AcquittedOf(const WorkerAdminPtr& admin,
                           const std::string& device, const std::string& job) {
  const Device* kept = Find(admin, device);
  if (kept == nullptr || kept->has_quarantine()) return admin;
  Device next = *kept;
  auto& blames = *next.mutable_blames();
  // What the driver told stays.
  blames.erase(std::remove_if(blames.begin(), blames.end(),
                              [&job](const DeviceBlame& blame) {
                                return blame.job() == job &&
                                       blame.code() == reason::kDeviceError;
                              }),
               blames.end());
  if (next.blames_size() == kept->blames_size()) return admin;
  return With(admin, std::move(next));
}

WorkerAdminPtr Released(const WorkerAdminPtr& admin, const std::string& device,
                        const WorkerChange& change) {
  const Device* kept = Find(admin, device);
  if (kept == nullptr || !kept->has_quarantine()) return admin;
  Device next = *kept;
  next.clear_quarantine();
  next.clear_blames();
  return WithChange(With(admin, std::move(next)),
                    absl::StrCat("release ", device), change);
}

absl::Status CheckHasDevice(const Worker& worker, const std::string& device) {
  if (FindIn(worker, device) != nullptr) return absl::OkStatus();
  std::set<std::string> names;
  for (const Device& each : worker.devices()) names.insert(each.name());
  return absl::NotFoundError(absl::StrCat(
      "worker ", IdOf(worker.name()), " has no device ", device,
      names.empty() ? ""
                    : absl::StrCat("; it has ", absl::StrJoin(names, ", "))));
}

bool IsDecided(const WorkerAdminPtr& admin) {
  return IsCordoned(admin) || DrainTime(admin).has_value() ||
         !QuarantinedIn(admin).empty();
}

void ShowDevices(const WorkerAdminPtr& admin, Worker* worker) {
  for (Device& shown : *worker->mutable_devices()) {
    const Device* kept = Find(admin, shown.name());
    if (kept == nullptr) continue;
    *shown.mutable_blames() = kept->blames();
    if (kept->has_quarantine())
      *shown.mutable_quarantine() = kept->quarantine();
  }
}

}  // namespace ordo::scheduler::core
