#include "worker/supervisor/landlock.h"

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ordo::worker::supervisor {
namespace {

// Of linux/landlock.h, which may be older than the kernel.
constexpr long kCreateRuleset = 444;
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;
constexpr uint32_t kAskVersion = 1;
constexpr int kRulePathBeneath = 1;

struct RulesetAttributes {
  uint64_t handled_files = 0;
  uint64_t handled_network = 0;
  uint64_t scoped = 0;
};
struct __attribute__((packed)) PathBeneath {
  uint64_t allowed = 0;
  int32_t folder = -1;
};

constexpr uint64_t kExecute = 1u << 0;
constexpr uint64_t kWriteFile = 1u << 1;
constexpr uint64_t kReadFile = 1u << 2;
constexpr uint64_t kReadFolder = 1u << 3;
// Removes, and makes of all kinds.
constexpr uint64_t kRemoveFolder = 1u << 4;
constexpr uint64_t kRemoveFile = 1u << 5;
constexpr uint64_t kMakeCharacterDevice = 1u << 6;
constexpr uint64_t kMakeFolder = 1u << 7;
constexpr uint64_t kMakeFile = 1u << 8;
constexpr uint64_t kMakeSocket = 1u << 9;
constexpr uint64_t kMakePipe = 1u << 10;
constexpr uint64_t kMakeBlockDevice = 1u << 11;
constexpr uint64_t kMakeLink = 1u << 12;
// Renames between folders.
constexpr uint64_t kRefer = 1u << 13;
constexpr uint64_t kTruncate = 1u << 14;
constexpr uint64_t kScopeSignals = 1u << 1;

constexpr uint64_t kRead = kExecute | kReadFile | kReadFolder;
constexpr uint64_t kMakeDevices = kMakeCharacterDevice | kMakeBlockDevice;
constexpr uint64_t kWrite = kWriteFile | kRemoveFolder | kRemoveFile |
                            kMakeFolder | kMakeFile | kMakeSocket | kMakePipe |
                            kMakeLink | kRefer | kTruncate;
// What may be said of a file that is no folder.
constexpr uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate;
// Without kRefer no file could be renamed to another folder.
constexpr int kVersionWithRefer = 2;
constexpr int kVersionWithTruncate = 3;
constexpr int kVersionWithScopes = 6;

// 0 or an errno.
int Allow(int rules, const std::string& path, uint64_t allowed) {
  PathBeneath rule;
  rule.folder = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (rule.folder < 0) return errno == ENOENT ? 0 : errno;
  struct stat info {};
  int error = fstat(rule.folder, &info) == 0 ? 0 : errno;
  rule.allowed = S_ISDIR(info.st_mode) ? allowed : allowed & kOfFiles;
  if (error == 0 && syscall(kAddRule, rules, kRulePathBeneath, &rule, 0) != 0) {
    error = errno;
  }
  close(rule.folder);
  return error;
}

}  // namespace

int LandlockVersion() {
  const long version = syscall(kCreateRuleset, nullptr, 0, kAskVersion);
  return version >= kVersionWithRefer ? static_cast<int>(version) : 0;
}

int MakeRules(const std::vector<std::string>& writable,
              const std::vector<std::string>& readable, int* rules) {
  *rules = -1;
  const int version = LandlockVersion();
  if (version == 0) return 0;
  const uint64_t known =
      version >= kVersionWithTruncate ? ~uint64_t{0} : ~kTruncate;
  const uint64_t read = readable.empty() ? 0 : kRead;
  RulesetAttributes attributes;
  attributes.handled_files = (kWrite | kMakeDevices | read) & known;
  if (version >= kVersionWithScopes) attributes.scoped = kScopeSignals;
  const int file = static_cast<int>(
      syscall(kCreateRuleset, &attributes, sizeof(attributes), 0));
  if (file < 0) return errno;
  int error = 0;
  for (const std::string& path : writable) {
    if (error == 0) error = Allow(file, path, (kWrite | read) & known);
  }
  for (const std::string& path : readable) {
    if (error == 0) error = Allow(file, path, kRead);
  }
  if (error == 0) {
    *rules = file;
  } else {
    close(file);
  }
  return error;
}

int TakeOnRules(int rules) {
  return syscall(kRestrictSelf, rules, 0) == 0 ? 0 : errno;
}

}  // namespace ordo::worker::supervisor
