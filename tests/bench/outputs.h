#ifndef ORDO_TESTS_BENCH_OUTPUTS_H_
#define ORDO_TESTS_BENCH_OUTPUTS_H_

#include <string>

#include "absl/status/status.h"

// Where benchmarks write what they find, tried before they measure for minutes.

namespace ordo::tests::bench {

// Whether a file can be written at --json's path, which stays as it is: its
// folder is there and takes files. FAILED_PRECONDITION names the flag, the path
// and why not. Empty: nothing is to be written.
absl::Status CheckJsonFile(const std::string& path);

// Makes --plots' folder and draws a figure there, which it removes: the folder
// takes files and figures can be drawn. Errors as above.
absl::Status CheckPlotsFolder(const std::string& folder);

}  // namespace ordo::tests::bench

#endif  // ORDO_TESTS_BENCH_OUTPUTS_H_
