# A recorder's file whose process was killed: the records are read, those in flight are reported.
ln -s "$CASES/../fuzz/corpus/rkraw/killed.rkraw" killed.rkraw
"$ROCKIT" convert killed.rkraw -o - -f csv
# Launches and their times are joined; those that have none are rows without times.
ln -s "$CASES/../fuzz/corpus/rkraw/launches-killed.rkraw" launches.rkraw
"$ROCKIT" convert launches.rkraw -o - -f csv
"$ROCKIT" convert launches.rkraw --table agents -o - -f csv 2>/dev/null
"$ROCKIT" report launches.rkraw 2>/dev/null
"$ROCKIT" report launches.rkraw -f json 2>/dev/null | grep -A3 launches-without-times
"$ROCKIT" diff launches.rkraw launches.rkraw 2>/dev/null
"$ROCKIT" convert launches.rkraw -o t.parquet -q
"$ROCKIT" convert t.parquet -o - -f jsonl 2>&1 | cut -c1-120
"$ROCKIT" convert launches.rkraw -o t.pftrace 2>&1 | grep without
"$ROCKIT" convert launches.rkraw -o t.json 2>&1 | grep without
for table in memcpy api markers memalloc agents processes; do
	"$ROCKIT" convert killed.rkraw --table $table -o - -f csv 2>/dev/null
done
