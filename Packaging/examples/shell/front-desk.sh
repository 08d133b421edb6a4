#!/bin/sh
# A front desk in shell: shows who is signed in at an instance, follows what happens, and signs people in and out.
#
#     SDKD_SOCKET=/run/sdkd/sdkd.sock ./front-desk.sh front-desk [PROGRAM]
#
# PROGRAM stands for your backend: PROGRAM NAME prints the JWT of a person. With it, the lines `in NAME` and `out` on standard
# input sign in and out. sdkctl continues after restarts of the daemon and prints each event once. No token is printed, and
# looking changes nothing: no user is created at the vendor.
set -eu
instance=${1:?usage: front-desk.sh INSTANCE [PROGRAM]}
tokens=${2:-false}
sdkctl=${SDKCTL:-sdkctl}
shown=

# Prints who is signed in, if that has changed.
show() {
  status=0
  line=$("$sdkctl" show "$instance" --template '{user.authenticated} {state} {user.externalId}') || status=$?
  case $status in
    0)
      case $line in
        "true "*) line="user ${line##* }" ;;
        *" reauthNeeded "*) line="please sign in again, ${line##* }" ;;
        *) line="please sign in" ;;
      esac
      ;;
    3 | 75) line="offline, try again later" ;; # No daemon, or no answer in time.
    *) exit "$status" ;;
  esac
  [ "$line" = "$shown" ] || echo "$line"
  shown=$line
}

# Prints the events. Begins again only where no daemon answered at all.
events() {
  while :; do
    status=0
    "$sdkctl" events "$instance" --follow --template '{type} {instance}' || status=$?
    case $status in 3 | 75) sleep 5 ;; *) return ;; esac
  done
}

# Shows the user after each event, and every five seconds: events don't say that the daemon is away.
follow() {
  {
    events &
    while sleep 5; do echo look; done
  } | while read -r type id; do
    [ "$type" = look ] || echo "event $type $id"
    show
  done
}

show
follow &
while read -r word name; do
  case $word in
    in) "$tokens" "$name" | "$sdkctl" login "$instance" >/dev/null || echo "in failed" ;;
    out)
      # Without the vendor too: the next person needs the desk.
      "$sdkctl" logout "$instance" >/dev/null || "$sdkctl" logout "$instance" --local-only >/dev/null || echo "out failed"
      ;;
  esac
done
wait
