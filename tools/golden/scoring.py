"""Golden scores of text answers and choices: those of public implementations.

  python3 -m tools.golden.scoring tests/golden

Writes scoring/cases.json:

cases          predictions, references, and what ROUGE, exact match and F1 give,
               the best over the references. ROUGE is that of the Python package
               rouge_score, which the metric of SCROLLS calls; F1 and what is
               equal come from the evaluation script of SQuAD 1.1 as it stands in
               EleutherAI's lm-evaluation-harness
questions      choices with their log-likelihoods and the harness's acc and
               acc_norm; then its means and errors of groups and over groups
continuations  where the harness parts a context from what continues it
asked          lines of ARC and MMLU with what the harness makes of them by its
               own task files: the context, what continues it, the right one,
               and the scores of likelihoods

Needs rouge_score and lm_eval; the file says which versions made it.
"""

import json
import os
import sys

ROUGE = ("rouge1", "rouge2", "rougeL", "rougeLsum")
METRICS = ("acc", "acc_norm")


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


def questions():
    """(group, choices, log-likelihoods, number of the right choice).

    Characters that take several bytes or code points, equal likelihoods, and
    likelihoods per character that are equal or differ in the last bit.
    """
    return [
        ("art", ["no", "yes"], [-3.0, -4.0], 1),
        ("art", ["no", "yes\u00e9"], [-3.0, -7.0], 0),
        ("art", ["a", "bb", "cccc"], [-2.0, -2.0, -4.0], 1),
        ("art", ["a", "bb", "cccc"], [-2.5, -4.0, -8.0], 1),
        ("law", ["\u041c\u043e\u0441\u043a\u0432\u0430", "Paris"],
         [-6.0, -5.5], 0),
        ("law", ["e\u0301", "\U0001f600"], [-3.0, -2.0], 0),
        ("law", ["aaa", "b"], [-0.3, -0.1], 0),
        ("sea", ["one two", "three"], [-10.0, -6.5], 0),
        ("sea", ["x", "y", "z", "w"], [-1.25, -1.5, -1.25, -9.0], 2),
        ("sea", ["x", "y", "z", "w"], [-1.25, -1.5, -1.25, -9.0], 0),
        ("sea", ["long answer of many words", "no"], [-20.0, -2.0], 0),
        ("sea", ["long answer of many words", "no"], [-30.0, -2.0], 0),
    ]


def continuations():
    """(context, continuation), for tokens()."""
    return [
        ("x:", " yz"),
        ("x: ", "yz"),
        ("x: \t\n ", "yz"),
        ("Answer:", " ab"),
        ("xa", "bc"),
        ("x a", "b"),
        ("ab", "ab ab"),
        ("a \n", " b"),
    ]


def of_arc(name, question, texts, key):
    labels = ["A", "B", "C", "D"] if key.isalpha() else ["1", "2", "3", "4"]
    return {
        "id": name,
        "question": question,
        "choices": {
            "text": texts,
            "label": labels[:len(texts)]
        },
        "answerKey": key
    }


def of_mmlu(question, choices, answer):
    return {
        "question": question,
        "subject": "anatomy",
        "choices": choices,
        "answer": answer
    }


def asked():
    """What is asked of the harness: blanks at the ends of texts, line feeds in
    them, other scripts, numbers as labels, and choices that are equal or empty.

    Likelihoods are by place; the first line of ARC has no empty text, which the
    harness does not take there.
    """
    arc = [
        of_arc("Q1", "Which gas do plants take in?",
               ["oxygen", "carbon dioxide", "helium", "neon"], "B"),
        of_arc("Q2", " What is\n1 + 1? ", ["two", "three", "four"], "1"),
        of_arc("Q3", "\u0427\u0442\u043e \u2014 na\u00efve?",
               ["\u0434\u0430", " no "], "2"),
        of_arc("Q4", "Which is there twice?", ["once", "twice", "twice"], "C"),
        of_arc("Q5", "Which is there twice?", ["once", "twice", "twice"], "B"),
        of_arc("Q6", "Which is empty?", ["the first", "", "none"], "B"),
        of_arc("Q7", "Which is not?", ["", "the second"], "2"),
    ]
    mmlu = [
        of_mmlu(" Which bone?\n", ["femur", "tibia ", " ulna", "skull"], 2),
        of_mmlu("Which\nof these?", ["a", "a", "\u00e9", "d"], 1),
        of_mmlu("What is\u00a0it? \t", ["w", "x", "y", "z"], 0),
    ]
    dev = [
        of_mmlu(" First?\n", ["p", "q", "r", "s "], 3),
        of_mmlu("Second?", ["1", "2", "3", "4"], 0),
        of_mmlu("Third?", ["1", "2", "3", "4"], 1),
    ]
    likelihoods = [-4.0, -3.0, -3.0, -9.0]
    return [
        {
            "format": "arc",
            "task": "arc/arc_challenge.yaml",
            "few_shot": 0,
            "examples": [],
            "lines": arc,
            "log_likelihoods": likelihoods
        },
        {
            "format": "mmlu",
            "task": "mmlu/default/mmlu_anatomy.yaml",
            "few_shot": 0,
            "examples": [],
            "lines": mmlu,
            "log_likelihoods": likelihoods
        },
        {
            "format": "mmlu",
            "task": "mmlu/default/mmlu_anatomy.yaml",
            "few_shot": 2,
            "examples": dev,
            "lines": mmlu,
            "log_likelihoods": likelihoods
        },
    ]


