# A recorder's file whose process was killed: what is there is read, what was under way is told.
ln -s "$CASES/../fuzz/corpus/rkraw/killed.rkraw" killed.rkraw
"$ROCKIT" convert killed.rkraw -o - -f csv
for table in memcpy api markers memalloc agents processes; do
	"$ROCKIT" convert killed.rkraw --table $table -o - -f csv 2>/dev/null
done
