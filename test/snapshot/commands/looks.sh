# Commands that can tell a stub from a function, with a `#` line before each.
#
declare -f args; type counter; typeset -f me; command -V status
#
declare -F; declare -f | wc -c; set | grep -c args; compgen -A function
#
x=args; declare -f "$x"; type "$x"; f=type; builtin type $x
#
export -f args printf2; bash -c "args 1"; printf "%s\n" 1 2 | xargs -n1 bash -c 'printf2 "$@"' _
#
set -x; x=args; $x 1
#
set -T; trap '\echo "debug $BASH_COMMAND"' DEBUG; x=args; $x 1
#
trap "\echo returned" RETURN; x=me; $x; me
#
set -E; trap "\echo error" ERR; x=fails; $x; ret 3
#
where() { \echo "${FUNCNAME[*]}|${BASH_LINENO[*]}"; caller 0; }; x=dyn; $x where; dyn where
#
x=dyn; $x eval '\echo "${FUNCNAME[*]} ${#BASH_SOURCE[@]}"'
#
builtin shopt -s extdebug; declare -F args; x=me; $x
#
set -o posix; x=args; $x 1; counter
#
builtin() { \echo mine; }; x=args; $x 1
#
set -a; x=args; $x; bash -c "args 2>&1" | wc -l
#
ulimit -n 4; x=args; $x 1; counter
#
unset -f builtin command; x=args; $x
#
x=test; FUNCNEST=2; dyn dyn $x
#
enable -n .; x=args; $x 1
#
false | (exit 3) | true; \echo ${PIPESTATUS[*]}; x=args; $x
