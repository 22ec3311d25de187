"""A playground and a kubectl for it, shared by the e2e tests."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time


def need_kubectl():
    """Ends the program as passed where there is no kubectl."""
    if shutil.which("kubectl") is None:
        print("kubectl is not installed, nothing tested (scripts/setup.sh installs it)")
        sys.exit(0)


class Playground:
    """Starts `heklactl playground`; as a context manager it also stops it."""

    def __init__(self, heklactl, *flags):
        self.folder = tempfile.mkdtemp(prefix="hekla-e2e-")
        self.kubeconfig = os.path.join(self.folder, "kubeconfig")
        self.log_path = os.path.join(self.folder, "log")
        self.log = open(self.log_path, "wb")
        self.process = subprocess.Popen(
            [heklactl, "playground", "--kubeconfig", self.kubeconfig, *flags],
            stdout=self.log, stderr=subprocess.STDOUT)
        self.exit_code = None

    def __enter__(self):
        end = time.time() + 60
        while not os.path.exists(self.kubeconfig):
            if self.process.poll() is not None or time.time() > end:
                raise AssertionError("the playground did not start:\n" + self.output())
            time.sleep(0.05)
        return self

    def __exit__(self, *unused):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def stop(self):
        """Ctrl-C; returns the exit code and remembers how long it took."""
        if self.exit_code is None:
            begin = time.time()
            self.process.send_signal(signal.SIGINT)
            try:
                self.exit_code = self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.exit_code = -1
            self.stop_seconds = time.time() - begin
            self.log.close()
        return self.exit_code

    def output(self):
        self.log.flush()
        with open(self.log_path, encoding="utf-8", errors="replace") as f:
            return f.read()

    def server(self):
        with open(self.kubeconfig, encoding="utf-8") as f:
            for line in f:
                if line.strip().startswith("server:"):
                    return line.split(None, 1)[1].strip()
        raise AssertionError("no server in the kubeconfig")

    def command(self, *words):
        return ["kubectl", "--kubeconfig", self.kubeconfig, *words]

    def kubectl(self, *words, stdin=None, check=True):
        """Standard output; with check=False the finished process."""
        done = subprocess.run(self.command(*words), input=stdin, capture_output=True, text=True,
                              timeout=60, check=False)
        if not check:
            return done
        if done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(words)}: {done.stderr}\n{self.output()[-2000:]}")
        return done.stdout

    def get(self, *words):
        return json.loads(self.kubectl("get", *words, "-o", "json"))

    def until(self, expected, what, seconds=30):
        """Polls what() until it gives what is expected."""
        end = time.time() + seconds
        while True:
            got = what()
            if got == expected:
                return
            if time.time() > end:
                raise AssertionError(f"waited for {expected!r}, got {got!r}\n{self.output()[-2000:]}")
            time.sleep(0.1)
