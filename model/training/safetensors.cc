#include "model/training/safetensors.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ATen/ops/empty.h"
#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "nlohmann/json.hpp"

namespace ordo::model::training {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "tensors are stored as they lie in memory");

using Json = nlohmann::ordered_json;

constexpr char kMetadata[] = "__metadata__";
constexpr size_t kLengthBytes = 8;
constexpr size_t kAlignment = 8;
// More dimensions than LibTorch's own code is tried with are damage.
constexpr size_t kMaxDimensions = 64;

struct TypeRow {
  const char* name;
  at::ScalarType type;
};

constexpr TypeRow kTypes[] = {
    {"F64", at::kDouble}, {"I64", at::kLong}, {"F32", at::kFloat},
    {"I32", at::kInt},    {"F16", at::kHalf}, {"BF16", at::kBFloat16},
    {"I16", at::kShort},  {"I8", at::kChar},  {"U8", at::kByte},
    {"BOOL", at::kBool},
};

const char* NameOfType(at::ScalarType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.name;
  }
  return nullptr;
}

std::optional<at::ScalarType> TypeOfName(const std::string& name) {
  for (const TypeRow& row : kTypes) {
    if (name == row.name) return row.type;
  }
  return std::nullopt;
}

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
  Json header = Json::parse(text, check, /*allow_exceptions=*/false);
  if (header.is_discarded() || !header.is_object()) {
    return Damaged(path, "the header is not JSON");
  }
  if (!duplicate.empty()) {
    return Damaged(path, absl::StrCat("'", duplicate, "' is there twice"));
  }
  return header;
}

// What the header says of one tensor.
struct Entry {
  std::string name;
  at::ScalarType type;
  std::vector<int64_t> shape;
  uint64_t begin;
  uint64_t end;
};

// Bytes of a tensor; nothing when the product overflows, even if one size is
// zero: strides of the others would.
std::optional<uint64_t> BytesOf(const Entry& entry) {
  int64_t bytes = c10::elementSize(entry.type);
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

absl::StatusOr<Entry> ParseEntry(const std::string& name, const Json& value,
                                 const std::string& path) {
  const std::string where = absl::StrCat("tensor '", name, "': ");
  if (!value.is_object() || value.size() != 3 || !value.contains("dtype") ||
      !value.contains("shape") || !value.contains("data_offsets")) {
    return Damaged(path, where + "needs dtype, shape and data_offsets");
  }
  Entry entry;
  entry.name = name;
  const Json& dtype = value["dtype"];
  const auto type =
      dtype.is_string() ? TypeOfName(dtype.get<std::string>()) : std::nullopt;
  if (!type) return Damaged(path, where + "dtype is not known");
  entry.type = *type;
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

absl::StatusOr<std::vector<Entry>> ParseEntries(const Json& header,
                                                uint64_t buffer_bytes,
                                                const std::string& path) {
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name == kMetadata) {
      if (!IsMapOfStrings(value)) {
        return Damaged(path, "__metadata__ is not a map of strings");
      }
      continue;
    }
    ORDO_ASSIGN_OR_RETURN(Entry entry, ParseEntry(name, value, path));
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t end = 0;
  for (const Entry& entry : entries) {
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

// The whole of the file before the tensors.
std::string MakeHeader(
    const std::vector<std::pair<std::string, at::Tensor>>& tensors) {
  Json header = Json::object();
  // Hugging Face's readers ask which library's conventions a file follows.
  header[kMetadata] = {{"format", "pt"}};
  uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    const uint64_t end = offset + tensor.nbytes();
    header[name] = {{"dtype", NameOfType(tensor.scalar_type())},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  const uint64_t length = text.size();
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &length, kLengthBytes);
  return bytes + text;
}

}  // namespace

absl::Status WriteSafetensors(base::Filesystem& files, const std::string& path,
                              const TensorMap& tensors) {
  std::vector<std::pair<std::string, at::Tensor>> ordered;
  for (const auto& [name, tensor] : tensors) {
    if (NameOfType(tensor.scalar_type()) == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("write ", path, ": tensor '", name, "' has type ",
                       c10::toString(tensor.scalar_type()),
                       ", which safetensors files cannot hold here"));
    }
    ordered.emplace_back(name, tensor.detach().cpu().contiguous());
  }
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) {
                     return a.second.element_size() > b.second.element_size();
                   });
  ORDO_ASSIGN_OR_RETURN(const auto file,
                        files.OpenForWrite(path, base::WriteMode::kTruncate));
  ORDO_RETURN_IF_ERROR(file->Append(MakeHeader(ordered)));
  for (const auto& [name, tensor] : ordered) {
    ORDO_RETURN_IF_ERROR(file->Append(
        {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()}));
  }
  ORDO_RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

absl::StatusOr<TensorMap> ParseSafetensors(std::string_view bytes,
                                           const std::string& path) {
  if (bytes.size() < kLengthBytes) return Damaged(path, "it is too short");
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  bytes.remove_prefix(kLengthBytes);
  if (length < 1 || length > kMaxSafetensorsHeaderBytes ||
      length > bytes.size()) {
    return Damaged(path, "the header's length is not right");
  }
  ORDO_ASSIGN_OR_RETURN(const Json header,
                        ParseHeader(bytes.substr(0, length), path));
  bytes.remove_prefix(length);
  ORDO_ASSIGN_OR_RETURN(const std::vector<Entry> entries,
                        ParseEntries(header, bytes.size(), path));
  TensorMap tensors;
  for (const Entry& entry : entries) {
    at::Tensor tensor =
        at::empty(entry.shape, at::TensorOptions().dtype(entry.type));
    if (tensor.nbytes() > 0) {
      std::memcpy(tensor.mutable_data_ptr(), bytes.data() + entry.begin,
                  tensor.nbytes());
    }
    tensors.emplace(entry.name, std::move(tensor));
  }
  return tensors;
}

absl::StatusOr<TensorMap> ReadSafetensors(base::Filesystem& files,
                                          const std::string& path) {
  ORDO_ASSIGN_OR_RETURN(const auto file, files.OpenForRead(path));
  ORDO_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  ORDO_ASSIGN_OR_RETURN(const std::string bytes, file->ReadAt(0, size));
  if (bytes.size() != size) return Damaged(path, "it shrank while being read");
  return ParseSafetensors(bytes, path);
}

}  // namespace ordo::model::training
