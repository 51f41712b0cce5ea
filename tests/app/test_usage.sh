#!/bin/bash
# Everything that is refused before any file is looked at: one line, exit code 2, what was found and
# what is accepted. The input does not exist, so whatever gets past the command line leaves with 3.
# shellcheck source=tests/app/support_program.sh
source "$(dirname "$0")/support_program.sh"

image() { # CODE PATTERN OPTION…
    local wanted=$1 pattern=$2
    shift 2
    refuses "$wanted" "$pattern" image nothing.uvh5 -o x.h5 -q --device host "$@"
}

# ---- commands
run
check "sluice alone prints its usage to standard error" grep -q '^usage: sluice' .err
check "sluice alone leaves with 2" test "$code" -eq 2
check "and prints nothing to standard output" test ! -s .out
refuses 2 "no command 'imgae'; expected .*image, info, .*simulate, .*or help" imgae
refuses 2 "expected a command" --quiet image x
refuses 2 "no command 'bogus'" help bogus
refuses 2 'help: expected one command, found x behind it' help image x
refuses 2 '--version: expected nothing, found x behind it' --version x
accepts '^sluice [0-9]*\.[0-9]*\.[0-9]*$' --version
accepts '^sluice [0-9]' image --version
accepts 'sluice image' --help
accepts 'Exit status' help
for job in bench gather image info predict simulate stats; do
    accepts "usage: sluice $job" "$job" --help
    cp .out .direct
    accepts "usage: sluice $job" help "$job"
    check "help $job is $job --help" cmp -s .out .direct
done
accepts 'default: 512' image --help
accepts 'default: 90 %' image -h
accepts 'default: vla-d' simulate --help

# ---- options in general
refuses 2 'no input file' image
refuses 2 'no output file' image nothing.uvh5
refuses 2 'no file given' info
refuses 2 'no output file' simulate
for job in 'repack a.h5:/d' 'transpose a.h5:/d' 'gather a.h5:/d --index a.h5:/i' 'predict a.uvh5' simulate; do
    read -ra words <<<"$job"
    refuses 2 '-o was given twice' "${words[@]}" -o b.h5:/d -o c.h5:/d
done
refuses 2 'takes no input file' simulate -o y.uvh5 extra
image 2 'no option --sizee; did you mean --size' --sizee 4
image 2 'no option --vrm; did you mean --vram' --vrm=4
image 2 'no option -x' -x
image 2 'no option --foo; sluice image --help lists all' --foo
image 2 '^sluice: --quiet takes no value' --quiet=1
image 2 '^sluice: --size needs a value: N | NX NY | NXxNY' --size
refuses 2 'needs a value' image nothing.uvh5 -o
refuses 2 'found the option --size' image nothing.uvh5 -o --size 4
image 2 'contradict' --verbose
image 3 'nothing.uvh5'
refuses 3 'dash' image -q --device host -o x.h5 -- --dash
image 2 'an empty word' ''

# ---- numbers
for text in 1,5asec 20arcsec asec 1e400asec nanasec infdeg '20 asec' 20asecs '' 0x10rad; do
    image 2 "^sluice: --scale: '.*deg, amin, asec, mas, uas or rad" --scale "$text"
done
image 2 "^sluice: --scale: '20' has no unit" --scale 20
image 2 "^sluice: --scale: '' " --scale=
image 2 '^sluice: --scale: .*above zero' --scale 0asec
image 2 '^sluice: --scale: .*above zero' --scale -1asec
for text in 128x x128 128X128 1.5 1e3 '' 128,128 1x2x3 '128 '; do
    image 2 "^sluice: --size: '.*N, NX NY or NXxNY" --size "$text"
done
image 2 '^sluice: --size: .*out of range' --size 0
image 2 '^sluice: --size: .*out of range' --size 99999999999999999999
image 2 '^sluice: --size: .*out of range' --size 128 0
image 2 '^sluice: --size: ' --size -4
for text in 4Q 4m 4KB 1,5G nan inf '' '4 M' 4MM 0x10 1e400 99999999999999999999 9000000T 1.5; do
    image 2 "^sluice: --vram: '.*512M, 0.5G or 800MB" --vram "$text"
    image 2 "^sluice: --ram: '.*512M, 0.5G or 800MB" --ram "$text"
