"""Runs the commands of a page as they stand there, in a prepared home.

All commands of a page run in one shell, in a folder of their own, with the real
programs. `ordo up` takes a free port in the place of 7420, and `ordo` finds it.
"""

import os
import re
import signal
import subprocess

# Of one page; it starts trainers, each of which takes a second.
SECONDS = 600

# Folders of other machines and people.
_FOLDERS = (("/backup/", "$HOME/backup/"), ("/etc/ordo/", "$HOME/etc/ordo/"),
            ("/srv/", "$HOME/srv/"), ("/tmp/", "$TMPDIR/"))

_HEAD = """\
export HOME={home} TMPDIR={home}/tmp XDG_DATA_HOME= ORDO_DIR=
PROGRAMS={programs} PAGES={pages}
export PATH=$PROGRAMS:$PATH
mkdir -p "$HOME/work" "$TMPDIR" "$HOME/backup" "$HOME/srv"
cd "$HOME/work"
wrong=0

# Where the scheduler listens now.
refresh() {{
  export ORDO_SERVER
  ORDO_SERVER=$(sed -n 's/.*"api": *"\\([^"]*\\)".*/\\1/p' \\
    "$HOME/.local/share/ordo/endpoints.json" 2>"$TMPDIR/none")
}}

# up ARGUMENT...: a deployment of one worker.
up() {{
  ordo up --listen 127.0.0.1:0 --detach "$@" || exit 1
  refresh
}}

# spec NAME [LINE...]: writes $TMPDIR/NAME.yaml, a small training of 200 steps.
spec() {{
  local name=$1
  shift
  {{
    printf '%s\n' 'kind: train' "name: $name" \
      'model: {{preset: tiny, layers: 1, width: 16, heads: 2}}' \
      'training: {{steps: 200, batch_size: 2, log_every_steps: 100}}' \
      'checkpoint: {{every_steps: 100, keep: 2}}' "$@"
    [[ $* == *encoding:* ]] || echo 'encoding: {{name: rope}}'
    [[ $* == *data:* ]] ||
      echo 'data: {{task: addition, params: {{max_digits: 2}}}}'
    [[ $* == *evaluations:* ]] ||
      printf '%s' 'evaluations: [{{task: addition_grid, ' \
        'params: {{max_digits: 2, samples: 2}}}}]'
  }} >"$TMPDIR/$name.yaml"
}}

# job NAME [LINE...]: such a job, which has ended.
job() {{
  spec "$@"
  ordo submit "$TMPDIR/$1.yaml" --wait || exit 1
}}

# guarded FOLDER USER: a scheduler that speaks TLS by the certificates in FOLDER,
# where USER's is an administrator's.
guarded() {{
  local endpoints=$HOME/.local/share/ordo/endpoints.json scheduler
  rm -f "$endpoints"
  printf '%s\n' 'listen: 127.0.0.1:0' "store: $HOME/guarded.db" \
    "storage_root: $HOME/srv" "endpoints_file: $endpoints" \
    "tls: {{certificate: $1/scheduler.pem, ca: $1/ca.pem}}" \
    "auth: {{certificate_admins: [$2]}}" >"$HOME/guarded.yaml"
  ordo-scheduler --config "$HOME/guarded.yaml" &
  scheduler=$!
  until [[ -s $endpoints ]]; do
    kill -0 "$scheduler" || exit 1
    sleep 0.05
  done
  refresh
}}

# ended CODE WANTED PLACE: after a command.
ended() {{
  [[ " $2 " == *" $1 "* ]] && return
  printf 'FAILED with %s at %s\\n' "$1" "$3"
  wrong=$((wrong + 1))
}}

# A free port instead of the usual one is remembered.
ordo up --listen 127.0.0.1:0 --detach && ordo down || exit 1
"""


def _with_words(text, words):
    for word, meaning in words:
        # Behind a space or sign, so that JOB is no part of JOBS.
        text = re.sub(r"(?<![\w.])%s(?!\w)" % re.escape(word),
                      lambda match, meaning=meaning: meaning, text)
    return text


def script(page, commands, places):
    """The shell script that runs them.

    Args:
      page: what tests/docs/pages.py says of the page.
      commands: blocks.Command of those that are run, in their order.
      places: absolute folders: "home", "programs", "pages" (docs/, as text).
    """
    parts = [_HEAD.format(**places), page.start, "\n"]
    for command in commands:
        text = command.text
        for folder, instead in _FOLDERS:
            text = re.sub(r"(?<=[\s=:\[\"'])%s" % re.escape(folder), instead,
                          text)
        text = _with_words(text, page.words)
        for beginning, more in page.before:
            if command.text.startswith(beginning):
                parts.append(more + "\n")
        codes = " ".join(str(code) for beginning, codes in page.codes
                         if command.text.startswith(beginning)
                         for code in codes) or "0"
        parts.append("refresh\necho '+ %s:%d'\n{\n%s\n} </dev/null\n"
                     "ended $? '%s' '%s:%d'\n" %
                     (command.path, command.line, text, codes, command.path,
                      command.line))
    parts.append("[[ $wrong == 0 ]]\n")
    return "".join(parts)


def _stop_all(folder):
    """Ends the processes whose command line names the folder."""
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open("/proc/%s/cmdline" % name, "rb") as file:
                if os.fsencode(folder + "/") in file.read():
                    os.kill(int(name), signal.SIGKILL)
        except OSError:
            pass  # It has ended.


def run(page, commands, places):
    """(whether all went well, what was printed)."""
    log = os.path.join(places["home"], "log")
    with open(log, "w", encoding="utf-8") as file:
        process = subprocess.Popen(
            ["bash", "-u", "-c", script(page, commands, places)],
            stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
            start_new_session=True)
        try:
            code = process.wait(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            code = -1
            file.write("no end within %d s\n" % SECONDS)
    _stop_all(places["home"])
    with open(log, encoding="utf-8", errors="replace") as file:
        return code == 0, file.read()
