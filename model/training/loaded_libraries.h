#ifndef ORDO_MODEL_TRAINING_LOADED_LIBRARIES_H_
#define ORDO_MODEL_TRAINING_LOADED_LIBRARIES_H_

#include <string>
#include <vector>

namespace ordo::model::training {

// A digest of shared libraries as this process has loaded them, 16 hexadecimal
// digits: those whose file name begins with one of `prefixes` ("libm.").
//
// It is taken over each one's file name, program headers (elf(5): where every
// segment lies and how long it is, to the byte) and notes, among which is the
// linker's build id: a digest of all that it linked. They are in memory; to
// read LibTorch whole would take a second or two at each start. A library that
// was linked without a build id has only its headers to tell its builds apart.
// Where a library lies does not matter. Thread-safe.
std::string DigestOfLoaded(const std::vector<std::string>& prefixes);

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_LOADED_LIBRARIES_H_
