#ifndef ORDO_BASE_TEXT_LINES_H_
#define ORDO_BASE_TEXT_LINES_H_

#include <string>
#include <string_view>

namespace ordo::base {

// The value of the first line "<key>: <value>", blanks around both aside; empty
// where there is none. So /proc/cpuinfo and the driver of GPUs write.
std::string LineValue(std::string_view text, std::string_view key);

}  // namespace ordo::base

#endif  // ORDO_BASE_TEXT_LINES_H_
