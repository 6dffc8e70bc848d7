#ifndef ORDO_SCHEDULER_POLICY_ROOM_H_
#define ORDO_SCHEDULER_POLICY_ROOM_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/time/time.h"
#include "scheduler/policy/facts.h"
#include "scheduler/policy/shape.h"

// What a worker has room for. Internal to scheduler/policy; kinds and workers
// are numbers here.

namespace ordo::scheduler::policy {

// Bit i: device i of the worker.
using DeviceMask = absl::InlinedVector<uint64_t, 1>;

// Of one kind of device.
struct KindRoom {
  int kind = -1;
  // To be had now.
  int free = 0;
  // Of these, at most so many by what may still run when a reservation begins.
  // Negative: more than is left is kept.
  int beyond = std::numeric_limits<int>::max();
};

// What is left of a worker.
struct Room {
  bool takes_work = false;
  absl::Duration drain_at = absl::InfiniteDuration();
  // Kept for a job; from then on, infinite: now.
  bool reserved = false;
  absl::Duration reserved_at = absl::InfiniteDuration();

  DeviceMask free_devices;
  absl::InlinedVector<KindRoom, 2> kinds;
  int64_t cpus = 0;
  int64_t memory_bytes = 0;
  int64_t cpus_beyond = std::numeric_limits<int64_t>::max();
  int64_t memory_beyond = std::numeric_limits<int64_t>::max();
  // Ranks and lingering devices.
  int num_occupants = 0;
  // Ranks that want the worker for themselves: there is room for nothing.
  int num_exclusive = 0;
};

bool operator==(const Room& a, const Room& b);

// One rank of an attempt, on a worker.
struct Occupant {
  int64_t job = 0;
  int rank = 0;
  absl::Duration ends_by = absl::InfiniteDuration();
  DeviceMask devices;
  int cpus = 0;
  int64_t memory_bytes = 0;
  bool exclusive = false;
};

struct DeviceEntry {
  Device facts;
  int kind = -1;
  // Whether the worker has it still.
  bool given = true;
  bool lingering = false;
  // 0: no attempt has it.
  int64_t job = 0;
  int rank = 0;
};

struct WorkerEntry {
  // Its devices are in `devices`.
  Worker facts;
  std::vector<DeviceEntry> devices;
  // Devices of one kind differ.
  bool mixed = false;
  int worker_class = -1;
  std::vector<Occupant> occupants;
  // 0: not reserved.
  int64_t reserved_for = 0;
  Room room;
};

// A shape, and the number of its kind.
struct Ask {
  const Shape& shape;
  int kind;
};

// How long, and by what right, a job is on a worker.
struct Stay {
  absl::Duration ends_by;
  // What is kept is kept for it.
  bool owns = false;
};

// Ranks on a worker that room is kept for.
struct KeptRanks {
  Ask ask;
  int ranks;
  absl::Duration at;
};

bool Has(const DeviceMask& mask, size_t device);

// Whether a device does for the shape, free or not.
bool Matches(const DeviceEntry& device, const Ask& ask);

// By the worker's devices and occupants, without a reservation.
Room RoomOf(const WorkerEntry& worker);
// Takes out, or gives back, what an occupant has; without regard to what is
// kept.
void Occupy(const WorkerEntry& worker, const Occupant& occupant, Room* room);
void Vacate(const WorkerEntry& worker, const Occupant& occupant, Room* room);
// Gives back devices that linger.
void VacateLingering(const WorkerEntry& worker, Room* room);
// Keeps room beyond `kept.at` that the worker's occupants, and those given
// besides, leave.
void Keep(const WorkerEntry& worker, const std::vector<Occupant>& besides,
          const KeptRanks& kept, Room* room);

// How many ranks of the shape there is room for, at most all.
int RanksIn(const WorkerEntry& worker, const Room& room, const Ask& ask,
            const Stay& stay);
// The worker's devices of these names; what it lacks is ignored.
DeviceMask MaskOf(const WorkerEntry& worker,
                  const std::set<std::string>& names);
// The room as if these devices were not free.
Room Without(const WorkerEntry& worker, const DeviceMask& devices, Room room);
// Devices for one rank, for which there is room: the first that do, those that
// are to be avoided after all others.
DeviceMask PickDevices(const WorkerEntry& worker, const Room& room,
                       const Ask& ask, const DeviceMask& avoided);
// The devices that a rank has by the worker's entries of them.
DeviceMask DevicesOf(const WorkerEntry& worker, const Occupant& occupant);
// What one rank of the shape occupies.
Occupant OccupantOf(const Ask& ask, const DeviceMask& devices);

// A worker by its room.
struct RoomKey {
  int room = 0;
  int worker = -1;
};

inline bool operator<(const RoomKey& a, const RoomKey& b) {
  return std::tie(a.room, a.worker) < std::tie(b.room, b.worker);
}

using RoomKeys = absl::btree_set<RoomKey>;

// Workers by their room for one kind of device.
struct KindIndex {
  // By what attempts without end may have; all that take work.
  RoomKeys open;
  // Those that have more for attempts that end early enough, by all of that.
  RoomKeys held_back;
};

// By kind.
using RoomIndex = std::map<int, KindIndex>;

// What an attempt without end may have of it.
int OpenDevices(const Room& room, const KindRoom& kind);
// What one that ends early enough may have; equal or more.
int FreeDevices(const Room& room, const KindRoom& kind);
// Whether it has more for attempts that end early enough, beside those of the
// job that it is kept for.
bool HoldsBack(const Room& room, const KindRoom& kind);
void AddToIndex(int worker, const Room& room, RoomIndex* index);
void RemoveFromIndex(int worker, const Room& room, RoomIndex* index);

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_ROOM_H_
