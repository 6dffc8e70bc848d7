#include "model/formats/safetensors_header.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status/status.h"
#include "base/text/json_depth.h"
#include "nlohmann/json.hpp"

namespace ordo::model::formats {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kMetadata[] = "__metadata__";
constexpr size_t kLengthBytes = 8;
// More dimensions than LibTorch's own code is tried with are damage.
constexpr size_t kMaxDimensions = 64;

absl::Status Damaged(const std::string& path, const std::string& what) {
  return absl::DataLossError(
      absl::StrCat("read safetensors file ", path, ": ", what));
}

// The JSON value of the header; duplicate keys, which JSON leaves open, are an
// error.
absl::StatusOr<Json> ParseHeader(std::string_view text,
                                 const std::string& path) {
  std::vector<std::set<std::string>> keys;
  std::string duplicate;
  const auto check = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key) {
      const std::string key = parsed.get<std::string>();
      if (!keys.back().insert(key).second) duplicate = key;
    }
    return true;
  };
  if (text.empty() || text.front() != '{') {
    return Damaged(path, "the header does not begin with '{'");
  }
  if (base::NestsTooDeep(text)) {
    return Damaged(path, "the header is nested too deep");
  }
  Json header = Json::parse(text, check, /*allow_exceptions=*/false);
  if (header.is_discarded() || !header.is_object()) {
    return Damaged(path, "the header is not JSON");
  }
  if (!duplicate.empty()) {
    return Damaged(path, absl::StrCat("'", duplicate, "' is there twice"));
  }
  return header;
}

struct TypeRow {
  const char* name;
  int64_t num_bytes;
};

constexpr TypeRow kTypes[] = {
    {"F64", 8},  {"I64", 8}, {"F32", 4}, {"I32", 4}, {"F16", 2},
    {"BF16", 2}, {"I16", 2}, {"I8", 1},  {"U8", 1},  {"BOOL", 1},
};

// Types of the format that no model here has; LibTorch has few of their
// operations, or none.
constexpr const char* kOtherTypes[] = {
    "U16",         "U32",         "U64",     "C64", "F8_E4M3", "F8_E5M2",
    "F8_E4M3FNUZ", "F8_E5M2FNUZ", "F8_E8M0", "F4",  "F6_E2M3", "F6_E3M2",
};

// INVALID_ARGUMENT for a type that exists, DATA_LOSS otherwise.
absl::Status BadType(const std::string& type, const std::string& where,
                     const std::string& path) {
  const bool exists = std::find(std::begin(kOtherTypes), std::end(kOtherTypes),
                                type) != std::end(kOtherTypes);
  if (!exists) {
    return Damaged(path, absl::StrCat(where, "dtype ", type, " is not known"));
  }
  std::vector<std::string> known;
  for (const TypeRow& row : kTypes) known.push_back(row.name);
  return absl::InvalidArgumentError(absl::StrCat(
      "read safetensors file ", path, ": ", where, "dtype ", type,
      " is not supported; convert it to one of ", absl::StrJoin(known, ", ")));
}

// 0 when there is no such type.
int64_t BytesOfType(const std::string& name) {
  for (const TypeRow& row : kTypes) {
    if (name == row.name) return row.num_bytes;
  }
  return 0;
}