done
image 2 '^sluice: --vram: .*below zero' --vram -1
image 2 '^sluice: --vram: .*below zero' --vram=-0.5G
for text in 5 5:2 2:2 a:b 1:2:3 : '' -1:3 1.5:2 1:99999999999999999999; do
    image 2 '^sluice: --channels: .*A:B' --channels "$text"
    image 2 '^sluice: --times: .*A:B' --times "$text"
done
for text in 5 7:5 -1:5 1:nan 1:inf : '' 1,5:3 1:1e400; do
    image 2 '^sluice: --uv-range: .*A:B' --uv-range "$text"
done
for text in 0 1 -1e-6 nan inf 1e-400 1e-6x '' 1,5e-6; do
    image 2 '^sluice: --epsilon: ' --epsilon "$text"
done
for text in 0 -1 1.5 4097 '' 1e2 two 99999999999999999999; do
    image 2 '^sluice: --threads: .*1 to 4096' --threads "$text"
    image 2 '^sluice: --channels-out: ' --channels-out "${text/4097/1e9}"
done
for text in briggs briggs: briggs:0,5 briggs:nan briggs:99 Natural robust:0 ''; do
    image 2 '^sluice: --weight: ' --weight "$text"
done
image 2 "^sluice: --weight: 'briggs:' .*a number after briggs:" --weight briggs:
image 2 "^sluice: --weight: 'briggs:0,5' " --weight briggs:0,5
for text in i xx W YZ '' 'I ' ,XX XX, XX,,YY 'XX YY' XX,y; do
    image 2 '^sluice: --pol: .*I, Q, U, V, XX, YY, XY, YX, RR, LL, RL or LR' --pol "$text"
done
image 2 "^sluice: --pol: 'XX,YY,XX' names a polarisation twice" --pol XX,YY,XX
image 2 "^sluice: --pol: 'I,Q,U,V,XX' names more than 4" --pol I,Q,U,V,XX
for text in gpu cuda: cuda:-1 cuda:x cuda:99999 CPU ''; do
    image 2 '^sluice: --device: .*auto, host, cuda or cuda:N' --device "$text"
done
for text in 60.6,-30.3 60.6deg 04:60:00,1deg 1deg,91deg 1,5deg,2deg '' ,; do
    image 2 '^sluice: --centre: ' --centre "$text"
done

# ---- what every job takes
for text in 0s -1s 5 1m 1e400s nans '' 1,5s s; do
    image 2 '^sluice: --every: .*ms, s, min or h), such as 60s or 5min' --checkpoint c --every "$text"
done
image 3 'nothing.uvh5' --checkpoint c --every 5min --resume
image 2 '^sluice: --resume needs --checkpoint' --resume
image 2 '^sluice: --every needs --checkpoint' --every 5s
image 2 'x.h5 is named for two outputs' --checkpoint x.h5
for text in ram Mapped '' 1; do
    refuses 2 '^sluice: --sparse: .*auto, resident, mapped or streamed' gather a.h5:/a --index i.h5:/i \
        -o v.h5:/v -q --device host --sparse "$text"
    refuses 2 '^sluice: --sparse: .*auto, resident, mapped or streamed' predict --model m.fits \
        nothing.uvh5 -o y.uvh5 -q --device host --sparse "$text"
