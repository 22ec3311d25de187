"""etcd, kube-apiserver and kube-controller-manager on this machine alone, for tests.

Everything lives in one temporary folder and listens on 127.0.0.1. Each program is one that can be
killed and started again with the same data and the same port.
"""
import ctypes
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

ADMIN_TOKEN = "admin-of-the-test"
CONTROLLERS_TOKEN = "controllers-of-the-test"


def free_port():
    """A port that nobody listens on, below the range from which outgoing connections are served:
    it must still be free when a killed program comes back."""
    for _ in range(1000):
        port = random.randrange(20000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise AssertionError("no free port")


PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def die_with_parent():
    """Even where the test itself is killed."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Program:
    """One program with its log; never outlives the test. Started by the main thread."""

    def __init__(self, name, command, log_path, env=None):
        self.name = name
        self.command = command
        self.log_path = log_path
        self.env = env
        self.process = None

    def start(self):
        with open(self.log_path, "ab") as log:
            # In a session of its own: Ctrl-C reaches the test first, which stops things in order.
            self.process = subprocess.Popen(self.command, stdout=log, stderr=subprocess.STDOUT,
                                            stdin=subprocess.DEVNULL, env=self.env,
                                            start_new_session=True,
                                            preexec_fn=die_with_parent)

    def running(self):
        return self.process is not None and self.process.poll() is None

    def stop(self, number=signal.SIGTERM, patience=20):
        """Returns the exit code; what does not end in time is killed and gives -9."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(patience)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        code, self.process = self.process.returncode, None
        return code

    def log(self, lines=40):
        with open(self.log_path, encoding="utf-8", errors="replace") as text:
            return "".join(text.readlines()[-lines:])

    def must_run(self):
        if not self.running():
            raise AssertionError(f"{self.name} has ended:\n{self.log()}")


def kubeconfig(path, server, ca_file, user):
    """Writes one; JSON is YAML, too."""
    document = {
        "apiVersion": "v1", "kind": "Config", "current-context": "test",
        "clusters": [{"name": "test", "cluster": {
            "server": server, "certificate-authority": ca_file}}],
        "users": [{"name": "test", "user": user}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}]}
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w",
              encoding="utf-8") as out:
        json.dump(document, out, indent=1)
    return path


class ControlPlane:
    """As a context manager: starts all three, and stops them whatever happens.

    etcd: its program; tools: the folder with kube-apiserver and kube-controller-manager.
    """

    def __init__(self, etcd, tools):
        self.folder = tempfile.mkdtemp(prefix="hekla-realcluster-")
        self.port = free_port()
        self.server = f"https://127.0.0.1:{self.port}"
        self.ca_file = self.path("certificates/apiserver.crt")
        client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        self.etcd = Program("etcd", [
            etcd, "--name=test", f"--data-dir={self.path('etcd')}",
            f"--listen-client-urls={client}", f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=test={peer}"], self.path("etcd.log"))
        self.apiserver = Program("kube-apiserver", [
            os.path.join(tools, "kube-apiserver"), f"--etcd-servers={client}",
            "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none", f"--secure-port={self.port}",
            f"--cert-dir={self.path('certificates')}", "--authorization-mode=RBAC",
            f"--token-auth-file={self.path('tokens.csv')}",
            # Without it a stop in order waits a minute for watches that nobody ends.
            "--shutdown-watch-termination-grace-period=3s",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={self.path('accounts.pub')}",
            f"--service-account-signing-key-file={self.path('accounts.key')}"],
            self.path("apiserver.log"))
        self.controllers = Program("kube-controller-manager", [
            os.path.join(tools, "kube-controller-manager"),
            f"--kubeconfig={self.path('controllers.kubeconfig')}", "--leader-elect=false",
            "--use-service-account-credentials=true", "--secure-port=0",
            f"--root-ca-file={self.ca_file}",
            "--kube-api-qps=200", "--kube-api-burst=400",
            f"--service-account-private-key-file={self.path('accounts.key')}"],
            self.path("controllers.log"))
        self.kubeconfig = self.path("admin.kubeconfig")

    def path(self, name):
        return os.path.join(self.folder, name)

    def __enter__(self):
        try:
            self._prepare()
            self.etcd.start()
            self.apiserver.start()
            self.until_ready(90)
            self.controllers.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind, *unused):
        for program in (self.controllers, self.apiserver, self.etcd):
            program.stop()
        keep = os.environ.get("HEKLA_REALCLUSTER_LOGS")
        if keep and kind is not None:
            os.makedirs(keep, exist_ok=True)
            for program in (self.etcd, self.apiserver, self.controllers):
                if os.path.exists(program.log_path):
                    shutil.copy(program.log_path, keep)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _prepare(self):
        for arguments in (["genrsa", "-out", self.path("accounts.key"), "2048"],
                          ["rsa", "-in", self.path("accounts.key"), "-pubout", "-out",
                           self.path("accounts.pub")]):
            subprocess.run(["openssl", *arguments], check=True, capture_output=True)
        with open(self.path("tokens.csv"), "w", encoding="utf-8") as out:
            out.write(f'{ADMIN_TOKEN},admin,admin,"system:masters"\n'
                      f"{CONTROLLERS_TOKEN},system:kube-controller-manager,controllers\n")
        kubeconfig(self.kubeconfig, self.server, self.ca_file, {"token": ADMIN_TOKEN})
        kubeconfig(self.path("controllers.kubeconfig"), self.server, self.ca_file,
                   {"token": CONTROLLERS_TOKEN})

    def until_ready(self, seconds):
        end = time.time() + seconds
        while True:
            self.etcd.must_run()
            self.apiserver.must_run()
            done = subprocess.run(["kubectl", "--kubeconfig", self.kubeconfig, "get", "--raw",
                                   "/readyz"], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return
            if time.time() > end:
                raise AssertionError(f"the API server is not ready: {done.stderr}\n"
                                     f"{self.apiserver.log()}")
            time.sleep(0.25)
