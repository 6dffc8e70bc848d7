#include "model/training/safetensors.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ATen/ops/empty.h"
#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "model/formats/safetensors_header.h"
#include "nlohmann/json.hpp"

namespace ordo::model::training {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "tensors are stored as they lie in memory");

using Json = nlohmann::ordered_json;

constexpr char kMetadata[] = "__metadata__";
constexpr size_t kLengthBytes = 8;
constexpr size_t kAlignment = 8;

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
  ORDO_ASSIGN_OR_RETURN(
      const formats::SafetensorsHeader header,
      formats::ParseSafetensorsHeader(bytes, {path, bytes.size()}));
  TensorMap tensors;
  for (const formats::SafetensorsEntry& entry : header.entries) {
    at::Tensor tensor = at::empty(
        entry.shape, at::TensorOptions().dtype(TypeOfName(entry.type).value()));
    if (tensor.nbytes() > 0) {
      std::memcpy(tensor.mutable_data_ptr(),
                  bytes.data() + header.num_bytes + entry.begin,
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
  if (bytes.size() != size) {
    return absl::DataLossError(absl::StrCat("read safetensors file ", path,
                                            ": it shrank while being read"));
  }
  return ParseSafetensors(bytes, path);
}

}  // namespace ordo::model::training
