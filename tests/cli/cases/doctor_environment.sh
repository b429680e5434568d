. "$CASES/lib_doctor_machine.sh"
machine
driver 6.12.12
gpu 1 90402 0x74a1 1216 192
gpu 2 90402 0x74a1 1216 192
rocm 7.0.2 rocprofv3
HIP_VISIBLE_DEVICES=1 HSA_TOOLS_LIB=librocprofiler64.so.1 doctor --format csv | grep -e '^visible' -e '^env'
printf '#!/bin/sh\n' >bin/rocprofv3
rm bin/python3
doctor --format csv | grep '^python'
