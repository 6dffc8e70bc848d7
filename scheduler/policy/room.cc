#include "scheduler/policy/room.h"

#include <algorithm>

#include "base/check.h"

namespace ordo::scheduler::policy {
namespace {

void Add(size_t device, DeviceMask* mask) {
  if (mask->size() <= device / 64) mask->resize(device / 64 + 1, 0);
  (*mask)[device / 64] |= uint64_t{1} << device % 64;
}

void Remove(size_t device, DeviceMask* mask) {
  (*mask)[device / 64] &= ~(uint64_t{1} << device % 64);
}

// Calls visit(device) for each of the mask.
template <typename Visit>
void ForEach(const DeviceMask& mask, Visit visit) {
  for (size_t word = 0; word < mask.size(); ++word) {
    for (uint64_t bits = mask[word]; bits != 0; bits &= bits - 1) {
      visit(word * 64 + __builtin_ctzll(bits));
    }
  }
}

KindRoom& RoomFor(int kind, Room* room) {
  for (KindRoom& entry : room->kinds) {
    if (entry.kind == kind) return entry;
  }
  room->kinds.push_back({kind});
  return room->kinds.back();
}

const KindRoom* FindKind(const Room& room, int kind) {
  for (const KindRoom& entry : room.kinds) {
    if (entry.kind == kind) return &entry;
  }
  return nullptr;
}

// As the room grows or shrinks by what may run beyond a reservation.
template <typename Number>
void Change(Number by, Number* beyond) {
  if (*beyond != std::numeric_limits<Number>::max()) *beyond += by;
}

bool IsBeyond(const Room& room, absl::Duration ends_by) {
  return room.reserved && (room.reserved_at == absl::InfiniteDuration() ||
                           ends_by > room.reserved_at);
}

}  // namespace

bool operator==(const Room& a, const Room& b) {
  const auto key = [](const Room& room) {
    return std::tie(room.takes_work, room.drain_at, room.reserved,
                    room.reserved_at, room.free_devices, room.cpus,
                    room.memory_bytes, room.cpus_beyond, room.memory_beyond,
                    room.num_occupants, room.num_exclusive);
  };
  return key(a) == key(b) &&
         std::equal(a.kinds.begin(), a.kinds.end(), b.kinds.begin(),
                    b.kinds.end(), [](const KindRoom& x, const KindRoom& y) {
                      return x.kind == y.kind && x.free == y.free &&
                             x.beyond == y.beyond;
                    });
}

bool Has(const DeviceMask& mask, size_t device) {
  return mask.size() > device / 64 && (mask[device / 64] >> device % 64 & 1);
}

bool Matches(const DeviceEntry& device, const Ask& ask) {
  if (device.kind != ask.kind ||
      device.facts.memory_bytes < ask.shape.device_memory_bytes) {
    return false;
  }
  const std::set<std::string>& lacking = device.facts.lacking;
  return lacking.empty() ||
         std::none_of(ask.shape.kernels.begin(), ask.shape.kernels.end(),
                      [&](const std::string& kernel) {
                        return lacking.count(kernel) > 0;
                      });
}

Room RoomOf(const WorkerEntry& worker) {
  Room room;
  room.takes_work = worker.facts.takes_work;
  room.drain_at = worker.facts.drain_at;
  room.cpus = worker.facts.cpus;
  room.memory_bytes = worker.facts.memory_bytes;
  room.free_devices.resize((worker.devices.size() + 63) / 64, 0);
  for (size_t i = 0; i < worker.devices.size(); ++i) {
    const DeviceEntry& device = worker.devices[i];
    if (device.lingering) ++room.num_occupants;
    if (!device.given) continue;
    KindRoom& kind = RoomFor(device.kind, &room);
    if (!device.facts.offered || device.lingering || device.job != 0) continue;
    Add(i, &room.free_devices);
    ++kind.free;
  }
  for (const Occupant& occupant : worker.occupants) {
    ++room.num_occupants;
    room.num_exclusive += occupant.exclusive ? 1 : 0;
    room.cpus -= occupant.cpus;
    room.memory_bytes -= occupant.memory_bytes;
  }
  return room;
}

void Occupy(const WorkerEntry& worker, const Occupant& occupant, Room* room) {
  const bool beyond = IsBeyond(*room, occupant.ends_by);
  ForEach(occupant.devices, [&](size_t device) {
    Remove(device, &room->free_devices);
    KindRoom& kind = RoomFor(worker.devices[device].kind, room);
    --kind.free;
    if (beyond) Change(-1, &kind.beyond);
  });
  room->cpus -= occupant.cpus;
  room->memory_bytes -= occupant.memory_bytes;
  if (beyond) {
    Change<int64_t>(-occupant.cpus, &room->cpus_beyond);
    Change<int64_t>(-occupant.memory_bytes, &room->memory_beyond);
  }
  ++room->num_occupants;
  room->num_exclusive += occupant.exclusive ? 1 : 0;
}

void Vacate(const WorkerEntry& worker, const Occupant& occupant, Room* room) {
  const bool beyond = IsBeyond(*room, occupant.ends_by);
  ForEach(occupant.devices, [&](size_t i) {
    const DeviceEntry& device = worker.devices[i];
    if (!device.given || !device.facts.offered || device.lingering) return;
    Add(i, &room->free_devices);
    KindRoom& kind = RoomFor(device.kind, room);
    ++kind.free;
    if (beyond) Change(1, &kind.beyond);
  });
  room->cpus += occupant.cpus;
  room->memory_bytes += occupant.memory_bytes;
  if (beyond) {
    Change<int64_t>(occupant.cpus, &room->cpus_beyond);
    Change<int64_t>(occupant.memory_bytes, &room->memory_beyond);
  }
  --room->num_occupants;
  room->num_exclusive -= occupant.exclusive ? 1 : 0;
}

void VacateLingering(const WorkerEntry& worker, Room* room) {
  for (size_t i = 0; i < worker.devices.size(); ++i) {
    const DeviceEntry& device = worker.devices[i];
    if (!device.lingering || device.job != 0) continue;
    --room->num_occupants;
    if (!device.given || !device.facts.offered) continue;
    Add(i, &room->free_devices);
    ++RoomFor(device.kind, room).free;
  }
}

void Keep(const WorkerEntry& worker, const std::vector<Occupant>& besides,
          const KeptRanks& kept, Room* room) {
  const Shape& shape = kept.ask.shape;
  room->reserved = true;
  room->reserved_at = kept.at;
  for (KindRoom& kind : room->kinds) {
    kind.beyond = 0;
    for (const DeviceEntry& device : worker.devices) {
      const bool counts =
          device.given && device.facts.offered && device.kind == kind.kind;
      if (counts) ++kind.beyond;
    }
    if (kind.kind == kept.ask.kind) kind.beyond -= kept.ranks * shape.devices;
  }
  room->cpus_beyond = worker.facts.cpus - int64_t{kept.ranks} * shape.cpus;
  room->memory_beyond =
      worker.facts.memory_bytes - kept.ranks * shape.memory_bytes;
  for (const auto* occupants : {&worker.occupants, &besides}) {
    for (const Occupant& occupant : *occupants) {
      if (!IsBeyond(*room, occupant.ends_by)) continue;
      ForEach(occupant.devices, [&](size_t device) {
        Change(-1, &RoomFor(worker.devices[device].kind, room).beyond);
      });
      Change<int64_t>(-occupant.cpus, &room->cpus_beyond);
      Change<int64_t>(-occupant.memory_bytes, &room->memory_beyond);
    }
  }
  // Which of the devices it will need nobody knows, or it needs all.
  if (!shape.exclusive && !worker.mixed) return;
  for (KindRoom& kind : room->kinds) kind.beyond = 0;
}

int RanksIn(const WorkerEntry& worker, const Room& room, const Ask& ask,
            const Stay& stay) {
  if (!room.takes_work || room.num_exclusive > 0 ||
      stay.ends_by > room.drain_at) {
    return 0;
  }
  const bool within = stay.owns || !IsBeyond(room, stay.ends_by);
  const Shape& shape = ask.shape;
  if (shape.exclusive && (room.num_occupants > 0 || !within)) return 0;
  const KindRoom* kind = FindKind(room, ask.kind);
  if (kind == nullptr) return 0;
  int64_t devices = kind->free;
  if (worker.mixed) {
    devices = 0;
    ForEach(room.free_devices, [&](size_t device) {
      if (Matches(worker.devices[device], ask)) ++devices;
    });
  }
  if (!within) devices = std::min<int64_t>(devices, kind->beyond);
  int64_t ranks = std::min<int64_t>(shape.ranks, devices / shape.devices);
  if (shape.cpus > 0) {
    const int64_t cpus =
        within ? room.cpus : std::min(room.cpus, room.cpus_beyond);
    ranks = std::min(ranks, cpus / shape.cpus);
  }
  if (shape.memory_bytes > 0) {
    const int64_t bytes = within
                              ? room.memory_bytes
                              : std::min(room.memory_bytes, room.memory_beyond);
    ranks = std::min(ranks, bytes / shape.memory_bytes);
  }
  return static_cast<int>(std::max<int64_t>(ranks, 0));
}

DeviceMask MaskOf(const WorkerEntry& worker,
                  const std::set<std::string>& names) {
  DeviceMask mask;
  for (size_t i = 0; i < worker.devices.size(); ++i) {
    if (names.count(worker.devices[i].facts.name) > 0) Add(i, &mask);
  }
  return mask;
}

Room Without(const WorkerEntry& worker, const DeviceMask& devices, Room room) {
  ForEach(devices, [&](size_t device) {
    if (!Has(room.free_devices, device)) return;
    Remove(device, &room.free_devices);
    --RoomFor(worker.devices[device].kind, &room).free;
  });
  return room;
}

DeviceMask PickDevices(const WorkerEntry& worker, const Room& room,
                       const Ask& ask, const DeviceMask& avoided) {
  DeviceMask picked;
  int left = ask.shape.devices;
  for (const bool is_avoided : {false, true}) {
    ForEach(room.free_devices, [&](size_t device) {
      if (left == 0 || Has(avoided, device) != is_avoided ||
          !Matches(worker.devices[device], ask)) {
        return;
      }
      Add(device, &picked);
      --left;
    });
  }
  ORDO_CHECK(left == 0) << worker.facts.id;
  return picked;
}

DeviceMask DevicesOf(const WorkerEntry& worker, const Occupant& occupant) {
  DeviceMask mask((worker.devices.size() + 63) / 64, 0);
  for (size_t i = 0; i < worker.devices.size(); ++i) {
    const DeviceEntry& device = worker.devices[i];
    if (device.job == occupant.job && device.rank == occupant.rank) {
      Add(i, &mask);
    }
  }
  return mask;
}

Occupant OccupantOf(const Ask& ask, const DeviceMask& devices) {
  Occupant occupant;
  occupant.devices = devices;
  occupant.cpus = ask.shape.cpus;
  occupant.memory_bytes = ask.shape.memory_bytes;
  occupant.exclusive = ask.shape.exclusive;
  return occupant;
}

int FreeDevices(const Room& room, const KindRoom& kind) {
  return room.num_exclusive > 0 ? 0 : kind.free;
}

int OpenDevices(const Room& room, const KindRoom& kind) {
  if (room.drain_at != absl::InfiniteDuration()) return 0;
  return std::max(0, std::min(FreeDevices(room, kind), kind.beyond));
}

bool HoldsBack(const Room& room, const KindRoom& kind) {
  int most = FreeDevices(room, kind);
  // Kept from now on: nothing ends early enough.
  if (room.reserved && room.reserved_at == absl::InfiniteDuration()) {
    most = std::min(most, kind.beyond);
  }
  return most > OpenDevices(room, kind);
}

void AddToIndex(int worker, const Room& room, RoomIndex* index) {
  if (!room.takes_work) return;
  for (const KindRoom& kind : room.kinds) {
    KindIndex& entry = (*index)[kind.kind];
    const int open = OpenDevices(room, kind);
    const int free = FreeDevices(room, kind);
    entry.open.insert({open, worker});
    if (free > open) entry.held_back.insert({free, worker});
  }
}

void RemoveFromIndex(int worker, const Room& room, RoomIndex* index) {
  if (!room.takes_work) return;
  for (const KindRoom& kind : room.kinds) {
    KindIndex& entry = (*index)[kind.kind];
    entry.open.erase({OpenDevices(room, kind), worker});
    entry.held_back.erase({FreeDevices(room, kind), worker});
  }
}

}  // namespace ordo::scheduler::policy
