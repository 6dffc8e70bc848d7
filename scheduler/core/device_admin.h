#ifndef ORDO_SCHEDULER_CORE_DEVICE_ADMIN_H_
#define ORDO_SCHEDULER_CORE_DEVICE_ADMIN_H_

#include <map>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/protobuf/repeated_field.h"
#include "proto/ordo/workers/v1/workers.pb.h"
#include "scheduler/core/worker_admin.h"

// What is durable of a worker's devices, in the worker's record: what is held
// against them, and which of them are in quarantine. Functions of their
// arguments; those that give a record give `admin` itself when it stays as it
// is.

namespace ordo::scheduler::core {

// So many failures in a row that are blamed on a device put it in quarantine,
// if its driver told of one of them or they happened to more than one job.
inline constexpr int kMaxBlames = 3;
// The newest failures, and faults that drivers told, kept of a device.
inline constexpr int kMaxBlamesKept = 8;
inline constexpr int kMaxFaultsKept = 16;

std::set<std::string> QuarantinedIn(const WorkerAdminPtr& admin);

// What is kept of a device that has a UUID follows that, since a boot may
// number devices anew: it is under the name by which the worker announces the
// device; under the UUID while it does not and another device has the name.
// What was kept by a name alone is of the device that has the name now.
WorkerAdminPtr Followed(
    const WorkerAdminPtr& admin,
    const std::map<std::string, workers::v1::Device>& announced);

// A device, and now.
struct DeviceMoment {
  std::string worker;
  std::string device;
  absl::Time now;
  // Of the device; empty: it has none.
  std::string uuid = {};
};

// A failure that is blamed on the device, whose time is now. One attempt is
// blamed once.
WorkerAdminPtr Blamed(const WorkerAdminPtr& admin, const DeviceMoment& at,
                      workers::v1::DeviceBlame blame);

// All that its driver has told of the device: those faults that are new, by
// code and time, are blamed on it, and a grave one is enough. `held` names the
// job and the attempt that has the device, if one has. In quarantine it is not
// judged, and what is told is over with its release.
using DeviceFaults =
    google::protobuf::RepeatedPtrField<workers::v1::DeviceFault>;
WorkerAdminPtr Faulted(const WorkerAdminPtr& admin, const DeviceMoment& at,
                       const DeviceFaults& faults,
                       const workers::v1::DeviceBlame& held);

// A job has finished on the device: nothing is held against it. And a job
// (jobs/{job}) fails on other devices too: what failed of it is held against it
// no more. Neither ends a quarantine.
WorkerAdminPtr Acquitted(const WorkerAdminPtr& admin,
                         const std::string& device);
WorkerAdminPtr AcquittedOf(const WorkerAdminPtr& admin,
                           const std::string& device, const std::string& job);

// A person ends the quarantine of a device; what was held against it is
// forgotten.
WorkerAdminPtr Released(const WorkerAdminPtr& admin, const std::string& device,
                        const WorkerChange& change);

// NOT_FOUND, naming those that there are, unless the worker has the device.
absl::Status CheckHasDevice(const workers::v1::Worker& worker,
                            const std::string& device);

// Whether something is decided of the worker, by people or by what its devices
// did: it is cordoned, drained, or has a device in quarantine.
bool IsDecided(const WorkerAdminPtr& admin);

// Shows in what the worker announced what is held against its devices.
void ShowDevices(const WorkerAdminPtr& admin, workers::v1::Worker* worker);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_DEVICE_ADMIN_H_
