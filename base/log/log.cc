#include "base/log/log.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <memory>
#include <unistd.h>
#include <utility>

#include <spdlog/details/console_globals.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include "absl/time/time.h"
#include "base/log/log_together.h"
#include "base/log/quote.h"
#include "base/log/repeats.h"
#include "base/mutex.h"
#include "base/status/status.h"

namespace ordo::base {
namespace {

// How many LogTogether this thread has.
thread_local int together = 0;

// Lines go to stderr when they are flushed, or there are many of them.
class StderrSink
    : public spdlog::sinks::base_sink<spdlog::details::console_mutex::mutex_t> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    formatter_->format(message, lines_);
    if (lines_.size() >= kMaxKept) flush_();
  }
  void flush_() override {
    const char* begin = lines_.data();
    const char* const end = begin + lines_.size();
    while (begin < end) {
      const ssize_t written =
          write(STDERR_FILENO, begin, static_cast<size_t>(end - begin));
      if (written < 0 && errno == EINTR) continue;
      // There is nowhere to say it.
      if (written <= 0) break;
      begin += written;
    }
    lines_.clear();
  }

 private:
  static constexpr size_t kMaxKept = 64 << 10;

  spdlog::memory_buf_t lines_;
};

// Time in UTC, and what Log makes of the rest.
std::shared_ptr<spdlog::logger> MakeLogger(spdlog::sink_ptr sink,
                                           LogFormat format) {
  auto logger = std::make_shared<spdlog::logger>("ordo", std::move(sink));
  logger->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      format == LogFormat::kJson ? "{\"time\":\"%Y-%m-%dT%H:%M:%S.%fZ\",%v}"
                                 : "%Y-%m-%dT%H:%M:%S.%fZ %v",
      spdlog::pattern_time_type::utc));
  return logger;
}

// Where lines go, and what is at their end.
struct Place {
  std::shared_ptr<spdlog::logger> logger =
      MakeLogger(std::make_shared<StderrSink>(), LogFormat::kText);
  LogFormat format = LogFormat::kText;
  std::string common;
};

Place& ThePlace() {
  // Never destroyed: threads may log until the very end.
  static auto* const place = new Place;
  return *place;
}

// What has been written, and what is held back.
struct Counts {
  std::array<std::atomic<int64_t>, std::size(kLogLevels)> lines = {};
  Mutex mutex;
  Repeats repeats ORDO_GUARDED_BY(mutex);
};

Counts& TheCounts() {
  static auto* const counts = new Counts;
  return *counts;
}

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

constexpr const char* kNames[] = {"debug", "info", "warning", "error"};
// As lines have them.
constexpr const char* kCapitals[] = {"DEBUG", "INFO", "WARNING", "ERROR"};

std::string Rendered(const LogField& field, LogFormat format) {
  return format == LogFormat::kJson ? field.json() : field.text();
}

// All of a line but its time.
std::string Rendered(LogLevel level, std::string_view event,
                     const LogFields& fields) {
  const Place& place = ThePlace();
  std::string line = kCapitals[static_cast<int>(level)];
  if (place.format == LogFormat::kJson) {
    line = "\"level\":\"" + line + "\",\"event\":" + JsonString(event);
  } else {
    line.append(" ").append(event);
  }
  for (const LogField& field : fields) line += Rendered(field, place.format);
  return line + place.common;
}

void Write(LogLevel level, const std::string& line) {
  ThePlace().logger->log(ToSpdlog(level),
                         spdlog::string_view_t(line.data(), line.size()));
}

// Whether to write a line now. Writes what was held back of others before.
bool IsShown(LogLevel level, const std::string& line) {
  Counts& counts = TheCounts();
  const absl::Duration now =
      absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
  std::vector<Repeats::HeldBack> over;
  bool shown = true;
  {
    MutexLock lock(counts.mutex);
    if (level >= LogLevel::kWarning) shown = counts.repeats.IsShown(line, now);
    over = counts.repeats.TakeOver(now);
  }
  for (const Repeats::HeldBack& each : over) {
    // No level that is dropped was held back.
    Write(LogLevel::kError,
          each.line +
              Rendered(LogField("held_back", each.count), ThePlace().format));
  }
  return shown;
}

void Log(LogLevel level, std::string_view event, const LogFields& fields) {
  spdlog::logger& logger = *ThePlace().logger;
  if (!logger.should_log(ToSpdlog(level))) return;
  const std::string line = Rendered(level, event, fields);
  if (IsShown(level, line)) {
    ++TheCounts().lines[static_cast<size_t>(level)];
    Write(level, line);
  }
  if (together == 0) logger.flush();
}

std::string ToText(double value) {
  std::array<char, 32> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return std::string(text.data(), end);
}

}  // namespace

LogField::LogField(std::string_view key, double value)
    : LogField(key, ToText(value),
               std::isfinite(value) ? Kind::kBare : Kind::kString) {}

std::string LogField::text() const {
  if (kind_ == Kind::kNone) return "";
  return " " + key_ + "=" + TextValue(value_);
}

std::string LogField::json() const {
  if (kind_ == Kind::kNone) return "";
  return ",\"" + key_ +
         "\":" + (kind_ == Kind::kBare ? value_ : JsonString(value_));
}

const char* NameOf(LogLevel level) { return kNames[static_cast<int>(level)]; }

LogTogether::LogTogether() { ++together; }

LogTogether::~LogTogether() {
  if (--together == 0) ThePlace().logger->flush();
}

absl::Status StartLogging(const LogOptions& options) {
  Place& place = ThePlace();
  spdlog::sink_ptr sink;
  if (!options.file.empty()) {
    // spdlog throws when it cannot open the file; asking first gives the
    // system's own reason.
    std::FILE* const file = std::fopen(options.file.c_str(), "a");
    if (file == nullptr) {
      return SystemError(errno, "open log file " + options.file);
    }
    std::fclose(file);
    sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file);
  } else {
    sink = place.logger->sinks().front();
  }
  place.logger = MakeLogger(std::move(sink), options.format);
  place.logger->set_level(ToSpdlog(options.level));
  place.format = options.format;
  place.common.clear();
  for (const LogField& field : options.common) {
    place.common += Rendered(field, options.format);
  }
  return absl::OkStatus();
}

absl::Status ParseLogLevel(std::string_view name, LogLevel* level) {
  for (const LogLevel each : kLogLevels) {
    if (name == NameOf(each)) {
      *level = each;
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(
      "log level '" + std::string(name) +
      "' is unknown; valid: debug, info, warning, error");
}

absl::Status ParseLogFormat(std::string_view name, LogFormat* format) {
  if (name != "text" && name != "json") {
    return absl::InvalidArgumentError("log format '" + std::string(name) +
                                      "' is unknown; valid: text, json");
  }
  *format = name == "json" ? LogFormat::kJson : LogFormat::kText;
  return absl::OkStatus();
}

int64_t NumLogLines(LogLevel level) {
  return TheCounts().lines[static_cast<size_t>(level)];
}

int64_t NumHeldBackLogLines() {
  Counts& counts = TheCounts();
  MutexLock lock(counts.mutex);
  return counts.repeats.num_held_back();
}

void LogDebug(std::string_view event, LogFields fields) {
  Log(LogLevel::kDebug, event, fields);
}
void LogInfo(std::string_view event, LogFields fields) {
  Log(LogLevel::kInfo, event, fields);
}
void LogWarning(std::string_view event, LogFields fields) {
  Log(LogLevel::kWarning, event, fields);
}
void LogError(std::string_view event, LogFields fields) {
  Log(LogLevel::kError, event, fields);
}

}  // namespace ordo::base
