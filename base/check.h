#ifndef ORDO_BASE_CHECK_H_
#define ORDO_BASE_CHECK_H_

#include <cstdlib>
#include <iostream>
#include <sstream>

// ORDO_CHECK(condition) << "what must hold";
//
// For programmer errors only: a broken invariant or precondition of our own
// code. Never for input, disk, network or a peer; those return absl::Status.
// On failure prints file:line, the condition and the text to stderr and aborts.
#define ORDO_CHECK(condition)                                                  \
  (condition) ? static_cast<void>(0)                                           \
              : ::ordo::base::CheckIgnored() &                                 \
                    ::ordo::base::CheckFailure(__FILE__, __LINE__, #condition) \
                        .stream()

namespace ordo::base {

// Collects the text streamed after a failed ORDO_CHECK; aborts at its end.
class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const char* condition) {
    text_ << file << ":" << line << ": check failed: " << condition << " ";
  }
  CheckFailure(const CheckFailure&) = delete;
  CheckFailure& operator=(const CheckFailure&) = delete;
  [[noreturn]] ~CheckFailure() {
    std::cerr << text_.str() << std::endl;
    std::abort();
  }

  std::ostream& stream() { return text_; }

 private:
  std::ostringstream text_;
};

// Makes the failing branch of ORDO_CHECK void; & binds weaker than <<.
struct CheckIgnored {
  void operator&(std::ostream&) {}
};

}  // namespace ordo::base

#endif  // ORDO_BASE_CHECK_H_
