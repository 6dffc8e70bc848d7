#ifndef ORDO_BASE_PROCESS_OPEN_FILES_H_
#define ORDO_BASE_PROCESS_OPEN_FILES_H_

#include <cstdint>

namespace ordo::base {

// Lets this process, and what it starts from then on, have `wanted` files and
// connections open, or as many as the machine permits it if that is less; it
// keeps a higher limit. The usual 1024 are few for a server: each connection of
// a client is one. How many it may have afterwards.
uint64_t RaiseOpenFileLimit(uint64_t wanted);

}  // namespace ordo::base

#endif  // ORDO_BASE_PROCESS_OPEN_FILES_H_
