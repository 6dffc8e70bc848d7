#ifndef ORDO_SCHEDULER_CORE_REQUEST_MARK_H_
#define ORDO_SCHEDULER_CORE_REQUEST_MARK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ordo::scheduler::core {

// By which request a job was made: the id that the caller gave it, and a
// digest of what it asked for, so that its repeat is known and another that
// reuses the id is refused; and the trace that it was part of
// (base/trace/trace.h). All lie in one block, what is hex at half of its
// length: there are a million of them. Never changes; copied as a value.
class RequestMark {
 public:
  // Without a request id there is nothing to know again, and no fingerprint is
  // kept. `trace_parent`: valid, or empty for none.
  RequestMark() = default;
  RequestMark(std::string_view id, std::string_view fingerprint,
              std::string_view trace_parent = {});
  RequestMark(const RequestMark& other) { *this = other; }
  RequestMark(RequestMark&&) noexcept = default;
  RequestMark& operator=(const RequestMark& other);
  RequestMark& operator=(RequestMark&&) noexcept = default;
  ~RequestMark() = default;

  // There is no id.
  bool empty() const { return id().empty(); }
  // Empty: there is none. Valid as long as this is.
  std::string_view id() const;
  // As it was given.
  std::string fingerprint() const;
  std::string trace_parent() const;

 private:
  struct Header {
    uint32_t id_size;
    uint32_t fingerprint_size : 23;
    // The bytes are those of a fingerprint in hex.
    uint32_t is_hex : 1;
    // 0: there is no trace.
    uint32_t trace_size : 8;
  };

  Header header() const;
  size_t size() const;

  // Header, id, bytes of the fingerprint, of the trace. Null: there is none of
  // them.
  std::unique_ptr<char[]> block_;
};

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_REQUEST_MARK_H_
