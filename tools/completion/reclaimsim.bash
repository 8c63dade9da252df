# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for reclaimsim: the program knows its own tables.
_reclaimsim()
{
	local words=("${COMP_WORDS[@]:1:COMP_CWORD}") current=${COMP_WORDS[COMP_CWORD]} IFS=$'\n'

	# COMP_WORDS parts words at "=": the value of --set KEY=VALUE is free text.
	[ "$current" = "=" ] && return
	COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)" -- "$current"))
	case ${COMPREPLY[0]-} in
	*=) compopt -o nospace ;;
	"") compopt -o default ;;
	esac
}
complete -F _reclaimsim reclaimsim
