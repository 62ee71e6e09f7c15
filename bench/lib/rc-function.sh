# Steps of functions, as real ones have them, with a `#` line before each.
#
  local version="${1-}" pattern="${2:-default}" found
#
  if [ -z "${version}" ]; then
    tool_err "a version is needed, not ${pattern}" && return 127
  fi
#
  case "${pattern}" in
    stable | latest) found="$(tool_list "${version}" | command tail -n 1)" ;;
    v[0-9]*) found="${pattern#v}" ;;
    *) found="${pattern}" ;;
  esac
#
  for name in ${TOOL_NAMES-}; do
    [ "_${name}" = "_${pattern}" ] && found="${found-}/${name}" && break
  done
#
  if [ -f "${TOOL_DIR-}/alias/${pattern}" ]; then
    found="$(command sed -n -e 's/#.*$//' -e '1p' "${TOOL_DIR}/alias/${pattern}" || echo none)"
  fi
#
  while [ "${found#*//}" != "${found}" ]; do
    found="${found%%//*}/${found#*//}"
  done
