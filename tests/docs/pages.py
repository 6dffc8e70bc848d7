"""What the commands of each page need, and which are not run, with the reason.

A page that is not named runs as it stands beside a deployment that is up. Each
entry must fit a command that is there: an unused one is an error.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Page:
    # Shell, before the first command; functions: HEAD in run_page.py.
    start: str = "up"
    # (word, what stands for it): names that a reader puts in.
    words: tuple = ()
    # (beginning of a command, shell that runs before it).
    before: tuple = ()
    # (beginning of a command, its exit codes), where it is not 0.
    codes: tuple = ()
    # (beginning of a command, why it is not run).
    left_out: tuple = ()


# Not run wherever they stand: by the beginning of the command.
LEFT_OUT = (
    ("bazel ", "builds; a test runs inside of a build"),
    ("git clone", "fetches the repository"),
    ("tools/bench", "measures for minutes; tools:bench_test, tests/bench"),
    ("tools/fuzz", "builds; tools:fuzz_test"),
    ("tools/quickstart", "tests/quickstart:quickstart_test"),
    ("tools/simulate", "builds; tools:simulate_test, tests/sim"),
    ("tools/test", "runs all tests"),
    ("python3 tools/tidy/tidy.py", "tools/tidy:tidy_test, of the whole tree"),
    ("python3 -m tools.golden", "needs others' code; tools/golden/*_test.py"),
    ("ORDO_MUTANT=", "builds; tests/mutations"),
)

# Lines of blocks that are no commands, beside those of YAML and JSON: output,
# options, mistakes of tests/mutations; by their beginning. Anything else is a
# program that blocks.py has to know.
NO_COMMANDS = (
    "jobs/addition-tape-evaluate",
    "no worker ",
    "1 cuda device is free",
    "--set 'compare.",
    "file model/encodings/alibi.cc",
    "tests AlibiTest",
    "mistake the bias",
    "- -slopes",
    "+ slopes",
    "ExecStart=",
    "Delegate=",
)

# Whole pages, whose commands another test runs.
ELSEWHERE = {
    "docs/design/2026-11-20-end-to-end.md":
        "what programs take; tests/e2e:program_flags_test",
    "docs/gallery/README.md":
        "jobs of minutes and hours; tools:gallery_test",
    "docs/how_to/backup.md": "tests/install:pages_test",
    "docs/how_to/install.md": "tests/install:pages_test",
    "docs/how_to/upgrade.md": "tests/install:pages_test",
}

_A_AND_B = "up\njob a\njob b"
# Text, English enough for a tokenizer of 2048 tokens.
_TEXT = """
mkdir -p ~/my-text ~/srv/text/books
cp "$PAGES"/*.md ~/my-text
cp "$PAGES"/{,how_to/,design/}*.md ~/srv/text/books
cat "$PAGES"/*.md >a.txt
gzip <a.txt >~/srv/text/papers.gz
"""
# Four tokens, as safetensors.
_TOKENS = """python3 - <<'END'
import json, struct
header = json.dumps({"tokens": {"dtype": "I64", "shape": [1, 4],
                                "data_offsets": [0, 32]}}).encode()
with open("tokens.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(header)) + header)
    file.write(struct.pack("<4q", 3, 4, 5, 6))
END
"""
_DOCS = """
sources=~/linux-doc/html/_sources
mkdir -p $sources/{admin-guide,driver-api,filesystems,networking}
for part in $sources/*; do
  cat "$PAGES"/*.md | split -l 20 - "$part/"
done
sed -i "s|/usr/share/doc/linux-doc-6.1|$HOME/linux-doc|" \\
  examples/language-model.yaml
"""
# The checkout; and kubectl as far as it needs no cluster: what it is given is
# there, and an overlay of one's own is rendered where there is a kubectl. What
# it forwards to is a scheduler with the certificates of the secrets.
_CLUSTER = """
cp -rL "$PROGRAMS/deploy" .
mkdir my
sed -n '/^    # my\\/kustomization.yaml/,/^$/s/^    //p' \\
  "$PAGES/how_to/kubernetes.md" >my/kustomization.yaml
kubectl() {
  local word said
  case "$*" in
    *" create secret generic "*)
      for word; do
        [[ $word != --from-file=* || -s ${word#*=} ]] || return 1
      done ;;
    "apply -f "*) [[ -s $3 ]] ;;
    "apply -k "*)
      [[ -d $3/$(sed -n 's/^resources: \\[\\(.*\\)\\]/\\1/p' \\
        "$3/kustomization.yaml") ]] || return 1
      type -P kubectl >"$TMPDIR/none" || return 0
      said=$(command kubectl kustomize "$3") &&
        [[ $said == *"image: registry.example.org/ordo-worker-gpu"* &&
          $said == *"image: registry.example.org/ordo-control-plane"* &&
          $said == *"replicas: 16"* ]] ;;
    *" port-forward "*) guarded "$PWD/tls" admin ;;
    *) return 1 ;;
  esac
}
"""

# Of the pages of a folder that are not named, which run one after the other
# beside one deployment.
FOLDERS = {
    "docs/runbooks/": Page(
        start="up --set worker.worker=node-1\njob a\njob b\n"
              "ordo gate --candidate a --baseline b --margin 0.01 --task "
              "addition_grid\n"
              "spec waiting 'resources: {labels: {zone: nowhere}}'\n"
              "ordo submit $TMPDIR/waiting.yaml\n"
              "echo text >a.txt\nordo push data a.txt --name words",
        words=(
            # What a gate says is asked of one job, so JOB is a gate.
            ("jobs/JOB/checkpoints/ID", "jobs/a/checkpoints/200-1"),
            ("JOB...", "waiting"),
            ("JOB", "a-gate"),
            ("NUMBER", "1"),
            ("WORKER", "node-1"),
            ("DEVICE", "cpu:0"),
            ("QUEUE", "default"),
            ("data/NAME@VERSION", "data/words"),
            ("/elsewhere", "$HOME/backup"),
            ("CONFIG", "~/.local/share/ordo/config/scheduler.textproto"),
            ("DIR", "certs"),
            ("FILE", "certs/scheduler.pem"),
        ),
        before=(
            ("openssl x509", "ordo admin certs init certs --host node-1"),
            ("ordo up --detach", "ordo down"),
        ),
        codes=(
            ("ordo gate JOB", (0, 6, 7)),
        ),
        left_out=(("kubectl", "needs a cluster"),)),
}

PAGES = {
    "README.md": Page(
        start="ln -s \"$PROGRAMS\" bazel-bin",
        before=(("ordo gate", "job a\njob b"),),
        codes=(
            ("ordo hold", (2,)),  # It has ended by then.
            ("ordo release", (2,)),
            ("ordo priority", (2,)),
            ("ordo gate", (0, 6, 7)),
        )),
    "docs/how_to/access.md": Page(
        start="ordo admin certs init ~/tls --host h --user admin\n"
              "guarded ~/tls admin\nexport ORDO_CA=~/tls/ca.pem\n"
              "export ORDO_CERTIFICATE=~/tls/user-admin.pem\n"
              "ordo queues create night\nspec job 'queue: night'\n"
              "cp $TMPDIR/job.yaml .",
        # That of the page is revoked by then.
        before=(("export ORDO_TOKEN_FILE",
                 "ordo admin token create ci-2 --role user --queue night --out "
                 "~/ci.token\nunset ORDO_CERTIFICATE"),)),
    "docs/how_to/checkpoints.md": Page(
        start=_A_AND_B,
        words=(("SHA256", "$(ordo alias get main -o json | sed -n "
                "'s/.*\"manifest_sha256\": *\"\\([0-9a-f]*\\)\".*/\\1/p')"),)),
    "docs/how_to/cluster.md": Page(
        start="up --set worker.worker=gpu7\n"
              "spec waiting 'resources: {labels: {zone: nowhere}}'\n"
              "ordo submit $TMPDIR/waiting.yaml",
        words=(("JOB...", "waiting"), ("JOB", "waiting")),
        left_out=(("ordo workers release gpu7 cuda:3", "needs a GPU"),)),
    "docs/how_to/evaluate.md": Page(
        start=_A_AND_B + "\nordo submit examples/addition-tape.yaml --wait\n"
              "job my-run 'data: {task: nope, params: {min_length: 2, "
              "max_length: 4}}' 'evaluations: [{task: nope, params: {samples: "
              "2, max_length: 4}}]'",
        before=(("ordo report addition-tape-evaluate-2",
                 "ordo evaluate addition-tape\n"
                 "ordo wait addition-tape-evaluate-2"),),
        left_out=(
            ("ordo evaluate llama --task passkey", "needs a published model"),
            ("ordo evaluate jobs/llama2-8k-tape", "needs a published model"),
        )),
    "docs/how_to/gates.md": Page(
        start="up\njob nightly\njob release",
        codes=(("ordo gate", (0, 6, 7)),)),
    "docs/how_to/encoding.md": Page(
        left_out=(
            ("ordo down; ordo up", "needs the encoding that the page adds"),
            ("ordo submit examples/addition-rope.yaml --set name=addition-x",
             "needs the encoding that the page adds"),
        )),
    "docs/how_to/experiment.md": Page(
        start="up\njob addition-tape\nspec job\ncp $TMPDIR/job.yaml .\n"
              "ordo get jobs/addition-tape/checkpoints/200-1 --out DIR"),
    "docs/how_to/hugging_face.md": Page(
        start="up\njob base\nordo get jobs/base/checkpoints/200-1 --out BASE\n"
              "mkdir -p ~/models\nordo-trainer convert --checkpoint BASE --out "
              "~/models/tiny-llama\ncp -r ~/models/tiny-llama DIR\n" + _TOKENS,
        left_out=(
            ("ordo-trainer convert --checkpoint DIR --encoding",
             "needs a checkpoint of the paper's code"),
            ("ordo push checkpoint OWN", "needs what the line above makes"),
        )),
    "docs/how_to/inside.md": Page(start="up\njob a", words=(("JOB", "a"),)),
    "docs/how_to/kubernetes.md": Page(
        start=_CLUSTER,
        before=(("ordo list workers",
                 "until [[ -s ~/.local/share/ordo/endpoints.json ]]; do sleep "
                 "0.05; done"),),
        left_out=(
            ("tools/images", "needs the trainer's image; tests/images"),
            ("skopeo copy", "needs a registry; tests/images reads them by it"),
            ("podman pull", "needs containers; tests/images starts pods"),
        )),
    "docs/how_to/questions.md": Page(
        start="up\n" + _TEXT + "ordo push data ~/my-text"),
    "docs/how_to/secure.md": Page(
        start="",
        words=(("ordo.example.org:7420", "$ORDO_SERVER"),),
        before=(("export ORDO_SERVER",
                 "ordo admin certs add tls --user ada\ncp -r tls ~/tls\n"
                 "guarded ~/tls ada"),)),
    "docs/how_to/several_ranks.md": Page(
        start="",
        # The task of the job before it, as its worker wrote it.
        before=(("for rank in 0 1", "cp ~/.local/share/ordo/storage/jobs/"
                 "addition-two-ranks/attempts/1/task.json task.yaml"),),
        # As it stands it ends well whatever they do.
        words=(("--rank $rank &", "--rank $rank & ranks+=($!)"),
               # Of each that it ends well: `wait` alone says nothing of that.
               ("wait", "wait ${ranks[0]} && wait ${ranks[1]}"),)),
    "docs/how_to/text.md": Page(
        start="up\n" + _TEXT + _DOCS,
        words=(("ROOT", "$HOME/.local/share/ordo/storage"),
               ("/usr/share/doc/linux-doc-6.1", "$HOME/linux-doc")),
        before=(("ordo up --detach --data-root", "ordo down"),),
        left_out=(("sudo apt-get install linux-doc", "needs root"),)),
    "docs/how_to/watch.md": Page(
        start="cp -rL \"$PROGRAMS/deploy\" .\n"
              "ordo admin certs init ~/etc/ordo/certs --host h",
        left_out=(
            ("prometheus --config.file=", "serves; tests/watch starts it"),
            ("GF_PATHS_PROVISIONING=", "needs Grafana; tests/watch:grafana_test"),
            # Of a list, and so further in.
            ("  unzip ", "needs what Bazel keeps of tests/watch:watch_test"),
        )),
    "model/recipes/README.md": Page(
        left_out=(
            ("ordo report counting-1", "needs a GPU, and hours"),
            ("ordo submit model/recipes/paper/c4.yaml", "needs C4"),
        )),
}
