#include "tests/bench/system.h"

#include <cstdint>
#include <fstream>
#include <map>
#include <sys/vfs.h>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/status/status.h"

namespace ordo::tests::bench {
namespace {

// Columns of /proc/net/tcp (proc(5)).
constexpr size_t kRemoteAddress = 2;
constexpr size_t kState = 3;
constexpr char kEstablished[] = "01";

}  // namespace

absl::StatusOr<std::string> FilesystemOf(const std::string& path) {
  // Numbers of statfs(2).
  static const auto& names = *new std::map<int64_t, std::string>{
      {0x01021994, "tmpfs"}, {0x858458f6, "ramfs"}, {0xef53, "ext2/3/4"},
      {0x58465342, "xfs"},   {0x9123683e, "btrfs"}, {0x794c7630, "overlay"},
      {0x6969, "nfs"},       {0x2fc12fc1, "zfs"},   {0xf2f52010, "f2fs"},
      {0x65735546, "fuse"},  {0x01021997, "9p"},    {0x9fa0, "proc"},
  };
  struct statfs info;
  if (::statfs(path.c_str(), &info) != 0) {
    return absl::NotFoundError(absl::StrCat("statfs ", path));
  }
  const auto magic = static_cast<int64_t>(static_cast<uint32_t>(info.f_type));
  const auto known = names.find(magic);
  return known != names.end() ? known->second : absl::StrFormat("0x%x", magic);
}

absl::Status CheckDurable(const std::string& path,
                          const std::string& filesystem) {
  if (filesystem != "tmpfs" && filesystem != "ramfs") return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(path, " is on ", filesystem,
                   ", where nothing is written to a disk: give --dir with a "
                   "folder on one"));
}

absl::StatusOr<int> ConnectionsTo(const std::string& address) {
  const std::vector<std::string> parts = absl::StrSplit(address, ':');
  int port = 0;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[1], &port)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", address, "' is not HOST:PORT"));
  }
  const std::string end = absl::StrFormat(":%04X", port);
  int count = 0;
  // gRPC reaches IPv4 through sockets of either family; a machine may have no
  // IPv6.
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream lines(table);
    for (std::string line; std::getline(lines, line);) {
      const std::vector<std::string> columns =
          absl::StrSplit(line, ' ', absl::SkipEmpty());
      if (columns.size() > kState && columns[kState] == kEstablished &&
          absl::EndsWith(columns[kRemoteAddress], end)) {
        ++count;
      }
    }
  }
  return count;
}

absl::Status CheckNewConnections(const std::string& address, int before,
                                 int num_clients) {
  ORDO_ASSIGN_OR_RETURN(const int now, ConnectionsTo(address));
  if (now - before >= num_clients) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(num_clients, " clients have ",
                                          now - before, " connections"));
}

}  // namespace ordo::tests::bench