def tokens(text):
    """Letters by their code, but "ab" is 1, and a blank with the letter behind
    it is 1000 and the letter's code."""
    ids = []
    while text:
        taken = 2
        if text.startswith("ab"):
            ids.append(1)
        elif text[0] == " " and len(text) > 1:
            ids.append(1000 + ord(text[1]))
        else:
            ids.append(ord(text[0]))
            taken = 1
        text = text[taken:]
    return ids


class Tokens:
    """What the harness asks of a model when it parts a text."""

    backend = "causal"

    def tok_encode(self, text):
        return tokens(text)


def golden_answers():
    from lm_eval.tasks.qasper import metrics as squad
    from rouge_score import rouge_scorer

    scorer = rouge_scorer.RougeScorer(list(ROUGE))
    golden = []
    for prediction, references in cases():
        best = scorer.score_multi(references, prediction)
        scores = {name: best[name].fmeasure for name in ROUGE}
        normal = squad.normalize_answer(prediction)
        scores["exact_match"] = float(
            any(squad.normalize_answer(reference) == normal
                for reference in references))
        scores["f1"] = max(
            float(squad.f1_abstractive([prediction], [reference]))
            for reference in references)
        golden.append({
            "prediction": prediction,
            "references": references,
            "scores": scores
        })
    return golden


def golden_choices():
    """The questions with their scores, and the means of each metric."""
    from lm_eval.api import metrics
    from lm_eval.api.task import MultipleChoiceTask

    golden = []
    groups = {}
    for group, choices, log_likelihoods, gold in questions():
        scores = MultipleChoiceTask.process_results(
            None, {
                "gold": gold,
                "choices": choices
            }, [(value, False) for value in log_likelihoods])
        golden.append({
            "group": group,
            "choices": choices,
            "log_likelihoods": log_likelihoods,
            "gold": gold,
            "scores": {name: float(scores[name]) for name in METRICS}
        })
        groups.setdefault(group, []).append(golden[-1]["scores"])
    means = {}
    for name in METRICS:
        of_group = {
            group: [scores[name] for scores in items]
            for group, items in groups.items()
        }
        sizes = [len(items) for items in of_group.values()]
        values = [metrics.mean(items) for items in of_group.values()]
        errors = [metrics.mean_stderr(items) for items in of_group.values()]
        means[name] = {
            "groups": {
                group: [float(value), float(error)]
                for group, value, error in zip(of_group, values, errors)
            },
            "all": [
                float(metrics.aggregate_subtask_metrics(values, sizes)),
                float(metrics.pooled_sample_stderr(errors, sizes))
            ]
        }
    return {"items": golden, "means": means}


def golden_continuations():
    from lm_eval.api.model import TemplateLM

    golden = []
    for context, continuation in continuations():
        before, after = TemplateLM._encode_pair(Tokens(), context, continuation)
        golden.append({
            "context": context,
            "continuation": continuation,
            "whole": tokens(context + continuation),
            "context_tokens": len(before),
            "scored": after
        })
    return golden


def task_of(case):
    """The harness's task on the case's lines, in the place of its data set."""
    import datasets
    import lm_eval
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.tasks import _yaml_loader

    path = os.path.join(os.path.dirname(lm_eval.__file__), "tasks",
                        case["task"])
    config = dict(_yaml_loader.load_yaml(path))
    rows = {
        name: datasets.Dataset.from_list(lines or case["lines"])
        for name, lines in (("test", case["lines"]), ("dev", case["examples"]),
                            ("train", None), ("validation", None))
    }
    config["custom_dataset"] = lambda **unused: rows
    config["metadata"] = None
    return ConfigurableTask(config=config)


def golden_asked():
    golden = []
    for case in asked():
        task = task_of(case)
        answered = []
        for line in task.test_docs():
            context = task.fewshot_context(line, case["few_shot"])
            requests = task.construct_requests(line,
                                               context,
                                               metadata=(case["format"], 0, 1))
            likelihoods = case["log_likelihoods"][:len(requests)]
            scores = task.process_results(line, [(value, False)
                                                 for value in likelihoods])
            answered.append({
                "context": requests[0].args[0],
                "continuations": [one.args[1] for one in requests],
                "gold": int(task.doc_to_target(line)),
                "scores": {
                    name: float(scores[name])
                    for name in METRICS
                    if name in scores
                }
            })
        golden.append(dict(case, asked=answered))
    return golden


def main(folder):
    # Nothing is looked for elsewhere.
    os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"
    # Here, so that the test of this file needs no packages.
    from importlib.metadata import version

    made_with = "rouge_score %s, lm_eval %s, Python %s" % (
        version("rouge_score"), version("lm_eval"), sys.version.split()[0])
    golden = {
        "made_with": made_with,
        "cases": golden_answers(),
        "questions": golden_choices(),
        "continuations": golden_continuations(),
        "asked": golden_asked()
    }
    os.makedirs(os.path.join(folder, "scoring"), exist_ok=True)
    with open(os.path.join(folder, "scoring", "cases.json"), "w") as file:
        json.dump(golden, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
