# Completion of sluice's command line for bash.
# shellcheck shell=bash

_sluice() {
    local current=${COMP_WORDS[COMP_CWORD]}
    local previous=${COMP_WORDS[COMP_CWORD - 1]}
    local job=${COMP_WORDS[1]:-}
    local bench_options="--quick --json --work --array --vis --field --tune --chart --vram --ram --device --threads --quiet
        --verbose --no-progress --version --help"
    local gather_options="--index --output --axis --coordinates --sparse --stats --trace --report
        --checkpoint --every --resume --overwrite --dry-run --vram --ram --device --threads
        --no-probe --quiet --verbose --no-progress --version --help"
    local image_options="--output --psf --stats --trace --report --checkpoint --every --resume
        --overwrite --dry-run --size --scale --centre --weight --channels-out --complex --epsilon
        --pol --channels --times --uv-range --weight-by-time --unit-weights --autos --conjugate
        --phase-centre --tune --vram --ram --device --threads --no-probe --quiet --verbose
        --no-progress --version --help"
    local info_options="--json --no-scan --phase-centre --quiet --verbose --no-progress --version
        --help"
    local predict_options="--model --output --sparse --stats --trace --report --checkpoint --every
        --resume --overwrite --dry-run --vram --ram --device --threads --no-probe --quiet --verbose
        --no-progress --version --help"
    local repack_options="--output --chunk --filter --dtype --rest --saturate --stats --trace --report --checkpoint
        --every --resume --overwrite --dry-run --vram --ram --device --threads --no-probe --quiet
        --verbose --no-progress --version --help"
    local simulate_options="--output --zstd --overwrite --array --rows --channels --freq
        --channel-width --ra --dec --hours --pols --sky --noise --seed --threads --quiet --verbose
        --no-progress --version --help"
    local stats_options="--json --quantiles --no-median --histogram --png --part --stats --trace
        --report --checkpoint --every --resume --overwrite --dry-run --vram --ram --device --threads
        --no-probe --quiet --verbose --no-progress --version --help"
    local transpose_options="--axes --output --chunk --filter --stats --trace --report --checkpoint --every
        --resume --overwrite --dry-run --vram --ram --device --threads --no-probe --quiet --verbose
        --no-progress --version --help"
    local words=""
    COMPREPLY=()
    if [[ $COMP_CWORD -eq 1 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "bench gather image info predict repack simulate stats transpose help --help --version" -- "$current")
        return
    fi
    case $job:$previous in
    help:*) words="bench gather image info predict repack simulate stats transpose" ;;
    bench:bench) words="engine copy io direct ladder" ;;
    bench:--device | gather:--device | image:--device | predict:--device | repack:--device | stats:--device | transpose:--device) words="auto host cuda cuda:0" ;;
    gather:--sparse | predict:--sparse) words="auto resident mapped streamed" ;;
    image:--pol) words="I Q U V XX YY XY YX RR LL RL LR I,Q,U,V XX,YY RR,LL" ;;
    image:--weight) words="natural uniform briggs:0" ;;
    repack:--dtype) words="i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c4 c8 c16" ;;
    simulate:--array) words="vla-d meerkat mwa" ;;
    simulate:--pols) words="1 2" ;;
    stats:--part) words="real imag abs" ;;
    *)
        if [[ $current == -* ]]; then
            case $job in
            bench) words=$bench_options ;;
            gather) words=$gather_options ;;
            image) words=$image_options ;;
            info) words=$info_options ;;
            predict) words=$predict_options ;;
            repack) words=$repack_options ;;
            simulate) words=$simulate_options ;;
            stats) words=$stats_options ;;
            transpose) words=$transpose_options ;;
            esac
        fi
        ;;
    esac
    if [[ -n $words ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    fi
}

# Where nothing of the above fits, names of files are completed.
complete -o default -F _sluice sluice
