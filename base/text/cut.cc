#include "base/text/cut.h"

namespace ordo::base {
namespace {

constexpr char kCutMark[] = " ...";

}  // namespace

std::string Cut(std::string text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  size_t size = max_bytes - (sizeof(kCutMark) - 1);
  while (size > 0 && (static_cast<unsigned char>(text[size]) >> 6) == 2) {
    --size;
  }
  text.resize(size);
  return text + kCutMark;
}

}  // namespace ordo::base
