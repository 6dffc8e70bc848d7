#include "services/checkpoints/upload_list.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/formats/config_file.h"
#include "nlohmann/json.hpp"

namespace ordo::services::checkpoints {
namespace {

using Json = nlohmann::ordered_json;
using model::formats::kConfigFile;
using ordo::checkpoints::v1::Upload;
using ordo::checkpoints::v1::UploadFile;

constexpr int kFormat = 1;
// Of a manifest of data; one of a checkpoint says no kind.
constexpr char kDataKind[] = "data";
constexpr size_t kSha256HexLength = 64;
constexpr size_t kMaxNameLength = 255;
constexpr size_t kMaxShownLength = 200;

bool IsSha256(const std::string& text) {
  return text.size() == kSha256HexLength &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void CheckFile(const std::string& field, const UploadFile& file,
               std::vector<base::FieldViolation>* violations) {
  if (!IsUploadFile(file.path())) {
    violations->push_back(
        {field + ".path",
         absl::StrCat("must be config.json, state.json, ", kIndexFile,
                      " or a .safetensors file, without a folder, is '",
                      file.path().substr(0, kMaxShownLength),
                      "'; leave other files out")});
  }
  CheckFileFacts(field, file, violations);
}

bool IsFile(const Json& file) {
  return file.is_object() && file.contains("path") &&
         file["path"].is_string() && file.contains("size_bytes") &&
         file["size_bytes"].is_number_integer() && file.contains("sha256") &&
         file["sha256"].is_string();
}

}  // namespace

void CheckFileFacts(const std::string& field, const UploadFile& file,
                    std::vector<base::FieldViolation>* violations) {
  if (file.size_bytes() < 1 || file.size_bytes() > kMaxUploadFileBytes) {
    violations->push_back(
        {field + ".size_bytes", absl::StrCat("must be 1..", kMaxUploadFileBytes,
                                             ", is ", file.size_bytes())});
  }
  if (!IsSha256(file.sha256())) {
    violations->push_back(
        {field + ".sha256", "must be 64 lower-case hexadecimal digits"});
  }
}

const char* ManifestFileOf(const Upload& upload) {
  return upload.kind() == Upload::DATA ? kDataManifestFile : kManifestFile;
}

bool IsUploadFile(const std::string& name) {
  if (name == kConfigFile || name == kIndexFile || name == kStateFile) {
    return true;
  }
  return absl::EndsWith(name, ".safetensors") &&
         name.size() <= kMaxNameLength && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  c == '-' || c == '_' || c == '.';
         });
}

absl::Status CheckUploadList(const Upload& upload) {
  if (upload.files().empty() || upload.files_size() > kMaxUploadFiles) {
    return base::InvalidField(
        "upload.files", absl::StrCat("must have 1..", kMaxUploadFiles,
                                     " entries, has ", upload.files_size()));
  }
  std::vector<base::FieldViolation> violations;
  std::set<std::string> paths;
  for (int i = 0; i < upload.files_size(); ++i) {
    const std::string field = absl::StrCat("upload.files[", i, "]");
    CheckFile(field, upload.files(i), &violations);
    if (!paths.insert(upload.files(i).path()).second) {
      violations.push_back({field + ".path", "is there twice"});
    }
  }
  if (paths.count(kConfigFile) == 0) {
    violations.push_back({"upload.files",
                          "config.json is missing, which says what model the "
                          "weights are of"});
  }
  if ((paths.count(kWeightsFile) > 0) == (paths.count(kIndexFile) > 0)) {
    violations.push_back(
        {"upload.files", absl::StrCat("must have either ", kWeightsFile, " or ",
                                      kIndexFile, " with its files")});
  }
  return base::InvalidFields(violations);
}

std::string ManifestText(const Upload& upload) {
  std::vector<const UploadFile*> files;
  for (const UploadFile& file : upload.files()) files.push_back(&file);
  std::sort(files.begin(), files.end(),
            [](const UploadFile* a, const UploadFile* b) {
              return a->path() < b->path();
            });
  Json manifest;
  manifest["format"] = kFormat;
  if (upload.kind() == Upload::DATA) manifest["kind"] = kDataKind;
  manifest["files"] = Json::array();
  for (const UploadFile* file : files) {
    manifest["files"].push_back({{"path", file->path()},
                                 {"size_bytes", file->size_bytes()},
                                 {"sha256", file->sha256()}});
  }
  return manifest.dump(2) + "\n";
}

absl::StatusOr<Upload> ParseManifest(const std::string& text) {
  const Json manifest = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!manifest.is_object() || !manifest.contains("files") ||
      !manifest["files"].is_array()) {
    return absl::DataLossError("the manifest has no list 'files'");
  }
  Upload upload;
  if (manifest.contains("kind") && manifest["kind"] == Json(kDataKind)) {
    upload.set_kind(Upload::DATA);
  }
  for (const Json& file : manifest["files"]) {
    if (!IsFile(file)) {
      return absl::DataLossError(
          absl::StrCat("the manifest has a strange file: ", file.dump()));
    }
    UploadFile& added = *upload.add_files();
    added.set_path(file["path"].get<std::string>());
    added.set_size_bytes(file["size_bytes"].get<int64_t>());
    added.set_sha256(file["sha256"].get<std::string>());
  }
  return upload;
}

}  // namespace ordo::services::checkpoints
