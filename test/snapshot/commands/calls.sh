# Commands that call functions, with a `#` line before each.
#
(exit 3); status; status
#
true; status; ! true; status
#
false | status; status | cat
#
: a b; last x; last
#
args; args '' 'a b' '*' -x "$(printf 'l1\nl2\n\n')"; args {1..20}
#
me; (me); me | cat; x=$(me); \echo "$x"
#
fact 5; down 3
#
once; once; once
#
gone; gone; \echo $?
#
outer; inner; \echo $x
#
ret; \echo $?; ret 0; \echo $?; ret 300; \echo $?
#
leave; \echo no
#
(leave 4); \echo $?; leave 5 | cat; \echo "${PIPESTATUS[@]}"
#
fails; set -e; fails; \echo no
#
set -e; if fails; then \echo yes; fi; fails || \echo caught; ret 2; \echo no
#
set -e; (exit 3) || status; false || fails; \echo no
#
set -eu; args; counter; ret 0; \echo "$nope"
#
set -e; x=$(fails); \echo "no $x"
#
(counter); counter; counter | \cat; counter
#
printf 'a\nb\nc\n' | reads; reads <<< one; reads < /dev/null
#
printf 'a\nb\n' | { reads; }; { reads; \echo rest; } <<EOF
x
y
EOF
#
reads <&-; \echo $?
#
to5 5>&1; to5; exec 5>&1; to5
#
exec 3>&1 4>&1 5>&1 6>&1 7>&1 8>&1 9>&1; to1 x; to5; \echo three >&3
#
to1 x; to1 y 2>&1; to1 z >&2; logs; logs 2>/dev/null
#
exec >&-; to1 x; \echo $? >&2
#
exec 2>&-; to1 x; err; \echo $?
#
exec 0<&- 2>&-; fds; to1 x; fds
#
fds; exec 3</dev/null; fds; to1 x; fds
#
sub; \echo $?; arith 3; \echo $?; arith 1; \echo $?; cond abc; \echo $?; cond b; \echo $?
#
doc one two; doc 'a b'
#
err x; \echo $?; err y 2>&1 | wc -l
#
pick a; pick z; shopt extglob; builtin shopt extglob
#
builtin shopt -s extglob; pick a; \echo !(x)*; builtin shopt extglob
#
listed -a -b q r; listed -c; \echo $OPTIND
#
for i in 1 2; do brk; \echo $i; done
#
X=1 env_x; \echo ${X-none}; X=2; env_x; X=3 dyn env_x
#
onexit later; \echo now
#
(onexit sub); onexit main; exit 3
#
cd /; here; cd usr && here; \cd /; args
#
lots; setter; \echo "$made $global $# $1"; set -- p q; setter; \echo "$*"; args "$@"
#
dyn args a b; dyn dyn dyn status; dyn ret 3; \echo $?
#
test 1 -eq 1; [ 1 -eq 1 ] && \echo bracket
#
printf2 a "b c" ""; local2 x=1; mk.it-now:x a b
#
shopt; unset -f args; args; \echo $?
#
args() { \echo mine "$@"; }; args 1; dyn args 2
#
al; args; al
al
#
args x
al
echo y
shopt -u expand_aliases
args z
al
#
builtin shopt -u expand_aliases
args z
al
#
IFS=01x; args "a0b" c1d; status; readonly IFS; counter; x="a0b"; args $x
#
IFS=/; args a/b; x=a/b; args $x; here
#
IFS=; args 'a b'; IFS=$' \t\n'; args a b
#
set -f; args *; status; set +f; builtin shopt -s nullglob failglob; args /etc/pass*; counter
#
set -o noclobber; counter > /dev/null; counter
#
umask 777; counter; umask 022; counter
#
jobs_of; jobs_of & wait; counter & wait; \echo ${n-unset}
#
counter && ret 1 || status; ! ret 0; \echo $?
#
while ret 0; do counter; [[ $n == 3 ]] && break; done
#
case $(counter) in n=1) args;; esac; args "$(args "$(args)")"
#
exec 200>&1; to1 x >&200
#
x=args; $x 1; "$x" 2; ${x} 3; a""rgs 4; \args 5; eval "$x" 6; command args 7; builtin args 8
#
say hello
#
args 1 2 & wait $!; \echo $?; ret 5 & wait $!; \echo $?
#
trap "\echo usr" USR1; kill -USR1 $$; counter; trap
#
time -p args 2>/dev/null
#
coproc args x; \cat <&"${COPROC[0]}"; wait
#
readonly x=1; outer; \echo $?
#
readonly forkline_status=1 forkline_name=2; args
#
LC_ALL=C args é; args é; export LC_ALL=C; counter; args é
#
declare -A m=([args]=1); for k in "${!m[@]}"; do "$k" "${m[$k]}"; done
#
mapfile -t l < <(args a; args b); \echo "${#l[@]}"; dyn printf2 "${l[@]}"
#
source /dev/stdin <<< "args in source; counter"; counter
#
f() { args "$@"; local r=$?; status; return $r; }; f a; f b
#
args 1 <&- >&- 2>&-; \echo $?
#
exec args; \echo $?
#
RANDOM=1; counter; \echo $RANDOM
#
\echo $BASHOPTS $-; counter; \echo $BASHOPTS $-
#
true & a=$!; counter; [[ $a == $! ]] && \echo same
