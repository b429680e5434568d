# Misuse gives one line, before anything is read.
$ROCKIT pack
$ROCKIT pack bild
$ROCKIT pack --help
$ROCKIT help pack rocm-init
$ROCKIT pack build
$ROCKIT pack build --artifact-dir x
$ROCKIT pack build --artifact-dir x --dest-dir y --level 13
$ROCKIT pack build --artifact-dir x --dest-dir y --devel-compression bz2
$ROCKIT pack build --artifact-dir x --dest-dir y z
SOURCE_DATE_EPOCH=yesterday $ROCKIT pack build --artifact-dir x --dest-dir y
$ROCKIT pack build --artifact-dir x --dest-dir y --version 1.x
$ROCKIT pack build --artifact-dir x --dest-dir y
$ROCKIT pack rocm-init --minor
$ROCKIT pack rocm-init --preload amdhip64,rcll
ls
$ROCKIT pack verify
$ROCKIT pack verify nowhere
$ROCKIT pack index
$ROCKIT pack index nowhere
