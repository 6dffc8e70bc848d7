#ifndef ORDO_SERVICES_DATA_DATA_SETS_H_
#define ORDO_SERVICES_DATA_DATA_SETS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock/clock.h"
#include "proto/ordo/data/v1/data.pb.h"
#include "services/checkpoints/uploads.h"
#include "services/files/registered_file.h"

namespace ordo::services::data {

// Below the storage root; what tasks call data/.
inline constexpr char kDataFolder[] = "data";
// Digits of the SHA-256 of a list of files that make a version.
inline constexpr size_t kVersionDigits = 16;

// What stands behind "data/": "books" for all versions, "books@<version>" for
// one.
struct DataName {
  std::string id;
  // Empty: all.
  std::string version;
};

// Of the field `name` of a request. INVALID_ARGUMENT shows the form wanted.
absl::StatusOr<DataName> ParseDataName(const std::string& name);

// Data that was pushed: <root>/data/<id>@<version>, with the list of its files
// and what else is known of it in hidden files, and <root>/data/<id>, a link to
// the version pushed last. There is no other record: what lies there counts.
//
// Thread-safe. Every call waits for the disk. ABORTED: another call is at work
// on the same data or upload; try again.
class DataSets {
 public:
  struct Parts {
    files::Storage storage;
    // Both outlive this.
    const base::Clock& clock;
    checkpoints::Uploads& uploads;
  };
  explicit DataSets(const Parts& parts) : parts_(parts) {}

  // An upload to make a version of `id` of, and who asks.
  struct Order {
    std::string upload;
    std::string id;
    std::string user;
  };
  // Does what CommitUpload says. Whatever ends the process in the middle: a
  // repeat goes on from there.
  absl::StatusOr<ordo::data::v1::Data> Commit(const Order& order);

  // By name. What cannot be read is left out, and logged.
  absl::StatusOr<std::vector<ordo::data::v1::Data>> List() const;
  // Those of the name; NOT_FOUND: there is none.
  absl::StatusOr<std::vector<ordo::data::v1::Data>> Find(
      const DataName& name) const;

  // Removes those of the name, and gives them. NOT_FOUND: there is none.
  absl::StatusOr<std::vector<ordo::data::v1::Data>> Remove(
      const DataName& name);

 private:
  // Where data lies, and what has this name in it.
  std::string Folder() const;
  std::string PathOf(const std::string& name) const;
  // Whether the id is free, or a name that a version was pushed under.
  absl::Status CheckFree(const std::string& id) const;
  // Makes the folder of a version of an upload.
  absl::Status Place(const Order& order, const std::string& folder);
  absl::StatusOr<ordo::data::v1::Data> Read(const std::string& name) const;
  bool IsCurrent(const std::string& id, const std::string& name) const;
  absl::Status RemoveOne(const std::string& id, const std::string& name);

  const Parts parts_;
};

}  // namespace ordo::services::data

#endif  // ORDO_SERVICES_DATA_DATA_SETS_H_
