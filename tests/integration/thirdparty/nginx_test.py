"""nginx between the client and the gateway: every outcome as the design's section 2 names it.

Each test also shows that what it is about was in force: nginx's own log, or what calls could not
have seen without it.
"""

import json
import os
import statistics
import unittest

import outsider

NGINX = outsider.program("nginx")

CONFIG = """\
daemon off;
master_process off;
pid nginx.pid;
error_log stderr warn;
events {{ worker_connections 512; }}
http {{
  log_format calls escape=json '{{"connection":$connection,"request":$connection_requests,'
    '"status":$status,"asked":"$http_accept_encoding","sent":"$sent_http_content_encoding"}}';
  access_log access.log calls;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  client_max_body_size 0;
  limit_conn_status 429;
  limit_req_status 429;
  limit_conn_zone $server_name zone=connections:1m;
  limit_req_zone $server_name zone=requests:1m rate=1r/s;
  map $status $come_again {{ 429 2; default ""; }}
  upstream gateway {{ server {upstream}; keepalive 64; }}
  server {{
    listen 127.0.0.1:{port};
    server_name everybody;
    add_header Retry-After $come_again always;
    {server}
    location / {{
      proxy_pass http://gateway;
      proxy_http_version {upstream_http};
      proxy_set_header Connection "";
      {location}
    }}
  }}
}}
"""


@unittest.skipUnless(NGINX, "nginx is not installed (Debian: nginx-light)")
class NginxCase(outsider.OutsiderCase):
    def nginx(self, gateway_url, server="", location="", upstream_http="1.1"):
        upstream = gateway_url.removeprefix("http://").removesuffix("/v1")

        def argv(port):
            config = self.write("nginx.conf", CONFIG.format(
                upstream=upstream, port=port, server=server, location=location,
                upstream_http=upstream_http))
            os.chmod(config, 0o644)
            return NGINX, "-p", self.folder, "-e", "stderr", "-c", config

        return self.outsider(argv)

    def logged(self, count):
        """What nginx says of its requests, once there are `count` of them: a line is written after
        the answer's last byte."""
        log = self.folder / "access.log"

        def lines():
            return log.read_text().splitlines(keepends=True) if log.exists() else []

        outsider.wait_until(lambda: sum(line.endswith("\n") for line in lines()) >= count,
                            f"{count} requests in nginx's log")
        return [json.loads(line) for line in lines() if line.endswith("\n")]

    def assert_closed_after_three(self, logged):
        """No connection served more than three requests, and most that many: without the limit a
        single one serves hundreds."""
        served = {}
        for line in logged:
            served[line["connection"]] = max(served.get(line["connection"], 0), line["request"])
        self.assertEqual(max(served.values()), 3, served)
        self.assertGreater(sum(count == 3 for count in served.values()), len(served) / 2, served)


