#include "scheduler/store/testing/faulty_vfs.h"

#include <algorithm>
#include <csignal>
#include <sqlite3.h>
#include <unistd.h>
#include <vector>

#include "base/check.h"

namespace ordo::scheduler::store::testing {
namespace {

// What a write took away.
struct Undo {
  sqlite3_int64 offset = 0;
  std::vector<char> bytes;
  sqlite3_int64 size = 0;
};

// Followed in memory by the default VFS's own file.
struct File {
  sqlite3_file base;
  // Since the last sync.
  std::vector<Undo>* unsynced;
};

struct Vfs {
  Faults faults;
  std::vector<sqlite3_file*> open;
  sqlite3_vfs* real = nullptr;
  sqlite3_vfs own = {};
  sqlite3_io_methods methods = {};
};

Vfs& TheVfs() {
  static Vfs& vfs = *new Vfs;
  return vfs;
}

File* Own(sqlite3_file* file) { return reinterpret_cast<File*>(file); }

sqlite3_file* Real(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(Own(file) + 1);
}

const sqlite3_io_methods& Methods(sqlite3_file* file) {
  return *Real(file)->pMethods;
}

void TakeBack(sqlite3_file* file) {
  std::vector<Undo>& unsynced = *Own(file)->unsynced;
  const sqlite3_io_methods& methods = Methods(file);
  for (auto undo = unsynced.rbegin(); undo != unsynced.rend(); ++undo) {
    if (!undo->bytes.empty()) {
      methods.xWrite(Real(file), undo->bytes.data(),
                     static_cast<int>(undo->bytes.size()), undo->offset);
    }
    methods.xTruncate(Real(file), undo->size);
  }
}

[[noreturn]] void Die() {
  Vfs& vfs = TheVfs();
  if (vfs.faults.machine_dies) {
    for (sqlite3_file* file : vfs.open) TakeBack(file);
  }
  kill(getpid(), SIGKILL);
  while (true) pause();
}

// Whether this is the write to die in.
bool IsLastWrite() {
  Faults& faults = TheVfs().faults;
  return ++faults.num_writes == faults.die_at;
}

void Remember(sqlite3_file* file, sqlite3_int64 offset, int amount) {
  Undo undo;
  undo.offset = offset;
  ORDO_CHECK(Methods(file).xFileSize(Real(file), &undo.size) == SQLITE_OK);
  const sqlite3_int64 there = std::clamp<sqlite3_int64>(
      undo.size - offset, 0, static_cast<sqlite3_int64>(amount));
  undo.bytes.resize(static_cast<size_t>(there));
  if (there > 0) {
    ORDO_CHECK(Methods(file).xRead(Real(file), undo.bytes.data(),
                                   static_cast<int>(there),
                                   offset) == SQLITE_OK);
  }
  Own(file)->unsynced->push_back(std::move(undo));
}

int Close(sqlite3_file* file) {
  Vfs& vfs = TheVfs();
  vfs.open.erase(std::find(vfs.open.begin(), vfs.open.end(), file));
  delete Own(file)->unsynced;
  return Methods(file).xClose(Real(file));
}

int Read(sqlite3_file* file, void* to, int amount, sqlite3_int64 offset) {
  return Methods(file).xRead(Real(file), to, amount, offset);
}

int Write(sqlite3_file* file, const void* from, int amount,
          sqlite3_int64 offset) {
  if (TheVfs().faults.full) return SQLITE_FULL;
  Remember(file, offset, amount);
  if (IsLastWrite()) {
    Methods(file).xWrite(Real(file), from, amount / 2, offset);
    Die();
  }
  return Methods(file).xWrite(Real(file), from, amount, offset);
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (IsLastWrite()) Die();
  sqlite3_int64 before = 0;
  ORDO_CHECK(Methods(file).xFileSize(Real(file), &before) == SQLITE_OK);
  Remember(file, size,
           static_cast<int>(std::max<sqlite3_int64>(before - size, 0)));
  return Methods(file).xTruncate(Real(file), size);
}

int Sync(sqlite3_file* file, int flags) {
  if (IsLastWrite()) Die();
  const int code = Methods(file).xSync(Real(file), flags);
  if (code == SQLITE_OK) Own(file)->unsynced->clear();
  return code;
}

int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  return Methods(file).xFileSize(Real(file), size);
}

int Lock(sqlite3_file* file, int level) {
  return Methods(file).xLock(Real(file), level);
}

int Unlock(sqlite3_file* file, int level) {
  return Methods(file).xUnlock(Real(file), level);
}

int CheckReservedLock(sqlite3_file* file, int* result) {
  return Methods(file).xCheckReservedLock(Real(file), result);
}

int FileControl(sqlite3_file* file, int operation, void* argument) {
  return Methods(file).xFileControl(Real(file), operation, argument);
}

int SectorSize(sqlite3_file* file) {
  return Methods(file).xSectorSize(Real(file));
}

int DeviceCharacteristics(sqlite3_file* file) {
  return Methods(file).xDeviceCharacteristics(Real(file));
}

int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
  return Methods(file).xShmLock(Real(file), offset, count, flags);
}

