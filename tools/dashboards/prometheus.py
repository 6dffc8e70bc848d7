"""A client of Prometheus's HTTP API."""

import json
import urllib.error
import urllib.parse
import urllib.request

TIMEOUT_S = 20


class PrometheusError(Exception):
    """What Prometheus answered instead of data."""


class Prometheus:
    """The server at `url`, such as http://127.0.0.1:9090."""

    def __init__(self, url):
        self.url = url.rstrip("/")

    def get(self, path, **parameters):
        """`data` of the answer of /api/v1/<path>; PrometheusError otherwise."""
        url = "%s/api/v1/%s?%s" % (self.url, path,
                                   urllib.parse.urlencode(parameters))
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
                body = json.load(answer)
        except urllib.error.HTTPError as error:
            raise PrometheusError(
                error.read().decode("utf-8", "replace")) from error
        if body["status"] != "success":
            raise PrometheusError(body.get("error", "no success"))
        return body["data"]

    def query(self, expression):
        """(labels, value) of each series now."""
        data = self.get("query", query=expression)
        if data["resultType"] == "scalar":
            return [({}, float(data["result"][1]))]
        return [(series["metric"], float(series["value"][1]))
                for series in data["result"]]

    def query_range(self, expression, start, end, step):
        """(labels, [(time, value)]) of each series; times in seconds."""
        data = self.get("query_range", query=expression, start=start, end=end,
                        step=step)
        return [(series["metric"],
                 [(float(time), float(value))
                  for time, value in series["values"]])
                for series in data["result"]]

    def label_values(self, label, selector):
        """The values of a label of the series that `selector` names."""
        return self.get("label/%s/values" % label, **{"match[]": selector})
