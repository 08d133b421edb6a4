#!/bin/sh
# A front desk in a few lines of shell: shows who is signed in at an instance and follows what happens.
#
#     SDKD_SOCKET=/run/sdkd/sdkd.sock ./front-desk.sh front-desk
#
# sdkctl continues after restarts of the daemon and prints each event once. No token is printed, and looking changes nothing:
# no user is created at the vendor.
set -eu
instance=${1:?usage: front-desk.sh INSTANCE}
sdkctl=${SDKCTL:-sdkctl}

show() {
  status=0
  line=$("$sdkctl" show "$instance" --template '{user.authenticated} {user.externalId}') || status=$?
  case $status in
    0)
      case $line in
        "true "*) echo "user ${line#true }" ;;
        *) echo "please sign in" ;;
      esac
      ;;
    3 | 75) echo "try again later" ;; # No daemon, or no answer in time.
    *) exit "$status" ;;
  esac
}

show
"$sdkctl" events "$instance" --follow --template '{type} {instance}' | while read -r type id; do
  echo "event $type $id"
  case $type in userLoggedIn | userLoggedOut | identityChanged | authenticationFailed) show ;; esac
done
