#include "worker/trainer/event_file.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/digest/crc32c.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/wire_format_lite.h"

namespace ordo::worker::trainer {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::StringOutputStream;

// Field numbers of Event, Summary and Summary.Value.
constexpr int kEventWallTime = 1;
constexpr int kEventStep = 2;
constexpr int kEventFileVersion = 3;
constexpr int kEventSummary = 5;
constexpr int kSummaryValue = 1;
constexpr int kValueTag = 1;
constexpr int kValueSimpleValue = 2;

std::string ScalarValue(const std::string& tag, double value) {
  std::string bytes;
  StringOutputStream stream(&bytes);
  CodedOutputStream out(&stream);
  WireFormatLite::WriteString(kValueTag, tag, &out);
  WireFormatLite::WriteFloat(kValueSimpleValue, static_cast<float>(value),
                             &out);
  out.Trim();
  return bytes;
}

std::string Summary(const std::map<std::string, double>& values) {
  std::string bytes;
  StringOutputStream stream(&bytes);
  CodedOutputStream out(&stream);
  for (const auto& [tag, value] : values) {
    WireFormatLite::WriteBytes(kSummaryValue, ScalarValue(tag, value), &out);
  }
  out.Trim();
  return bytes;
}

double Seconds(absl::Time time) {
  return absl::ToDoubleSeconds(time - absl::UnixEpoch());
}

// Little-endian bytes of an unsigned number.
template <typename T>
std::string Bytes(T number) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(number); ++i) {
    bytes.push_back(static_cast<char>(number >> (8 * i)));
  }
  return bytes;
}

// TFRecord stores checksums rotated and shifted, so that a checksum of data
// that holds checksums stays useful.
std::string MaskedChecksum(const std::string& data) {
  const uint32_t crc = base::Crc32c(data);
  return Bytes<uint32_t>(((crc >> 15) | (crc << 17)) + 0xa282ead8u);
}

}  // namespace

std::string FrameTfRecord(const std::string& data) {
  const std::string length = Bytes<uint64_t>(data.size());
  return absl::StrCat(length, MaskedChecksum(length), data,
                      MaskedChecksum(data));
}

absl::StatusOr<std::unique_ptr<EventFile>> EventFile::Create(
    base::Filesystem& files, const std::string& folder, absl::Time now,
    const std::string& name) {
  const std::string path =
      base::JoinPath(folder, absl::StrCat("events.out.tfevents.",
                                          absl::ToUnixSeconds(now), ".", name));
  ORDO_ASSIGN_OR_RETURN(auto file,
                        files.OpenForWrite(path, base::WriteMode::kAppend));
  std::string event;
  {
    StringOutputStream stream(&event);
    CodedOutputStream out(&stream);
    WireFormatLite::WriteDouble(kEventWallTime, Seconds(now), &out);
    WireFormatLite::WriteString(kEventFileVersion, "brain.Event:2", &out);
  }
  ORDO_RETURN_IF_ERROR(file->Append(FrameTfRecord(event)));
  return std::unique_ptr<EventFile>(new EventFile(std::move(file)));
}

absl::Status EventFile::Append(absl::Time now, int64_t step,
                               const std::map<std::string, double>& values) {
  std::string event;
  {
    StringOutputStream stream(&event);
    CodedOutputStream out(&stream);
    WireFormatLite::WriteDouble(kEventWallTime, Seconds(now), &out);
    WireFormatLite::WriteInt64(kEventStep, step, &out);
    WireFormatLite::WriteBytes(kEventSummary, Summary(values), &out);
  }
  return file_->Append(FrameTfRecord(event));
}

}  // namespace ordo::worker::trainer
