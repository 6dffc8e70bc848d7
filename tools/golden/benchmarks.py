"""Golden scores and prompts of benchmarks: those of their public code.

  python3 -m tools.golden.benchmarks tests/golden --source CLONES

Writes scoring/benchmarks.json:

scrolls  lines of SCROLLS' files with answers to them, their scores one by one
         and over the set, in per cent. Lines with one id are merged by the
         evaluator of tau-nlp/scrolls. Its metric lies with its data set;
         OpenLMLab/LEval has that metric under another name, with ROUGE and F1,
         and gives the numbers that SCROLLS shows. LEval takes other matches as
         exact: that score is by the script of SQuAD 1.1 in huggingface/evaluate
ruler    texts with the scores that the evaluation of NVIDIA/RULER gives them,
         and what its generators put before and after a text
passkey  what dvlab-research/LongLoRA asks, tells a model apart by, and says of
         what that model generates

CLONES has a clone of each repository under its name; of LEval the code is
enough, and english_words.json of RULER may be {}. Needs rouge_score, nltk,
datasets 2, numpy, pandas, scipy, tqdm and PyYAML. What the code loads beside
these (models, essays, lists of words, a reader of lines, a trained splitter of
sentences) is stood in for here and decides nothing that is kept: ROUGE-Lsum,
which sees sentences, is not.
"""

import argparse
import contextlib
import hashlib
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import types
from unittest import mock

from tools.golden import benchmark_cases

SOURCES = {
    "LEval": "OpenLMLab/LEval",
    "evaluate": "huggingface/evaluate",
    "scrolls": "tau-nlp/scrolls",
    "RULER": "NVIDIA/RULER",
    "LongLoRA": "dvlab-research/LongLoRA",
}
PACKAGES = ("rouge_score", "nltk", "datasets", "numpy")

SUMMARIES = ("qmsum", "summ_screen_fd", "gov_report")


def frame_of(begin, end, prompt):
    """What is before and after a text, without the words that are drawn."""
    at = prompt.rindex(begin) + len(begin)
    return [
        re.sub(r"1\. [^\n]*", "LIST",
               re.sub(r"[0-9]{5}", "VALUE",
                      re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|"
                             r"[a-z]+-[a-z]+", "KEY", part)))
        for part in (prompt[:at], prompt[prompt.rindex(end):])
    ]


# Of each generator the marks around a text.
MARKS = {
    "niah": ("afterwards.\n", "\nWhat "),
    "variable_tracking": ("following text.\n\n", "\nQuestion: "),
    "common_words_extraction": ("most often.\n", "\nQuestion: "),
    "freq_words_extraction": ("coded words. ", "\nQuestion: "),
}


def load(path, arguments=(), **stand_ins):
    """The module at `path`, started with `arguments`, with other modules in the
    place of those that it loads."""
    spec = importlib.util.spec_from_file_location("loaded", path)
    module = importlib.util.module_from_spec(spec)
    folder = os.path.dirname(path)
    sys.modules.update(stand_ins)
    try:
        with mock.patch.object(sys, "argv", [path, *arguments]), \
                mock.patch.object(sys, "path", [folder, *sys.path]):
            spec.loader.exec_module(module)
    finally:
        for name in stand_ins:
            del sys.modules[name]
    return module


def golden_scrolls(source):
    import datasets
    import nltk

    evaluator = load(
        os.path.join(source, "scrolls", "evaluator", "dataset_evaluator.py"))
    sys.path.insert(0, os.path.join(source, "LEval"))
    leval = load(os.path.join(source, "LEval", "Evaluation", "auto_eval.py"))
    squad = load(
        os.path.join(source, "evaluate", "metrics", "squad",
                     "compute_score.py"))
    # Untrained.
    nltk.sent_tokenize = nltk.tokenize.punkt.PunktSentenceTokenizer().tokenize

    def scores_of(name, predictions, references):
        """Of answers, each with its references."""

        def compute(metric):
            return leval.LEvalMetrics(config_name=metric).compute(
                predictions=predictions, references=references)

        if name in SUMMARIES:
            scores = compute("rouge")
            return {
                key: scores["rouge/" + key]
                for key in ("rouge1", "rouge2", "rougeL", "geometric_mean")
            }
        asked = [{
            "id": str(i),
            "answers": [{
                "text": text
            } for text in of_one]
        } for i, of_one in enumerate(references)]
        exact = squad.compute_score([{
            "paragraphs": [{
                "qas": asked
            }]
        }], {str(i): text for i, text in enumerate(predictions)})
        scores = compute("f1")
        return {"exact_match": exact["exact_match"], "f1": scores["f1"]}

    golden = []
    for name, rows, answers in benchmark_cases.scrolls_sets():
        lines = [
            dict(zip(("id", "input", "output"), row, strict=True))
            for row in rows
        ]
        merged = evaluator.drop_duplicates_in_input(
            datasets.Dataset.from_list(lines))
        predictions = [answers[one["id"]] for one in merged]
        references = [one["outputs"] for one in merged]
        golden.append({
            "set": name,
            "lines": lines,
            "items": [{
                "id": one["id"],
                "references": one["outputs"],
                "prediction": text,
                "scores": scores_of(name, [text], [one["outputs"]])
            } for one, text in zip(merged, predictions, strict=True)],
            "scores": scores_of(name, predictions, references)
        })
    return golden


