#!/bin/sh
# A front desk in a few lines of shell: shows who is signed in at an instance and follows what happens.
#
#     SDKD_SOCKET=/run/sdkd/sdkd.sock ./front-desk.sh front-desk
#
# sdkctl reads on over restarts of the daemon and shows each event once. Tokens are never printed.
set -eu
instance=${1:?usage: front-desk.sh INSTANCE}
sdkctl=${SDKCTL:-sdkctl}

show() {
  status=0
  session=$("$sdkctl" open "$instance" --template '{visible} {user.externalId}') || status=$?
  case $status in
    0)
      user=${session#* }
      if [ "${session%% *}" = true ]; then echo "user ${user:-a guest}"; else echo "no session"; fi
      ;;
    6) echo "no session" ;;           # Nobody is signed in: a state to show.
    3 | 75) echo "try again later" ;; # No daemon, or the vendor can't be reached.
    *) exit "$status" ;;
  esac
}

show
"$sdkctl" events "$instance" --follow --template '{type} {instance}' | while read -r type id; do
  echo "event $type $id"
  case $type in userLoggedIn | userLoggedOut | identityChanged) show ;; esac
done
