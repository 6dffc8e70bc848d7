#ifndef ORDO_BASE_TEXT_JSON_DEPTH_H_
#define ORDO_BASE_TEXT_JSON_DEPTH_H_

#include <string_view>

namespace ordo::base {

// More than any file that programs of this field write has. What copies or
// prints JSON calls itself for each level, and millions of them fit into a file
// that is otherwise small enough.
inline constexpr int kMaxJsonDepth = 64;

// Whether arrays and objects of a JSON text lie deeper in each other than
// `max_depth`. Of what is not JSON the answer is either, and no harm.
bool NestsTooDeep(std::string_view json, int max_depth = kMaxJsonDepth);

}  // namespace ordo::base

#endif  // ORDO_BASE_TEXT_JSON_DEPTH_H_
