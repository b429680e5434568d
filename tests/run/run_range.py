#!/usr/bin/env python3
"""librockit-range.so: recording is on in ROCTx ranges of one name and nowhere else.

The stand-in for ROCTx prints what rocprofv3 would record, and aborts where rocprofv3 does.
"""

import os
import pathlib
import subprocess
import sys

import librun
from librun import ROCKIT, test

BUILD = pathlib.Path(ROCKIT).resolve().parent
LIBRARY = BUILD / "librockit-range.so"
APP = BUILD / "range-app"


def recorded(*calls, name="step"):
    env = {k: v for k, v in os.environ.items() if k not in ("ROCKIT_RANGE", "LD_PRELOAD")}
    env["LD_PRELOAD"] = str(LIBRARY)
    if name is not None:
        env["ROCKIT_RANGE"] = name
    done = subprocess.run([APP, *calls], env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, (calls, done)
    lines = done.stdout.splitlines()
    assert lines.pop() == "end"
    return lines


@test
def a_range_of_the_name_is_recorded_with_all_in_it(_place):
    assert recorded("+a", "-", "+step", "+b", "-", "-", "+c", "-") == [
        "resume 0", "push step", "push b", "pop", "pop", "pause 0"]


@test
def other_names_record_nothing(_place):
    assert recorded("+stepper", "-", "+Step", "-", "+", "-", "(ste", ")") == []


@test
def ranges_in_each_other_are_one_window(_place):
    assert recorded("+step", "+step", "-", "-") == ["resume 0", "push step", "push step", "pop", "pop", "pause 0"]


@test
def started_ranges_are_windows_too(_place):
    assert recorded("(a", "(step", "(b", ")", ")", ")") == [
        "resume 0", "start step", "start b", "stop 1", "stop 0", "pause 0"]


@test
def a_pop_of_a_push_that_was_not_recorded_is_not_seen(_place):
    assert recorded("+a", "(step", "-", ")", "+b", "-") == ["resume 0", "start step", "stop 0", "pause 0"]
    assert recorded("-", "(step", "-", ")") == ["resume 0", "start step", "stop 0", "pause 0"]


@test
def without_a_name_everything_is_passed_on(_place):
    assert recorded("+a", "-", "(b", ")", name=None) == []


@test
def more_ranges_than_are_counted_do_no_harm(_place):
    deep = recorded(*["+step"] * 600, *["-"] * 600)
    assert deep[0] == "resume 0" and deep[-1] == "pause 0" and deep.count("push step") == 512
    wide = recorded(*["(step"] * 100, *[")"] * 100)
    assert wide[0] == "resume 0" and "pause 0" in wide and wide.count("resume 0") == 1


@test
def threads_switch_recording_on_and_off_in_pairs(_place):
    lines = recorded("threads")
    switches = [line for line in lines if line[0] == "r" or line.startswith("pause")]
    assert switches[::2] == ["resume 0"] * (len(switches) // 2)
    assert switches[1::2] == ["pause 0"] * (len(switches) // 2)


@test
def the_plan_names_the_library(place):
    plan = place.plan("--tool", "rocprofv3", "--tool-version", "7.0", "--arch", "gfx942", "-t", "kernel",
                      "--range", "step")
    argv = plan["passes"][0]["argv"]
    assert argv[argv.index("--preload") + 1] == str(LIBRARY), argv
    assert plan["passes"][0]["env"]["ROCKIT_RANGE"] == "step"


if __name__ == "__main__":
    if not LIBRARY.exists() or not APP.exists():
        print("no library that follows ranges in this build")
        sys.exit(77)
    sys.exit(librun.main())