void ShmBarrier(sqlite3_file* file) { Methods(file).xShmBarrier(Real(file)); }

int ShmUnmap(sqlite3_file* file, int remove) {
  return Methods(file).xShmUnmap(Real(file), remove);
}

int AfterOpen(int code, sqlite3_file* file) {
  if (code != SQLITE_OK) return code;
  Vfs& vfs = TheVfs();
  file->pMethods = &vfs.methods;
  Own(file)->unsynced = new std::vector<Undo>;
  vfs.open.push_back(file);
  return code;
}

int Delete(sqlite3_vfs* /*vfs*/, const char* name, int sync_folder) {
  if (IsLastWrite()) Die();
  Vfs& vfs = TheVfs();
  return vfs.real->xDelete(vfs.real, name, sync_folder);
}

void Register(Vfs* vfs) {
  vfs->real = sqlite3_vfs_find(nullptr);
  sqlite3_io_methods& methods = vfs->methods;
  // Files are not mapped: that is version 3.
  methods.iVersion = 2;
  methods.xClose = &Close;
  methods.xRead = &Read;
  methods.xWrite = &Write;
  methods.xTruncate = &Truncate;
  methods.xSync = &Sync;
  methods.xFileSize = &FileSize;
  methods.xLock = &Lock;
  methods.xUnlock = &Unlock;
  methods.xCheckReservedLock = &CheckReservedLock;
  methods.xFileControl = &FileControl;
  methods.xSectorSize = &SectorSize;
  methods.xDeviceCharacteristics = &DeviceCharacteristics;
  methods.xShmMap = [](sqlite3_file* file, int page, int page_size, int extend,
                       void volatile** result) {
    return Methods(file).xShmMap(Real(file), page, page_size, extend, result);
  };
  methods.xShmLock = &ShmLock;
  methods.xShmBarrier = &ShmBarrier;
  methods.xShmUnmap = &ShmUnmap;
  // What is left as it is calls the default VFS's own functions with this one,
  // which has its data.
  vfs->own = *vfs->real;
  vfs->own.szOsFile = static_cast<int>(sizeof(File)) + vfs->real->szOsFile;
  vfs->own.zName = "faulty";
  vfs->own.pNext = nullptr;
  vfs->own.xOpen = [](sqlite3_vfs* /*vfs*/, const char* name,
                      sqlite3_file* file, int flags, int* out_flags) {
    sqlite3_vfs& real = *TheVfs().real;
    file->pMethods = nullptr;
    return AfterOpen(real.xOpen(&real, name, Real(file), flags, out_flags),
                     file);
  };
  vfs->own.xDelete = &Delete;
  ORDO_CHECK(sqlite3_vfs_register(&vfs->own, /*makeDflt=*/0) == SQLITE_OK);
}

}  // namespace

Faults& FaultyVfs() {
  Vfs& vfs = TheVfs();
  if (vfs.real == nullptr) Register(&vfs);
  return vfs.faults;
}

}  // namespace ordo::scheduler::store::testing
