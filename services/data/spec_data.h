#ifndef ORDO_SERVICES_DATA_SPEC_DATA_H_
#define ORDO_SERVICES_DATA_SPEC_DATA_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status/details.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "services/files/registered_file.h"
#include "services/spec/data_paths.h"

// The versions of data that specs name.

namespace ordo::services::data {

// Whether a spec names the version, "books@0123456789abcdef"; with `current`
// also whether it names it without its version.
bool NamesVersion(const ordo::jobs::v1::JobSpec& spec,
                  const std::string& version, bool current);

// The folders below which data may be named by its whole path; nothing: not
// known.
using DataRoots = std::optional<std::vector<std::string>>;

// Looks names of data up, for the jobs of one call: a name is one version
// throughout. Not thread-safe.
class DataVersions {
 public:
  // `find_roots` is called once, for the first whole path; null: they are not
  // known.
  explicit DataVersions(const files::Storage& storage,
                        std::function<DataRoots()> find_roots = nullptr)
      : storage_(storage), find_roots_(std::move(find_roots)) {}

  // Replaces the name of data that was pushed, with which a path begins, by the
  // version that it stands for. Appends a violation, relative to the spec, for
  // a path below data/ of the storage root at which there is nothing, with the
  // layout that is expected, or at which there are questions whose first line
  // lacks a field or, of one's own, has an unknown one, and for a whole one
  // that lies below none of the roots, as it is written: where links lead,
  // workers know. Paths that cannot be valid, and whole ones, stay.
  void Pin(ordo::jobs::v1::JobSpec* spec,
           std::vector<base::FieldViolation>* violations);

 private:
  // What is wrong, or nothing.
  std::string PinPath(const spec::DataPath& where, std::string* path);
  const std::string& VersionOf(const std::string& name);
  bool IsThere(const std::string& path);
  // The path of a file of pushed data in versions that its name does not stand
  // for, some of those that have it; empty: none has.
  std::string OtherVersionsWith(const std::string& path);
  // The first line of a file below data/ that is not blank; empty where it
  // cannot be read, or is long.
  const std::string& FirstLine(const std::string& path);
  // What is wrong with it where questions are wanted, or nothing.
  std::string LineProblem(const spec::DataPath& where, const std::string& path);
  // The same of a whole path.
  std::string RootProblem(const std::string& path);

  const files::Storage storage_;
  std::function<DataRoots()> find_roots_;
  DataRoots roots_;
  // By name, and by path.
  std::map<std::string, std::string> versions_;
  std::map<std::string, bool> there_;
  std::map<std::string, std::string> first_lines_;
};

}  // namespace ordo::services::data

#endif  // ORDO_SERVICES_DATA_SPEC_DATA_H_
