#ifndef ORDO_BASE_TEXT_CUT_H_
#define ORDO_BASE_TEXT_CUT_H_

#include <cstddef>
#include <string>

namespace ordo::base {

// At most `max_bytes` of UTF-8 text, not cut within a character; what was cut
// ends with " ...". REQUIRES: room for that.
std::string Cut(std::string text, size_t max_bytes);

}  // namespace ordo::base

#endif  // ORDO_BASE_TEXT_CUT_H_
