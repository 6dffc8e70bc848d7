#ifndef ORDO_BASE_DIGEST_SECRET_H_
#define ORDO_BASE_DIGEST_SECRET_H_

#include <cstddef>
#include <string>

namespace ordo::base {

// Bytes that nobody can guess, from the system's generator through OpenSSL.
std::string RandomBytes(size_t size);

}  // namespace ordo::base

#endif  // ORDO_BASE_DIGEST_SECRET_H_
