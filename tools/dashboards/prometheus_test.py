"""Tests of prometheus.py, with a server that answers what it is told."""

import http.server
import json
import threading
import unittest
import urllib.parse

from tools.dashboards.prometheus import Prometheus, PrometheusError


class Handler(http.server.BaseHTTPRequestHandler):

    def do_GET(self):  # pylint: disable=invalid-name
        self.server.asked = urllib.parse.unquote_plus(self.path)
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(json.dumps(self.server.answer).encode())

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


class PrometheusTest(unittest.TestCase):

    def setUp(self):
        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.server.status = 200
        self.addCleanup(self.server.server_close)
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.shutdown)
        self.prometheus = Prometheus(
            "http://127.0.0.1:%d/" % self.server.server_port)

    def answer(self, data):
        self.server.answer = {"status": "success", "data": data}

    def test_values_now(self):
        self.answer({
            "resultType": "vector",
            "result": [{"metric": {"a": "b"}, "value": [5, "2.5"]}],
        })
        self.assertEqual(self.prometheus.query("x{a=~'.*'}"),
                         [({"a": "b"}, 2.5)])
        self.assertEqual(self.server.asked,
                         "/api/v1/query?query=x{a=~'.*'}")
        self.answer({"resultType": "scalar", "result": [5, "3"]})
        self.assertEqual(self.prometheus.query("3"), [({}, 3)])

    def test_values_over_time(self):
        self.answer({
            "resultType": "matrix",
            "result": [{"metric": {}, "values": [[5, "1"], [6, "NaN"]]}],
        })
        [(labels, values)] = self.prometheus.query_range("x", 5, 6, 1)
        self.assertEqual(labels, {})
        self.assertEqual(values[0], (5, 1))
        self.assertNotEqual(values[1][1], values[1][1], "not a number")

    def test_values_of_a_label(self):
        self.answer(["default", "night"])
        self.assertEqual(self.prometheus.label_values("queue", "x"),
                         ["default", "night"])
        self.assertEqual(self.server.asked,
                         "/api/v1/label/queue/values?match[]=x")

    def test_an_error_is_what_it_says(self):
        self.server.status = 400
        self.server.answer = {"status": "error", "error": "parse error"}
        with self.assertRaisesRegex(PrometheusError, "parse error"):
            self.prometheus.query("x{")


if __name__ == "__main__":
    unittest.main()
