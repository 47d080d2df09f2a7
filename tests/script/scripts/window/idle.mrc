# A QP that was idle for long has given its windows back, and goes on as if nothing had been: PSNs and
# messages count on, old packets are known as duplicates. REQ(mem.idle)
config idle 1ms evs 4 tail_probe 60s

post recv id 1
< WRITE ONLY psn 100 msn 0 len 8
> ACK msn 1
post write 8 bytes id 1
> WRITE ONLY psn 100
+1us < SACK cack 100
< ACK msn 1
expect completion id 1 success
expect nothing for 10ms
< WRITE ONLY psn 100 msn 0 len 8
> SACK cack 100 trigger 100
> ACK msn 1
expect stat rx_duplicates 1
< WRITE ONLY IMM psn 101 msn 1 imm 9 len 8
> ACK msn 2
expect receive id 1 success imm 9
post write 8 bytes id 2
> WRITE ONLY psn 101 msn 1
+1us < SACK cack 101
< ACK msn 2
expect completion id 2 success
