#include "services/data/spec_data.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "base/text/nearest.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"
#include "model/catalog/catalog.h"
#include "model/text/questions/layouts.h"
#include "services/data/data_check.h"
#include "services/data/data_sets.h"

namespace ordo::services::data {

using ordo::jobs::v1::JobSpec;

namespace {

namespace questions = ordo::model::text::questions;

// A longer first line of questions is not looked at.
constexpr size_t kMaxFirstLineBytes = 64 << 10;

// The format of the file of questions or answers at a path; nothing: it is to
// be something else.
std::optional<std::string> FormatAt(const spec::DataPath& where) {
  const bool is_scrolls = where.task.name == "scrolls";
  if (where.param.name == "tokenizer" ||
      (where.task.name != "questions" && !is_scrolls)) {
    return std::nullopt;
  }
  const model::catalog::Param& param =
      *model::catalog::FindParam(where.task, is_scrolls ? "set" : "format");
  const auto given = where.params.find(param.name);
  return given == where.params.end() ? param.choices.front()
                                     : given->second.string_value();
}

// What should lie at a path, for people.
std::string LayoutAt(const spec::DataPath& where) {
  if (where.param.name == "tokenizer") {
    return "a tokenizer.json (byte-level BPE), or a file of SentencePiece "
           "whose name ends in .model";
  }
  const std::optional<std::string> format = FormatAt(where);
  if (!format.has_value()) {
    return "a file or folder of UTF-8 text, JSON lines or token files (x.bin "
           "with x.bin.json), each also as .gz or .zst";
  }
  return absl::StrCat(
      "a file of JSON lines, also as .gz or .zst, each line of which is ",
      questions::LineLayout(*format));
}

// What is wrong with the fields of the first line of questions, or nothing.
// Other values, and what cannot be read here, such as compressed files, the
// trainer checks.
std::string FieldProblem(const std::string& line, const std::string& format) {
  google::protobuf::Struct object;
  if (!absl::StartsWith(line, "{") ||
      !base::ReadMessage(line, base::TextForm::kJson, &object).ok()) {
    return "";
  }
  for (const std::string& name : questions::NeededFields(format)) {
    if (object.fields().count(name) == 0) {
      return absl::StrCat("its first line has no field '", name, "'");
    }
  }
  if (format != "own") return "";
  const std::vector<std::string>& known = questions::FirstLineFields();
  std::set<std::string> names;
  for (const auto& field : object.fields()) names.insert(field.first);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return absl::StrCat("its first line must not have a field '", name, "'",
                          base::SuggestName(name, known));
    }
  }
  const auto& metric = object.fields().at("metric");
  const std::vector<std::string>& metrics = questions::MetricNames();
  if (metric.has_string_value() &&
      std::count(metrics.begin(), metrics.end(), metric.string_value()) == 0) {
    return absl::StrCat("its first line has '", metric.string_value(),
                        "', which is no metric",
                        base::SuggestName(metric.string_value(), metrics));
  }
  return "";
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

const std::string& DataVersions::FirstLine(const std::string& path) {
  const auto [known, is_new] = first_lines_.emplace(path, "");
  std::string& line = known->second;
  if (!is_new) return line;
  const auto file = storage_.files.OpenForRead(
      base::JoinPath(base::JoinPath(storage_.root, kDataFolder), path));
  if (!file.ok()) return line;
  const auto begin = (*file)->ReadAt(0, kMaxFirstLineBytes);
  if (!begin.ok()) return line;
  const size_t start = begin->find_first_not_of(" \t\r\n");
  if (start == std::string::npos) return line;
  const size_t end = begin->find('\n', start);
  const bool is_cut =
      end == std::string::npos && begin->size() == kMaxFirstLineBytes;
  if (!is_cut) line = begin->substr(start, end - start);
  return line;
}

std::string DataVersions::LineProblem(const spec::DataPath& where,
                                      const std::string& path) {
  const std::optional<std::string> format = FormatAt(where);
  if (!format.has_value()) return "";
  const std::string problem = FieldProblem(FirstLine(path), *format);
  if (problem.empty()) return "";
  return absl::StrCat(kDataFolder, "/", path, ": ", problem, "; it must be ",
                      LayoutAt(where));
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
    return LineProblem(where, pinned);
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
