#ifndef ORDO_MODEL_TEXT_TOKENIZERS_SENTENCE_PIECE_LIBRARY_H_
#define ORDO_MODEL_TEXT_TOKENIZERS_SENTENCE_PIECE_LIBRARY_H_

#include <cstddef>

// What libordo_sentence_piece.so offers. It is a library of its own, loaded at
// run time into a scope of its own, since SentencePiece exports the symbols of
// the Protocol Buffers that it carries, which are not those of this program.
// Only plain types cross the border, and no memory changes hands.

namespace ordo::model::text::tokenizers::sentence_piece {

// What crosses is valid during the call only.
struct Bytes {
  const char* data = nullptr;
  size_t size = 0;
};
struct Ids {
  const int* data = nullptr;
  size_t size = 0;
};
// NAME=VALUE, of the library's trainer.
struct Names {
  const char* const* data = nullptr;
  size_t size = 0;
};

struct Sink {
  void (*take)(void* to, Bytes bytes) = nullptr;
  void* to = nullptr;
};

// Gives the next text: whether there is one. It stays valid until the next
// call.
struct TextSource {
  bool (*next)(void* from, Bytes* text) = nullptr;
  void* from = nullptr;
};

struct Library {
  // sizeof(Library) of its build.
  size_t num_bytes;

  // A model from the bytes of its file; nullptr: there is none, and `error`
  // takes why. Calls with it are thread-safe, but for `drop`, the last.
  void* (*load)(Bytes file, const Sink& error);
  int (*vocabulary_size)(const void* model);
  // -1: there is none.
  int (*begin)(const void* model);
  int (*end)(const void* model);
  // `ids` takes ints. False: `error` takes why.
  bool (*encode)(const void* model, Bytes text, const Sink& ids,
                 const Sink& error);
  bool (*decode)(const void* model, Ids ids, const Sink& text,
                 const Sink& error);
  void (*drop)(void* model);

  // `model` takes the bytes of a file. One call at a time.
  bool (*train)(Names options, const TextSource& texts, const Sink& model,
                const Sink& error);
};

// extern "C" const Library* OrdoSentencePiece();
using LibraryEntry = const Library* (*)();
inline constexpr char kLibraryEntry[] = "OrdoSentencePiece";

}  // namespace ordo::model::text::tokenizers::sentence_piece

#endif  // ORDO_MODEL_TEXT_TOKENIZERS_SENTENCE_PIECE_LIBRARY_H_
