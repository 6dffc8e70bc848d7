#include "base/units/units.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace ordo::base {
namespace {

template <typename... Arguments>
std::string Print(const char* format, Arguments... arguments) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), format, arguments...);
  return text.data();
}

// `value` >= 0 with one decimal place and the first unit in which it is below
// `step` once rounded.
template <size_t N>
std::string Scale(double value, double step,
                  const std::array<const char*, N>& units) {
  size_t unit = 0;
  while (unit + 1 < N && std::round(value * 10) / 10 >= step) {
    value /= step;
    ++unit;
  }
  if (unit == 0) return Print("%.0f%s", value, units[0]);
  return Print("%.1f%s", value, units[unit]);
}

}  // namespace

std::string HumanDuration(absl::Duration duration) {
  if (duration == absl::InfiniteDuration()) return "-";
  if (duration < absl::ZeroDuration()) return "-" + HumanDuration(-duration);
  if (duration == absl::ZeroDuration()) return "0s";
  if (duration < absl::Milliseconds(999.5)) {
    return Print("%.0fms", std::ceil(absl::ToDoubleMilliseconds(duration)));
  }
  if (duration < absl::Seconds(9.95)) {
    return Print("%.1fs", absl::ToDoubleSeconds(duration));
  }
  const auto seconds =
      static_cast<long long>(std::llround(absl::ToDoubleSeconds(duration)));
  if (seconds < 60) return Print("%llds", seconds);
  if (seconds < 3600) return Print("%lldm%02llds", seconds / 60, seconds % 60);
  const long long minutes = seconds / 60;
  if (minutes < 24 * 60) {
    return Print("%lldh%02lldm", minutes / 60, minutes % 60);
  }
  const long long hours = minutes / 60;
  return Print("%lldd%02lldh", hours / 24, hours % 24);
}

std::string HumanBytes(uint64_t num_bytes) {
  constexpr std::array<const char*, 6> kUnits = {" B",   " KiB", " MiB",
                                                 " GiB", " TiB", " PiB"};
  return Scale(static_cast<double>(num_bytes), 1024, kUnits);
}

std::string HumanCount(double count) {
  constexpr std::array<const char*, 5> kUnits = {"", "k", "M", "G", "T"};
  if (count < 0) return "-" + HumanCount(-count);
  return Scale(count, 1000, kUnits);
}

}  // namespace ordo::base
