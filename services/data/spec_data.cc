#include "services/data/spec_data.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "model/catalog/catalog.h"
#include "model/text/questions/layouts.h"
#include "services/data/data_check.h"
#include "services/data/data_sets.h"

namespace ordo::services::data {

using ordo::jobs::v1::JobSpec;

namespace {

// What should lie at a path, for people.
std::string LayoutAt(const spec::DataPath& where) {
  if (where.param.name == "tokenizer") {
    return "a tokenizer.json (byte-level BPE), or a file of SentencePiece "
           "whose name ends in .model";
  }
  const bool is_scrolls = where.task.name == "scrolls";
  if (where.task.name != "questions" && !is_scrolls) {
    return "a file or folder of UTF-8 text, JSON lines or token files (x.bin "
           "with x.bin.json), each also as .gz or .zst";
  }
  const model::catalog::Param& param =
      *model::catalog::FindParam(where.task, is_scrolls ? "set" : "format");
  const auto given = where.params.find(param.name);
  const std::string name = given == where.params.end()
                               ? param.choices.front()
                               : given->second.string_value();
  return absl::StrCat(
      "a file of JSON lines, also as .gz or .zst, each line of which is ",
      model::text::questions::LineLayout(name));
}

}  // namespace

bool NamesVersion(const JobSpec& spec, const std::string& version,
                  bool current) {
  if (!spec::NamesData(spec)) return false;
  const std::string id = version.substr(0, version.find('@'));
  JobSpec visited;
  *visited.mutable_data() = spec.data();
  *visited.mutable_evaluations() = spec.evaluations();
  bool names = false;
  spec::VisitDataPaths(&visited, [&](const spec::DataPath&, std::string* path) {
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

std::string DataVersions::RootProblem(const std::string& path) {
  if (find_roots_ != nullptr) {
    roots_ = find_roots_();
    find_roots_ = nullptr;
  }
  if (!roots_.has_value()) return "";
  for (const std::string& root : *roots_) {
    if (root == "/" || path == root || absl::StartsWith(path, root + "/")) {
      return "";
    }
  }
  return absl::StrCat(
      path, " is outside of what any worker may read (",
      roots_->empty() ? "nothing" : absl::StrJoin(*roots_, ", "),
      "): push it with `ordo push data PATH`, name it as it lies below one of "
      "these, or have an administrator add its folder to the data_roots of a "
      "worker (ordo up --data-root FOLDER)");
}

std::string DataVersions::OtherVersionsWith(const std::string& path) {
  constexpr size_t kMaxNamed = 3;
  const std::string folder = base::JoinPath(storage_.root, kDataFolder);
  const size_t end = path.find('/');
  if (end == std::string::npos) return "";
  const auto names = storage_.files.List(folder);
  if (!names.ok()) return "";
  std::vector<std::string> found;
  for (const std::string& name : *names) {
    if (!absl::StartsWith(name, path.substr(0, end) + "@")) continue;
    std::string other = name + path.substr(end);
    if (!storage_.files.Stat(base::JoinPath(folder, other)).ok()) continue;
    found.push_back(std::move(other));
    if (found.size() == kMaxNamed) break;
  }
  return absl::StrJoin(found, ", ");
}

std::string DataVersions::PinPath(const spec::DataPath& where,
                                  std::string* path) {
  if (path->front() == '/') return RootProblem(*path);
  if (!DataPathProblem(*path).empty()) return "";
  const std::string name = path->substr(0, path->find('/'));
  const std::string pinned = VersionOf(name) + path->substr(name.size());
  if (IsThere(pinned)) {
    *path = pinned;
    return "";
  }
  if (const std::string others = OtherVersionsWith(*path); !others.empty()) {
    return absl::StrCat(
        "there is no ", kDataFolder, "/", pinned, ": ", name,
        " has had other files since it was pushed again. Another version has "
        "it, so name that: ",
        others,
        "; or push both files in one folder, or by names of their own "
        "(ordo push data PATH --name NAME)");
  }
  return absl::StrCat(
      "there is no ", kDataFolder, "/", pinned,
      " below the storage root (see: ordo list data). Push it with `ordo push "
      "data PATH`, or put it there: ",
      LayoutAt(where));
}

void DataVersions::Pin(JobSpec* spec,
                       std::vector<base::FieldViolation>* violations) {
  spec::VisitDataPaths(
      spec, [&](const spec::DataPath& where, std::string* path) {
        std::string problem = PinPath(where, path);
        if (problem.empty()) return;
        violations->push_back({where.field, std::move(problem)});
      });
}

}  // namespace ordo::services::data
