# Several triggers before there was a chance to send become one SACK with the state of now, and name
# the newest; so do ACKs. Each congestion mark and each probe keeps a SACK of its own.
# REQ(rsp.sack.coalesce) REQ(rsp.sack.mark) REQ(rsp.ack.transport)
config sack_bytes 1000000

hold
< WRITE ONLY psn 100 msn 0 len 4 ackreq ev 1
< WRITE ONLY psn 101 msn 1 len 4 ce ev 2
< WRITE ONLY psn 102 msn 2 len 4 ce ev 3
< PROBE probe 9 ev 4
< WRITE ONLY psn 104 msn 4 len 4 ackreq ev 5
< WRITE ONLY psn 103 msn 3 len 4 ackreq ev 6
go
> SACK cack 104 trigger 101 ev 2 mark skip_once
> SACK cack 104 trigger 102 ev 3 mark skip_once
> SACK cack 104 probe 9 ev 4
> SACK cack 104 trigger 103 ev 6 mark none
> ACK msn 5
expect nothing for 1ms
