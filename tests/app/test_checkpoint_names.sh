#!/bin/bash
# No file of the user's is lost by a checkpoint: whatever else has the name of one of its files, or lies
# there already, is refused before anything is written. And what waits for a pipe ends when it is told to.
# shellcheck source=tests/app/support_program.sh
here=$(cd "$(dirname "$0")" && pwd)
source "$here/support_program.sh"
# shellcheck source=tests/app/support_resume.sh
source "$here/support_resume.sh"

run simulate -o set.uvh5 --array vla-d --rows 2000 --channels 2 --no-progress
[[ $code -eq 0 ]] || fail "no set: $(cat .err)"
image=(image set.uvh5 --size 32 -q "${common[@]}" --vram 12M)

unchanged() { # FILE: it still holds what is in it.kept
    check "$1 was changed" cmp "$1" "$1.kept"
}
keep() { # FILE…
    local file
    for file in "$@"; do
        cp -p "$file" "$file.kept"
    done
}

# ---- outputs of a checkpoint's names -----------------------------------------------------------------
refuses 2 'c.journal is named for two outputs' "${image[@]}" -o c.journal --checkpoint c
refuses 2 'c.journal is named for two outputs' "${image[@]}" -o x.h5 --psf ./c.journal --checkpoint c
for option in --stats --trace --report; do
    refuses 2 'c.journal is named for two outputs' "${image[@]}" -o x.h5 "$option" c.journal \
        --checkpoint "$work/c"
done
refuses 2 'c.journal is named for two outputs' predict --model sky.txt set.uvh5 -q -o c.journal \
    --checkpoint c
refuses 2 'c.journal is named for two outputs' gather set.uvh5:/a --index i.h5:/i -q -o c.journal:/v \
    --checkpoint c
refuses 2 'too long a name' "${image[@]}" -o x.h5 --checkpoint "$(printf 'a%.0s' {1..4093})"
check "a refused run leaves a file" [ ! -e c.journal ]
# A name that only looks like one of them is one's own.
accepts '' "${image[@]}" -o c.new.h5 --checkpoint c.new --every 1ms
check "the output is not there" [ -s c.new.h5 ]

# ---- inputs of a checkpoint's names --------------------------------------------------------------------
for name in in.journal in.new in; do
    cp -p set.uvh5 $name
    keep $name
done
refuses 2 'in.journal is an input and an output' image in.journal -q -o x.h5 --checkpoint in
refuses 2 'in.journal is an input and an output' predict --model in.journal set.uvh5 -q -o x.uvh5 \
    --checkpoint in
refuses 2 'in.journal is an input and an output' gather set.uvh5:/a --index in.journal:/i -q -o x.h5:/v \
    --checkpoint in
unchanged in.journal
rm in in.journal
accepts '' image in.new "${image[@]:2}" -o x.h5 --checkpoint in --every 1ms
unchanged in.new
rm x.h5

# ---- files that are there already ----------------------------------------------------------------------
echo 'Dear diary, today nothing was computed.' >precious
keep precious
refuses 5 'precious exists and is no checkpoint' "${image[@]}" -o x.h5 --checkpoint precious
refuses 5 'precious exists and is no checkpoint' "${image[@]}" -o x.h5 --checkpoint precious --overwrite
refuses 3 'precious is no checkpoint.*name another' "${image[@]}" -o x.h5 --checkpoint precious --resume
refuses 3 'precious is no checkpoint' "${image[@]}" -o x.h5 --checkpoint precious --resume --overwrite
ln -s precious link
refuses 5 'link exists and is no checkpoint' "${image[@]}" -o x.h5 --checkpoint link --overwrite
ln -s precious linked.journal
refuses 5 'linked.journal is a link' "${image[@]}" -o x.h5 --checkpoint linked
mkfifo waits.journal
refuses 5 'waits.journal is no ordinary file' "${image[@]}" -o x.h5 --checkpoint waits
unchanged precious
check "a refused run leaves a journal" [ ! -e precious.journal ]
: >empty
refuses 5 'empty exists and is empty' "${image[@]}" -o x.h5 --checkpoint empty
refuses 3 'empty is damaged' "${image[@]}" -o x.h5 --checkpoint empty --resume
check "a refused run leaves a journal" [ ! -e empty.journal ]
# One line each: nothing is said of going on with a checkpoint that holds nothing.
repack=(repack set.uvh5:/Data/visdata "${common[@]}" --checkpoint empty --resume)
: >taken.h5
refuses 5 'taken.h5 exists; overwriting' "${repack[@]}" -o taken.h5:/v
refuses 3 'empty is damaged' "${repack[@]}" -o free.h5:/v
check "a refused run leaves a journal" [ ! -e empty.journal ]
accepts '' "${image[@]}" -o x.h5 --checkpoint empty --overwrite
rm x.h5

# ---- pipes -----------------------------------------------------------------------------------------------
mkfifo stats
"$program" "${image[@]}" -o x.h5 --stats stats >.out 2>.err &
pid=$!
for ((i = 0; i < 200; i++)); do # until the result is there, and only the pipe is left
    [[ -e x.h5 ]] && break
    sleep 0.05
done
sleep 0.2
kill -TERM $pid
for ((i = 0; i < 100; i++)); do
    kill -0 $pid 2>/dev/null || break
    sleep 0.05
done
check "a run that waits for a pipe's reader ignores SIGTERM" [ "$i" -lt 100 ]
kill -KILL $pid 2>/dev/null
wait $pid
code=$?
n_checks=$((n_checks + 1))
[[ $code -eq 130 ]] || fail "a pipe without a reader: exit code $code: $(cat .err)"
grep -q 'stats had nobody who reads it' .err || fail "a pipe without a reader: $(cat .err)"
rm x.h5
(sleep 0.3 && cat stats >read.json) &
reader=$!
accepts '' "${image[@]}" -o x.h5 --stats stats
wait $reader
check "the pipe's reader got other statistics" grep -q '^}' read.json

verdict
