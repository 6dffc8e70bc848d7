"""What dashboards and rules ask of Prometheus."""

import re

# What Grafana puts in for its own variables, here for short times: of the rate
# interval at least four scrapes, and of the range all that is shown.
RATE_INTERVAL = "20s"
_VARIABLE = re.compile(r"\$(queue|worker|device)\b")
_LABEL_VALUES = re.compile(r"label_values\((.+), (\w+)\)")
# A metric, a recorded series or `up`, with its matchers.
_SELECTOR = re.compile(r"(?<![\w:$])((?:ordo[_:][\w:]+|up\b|ALERTS\b)"
                       r"(?:\{[^}]*\})?)")


def expand(expression, time_range="60s"):
    """The query with all of Grafana's variables put in, each for everything."""
    expression = expression.replace("$__rate_interval", RATE_INTERVAL)
    return _VARIABLE.sub(".*", expression.replace("$__range", time_range))


def panels(dashboard):
    """Its panels in order, but rows; `dashboard` is the JSON model."""
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def of_panel(panel, time_range="60s"):
    """(query, legend) of each of a panel's targets."""
    return [(expand(target["expr"], time_range), target["legendFormat"])
            for target in panel["targets"]]


def of_variables(dashboard):
    """(label, selector) of each variable whose values Prometheus gives."""
    found = []
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            selector, label = _LABEL_VALUES.fullmatch(
                variable["query"]["query"]).groups()
            found.append((label, expand(selector)))
    return found


def selectors(expression):
    """The series that a query reads, with their matchers, each once."""
    return list(dict.fromkeys(_SELECTOR.findall(expression)))


def legend(pattern, labels):
    """The legend of a series: `{{label}}` is that label's value."""
    text = re.sub(r"\{\{(\w+)\}\}",
                  lambda match: labels.get(match.group(1), ""), pattern)
    return " ".join(text.split())
