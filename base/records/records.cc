#include "base/records/records.h"

#include <utility>

#include "base/digest/crc32c.h"
#include "base/status/status.h"

namespace ordo::base {
namespace {

constexpr size_t kHeaderBytes = 12;

void PutUint32(uint32_t value, std::string* out) {
  for (int shift = 0; shift < 32; shift += 8) {
    out->push_back(static_cast<char>(value >> shift));
  }
}

uint32_t GetUint32(std::string_view bytes) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) {
    value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

absl::Status Damaged(const std::string& path, uint64_t offset,
                     std::string_view what) {
  return absl::DataLossError("read record at byte " + std::to_string(offset) +
                             " of " + path + ": " + std::string(what));
}

}  // namespace

absl::StatusOr<std::unique_ptr<RecordWriter>> RecordWriter::Open(
    Filesystem& files, const std::string& path) {
  RecordReader reader(files, path);
  while (true) {
    ORDO_ASSIGN_OR_RETURN(const auto payload, reader.Next());
    if (!payload) break;
  }
  const auto info = files.Stat(path);
  if (info.ok() && info->size_bytes > reader.offset()) {
    ORDO_RETURN_IF_ERROR(files.Truncate(path, reader.offset()));
  }
  ORDO_ASSIGN_OR_RETURN(auto file,
                        files.OpenForWrite(path, WriteMode::kAppend));
  return std::unique_ptr<RecordWriter>(new RecordWriter(std::move(file)));
}

absl::Status RecordWriter::Append(std::string_view payload) {
  if (payload.size() > kMaxRecordBytes) {
    return absl::InvalidArgumentError(
        "append record: it has " + std::to_string(payload.size()) +
        " bytes; at most " + std::to_string(kMaxRecordBytes) + " are accepted");
  }
  // One write, so that a record is torn only by a crash or a full disk.
  std::string bytes;
  bytes.reserve(kHeaderBytes + payload.size());
  PutUint32(static_cast<uint32_t>(payload.size()), &bytes);
  PutUint32(Crc32c(payload), &bytes);
  PutUint32(Crc32c(bytes), &bytes);
  bytes.append(payload);
  return file_->Append(bytes);
}

absl::Status RecordWriter::Sync() { return file_->Sync(); }

absl::StatusOr<std::optional<std::string>> RecordReader::Next() {
  if (file_ == nullptr) {
    auto file = files_.OpenForRead(path_);
    if (absl::IsNotFound(file.status())) return std::nullopt;
    ORDO_RETURN_IF_ERROR(file);
    file_ = *std::move(file);
  }
  ORDO_ASSIGN_OR_RETURN(const std::string header,
                        file_->ReadAt(offset_, kHeaderBytes));
  if (header.size() < kHeaderBytes) return std::nullopt;
  const std::string_view fields = header;
  if (GetUint32(fields.substr(8)) != Crc32c(fields.substr(0, 8))) {
    return Damaged(path_, offset_, "the checksum of its header is wrong");
  }
  const uint32_t size = GetUint32(fields);
  if (size > kMaxRecordBytes) {
    return Damaged(path_, offset_, "its length is above the limit");
  }
  ORDO_ASSIGN_OR_RETURN(std::string payload,
                        file_->ReadAt(offset_ + kHeaderBytes, size));
  if (payload.size() < size) return std::nullopt;
  if (GetUint32(fields.substr(4)) != Crc32c(payload)) {
    return Damaged(path_, offset_, "the checksum of its content is wrong");
  }
  offset_ += kHeaderBytes + size;
  return payload;
}

}  // namespace ordo::base
