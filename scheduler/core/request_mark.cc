#include "scheduler/core/request_mark.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/escaping.h"
#include "base/trace/trace.h"

namespace ordo::scheduler::core {
namespace {

bool IsHexDigit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// Whole bytes in lower-case hexadecimal digits, which come back as they were.
bool IsHex(std::string_view text) {
  return !text.empty() && text.size() % 2 == 0 &&
         std::all_of(text.begin(), text.end(), IsHexDigit);
}

}  // namespace

RequestMark::RequestMark(std::string_view id, std::string_view fingerprint,
                         std::string_view trace_parent) {
  const std::string trace = base::PackTraceParent(trace_parent);
  if (id.empty() && trace.empty()) return;
  if (id.empty()) fingerprint = {};
  const bool is_hex = IsHex(fingerprint);
  const std::string bytes =
      is_hex ? absl::HexStringToBytes(std::string(fingerprint))
             : std::string(fingerprint);
  const Header header = {static_cast<uint32_t>(id.size()),
                         static_cast<uint32_t>(bytes.size()), is_hex,
                         static_cast<uint32_t>(trace.size())};
  block_ = std::make_unique<char[]>(sizeof(header) + id.size() + bytes.size() +
                                    trace.size());
  char* end = block_.get();
  std::memcpy(end, &header, sizeof(header));
  end = std::copy(id.begin(), id.end(), end + sizeof(header));
  end = std::copy(bytes.begin(), bytes.end(), end);
  std::copy(trace.begin(), trace.end(), end);
}

RequestMark& RequestMark::operator=(const RequestMark& other) {
  if (this == &other) return *this;
  block_ = nullptr;
  if (other.block_ == nullptr) return *this;
  block_ = std::make_unique<char[]>(other.size());
  std::copy_n(other.block_.get(), other.size(), block_.get());
  return *this;
}

std::string_view RequestMark::id() const {
  if (block_ == nullptr) return {};
  return {block_.get() + sizeof(Header), header().id_size};
}

std::string RequestMark::fingerprint() const {
  if (empty()) return {};
  const Header header = this->header();
  const std::string_view bytes(block_.get() + sizeof(Header) + header.id_size,
                               header.fingerprint_size);
  return header.is_hex != 0 ? absl::BytesToHexString(std::string(bytes))
                            : std::string(bytes);
}

std::string RequestMark::trace_parent() const {
  if (block_ == nullptr) return {};
  const size_t trace_size = header().trace_size;
  return base::UnpackTraceParent(
      {block_.get() + size() - trace_size, trace_size});
}

RequestMark::Header RequestMark::header() const {
  Header header;
  std::memcpy(&header, block_.get(), sizeof(header));
  return header;
}

size_t RequestMark::size() const {
  const Header header = this->header();
  return sizeof(Header) + header.id_size + header.fingerprint_size +
         header.trace_size;
}

}  // namespace ordo::scheduler::core
