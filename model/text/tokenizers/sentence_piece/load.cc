#include "model/text/tokenizers/sentence_piece/load.h"

#include <dlfcn.h>
#include <unistd.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ordo::model::text::tokenizers::sentence_piece {

absl::StatusOr<const Library*> LoadLibrary(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) {
    return absl::NotFoundError(
        absl::StrCat("there is no SentencePiece at ", path,
                     ": build //model/text/tokenizers/sentence_piece:all"));
  }
  // Its own symbols before those of this program: both have a copy of Protocol
  // Buffers, of different versions.
  void* const handle =
      dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (handle == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("SentencePiece cannot be loaded: ", dlerror()));
  }
  const auto entry =
      reinterpret_cast<LibraryEntry>(dlsym(handle, kLibraryEntry));
  if (entry == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " is not Ordo's SentencePiece: it has no ", kLibraryEntry));
  }
  const Library* const library = entry();
  if (library->num_bytes != sizeof(Library)) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " is of another build than this program: build both again"));
  }
  return library;
}

}  // namespace ordo::model::text::tokenizers::sentence_piece
