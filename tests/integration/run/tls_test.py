"""A deployment behind https: certificates that the openssl program makes for each test."""

import shutil
import ssl
import subprocess
import unittest

from rig import AnswerServer, RigCase


class TlsAnswers(AnswerServer):
    def __init__(self, script, context):
        self.context = context
        super().__init__(script)
        self.url = f"https://localhost:{self.server_port}/v1"

    def get_request(self):
        plain, address = super().get_request()
        # The handshake is made by the first read, on the connection's own thread.
        return self.context.wrap_socket(
            plain, server_side=True, do_handshake_on_connect=False), address


@unittest.skipUnless(shutil.which("openssl"), "no openssl program here")
class Https(RigCase):
    def setUp(self):
        super().setUp()
        make = ("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -days 2 -nodes "
                "-keyout {0}.key -out {0}.pem -subj /CN={1}")
        signed = " -CA ca.pem -CAkey ca.key -addext basicConstraints=critical,CA:FALSE"
        self.openssl(make.format("ca", "authority"))
        self.openssl(make.format("other", "another"))
        self.openssl(make.format("server", "localhost") + signed
                     + " -addext subjectAltName=DNS:localhost")

    def openssl(self, words):
        subprocess.run(["openssl", *words.split()], cwd=self.folder, check=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def https(self, asks=False):
        """A server with localhost's certificate; it may ask who calls."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "server.pem", self.folder / "server.key")
        if asks:
            context.load_verify_locations(self.folder / "ca.pem")
            context.verify_mode = ssl.CERT_REQUIRED
        server = TlsAnswers(lambda number, seen: (200, {}), context)
        self.addCleanup(server.close)
        return server

    def with_files(self, url, *files):
        path = self.scenario(url, measure="2s")
        lines = "".join(f"  {key}: {name}\n" for key, name in files)
        path.write_text(path.read_text().replace("target:\n", "target:\n" + lines, 1))
        return path

    def test_a_run_checks_the_gateways_certificate(self):
        server = self.https()
        run = self.start_run(self.with_files(server.url, ("ca_file", "ca.pem")))
        self.assertIn(run.wait_exit(), (0, 1, 2, 3), run.text())
        step = self.report()["steps"][0]
        self.assertGreater(step["outcomes"]["ok"], 20, run.text())
        self.assertEqual(step["outcomes"]["connect_error"], 0)
        self.assertEqual(step["outcomes"]["client_error"], 0)
        self.assertGreater(len(server.seen), 20)

    def test_each_fault_names_its_key(self):
        server = self.https()
        asks = self.https(asks=True)
        plain = self.gateway()
        ca = ("ca_file", "ca.pem")
        by_number = server.url.replace("localhost", "127.0.0.1")
        for url, files, what, to_do in (
                (server.url, [], "certificate is not trusted here", "target.ca_file"),
                (server.url, [("ca_file", "other.pem")], "not trusted here", "target.ca_file"),
                (by_number, [ca], "certificate is for another host", "target.url"),
                (asks.url, [ca], "ends the TLS connection instead of answering",
                 "if it wants a certificate of ours"),
                (server.url, [("ca_file", "server.key")], "file of ours cannot be used",
                 "target.ca_file"),
                (plain.url.replace("http:", "https:"), [ca], "TLS", "http://")):
            with self.subTest(url=url, files=files):
                run = self.start_run(self.with_files(url, *files))
                self.assertEqual(run.wait_exit(), 4, run.text())
                words = " ".join(run.text("out").split())
                self.assertIn("COULD NOT RUN: preflight blocks", words)
                self.assertIn(what, words)
                self.assertIn(to_do, words)
                self.assertNotIn("that it is up", words)
        self.assertEqual(server.seen + asks.seen, [], "nothing was sent to whom we do not know")
