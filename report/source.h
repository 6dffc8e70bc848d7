#ifndef ORDO_REPORT_SOURCE_H_
#define ORDO_REPORT_SOURCE_H_

#include <cstddef>
#include <string>
#include <vector>

// What a figure was made of. Pure functions, thread-safe.

namespace ordo::report {

// A model that a figure shows.
struct SourceModel {
  // Of its job or of its checkpoint, for people.
  std::string name;
  // SHA-256 of the MANIFEST.json of its checkpoint; empty: not known.
  std::string checkpoint_sha256;
};

struct FigureSource {
  // Id of the job that the figure is of; several with blanks between them.
  std::string job;
  std::vector<SourceModel> models;
  // That makes the figure again.
  std::string command;
};

// Models beyond are counted, and not named: their digests stand in the tables
// of the report.
inline constexpr size_t kMaxSourceModels = 24;

// "job c; checkpoints of c-: rope-s1 c0ffee00c0ff, tape-s1 unknown and 2 more;
// again: ordo report c". Digests have twelve digits; of several names of parts
// what they all begin with, up to a `-`, is written once.
std::string SourceText(const FigureSource& source);

}  // namespace ordo::report

#endif  // ORDO_REPORT_SOURCE_H_
