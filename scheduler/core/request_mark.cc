#include "scheduler/core/request_mark.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/escaping.h"

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

RequestMark::RequestMark(std::string_view id, std::string_view fingerprint) {
  if (id.empty()) return;
  const bool is_hex = IsHex(fingerprint);
  const std::string bytes =
      is_hex ? absl::HexStringToBytes(std::string(fingerprint))
             : std::string(fingerprint);
  const Header header = {static_cast<uint32_t>(id.size()),
                         static_cast<uint32_t>(bytes.size()), is_hex};
  block_ = std::make_unique<char[]>(sizeof(header) + id.size() + bytes.size());
  char* end = block_.get();
  std::memcpy(end, &header, sizeof(header));
  end = std::copy(id.begin(), id.end(), end + sizeof(header));
  std::copy(bytes.begin(), bytes.end(), end);
}

RequestMark& RequestMark::operator=(const RequestMark& other) {
  if (this == &other) return *this;
  block_ = nullptr;
  if (other.empty()) return *this;
  block_ = std::make_unique<char[]>(other.size());
  std::copy_n(other.block_.get(), other.size(), block_.get());
  return *this;
}

std::string_view RequestMark::id() const {
  if (empty()) return {};
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

RequestMark::Header RequestMark::header() const {
  Header header;
  std::memcpy(&header, block_.get(), sizeof(header));
  return header;
}

size_t RequestMark::size() const {
  return sizeof(Header) + header().id_size + header().fingerprint_size;
}

}  // namespace ordo::scheduler::core
