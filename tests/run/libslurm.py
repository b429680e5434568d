"""A Slurm of two nodes on this machine, without systemd, for as long as a test needs it."""

import contextlib
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import tempfile
import time

CONFIG = """\
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={top}/munge/sock
CredType=cred/munge
StateSaveLocation={top}/state
SlurmdSpoolDir={top}/spool.%n
SlurmctldPidFile={top}/slurmctld.pid
SlurmdPidFile={top}/slurmd.%n.pid
SlurmctldLogFile={top}/log/slurmctld.log
SlurmdLogFile={top}/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SwitchType=switch/none
KillWait=2
SlurmdParameters=config_overrides
TmpFS={top}/tmp.%n
GresTypes=gpu
NodeName=n[1-2] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=4 RealMemory=1000 \
Gres=gpu:mi300x:4 State=UNKNOWN
PartitionName=main Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
"""
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "setpriv")
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def missing():
    """Why there can be no Slurm here, or None."""
    if os.geteuid():
        return "Slurm's daemons are started by root alone"
    lost = [p for p in PROGRAMS if not shutil.which(p, path=PATH)]
    if lost:
        return "no " + ", ".join(lost)
    try:
        pwd.getpwnam("munge")
    except KeyError:
        return "no user munge"
    return None


def free_ports(count):
    """Some ports in a row that nobody listens on now."""
    for first in range(16817, 60000, 97):
        with contextlib.ExitStack() as stack:
            try:
                for port in range(first, first + count):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
                return first
            except OSError:
                continue
    raise RuntimeError("no free ports")


class Cluster:
    """Started by `with`; `env` is what clients need."""

    def __init__(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="rockit-slurm-", dir="/tmp"))
        self.daemons = []
        self.env = {"SLURM_CONF": str(self.top / "slurm.conf"), "PATH": PATH}

    def __enter__(self):
        try:
            self.configure()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def configure(self):
        port, host = free_ports(3), socket.gethostname().split(".")[0]
        os.chmod(self.top, 0o755)
        for name in ("munge", "state", "log", "spool.n1", "spool.n2", "tmp.n1", "tmp.n2", "dev"):
            (self.top / name).mkdir()
        (self.top / "slurm.conf").write_text(CONFIG.format(
            top=self.top, host=host, port=port, first=port + 1, last=port + 2))
        for i in range(4):
            os.mknod(self.top / f"dev/gpu{i}", 0o020666, os.makedev(1, 3))
        (self.top / "gres.conf").write_text(
            f"NodeName=n[1-2] Name=gpu Type=mi300x Flags=amd_gpu_env File={self.top}/dev/gpu[0-3]\n")
        key = self.top / "munge/key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        munge = pwd.getpwnam("munge")
        for path in (self.top / "munge", key):
            os.chown(path, munge.pw_uid, munge.pw_gid)

    def start(self):
        conf, munge = self.env["SLURM_CONF"], self.top / "munge"
        self.daemon("setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "munged",
                    "--foreground", f"--key-file={munge}/key", f"--socket={munge}/sock",
                    f"--pid-file={munge}/pid", f"--log-file={munge}/log",
                    f"--seed-file={munge}/seed")
        self.until(lambda: (munge / "sock").exists(), "munged")
        self.daemon("slurmctld", "-D", "-f", conf, "-c")
        self.daemon("slurmd", "-D", "-f", conf, "-N", "n1")
        self.daemon("slurmd", "-D", "-f", conf, "-N", "n2")
        self.until(self.idle, "two idle nodes")

    def daemon(self, *argv):
        self.daemons.append(subprocess.Popen(argv, env={**os.environ, **self.env},
                                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                             stderr=subprocess.DEVNULL, start_new_session=True))

    def idle(self):
        done = subprocess.run(["sinfo", "-h", "-N", "-t", "idle", "-o", "%N"], capture_output=True,
                              text=True, env={**os.environ, **self.env}, timeout=30, check=False)
        return len(done.stdout.split()) == 2

    @staticmethod
    def until(holds, what, seconds=20):
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise RuntimeError(f"no {what} after {seconds} s")
            time.sleep(0.05)

    def __exit__(self, *_):
        for process in reversed(self.daemons):
            process.terminate()
        for process in reversed(self.daemons):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)
        shutil.rmtree(self.top, ignore_errors=True)
