#ifndef ORDO_WORKER_SUPERVISOR_LAUNCH_H_
#define ORDO_WORKER_SUPERVISOR_LAUNCH_H_

#include <cstddef>
#include <cstdint>

// What a worker and its launcher say to each other, over a stream socket.
//
// A request is a LaunchHeader, the arguments of a supervisor (the program's
// path first), and its environment ("NAME=value"), each text with a zero byte
// behind it. One is under way at a time.
//
// An answer is an int32: the number of the supervisor's process, or a negative
// errno. It comes from that process itself: where a launcher dies, either there
// is a supervisor and its answer, or the socket ends. The first answer comes
// before any request: 0, or why there can be no launcher here.
//
// A supervisor that cannot answer does not run. So a worker that no longer
// waits shuts its end down for reading: it can read an answer that came before,
// and none comes after.

namespace ordo::worker::supervisor {

struct LaunchHeader {
  // Of all texts, zero bytes included.
  uint32_t num_bytes = 0;
  // How many of the texts are arguments.
  uint32_t num_arguments = 0;
};

// Longer requests end the launcher.
inline constexpr size_t kMaxLaunchBytes = size_t{4} << 20;

}  // namespace ordo::worker::supervisor

#endif  // ORDO_WORKER_SUPERVISOR_LAUNCH_H_
