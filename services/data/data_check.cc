#include "services/data/data_check.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/text/json_depth.h"
#include "nlohmann/json.hpp"
#include "services/checkpoints/upload_list.h"

namespace ordo::services::data {
namespace {

using ordo::checkpoints::v1::Upload;
using ordo::checkpoints::v1::UploadFile;
using Json = nlohmann::json;

constexpr size_t kMaxPartBytes = 255;
constexpr size_t kMaxInfoBytes = 1 << 20;
// What they begin with; zstd may put frames first that are skipped, of which
// the lowest four bits are free.
constexpr absl::string_view kGzip = "\x1f\x8b";
constexpr absl::string_view kZstd = "\x28\xb5\x2f\xfd";
constexpr absl::string_view kSkipped = "\x2a\x4d\x18";

bool IsUtf8(const std::string& text) {
  const std::string dumped =
      Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(dumped, nullptr, /*allow_exceptions=*/false) == Json(text);
}

// "x.bin" of "x.bin.gz".
std::string WithoutCompression(const std::string& path) {
  for (const char* const suffix : {".gz", ".zst"}) {
    if (absl::EndsWith(path, suffix)) {
      return path.substr(0, path.size() - std::string_view(suffix).size());
    }
  }
  return path;
}

// A folder of `path` that is a file of `paths`; empty: none.
std::string FileAbove(const std::set<std::string>& paths,
                      const std::string& path) {
  for (size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    if (paths.count(folder) > 0) return folder;
  }
  return "";
}

absl::Status Refuse(const std::string& path, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

absl::StatusOr<std::string> BeginningOf(base::Filesystem& files,
                                        const std::string& path) {
  ORDO_ASSIGN_OR_RETURN(const auto file, files.OpenForRead(path));
  return file->ReadAt(0, kZstd.size());
}

absl::Status CheckCompression(base::Filesystem& files,
                              const std::string& folder,
                              const std::string& path) {
  const bool gzip = absl::EndsWith(path, ".gz");
  if (!gzip && !absl::EndsWith(path, ".zst")) return absl::OkStatus();
  ORDO_ASSIGN_OR_RETURN(const std::string begin,
                        BeginningOf(files, base::JoinPath(folder, path)));
  if (gzip) {
    if (absl::StartsWith(begin, kGzip)) return absl::OkStatus();
    return Refuse(path,
                  "is no gzip file, as its name says; compress or rename it");
  }
  const bool skipped = begin.size() == kZstd.size() &&
                       (static_cast<uint8_t>(begin[0]) & 0xF0) == 0x50 &&
                       absl::EndsWith(begin, kSkipped);
  if (begin == kZstd || skipped) return absl::OkStatus();
  return Refuse(path,
                "is no zstd file, as its name says; compress or rename it");
}

absl::Status CheckTokens(base::Filesystem& files, const std::string& folder,
                         const UploadFile& file) {
  const std::string info_path = TokenInfoOf(file.path());
  if (info_path.empty()) return absl::OkStatus();
  ORDO_ASSIGN_OR_RETURN(
      const std::string text,
      base::ReadFile(files, base::JoinPath(folder, info_path), kMaxInfoBytes));
  if (base::NestsTooDeep(text)) {
    return Refuse(info_path, "is nested too deep");
  }
  const Json info = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const Json type = info.is_object() ? info.value("dtype", Json()) : Json();
  const Json tokens = info.is_object() ? info.value("tokens", Json()) : Json();
  if ((type != Json("uint16") && type != Json("uint32")) ||
      !tokens.is_number_unsigned()) {
    return Refuse(info_path,
                  R"(must be like {"dtype": "uint16", "tokens": 1048576, )"
                  R"("tokenizer_sha256": "9f86..."})");
  }
  // How many bytes that is, compressed, nobody knows.
  if (WithoutCompression(file.path()) != file.path()) return absl::OkStatus();
  const uint64_t width = type == Json("uint16") ? 2 : 4;
  const auto num_tokens = tokens.get<uint64_t>();
  const auto size = static_cast<uint64_t>(file.size_bytes());
  if (size % width == 0 && size / width == num_tokens) return absl::OkStatus();
  return Refuse(file.path(),
                absl::StrCat("has ", size, " bytes, and ", info_path, " says ",
                             num_tokens, " tokens of ", width, " bytes"));
}

}  // namespace

std::string DataPathProblem(const std::string& path) {
  if (path.empty()) return "must not be empty";
  if (path.size() > kMaxDataPathBytes) {
    return absl::StrCat("has ", path.size(), " bytes; at most ",
                        kMaxDataPathBytes);
  }
  if (!IsUtf8(path)) return "is not UTF-8; rename the file";
  if (std::any_of(path.begin(), path.end(), [](char c) {
        return absl::ascii_iscntrl(static_cast<unsigned char>(c));
      })) {
    return "has control characters; rename the file";
  }
  for (const absl::string_view part : absl::StrSplit(path, '/')) {
    if (part.size() > kMaxPartBytes) {
      return absl::StrCat("'", path, "' has a part of ", part.size(),
                          " bytes; at most ", kMaxPartBytes);
    }
    if (!part.empty() && part.front() != '.') continue;
    return absl::StrCat("'", path,
                        "' must be relative, and no part of it empty or "
                        "beginning with a dot");
  }
  return "";
}

std::string TokenInfoOf(const std::string& path) {
  const std::string plain = WithoutCompression(path);
  return absl::EndsWith(plain, ".bin") ? plain + ".json" : "";
}

absl::Status CheckDataList(const Upload& upload) {
  if (upload.files().empty() || upload.files_size() > kMaxDataFiles) {
    return base::InvalidField(
        "upload.files",
        absl::StrCat("must have 1..", kMaxDataFiles, " entries, has ",
                     upload.files_size(),
                     upload.files().empty()
                         ? ""
                         : "; put more into one file, as lines or JSON lines"));
  }
  std::set<std::string> paths;
  for (const UploadFile& file : upload.files()) paths.insert(file.path());
  std::vector<base::FieldViolation> violations;
  std::set<std::string> seen;
  for (int i = 0; i < upload.files_size(); ++i) {
    const UploadFile& file = upload.files(i);
    const std::string field = absl::StrCat("upload.files[", i, "]");
    std::string problem = DataPathProblem(file.path());
    const std::string above = FileAbove(paths, file.path());
    const std::string info = TokenInfoOf(file.path());
    if (problem.empty() && !seen.insert(file.path()).second) {
      problem = "is there twice";
    } else if (problem.empty() && !above.empty()) {
      problem = absl::StrCat("'", file.path(), "' lies in '", above,
                             "', which is a file too");
    } else if (problem.empty() && !info.empty() && paths.count(info) == 0) {
      problem = absl::StrCat("'", file.path(), "' is a token file, and '", info,
                             "' is missing, which says its dtype, tokens and "
                             "tokenizer_sha256");
    }
    if (!problem.empty()) violations.push_back({field + ".path", problem});
    checkpoints::CheckFileFacts(field, file, &violations);
  }
  return base::InvalidFields(violations);
}

absl::Status CheckDataFiles(base::Filesystem& files, const std::string& folder,
                            const Upload& list) {
  for (const UploadFile& file : list.files()) {
    ORDO_RETURN_IF_ERROR(CheckCompression(files, folder, file.path()));
    ORDO_RETURN_IF_ERROR(CheckTokens(files, folder, file));
  }
  return absl::OkStatus();
}

}  // namespace ordo::services::data