// Bytes of a tensor; nothing when the product overflows, even if one size is
// zero: strides of the others would.
std::optional<uint64_t> BytesOf(const SafetensorsEntry& entry) {
  int64_t bytes = BytesOfType(entry.type);
  bool empty = false;
  for (const int64_t size : entry.shape) {
    empty = empty || size == 0;
    if (size != 0 && __builtin_mul_overflow(bytes, size, &bytes)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : static_cast<uint64_t>(bytes);
}

bool IsListOfUnsigned(const Json& value, size_t max_size) {
  if (!value.is_array() || value.size() > max_size) return false;
  for (const Json& number : value) {
    if (!number.is_number_unsigned()) return false;
    if (number.get<uint64_t>() >
        static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return false;
    }
  }
  return true;
}

bool IsMapOfStrings(const Json& value) {
  return value.is_object() &&
         std::all_of(value.begin(), value.end(),
                     [](const Json& entry) { return entry.is_string(); });
}

absl::StatusOr<SafetensorsEntry> ParseSafetensorsEntry(
    const std::string& name, const Json& value, const std::string& path) {
  const std::string where = absl::StrCat("tensor '", name, "': ");
  if (!value.is_object() || value.size() != 3 || !value.contains("dtype") ||
      !value.contains("shape") || !value.contains("data_offsets")) {
    return Damaged(path, where + "needs dtype, shape and data_offsets");
  }
  SafetensorsEntry entry;
  entry.name = name;
  const Json& dtype = value["dtype"];
  entry.type = dtype.is_string() ? dtype.get<std::string>() : dtype.dump();
  if (BytesOfType(entry.type) == 0) return BadType(entry.type, where, path);
  if (!IsListOfUnsigned(value["shape"], kMaxDimensions)) {
    return Damaged(path, where + "shape is not a list of sizes");
  }
  entry.shape = value["shape"].get<std::vector<int64_t>>();
  const Json& offsets = value["data_offsets"];
  if (!IsListOfUnsigned(offsets, 2) || offsets.size() != 2) {
    return Damaged(path, where + "data_offsets is not a pair of offsets");
  }
  entry.begin = offsets[0].get<uint64_t>();
  entry.end = offsets[1].get<uint64_t>();
  const auto bytes = BytesOf(entry);
  if (entry.end < entry.begin || !bytes || *bytes != entry.end - entry.begin) {
    return Damaged(path, where + "data_offsets do not fit dtype and shape");
  }
  return entry;
}

absl::StatusOr<std::vector<SafetensorsEntry>> ParseEntries(
    const Json& header, uint64_t buffer_bytes, const std::string& path) {
  std::vector<SafetensorsEntry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name == kMetadata) {
      if (!IsMapOfStrings(value)) {
        return Damaged(path, "__metadata__ is not a map of strings");
      }
      continue;
    }
    ORDO_ASSIGN_OR_RETURN(SafetensorsEntry entry,
                          ParseSafetensorsEntry(name, value, path));
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(),
            [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
              return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
            });
  uint64_t end = 0;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.begin != end) {
      return Damaged(path, absl::StrCat("a hole or overlap before tensor '",
                                        entry.name, "'"));
    }
    end = entry.end;
  }
  if (end != buffer_bytes) {
    return Damaged(
        path, absl::StrCat("the header describes ", end,
                           " bytes of tensors, the file has ", buffer_bytes));
  }
  return entries;
}

// The length that the first bytes of a file of `file_bytes` give its header.
absl::StatusOr<uint64_t> HeaderLength(std::string_view bytes,
                                      const SafetensorsFile& file) {
  if (bytes.size() < kLengthBytes) {
    return Damaged(file.path, "it is too short");
  }
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length < 1 || length > kMaxSafetensorsHeaderBytes ||
      length > file.num_bytes - kLengthBytes) {
    return Damaged(file.path, "the header's length is not right");
  }
  return length;
}

}  // namespace

absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(
    std::string_view bytes, const SafetensorsFile& file) {
  ORDO_ASSIGN_OR_RETURN(const uint64_t length, HeaderLength(bytes, file));
  SafetensorsHeader header;
  header.num_bytes = kLengthBytes + length;
  if (bytes.size() < header.num_bytes) {
    return Damaged(file.path, "it shrank while being read");
  }
  ORDO_ASSIGN_OR_RETURN(
      const Json json,
      ParseHeader(bytes.substr(kLengthBytes, length), file.path));
  ORDO_ASSIGN_OR_RETURN(
      header.entries,
      ParseEntries(json, file.num_bytes - header.num_bytes, file.path));
  return header;
}

absl::StatusOr<SafetensorsHeader> ReadSafetensorsHeader(
    base::Filesystem& files, const std::string& path,
    const std::string& shown_path) {
  ORDO_ASSIGN_OR_RETURN(const auto reader, files.OpenForRead(path));
  SafetensorsFile file{shown_path, 0};
  ORDO_ASSIGN_OR_RETURN(file.num_bytes, reader->Size());
  ORDO_ASSIGN_OR_RETURN(std::string bytes, reader->ReadAt(0, kLengthBytes));
  ORDO_ASSIGN_OR_RETURN(const uint64_t length, HeaderLength(bytes, file));
  ORDO_ASSIGN_OR_RETURN(bytes, reader->ReadAt(0, kLengthBytes + length));
  return ParseSafetensorsHeader(bytes, file);
}

}  // namespace ordo::model::formats
