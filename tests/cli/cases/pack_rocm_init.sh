# The file that a framework carries.
$ROCKIT pack rocm-init --check-version 7.0.0rc1
echo --
$ROCKIT pack rocm-init --preload amdhip64,rccl --check-version 7.0.0rc1 --minor --fail
echo --
$ROCKIT pack rocm-init --preload amdhip64 -o init.py && cat init.py
