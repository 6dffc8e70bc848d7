"""Golden scores of text answers: those of public implementations.

  python3 -m tools.golden.scoring tests/golden

Writes scoring/cases.json: predictions, references, and what ROUGE, exact match
and F1 give. ROUGE is that of the Python package rouge_score, which the metric of
SCROLLS calls (the largest of each kind over the references). Exact match and F1
are computed here from the definition that SQuAD published, with Python's own
str and re. Needs rouge_score; the file says which version made it.
"""

import collections
import json
import os
import re
import string
import sys

ROUGE = ("rouge1", "rouge2", "rougeL", "rougeLsum")


def cases():
    """(prediction, references): short ones, summaries, other scripts."""
    return [
        ("exact match example", ["exact match example"]),
        ("hello there", ["hello", "hi there"]),
        ("general kenobi", ["commander kenobi"]),
        ("", ["the"]),
        ("The", ["", "a"]),
        ("an apple a day", ["The apple, a day!"]),
        ("no no no", ["no no"]),
        ("Entailment", ["Not mentioned", "entailment."]),
        ("It's 3,000 (U.S.)", ["its 3000 US", "it s 3 000 u s"]),
        ("\u201cThe \u00c9cole\u201d \u2014 a school",
         ["the \u00e9cole school", "\u201c \u00c9COLE\u201d \u2014 school"]),
        ("\u041c\u041e\u0421\u041a\u0412\u0410 1147",
         ["\u043c\u043e\u0441\u043a\u0432\u0430"]),
        ("na\u00efve a\u0301b a\u00e9", ["naive ab a\u00e9"]),
        ("one\u00a0two\u3000three\x1dfour", ["one two three four"]),
        ("b c\na", ["a b c"]),
        ("a b c d\ne f g", ["e f g\na b c d", "a c e g b d f"]),
        ("the cat sat\non the mat\nthe cat ran",
         ["the cat\nsat on the mat", "a cat ran off the mat\n\nthe cat sat"]),
        ("x a b c\nx d e", ["a b x c d e x\nd x a"]),
        ("The report finds that the agency did not meet its goals.\n"
         "It recommends two steps.",
         ["GAO found the agency met few of its goals.\n"
          "GAO makes two recommendations: first, that steps be taken.",
          "The agency did not meet the goals, and two steps are recommended."]),
        ("In the first scene Anna finds the letter and in the last scene she "
         "burns the letter", ["Anna burns the letter that she finds in the "
                              "first scene"]),
        ("\u212aelvin \u0130stanbul", ["kelvin i\u0307stanbul"]),
    ]


def normal(text):
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def exact_match(prediction, references):
    return float(any(normal(prediction) == normal(r) for r in references))


def f1(prediction, references):
    best = 0.0
    for reference in references:
        predicted = normal(prediction).split()
        wanted = normal(reference).split()
        same = sum((collections.Counter(predicted) &
                    collections.Counter(wanted)).values())
        if same:
            precision = same / len(predicted)
            recall = same / len(wanted)
            best = max(best, 2 * precision * recall / (precision + recall))
    return best


def main(folder):
    # Here, so that the test of this file needs no packages.
    from importlib.metadata import version
    from rouge_score import rouge_scorer

    scorer = rouge_scorer.RougeScorer(list(ROUGE))
    golden = []
    for prediction, references in cases():
        best = scorer.score_multi(references, prediction)
        scores = {name: best[name].fmeasure for name in ROUGE}
        scores["exact_match"] = exact_match(prediction, references)
        scores["f1"] = f1(prediction, references)
        golden.append({
            "prediction": prediction,
            "references": references,
            "scores": scores
        })
    made_with = "rouge_score %s, Python %s" % (version("rouge_score"),
                                               sys.version.split()[0])
    os.makedirs(os.path.join(folder, "scoring"), exist_ok=True)
    with open(os.path.join(folder, "scoring", "cases.json"), "w") as file:
        json.dump({"made_with": made_with, "cases": golden}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
