#ifndef ORDO_SERVICES_TESTING_MODEL_FOLDERS_H_
#define ORDO_SERVICES_TESTING_MODEL_FOLDERS_H_

#include <map>
#include <string>

#include "base/files/files.h"
#include "proto/ordo/checkpoints/v1/checkpoints.pb.h"

// Folders of models as other programs write them.

namespace ordo::services::testing {

// Content by file name.
using Folder = std::map<std::string, std::string>;

// A llama of one layer, width 16, two heads and 19 tokens, with small weights
// that are always the same.
Folder TinyLlama();
// The same in two files and an index.
Folder ShardedLlama();

// Its list, as a client sends it.
ordo::checkpoints::v1::Upload ListOf(const Folder& folder);

// Writes the files into a folder that exists.
void WriteTo(base::Filesystem& files, const std::string& path,
             const Folder& folder);

}  // namespace ordo::services::testing

#endif  // ORDO_SERVICES_TESTING_MODEL_FOLDERS_H_
