# Without a receive a packet is refused, and is not taken. Sent again, it finds one.
# REQ(ext.rnr.nack) REQ(ext.rnr.timer)
config extended on rnr_timer 12 sack_bytes 100000

< PROBE probe 1 ext 0x41
> SACK probe 1 ext 0x41
< SEND ONLY psn 100 msn 0 rqmsn 0 len 8
> NACK psn 100 reason rnr wait 12
< WRITE ONLY IMM psn 101 msn 1 rqmsn 1 len 8 imm 3       # its bytes need no receive, its immediate does
> NACK psn 101 reason rnr wait 12
expect placed nothing
post recv id 1 sge 8 at 0
post recv id 2
< WRITE ONLY IMM psn 101 msn 1 rqmsn 1 len 8 imm 3 rtx
> SACK cack 99 map 0b10 trigger 101 rtx
< SEND ONLY psn 100 msn 0 rqmsn 0 len 8 rtx
> SACK cack 101 trigger 100 rtx
> ACK msn 2
expect receive id 1 success len 8
expect receive id 2 success imm 3 len 8