done
refuses 2 'no list is given: add --index' gather a.h5:/a -o v.h5:/v -q
refuses 2 'no output is given: add -o' gather a.h5:/a --index i.h5:/i -q
refuses 2 '^sluice: --axis: ' gather a.h5:/a --index i.h5:/i -o v.h5:/v -q --axis 1.5
refuses 3 'nothing.h5' gather nothing.h5:/a --index i.h5:/i -o v.h5:/v -q --device host
refuses 2 'expected one visibility set, found 0' predict --model m.fits -o y.uvh5 -q
refuses 2 'expected one visibility set, found 2' predict --model m.fits a.uvh5 b.uvh5 -o y.uvh5 -q
refuses 2 'no model is given: add --model' predict a.uvh5 -o y.uvh5 -q
refuses 2 'no output is given: add -o' predict --model m.fits a.uvh5 -q
refuses 2 'an input and an output' predict --model m.fits a.uvh5 -o a.uvh5 -q
refuses 3 'nothing.uvh5' predict --model m.fits nothing.uvh5 -o y.uvh5 -q --device host
refuses 2 'is no benchmark: expected sluice bench engine' bench
refuses 2 "'kernels' is no benchmark" bench kernels
refuses 2 'no option --size' bench engine --size 1
refuses 2 'needs a value: FOLDER' bench engine --work
refuses 2 'needs a value' bench engine --vram

# ---- simulate
simulate() { # PATTERN OPTION…
    local pattern=$1
    shift
    refuses 2 "$pattern" simulate -q -o y.uvh5 "$@"
}
simulate '^sluice: --freq: .*no unit.*Hz, kHz, MHz or GHz' --freq 1.4e9
simulate '^sluice: --freq: .*above zero' --freq 0GHz
simulate "^sluice: --freq: .*'ghz'" --freq 1ghz
simulate '^sluice: --rows: ' --rows 0
simulate '^sluice: --channels: ' --channels 1.5
simulate '^sluice: --array: .*vla-d, meerkat or mwa' --array vla
simulate '^sluice: --noise: ' --noise -1
simulate '^sluice: --noise: ' --noise nan
simulate '^sluice: --seed: ' --seed -1
simulate '^sluice: --hours: ' --hours 0
simulate '^sluice: --hours: ' --hours 25
simulate '^sluice: --pols: .*1 to 2' --pols 3
simulate '^sluice: --zstd: .*0 to 19' --zstd 20
simulate '^sluice: --ra: ' --ra 60.6
simulate '^sluice: --dec: ' --dec 91deg
simulate 'go together' --ra 60.6deg
mkfifo pipe
for sky in /dev/zero pipe; do
    refuses 3 "^sluice: $sky: is not a file" simulate -q -o y.uvh5 --sky $sky
done
rm pipe

# ---- names
touch in.uvh5
refuses 2 'an input and an output' image -q in.uvh5 -o in.uvh5 --overwrite
ln -s in.uvh5 link.fits
refuses 2 'an input and an output' image -q in.uvh5 -o link.fits --overwrite
refuses 2 'two outputs' image -q in.uvh5 -o a.h5 -o ./a.h5
refuses 2 'two outputs' image -q in.uvh5 -o a.h5 --psf "$work/a.h5"
refuses 2 'two outputs' image -q in.uvh5 -o a.h5 --stats a.h5
refuses 2 'which --no-probe forbids' image -q in.uvh5 -o a.h5 --tune --no-probe
refuses 2 'which --dry-run forbids' image -q in.uvh5 --tune --dry-run
refuses 5 'no/such/folder' image -q in.uvh5 -o a.h5 --stats no/such/folder/s.json
touch s.json
refuses 5 's.json exists; overwriting' image -q in.uvh5 -o a.h5 --stats s.json
refuses 5 'exists' simulate -q -o in.uvh5
rm in.uvh5 link.fits s.json

# ---- a failure is one line, without --quiet too
refuses 3 'nothing.uvh5' image nothing.uvh5 -o x.h5

# ---- a name with a newline stays one line
refuses 3 'a?b' image -q --device host $'a\nb' -o x.h5

# ---- the locale changes nothing
for name in de_DE.UTF-8 de_DE.utf8 fr_FR.UTF-8; do
    locale=$name
    image 2 "ends in ',5asec'" --scale 1,5asec
    image 3 'nothing.uvh5' --scale 1.5asec
done

check "nothing was written" test -z "$(ls)"
verdict
