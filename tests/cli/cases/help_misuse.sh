"$ROCKIT" help reprot; echo $?
"$ROCKIT" help nonsense; echo $?
"$ROCKIT" help report convert; echo $?
"$ROCKIT" help --all report; echo $?
