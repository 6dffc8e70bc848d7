#ifndef ORDO_TESTS_BENCH_SYSTEM_H_
#define ORDO_TESTS_BENCH_SYSTEM_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ordo::tests::bench {

// The type of the filesystem that a path lies on, such as "tmpfs" or
// "ext2/3/4"; its magic number (statfs(2)) when it is not a known one.
absl::StatusOr<std::string> FilesystemOf(const std::string& path);

// FAILED_PRECONDITION for a type whose fsync writes nothing to a disk, so that
// a figure of durable work would be one of memory.
absl::Status CheckDurable(const std::string& path,
                          const std::string& filesystem);

// Established TCP connections of this machine to a loopback address
// "HOST:PORT" of IPv4, counted at the client's end.
absl::StatusOr<int> ConnectionsTo(const std::string& address);

// INTERNAL unless each of `num_clients` clients, which have called, has a
// connection: as many as that more than the `before` that there were.
absl::Status CheckNewConnections(const std::string& address, int before,
                                 int num_clients);

}  // namespace ordo::tests::bench

#endif  // ORDO_TESTS_BENCH_SYSTEM_H_
