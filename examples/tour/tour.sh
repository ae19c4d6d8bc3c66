#!/usr/bin/env bash
#
# A tour of what an operator does: act on what runs, and wait for what comes. Nothing here sleeps or polls.
#
#   examples/tour/tour.sh speech.wav
#
# It starts the service, LiveKit, a recorder and speech to text in a folder of its own, and ends them. docs/getting-started.md explains
# each step. On a terminal it ends with rtc top, until q.
set -euo pipefail

if [[ $# -ne 1 || ! -r $1 ]]; then
  echo "usage: $0 FILE.wav    somebody who says a few sentences" >&2
  exit 2
fi
speech=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rtc=$(realpath "$here/../../bin/rtc.js")

# Profiles, data and files are in a folder of their own; variables of another service must not win over its profile.
folder=$(mktemp -d)
cd "$folder"
export XDG_CONFIG_HOME=$folder/config
unset RTC_URL RTC_API_KEY RTC_API_SECRET API_KEY API_SECRET RTC_PROFILE RTC_WEBHOOK_SECRET

end() {
  local running
  running=$(jobs -p)
  # Whoever has ended already is no error.
  [[ -z $running ]] || kill $running 2>/dev/null || true
  wait
  rm -rf "$folder"
}
trap end EXIT

step() { printf '\n== %s\n' "$1"; }
refuse() {
  echo "tour: $1" >&2
  exit 1
}
# The exit code of a command that is to fail.
code_of() {
  local code=0
  "$@" || code=$?
  echo "(exit code $code)"
  [[ $code -eq $expected ]] || refuse "expected exit code $expected"
}
# A field of a single record, which rtc prints as one NAME<tab>value a line where stdout is no terminal.
field() { awk -F '\t' -v name="$1" '$1 == name { print $2 }'; }

step 'Start everything'
mkfifo service
"$rtc" dev --json --with recorder,stt-post >service 2>service.log &
read -r started <service || { cat service.log >&2; refuse 'rtc dev has ended'; }
echo "$started"
[[ $started =~ \"profile\":\"([^\"]+)\" ]] || refuse 'rtc dev has kept no profile'
export RTC_PROFILE=${BASH_REMATCH[1]}

step 'Make a room, and let two people speak in it'
"$rtc" rooms create demo --json name,sid
"$rtc" rooms join demo --as ada --publish "$speech" --loop 2>ada.log &
ada=$!
"$rtc" rooms join demo --as bob --publish "$speech" --loop 2>bob.log &
bob=$!
"$rtc" wait room demo --for 'publishers>=2' --timeout 60s

step 'Block one of them, and see it stay out'
"$rtc" participants remove demo bob --block 1h --yes
expected=7 code_of wait "$bob"
"$rtc" wait room demo --for left:bob
expected=4 code_of "$rtc" rooms join demo --as bob
"$rtc" blocks list demo
"$rtc" participants list demo

step 'Record what is said, and wait for the file'
recording=$("$rtc" recordings start demo --wait | field EGRESS-ID)
kill -TERM "$ada"
expected=0 code_of wait "$ada"
# Without --loop it leaves at the end of the file: all of it is in the recording.
"$rtc" rooms join demo --as ada --publish "$speech"
"$rtc" recordings stop demo
"$rtc" wait recording "$recording" --timeout 2m
"$rtc" recordings download "$recording" demo.mp4

step 'Transcribe it, and wait'
transcription=$("$rtc" transcriptions create "$recording" | field ID)
"$rtc" wait transcription "$transcription" --timeout 5m --json status,language
"$rtc" transcriptions get "$transcription" --format text

step 'Explain what happened in the room'
"$rtc" explain demo

if [[ -t 1 ]]; then
  "$rtc" rooms join demo --as ada --publish "$speech" --loop 2>>ada.log &
  "$rtc" wait room demo --for publishing:ada >/dev/null
  "$rtc" top
fi
