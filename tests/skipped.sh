#!/bin/sh
# A suite that this build cannot have: it is skipped, and says why.
#   skipped.sh REASON
echo "$1"
exit 77
