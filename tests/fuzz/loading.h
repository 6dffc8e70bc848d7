#ifndef ORDO_TESTS_FUZZ_LOADING_H_
#define ORDO_TESTS_FUZZ_LOADING_H_

#include "scheduler/core/load.h"

namespace ordo::tests::fuzz {

// Loads what a store gave, whatever it is. Ends the process unless the core
// refuses it with DATA_LOSS, or has a state in which all holds and whose
// durable part it loads again.
void CheckLoads(const scheduler::core::Records& records);

}  // namespace ordo::tests::fuzz

#endif  // ORDO_TESTS_FUZZ_LOADING_H_
