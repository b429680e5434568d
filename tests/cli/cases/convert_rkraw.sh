# A recorder's file whose process was killed: the records are read, those in flight are reported.
ln -s "$CASES/../fuzz/corpus/rkraw/killed.rkraw" killed.rkraw
"$ROCKIT" convert killed.rkraw -o - -f csv
for table in memcpy api markers memalloc agents processes; do
	"$ROCKIT" convert killed.rkraw --table $table -o - -f csv 2>/dev/null
done
