#include "base/digest/secret.h"

#include <openssl/rand.h>

#include "base/check.h"

namespace ordo::base {

std::string RandomBytes(size_t size) {
  std::string bytes(size, '\0');
  ORDO_CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()),
                        static_cast<int>(size)) == 1)
      << "OpenSSL has no random bytes";
  return bytes;
}

}  // namespace ordo::base
