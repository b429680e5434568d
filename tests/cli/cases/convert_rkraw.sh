# A recorder's file whose process was killed: what is there is read, what was under way is told.
ln -s "$CASES/../fuzz/corpus/rkraw/killed.rkraw" killed.rkraw
"$ROCKIT" convert killed.rkraw -o - -f csv
"$ROCKIT" convert killed.rkraw -o out/ 2>/dev/null
ls out
"$ROCKIT" convert out/api.parquet -o - -f csv
