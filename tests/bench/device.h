#ifndef ORDO_TESTS_BENCH_DEVICE_H_
#define ORDO_TESTS_BENCH_DEVICE_H_

#include <string>

#include "absl/status/status.h"
#include "kernels/common/type.h"

namespace ordo::tests::bench {

// What --device says: cpu, cuda or cuda:0. INVALID_ARGUMENT for anything else.
absl::Status ReadDevice(const std::string& value, kernels::Device* device);

// Before anything runs there: of a GPU, the libraries and the rows of the
// tables that it needs. FAILED_PRECONDITION names the flag and what is missing.
absl::Status OpenDevice(kernels::Device device);

}  // namespace ordo::tests::bench

#endif  // ORDO_TESTS_BENCH_DEVICE_H_
