#include "services/data/data_sets.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/files/file_util.h"
#include "base/log/log.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/units/proto_time.h"
#include "model/catalog/fields.h"
#include "nlohmann/json.hpp"
#include "services/data/data_check.h"

namespace ordo::services::data {
namespace {

using ordo::checkpoints::v1::Upload;
using ordo::checkpoints::v1::UploadFile;
using ordo::data::v1::Data;
using Json = nlohmann::ordered_json;

// What is known of a version beside the list of its files.
constexpr char kAboutFile[] = ".data.json";
constexpr size_t kMaxAboutBytes = 64 << 10;
// Before the name of a folder that is being removed, among the uploads: what a
// dead process leaves of it is removed as they are.
constexpr char kRemoved[] = "uploads/removed-";

bool IsVersion(const std::string& text) {
  return text.size() == kVersionDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// "books" and a version of "books@..."; nothing for other names.
absl::StatusOr<DataName> ParseFolder(const std::string& folder) {
  const std::vector<std::string> parts = absl::StrSplit(folder, '@');
  if (parts.size() != 2 || !model::catalog::IsId(parts[0]) ||
      !IsVersion(parts[1])) {
    return absl::NotFoundError(folder + " is no version of data");
  }
  return DataName{parts[0], parts[1]};
}

std::string AboutText(const DataSets::Order& order, const Upload& list,
                      absl::Time now) {
  int64_t size = 0;
  for (const UploadFile& file : list.files()) size += file.size_bytes();
  Json about;
  about["sha256"] = order.upload;
  about["files"] = list.files_size();
  about["size_bytes"] = size;
  about["pushed_by"] = order.user;
  about["create_time"] =
      absl::FormatTime(absl::RFC3339_full, now, absl::UTCTimeZone());
  // A user's name is only claimed.
  return about.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::StatusOr<Data> ParseAbout(const std::string& text) {
  const Json about = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  absl::Time created;
  if (!about.is_object() || !about.contains("sha256") ||
      !about["sha256"].is_string() || !about.contains("files") ||
      !about["files"].is_number_integer() || !about.contains("size_bytes") ||
      !about["size_bytes"].is_number_integer() ||
      !about.contains("pushed_by") || !about["pushed_by"].is_string() ||
      !about.contains("create_time") || !about["create_time"].is_string() ||
      !absl::ParseTime(absl::RFC3339_full,
                       about["create_time"].get<std::string>(), &created,
                       nullptr)) {
    return absl::DataLossError("is not what was written there");
  }
  Data data;
  data.set_sha256(about["sha256"].get<std::string>());
  data.set_file_count(about["files"].get<int64_t>());
  data.set_size_bytes(about["size_bytes"].get<int64_t>());
  data.set_pushed_by(about["pushed_by"].get<std::string>());
  *data.mutable_create_time() = base::ToTimestamp(created);
  return data;
}

}  // namespace

absl::StatusOr<DataName> ParseDataName(const std::string& name) {
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  if (parts.size() == 2 && parts[0] == kDataFolder) {
    if (model::catalog::IsId(parts[1])) return DataName{parts[1], ""};
    auto version = ParseFolder(parts[1]);
    if (version.ok()) return version;
  }
  return base::InvalidField(
      "name", absl::StrCat(name.empty() ? "required; " : "",
                           "must be of the form data/{data} or "
                           "data/{data}@{version}, as `ordo list data` "
                           "shows them"));
}

std::string DataSets::Folder() const {
  return base::JoinPath(parts_.storage.root, kDataFolder);
}

std::string DataSets::PathOf(const std::string& name) const {
  return base::JoinPath(Folder(), name);
}

absl::Status DataSets::CheckFree(const std::string& id) const {
  const auto target = parts_.storage.files.ReadLink(PathOf(id));
  if (absl::IsNotFound(target.status())) return absl::OkStatus();
  if (target.ok() && absl::StartsWith(*target, id + "@")) {
    return absl::OkStatus();
  }
  if (!target.ok() && !absl::IsFailedPrecondition(target.status())) {
    return target.status();
  }
  return absl::AlreadyExistsError(
      absl::StrCat("data_id: data/", id,
                   " of the storage root was not pushed, but put there by "
                   "hand; choose another name, or remove it"));
}

bool DataSets::IsCurrent(const std::string& id, const std::string& name) const {
  const auto target = parts_.storage.files.ReadLink(PathOf(id));
  return target.ok() && *target == name;
}

absl::StatusOr<Data> DataSets::Read(const std::string& name) const {
  const std::string path = base::JoinPath(PathOf(name), kAboutFile);
  ORDO_ASSIGN_OR_RETURN(
      const std::string text,
      base::ReadFile(parts_.storage.files, path, kMaxAboutBytes));
  ORDO_ASSIGN_OR_RETURN(Data data, base::AddContext(ParseAbout(text), path));
  data.set_name(absl::StrCat(kDataFolder, "/", name));
  data.set_current(IsCurrent(name.substr(0, name.find('@')), name));
  return data;
}

absl::Status DataSets::Place(const Order& order, const std::string& folder) {
  checkpoints::Uploads& uploads = parts_.uploads;
  ORDO_ASSIGN_OR_RETURN(const Upload list,
                        uploads.Complete(order.upload, Upload::DATA));
  const std::string upload = uploads.FolderOf(order.upload);
  ORDO_RETURN_IF_ERROR(CheckDataFiles(parts_.storage.files, upload, list));
  ORDO_RETURN_IF_ERROR(base::AtomicWrite(
      parts_.storage.files, base::JoinPath(upload, kAboutFile),
      AboutText(order, list, parts_.clock.Now())));
  return uploads.Move(upload, folder);
}

absl::StatusOr<Data> DataSets::Commit(const Order& order) {
  ORDO_ASSIGN_OR_RETURN(
      const auto hold,
      parts_.uploads.Take({"uploads/" + order.upload, "data/" + order.id}));
  ORDO_RETURN_IF_ERROR(CheckFree(order.id));
  base::Filesystem& files = parts_.storage.files;
  const std::string name =
      absl::StrCat(order.id, "@", order.upload.substr(0, kVersionDigits));
  const std::string folder = PathOf(name);
  if (!base::Exists(files, folder)) {
    ORDO_RETURN_IF_ERROR(Place(order, folder));
  }
  ORDO_ASSIGN_OR_RETURN(const Data there, Read(name));
  if (there.sha256() != order.upload) {
    return absl::AlreadyExistsError(
        absl::StrCat(there.name(), " is of other files (", there.sha256(),
                     "); choose another name"));
  }
  if (!there.current()) {
    ORDO_RETURN_IF_ERROR(files.ReplaceLink(name, PathOf(order.id)));
    ORDO_RETURN_IF_ERROR(files.SyncFolder(Folder()));
  }
  return Read(name);
}

absl::StatusOr<std::vector<Data>> DataSets::List() const {
  const auto names = parts_.storage.files.List(Folder());
  if (absl::IsNotFound(names.status())) return std::vector<Data>();
  ORDO_RETURN_IF_ERROR(names);
  std::vector<Data> all;
  for (const std::string& name : *names) {
    if (!ParseFolder(name).ok()) continue;
    auto data = Read(name);
    if (data.ok()) {
      all.push_back(*std::move(data));
    } else if (!absl::IsNotFound(data.status())) {
      base::LogWarning("data that was pushed cannot be read",
                       {{"name", name}, {"error", data.status()}});
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Data& a, const Data& b) { return a.name() < b.name(); });
  return all;
}

absl::StatusOr<std::vector<Data>> DataSets::Find(const DataName& name) const {
  ORDO_ASSIGN_OR_RETURN(std::vector<Data> all, List());
  const std::string wanted =
      absl::StrCat(kDataFolder, "/", name.id, "@", name.version);
  std::vector<Data> found;
  for (Data& data : all) {
    if (name.version.empty() ? absl::StartsWith(data.name(), wanted)
                             : data.name() == wanted) {
      found.push_back(std::move(data));
    }
  }
  if (!found.empty()) return found;
  return absl::NotFoundError(absl::StrCat(
      "there is no data ", name.id, name.version.empty() ? "" : "@",
      name.version, " that was pushed; see: ordo list data"));
}

absl::Status DataSets::RemoveOne(const std::string& id,
                                 const std::string& name) {
  base::Filesystem& files = parts_.storage.files;
  const std::string aside =
      base::JoinPath(parts_.storage.root, absl::StrCat(kRemoved, name));
  // First, so that the name never stands for what is half gone.
  if (IsCurrent(id, name)) ORDO_RETURN_IF_ERROR(files.RemoveFile(PathOf(id)));
  ORDO_RETURN_IF_ERROR(files.MakeFolders(base::FolderOf(aside)));
  ORDO_RETURN_IF_ERROR(files.RemoveTree(aside));
  ORDO_RETURN_IF_ERROR(files.Rename(PathOf(name), aside));
  ORDO_RETURN_IF_ERROR(files.SyncFolder(Folder()));
  const absl::Status status = files.RemoveTree(aside);
  if (!status.ok()) {
    base::LogWarning("data that was deleted could not be removed",
                     {{"name", name}, {"error", status}});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Data>> DataSets::Remove(const DataName& name) {
  ORDO_ASSIGN_OR_RETURN(const auto hold,
                        parts_.uploads.Take({"data/" + name.id}));
  ORDO_ASSIGN_OR_RETURN(std::vector<Data> found, Find(name));
  for (const Data& data : found) {
    ORDO_RETURN_IF_ERROR(RemoveOne(name.id, base::NameOf(data.name())));
  }
  return found;
}

}  // namespace ordo::services::data