class NginxBetween(NginxCase):
    def test_buffering_off_and_on(self):
        gateway = self.gateway()
        spreads = {}
        for buffering in ("off", "on"):
            # An answer that ends with its connection (HTTP/1.0) is held until its buffer is full.
            nginx = self.nginx(gateway.url, upstream_http="1.0", location=
                               f"proxy_buffering {buffering}; proxy_buffer_size 64k;"
                               "proxy_buffers 8 64k; proxy_busy_buffers_size 64k;")
            calls = self.calls(nginx.url, 20, parallel=4, tokens=40)
            self.assert_all(calls, outcome="ok", status=200, resends=0, tokens_out=40)
            spreads[buffering] = [c["last_token_ns"] - c["first_token_ns"] for c in calls]
        # 39 tokens at 400 a second, less under load: they came as they were made, or all at once.
        self.assertGreater(statistics.median(spreads["off"]), 50_000_000, spreads)
        self.assertLess(statistics.median(spreads["on"]), 10_000_000, spreads)

    def test_connections_that_close_after_three_requests(self):
        nginx = self.nginx(self.gateway().url, server="keepalive_requests 3;")
        calls = self.calls(nginx.url, 30)
        self.assert_all(calls, outcome="ok")
        fresh = sum(call["new_connection"] for call in calls)
        resent = sum(call["resends"] for call in calls)
        self.assertGreaterEqual(fresh, 10)
        self.assertLessEqual(fresh, 10 + resent)
        self.assert_closed_after_three(self.logged(30))

    def test_connections_that_close_when_idle(self):
        # Closed by the server between any two calls, at times while the next is on its way: sent
        # again and counted, never a failure.
        nginx = self.nginx(self.gateway().url, server="keepalive_timeout 1ms;")
        for pause_ms in (1, 30):
            calls = self.calls(nginx.url, 60, parallel=3, pause_ms=pause_ms)
            self.assert_all(calls, outcome="ok")
            self.assertLessEqual(max(call["resends"] for call in calls), 1)
        # Six, would it keep them. How many there are beyond the pauses of 30 ms, its speed decides.
        connections = {line["connection"] for line in self.logged(120)}
        self.assertGreater(len(connections), 30)

    def test_limit_of_connections(self):
        nginx = self.nginx(self.gateway().url, location="limit_conn connections 2;")
        calls = self.calls(nginx.url, 16, parallel=8, tokens=100)
        refused = [call for call in calls if call["outcome"] != "ok"]
        self.assertGreaterEqual(len(calls) - len(refused), 2)
        self.assertGreaterEqual(len(refused), 6)
        self.assert_all(refused, outcome="refused", status=429, retry_after_ns=2_000_000_000)

    def test_limit_of_requests(self):
        nginx = self.nginx(self.gateway().url, location="limit_req zone=requests;")
        calls = self.calls(nginx.url, 10)
        self.assertEqual(calls[0]["outcome"], "ok")
        refused = [call for call in calls if call["outcome"] != "ok"]
        self.assertGreater(len(refused), 0)
        self.assert_all(refused, outcome="refused", status=429, retry_after_ns=2_000_000_000)

    def test_bodies_over_a_megabyte(self):
        nginx = self.nginx(self.gateway().url, server="client_max_body_size 1m;")
        # 1.5 MB, refused while it is still on its way.
        calls = self.calls(nginx.url, 8, parallel=4, prompt=300_000)
        self.assert_all(calls, outcome="http_error", status=413)
        self.assert_all(self.calls(nginx.url, 1, prompt=150_000), outcome="ok", status=200)

    def test_gzip(self):
        nginx = self.nginx(
            self.gateway().url, location="proxy_buffering off;",
            server="gzip on; gzip_types text/event-stream application/json; gzip_min_length 1;"
                   "gzip_proxied any;")
        calls = self.calls(nginx.url, 10, tokens=40)
        self.assert_all(calls, outcome="ok", status=200, tokens_out=40)
        logged = self.logged(10)
        self.assertEqual(len(logged), 10)
        for line in logged:
            self.assertIn("gzip", line["asked"])
            self.assertEqual(line["sent"], "gzip")

    def test_an_engine_that_is_gone(self):
        gateway = self.gateway()
        nginx = self.nginx(gateway.url)
        gateway.end()
        self.assert_all(self.calls(nginx.url, 3), outcome="http_error", status=502)

    def test_a_stream_that_the_proxy_gives_up(self):
        gateway = self.gateway("faults: [{kind: stall, after_tokens: 2}]")
        nginx = self.nginx(
            gateway.url, location="proxy_read_timeout 1s; proxy_buffering off;")
        self.assert_all(self.calls(nginx.url, 3, parallel=3), outcome="truncated", status=200)


class RunsThroughNginx(NginxCase):
    def test_a_run_holds_over_connections_that_close_early(self):
        run = self.run_to_end(lambda: self.scenario(self.nginx(
            self.gateway().url, server="keepalive_requests 3;", location="proxy_buffering off;").url))
        self.assertEqual(run.code, 0, run.text())
        report = self.report()
        self.assert_identities(report)
        step = report["steps"][0]
        self.assertEqual(step["failed"], 0, step["outcomes"])
        self.assertEqual(step["outcomes"]["ok"], step["attempts"])
        self.assert_closed_after_three(self.logged(step["attempts"]))

    def test_a_run_fails_on_the_refusals_of_a_limit(self):
        run = self.run_to_end(lambda: self.scenario(self.nginx(
            self.gateway().url, location="limit_req zone=requests burst=3 nodelay;").url))
        self.assertEqual(run.code, 1, run.text())
        report = self.report()
        self.assert_identities(report)
        step = report["steps"][0]
        self.assertEqual(self.part(step, "errors")["verdict"], "fail")
        self.assertGreater(step["outcomes"]["refused"], 0)
        self.assertLess(step["sent_share"], 0.95)
        self.assertEqual(self.part(step, "TTFT")["verdict"], "no data")
