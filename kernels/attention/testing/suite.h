#ifndef ORDO_KERNELS_ATTENTION_TESTING_SUITE_H_
#define ORDO_KERNELS_ATTENTION_TESTING_SUITE_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/attention/check/case.h"
#include "kernels/attention/check/problems.h"
#include "kernels/attention/table.h"
#include "kernels/common/device_graphs.h"

// What every kernel must do with a problem: of this machine, and device code on
// an emulated device.

namespace ordo::kernels::attention::testing {

using check::Case;
using check::RunOptions;

// Expects no misses (check/compare.h).
void ExpectNearReference(const Case& c, const Kernel& kernel,
                         const RunOptions& options);

// Expects the same bits of two runs.
void ExpectSameBits(const Case& c, const Kernel& kernel,
                    const RunOptions& options, const RunOptions& others);

// Expects the same bits of passes that run from graphs (captured.h); the memory
// of `options` is counted.
void ExpectSameBitsFromGraphs(const Problem& problem, const Kernel& kernel,
                              const DeviceGraphs& graphs,
                              const RunOptions& options);

// What a message is to say, and what makes a problem one that is refused.
using Refused = std::pair<std::string, std::function<void(Problem*)>>;

// Expects that the kernel takes the problem, and refuses it by name after each
// of the changes alone.
void ExpectRefused(const Kernel& kernel, const Problem& problem,
                   const std::vector<Refused>& refused);

// Expects of a number that is none that it goes through to the outputs: a model
// that diverges has to show it.
void ExpectNotANumberIsSeen(Type type, const Kernel& kernel);

// Expects of a bias that falls with the distance that no pass computes with
// tiles of keys to which it leaves no weight (near_keys.h): there a value or a
// gradient that is no number would spoil what it is multiplied by 0 for. But a
// key that is none is seen by all queries from its own on.
void ExpectFarKeysAreLeftOut(Type type, const Kernel& kernel,
                             const RunOptions& options);

}  // namespace ordo::kernels::attention::testing

#endif  // ORDO_KERNELS_ATTENTION_TESTING_SUITE_H_
