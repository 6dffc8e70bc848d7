"""What Python takes for letters, digits and lower case, as tables for C++.

  python3 tools/unicode_tables/write_tables.py \\
      > model/text/scoring/unicode_tables.h

Public scoring code is Python: answers are compared in its lower case, and words
end where it says. Debian's Python 3.11 has Unicode 14.
"""

import sys
import unicodedata

_FIRST = 0x80
_END = 0x110000


def lower_runs():
    """Runs [first, last, step, delta] of code points with one lower case."""
    runs = []
    for code in range(_FIRST, _END):
        lower = chr(code).lower()
        if lower == chr(code) or len(lower) > 1:
            continue
        delta = ord(lower) - code
        if runs and runs[-1][3] == delta:
            first, last, step, _ = runs[-1]
            gap = code - last
            if gap == step or (first == last and gap == 2):
                runs[-1][1:3] = [code, gap]
                continue
        runs.append([code, code, 1, delta])
    return runs


def word_borders():
    """Where letters and digits begin and end, in turn."""
    borders = []
    inside = False
    for code in range(_FIRST, _END):
        if chr(code).isalnum() != inside:
            inside = not inside
            borders.append(code)
    if inside:
        borders.append(_END)
    return borders


def _filled(items):
    lines = []
    for item in items:
        if lines and len(lines[-1]) + len(item) + 2 <= 80:
            lines[-1] += " " + item + ","
        else:
            lines.append("    " + item + ",")
    return "\n".join(lines)


def text():
    runs = lower_runs()
    borders = word_borders()
    return _TEXT % {
        "version": unicodedata.unidata_version,
        "runs": _filled("{0x%X, 0x%X, %d, %d}" % tuple(run) for run in runs),
        "borders": _filled("0x%X" % border for border in borders),
    }


_TEXT = """\
#ifndef ORDO_MODEL_TEXT_SCORING_UNICODE_TABLES_H_
#define ORDO_MODEL_TEXT_SCORING_UNICODE_TABLES_H_

#include <cstdint>

// Written by tools/unicode_tables/write_tables.py from Unicode %(version)s: what
// lies above ASCII. unicode.h is what to use.

namespace ordo::model::text::scoring {

// Code points first, first + step, ..., last, each of which has the lower case
// that lies `delta` further on. Rising; no two overlap.
struct LowerRun {
  char32_t first;
  char32_t last;
  int step;
  int32_t delta;
};

// clang-format off
inline constexpr LowerRun kLowerRuns[] = {
%(runs)s
};

// Letters and digits are from the first to before the second, from the third to
// before the fourth, and so on.
inline constexpr char32_t kWordBorders[] = {
%(borders)s
};
// clang-format on

}  // namespace ordo::model::text::scoring

#endif  // ORDO_MODEL_TEXT_SCORING_UNICODE_TABLES_H_
"""

if __name__ == "__main__":
    sys.stdout.write(text())
