#!/bin/sh
# Which folder includes which. HACKING.md's table lists the folders of src, the lowest first: an include may name the
# folder itself or one that stands before it. Prints each folder with the folders that it includes; fails on an arrow up.
#   includes_test.sh ROOT
cd "$1" || exit 1
folders=$(sed -n '/^| folder /,/^$/p' HACKING.md | sed -n 's/^| \(`[^|]*`\) |.*/\1/p' | tr -d '` ' | tr ',' '\n' |
          grep '^src/' | sed 's,^src/,,')
find src -name '*.[ch]' -exec grep -H '^ *# *include "' {} + | sed 's/^src\///; s/: *# *include "/ /; s/".*//' |
awk -v folders="$folders" '
    function folder(path) { return path ~ /\// ? substr(path, 1, match(path, /\/[^\/]*$/) - 1) : "." }
    BEGIN { n = split(folders, at, "\n"); for (i = 1; i <= n; i++) level[at[i]] = i }
    {
        from = folder($1); to = folder($2)
        seen[from] = 1
        if (to == from || to == "retrograd" || to == ".") # the public headers; files that the build makes
            next
        if (!((from, to) in arrows)) { arrows[from, to] = 1; list[from] = list[from] " " to }
        if (!(from in level) || !(to in level) || level[to] > level[from]) {
            up++
            print "up: " $1 " includes " $2
        }
    }
    END {
        for (f in seen) if (!(f in level)) { up++; print "HACKING.md does not list src/" f }
        for (i = 1; i <= n; i++) printf "%2d %-14s%s\n", i, at[i], list[at[i]]
        exit up > 0 || n == 0
    }'
