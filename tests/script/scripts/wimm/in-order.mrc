# An immediate waits until every earlier message is there, plain WRITEs too; then immediates come in
# the order of sending, whatever the order of arrival.
# REQ(rsp.wimm.stash) REQ(rsp.complete.in-order)
config sack_bytes 100000

post recv id 1..3
< WRITE ONLY IMM psn 105 msn 4 rqmsn 2 imm 33 len 8
< WRITE ONLY IMM psn 100 msn 0 rqmsn 0 imm 11 len 8 se
> ACK msn 1
expect receive id 1 success imm 11 len 8 se
< WRITE LAST IMM psn 102 msn 1 rqmsn 1 imm 22 dmalen 1500
< WRITE ONLY psn 104 msn 3 len 8
expect nothing
< WRITE FIRST psn 101 msn 1 rqmsn 1 dmalen 1500
> ACK msn 2
expect receive id 2 success imm 22 len 1500
< WRITE ONLY psn 103 msn 2 len 8 ackreq
> SACK cack 105 trigger 103
> ACK msn 5
expect receive id 3 success imm 33 len 8
