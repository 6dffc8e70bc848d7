"""What benchmarks.py asks the public code of benchmarks to score."""

def scrolls_sets():
    """(set, lines of id, input and output, answer by id).

    Ids that come again, far behind too; empty answers and references, capitals,
    articles, punctuation, other scripts, line feeds, words that come again.
    """
    report = ("The report finds that the agency did not meet its goals. It "
              "recommends two steps.")
    summaries = [
        ("s1", "A report.", "GAO found the agency met few of its goals. GAO "
         "makes two recommendations: first, that steps be taken."),
        ("s2", "A scene.", "Anna burns the letter that she finds."),
        ("s3", "A meeting.", "the cat sat on the mat"),
        ("s1", "A report.", "The agency did not meet the goals, and two steps "
         "are recommended."),
        ("s4", "Nothing.", "Nobody says anything."),
        ("s3", "A meeting.", "The cat, the mat: sat on!"),
        ("s5", "A school.", "L'\u00c9cole na\u00efve\n\nouvre \u00e0 9h."),
        ("s6", "A list.", "x y x y x"),
    ]
    answers = {
        "s1": report,
        "s2": "In the first scene Anna finds the letter.\nShe burns the letter "
              "in the last.",
        "s3": "On the mat sat THE CAT",
        "s4": "",
        "s5": "l'\u00e9cole na\u00efve ouvre",
        "s6": "x x y",
    }
    spoken = [
        ("q1", "Who?\n\nA book.", "Mr. Darcy"),
        ("q1", "Who?\n\nA book.", "the proud Mr Darcy of Pemberley"),
        ("q2", "Where?\n\nA book.", "In the garden"),
        ("q3", "What?\n\nA book.", "a"),
        ("q4", "Who?\n\nA play.", "\u041c\u043e\u0441\u043a\u0432\u0430, 1147"),
        ("q2", "Where?\n\nA book.", "the kitchen's garden, an orchard"),
        ("q5", "Why?\n\nA play.", "Unanswerable"),
        ("q6", "How?\n\nA play.", "by the by"),
    ]
    said = {
        "q1": "MR DARCY!",
        "q2": "an orchard in a garden",
        "q3": "The",
        "q4": "\u041c\u041e\u0421\u041a\u0412\u0410 (1147)",
        "q5": "",
        "q6": "By the by and by",
    }
    chosen = [
        ("c1", "Shall I?\n\nA contract.", "Entailment"),
        ("c2", "May I?\n\nA contract.", "Not mentioned"),
        ("c3", "Must I?\n\nA contract.", "Contradiction"),
        ("c4", "Can I?\n\nA contract.", "Not mentioned"),
        ("c5", "Will I?\n\nA contract.", "Entailment"),
        ("c5", "Will I?\n\nA contract.", "Not mentioned"),
    ]
    choice = {
        "c1": "entailment.",
        "c2": "Not  mentioned\n",
        "c3": "Contradictions",
        "c4": "",
        "c5": "not-mentioned",
    }
    options = [
        ("o1", "Which?\n\n (A) An oak\n (B) The elm\n\nA story.", "An oak"),
        ("o2", "Which?\n\n (A) No\n (B) The\n\nA story.", "The"),
        ("o3", "Which?\n\n (A) A\u00a0\u00e9cole\n (B) 3\n\nA story.",
         "A\u00a0\u00c9cole"),
        ("o4", "Which?\n\n (A) One.\n (B) Two.\n\nA story.", "Two."),
    ]
    option = {"o1": "the oak", "o2": "", "o3": "\u00e9cole", "o4": "(B) Two."}
    # Without a pair of words in common there is no geometric mean.
    apart = [("a1", "One.", "red green"), ("a2", "Two.", "blue")]
    # What the metric of SCROLLS shows its numbers of.
    shown = [
        ("1", "A text.", "exact match example"),
        ("2", "A text.", "hello"),
        ("2", "A text.", "hi there"),
        ("3", "A text.", "commander kenobi"),
    ]
    shown_answers = {
        "1": "exact match example",
        "2": "hello there",
        "3": "general kenobi"
    }
    return [
        ("gov_report", summaries, answers),
        ("qmsum", shown, shown_answers),
        ("summ_screen_fd", apart, {
            "a1": "green red",
            "a2": "blue"
        }),
        ("qasper", spoken, said),
        ("narrative_qa", shown, shown_answers),
        ("contract_nli", chosen, choice),
        ("quality", options, option),
    ]


def ruler_answers():
    """(task of RULER, texts with what is looked for in them)."""
    return [
        ("niah", [
            (" 1234567.", ["1234567"]),
            ("The numbers are 7654321 and 1234567", ["1234567", "2345678"]),
            ("1234 567", ["1234567"]),
            ("", ["1234567"]),
            ("it is 71234567.", ["1234567"]),
            ("A0B1C2D3-0000-4E5F-8A9B-ABCDEF012345",
             ["a0b1c2d3-0000-4e5f-8a9b-abcdef012345"]),
            ("1\u00a02345678", ["1", "2", "3", "9"]),
        ]),
        ("variable_tracking", [
            ("ABCDE FGHIJ KLMNO PQRST UVWXY",
             ["ABCDE", "FGHIJ", "KLMNO", "PQRST", "UVWXY"]),
            ("abcde, fghij and nothing",
             ["ABCDE", "FGHIJ", "KLMNO", "PQRST", "UVWXY"]),
            ("ABCDE\x00\x1fFGH\x07IJ\n", ["ABCDE", "FGHIJ", "KLMNO"]),
            # The sign of kelvin, whose small letter is k.
            ("\u212aLMNO", ["KLMNO", "ABCDE"]),
            ("\u0410BCDE", ["ABCDE"]),
        ]),
        ("common_words_extraction", [
            ("1. baneto 2. kiluro 3. baneto", ["baneto", "kiluro", "somike"]),
            ("banetokiluro", ["baneto", "kiluro"]),
            (" \t\n", ["baneto"]),
        ]),
        ("freq_words_extraction", [
            ("xkcdab, QQWERT and zzzzzz.", ["xkcdab", "qqwert", "zzzzzz"]),
            ("...", ["xkcdab", "qqwert", "zzzzzz"]),
        ]),
    ]


# Of each length; and thousands of tokens.
PASSKEY_TESTS = 20
PASSKEY_LENGTHS = 8


def passkey_tokens(text):
    """A mark, and a blank before the text as Llama's tokenizer puts one."""
    return [1] + [ord(letter) for letter in " " + text]


def generated(index, expected):
    """What the model says to a question in the place of a text."""
    kind = index % 7
    if kind == 1:
        return expected[:-1] + ("0" if expected[-1] != "0" else "1")
    if kind == 2:
        return "\n" + expected[1:]
    if kind == 3:
        return expected[1:] + " "
    return expected
