# A packet that a switch in the middle cut is not placed but answered at once with a NACK that names
# PSN, EV and time stamp. REQ(rsp.nack.trim) REQ(rsp.trim.never-placed) REQ(rsp.trim.by-dscp)
config planes 2

< WRITE ONLY psn 100 trim midpath ev 77 plane 1
expect placed nothing
> NACK psn 100 reason trimmed ev 77 ts echo plane 1 class control
< WRITE ONLY psn 100 rtx ev 78
expect placed 1024 at 0
> SACK cack 100 trigger 100 ev 78 rtx
> ACK msn 1
expect stat rx_trimmed 1
