#ifndef ORDO_MODEL_CATALOG_PAGE_H_
#define ORDO_MODEL_CATALOG_PAGE_H_

#include <string>
#include <string_view>

#include "model/catalog/catalog.h"

// What the catalogue says of encodings, for people.

namespace ordo::model::catalog {

// Which rows of a full pass decoding gives, or "refused".
std::string_view DecodingName(Decoding decoding);

// A parameter's default as a spec writes it: "0.5", "true", "[1,2]".
std::string DefaultText(const Param& param);

// The page docs/encodings.md, in Markdown: every encoding with its formula,
// parameters, what happens past the trained length, decoding, kernels, source.
std::string EncodingsPage();

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_PAGE_H_
