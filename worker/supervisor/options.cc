#include "worker/supervisor/options.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <iterator>
#include <unistd.h>

namespace ordo::worker::supervisor {
namespace {

bool ParseNumber(const std::string& text, int64_t* value) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return false;
  char* end = nullptr;
  errno = 0;
  const long long parsed = std::strtoll(text.c_str(), &end, 10);
  if (errno != 0 || *end != '\0') return false;
  *value = parsed;
  return true;
}

// A flag with its place among the options.
template <typename Value>
struct Flag {
  const char* name;
  Value* (*of)(Options*);
};

constexpr Flag<std::string> kTexts[] = {
    {"--task-dir", [](Options* o) { return &o->task_dir; }},
    {"--attempt-dir", [](Options* o) { return &o->attempt_dir; }},
    {"--deployment", [](Options* o) { return &o->deployment; }},
    {"--cgroup", [](Options* o) { return &o->confinement.cgroup; }},
};
constexpr Flag<int64_t> kNumbers[] = {
    {"--step-timeout-ms", [](Options* o) { return &o->step_timeout_ms; }},
    {"--grace-ms", [](Options* o) { return &o->grace_ms; }},
    {"--rank", [](Options* o) { return &o->rank; }},
    {"--memory-bytes", [](Options* o) { return &o->confinement.memory_bytes; }},
    {"--processes", [](Options* o) { return &o->confinement.processes; }},
    {"--file-bytes", [](Options* o) { return &o->confinement.file_bytes; }},
    {"--address-space-bytes",
     [](Options* o) { return &o->confinement.address_space_bytes; }},
    {"--data-bytes", [](Options* o) { return &o->confinement.data_bytes; }},
    {"--open-files", [](Options* o) { return &o->confinement.open_files; }},
};
// May be given several times.
constexpr Flag<std::vector<std::string>> kLists[] = {
    {"--writable", [](Options* o) { return &o->confinement.writable; }},
    {"--readable", [](Options* o) { return &o->confinement.readable; }},
};
constexpr char kUser[] = "--user";

// Null: none has that name.
template <typename Flags>
auto Find(const Flags& flags, const std::string& name) {
  const auto found =
      std::find_if(std::begin(flags), std::end(flags),
                   [&](const auto& flag) { return name == flag.name; });
  return found == std::end(flags) ? nullptr : found;
}

bool IsName(const std::string& argument) {
  return Find(kTexts, argument) != nullptr ||
         Find(kNumbers, argument) != nullptr ||
         Find(kLists, argument) != nullptr || argument == kUser;
}

// UID:GID, neither of them root's: what becomes root is not confined.
bool ParseUser(const std::string& text, Confinement* confinement) {
  const size_t colon = text.find(':');
  return colon != std::string::npos &&
         ParseNumber(text.substr(0, colon), &confinement->uid) &&
         ParseNumber(text.substr(colon + 1), &confinement->gid) &&
         confinement->uid > 0 && confinement->gid > 0;
}

// The path of this program, as far as it can be told.
std::string OwnPath() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  return length > 0 ? std::string(path, length) : "ordo-supervisor";
}

// Sets the option `name`; false when the value does not fit.
bool SetOption(const std::string& name, const std::string& value,
               Options* options) {
  if (name == kUser) return ParseUser(value, &options->confinement);
  if (const auto* number = Find(kNumbers, name)) {
    return ParseNumber(value, number->of(options));
  }
  if (const auto* list = Find(kLists, name)) {
    list->of(options)->push_back(value);
  } else {
    *Find(kTexts, name)->of(options) = value;
  }
  return true;
}

}  // namespace

std::string Usage() {
  return "usage: ordo-supervisor --task-dir DIR --attempt-dir DIR "
         "--step-timeout-ms N --grace-ms N --deployment DIR [--rank N] "
         "[--user UID:GID] [--cgroup DIR] [--memory-bytes N] [--processes N] "
         "[--file-bytes N] [--address-space-bytes N] [--data-bytes N] "
         "[--open-files N] [--writable DIR]... [--readable DIR]... "
         "-- TRAINER ARG...\n"
         "       ordo-supervisor --launcher --deployment DIR\n";
}

std::string AnswerTo(const std::vector<std::string>& arguments) {
  for (size_t i = 1; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (arguments[i] == "--help" || arguments[i] == "-h") {
      return "ordo-supervisor: the parent of one task; ordo-worker starts "
             "it\n" +
             Usage();
    }
    if (arguments[i] == "--version") {
      return "ordo-supervisor, build: the SHA-256 of this program; see: "
             "sha256sum " +
             OwnPath() + "\n";
    }
  }
  return "";
}

bool IsLauncher(const std::vector<std::string>& arguments) {
  return arguments.size() == 4 && arguments[1] == "--launcher" &&
         arguments[2] == "--deployment";
}

bool ParseOptions(const std::vector<std::string>& arguments, Options* options,
                  std::string* error) {
  size_t i = 1;
  for (; i < arguments.size() && arguments[i] != "--"; i += 2) {
    if (!IsName(arguments[i])) {
      *error = "unknown flag " + arguments[i];
      return false;
    }
    if (i + 1 >= arguments.size()) {
      *error = arguments[i] + " needs a value";
      return false;
    }
    if (!SetOption(arguments[i], arguments[i + 1], options)) {
      *error = "not understood: " + arguments[i] + " " + arguments[i + 1];
      return false;
    }
  }
  for (++i; i < arguments.size(); ++i) {
    options->trainer.push_back(arguments[i]);
  }
  if (options->task_dir.empty()) {
    *error = "--task-dir is missing";
  } else if (options->attempt_dir.empty()) {
    *error = "--attempt-dir is missing";
  } else if (options->trainer.empty()) {
    *error = "the trainer is missing: it follows --";
  } else {
    return true;
  }
  return false;
}

}  // namespace ordo::worker::supervisor
