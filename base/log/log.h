#ifndef ORDO_BASE_LOG_LOG_H_
#define ORDO_BASE_LOG_LOG_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"

// One line per event:
//
//   LogInfo("attempt started", {{"job", name}, {"attempt", 2}});
//   2026-11-20T21:30:00.123456Z INFO attempt started job=a attempt=2
//
// INFO: a person would want it tomorrow. WARNING: degraded; counted as a metric
// too. ERROR: someone must act. All calls are thread-safe. Pure code does not
// log.

namespace ordo::base {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

struct LogOptions {
  // Lines below this level are dropped.
  LogLevel level = LogLevel::kInfo;
  // File to append to; empty is stderr.
  std::string file;
};

// Sets where lines go. Without it they go to stderr from kInfo on. Call once,
// from main, before threads start. Fails when the file cannot be opened.
absl::Status StartLogging(const LogOptions& options);

// "debug", "info", "warning" or "error"; else INVALID_ARGUMENT.
absl::Status ParseLogLevel(std::string_view name, LogLevel* level);

// key=value of a line.
class LogField {
 public:
  LogField(std::string_view key, std::string_view value);
  LogField(std::string_view key, const char* value)
      : LogField(key, std::string_view(value)) {}
  LogField(std::string_view key, const std::string& value)
      : LogField(key, std::string_view(value)) {}
  LogField(std::string_view key, bool value)
      : LogField(key, std::string_view(value ? "true" : "false")) {}
  LogField(std::string_view key, double value);
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
  LogField(std::string_view key, T value)
      : LogField(key, std::string_view(std::to_string(value))) {}
  LogField(std::string_view key, const absl::Status& value)
      : LogField(key, std::string_view(value.ToString())) {}

  // " key=value", the value quoted when it is empty or holds anything but
  // printable ASCII without blanks, quotes, '=' and '\'.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

using LogFields = std::initializer_list<LogField>;

void LogDebug(std::string_view event, LogFields fields = {});
void LogInfo(std::string_view event, LogFields fields = {});
void LogWarning(std::string_view event, LogFields fields = {});
void LogError(std::string_view event, LogFields fields = {});

}  // namespace ordo::base

#endif  // ORDO_BASE_LOG_LOG_H_
