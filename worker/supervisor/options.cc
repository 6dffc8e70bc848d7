#include "worker/supervisor/options.h"

#include <cerrno>
#include <cstdlib>

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

// Sets the option `name`; false when there is none of that name or the value
// does not fit.
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
  } else if (name == "--rank") {
    return ParseNumber(value, &options->rank);
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool ParseOptions(const std::vector<std::string>& arguments, Options* options,
                  std::string* error) {
  size_t i = 1;
  for (; i < arguments.size() && arguments[i] != "--"; i += 2) {
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
