#ifndef ORDO_KERNELS_ATTENTION_CHECK_COVERING_H_
#define ORDO_KERNELS_ATTENTION_CHECK_COVERING_H_

#include <functional>
#include <vector>

// Few rows in which everything meets everything: tests of all combinations of
// many choices would never end, and mistakes mostly need two of them.

namespace ordo::kernels::attention::check {

// A choice of each axis, by its number.
using Row = std::vector<int>;

// Rows such that any two choices of two axes are in one together, if `may_be`
// allows a row of these two and the first choice of all other axes, and none
// that it does not allow. Axis i has sizes[i] choices. The same for the same
// arguments; not the fewest rows that there could be, but few more than the two
// largest axes have pairs.
std::vector<Row> CoveringRows(
    const std::vector<int>& sizes,
    const std::function<bool(const Row& row)>& may_be);

}  // namespace ordo::kernels::attention::check

#endif  // ORDO_KERNELS_ATTENTION_CHECK_COVERING_H_
