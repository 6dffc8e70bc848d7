#ifndef ORDO_BASE_LOG_LOG_H_
#define ORDO_BASE_LOG_LOG_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"

// One line per event:
//
//   LogInfo("attempt started", {{"job", name}, {"attempt", 2}});
//   2026-11-20T21:30:00.123456Z INFO attempt started job=a attempt=2
//   {"time":"2026-11-20T21:30:00.123456Z","level":"INFO",
//    "event":"attempt started","job":"a","attempt":2}
//
// as text or, on one line, as JSON. What fields are called: base/log/fields.h.
// INFO: a person would want it tomorrow. WARNING: degraded; counted as a metric
// too. ERROR: someone must act. Of WARNING and ERROR the same line is written
// ten times in ten seconds at most; then how many more there were, as the same
// with `held_back`. All calls are thread-safe. Pure code does not log.

namespace ordo::base {

enum class LogLevel { kDebug, kInfo, kWarning, kError };
inline constexpr LogLevel kLogLevels[] = {LogLevel::kDebug, LogLevel::kInfo,
                                          LogLevel::kWarning, LogLevel::kError};
// "debug", "info", "warning" or "error".
const char* NameOf(LogLevel level);

enum class LogFormat { kText, kJson };

// key=value of a line.
class LogField {
 public:
  LogField(std::string_view key, std::string_view value)
      : LogField(key, std::string(value), Kind::kString) {}
  LogField(std::string_view key, const char* value)
      : LogField(key, std::string_view(value)) {}
  LogField(std::string_view key, const std::string& value)
      : LogField(key, std::string_view(value)) {}
  LogField(std::string_view key, bool value)
      : LogField(key, value ? "true" : "false", Kind::kBare) {}
  LogField(std::string_view key, double value);
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
  LogField(std::string_view key, T value)
      : LogField(key, std::to_string(value), Kind::kBare) {}
  LogField(std::string_view key, const absl::Status& value)
      : LogField(key, std::string_view(value.ToString())) {}

  // One that is not in the line when the value is empty.
  static LogField IfAny(std::string_view key, std::string_view value) {
    return LogField(key, std::string(value),
                    value.empty() ? Kind::kNone : Kind::kString);
  }

  // " key=value", the value quoted where that is needed; and ",\"key\":value".
  std::string text() const;
  std::string json() const;

 private:
  // A bare value is what JSON calls a number, true or false.
  enum class Kind { kNone, kString, kBare };

  LogField(std::string_view key, std::string value, Kind kind)
      : key_(key), value_(std::move(value)), kind_(kind) {}

  std::string key_;
  std::string value_;
  Kind kind_;
};

struct LogOptions {
  // Lines below this level are dropped.
  LogLevel level = LogLevel::kInfo;
  // File to append to; empty is stderr.
  std::string file = {};
  LogFormat format = LogFormat::kText;
  // At the end of every line: what all that the process does concerns.
  std::vector<LogField> common = {};
};

// Sets where lines go. Without it they go to stderr from kInfo on. Call once,
// from main, before threads start. Fails when the file cannot be opened.
absl::Status StartLogging(const LogOptions& options);

// "debug", "info", "warning" or "error"; else INVALID_ARGUMENT.
absl::Status ParseLogLevel(std::string_view name, LogLevel* level);
// "text" or "json"; else INVALID_ARGUMENT.
absl::Status ParseLogFormat(std::string_view name, LogFormat* format);

// Lines of this process that were logged so far, dropped or held back ones not
// counted; and those that were held back.
int64_t NumLogLines(LogLevel level);
int64_t NumHeldBackLogLines();

using LogFields = std::initializer_list<LogField>;

void LogDebug(std::string_view event, LogFields fields = {});
void LogInfo(std::string_view event, LogFields fields = {});
void LogWarning(std::string_view event, LogFields fields = {});
void LogError(std::string_view event, LogFields fields = {});

}  // namespace ordo::base

#endif  // ORDO_BASE_LOG_LOG_H_
