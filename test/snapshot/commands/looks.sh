# Commands that can tell a stub from a function, with a `#` line before each.
#
declare -f args; type counter; typeset -f me; command -V status
#
declare -F; declare -f | wc -c; set | grep -c args; compgen -A function
#
x=a; x+=rgs; declare -f "$x"; type "$x"; f=type; builtin type $x
#
export -f args printf2; bash -c "args 1"; printf "%s\n" 1 2 | xargs -n1 bash -c 'printf2 "$@"' _
#
set -x; x=a; x+=rgs; $x 1
#
set -T; trap '\echo "debug $BASH_COMMAND"' DEBUG; x=a; x+=rgs; $x 1
#
trap "\echo returned" RETURN; x=m; x+=e; $x; me
#
set -E; trap "\echo error" ERR; x=f; x+=ails; $x; ret 3
#
where() { \echo "${FUNCNAME[*]}|${BASH_LINENO[*]}"; caller 0; }; x=d; x+=yn; $x where; dyn where
#
x=d; x+=yn; $x eval '\echo "${FUNCNAME[*]} ${#BASH_SOURCE[@]}"'
#
builtin shopt -s extdebug; declare -F args; x=m; x+=e; $x
#
set -o posix; x=a; x+=rgs; $x 1; counter
#
builtin() { \echo mine; }; x=a; x+=rgs; $x 1
#
set -a; x=a; x+=rgs; $x; bash -c "args 2>&1" | wc -l
#
ulimit -n 4; x=a; x+=rgs; $x 1; counter
#
unset -f builtin command; x=a; x+=rgs; $x
#
x=t; x+=est; FUNCNEST=2; dyn dyn $x
#
enable -n .; x=a; x+=rgs; $x 1
#
false | (exit 3) | true; \echo ${PIPESTATUS[*]}; x=a; x+=rgs; $x
