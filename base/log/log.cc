#include "base/log/log.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <unistd.h>
#include <utility>

#include <spdlog/details/console_globals.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include "base/log/log_together.h"
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

// Time in UTC, level in capitals, the line.
std::shared_ptr<spdlog::logger> MakeLogger(spdlog::sink_ptr sink) {
  auto logger = std::make_shared<spdlog::logger>("ordo", std::move(sink));
  logger->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      "%Y-%m-%dT%H:%M:%S.%fZ %v", spdlog::pattern_time_type::utc));
  return logger;
}

std::shared_ptr<spdlog::logger>& Logger() {
  // Never destroyed: threads may log until the very end.
  static auto* const logger = new std::shared_ptr<spdlog::logger>(
      MakeLogger(std::make_shared<StderrSink>()));
  return *logger;
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

constexpr const char* kNames[] = {"DEBUG", "INFO", "WARNING", "ERROR"};

void Log(LogLevel level, std::string_view event, const LogFields& fields) {
  spdlog::logger& logger = *Logger();
  if (!logger.should_log(ToSpdlog(level))) return;
  std::string line = kNames[static_cast<int>(level)];
  line.append(" ").append(event);
  for (const LogField& field : fields) line += field.text();
  logger.log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
  if (together == 0) logger.flush();
}

bool NeedsQuotes(std::string_view value) {
  if (value.empty()) return true;
  for (const char c : value) {
    if (c <= ' ' || c > '~' || c == '"' || c == '=' || c == '\\') return true;
  }
  return false;
}

std::string Quote(std::string_view value) {
  std::string quoted = "\"";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (byte < ' ' || byte == 0x7F) {
      std::array<char, 8> escape;
      std::snprintf(escape.data(), escape.size(), "\\x%02x", byte);
      quoted += escape.data();
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string ToText(double value) {
  std::array<char, 32> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return std::string(text.data(), end);
}

}  // namespace

LogField::LogField(std::string_view key, std::string_view value) {
  text_ = " " + std::string(key) + "=" +
          (NeedsQuotes(value) ? Quote(value) : std::string(value));
}

LogField::LogField(std::string_view key, double value)
    : LogField(key, std::string_view(ToText(value))) {}

LogTogether::LogTogether() { ++together; }

LogTogether::~LogTogether() {
  if (--together == 0) Logger()->flush();
}

absl::Status StartLogging(const LogOptions& options) {
  if (!options.file.empty()) {
    // spdlog throws when it cannot open the file; asking first gives the
    // system's own reason.
    std::FILE* const file = std::fopen(options.file.c_str(), "a");
    if (file == nullptr) {
      return SystemError(errno, "open log file " + options.file);
    }
    std::fclose(file);
    Logger() = MakeLogger(
        std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file));
  }
  Logger()->set_level(ToSpdlog(options.level));
  return absl::OkStatus();
}

absl::Status ParseLogLevel(std::string_view name, LogLevel* level) {
  constexpr std::pair<const char*, LogLevel> kLevels[] = {
      {"debug", LogLevel::kDebug},
      {"info", LogLevel::kInfo},
      {"warning", LogLevel::kWarning},
      {"error", LogLevel::kError},
  };
  for (const auto& [known, value] : kLevels) {
    if (name == known) {
      *level = value;
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(
      "log level '" + std::string(name) +
      "' is unknown; valid: debug, info, warning, error");
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