def read_lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def golden_ruler_scores(source):
    import nltk

    lines = types.ModuleType("manifest_utils")
    lines.read_manifest = read_lines
    lines.write_manifest = None
    folder = os.path.join(source, "RULER", "scripts", "eval")
    reader = "nemo.collections.asr.parts.utils.manifest_utils"
    names = reader.split(".")
    parents = {
        ".".join(names[:i]): types.ModuleType("parent")
        for i in range(1, len(names))
    }
    with mock.patch.object(nltk.data, "find"):
        evaluate = load(os.path.join(folder, "evaluate.py"),
                        ["--data_dir", "unused"], **parents, **{reader: lines})
    tasks = load(os.path.join(folder, "synthetic", "constants.py")).TASKS

    def score(task, cases):
        with tempfile.TemporaryDirectory() as temporary:
            path = os.path.join(temporary, "answers.jsonl")
            with open(path, "w") as file:
                for i, (text, references) in enumerate(cases):
                    row = {
                        "input": "",
                        "pred": text,
                        "outputs": references,
                        "others": {},
                        "index": i
                    }
                    file.write(json.dumps(row) + "\n")
            return evaluate.run_evaluation_per_task(tasks[task], path)[0]

    return [{
        "task": task,
        "items": [{
            "prediction": text,
            "references": references,
            "score": score(task, [(text, references)])
        } for text, references in cases],
        "score": score(task, cases)
    } for task, cases in benchmark_cases.ruler_answers()]


def words_of(list_name):
    return [
        list_name[0] + vowel + end for vowel in "aeiou"
        for end in "bcdfghklmnprst"
    ]


def frequent_words(module):
    """Until the text has as many tokens as is said."""
    module.TOKENIZER = types.SimpleNamespace(text_to_tokens=str.split)
    return module.generate_input_output(300, vocab_size=80)


# Short prompts and what else the generators return.
CALLS = {
    "niah":
        lambda module: module.generate_input_output(8),
    "variable_tracking":
        lambda module: module.generate_input_output(9, 1, 4, is_icl=False),
    "common_words_extraction":
        lambda module: module.generate_input_output(30),
    "freq_words_extraction":
        frequent_words,
}


def golden_ruler_prompts(source):
    import yaml

    scripts = os.path.join(source, "RULER", "scripts")
    folder = os.path.join(scripts, "data", "synthetic")
    constants = load(os.path.join(folder, "constants.py"))
    base = load(os.path.join(scripts, "data", "template.py")).Templates["base"]
    tokenizer = types.ModuleType("tokenizer")
    tokenizer.select_tokenizer = lambda *unused: None
    lines = types.ModuleType("manifest_utils")
    lines.write_manifest = None
    words = types.ModuleType("wonderwords")
    words.random_word = types.SimpleNamespace(
        _get_words_from_text_file=words_of)
    with open(os.path.join(scripts, "synthetic.yaml")) as file:
        tasks = yaml.safe_load(file)
    golden = []
    for name, task in sorted(tasks.items()):
        kind = task["task"]
        if kind not in CALLS:
            continue
        config = constants.TASKS[kind]
        template = base.format(task_template=config["template"])
        options = dict(task["args"])
        if options.get("type_haystack") == "essay":
            # They are not in the repository, and make no difference here.
            options["type_haystack"] = "noise"
        arguments = [
            "--save_dir=unused", "--save_name=unused",
            "--tokenizer_path=unused", "--max_seq_length=4096",
            "--num_samples=1",
            "--tokens_to_generate=%d" % config["tokens_to_generate"],
            "--template=" + template + config["answer_prefix"]
        ] + ["--%s=%s" % one for one in options.items()]
        module = load(os.path.join(folder, kind + ".py"),
                      arguments,
                      constants=constants,
                      tokenizer=tokenizer,
                      manifest_utils=lines,
                      wonderwords=words)
        prompt = CALLS[kind](module)[0]
        before, after = frame_of(*MARKS[kind], prompt)
        golden.append({
            "task": name,
            "output_tokens": config["tokens_to_generate"],
            "before": before,
            "after": after
        })
    return golden


