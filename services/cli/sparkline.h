#ifndef ORDO_SERVICES_CLI_SPARKLINE_H_
#define ORDO_SERVICES_CLI_SPARKLINE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace ordo::services::cli {

// Numbers as they come, in bounded space: once there are many, each that is
// kept is the mean of equally many that came one after the other.
class History {
 public:
  static constexpr size_t kMaxValues = 512;

  // One that is not finite is left out.
  void Add(double value);
  // Oldest first; what has come since the last whole mean is not among them.
  const std::vector<double>& values() const { return values_; }

 private:
  std::vector<double> values_;
  // So many make one of `values_`.
  size_t stride_ = 1;
  double sum_ = 0;
  size_t count_ = 0;
};

// Finite values, one or more, as columns between the least and the
// greatest: at most `width` > 0, each the mean of its share of them. Blocks of
// Unicode, or ASCII.
std::string Sparkline(const std::vector<double>& values, int width,
                      bool unicode);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_SPARKLINE_H_
