#include "base/trace/trace.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace ordo::base {
namespace {

// Where the parts of a traceparent lie, and how long they are.
constexpr size_t kVersionDigits = 2;
constexpr size_t kTraceId = 3;
constexpr size_t kTraceIdDigits = 32;
constexpr size_t kSpanId = 36;
constexpr size_t kSpanIdDigits = 16;
constexpr size_t kFlags = 53;
constexpr size_t kSize = 55;
constexpr size_t kTraceIdBytes = kTraceIdDigits / 2;
constexpr size_t kPackedBytes = kTraceRandomBytes + 1;
// The last digit of the flags has it as its lowest bit.
constexpr std::string_view kOddDigits = "13579bdf";

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

// An id is not all zeros.
bool IsId(std::string_view text) {
  return IsHex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

std::string Joined(std::string_view trace_id, std::string_view span_id,
                   bool sampled) {
  return absl::StrCat("00-", std::string(trace_id), "-", std::string(span_id),
                      sampled ? "-01" : "-00");
}

}  // namespace

std::string ParseTraceParent(std::string_view text) {
  if (text.size() < kSize) return "";
  const std::string_view version = text.substr(0, kVersionDigits);
  const std::string_view trace_id = text.substr(kTraceId, kTraceIdDigits);
  const std::string_view span_id = text.substr(kSpanId, kSpanIdDigits);
  const std::string_view flags = text.substr(kFlags, kSize - kFlags);
  if (!IsHex(version) || version == "ff" || !IsId(trace_id) || !IsId(span_id) ||
      !IsHex(flags)) {
    return "";
  }
  for (const size_t dash : {kTraceId - 1, kSpanId - 1, kFlags - 1}) {
    if (text[dash] != '-') return "";
  }
  // Later versions may have more, behind a dash.
  if (text.size() > kSize && (version == "00" || text[kSize] != '-')) return "";
  const bool sampled = kOddDigits.find(flags.back()) != std::string_view::npos;
  return Joined(trace_id, span_id, sampled);
}

std::string MakeTraceParent(std::string_view random) {
  if (random.size() != kTraceRandomBytes) return "";
  const std::string digits = absl::BytesToHexString(std::string(random));
  return ParseTraceParent(Joined(
      std::string_view(digits).substr(0, kTraceIdDigits),
      std::string_view(digits).substr(kTraceIdDigits), /*sampled=*/true));
}

std::string TraceIdOf(std::string_view trace_parent) {
  if (trace_parent.size() != kSize) return "";
  return std::string(trace_parent.substr(kTraceId, kTraceIdDigits));
}

std::string PackTraceParent(std::string_view trace_parent) {
  if (trace_parent.size() != kSize) return "";
  const auto bytes = [trace_parent](size_t begin, size_t num_digits) {
    return absl::HexStringToBytes(
        std::string(trace_parent.substr(begin, num_digits)));
  };
  return absl::StrCat(bytes(kTraceId, kTraceIdDigits),
                      bytes(kSpanId, kSpanIdDigits),
                      bytes(kFlags, kSize - kFlags));
}

std::string UnpackTraceParent(std::string_view bytes) {
  if (bytes.size() != kPackedBytes) return "";
  const auto digits = [bytes](size_t begin, size_t count) {
    return absl::BytesToHexString(std::string(bytes.substr(begin, count)));
  };
  return Joined(digits(0, kTraceIdBytes),
                digits(kTraceIdBytes, kTraceRandomBytes - kTraceIdBytes),
                bytes.back() == 1);
}

}  // namespace ordo::base