def golden_passkey(source):
    import numpy

    class Ids(numpy.ndarray):
        """As much of a tensor as is asked for."""

        def to(self, _device):
            return self

        def cpu(self):
            return self

    def ids(tokens):
        return numpy.array([tokens]).view(Ids)

    class Tokenizer:
        text = ""

        def __call__(self, text, return_tensors):
            self.text = text
            tokens = benchmark_cases.passkey_tokens(text)
            return types.SimpleNamespace(input_ids=ids(tokens))

    class Model:

        def resize_token_embeddings(self, size):
            pass

        # The answer is what was last put into tokens.
        def generate(self, input_ids, max_new_tokens, **unused):
            expected = " " + tokenizer.text
            assert len(expected) == max_new_tokens
            said = benchmark_cases.generated(len(rows), expected)
            rows.append({"expected": expected, "generated": said})
            return ids(input_ids[0].tolist() + [ord(one) for one in said])

    tokenizer = Tokenizer()
    transformers = mock.MagicMock()
    config = transformers.AutoConfig.from_pretrained.return_value
    config.max_position_embeddings = 4096
    transformers.AutoModelForCausalLM.from_pretrained.return_value = Model()
    transformers.AutoTokenizer.from_pretrained.return_value = tokenizer
    rows = []
    module = load(os.path.join(source, "LongLoRA", "passkey_retrivial.py"),
                  torch=mock.MagicMock(),
                  transformers=transformers,
                  peft=mock.MagicMock(),
                  llama_attn_replace=mock.MagicMock())
    make_prompt = module.generate_prompt_landmark
    test = module.passkey_retrieval_test
    golden = []

    def kept_prompt(n_garbage, seed):
        prompt, answer = make_prompt(n_garbage, seed)
        kept_prompt.row = {
            "test": seed,
            "key": int(answer),
            "sha256": hashlib.sha256(prompt.encode()).hexdigest()
        }
        return prompt, answer

    def kept_test(*arguments, n_garbage, **named):
        right, length = test(*arguments, n_garbage=n_garbage, **named)
        if kept_prompt.row["test"] == 0:
            golden.append({"filler": n_garbage, "tests": []})
        golden[-1]["tests"].append(
            dict(kept_prompt.row, **rows[-1], right=right))
        return right, length

    module.generate_prompt_landmark = kept_prompt
    module.passkey_retrieval_test = kept_test
    options = types.SimpleNamespace(
        base_model="",
        cache_dir="",
        context_size=8192,
        flash_attn=False,
        max_tokens=1000 * benchmark_cases.PASSKEY_LENGTHS,
        interval=1000,
        num_tests=benchmark_cases.PASSKEY_TESTS)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        module.main(options)
    accuracies = re.findall(r"accuracy on the token length \d+ is ([\d.]+)",
                            said.getvalue())
    for one, accuracy in zip(golden, accuracies, strict=True):
        one["accuracy"] = float(accuracy)
    return golden


def made_with(source):
    from importlib.metadata import version

    commits = [
        repository + " " + subprocess.check_output(
            ["git", "-C", os.path.join(source, name), "rev-parse", "HEAD"],
            text=True).strip() for name, repository in SOURCES.items()
    ]
    packages = [name + " " + version(name) for name in PACKAGES]
    return ", ".join(commits + packages +
                     ["Python " + sys.version.split()[0]])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--source", required=True)
    arguments = parser.parse_args()
    source = os.path.abspath(arguments.source)
    golden = {
        "made_with": made_with(source),
        "scrolls": golden_scrolls(source),
        "ruler": {
            "scores": golden_ruler_scores(source),
            "prompts": golden_ruler_prompts(source)
        },
        "passkey": golden_passkey(source)
    }
    os.makedirs(os.path.join(arguments.folder, "scoring"), exist_ok=True)
    path = os.path.join(arguments.folder, "scoring", "benchmarks.json")
    with open(path, "w") as file:
        json.dump(golden, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
