#ifndef ORDO_TESTS_MUTATIONS_MUTANTS_H_
#define ORDO_TESTS_MUTATIONS_MUTANTS_H_

#include <vector>

// The mistakes in the copies of sources that this program is linked with, as
// mutate.py writes them.

namespace ordo::tests::mutations {

struct Mutant {
  // From 1.
  int number;
  // The source, from the repository's root.
  const char* file;
  // The mistake.
  const char* what;
  // The tests that must reject it, as GoogleTest's --gtest_filter.
  const char* tests;
};

// The mistake that the copies now make; 0: none.
extern int active;

// All of them, by number.
const std::vector<Mutant>& Mutants();

}  // namespace ordo::tests::mutations

#endif  // ORDO_TESTS_MUTATIONS_MUTANTS_H_
