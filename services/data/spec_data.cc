#include "services/data/spec_data.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "services/data/data_check.h"
#include "services/data/data_sets.h"
#include "services/spec/data_paths.h"

namespace ordo::services::data {

using ordo::jobs::v1::JobSpec;

bool NamesVersion(const JobSpec& spec, const std::string& version,
                  bool current) {
  if (!spec::NamesData(spec)) return false;
  const std::string id = version.substr(0, version.find('@'));
  JobSpec visited;
  *visited.mutable_data() = spec.data();
  *visited.mutable_evaluations() = spec.evaluations();
  bool names = false;
  spec::VisitDataPaths(&visited, [&](const std::string&, std::string* path) {
    const std::string first = path->substr(0, path->find('/'));
    names = names || first == version || (current && first == id);
  });
  return names;
}

const std::string& DataVersions::VersionOf(const std::string& name) {
  const auto known = versions_.find(name);
  if (known != versions_.end()) return known->second;
  const auto target = storage_.files.ReadLink(
      base::JoinPath(base::JoinPath(storage_.root, kDataFolder), name));
  const bool is_name = target.ok() && absl::StartsWith(*target, name + "@");
  return versions_[name] = is_name ? *target : name;
}

bool DataVersions::IsThere(const std::string& path) {
  const auto known = there_.find(path);
  if (known != there_.end()) return known->second;
  // Of what cannot be looked at now, workers say what is wrong.
  const bool is_there = !absl::IsNotFound(
      storage_.files
          .Stat(
              base::JoinPath(base::JoinPath(storage_.root, kDataFolder), path))
          .status());
  return there_[path] = is_there;
}

std::string DataVersions::PinPath(std::string* path) {
  if (!DataPathProblem(*path).empty()) return "";
  const std::string name = path->substr(0, path->find('/'));
  const std::string pinned = VersionOf(name) + path->substr(name.size());
  if (IsThere(pinned)) {
    *path = pinned;
    return "";
  }
  return absl::StrCat(
      "there is no ", kDataFolder, "/", pinned,
      " below the storage root (see: ordo list data). Push it with `ordo push "
      "data PATH`, or put it there: a file or folder of UTF-8 text, JSON lines "
      "or token files (x.bin with x.bin.json), each also as .gz or .zst; a "
      "tokenizer.json or a .model");
}

void DataVersions::Pin(JobSpec* spec,
                       std::vector<base::FieldViolation>* violations) {
  spec::VisitDataPaths(spec, [&](const std::string& field, std::string* path) {
    std::string problem = PinPath(path);
    if (!problem.empty()) violations->push_back({field, std::move(problem)});
  });
}

}  // namespace ordo::services::data
