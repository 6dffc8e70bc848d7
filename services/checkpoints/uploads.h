#ifndef ORDO_SERVICES_CHECKPOINTS_UPLOADS_H_
#define ORDO_SERVICES_CHECKPOINTS_UPLOADS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/mutex.h"
#include "proto/ordo/checkpoints/v1/checkpoints.pb.h"
#include "services/checkpoints/folder_check.h"
#include "services/files/registered_file.h"

namespace ordo::services::checkpoints {

// An upload that nobody has written to for so long is removed.
inline constexpr absl::Duration kUploadLifetime = absl::Hours(24);
inline constexpr size_t kMaxWriteBytes = 1 << 20;
// Of a message with all that is in it.
inline constexpr size_t kMaxWriteMessageBytes = kMaxWriteBytes + (64 << 10);

// INVALID_ARGUMENT when `data` is empty or too long, or what is beside it is.
// Asks no disk.
absl::Status CheckWriteSize(
    const ordo::checkpoints::v1::WriteUploadRequest& request);

// Folders on their way in: <root>/uploads/<id>, where the id is the SHA-256 of
// the manifest, which lies there from the start. All state is in the files:
// whoever knows the list of files can go on, after a restart of either side
// too. Bytes count as durable once Complete or Place has returned.
//
// Thread-safe. Every call waits for the disk. ABORTED: another call is at work
// on the same upload, job or data; try again.
class Uploads {
 public:
  // `clock` outlives this.
  Uploads(const files::Storage& storage, const base::Clock& clock)
      : storage_(storage), clock_(clock) {}

  // The upload with its name and how much of each file is there; makes it if
  // there is none. Its kind is set and its list checked. RESOURCE_EXHAUSTED
  // when what is missing has no room; INVALID_ARGUMENT when the text of its
  // list is too long.
  absl::StatusOr<ordo::checkpoints::v1::Upload> Create(
      ordo::checkpoints::v1::Upload upload);

  // How many bytes of the file are there now.
  absl::StatusOr<int64_t> Write(
      const ordo::checkpoints::v1::WriteUploadRequest& request);

  // What one caller has for itself while it lives, by resource names:
  // "uploads/<id>", "jobs/<id>", "data/<id>".
  class Hold;
  absl::StatusOr<std::shared_ptr<Hold>> Take(
      const std::set<std::string>& names);

  // Of an upload of this kind, whose files are there, are what their digests
  // say, and are durable: its list. FAILED_PRECONDITION: bytes are missing.
  // DATA_LOSS: a digest differs, and the bytes of that file are dropped.
  // NOT_FOUND: there is no such upload. INVALID_ARGUMENT: it is of another
  // kind.
  absl::StatusOr<ordo::checkpoints::v1::Upload> Complete(
      const std::string& id, ordo::checkpoints::v1::Upload::Kind kind);
  // The folder of an upload.
  std::string FolderOf(const std::string& id) const;
  // Renames a folder below the storage root and makes that durable, up to the
  // root. What lies at `to` is removed.
  absl::Status Move(const std::string& from, const std::string& to);

  // A folder in its place, durable, about to be registered.
  struct Placed {
    ordo::checkpoints::v1::Checkpoint checkpoint;
    FolderContents contents;
  };
  // Completes an upload of a checkpoint and renames its folder to
  // jobs/<job>/checkpoints/<step>-0, of which there is no record yet. When an
  // earlier call has come so far, that is what it gives. Errors as Complete.
  absl::StatusOr<Placed> Place(const std::string& id, const std::string& job);
  // Makes a placed folder an upload again, since its job could not be made.
  absl::Status TakeBack(const std::string& id, const std::string& job,
                        const Placed& placed);

  // Removes uploads older than kUploadLifetime.
  void RemoveStale();

  // Ends a Place at work, and each later one, with UNAVAILABLE while it reads
  // the files, since that takes minutes and its caller comes back.
  void Stop() { stopped_ = true; }

 private:
  using ListPtr = std::shared_ptr<const ordo::checkpoints::v1::Upload>;

  absl::StatusOr<ordo::checkpoints::v1::Upload> ReadList(
      const std::string& folder, const std::string& id) const;
  // The same of an upload, from memory where it was the last one asked for: a
  // long list takes longer to read than a small file to write.
  absl::StatusOr<ListPtr> ListOf(const std::string& id);
  absl::StatusOr<int64_t> HeldBytes(const std::string& path) const;
  absl::Status CheckRoom(const ordo::checkpoints::v1::Upload& upload) const;
  absl::StatusOr<std::string> Digest(const std::string& path) const;
  absl::Status CheckDigests(const std::string& folder,
                            const ordo::checkpoints::v1::Upload& list);
  // The folder that an earlier Place has left; NOT_FOUND when none has.
  absl::StatusOr<std::string> FindPlaced(const std::string& id,
                                         const std::string& job) const;
  absl::StatusOr<Placed> Describe(const std::string& folder,
                                  const std::string& id) const;
  // Makes files and their folders durable.
  absl::Status Sync(const std::string& folder,
                    const ordo::checkpoints::v1::Upload& list);
  // The newest change in a folder and below it.
  absl::Time LastWrite(const std::string& folder) const;

  const files::Storage storage_;
  const base::Clock& clock_;
  std::atomic<bool> stopped_{false};
  base::Mutex mutex_;
  // Resource names of what calls are at work on.
  std::set<std::string> held_ ORDO_GUARDED_BY(mutex_);
  // Of the upload that was asked for last; its name is set.
  ListPtr last_list_ ORDO_GUARDED_BY(mutex_);
};

class Uploads::Hold {
 public:
  // `uploads` outlives this.
  Hold(Uploads& uploads, std::set<std::string> names)
      : uploads_(uploads), names_(std::move(names)) {}
  ~Hold() { Release(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  // Ends it before it goes, with all that share it.
  void Release();

 private:
  Uploads& uploads_;
  std::set<std::string> names_;
};

}  // namespace ordo::services::checkpoints

#endif  // ORDO_SERVICES_CHECKPOINTS_UPLOADS_H_
