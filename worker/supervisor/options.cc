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

constexpr const char* kNames[] = {"--task-dir",   "--attempt-dir",
                                  "--deployment", "--step-timeout-ms",
                                  "--grace-ms",   "--rank"};

bool IsName(const std::string& argument) {
  return std::find(std::begin(kNames), std::end(kNames), argument) !=
         std::end(kNames);
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
  if (name == "--task-dir") {
    options->task_dir = value;
  } else if (name == "--attempt-dir") {
    options->attempt_dir = value;
  } else if (name == "--deployment") {
    options->deployment = value;
  } else if (name == "--step-timeout-ms") {
    return ParseNumber(value, &options->step_timeout_ms);
  } else if (name == "--grace-ms") {
    return ParseNumber(value, &options->grace_ms);
  } else {
    return ParseNumber(value, &options->rank);
  }
  return true;
}

}  // namespace

std::string Usage() {
  return "usage: ordo-supervisor --task-dir DIR --attempt-dir DIR "
         "--step-timeout-ms N --grace-ms N --deployment DIR [--rank N] -- "
         "TRAINER ARG...\n"
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
