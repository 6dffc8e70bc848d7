#ifndef ORDO_BASE_TRACE_TRACE_H_
#define ORDO_BASE_TRACE_TRACE_H_

#include <string>
#include <string_view>

// Which trace something is part of, as W3C Trace Context says it
// (https://www.w3.org/TR/trace-context-1/): a `traceparent` such as
// "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" is version, trace
// id, id of the caller's span, flags, all in lower-case hexadecimal digits. It
// is handed on as it came from whoever made the job to its trainers, so that
// what each of them logs can be found by one id. Pure.

namespace ordo::base {

// The metadata entry of a call, and the variable of a process.
inline constexpr char kTraceParentKey[] = "traceparent";
inline constexpr char kTraceParentVariable[] = "TRACEPARENT";
// Of a trace id and a span id.
inline constexpr size_t kTraceRandomBytes = 24;

// The same of version 00, with no flag but `sampled`; of a later version what
// version 00 knows of it. Empty: `text` is none, and as the standard has it
// whoever meets it goes on as if nothing had been there.
std::string ParseTraceParent(std::string_view text);

// A new, sampled one of kTraceRandomBytes random bytes; empty when they are not
// as many, or all that becomes an id is zero.
std::string MakeTraceParent(std::string_view random);

// The trace id of what ParseTraceParent gives; empty of what is empty.
std::string TraceIdOf(std::string_view trace_parent);

// What ParseTraceParent gives in 25 bytes, and back; empty of what is empty.
std::string PackTraceParent(std::string_view trace_parent);
std::string UnpackTraceParent(std::string_view bytes);

}  // namespace ordo::base

#endif  // ORDO_BASE_TRACE_TRACE_H_
