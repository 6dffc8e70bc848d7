"""A real Prometheus reads metrics pages that speak TLS, and others do not."""

import os
import ssl
import tempfile
import unittest
import urllib.request

from tests.watch.deployment import Deployment, program, wait_for
from tests.watch.prometheus_server import health, start_prometheus

CERTIFICATES = "/etc/ordo/certs"


class TlsTest(unittest.TestCase):

    def setUp(self):
        # Alive until the end. pylint: disable=consider-using-with
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(folder.cleanup)
        self.deployment = Deployment(os.path.realpath(folder.name))
        self.addCleanup(self.deployment.end_all)
        self.certificates = self.deployment.path("certs")
        # As docs/how_to/watch.md says.
        for arguments in (("init", self.certificates, "--worker", "worker-1"),
                          ("add", self.certificates, "--user", "prometheus")):
            status, said = self.deployment.ordo("admin", "certs", *arguments)
            self.assertEqual(status, 0, said)
        self.deployment.start_scheduler(self.tls("scheduler.pem"))
        self.deployment.start_worker(
            "worker-1", 'devices: "cpu:0"\ntrainer: "%s"\n%s' %
            (program("tests/fake/fake_trainer"),
             self.tls("worker-worker-1.pem")))

    def tls(self, name):
        authority = os.path.join(self.certificates, "ca.pem")
        return ('tls { certificate: "%s" ca: "%s" metrics_client_ca: "%s" }\n' %
                (os.path.join(self.certificates, name), authority, authority))

    def read_page(self, context):
        with urllib.request.urlopen(
                "https://%s/metrics" % self.deployment.metrics["scheduler"],
                timeout=10, context=context) as page:
            return page.read()

    def test_prometheus_is_let_in_by_its_certificate_and_nobody_without(self):
        prometheus = start_prometheus(
            self.deployment, "files_tls.yaml",
            [(CERTIFICATES, self.certificates)])
        self.assertEqual(health(prometheus, 2),
                         [("ordo-scheduler", "", "up", ""),
                          ("ordo-worker", "worker-1", "up", "")])
        for part in ("scheduler", "worker"):
            query = ("min(ordo_%s_certificate_expiry_timestamp_seconds)"
                     " - time()" % part)
            left = wait_for(query, lambda asked=query: prometheus.query(asked))
            self.assertGreater(left[0][1], 300 * 86400, part)

        context = ssl.create_default_context(
            cafile=os.path.join(self.certificates, "ca.pem"))
        with self.assertRaises(OSError):
            self.read_page(context)
        context.load_cert_chain(
            os.path.join(self.certificates, "user-prometheus.pem"))
        self.assertIn(b"ordo_scheduler_state_workers", self.read_page(context))


if __name__ == "__main__":
    unittest.main()
